"""What every SQLite file of ours shares: how long to wait, WAL mode, and errors in plain words."""

import sqlite3
from pathlib import Path
from time import sleep

from hermes.core.errors import StoreError

BUSY = 10.0
"""Seconds to wait for another process's transaction."""
PAUSE = 0.02
"""Seconds between two tries where SQLite itself does not wait."""


def into_wal_mode(db: sqlite3.Connection) -> None:
    """SQLite does not wait here when two processes create the same file, so we do."""
    for _ in range(int(BUSY / PAUSE)):
        try:
            db.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                raise
            sleep(PAUSE)
        else:
            return


_MEANING = {
    sqlite3.SQLITE_FULL: "The disk is full: {path} could not be written. Free some space and try again.",
    sqlite3.SQLITE_READONLY: "{path} is read-only. Make the file and its folder writable for you.",
    sqlite3.SQLITE_PERM: "{path} may not be opened. Make the file and its folder readable for you.",
    sqlite3.SQLITE_CANTOPEN: "{path} cannot be opened. Make sure the folder exists and is yours.",
    sqlite3.SQLITE_BUSY: "{path} is held by another process. Try again when that has finished.",
    sqlite3.SQLITE_CORRUPT: "{path} is damaged. Put back its newest backup, or move it away to start anew.",
    sqlite3.SQLITE_NOTADB: "{path} is not a database. Put back its newest backup, or move it away.",
    sqlite3.SQLITE_IOERR: "{path} could not be read or written ({name}). Check the disk and try again.",
}


def said(error: BaseException, path: Path) -> StoreError:
    """What went wrong as one sentence for a person: what, where, what to do."""
    if isinstance(error, StoreError):
        return error
    if isinstance(error, OSError):
        return StoreError(f"{path} cannot be opened: {error.strerror}. Check its folder.")
    code = getattr(error, "sqlite_errorcode", None) or 0
    name = getattr(error, "sqlite_errorname", None) or type(error).__name__
    meaning = _MEANING.get(code & 0xFF)
    if meaning is None:
        return StoreError(f"{path}: {error} ({name}).")
    return StoreError(meaning.format(path=path, name=name))
