"""Words in a piece of Python, Perl, Ruby, JavaScript or PHP that make a person be asked: pattern, id, why."""

_SETTINGS = (
    r"(?:config\.ya?ml|\.env\b|MEMORY\.md|USER\.md|SOUL\.md|authorized_keys|\.bashrc|\.zshrc|\.profile|/etc/"
    r"|crontab|\.gitconfig|hooks/)"
)

CODE = (
    (
        r"rmtree|remove_tree|rmSync|rm_rf|rm_r\b|rimraf|removedirs|unlinkSync|rmdirSync|FileUtils\.rm"
        r"|os\.remove\(|os\.unlink\(|\.unlink\(|File\.delete|Remove-Item|shred",
        "code.deletes",
        "deletes files",
    ),
    (
        r"\bsystem\s*\(|\bpopen|\bexec[lv]p?e?\s*\(|subprocess|child_process|shell_exec|passthru|proc_open"
        r"|pcntl_exec|spawn\s*\(|os\.execute|pty\.|`[^`]+`|%x[\[{(]|\bsystem\s+['\"]|\bexec\s+['\"]"
        r"|Deno\.(?:run|Command)|do shell script|IO\.popen|Open3",
        "code.runs",
        "runs other programs",
    ),
    (
        r"(?:exec|eval|compile|import|require|Function)\b.*"
        r"(?:urlopen|urllib|requests\.|http|fetch\(|b64decode|fromhex|decode\()"
        r"|(?:urlopen|requests\.get|fetch\().*(?:exec|eval)",
        "code.fetched",
        "runs code from elsewhere",
    ),
    (
        r"socket\.|\bsocket\b.*connect|TCPSocket|fsockopen|net\.(?:connect|Socket|createConnection)"
        r"|IO::Socket|/dev/tcp/",
        "code.socket",
        "opens a connection",
    ),
    (
        r"(?:open|write_text|writeFile|writeFileSync|appendFile|appendFileSync|file_put_contents|Path)"
        rf"\s*\(?[^)]{{0,200}}{_SETTINGS}[^)]{{0,200}}"
        r"(?:['\"][wax]\+?b?['\"]|write|append|put_contents)"
        rf"|(?:writeFile|appendFile|file_put_contents|File\.write)[^)]{{0,200}}{_SETTINGS}",
        "code.writes",
        "changes settings",
    ),
    (
        r"\.ssh/|id_rsa|id_ed25519|\.aws/|\.netrc|/etc/shadow|\.git-credentials|\.gnupg|keyring"
        r"|os\.environ\b(?!\s*[\[.])|process\.env\b(?!\s*[\[.])|\.env['\"]",
        "code.secrets",
        "reads secrets",
    ),
    (
        r"(?i:drop\s+(?:table|database)|delete\s+from\s.*execute|execute\(.*(?:delete\s+from|truncate))",
        "code.data",
        "deletes data",
    ),
    (r"os\.kill|process\.kill|setuid|os\.fork|ctypes", "code.process", "takes hold of processes"),
)
