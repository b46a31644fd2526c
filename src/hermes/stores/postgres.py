"""PostgreSQL: the same store on a server, for several machines. Needs the extra `postgres`."""

import os
from collections.abc import Sequence
from functools import lru_cache
from random import random
from time import sleep
from typing import Any

import psycopg
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict

from hermes.core.clock import Clock
from hermes.core.errors import StoreError, StoreTooNew
from hermes.stores.dialect import POSTGRES, Rows, Value
from hermes.stores.index_postgres import Index
from hermes.stores.migrations import CURRENT, statements
from hermes.stores.sql import Tables, tables
from hermes.stores.threads import Held, ThreadedStore
from hermes.stores.worker import Job

MIGRATING = 0x4865726D
"""The advisory lock under which the schema is changed."""
TRIES = 5
"""How often a transaction is run anew that deadlocked with another process's."""
_TRANSIENT = (errors.DeadlockDetected, errors.SerializationFailure)


def postgres_store(url: str, clock: Clock) -> ThreadedStore:
    """A store in the database at `url`, in its current schema; connects when first used."""
    server = _Server(url)
    return ThreadedStore(
        clock,
        _Connection(server, clock),
        _Connection(server, clock, read_only=True),
        lambda _: _Searcher(server),
    )


class Connection:
    """A connection that understands the common SQL text."""

    def __init__(self, raw: psycopg.Connection[Any]) -> None:
        self.raw = raw

    def execute(self, sql: str, values: Sequence[Value] = (), /) -> Rows:
        return self.raw.execute(_translated(sql), values or None)

    def control(self, sql: str) -> None:
        """Run statements without values in one round trip."""
        self.raw.execute(_translated(sql), prepare=False)

    def close(self) -> None:
        self.raw.close()


@lru_cache(maxsize=512)
def _translated(sql: str) -> Any:
    """psycopg's placeholders for ours. No text of ours has a question mark or % elsewhere."""
    return sql.replace("?", "%s")


class _Server:
    """Where the database is, and its schema brought up to date before its first use."""

    def __init__(self, url: str) -> None:
        self._url, self._ready = url, False

    @property
    def place(self) -> str:
        """The server's address without secrets."""
        try:
            told = conninfo_to_dict(self._url)
        except psycopg.Error:
            return "the database of database.url"
        return f"the database {told.get('dbname', '')} at {told.get('host') or 'this machine'}"

    def open(self) -> Connection:
        """A new connection. Raises psycopg.Error or StoreError."""
        raw = psycopg.connect(self._url, autocommit=True, connect_timeout=10, application_name="hermes")
        db = Connection(raw)
        try:
            if not self._ready:
                self._prepare(db)
                self._ready = True
        except BaseException:
            raw.close()
            raise
        return db

    def _prepare(self, db: Connection) -> None:
        if self._version(db) == CURRENT.latest:
            return
        # Locked before the transaction begins: one that is begun may not see a new table's name.
        db.execute("SELECT pg_advisory_lock(?)", (MIGRATING,))
        try:
            with db.raw.transaction():
                self._migrate(db)
        finally:
            db.execute("SELECT pg_advisory_unlock(?)", (MIGRATING,))

    def _migrate(self, db: Connection) -> None:
        for number, text in CURRENT.pending(self._version(db)):  # another process may have been faster
            for statement in statements(text.format(identity=POSTGRES.identity)):
                db.execute(statement)
            if number == 1:
                db.execute("INSERT INTO meta VALUES ('store', ?)", (os.urandom(8).hex(),))
            db.execute(
                "INSERT INTO meta VALUES ('schema', ?)"
                " ON CONFLICT (name) DO UPDATE SET value = excluded.value",
                (str(number),),
            )

    def _version(self, db: Connection) -> int:
        if db.execute("SELECT to_regclass('meta')").fetchone()[0] is None:
            return 0
        row = db.execute("SELECT value FROM meta WHERE name = 'schema'").fetchone()
        version = 0 if row is None else int(row[0])
        if version > CURRENT.latest:
            raise StoreTooNew(
                f"The store in {self.place} was written by a newer version of Hermes (schema {version},"
                f" this one knows {CURRENT.latest}). Update Hermes to open it."
            )
        return version


