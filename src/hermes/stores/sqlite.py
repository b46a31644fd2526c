"""SQLite: one file in WAL mode, one writer per process, commits grouped and always synced."""

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from hermes.core.clock import Clock
from hermes.core.errors import StoreError, StoreTooNew
from hermes.stores.dialect import SQLITE
from hermes.stores.migrations import CURRENT, Schema, statements
from hermes.stores.sql import Tables, tables
from hermes.stores.sqlite_file import BUSY, into_wal_mode, said
from hermes.stores.threads import Held, ThreadedStore
from hermes.stores.worker import Job

if TYPE_CHECKING:
    from hermes.stores.index import Index

OURS = 0x4865726D
"""The application id in the file's header: "Herm"."""


def sqlite_store(path: Path, clock: Clock, *, busy: float = BUSY, schema: Schema = CURRENT) -> ThreadedStore:
    """A store in the file `path`, opened when first used; any number of processes may share it.

    `busy` is the time in seconds to wait for another process's transaction.
    """
    file = _File(path, busy, schema)
    return ThreadedStore(
        clock,
        _Connection(file, clock),
        _Connection(file, clock, read_only=True),
        lambda followed: _Searcher(file, followed),
    )


class _File:
    """The database file: created, recognised and brought up to date before its first use."""

    def __init__(self, path: Path, busy: float, schema: Schema) -> None:
        self.path, self._busy, self._schema = path, busy, schema
        self._lock = Lock()

    def open(self) -> sqlite3.Connection:
        """A new connection. Raises sqlite3.Error, OSError or StoreError."""
        if "\0" in str(self.path):
            raise StoreError(f"{str(self.path)!r} is no file name: there is a NUL in it.")
        with self._lock:
            self._make()
            db = sqlite3.connect(
                self.path,
                timeout=self._busy,
                isolation_level=None,
                check_same_thread=False,
                cached_statements=256,
            )
            try:
                self._prepare(db)
            except BaseException:
                db.close()
                raise
            return db

    def _make(self) -> None:
        """Create the file, readable by its owner only (SQLite gives its companions the same mode)."""
        if not self.path.exists():
            _make_folder(self.path.parent)
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))

    def _prepare(self, db: sqlite3.Connection) -> None:
        db.execute("PRAGMA synchronous = FULL")
        db.execute("PRAGMA fullfsync = 1")  # macOS: fsync alone does not reach the disk
        db.execute("PRAGMA secure_delete = 1")  # "fast" would leave the pages of long texts as they are
        version = self._version(db)
        if version < self._schema.latest:
            if not version:
                into_wal_mode(db)
            self._migrate(db)
        if db.execute("PRAGMA journal_mode").fetchone() != ("wal",):
            raise StoreError(f"{self.path} cannot be put into WAL mode: keep it on a local disk.")
        db.execute("PRAGMA journal_size_limit = 33554432")

    def _version(self, db: sqlite3.Connection) -> int:
        version: int = db.execute("PRAGMA user_version").fetchone()[0]
        whose: int = db.execute("PRAGMA application_id").fetchone()[0]
        if whose != OURS and db.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone():
            raise StoreError(f"{self.path} belongs to another program. Move it away, then start again.")
        if version > self._schema.latest:
            raise StoreTooNew(
                f"{self.path} was written by a newer version of Hermes (schema {version}, this one knows"
                f" {self._schema.latest}). Update Hermes to open it."
            )
        return version

    def _migrate(self, db: sqlite3.Connection) -> None:
        db.execute("BEGIN IMMEDIATE")
        version = self._version(db)  # another process may have been faster
        if 0 < version < self._schema.latest:
            self._back_up(version)
        for number, text in self._schema.pending(version):
            for statement in statements(text.format(identity=SQLITE.identity)):
                db.execute(statement)
            if number == 1:
                db.execute("INSERT INTO meta VALUES ('store', ?)", (os.urandom(8).hex(),))
            db.execute(f"PRAGMA user_version = {number}")
        db.execute(f"PRAGMA application_id = {OURS}")
        db.execute("COMMIT")

    def _back_up(self, version: int) -> None:
        """Copy the file, as it is before the change, to its name with `.vN.bak`."""
        target = self.path.with_name(f"{self.path.name}.v{version}.bak")
        part = target.with_name(f"{target.name}.part")
        part.unlink(missing_ok=True)
        os.close(os.open(part, os.O_RDWR | os.O_CREAT, 0o600))
        with closing(sqlite3.connect(self.path)) as source, closing(sqlite3.connect(part)) as copy:
            source.backup(copy)
        part.replace(target)


