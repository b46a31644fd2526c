"""Environment variables that make one program run or load another."""

import re
from functools import cache

from hermes.safety.tables import words

# Whatever their value: asked about.
_LOADING = words(
    """
    LD_PRELOAD LD_AUDIT DYLD_INSERT_LIBRARIES BASH_ENV PROMPT_COMMAND PS4 ZDOTDIR PYTHONSTARTUP PERL5DB
    GIT_SSH_COMMAND GIT_SSH GIT_PROXY_COMMAND GIT_EXEC_PATH GIT_TEMPLATE_DIR GIT_CONFIG_PARAMETERS
    """
)

# Asked about when the value fits.
_LOADING_WHEN = {
    "NODE_OPTIONS": r"(?:^|\s)(?:-r|--require|--import|--loader|--experimental-loader|--inspect)",
    "PERL5OPT": r"-[mMd]",
    "RUBYOPT": r"-[re]",
    "JAVA_TOOL_OPTIONS": r"-(?:javaagent|agentpath|agentlib)",
    "_JAVA_OPTIONS": r"-(?:javaagent|agentpath|agentlib)",
    "JDK_JAVA_OPTIONS": r"-(?:javaagent|agentpath|agentlib)",
    "ENV": r"^[~./]",
    "PATH": r"(?:^|:)(?:/tmp|/var/tmp|/dev/shm)(?:/|:|$)",
    "GIT_CONFIG_GLOBAL": r"^(?!/dev/null$).",
    "GIT_CONFIG_SYSTEM": r"^(?!/dev/null$).",
}

# Their value is a command line, and is judged as one.
_RUNNING = words(
    """
    EDITOR VISUAL PAGER MANPAGER BROWSER GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_PAGER GIT_EXTERNAL_DIFF
    GIT_ASKPASS GIT_SSH_COMMAND GIT_SSH GIT_PROXY_COMMAND SSH_ASKPASS SUDO_ASKPASS LESSOPEN LESSCLOSE
    PSQL_EDITOR PSQL_PAGER SYSTEMD_PAGER AWS_PAGER GH_PAGER GH_BROWSER KUBE_EDITOR PROMPT_COMMAND
    CC CXX RUSTC RUSTC_WRAPPER RSYNC_RSH CVS_RSH
    """
)

_GIT_RUNS = (
    r"alias\..*|core\.(?:pager|editor|sshcommand|fsmonitor|hookspath|gitproxy|askpass)|sequence\.editor"
    r"|diff\.(?:.*\.)?(?:external|command|textconv)|filter\..*|gpg\.(?:.*\.)?program|credential\..*|pager\..*"
    r"|(?:diff|merge)tool\..*\.cmd|uploadpack\..*|.*\.(?:uploadpack|receivepack|vcs|proxy)"
)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


def loads(name: str, value: str) -> bool:
    """True when setting this makes another program load or run something first."""
    if name in _LOADING:
        return True
    if re.match("GIT_CONFIG_KEY_", name):
        return git_runs(value)
    return name in _LOADING_WHEN and bool(_compiled(_LOADING_WHEN[name]).search(value))


def names_a_program(name: str) -> bool:
    """True when the value of this variable is a command line that something will run."""
    return name in _RUNNING


def git_runs(key: str) -> bool:
    """True for a setting of git that names a program."""
    return bool(_compiled(_GIT_RUNS).fullmatch(key))
