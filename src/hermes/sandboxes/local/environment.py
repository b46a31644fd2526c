"""What a command inherits of the environment."""

import re
from collections.abc import Mapping

_INHERITED_NAMES = """
    PATH HOME USER LOGNAME SHELL LANG LANGUAGE TERM COLORTERM TZ TMPDIR TMP TEMP EDITOR VISUAL
    PAGER VIRTUAL_ENV CONDA_PREFIX PYENV_ROOT NVM_DIR JAVA_HOME GOPATH GOROOT CARGO_HOME
    RUSTUP_HOME DISPLAY WAYLAND_DISPLAY DBUS_SESSION_BUS_ADDRESS SSL_CERT_FILE SSL_CERT_DIR
    NO_COLOR CI HTTP_PROXY HTTPS_PROXY NO_PROXY ALL_PROXY http_proxy https_proxy no_proxy
    all_proxy PIP_INDEX_URL PIP_CERT REQUESTS_CA_BUNDLE CURL_CA_BUNDLE NODE_EXTRA_CA_CERTS
    LC_ALL LC_ADDRESS LC_COLLATE LC_CTYPE LC_IDENTIFICATION LC_MEASUREMENT LC_MESSAGES LC_MONETARY
    LC_NAME LC_NUMERIC LC_PAPER LC_TELEPHONE LC_TIME
    XDG_CACHE_HOME XDG_CONFIG_DIRS XDG_CONFIG_HOME XDG_CURRENT_DESKTOP XDG_DATA_DIRS XDG_DATA_HOME
    XDG_RUNTIME_DIR XDG_SEAT XDG_SESSION_CLASS XDG_SESSION_DESKTOP XDG_SESSION_ID XDG_SESSION_TYPE
    XDG_STATE_HOME XDG_VTNR
"""
_INHERITED = frozenset(_INHERITED_NAMES.split())
_SIGNED_IN = re.compile(r"://[^/\s]*@")  # a URL with a user's name or a password
_SIGNED_IN_PROXY = re.compile(r"(?:^|/)[^/\s]*@")  # for a proxy the scheme may be left out


def child_environment(environ: Mapping[str, str], passthrough: tuple[str, ...] = ()) -> dict[str, str]:
    """What a command inherits: names known to be harmless and those asked for, so never a key by accident.

    A URL that holds a password is not inherited either, unless its name is in `passthrough`.
    """
    return {
        name: value
        for name, value in environ.items()
        if name in passthrough or (name in _INHERITED and not _holds_a_password(name, value))
    }


def _holds_a_password(name: str, value: str) -> bool:
    signed_in = _SIGNED_IN_PROXY if name.lower().endswith("_proxy") else _SIGNED_IN
    return bool(signed_in.search(value))
