"""Who holds a lease: this process, named so that others on this machine can tell whether it lives."""

import os
import socket
from pathlib import Path


def this_process() -> str:
    """Host, process id and, where the system tells it, when the process began: ids come again."""
    return f"{socket.gethostname()}:{os.getpid()}:{_began(os.getpid())}"


def alive(name: str) -> bool:
    """Whether the process of that name may still be there; True for what cannot be told from here."""
    host, pid, began, *_ = [*name.split(":"), "", "", ""]
    if host != socket.gethostname() or not pid.isdigit():
        return True
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass  # somebody else's process: at least the id is in use
    return _began(int(pid)) == began


def _began(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""