class _Connection(Held[Connection]):
    """Runs a thread's jobs on a server."""

    def __init__(self, server: _Server, clock: Clock, read_only: bool = False) -> None:
        super().__init__()
        self._server, self._clock, self._read_only = server, clock, read_only

    def run(self, jobs: list[Job]) -> None:
        """Run the jobs: reads each on a snapshot, writes together in one transaction."""
        for batch in [[job] for job in jobs] if self._read_only else [jobs]:
            self._together(batch)
        for job in jobs:
            self._again(job)
            if isinstance(job.error, psycopg.Error):
                job.error = _said(job.error, self._server.place)

    def _again(self, job: Job) -> None:
        """Run a job anew that got into another process's way, until one of the two is through."""
        for tried in range(TRIES):
            if not isinstance(job.error, _TRANSIENT):
                return
            sleep(random() * 0.02 * tried)
            job.error = None
            self._together([job])

    def _together(self, jobs: list[Job]) -> None:
        """Run the jobs in one transaction. None of them counts unless the commit succeeds."""
        try:
            db, tx = self._begun()
            for job in jobs:
                job.run(tx)
                if job.error is not None:
                    db.control("ROLLBACK TO SAVEPOINT work")
                elif job is not jobs[-1]:
                    db.control("RELEASE SAVEPOINT work; SAVEPOINT work")
            db.control("COMMIT")
        except (psycopg.Error, StoreError) as error:
            self.close()
            for job in jobs:
                job.error = error

    def _begun(self) -> tuple[Connection, Tables]:
        """The connection with a transaction and a savepoint begun, opened anew if it was lost meanwhile."""
        kind = " ISOLATION LEVEL REPEATABLE READ, READ ONLY" if self._read_only else ""
        begin = f"BEGIN{kind}; SAVEPOINT work"
        if self._db is not None and self._tables is not None:
            try:
                self._db.control(begin)
                return self._db, self._tables
            except psycopg.OperationalError:
                self.close()
        db = self._server.open()
        self._db, self._tables = db, tables(db, POSTGRES, self._clock.now)
        db.control(begin)
        return db, self._tables


class _Searcher:
    """The search thread's index."""

    def __init__(self, server: _Server) -> None:
        self._server = server
        self._index: Index | None = None

    def run(self, jobs: list[Job]) -> None:
        for job in jobs:
            self._one(job)
            if isinstance(job.error, psycopg.OperationalError):  # the connection was lost meanwhile
                self._one(job)
            if isinstance(job.error, psycopg.Error):
                job.error = _said(job.error, self._server.place)

    def _one(self, job: Job) -> None:
        job.error = None
        try:
            if self._index is None:
                self._index = Index(self._server.open())
            job.run(self._index)
        except (psycopg.Error, StoreError) as error:
            job.error = error
        if job.error is not None:
            self.close()

    def close(self) -> None:
        index, self._index = self._index, None
        if index is not None:
            index.close()


def _said(error: psycopg.Error, place: str) -> StoreError:
    """What went wrong as one sentence for a person: what, where, what to do."""
    what = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    match error:
        case errors.DiskFull():
            told = f"The disk of {place} is full. Free some space and try again."
        case errors.InsufficientPrivilege() | errors.InvalidAuthorizationSpecification():
            told = f"The account of database.url may not use {place}: {what}."
        case errors.OperationalError() | errors.InterfaceError():
            told = (
                f"{place[0].upper()}{place[1:]} does not answer ({what}). Check database.url and the server."
            )
        case _:
            told = f"{place[0].upper()}{place[1:]} refused a statement: {what}."
    result = StoreError(told)
    result.__cause__ = error
    return result
