"""What is looked up on this machine to judge a command: real paths, what a glob fits, whose a process is."""

import contextlib
import os
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from itertools import islice

from hermes.lib.pathmatch import encloses

MOST = 4000  # entries of folders that are looked at to fill in the globs of a command
_WILD = re.compile(r"[*?\[]")


class Found:
    """What one command's paths and globs stand for now, each looked up once.

    Globs are filled in as a shell does it. When the folders are so large that more than `MOST` entries
    would have to be looked at for all globs together, what was found until then counts. What lies below one
    of the `named` folders is given with the name that folder has here, should it be a link itself.
    """

    def __init__(self, *named: str) -> None:
        self._named = {real: name for name in named if (real := os.path.realpath(name)) != name}
        self._room = MOST
        self._known: dict[str, tuple[str, ...]] = {}
        self._folders: dict[str, str] = {}

    def really(self, path: str) -> tuple[str, ...]:
        """The real paths, links followed; none for what can be no path."""
        if path not in self._known:
            try:
                self._known[path] = self._look(path)
            except (OSError, ValueError):
                self._known[path] = ()
        return self._known[path]

    def _look(self, path: str) -> tuple[str, ...]:
        if "\0" in path or len(path) > 4096:
            return ()
        found = [os.path.realpath(path)]
        if _WILD.search(path):
            found += map(self._real, self._fitting(path))
        return tuple(map(self._renamed, found)) if self._named else tuple(found)

    def _renamed(self, path: str) -> str:
        real = max((real for real in self._named if encloses(real, path)), key=len, default="")
        return self._named[real] + path[len(real) :] if real else path

    def _real(self, path: str) -> str:
        """As realpath, which is slow for thousands of files of one folder."""
        folder, _, name = path.rpartition("/")
        if name in ("", ".", "..") or os.path.islink(path):
            return os.path.realpath(path)
        if folder not in self._folders:
            self._folders[folder] = os.path.realpath(folder or "/")
        return f"{self._folders[folder].rstrip('/')}/{name}"

    def _fitting(self, pattern: str) -> list[str]:
        """The paths that exist and fit, folder by folder."""
        found = ["/"]
        for part in filter(None, pattern.split("/")):
            if _WILD.search(part):
                pairs = ((folder, name) for folder in found for name in self._names(folder))
                found = [f"{folder.rstrip('/')}/{name}" for folder, name in pairs if _fits(name, part)]
            else:
                found = [f"{folder.rstrip('/')}/{part}" for folder in found]
        return found

    def _names(self, folder: str) -> Iterator[str]:
        if self._room <= 0:
            return
        self._room -= 1
        with contextlib.suppress(OSError), os.scandir(folder) as entries:
            for entry in islice(entries, self._room):
                self._room -= 1
                yield entry.name


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
