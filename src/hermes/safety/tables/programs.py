"""Programs by what they are: readers, wrappers, shells, interpreters, senders."""

from hermes.safety.tables import words

# Read what they are told to and change nothing. Shared by the gate and by what may run at the same time.
READERS = words(
    """
    [ awk b2sum base64 basename cat cksum cmp column comm cut df diff dirname du egrep expr fd file
    find fgrep fmt fold getconf getent grep head hexdump id jq less ls lsblk lscpu lsof md5sum more nl nm
    objdump od paste pathchk pgrep pr ps readelf readlink realpath rev rg sed sha1sum sha224sum sha256sum
    sha512sum shellcheck size sort stat strings sum tac tail test tokei tr tree tsort type uniq wc whereis
    which xxd yq zcat zgrep
    """
)

# Of those and others: touch no file at all.
PURE = words(
    """
    : arch cal date echo expr false free getconf groups hostname id locale logname nproc printenv printf
    pgrep ps pwd seq sleep true tty uname uptime users w who whoami yes
    """
)

# Options that make a reader do something else: the program is then no reader.
NOT_READING = {
    "find": ("-exec*", "-ok*", "-delete", "-fprint*", "-fls"),
    "fd": ("-x*", "-X*", "--exec*"),
    "sed": ("-i*", "--in-place*", "-n*i*"),
    "sort": ("-o*", "--output*", "--compress-program*"),
    "rg": ("--pre*", "--hostname-bin*"),
    "tree": ("-o*",),
    "xxd": ("-r*",),
    "yq": ("-i*", "--inplace*"),
    "date": ("-s*", "--set*"),
    "hostname": ("[!-]*", "-F*", "-b*"),
    "file": ("-C",),
    "less": ("-o*", "-O*", "+*"),
    "base64": ("-o*",),
    "awk": ("-i*", "*system*", "*>*", "*|*", "*getline*"),
}

GIT_READS = words(
    """
    blame cat-file check-ignore count-objects describe diff diff-tree for-each-ref grep log ls-files
    ls-tree merge-base name-rev rev-list rev-parse shortlog show show-ref status var version whatchanged
    """
)
GIT_NOT_READING = ("--output*", "-O*", "--open-files-in-pager*", "--ext-diff", "--textconv")

# Show, or take in, what is in the files they are given.
GIT_SHOWS = words(
    """
    annotate archive blame cat-file config diff diff-files diff-index difftool grep hash-object show
    whatchanged
    """
)
GIT_SHOWING = ("-p", "--patch", "-F", "--file", "--file=*", "--contents", "--no-index")

# Run the rest of their words: options that take a value, and how many words come before the command.
WRAPPERS: dict[str, tuple[str, int]] = {
    "sudo": ("-u -g -p -C -c -D -h -R -r -T -t -U --user --group --prompt --chdir --host --role --type", 0),
    "doas": ("-u -C", 0),
    "env": ("-u --unset -C --chdir", 0),
    "nice": ("-n --adjustment", 0),
    "ionice": ("-c -n -p -P --class --classdata", 0),
    "chrt": ("-p", 1),
    "taskset": ("", 1),
    "nohup": ("", 0),
    "setsid": ("", 0),
    "timeout": ("-k -s --kill-after --signal", 1),
    "gtimeout": ("-k -s --kill-after --signal", 1),
    "time": ("-f -o --format --output", 0),
    "command": ("", 0),
    "builtin": ("", 0),
    "exec": ("-a", 0),
    "noglob": ("", 0),
    "nocorrect": ("", 0),
    "then": ("", 0),
    "stdbuf": ("-i -o -e --input --output --error", 0),
    "unbuffer": ("", 0),
    "busybox": ("", 0),
    "toybox": ("", 0),
    "xargs": (
        "-a -d -E -I -L -n -P -s --arg-file --delimiter --max-args --max-procs --max-lines --replace",
        0,
    ),
    "parallel": ("-j --jobs -a -I", 0),
    "watch": ("-n --interval", 0),
    "strace": ("-e -o -p -s -u -P", 0),
    "ltrace": ("-e -o -p -s -u", 0),
    "flock": ("-w --timeout -E", 1),
    "chroot": ("--userspec --groups", 1),
    "setarch": ("", 1),
    "caffeinate": ("-t -w", 0),
    "systemd-run": ("-p --property -u --unit --slice -E --setenv --uid --gid -t -M", 0),
    "dbus-run-session": ("", 0),
    "xvfb-run": ("-n -s --server-args", 0),
    "fakeroot": ("", 0),
    "proxychains": ("-f", 0),
    "torsocks": ("", 0),
    "entr": ("", 0),
    "trap": ("", 0),
    "ssh-agent": ("", 0),
    "cpulimit": ("-l -p -e", 0),
    "firejail": ("", 0),
    "runuser": ("-u -g", 0),
    "prlimit": ("", 0),
    "unshare": ("", 0),
    "nsenter": ("-t --target -S -G", 0),
}
FEEDERS = frozenset(("xargs", "parallel", "watch", "find", "entr"))  # a shell under these is asked about

