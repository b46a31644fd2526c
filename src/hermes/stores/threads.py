"""ThreadedStore: the `Store` that speaks to a database from threads of its own."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Generic, Protocol, TypeVar

from hermes.core.clock import Clock
from hermes.core.errors import StoreError
from hermes.core.store import Hit, Tx
from hermes.stores.sql import Tables
from hermes.stores.worker import Job, Worker

T = TypeVar("T")
FEED_EVERY = 5.0
"""Seconds between two feedings of the search index while there are writes."""


class Lane(Protocol):
    """What runs jobs on one thread, with a connection it opens when needed."""

    def run(self, jobs: list[Job]) -> None:
        """Run the jobs and set their outcomes; never raises."""
        ...

    def close(self) -> None: ...


class Closable(Protocol):
    def close(self) -> None: ...


Db = TypeVar("Db", bound=Closable)


class Held(Generic[Db]):
    """One thread's connection and the tables on it; given up after a failure, opened anew when needed."""

    def __init__(self) -> None:
        self._db: Db | None = None
        self._tables: Tables | None = None

    def deleted(self) -> bool:
        """Whether something was deleted since this was last asked."""
        if self._tables is None or not self._tables.forgotten.fresh:
            return False
        self._tables.forgotten.fresh = False
        return True

    def close(self) -> None:
        db, self._db, self._tables = self._db, None, None
        if db is not None:
            db.close()


class Writing(Lane, Protocol):
    def deleted(self) -> bool:
        """Whether something was deleted since this was last asked."""
        ...


class SearchIndex(Protocol):
    """What a search lane's jobs are given."""

    def search(self, text: str, limit: int, principal: str | None, session: str) -> list[Hit]: ...
    def feed(self) -> None: ...
    def forget(self) -> None: ...
    def rebuild(self) -> int: ...


class ThreadedStore:
    """A `Store` over three lanes, each with a thread of its own.

    Writes queue for one thread. Those that are waiting when it is free share a transaction, each in
    a savepoint, and are answered after the commit is on disk. Reads run on a snapshot, and neither
    they nor searches wait for writes. The index is fed now and then, and before each search.
    `searching` is given what to call with the number of the last deletion the index has followed.
    """

    def __init__(
        self,
        clock: Clock,
        writing: Writing,
        reading: Lane,
        searching: Callable[[Callable[[int], None]], Lane],
    ) -> None:
        self._clock, self._feed_at = clock, clock.monotonic() + FEED_EVERY
        self._writing, index = writing, searching(self._followed)
        self._writer = Worker[Tables]("store-write", self._write, writing.close)
        self._reader = Worker[Tables]("store-read", reading.run, reading.close)
        self._searcher = Worker[SearchIndex]("store-search", index.run, index.close)

    async def write(self, work: Callable[[Tx], T]) -> T:
        return await self._writer.call(work)

    async def read(self, work: Callable[[Tx], T]) -> T:
        return await self._reader.call(work)

    def post(self, work: Callable[[Tx], object]) -> None:
        self._writer.post(work)

    async def search(
        self, query: str, *, limit: int = 20, principal: str | None = None, session: str = ""
    ) -> Sequence[Hit]:
        return await self._searcher.call(lambda index: index.search(query, limit, principal, session))

    async def reindex(self) -> int:
        return await self._searcher.call(lambda index: index.rebuild())

    async def close(self) -> None:
        await self._reader.close()
        await self._searcher.close()
        await self._writer.close()

    def _write(self, jobs: list[Job]) -> None:
        """On the writer's thread: run the jobs, then let the index follow when it is time."""
        self._writing.run(jobs)
        if self._writing.deleted():
            self._later(lambda index: index.forget())
        elif self._clock.monotonic() >= self._feed_at:
            self._feed_at = self._clock.monotonic() + FEED_EVERY
            self._later(lambda index: index.feed())

    def _later(self, work: Callable[[SearchIndex], None]) -> None:
        with suppress(StoreError):  # closing: the next process will do it
            self._searcher.post(work)

    def _followed(self, upto: int) -> None:
        with suppress(StoreError):
            self._writer.post(lambda tx: tx.forgotten.drop(upto))
