"""Commands a person is asked about, or that never run: one row each.

`what` is the program and its leading subcommands; a part may list alternatives with `|` and use `*`.
`having` are patterns of which some argument must match one; none means always. `-x` also matches inside
a bundle such as `-rxv`; a pattern with a blank matches two neighbouring arguments; `!pattern` calls the row
off. `why` completes "Asked because it ...".
"""

from typing import NamedTuple


class Row(NamedTuple):
    id: str
    what: str
    having: str
    why: str


BLOCKED = (
    Row("disk.format", "mkfs*|newfs*|mke2fs|mkswap", "/dev/*", "makes a new file system over a disk"),
    Row("disk.erase", "wipefs|blkdiscard|shred|badblocks|sgdisk|sfdisk", "/dev/*", "erases a disk"),
    Row("system.off", "shutdown|reboot|halt|poweroff", "!-c !--help !--show", "turns the machine off"),
    Row("system.off", "init|telinit", "0 6", "turns the machine off"),
    Row("system.off", "systemctl poweroff|reboot|halt|kexec", "", "turns the machine off"),
)

ASKED = (
    # Data that goes
    Row(
        "wipe.shred",
        "shred|srm|wipefs|blkdiscard|badblocks|trash-empty|mkfs*|newfs*|mkswap",
        "",
        "destroys data for good",
    ),
    Row(
        "wipe.partition",
        "fdisk|parted|sgdisk|sfdisk|gdisk|diskpart|cryptsetup",
        "!-l !--list",
        "changes how a disk is divided",
    ),
    Row("wipe.volume", "lvremove|vgremove|pvremove", "", "removes a volume"),
    Row("wipe.volume", "zfs|zpool destroy|rollback|labelclear", "", "removes a volume"),
    Row("wipe.volume", "btrfs subvolume delete", "", "removes a volume"),
    Row("wipe.volume", "mdadm", "--zero-superblock --stop -S --remove -r --fail -f", "removes a volume"),
    Row("wipe.volume", "diskutil", "erase* partition* zero* secure* apfs", "erases a disk"),
    Row("wipe.windows", "del|rd|Remove-Item|format.com|deltree", "", "deletes files"),
    Row(
        "wipe.sync",
        "rsync",
        "--delete* --del --remove-source-files",
        "deletes files that are not in the source",
    ),
    Row(
        "wipe.sync",
        "rclone purge|delete|sync|move|deletefile|rmdirs|cleanup",
        "",
        "deletes files of a remote",
    ),
    Row("wipe.truncate", "truncate", "-s?0 --size=0 -s 0", "empties a file"),
    Row("wipe.null", "mv", "/dev/null", "loses a file"),
    # Code from elsewhere
    Row(
        "code.package",
        "pip|pip3|pipx|uvx|uv",
        "git+* *http://* *https://* --index-url* --extra-index-url* --trusted-host*",
        "installs code from another place",
    ),
    Row(
        "code.package",
        "npm|pnpm|yarn|bun|npx|bunx i|install|add|exec|dlx|*",
        "http://* https://* git+* git://* git@* github:* gist:* --registry* !view !info",
        "installs code from another place",
    ),
    Row("code.package", "go run|install|get", "*@*", "fetches and builds code from elsewhere"),
    Row("code.package", "cargo install", "--git* --registry* --index*", "installs code from another place"),
    Row("code.package", "gem install", "--source* -s http*", "installs code from another place"),
    Row("code.package", "brew install|tap", "http* */*/* */*", "installs code from another place"),
    Row("code.package", "deno run|install|eval", "http*", "runs code from elsewhere"),
    Row(
        "code.package",
        "dpkg|rpm",
        "-i --install -U *.deb *.rpm -r -P --purge -e --remove",
        "installs a package",
    ),
    Row(
        "code.container",
        "docker|podman|nerdctl run|create|exec",
        "--privileged /:* -v?/:* --volume=/:* "
        "*docker.sock* --pid=host --pid?host --net=host --cap-add* --mount=type=bind,s*=/,* *src=/,* "
        "--security-opt*",
        "gives a container the machine",
    ),
    Row(
        "code.clone",
        "git clone|fetch|pull|ls-remote|submodule",
        "ext::* --upload-pack* -u?*sh* --config=core* -c?core*",
        "lets a repository run a program",
    ),
    Row(
        "code.powershell",
        "powershell|pwsh|powershell.exe",
        "-enc* -e -EncodedCommand *DownloadString* *iex* *Invoke-Expression* *IWR* *Invoke-WebRequest*",
        "runs hidden or downloaded code",
    ),
    Row(
        "code.lolbin",
        "certutil|mshta|regsvr32|rundll32|bitsadmin|wscript|cscript|msiexec",
        "",
        "runs or fetches code in a hidden way",
    ),
    # Secrets and what leaves
    Row("secret.keychain", "security", "find-* dump-keychain export", "shows stored passwords"),
    Row("secret.keychain", "pass|gopass", "!ls !list !find !git !help", "shows stored passwords"),
    Row("secret.keychain", "op read|item|document|inject|run", "", "shows stored passwords"),
    Row(
        "secret.keychain",
        "bw|rbw|lpass|keepassxc-cli|secret-tool",
        "get list show lookup export search unlock clip",
        "shows stored passwords",
    ),
    Row("secret.token", "gh auth token", "", "shows a token"),
    Row("secret.token", "gh auth status", "--show-token -t", "shows a token"),
    Row("secret.token", "gcloud auth print-*|application-default", "", "shows a token"),
    Row("secret.token", "aws configure export-credentials|get", "", "shows credentials"),
    Row(
        "secret.token", "aws sts get-session-token|assume-role*|get-federation-token", "", "shows credentials"
    ),
    Row("secret.token", "aws secretsmanager get-secret-value", "", "shows a secret"),
    Row("secret.token", "aws ssm get-parameter*", "--with-decryption", "shows a secret"),
    Row("secret.token", "aws ecr get-login*", "", "shows credentials"),
    Row("secret.token", "az account get-access-token", "", "shows a token"),
    Row("secret.token", "az keyvault secret show", "", "shows a secret"),
    Row("secret.token", "gcloud secrets versions access", "", "shows a secret"),
    Row("secret.token", "kubectl get|describe|edit secret*", "", "shows secrets"),
    Row("secret.token", "kubectl get|describe|edit *,secret*|secret/*", "", "shows secrets"),
    Row("secret.token", "kubectl config view", "--raw", "shows credentials"),
    Row("secret.token", "vault kv get|read|list", "", "shows a secret"),
    Row("secret.token", "vault read|token|login|print", "", "shows a secret"),
    Row("secret.token", "heroku|flyctl|fly|vercel config|config:get|secrets|env", "", "shows secrets"),
    Row(
        "secret.token",
        "doppler|infisical|chamber|sops|age|ansible-vault",
        "secrets run export read -d --decrypt decrypt view",
        "shows secrets",
    ),
    Row("secret.key", "gpg|gpg2", "--export-secret* --delete-* --edit-key", "handles secret keys"),
    Row("secret.key", "git credential*|credential-store", "", "shows stored passwords"),
    Row("secret.key", "openssl rsa|pkey|pkcs12|ec", "*.ssh/* !-pubin !-pubout", "handles secret keys"),
    Row(
        "secret.memory",
        "gcore|procdump|strings",
        "/proc/* /dev/mem /dev/kmem",
        "reads another program's memory",
    ),
    Row(
        "secret.screen",
        "scrot|screencapture|import|xwd|grim|flameshot|ffmpeg",
        "x11grab avfoundation -window root *screen*",
        "takes a picture of the screen",
    ),
    Row("secret.clipboard", "pbpaste|xclip|xsel|wl-paste", "-o --output -selection", "reads the clipboard"),
    Row(
        "send.upload",
        "curl",
        "-T --upload-file* -F --form* -F?*=@* --data*=@* @* --data-binary=@* *=@* -d@* "
        "!*localhost* !*127.0.0.1* !*[[]::1]*",
        "sends a file to another machine",
    ),
    Row(
        "send.upload",
        "wget",
        "--post-file* --body-file* !*localhost* !*127.0.0.1*",
        "sends a file to another machine",
    ),
    Row(
        "send.upload",
        "http|https|xh",
        "*@* -f --form --multipart !*localhost*",
        "sends a file to another machine",
    ),
    Row(
        "send.delete",
        "curl|http|https|xh",
        "-XDELETE --request=DELETE -X?DELETE DELETE !*localhost* !*127.0.0.1*",
        "deletes something on another machine",
    ),
    Row(
        "send.copy",
        "scp|rsync|sftp",
        "*@*:* *:/* *:~* ?*?:[!/\\]* rsync://* -e --rsh* -o?*ProxyCommand* -S !--dry-run !--version",
        "copies to or from another machine",
    ),
    Row("send.copy", "rclone copy|copyto|sync|move|serve", "", "copies to another machine"),
    Row("send.copy", "aws s3 cp|sync|mv", "s3://*", "copies to or from another machine"),
    Row(
        "send.copy",
        "gsutil|gcloud|azcopy|s3cmd|mc cp|rsync|mv|put|storage|copy",
        "gs://* s3://* https://*",
        "copies to another machine",
    ),
    Row("send.mail", "sendmail|mail|mailx|mutt|msmtp|swaks", "", "sends mail"),
    Row("send.gist", "gh gist create", "", "publishes text"),
    Row(
        "send.share",
        "croc|wormhole|magic-wormhole|transfer|termbin|onionshare-cli",
        "send *",
        "sends a file to somebody",
    ),
    Row("send.push", "git push", "--all --mirror", "sends every branch to another machine"),
    # Doors for others
    Row(
        "door.tunnel",
        "ngrok|cloudflared|frpc|chisel|bore|lt|localtunnel|inlets|gost|revsocks|ligolo|rathole",
        "",
        "opens this machine to the network",
    ),
    Row("door.tunnel", "tailscale funnel|serve|up", "", "opens this machine to the network"),
    Row(
        "door.tunnel",
        "ssh|autossh",
        "-R -D -w *ProxyCommand* *LocalCommand* *PermitLocalCommand* -F *KnownHostsCommand*",
        "opens a tunnel or runs a program",
    ),
    Row(
        "door.shell",
        "nc|ncat|netcat",
        "-e -c --exec* --sh-exec* --lua-exec* -l --listen -k",
        "gives a shell to the network",
    ),
    Row(
        "door.shell",
        "socat",
        "exec:* EXEC:* system:* SYSTEM:* *,exec* tcp* TCP* udp* UDP* openssl*",
        "connects a program to the network",
    ),
    Row(
        "door.shell", "telnet|rlogin|rsh|msfvenom|msfconsole|pwncat|empire|sliver*", "", "connects to a shell"
    ),
    Row(
        "door.shell",
        "ttyd|gotty|shellinabox*|tmate|sshd|dropbear|telnetd|in.telnetd|vncserver|x11vnc|code-server",
        "",
        "gives a shell to the network",
    ),
    # What stays
    Row("stay.cron", "crontab", "!-l", "changes what runs by the clock"),
    Row("stay.cron", "at|batch|schtasks|anacron", "!-l", "runs something later"),
    Row(
        "stay.service",
        "systemctl",
        "enable disable mask unmask edit link set-default isolate stop restart "
        "kill revert set-property rescue emergency start reload-or-restart try-restart daemon-reexec "
        "set-environment import-environment",
        "changes what services run",
    ),
    Row(
        "stay.service",
        "service|rc-service",
        "* stop|* restart|* start stop restart start",
        "changes what runs",
    ),
    Row("stay.service", "launchctl", "!list !print !help", "changes what services run"),
    Row(
        "stay.service",
        "update-rc.d|chkconfig|rc-update|sv|initctl|sc|sc.exe",
        "!status !list !query",
        "changes what services run",
    ),
    Row("stay.service", "brew services", "start stop restart run kill cleanup", "changes what services run"),
    Row("stay.service", "loginctl enable-linger|disable-linger", "", "changes what services run"),
    Row(
        "stay.git",
        "git config",
        "core.hooksPath* core.sshCommand* core.pager* core.editor* core.fsmonitor* "
        "alias.* credential.* url.* include* *.insteadOf* diff.external* *.textconv *.clean *.smudge "
        "sequence.editor* gpg.program* *.cmd protocol.* !--get* !-l !--list",
        "makes git run a program",
    ),
    Row(
        "stay.package",
        "npm|pnpm|yarn|pip|pip3|gem|bundle config",
        "set * --global !list !get !ls !debug",
        "changes how packages are installed",
    ),
    Row(
        "stay.account",
        "useradd|adduser|usermod|userdel|deluser|groupadd|groupmod|groupdel|gpasswd|chpasswd|"
        "passwd|chsh|chfn|vipw|vigr|visudo|newusers|dscl|sysadminctl",
        "!-S !--status !view",
        "changes who may use this machine",
    ),
    Row("stay.account", "ssh-copy-id", "", "lets a key in on another machine"),
    Row(
        "stay.setting",
        "update-alternatives|defaults|dconf|gsettings|reg|localectl|scutil",
        "set write reset delete add load --install --set --config import",
        "changes a system setting",
    ),
    Row(
        "stay.preload",
        "export|declare|env|alias",
        "LD_PRELOAD=* DYLD_* BASH_ENV=* "
        "PROMPT_COMMAND=* PYTHONSTARTUP=* GIT_SSH*=* PERL5OPT=* RUBYOPT=* sudo=* ssh=* su=*",
        "puts itself before other programs",
    ),
    # Rights
    Row("right.root", "sudo|doas|su|pkexec|gosu|su-exec|runas|runuser|sudoedit", "", "takes other rights"),
    Row(
        "right.mode",
        "chmod",
        "777 a+w* o+w* *+s* 0777 [2467][0-7][0-7][0-7] a=rwx* ugo+rwx* *o=*w* 666 0666 a+rwx*",
        "lets anybody write, or gives a program its owner's rights",
    ),
    Row("right.mode", "setcap|setfacl|chattr|chcon|semanage", "!-g", "changes rights"),
    Row("right.owner", "chown|chgrp", "root* 0:* 0 *:root -R", "changes owners"),
    Row(
        "right.kernel",
        "insmod|modprobe|rmmod|kexec|kmod|depmod",
        "!-n !--dry-run !list",
        "changes the kernel",
    ),
    Row("right.kernel", "sysctl", "-w --write -p --system *=*", "changes the kernel's settings"),
    Row(
        "right.guard",
        "setenforce|aa-disable|aa-teardown|aa-complain|apparmor_parser|auditctl|csrutil|spctl|"
        "fwupdmgr|mokutil",
        "!--status !status",
        "lowers a guard of this machine",
    ),
    Row(
        "right.firewall",
        "iptables|ip6tables|nft|ebtables|ufw|firewall-cmd|pfctl|netsh|iptables-restore",
        "!-L !--list* !status !list !-S !--state !-s",
        "changes the firewall",
    ),
    Row(
        "right.space",
        "nsenter|unshare|chroot|mount|umount|losetup|pivot_root|capsh|machinectl|swapoff|swapon",
        "!-l !--list !--print",
        "reaches around the walls of this machine",
    ),
    Row(
        "right.debug",
        "gdb|lldb|strace|ltrace|ptrace|frida|rr",
        "-p --pid* -ex*system* *system(* *shell* *!* call* attach",
        "takes hold of another program",
    ),
    # Data and clouds
    Row("data.drop", "dropdb|dropuser|pg_resetwal", "", "drops data"),
    Row("data.drop", "mysqladmin drop|shutdown", "", "drops data"),
    Row(
        "data.drop",
        "redis-cli|valkey-cli",
        "FLUSHALL FLUSHDB flushall flushdb DEL del UNLINK CONFIG config "
        "SHUTDOWN shutdown EVAL --eval DEBUG SCRIPT SLAVEOF REPLICAOF MODULE",
        "drops or changes data",
    ),
    Row(
        "data.drop",
        "etcdctl|consul|zkCli.sh|nats|kafka-topics*|rabbitmqctl|rabbitmqadmin|influx|curator_cli|kcadm.sh",
        "del delete --delete rm deleteall purge reset force_reset",
        "drops data",
    ),
    Row(
        "data.drop",
        "rails|rake|bin/rails",
        "db:drop* db:reset* db:purge* db:schema:load db:migrate:reset db:truncate*",
        "drops a database",
    ),
    Row(
        "data.drop",
        "prisma|npx migrate|db|prisma",
        "reset --force-reset --accept-data-loss",
        "drops a database",
    ),
    Row(
        "data.drop",
        "manage.py|django-admin|artisan|alembic|flask|sequelize|knex|typeorm|diesel",
        "flush "
        "sqlflush reset_db migrate:fresh migrate:reset migrate:rollback db:wipe downgrade db:drop "
        "migrate:rollback schema:drop reset",
        "drops data",
    ),
    Row(
        "data.restore",
        "pg_restore|mysqlimport|mongorestore|restic|borg|duplicity|velero|tarsnap",
        "--clean --drop forget prune delete restore remove*",
        "replaces or forgets data",
    ),
    Row(
        "cloud.kube",
        "kubectl|oc delete|drain|cordon|replace|scale|apply|patch|edit|exec|cp|create|taint|label|"
        "annotate|rollout|set|auth|adm|certificate|proxy",
        "!--dry-run=* !status !history !can-i",
        "changes a cluster",
    ),
    Row("cloud.kube", "helm uninstall|delete|rollback|upgrade|install", "!--dry-run*", "changes a cluster"),
    Row(
        "cloud.kube",
        "kind|minikube|k3d|eksctl|kops|kubeadm|argocd|flux|istioctl",
        "delete reset destroy uninstall",
        "removes a cluster",
    ),
    Row(
        "cloud.plan",
        "terraform|tofu|terragrunt destroy|apply|taint|import|state|force-unlock|workspace",
        "!list !show !select !pull",
        "changes what runs in a cloud",
    ),
    Row("cloud.plan", "pulumi destroy|up|cancel|stack", "!ls !output", "changes what runs in a cloud"),
    Row(
        "cloud.plan",
        "cdk|sam|serverless|sls|ansible|ansible-playbook|packer|vagrant|nomad|waypoint destroy|deploy|"
        "delete|remove|*",
        "destroy deploy delete remove -m !--check !--syntax-check !--list-hosts",
        "changes what runs elsewhere",
    ),
    Row("cloud.aws", "aws s3|s3api rm|rb|delete-*|put-*", "", "deletes or opens cloud data"),
    Row(
        "cloud.aws",
        "aws * delete-*|terminate-*|stop-*|create-access-key|put-*|attach-*|detach-*|update-*|"
        "modify-*|create-*|remove-*|deregister-*|revoke-*|authorize-*|reboot-*|run-*|purge-*|disable-*|"
        "schedule-key-deletion|cancel-*|send-*|invoke|restore-*|reset-*|add-*|enable-*|execute-command|start-*|"
        "rotate-*|change-*|set-*|associate-*|release-*|import-*|leave-*|publish",
        "",
        "changes a cloud account",
    ),
    Row(
        "cloud.gcp",
        "gcloud|bq|gsutil",
        "delete rm remove-iam* add-iam* set-iam* destroy reset stop rb create "
        "update deploy disable ssh import --delete keys",
        "changes a cloud account",
    ),
    Row(
        "cloud.azure",
        "az|azd",
        "delete purge create update remove deallocate stop reset down set run-command",
        "changes a cloud account",
    ),
    Row(
        "cloud.host",
        "doctl|hcloud|linode-cli|vultr-cli|ibmcloud|oci|aliyun|scw|openstack|civo|exo",
        "delete rm destroy create reset rebuild remove terminate",
        "changes a cloud account",
    ),
    Row(
        "cloud.app",
        "heroku|flyctl|fly|vercel|netlify|firebase|railway|render|wrangler|supabase|surge|amplify|eb|"
        "cf|now|dokku|fastlane",
        "*destroy* *delete* rm remove *:reset deploy publish down *:set reset "
        "--prod unlink terminate disable *:promote rollback",
        "changes what runs elsewhere",
    ),
    Row(
        "cloud.hub",
        "gh repo delete|archive|rename|edit|create|transfer|deploy-key",
        "",
        "changes a repository",
    ),
    Row(
        "cloud.hub",
        "gh|glab release|secret|variable|ssh-key|gpg-key|run|cache|codespace|ruleset|workflow|pr|label|"
        "project|issue",
        "delete set remove create-key add merge upload disable transfer delete-asset --admin",
        "changes a repository for others",
    ),
    Row(
        "cloud.hub",
        "gh|glab api",
        "-XDELETE -X?DELETE --method=DELETE DELETE PUT PATCH -XPUT -XPATCH",
        "changes something for others",
    ),
    Row("cloud.hub", "glab|hub|tea repo|project delete", "", "changes a repository"),
    Row(
        "cloud.publish",
        "npm|pnpm|yarn publish|unpublish|deprecate|owner|access|token|dist-tag|team|hook",
        "!--dry-run !ls",
        "publishes to others",
    ),
    Row(
        "cloud.publish",
        "twine|cargo|gem|poetry|uv|hatch|flit|mvn|gradle|lerna|docker|podman|helm|nuget|dotnet|pod|"
        "ovsx|vsce upload|publish|yank|push|deploy|release|trunk|nuget",
        "!--dry-run",
        "publishes to others",
    ),
    Row(
        "cloud.pay",
        "stripe|paypal|square",
        "create refund* cancel capture delete update payouts trigger",
        "moves money",
    ),
    Row(
        "cloud.pay",
        "bitcoin-cli|cast|solana|geth|lncli|eth|near|starkli",
        "send* transfer* dump* export* payinvoice sendpayment",
        "moves money or shows keys",
    ),
    Row(
        "cloud.vault",
        "vault",
        "delete destroy write put patch revoke seal unseal operator disable policy "
        "lease auth rollback undelete",
        "changes secrets",
    ),
    Row(
        "container.remove",
        "docker|podman|nerdctl system|volume|image|container|network|builder|buildx|swarm|service|"
        "stack|node|secret|pod",
        "prune rm remove leave reset",
        "removes containers or their data",
    ),
    Row(
        "container.remove",
        "docker|podman|nerdctl rm|rmi|kill|stop|restart",
        "-f --force $* -a --all $(* -v",
        "removes containers or their data",
    ),
    Row(
        "container.remove",
        "docker|podman|docker-compose compose|down|kill|rm|stop",
        "down -v --volumes --rmi* kill rm stop",
        "takes services down",
    ),
    Row("container.remove", "docker-compose down|kill|rm|stop", "", "takes services down"),
    # Git: what others see, and what is lost for good
    Row("git.push", "git push", "-f --force* --delete -d --prune +* :* --mirror", "rewrites what others see"),
    Row("git.reset", "git reset", "--hard --merge --keep", "throws away changes"),
    Row("git.discard", "git checkout", "-- -f --force . ./* :/ -B", "throws away changes"),
    Row("git.discard", "git switch", "-f --force --discard-changes -C", "throws away changes"),
    Row("git.discard", "git restore", "!--staged !-S . * --worktree -W", "throws away changes"),
    Row("git.discard", "git stash drop|clear|pop", "drop clear", "throws away changes"),
    Row("git.clean", "git clean", "-f --force !-n !--dry-run", "deletes files git does not know"),
    Row("git.branch", "git branch", "-D -f --force -M", "deletes or moves a branch"),
    Row("git.branch", "git branch", "--delete?--force", "deletes a branch"),
    Row("git.history", "git reflog expire|delete", "", "makes lost work unrecoverable"),
    Row("git.history", "git gc|prune", "--prune=* --expire*", "makes lost work unrecoverable"),
    Row("git.history", "git update-ref|replace", "-d --delete -f --stdin", "changes history"),
    Row("git.history", "git filter-branch|filter-repo|fast-import", "", "rewrites history"),
    Row("git.history", "git-filter-repo|bfg", "", "rewrites history"),
    Row("git.history", "git rebase", "--root --exec* -x", "rewrites history"),
    Row("git.history", "git tag", "-d --delete -f --force", "changes tags"),
    Row("git.remote", "git remote", "set-url remove rm", "changes where work is sent"),
    Row("git.worktree", "git worktree remove|prune", "-f --force", "throws away changes"),
    Row(
        "git.submodule",
        "git submodule deinit|foreach",
        "-f --force --all *rm* *reset* *clean*",
        "throws away changes",
    ),
    Row("git.lfs", "git lfs prune|migrate", "", "changes stored files"),
    # Services and the machine
    Row("process.end", "killall|killall5|skill|slay", "!-l !-0", "ends programs by name"),
    Row("process.end", "pkill", "!-0 -* * !-l", "ends programs by name"),
    Row("process.end", "kill", "-9 -KILL -SIGKILL 1 $(* -s?KILL -n?9 !-0 !-l !-L", "ends programs"),
    Row("process.end", "taskkill|Stop-Process|xkill|fuser", "/F -Force -k --kill /IM", "ends programs"),
    Row(
        "process.end",
        "pm2|supervisorctl|forever|monit|circusctl|god",
        "delete kill stop stopall all shutdown restart reload",
        "ends services",
    ),
    Row("process.end", "loginctl", "terminate* kill* lock*", "ends sessions"),
    Row(
        "net.down",
        "ip route|link|addr|address|rule|neigh|netns|tunnel",
        "del delete flush down set add change replace",
        "changes the network",
    ),
    Row(
        "net.down",
        "ifconfig|iwconfig|route|ifdown|ifup|dhclient|ethtool|tc|arp|brctl|wg|wg-quick",
        "down up del delete add flush -r -s -K set replace",
        "changes the network",
    ),
    Row("net.down", "nmcli", "off down delete disconnect modify add up", "changes the network"),
    Row(
        "net.down",
        "networksetup|resolvectl|systemd-resolve|netplan|hostnamectl|scutil|airport",
        "-set* apply dns revert set-hostname --set* domain set* try",
        "changes the network",
    ),
    Row(
        "package.remove",
        "apt|apt-get|aptitude|dnf|yum|zypper|microdnf remove|purge|autoremove|erase|rm|"
        "dist-upgrade|full-upgrade",
        "",
        "changes the system's packages",
    ),
    Row("package.remove", "pacman|yay|paru", "-R* -S* -U*", "changes the system's packages"),
    Row(
        "package.remove",
        "brew|port|choco|winget|scoop|nix-env|nix|emerge|pkg",
        "uninstall remove rm -e --uninstall "
        "autoremove delete delete-old gc unlink --unmerge -C --depclean cleanup --force",
        "removes packages",
    ),
    Row("package.remove", "nix-collect-garbage", "-d --delete*", "removes packages"),
    Row("clock.set", "timedatectl", "set-*", "sets the clock"),
    Row("clock.set", "date", "-s --set*", "sets the clock"),
    Row(
        "clock.set",
        "hwclock|ntpdate|chronyc|sntp|rdate",
        "-w --systohc --set* -s makestep -S *",
        "sets the clock",
    ),
    Row(
        "system.boot",
        "grub-install|grub-mkconfig|update-grub|grub2-mkconfig|efibootmgr|bootctl|dracut|"
        "update-initramfs|bcdedit|nvram|flashrom|do-release-upgrade|softwareupdate",
        "!--list !-l",
        "changes how the machine starts",
    ),
    Row("system.log", "journalctl|dmesg|history|fc", "--vacuum* --rotate -C --clear -c", "erases records"),
    # Programs that run programs
    Row(
        "run.tar",
        "tar|bsdtar|gtar",
        "--checkpoint-action* --to-command* --use-compress-program* -I "
        "--rsh-command* --info-script* --new-volume-script* -F",
        "runs a program",
    ),
    Row("run.pager", "man", "-P --pager* -H* --html* -X", "runs a program"),
    Row("run.pager", "less|more|most", "-c +!* *!* +*!*", "runs a program"),
    Row(
        "run.pager",
        "git *",
        "--open-files-in-pager* -O* --upload-pack* --receive-pack* --exec=* "
        "--ext-diff --paginate?*sh* ext::*",
        "runs a program",
    ),
    Row(
        "run.git",
        "git",
        "core.pager=* core.sshCommand=* core.editor=* core.fsmonitor=* alias.*=* *=!* "
        "core.hooksPath=* diff.external=* credential.helper=* protocol.ext* --exec-path=* core.gitProxy=* "
        "sequence.editor=* gpg.program=*",
        "makes git run a program",
    ),
    Row("run.rg", "rg|ag|ack", "--pre --pre=* --hostname-bin* --pager*", "runs a program"),
    Row("run.sort", "sort", "--compress-program*", "runs a program"),
    Row("run.split", "split|csplit", "--filter*", "runs a program"),
    Row("run.tcpdump", "tcpdump|tshark|dumpcap", "-z -Z", "runs a program"),
    Row("run.zip", "zip", "-TT --unzip-command* -T?-TT*", "runs a program"),
    Row(
        "run.editor",
        "vi|vim|nvim|ex|view|vimdiff|gvim|rvim|emacs|ed|nano|pico|micro|kak",
        "*!* *system(* "
        "*shell-command* --eval* -eval* *:py* *:lua* *py3* -s?/bin* *call*system* --speller* -S -u --cmd* "
        "--execute* -e?*sh*",
        "runs a program",
    ),
    Row("run.nmap", "nmap", "--script* --interactive", "runs a script"),
    Row(
        "run.make", "make|gmake|just|ninja", "--eval* -f?/dev/stdin -f?- SHELL=* *=$(shell*", "runs a program"
    ),
    Row(
        "run.sql",
        "psql|mysql|mariadb|sqlite3|sqlite",
        "*\\!* *.shell* *.system* *\\\\!* *load_extension* "
        "*pg_read_file* *COPY*PROGRAM* *into?outfile* *INTO?OUTFILE* *.import* *load_file* *copy*to?program* "
        "*copy*from?program*",
        "runs a program or reads files",
    ),
    Row("run.ansible", "ansible|puppet|salt-call|chef-*", "-m shell command raw -a", "runs a program"),
    Row("run.gdbserver", "gdbserver|dlv|debugpy|jdb", "--multi *:* --listen*", "lets others run programs"),
    Row("run.wget", "wget", "--use-askpass* --execute* -e -i?/*", "runs a program"),
    Row(
        "run.curl",
        "curl",
        "-K --config* --engine* --proto-default* file://* *gopher://* *dict://*",
        "reads its orders from elsewhere",
    ),
    Row(
        "run.script",
        "script|expect|screen|tmux|start-stop-daemon|run-parts|rlwrap|cpan|easy_install",
        "-c --command* send-keys -X --exec* --test* --pager*",
        "runs a program in a hidden way",
    ),
    Row(
        "run.openssl", "openssl", "-engine s_server -provider-path req?-engine", "loads code or opens a port"
    ),
    Row(
        "run.rsync",
        "rsync|scp|sftp",
        "-e --rsh* -S *ProxyCommand* *LocalCommand* --rsync-path*",
        "runs a program",
    ),
    Row(
        "run.cpio",
        "cpio|dmsetup|logrotate|run-mailcap|dhclient|debugfs",
        "--rsh-command* exec -f *-action* --action* -sf?*",
        "runs a program",
    ),
    Row("run.ip", "ip", "-force netns?exec -b -batch", "runs a program"),
    Row(
        "run.docker",
        "docker|podman|lxc|lxd|incus import|plugin|init|config",
        "plugin security.privileged* init import",
        "reaches into containers",
    ),
)
