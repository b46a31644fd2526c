"""Files of this machine: read, replaced atomically, described. Blocking, for a thread."""

import contextlib
import errno
import os
import stat
from typing import Literal

from hermes.core.errors import ToolError
from hermes.core.sandbox import Entry

READ_CAP = 100_000_000  # bytes of a file that is read at once


def read(path: str) -> bytes:
    """The whole file. Raise OSError, or ToolError for what is no regular file or too large."""
    with open(path, "rb", opener=_without_waiting) as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise ToolError(f"{path} is not a regular file: reading it may never end.")
        if found.st_size > READ_CAP:
            raise ToolError(
                f"{path} has {found.st_size:,} bytes: search it, or look at parts of it with terminal."
            )
        return file.read()


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)  # opening a pipe would wait for its writer


def write(path: str, content: bytes, expect: bytes | None) -> None:
    """Replace a file at once, or make it. Raise OSError, or ToolError when it is not what was expected."""
    target = os.path.realpath(path)  # a link stays a link
    folder = os.path.dirname(target)
    os.makedirs(folder, exist_ok=True)
    before = _status(target)
    if before is not None and not stat.S_ISREG(before.st_mode):
        if stat.S_ISDIR(before.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        raise ToolError(f"{path} is not a regular file and is not written to.")
    fresh = os.path.join(folder, f".hermes-{os.urandom(6).hex()}.tmp")
    try:
        mode = 0o666 if before is None else 0o600  # what was private is private at every moment
        with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
            if before is not None:
                _take_after(file.fileno(), before)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if expect is not None:
            _unchanged(target, expect)
        if before is None:
            _appear(fresh, target, path)
        else:
            os.replace(fresh, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(fresh)
        raise


def _appear(fresh: str, target: str, path: str) -> None:
    """Give a new file its name, unless somebody else has taken it meanwhile."""
    try:
        os.link(fresh, target)
    except FileExistsError as error:
        raise ToolError(f"{path} was made by somebody else just now: read it before writing.") from error
    except OSError:  # a file system without hard links
        os.replace(fresh, target)
    else:
        os.unlink(fresh)


def _unchanged(path: str, expect: bytes) -> None:
    try:
        same = read(path) == expect
    except FileNotFoundError:
        same = False
    if not same:
        raise ToolError(f"{path} has changed since it was read: read it again before writing.")


def _status(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _take_after(fresh: int, before: os.stat_result) -> None:
    """Give the new file the mode of the old one, and its owner where that is allowed."""
    now = os.fstat(fresh)
    if (now.st_uid, now.st_gid) != (before.st_uid, before.st_gid):
        with contextlib.suppress(PermissionError):
            os.fchown(fresh, before.st_uid, before.st_gid)
    os.fchmod(fresh, stat.S_IMODE(before.st_mode))


def entry_of(path: str) -> Entry:
    """What lies at a path, links followed. Raise OSError."""
    return describe(path, os.stat(path))


def describe(path: str, found: os.stat_result) -> Entry:
    """An entry from what the system tells of it."""
    kind: Literal["file", "dir", "other"] = "other"
    if stat.S_ISREG(found.st_mode):
        kind = "file"
    elif stat.S_ISDIR(found.st_mode):
        kind = "dir"
    return Entry(path, kind, found.st_size, found.st_mtime_ns // 1000)


def entries_of(path: str) -> list[Entry]:
    """The entries of a folder, sorted by name. Raise OSError."""
    with os.scandir(path) as found:
        names = sorted(entry.name for entry in found)
    entries: list[Entry] = []
    for name in names:
        full = os.path.join(path, name)
        try:
            entries.append(entry_of(full))
        except OSError:  # a link to nowhere, or gone meanwhile
            with contextlib.suppress(OSError):
                entries.append(describe(full, os.lstat(full)))
    return entries
