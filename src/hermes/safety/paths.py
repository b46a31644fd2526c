"""What a path is: a secret to read, a file whose change needs a yes, a disk, somebody's home."""

import posixpath
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase, translate
from functools import lru_cache

from hermes.core.errors import ToolError
from hermes.lib.pathmatch import encloses
from hermes.safety.globs import meet
from hermes.safety.tables import paths as table


def as_written(path: str) -> tuple[str, ...]:
    """What stands for looking at no file."""
    return (path,)


@dataclass(frozen=True, slots=True)
class Place:
    """Where judgements are made. All paths absolute; `state` is the agent's own home, `agent` its command.

    `program` is the folder of the agent's own program files. `found` says which real paths an absolute path
    or glob stands for now, links followed; without it no file is looked at. `ours` is true for the pid of
    the agent and of what it has started itself.
    """

    home: str
    cwd: str
    workspace: str
    state: str
    agent: str = "hermes"
    program: str = ""
    found: Callable[[str], tuple[str, ...]] = field(default=as_written, compare=False)
    ours: Callable[[int], bool] = field(default=lambda _: False, compare=False)

    def at(self, cwd: str) -> "Place":
        return replace(self, cwd=cwd)

    def meant(self, path: str) -> tuple[str, ...]:
        """What a program that is given this path may open: the path as written, and what it really is."""
        written = self.resolve(path)
        if path == "~" or path.startswith("~/"):
            path = self.home + path[1:]
        return tuple(dict.fromkeys((written, *self.found(posixpath.join(self.cwd, path)))))

    def resolve(self, path: str) -> str:
        """Absolute, `~` expanded, `.` and `..` taken out; links are not followed.

        Raise ToolError for a NUL character: no path has one, and what comes after it is not what is judged.
        """
        if "\0" in path or "\0" in self.cwd:
            raise ToolError(f"{path[:80]!r} contains a NUL character, which no path can. Leave it out.")
        if path == "~" or path.startswith("~/"):
            path = self.home + path[1:]
        return re.sub("^//+", "/", posixpath.normpath(posixpath.join(self.cwd, path)))


def is_secret(path: str, place: Place) -> bool:
    """True when reading this absolute path shows a secret, or never ends."""
    return _listed(path, place, table.SECRET, table.NOT_SECRET)


def holds_secrets(path: str, place: Place) -> bool:
    """True for a secret and for a folder of them."""
    if is_secret(path, place):
        return True
    return is_secret(f"{path}/.", place) and not _excepted(path, place, table.NOT_SECRET)


def is_protected(path: str, place: Place) -> bool:
    """True when writing to this absolute path changes the machine, a login, or the agent itself."""
    if place.program and encloses(place.program, path):
        return True
    return _listed(path, place, table.PROTECTED, table.NOT_PROTECTED) or is_secret(path, place)


def may_be_secret(pattern: str, place: Place) -> bool:
    """True when some secret, or a folder of them, fits this absolute glob."""
    return _met(pattern, place, table.SECRET, table.NOT_SECRET)


def may_be_protected(pattern: str, place: Place) -> bool:
    """True when some file that `is_protected` fits this absolute glob."""
    return _met(pattern, place, table.PROTECTED, table.NOT_PROTECTED) or may_be_secret(pattern, place)


def reaches_secrets(folder: str, place: Place) -> bool:
    """True for a folder with a known place of secrets somewhere below it."""
    return any(encloses(_folded(folder), known) for known in _known(place.home, place.state))


def holds_protected(path: str, place: Place) -> bool:
    """True for what `is_protected` and for a folder of it."""
    if is_protected(path, place):
        return True
    return is_protected(f"{path}/.", place) and not _excepted(path, place, table.NOT_PROTECTED)


def is_disk(path: str) -> bool:
    return path.startswith("/dev/") and any(fnmatchcase(path, pattern) for pattern in table.DISKS)


def is_vital(path: str, place: Place) -> bool:
    """True for a folder whose loss is the loss of the machine or of everything somebody has."""
    return path in table.SYSTEM_FOLDERS or path == place.home or encloses(path, place.home)


def covers_vital(pattern: str, place: Place) -> bool:
    """True for a pattern that such a folder fits."""
    return any(fnmatchcase(folder, pattern) for folder in (place.home, *table.SYSTEM_FOLDERS))