SHELLS = words(
    """
    sh bash zsh dash ksh mksh ash fish csh tcsh rbash
    """
)
INTERPRETERS: dict[str, tuple[str, ...]] = {  # with the options that take code
    "python": ("-c",),
    "pypy": ("-c",),
    "perl": ("-e", "-E"),
    "ruby": ("-e",),
    "node": ("-e", "--eval", "-p", "--print"),
    "nodejs": ("-e", "--eval", "-p", "--print"),
    "deno": ("eval",),
    "bun": ("-e", "--eval"),
    "php": ("-r",),
    "lua": ("-e",),
    "luajit": ("-e",),
    "tclsh": ("-c",),
    "expect": ("-c",),
    "osascript": ("-e",),
    "Rscript": ("-e",),
    "R": ("-e",),
    "julia": ("-e", "--eval"),
    "ghc": ("-e",),
    "groovy": ("-e",),
    "guile": ("-c",),
    "swift": ("-e",),
    "elixir": ("-e",),
    "erl": ("-eval",),
    "powershell": ("-c", "-Command", "-EncodedCommand", "-enc"),
    "pwsh": ("-c", "-Command", "-EncodedCommand", "-enc"),
}
FETCHERS = words(
    """
    curl wget fetch aria2c http https httpie xh lynx links ftp tftp axel scp
    """
)
SENDERS = words(
    """
    nc ncat netcat socat telnet sendmail mail mailx mutt msmtp nslookup dig host
    """
)
LISTENERS = words(
    """
    nc ncat netcat socat telnet openssl
    """
)
DATABASES = words(
    """
    psql mysql mariadb sqlite3 sqlite mongosh mongo clickhouse-client duckdb sqlcmd cqlsh bq usql
    """
)
# Read whole folders: the options that make them do so (none: always), and which words are the folders.
_ALWAYS: tuple[str, ...] = ()
_RECURSES = ("-r", "-R", "--recursive", "--dereference-recursive", "--directories=recurse", "-d?recurse")
_COPIES = ("-r", "-R", "-a", "--recursive", "--archive")
_CREATES = ("-c", "-r", "-u", "--create", "--append", "--update", "c*", "[rux]*c*")
RECURSIVE: dict[str, tuple[tuple[str, ...], int, int]] = {
    "grep": (_RECURSES, 1, 0),
    "egrep": (_RECURSES, 1, 0),
    "fgrep": (_RECURSES, 1, 0),
    "zgrep": (_RECURSES, 1, 0),
    "ugrep": (_RECURSES, 1, 0),
    "rg": (_ALWAYS, 1, 0),
    "ag": (_ALWAYS, 1, 0),
    "ack": (_ALWAYS, 1, 0),
    "tar": (_CREATES, 0, 0),
    "bsdtar": (_CREATES, 0, 0),
    "gtar": (_CREATES, 0, 0),
    "zip": (("-r", "-R", "--recurse*"), 1, 0),
    "7z": (("a", "u"), 2, 0),
    "rar": (("a", "u"), 2, 0),
    "pax": (("-w",), 0, 0),
    "ditto": (_ALWAYS, 0, -1),
    "cp": (_COPIES, 0, -1),
    "rsync": (_COPIES, 0, -1),
    "scp": (_COPIES, 0, -1),
    "ln": (_ALWAYS, 0, -1),
    "diff": (("-r", "--recursive"), 0, 0),
}
BEFORE_PATTERN = (
    "-e",
    "-f",
    "-g",
    "-A",
    "-B",
    "-C",
    "-m",
    "-t",
    "-T",
)  # then the first word may be no pattern
# Only look at a file's name and mode, or use a key without showing it.
LOOKERS = words(
    """
    ls stat test [ file du realpath readlink dirname basename chmod find ssh sftp ssh-add ssh-keygen
    """
)

# Subcommand programs: options before the subcommand that take a value.
GLOBALS: dict[str, frozenset[str]] = {
    "git": frozenset(("-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path")),
    "kubectl": frozenset(("-n", "--namespace", "--context", "--kubeconfig", "--cluster", "-s")),
    "helm": frozenset(("-n", "--namespace", "--kube-context")),
    "docker": frozenset(("-H", "--host", "-c", "--context", "--config")),
    "podman": frozenset(("--connection", "--url", "--root")),
    "aws": frozenset(("--profile", "--region", "--output", "--endpoint-url")),
    "gcloud": frozenset(("--project", "--account", "--configuration")),
    "az": frozenset(("--subscription",)),
    "npm": frozenset(("--prefix", "-C", "-w", "--workspace")),
    "terraform": frozenset(()),
    "vault": frozenset(("-address", "-namespace")),
}
