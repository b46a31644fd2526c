"""kill -9 of a writing process, twenty times at random moments: nothing acknowledged is lost."""

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from hermes.core.ids import SessionId
from hermes.core.messages import user
from hermes.stores.open import open_store
from hermes.testing.clock import StillClock

pytestmark = pytest.mark.anyio
LIVES = 20
SPAWNER = """
import asyncio, json, os, random, signal, sys, time
from hermes.core.ids import SessionId, TurnId
from hermes.core.messages import user
from hermes.core.store import Session
from hermes.stores.journal import SessionJournal
from hermes.stores.open import open_store
from hermes.testing.clock import StillClock

async def write(life, told):
    store = open_store(sys.argv[1], StillClock())
    async def talk(session):
        await store.write(lambda tx: tx.sessions.create(Session(session, session)))
        journal = SessionJournal(store, session, StillClock())
        for n in range(1_000):
            await journal.append(user(f"{session} {n} " + "x" * (n * 997 % 5000)))
            await journal.draft(TurnId("t"), 0, "shown ")
            await journal.draft(TurnId("t"), 1, str(n))
            await store.write(lambda tx: tx.sessions.rename(session, str(n)))
            os.write(told, f"{session} {n + 1}\\n".encode())
    async with asyncio.TaskGroup() as tasks:
        for k in range(3):
            tasks.create_task(talk(SessionId(f"life{life}-{k}")))

chance, acknowledged = random.Random(417), {}
for life in range(int(sys.argv[2])):
    reading, told = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        asyncio.run(write(life, told))
        os._exit(1)
    os.close(told)
    last = chance.randrange(1, 40)
    with open(reading) as lines:
        for n, line in enumerate(lines):
            if n == last:
                time.sleep(chance.random() / 500)
                os.kill(child, signal.SIGKILL)
            name, count = line.split()
            acknowledged[name] = int(count)
    assert os.waitpid(child, 0)[1] == signal.SIGKILL
print(json.dumps(acknowledged))
"""


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def killed(tmp_path: Path) -> tuple[Path, dict[SessionId, int]]:
    """The file that was written to, and how many messages of each session were acknowledged."""
    file = tmp_path / "state.db"
    spawning = [sys.executable, "-c", SPAWNER, str(file), str(LIVES)]
    run = subprocess.run(spawning, check=False, capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr
    return file, json.loads(run.stdout)


async def test_twenty_kills_lose_nothing_acknowledged(killed: tuple[Path, dict[SessionId, int]]) -> None:
    file, acknowledged = killed
    assert len({name.split("-")[0] for name in acknowledged}) == LIVES
    store = open_store(file, StillClock())
    for name, count in acknowledged.items():
        rows, draft = await store.read(
            lambda tx, name=name: (tx.messages.all(name), tx.drafts.read(name))  # type: ignore[misc]
        )
        assert [row.seq for row in rows] == list(range(1, len(rows) + 1))
        assert len(rows) >= count
        assert all(row.message.text.startswith(f"{name} {n} ") for n, row in enumerate(rows))
        # What was shown before the last acknowledged write is there, or its message has come.
        assert draft == f"shown {len(rows) - 1}" or len(rows) > count
    name = next(iter(acknowledged))
    await store.write(lambda tx: tx.messages.append(name, user("and on it goes")))
    assert [hit.session for hit in await store.search("goes")] == [name]
    await store.close()
    with closing(sqlite3.connect(file)) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
