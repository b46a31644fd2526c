"""What commands leave when the supervisor cannot end them itself: found in /proc, and ended."""

import contextlib
import os
import signal
import time

MARK = "HERMES_COMMAND"  # as the supervisor sets it
TICK = 0.02  # seconds between looks


def end_owned(sign: str, seconds: float, root: int = -1) -> None:
    """Kill what carries a mark that begins with `sign` or lives below the process `root`.

    Look again until nothing is found, for at most `seconds`. Linux only: elsewhere nothing is ended.
    """
    end = time.monotonic() + seconds
    while pids := owned(sign, root):
        for pid in pids:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        if time.monotonic() > end:
            return
        time.sleep(TICK)


def owned(sign: str, root: int = -1) -> set[int]:
    """The pids of all living processes with this sign in their environment, or below `root`."""
    try:
        pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except FileNotFoundError:
        return set[int]()
    children: dict[int, list[int]] = {}
    found: set[int] = set()
    wanted = f"\0{MARK}={sign}".encode()
    for pid in pids:
        with contextlib.suppress(OSError):
            state, parent = _read(pid, "stat").rpartition(b")")[2].split()[:2]
            if state in (b"Z", b"X"):
                continue
            children.setdefault(int(parent), []).append(pid)
            if wanted in b"\0" + _read(pid, "environ"):
                found.add(pid)
    queue = [root]
    while queue:
        born = children.get(queue.pop(), [])
        found.update(born)
        queue += born
    return found


def _read(pid: int, name: str) -> bytes:
    with open(f"/proc/{pid}/{name}", "rb") as file:
        return file.read()
