"""Writing the files of a home: one process at a time, whole or not at all, the last versions kept."""

import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

from hermes.core.errors import ConfigError

try:
    import fcntl
except ImportError:  # pragma: no cover - not on this system: edits are still whole, but not in turn
    fcntl = None  # type: ignore[assignment]

KEPT = 5
"""How many former versions of config.yaml are kept, as config.yaml.bak-1 (the newest) and on."""


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the folder's settings for one edit; another process waits. Makes the folder (0700) if need be.

    Raises:
        ConfigError: The folder cannot be made or written.
    """
    try:
        made(folder)
        handle = os.open(folder / ".config.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise ConfigError(
            f"{folder} cannot be written: {error.strerror}. Check its owner and rights."
        ) from None
    try:
        if fcntl:
            fcntl.flock(handle, fcntl.LOCK_EX)
            for left in folder.glob(".*.new-????????"):  # of a process that was killed
                left.unlink(missing_ok=True)
        yield
    finally:
        os.close(handle)


def made(folder: Path) -> None:
    """Make a folder and those above it that are missing, for its owner alone."""
    if not folder.is_dir():
        made(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


def replaced(path: Path, content: bytes, mode: int | None = None) -> None:
    """Put new content in place of a file, whole or not at all. A link stays a link.

    Args:
        path: The file.
        content: All of it.
        mode: Its rights; None keeps what it has, 0600 for a new one.

    Raises:
        ConfigError: It could not be written; the file is as it was.
    """
    target = Path(os.path.realpath(path))
    fresh = target.with_name(f".{target.name}.new-{secrets.token_hex(4)}")
    try:
        rights = mode if mode is not None else _rights(target)
        _write(fresh, content, rights)
        os.replace(fresh, target)
        _synced(target.parent)
    except OSError as error:
        fresh.unlink(missing_ok=True)
        raise ConfigError(f"{path} could not be written: {error.strerror}. It is as it was.") from None


def _rights(path: Path) -> int:
    try:
        return path.stat().st_mode & 0o777
    except FileNotFoundError:
        return 0o600


def _write(path: Path, content: bytes, mode: int) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with open(handle, "wb") as file:
        file.write(content)
        file.flush()
        os.fchmod(file.fileno(), mode)
        os.fsync(file.fileno())


def _synced(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def kept(path: Path) -> list[Path]:
    """The former versions of a file, the newest first."""
    versions = (path.with_name(f"{path.name}.bak-{number}") for number in range(1, KEPT + 1))
    return [version for version in versions if os.path.exists(version)]


def keep(path: Path) -> None:
    """Keep the file's present content as the newest former version. Call it with the lock held.

    Raises:
        ConfigError: It could not be kept; nothing was changed.
    """
    try:
        content = path.read_bytes()
        for number in range(KEPT - 1, 0, -1):
            older = path.with_name(f"{path.name}.bak-{number}")
            if older.exists():
                os.replace(older, path.with_name(f"{path.name}.bak-{number + 1}"))
    except FileNotFoundError:
        return
    except OSError as error:
        raise ConfigError(f"{path} cannot be kept: {error.strerror}. Nothing was changed.") from None
    replaced(path.with_name(f"{path.name}.bak-1"), content, 0o600)