def is_regenerable(path: str, place: Place) -> bool:
    """True for what a build makes again, inside the workspace or a temporary folder."""
    name = posixpath.basename(path.rstrip("/"))
    named = any(fnmatchcase(name, pattern) for pattern in table.REGENERABLE)
    return named and inside(path, place)


def inside(path: str, place: Place) -> bool:
    """True below the workspace or a temporary folder."""
    return any(encloses(top, path) and top != path for top in (place.workspace, "/tmp", "/var/tmp") if top)


def _listed(path: str, place: Place, listed: tuple[str, ...], but: tuple[str, ...]) -> bool:
    workspace = place.workspace if encloses(place.workspace, path) else ""
    rules = _compiled(place.home, place.state, workspace, listed)
    exceptions = _compiled(place.home, place.state, "", but)
    folded = _folded(path)
    return bool(rules.fullmatch(folded)) and not exceptions.fullmatch(folded)


def _excepted(path: str, place: Place, but: tuple[str, ...]) -> bool:
    return bool(_compiled(place.home, place.state, "", but).fullmatch(_folded(path)))


def _folded(path: str) -> str:
    """A name in a dot folder in lower case: some file systems do not tell `.SSH` from `.ssh`."""
    return "/".join(part.lower() if part.startswith(".") else part for part in path.split("/"))


@lru_cache(maxsize=64)
def _compiled(home: str, state: str, workspace: str, patterns: tuple[str, ...]) -> re.Pattern[str]:
    """One expression for all patterns, without those that would make the whole workspace a case."""
    full = (_folded(_placed(pattern, home, state)) for pattern in patterns)
    inside = _folded(f"{workspace}/x") if workspace else ""
    kept = [pattern for pattern in full if not (inside and fnmatchcase(inside, pattern))]
    return re.compile("|".join(translate(pattern) for pattern in kept) or r"(?!)")


def _placed(pattern: str, home: str, state: str) -> str:
    if pattern.startswith("~"):
        return home + pattern[1:]
    return state + pattern[1:] if pattern.startswith("@") else pattern


# Globs

_HEAD = re.compile(r"[^*?\[]*")
_TELLING = re.compile(r"\.|[^*?\[]{3}")  # how a name must begin to mean one that may lie anywhere


@lru_cache(maxsize=256)
def _met(pattern: str, place: Place, listed: tuple[str, ...], but: tuple[str, ...]) -> bool:
    pattern = _folded(pattern)
    if _excepted(pattern, place, but):
        return False
    workspace = place.workspace if encloses(place.workspace, pattern) else ""
    known = _anchored(place.home, place.state, workspace, listed)
    return any(_meets(typed, one) for typed in (pattern, f"{pattern}/x") for one in known)


def _meets(pattern: str, listed: str) -> bool:
    if listed.startswith("*"):
        name = posixpath.basename(pattern)
        return listed[1] == "/" and bool(_TELLING.match(name)) and meet(name, listed[2:])
    typed, known = _head(pattern), _head(listed)
    return (typed.startswith(known) or known.startswith(typed)) and meet(pattern, listed)


@lru_cache(maxsize=16)
def _anchored(home: str, state: str, workspace: str, patterns: tuple[str, ...]) -> tuple[str, ...]:
    """The patterns with their places filled in; what may follow a whole name (`shadow*`) left out."""
    full = (_folded(_placed(pattern, home, state)) for pattern in patterns)
    inside = _folded(f"{workspace}/x") if workspace else ""
    kept = (one for one in full if not (inside and fnmatchcase(inside, one)) and not one.startswith("*/*"))
    return tuple(re.sub(r"(?<=[^/*])\*$", "", one) for one in kept)


@lru_cache(maxsize=16)
def _known(home: str, state: str) -> tuple[str, ...]:
    """The folders and files with secrets whose place is known."""
    anchored = (one for one in table.SECRET if not one.startswith("*"))
    heads = {_head(_folded(_placed(one, home, state))).rstrip("/") for one in anchored}
    return tuple(sorted(heads))


def _head(pattern: str) -> str:
    found = _HEAD.match(pattern)
    return found[0] if found else ""
