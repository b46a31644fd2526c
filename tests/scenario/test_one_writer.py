"""A session has one writer at a time, and nobody has to wait for the dead."""

import os
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import pytest

from hermes.app.clock import SystemClock
from hermes.core.errors import SessionBusy, StaleWriter
from hermes.core.events import Stop, TurnEnded
from hermes.core.ids import SessionId
from hermes.core.messages import Message, user
from hermes.core.store import Session, Store
from hermes.engine.conversation import Conversation
from hermes.engine.log import Log
from hermes.stores import holder
from hermes.stores.journal import HELD, SessionJournal
from hermes.stores.open import open_store
from hermes.testing.clock import StillClock
from hermes.testing.endpoint import ModelServer, Says
from hermes.testing.scripted import ScriptedModel, agent, play, says

pytestmark = pytest.mark.anyio

KEY = SessionId("s1")
ROW = Session(KEY, KEY)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    store = open_store(tmp_path / "hermes.db", StillClock())
    await store.write(lambda tx: tx.sessions.create(ROW))
    yield store
    await store.close()


async def texts(store: Store) -> list[str]:
    return [row.message.text for row in await store.read(lambda tx: tx.messages.all(KEY))]


async def test_the_second_turn_in_a_session_is_told_and_the_next_one_works(store: Store) -> None:
    clock = StillClock()
    first = SessionJournal(store, KEY, clock)
    await first.open()
    log = Log((), SessionJournal(store, KEY, clock))
    events = await play(agent(ScriptedModel(says("hello"))), log)
    assert isinstance(events[-1], TurnEnded)
    assert events[-1].stop is Stop.FAILED
    assert "at work elsewhere" in events[-1].error
    assert await texts(store) == []
    first.close()
    events = await play(agent(ScriptedModel(says("hello"))), log)
    assert isinstance(events[-1], TurnEnded)
    assert events[-1].stop is Stop.DONE
    assert await texts(store) == ["hi", "hello"]


async def test_what_another_terminal_said_is_taken_in(store: Store) -> None:
    clock = StillClock()
    here, there = (Log((), SessionJournal(store, KEY, clock)) for _ in range(2))
    await play(agent(ScriptedModel(says("one"))), here, "first")
    model = ScriptedModel(says("two"))
    await play(agent(model), there, "second")
    assert [m.text for m in model.requests[0].messages] == ["first", "one", "second"]
    model = ScriptedModel(says("three"))
    await play(agent(model), here, "third")
    assert [m.text for m in model.requests[0].messages] == ["first", "one", "second", "two", "third"]


async def test_who_was_away_too_long_cannot_write_any_more(store: Store) -> None:
    clock = StillClock()
    frozen, other = (SessionJournal(store, KEY, clock) for _ in range(2))
    await frozen.open()
    clock.advance(HELD / 2)
    await frozen.append(user("still here"))  # which holds it for longer
    clock.advance(HELD / 2 + 1)
    with pytest.raises(SessionBusy):
        await other.open()
    clock.advance(HELD)
    opening = await other.open()
    assert [m.text for m in opening.news] == ["still here"]
    with pytest.raises(StaleWriter):
        await frozen.append(user("from the past"))
    await other.append(user("now"))
    assert await texts(store) == ["still here", "now"]


HOLDING = """
import asyncio, sys
from hermes.app.clock import SystemClock
from hermes.core.ids import SessionId
from hermes.stores.journal import SessionJournal
from hermes.stores.open import open_store

async def main():
    clock = SystemClock()
    await SessionJournal(open_store(sys.argv[1], clock), SessionId("s1"), clock).open()
    print("held", flush=True)
    await asyncio.sleep(60)

asyncio.run(main())
"""


@contextmanager
def holding(file: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that holds the session."""
    with subprocess.Popen([sys.executable, "-c", HOLDING, file], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout
        assert child.stdout.readline() == "held\n"
        yield child
        child.kill()


async def test_a_process_that_was_killed_holds_nothing(store: Store, tmp_path: Path) -> None:
    journal = SessionJournal(store, KEY, SystemClock())
    with holding(tmp_path / "hermes.db") as child:
        with pytest.raises(SessionBusy):
            await journal.open()
        child.kill()
        child.wait()
        assert (await journal.open()).draft == ""


async def test_the_first_write_may_fail_and_the_next_one_works(tmp_path: Path) -> None:
    store = open_store(tmp_path / "hermes.db", StillClock())
    journal = SessionJournal(store, KEY, StillClock(), new=ROW)
    (tmp_path / "hermes.db").mkdir()
    with pytest.raises(Exception, match=r"hermes\.db"):
        await journal.append(user("tell me a story about bees"))
    (tmp_path / "hermes.db").rmdir()
    await journal.append(user("tell me a story about ants"))
    row = await store.read(lambda tx: tx.sessions.get(KEY))
    assert row
    assert (row.title, row.count) == ("tell me a story about ants", 1)
    await store.close()


def test_a_process_is_told_apart_from_one_that_got_its_number() -> None:
    mine = holder.this_process()
    host, pid, _ = mine.split(":")
    assert pid == str(os.getpid())
    assert holder.alive(f"{mine}:abcd")
    assert not holder.alive(f"{host}:{pid}:1:abcd")
    assert not holder.alive(f"{host}:999999999::abcd")
    assert holder.alive(f"elsewhere:{pid}:1:abcd")
    assert holder.alive("worker-7")


async def test_a_conversation_gives_the_right_back_whatever_happens(store: Store) -> None:
    log = Log((), SessionJournal(store, KEY, StillClock()))
    one = Conversation(KEY, agent(ScriptedModel(RuntimeError("a bug"))), log, StillClock())
    async with anyio.create_task_group() as tasks, one.turn(tasks, "go") as turn:
        async for _ in turn.events:
            pass
    other = SessionJournal(store, KEY, StillClock())
    assert [m.text for m in (await other.open()).news] == ["go"]
    assert isinstance(log.last, Message)


async def test_settling_a_conversation_holds_nothing(store: Store) -> None:
    clock = StillClock()
    one = Conversation(KEY, agent(ScriptedModel()), Log((), SessionJournal(store, KEY, clock)), clock)
    await one.settle()
    await SessionJournal(store, KEY, clock).open()


async def test_a_finished_command_leaves_no_claim_behind(tmp_path: Path) -> None:
    async with ModelServer(lambda _: Says("hi")) as server:
        (tmp_path / "config.yaml").write_text(
            f"model: {{default: m, provider: custom, base_url: '{server.url}/v1', api_key: k}}\n"
        )
        env = {"HERMES_HOME": str(tmp_path), "PATH": os.environ["PATH"]}
        done = await anyio.run_process([sys.executable, "-m", "hermes", "-z", "hi"], env=env, input=b"")
    assert done.stdout == b"hi\n"
    with sqlite3.connect(tmp_path / "hermes.db") as db:
        assert db.execute("SELECT holder FROM leases").fetchall() == [("",)]
    db.close()