def _make_folder(folder: Path) -> None:
    """Make a folder, for its owner only, that a power loss does not take away again."""
    if folder.exists():
        return
    _make_folder(folder.parent)
    folder.mkdir(mode=0o700, exist_ok=True)
    above = os.open(folder.parent, os.O_RDONLY)
    try:
        os.fsync(above)
    finally:
        os.close(above)


class _Connection(Held[sqlite3.Connection]):
    """Runs a thread's jobs on a file."""

    def __init__(self, file: _File, clock: Clock, read_only: bool = False) -> None:
        super().__init__()
        self._file, self._clock, self._read_only = file, clock, read_only

    def run(self, jobs: list[Job]) -> None:
        """Run the jobs: reads each on a snapshot, writes together in one transaction."""
        if self._read_only:
            self._read(jobs)
        else:
            self._write(jobs)

    def _write(self, jobs: list[Job]) -> None:
        """None of the jobs counts unless the commit succeeds."""
        try:
            db, tx = self._opened()
            db.execute("BEGIN IMMEDIATE")
            for job in jobs:
                self._in_savepoint(db, tx, job)
            db.execute("COMMIT")
        except _Undone as error:
            self._give_up(jobs, error.why)
            for job in jobs if len(jobs) > 1 else ():
                job.error = None
                self._write([job])
        except (sqlite3.Error, OSError, StoreError) as error:
            self._give_up(jobs, error)

    def _read(self, jobs: list[Job]) -> None:
        for job in jobs:
            try:
                db, tx = self._opened()
                db.execute("BEGIN")
                _run(job, tx, self._file.path)
                if db.in_transaction:  # else SQLite has ended it, and the job's error says why
                    db.execute("COMMIT")
            except (sqlite3.Error, OSError, StoreError) as error:
                self._give_up([job], error)

    def _in_savepoint(self, db: sqlite3.Connection, tx: Tables, job: Job) -> None:
        db.execute("SAVEPOINT work")
        _run(job, tx, self._file.path)
        if job.error is not None:
            if not db.in_transaction:
                raise _Undone(job.error)
            db.execute("ROLLBACK TO work")
        db.execute("RELEASE work")

    def _opened(self) -> tuple[sqlite3.Connection, Tables]:
        if self._db is None or self._tables is None:
            self._db = self._file.open()
            if self._read_only:
                self._db.execute("PRAGMA query_only = 1")
            self._tables = tables(self._db, SQLITE, self._clock.now)
        return self._db, self._tables

    def _give_up(self, jobs: list[Job], error: BaseException) -> None:
        self.close()
        for job in jobs:
            job.error = said(error, self._file.path)


class _Undone(Exception):
    """SQLite itself has undone the whole batch over one job: the disk is full, and the like."""

    def __init__(self, why: BaseException) -> None:
        super().__init__()
        self.why = why


class _Searcher:
    """The search thread's index, with a connection to the log it is fed from."""

    def __init__(self, file: _File, followed: Callable[[int], None]) -> None:
        self._file, self._followed = file, followed
        path = file.path
        self._path = path.with_name(f"{path.stem}.search.db")
        self._log: sqlite3.Connection | None = None
        self._index: Index | None = None

    def run(self, jobs: list[Job]) -> None:
        for job in jobs:
            try:
                _run(job, self._opened(), self._path)
            except (sqlite3.Error, OSError, StoreError) as error:
                job.error = said(error, self._file.path)
            if isinstance(job.error, OSError):
                job.error = said(job.error, self._path)
            if job.error is not None:
                self.close()

    def close(self) -> None:
        index, log, self._index, self._log = self._index, self._log, None, None
        if index is not None:
            index.close()
        if log is not None:
            log.close()

    def _opened(self) -> "Index":
        if self._index is None:
            self._log = self._file.open()
            self._log.execute("PRAGMA query_only = 1")
            # Named by string: a process that never searches does not pay for the index's tables.
            index: type[Index] = import_module("hermes.stores.index").Index
            self._index = index(self._path, self._log, self._followed)
        return self._index


def _run(job: Job, on: object, path: Path) -> None:
    """Run a job; what the database of `path` says about it is put into plain words."""
    job.run(on)
    if isinstance(job.error, sqlite3.Error):
        job.error = said(job.error, path)
