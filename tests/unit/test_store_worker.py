"""A store's thread: whatever happens on it, everybody who waits is answered, and it goes on."""

from pathlib import Path

import anyio
import pytest

from hermes.core.errors import StoreError
from hermes.core.ids import SessionId
from hermes.core.store import Session
from hermes.stores.open import open_store
from hermes.stores.worker import Job, Worker
from hermes.testing.clock import StillClock

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Lane:
    """Runs the jobs; fails in a way nobody foresaw as often as it is told to."""

    def __init__(self, failures: int, ending: BaseException | None = None) -> None:
        self.failures, self.ending = failures, ending
        self.ended = 0

    def run(self, jobs: list[Job]) -> None:
        if self.failures:
            self.failures -= 1
            raise MemoryError("no room")
        for job in jobs:
            job.run(self)

    def close(self) -> None:
        self.ended += 1
        if self.ending is not None:
            raise self.ending


async def test_a_failure_nobody_foresaw_reaches_every_caller_and_the_thread_goes_on() -> None:
    lane = Lane(failures=2)
    worker = Worker[Lane]("test", lane.run, lane.close)
    for _ in range(2):
        with anyio.fail_after(5), pytest.raises(StoreError, match=r"MemoryError: no room") as caught:
            await worker.call(lambda _: "never")
        assert isinstance(caught.value.__cause__, MemoryError)
    assert lane.ended == 2  # what it works with is given up each time: nothing stays half open
    with anyio.fail_after(5):
        assert await worker.call(lambda _: "done") == "done"
        await worker.close()
    assert lane.ended == 3


async def test_an_end_that_fails_still_closes(caplog: pytest.LogCaptureFixture) -> None:
    lane = Lane(0, ending=ValueError("stuck"))
    worker = Worker[Lane]("test", lane.run, lane.close)
    with anyio.fail_after(5):
        assert await worker.call(lambda _: 1) == 1
        await worker.close()
    assert "test could not be ended: ValueError('stuck')" in caplog.text


async def test_work_that_raises_stop_iteration_is_answered_and_so_are_those_behind_it() -> None:
    lane = Lane(0)
    worker = Worker[Lane]("test", lane.run, lane.close)
    answers: list[str] = []

    async def fails() -> None:
        with pytest.raises(RuntimeError, match="StopIteration"):
            await worker.call(lambda _: next(iter(())))
        answers.append("failed")

    async def works() -> None:
        answers.append(await worker.call(lambda _: "worked"))

    with anyio.fail_after(5):
        async with anyio.create_task_group() as both:
            both.start_soon(fails)
            both.start_soon(works)
        await worker.close()
    assert sorted(answers) == ["failed", "worked"]


async def test_a_name_no_file_can_have_is_refused_not_waited_for(tmp_path: Path) -> None:
    store = open_store(str(tmp_path / "a\0b.db"), StillClock())
    one = SessionId("one")
    with anyio.fail_after(5):
        with pytest.raises(StoreError, match=r"is no file name: there is a NUL in it"):
            await store.write(lambda tx: tx.sessions.create(Session(one, one)))
        with pytest.raises(StoreError, match="NUL"):
            await store.search("x")
        await store.close()
