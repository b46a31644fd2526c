"""Worker: a thread that runs queued jobs in batches and answers their callers' event loops."""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import Any, Generic, TypeVar

from hermes.core.errors import StoreError

T = TypeVar("T")
C = TypeVar("C")
log = logging.getLogger(__name__)
MOST = 256
"""Jobs that share one commit at the most."""


class Job:
    """One transaction to run. `value` or `error` is its outcome; without a future nobody waits."""

    __slots__ = ("error", "future", "value", "work")

    def __init__(self, work: Callable[[Any], Any], future: "asyncio.Future[Any] | None") -> None:
        self.work, self.future = work, future
        self.value: Any = None
        self.error: BaseException | None = None

    def run(self, on: object) -> None:
        """Do the work on this transaction or index, and note how it went."""
        try:
            self.value = self.work(on)
        except StopIteration:  # no future takes one
            self.error = RuntimeError("the work of a transaction raised StopIteration")
        except BaseException as error:  # noqa: BLE001 - handed to the caller, who waits for it
            self.error = error


class Worker(Generic[C]):
    """Runs `batch` with whatever is queued, on a thread of its own that starts with the first job.

    `batch` sets each job's outcome and returns when all of them are as durable as they will be;
    only then are the callers answered. Any number of event loops may use one worker. `end` gives up
    what `batch` works with: it runs on the thread when it stops, and when `batch` has failed, which
    then begins anew. The thread does not keep the process alive.
    """

    def __init__(self, name: str, batch: Callable[[list[Job]], None], end: Callable[[], None]) -> None:
        self._name, self._batch, self._end = name, batch, end
        self._queue: SimpleQueue[Job] = SimpleQueue()
        self._thread: Thread | None = None
        self._lock = Lock()
        self._closed = False

    async def call(self, work: Callable[[C], T]) -> T:
        """Run `work` and return its value. Cancelling the caller does not take the job back."""
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._put(Job(work, future))
        return await future

    def post(self, work: Callable[[C], object]) -> None:
        """Run `work` after all that is queued; nobody waits, a failure is logged."""
        self._put(Job(work, None))

    async def close(self) -> None:
        """Run what is queued, then stop. Further jobs are refused."""
        with self._lock:
            started = self._thread is not None and not self._closed
            self._closed = True
            if not started:
                return
            last = Job(_stop, asyncio.get_running_loop().create_future())
            self._queue.put(last)
        assert last.future is not None
        await last.future

    def _put(self, job: Job) -> None:
        with self._lock:
            if self._closed:
                raise StoreError("The store is closed.")
            if self._thread is None:
                self._thread = Thread(target=self._run, name=self._name, daemon=True)
                self._thread.start()
            self._queue.put(job)

    def _run(self) -> None:
        last: Job | None = None
        while last is None:
            jobs = self._gather(self._queue.get())
            if jobs[-1].work is _stop:
                last = jobs.pop()
            if jobs:
                self._do(jobs)
                _answer(jobs)
        self._given_up()
        _answer([last])

    def _do(self, jobs: list[Job]) -> None:
        """The thread's crash boundary: what `batch` lets through is each caller's error, and we go on."""
        try:
            self._batch(jobs)
        except BaseException as error:  # noqa: BLE001 - a thread that dies leaves everybody waiting for ever
            for job in jobs:
                if job.error is None:
                    job.error = StoreError(f"The store failed ({type(error).__name__}: {error}). Try again.")
                    job.error.__cause__ = error
            self._given_up()

    def _given_up(self) -> None:
        try:
            self._end()
        except BaseException as error:  # noqa: BLE001 - as above: the thread goes on
            log.warning("%s could not be ended: %r", self._name, error)

    def _gather(self, first: Job) -> list[Job]:
        """This job and those behind it, up to the last one there will ever be."""
        jobs = [first]
        try:
            while len(jobs) < MOST and jobs[-1].work is not _stop:
                jobs.append(self._queue.get_nowait())
        except Empty:
            pass
        return jobs


def _stop(_: object) -> None:
    """The work of the last job: nothing."""


def _answer(jobs: list[Job]) -> None:
    waiting: defaultdict[asyncio.AbstractEventLoop, list[Job]] = defaultdict(list)
    for job in jobs:
        if job.future is not None:
            waiting[job.future.get_loop()].append(job)
        elif job.error is not None:
            log.warning("A write nobody waits for failed: %s", job.error)
    for loop, some in waiting.items():
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(_settle, some)


def _settle(jobs: list[Job]) -> None:
    for job in jobs:
        if job.future is None or job.future.done():
            continue
        if job.error is None:
            job.future.set_result(job.value)
        else:
            job.future.set_exception(job.error)
