"""What a path is: a secret to read, a file whose change needs a yes, a disk, somebody's home."""

import posixpath
import re
from dataclasses import dataclass
from fnmatch import fnmatchcase, translate
from functools import lru_cache

from hermes.core.errors import ToolError
from hermes.safety.tables import paths as table


@dataclass(frozen=True, slots=True)
class Place:
    """Where judgements are made. All paths absolute; `state` is the agent's own home, `agent` its command."""

    home: str
    cwd: str
    workspace: str
    state: str
    agent: str = "hermes"

    def at(self, cwd: str) -> "Place":
        return Place(self.home, cwd, self.workspace, self.state, self.agent)

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


def is_protected(path: str, place: Place) -> bool:
    """True when writing to this absolute path changes the machine, a login, or the agent itself."""
    return _listed(path, place, table.PROTECTED, table.NOT_PROTECTED) or is_secret(path, place)


def is_disk(path: str) -> bool:
    return path.startswith("/dev/") and any(fnmatchcase(path, pattern) for pattern in table.DISKS)


def is_vital(path: str, place: Place) -> bool:
    """True for a folder whose loss is the loss of the machine or of everything somebody has."""
    return path in table.SYSTEM_FOLDERS or path == place.home or _encloses(path, place.home)


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
    return any(_encloses(top, path) and top != path for top in (place.workspace, "/tmp", "/var/tmp") if top)


def _encloses(outer: str, inner: str) -> bool:
    return inner == outer or inner.startswith(outer.rstrip("/") + "/")


def _listed(path: str, place: Place, listed: tuple[str, ...], but: tuple[str, ...]) -> bool:
    workspace = place.workspace if _encloses(place.workspace, path) else ""
    rules = _compiled(place.home, place.state, workspace, listed)
    exceptions = _compiled(place.home, place.state, "", but)
    folded = _folded(path)
    return bool(rules.fullmatch(folded)) and not exceptions.fullmatch(folded)


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
