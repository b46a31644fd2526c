"""What is looked up on this machine to judge a command: real paths, what a glob fits, whose a process is."""

import os
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase

MOST = 4000  # entries of folders that are looked at to fill in one glob
_WILD = re.compile(r"[*?\[]")


def really(path: str) -> tuple[str, ...]:
    """The real paths that an absolute path or glob stands for now, links followed; of a glob, what fits.

    A glob is filled in as a shell does it. Where folders are so large that more than `MOST` entries would
    have to be looked at, what was found until then counts.
    """
    if "\0" in path or len(path) > 4096:
        return ()
    try:
        plain = (os.path.realpath(path),)
        if not _WILD.search(path):
            return plain
        return (*plain, *map(os.path.realpath, _fitting(path)))
    except (OSError, ValueError):  # what no file system can hold is no path
        return ()


def _fitting(pattern: str) -> Iterator[str]:
    """The paths that exist and fit, folder by folder."""
    parts = [part for part in pattern.split("/") if part]
    room = MOST
    found = ["/"]
    for part in parts:
        if not _WILD.search(part):
            found = [f"{folder.rstrip('/')}/{part}" for folder in found]
            continue
        filled: list[str] = []
        for folder in found:
            names = _names(folder, room)
            room -= len(names) + 1
            filled += (f"{folder.rstrip('/')}/{name}" for name in names if _fits(name, part))
            if room <= 0:
                break
        found = filled
    yield from found


def _names(folder: str, most: int) -> list[str]:
    names: list[str] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if len(names) >= most:
                    break
                names.append(entry.name)
    except OSError:
        pass
    return names


def _fits(name: str, part: str) -> bool:
    return fnmatchcase(name, part) and (part.startswith(".") or not name.startswith("."))


def is_ours(pid: int) -> bool:
    """True for this process and those it has started itself, as far as /proc tells."""
    if pid == os.getpid():
        return True
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return int(file.read().rpartition(b")")[2].split()[1]) == os.getpid()
    except (OSError, ValueError, IndexError):
        return False
