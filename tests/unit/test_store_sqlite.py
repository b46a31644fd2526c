"""The SQLite store when something is wrong with its file, and how it changes from version to version."""

import resource
import shutil
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from threading import Event

import pytest

from hermes.core.errors import StoreError, StoreTooNew
from hermes.core.ids import SessionId, TurnId
from hermes.core.messages import Message, Role, Text, user
from hermes.core.store import Session, Store
from hermes.stores.journal import SessionJournal
from hermes.stores.migrations import CURRENT, Schema
from hermes.stores.open import open_store
from hermes.stores.sqlite import sqlite_store
from hermes.testing.clock import StillClock

pytestmark = pytest.mark.anyio
ONE = SessionId("one")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "home" / "hermes.db"


async def begun(file: Path, *texts: str) -> Store:
    """A store with one session and these messages in it."""
    store = open_store(file, StillClock())
    await store.write(lambda tx: tx.sessions.create(Session(ONE, ONE)))
    for text in texts:
        await said(store, text)
    return store


async def said(store: Store, text: str) -> int:
    return await store.write(lambda tx: tx.messages.append(ONE, user(text)))


async def logged(store: Store) -> list[str]:
    return [row.message.text for row in await store.read(lambda tx: tx.messages.all(ONE))]


def change(file: Path, sql: str) -> None:
    with closing(sqlite3.connect(file, isolation_level=None)) as db:
        db.execute(sql)


def ask(file: Path, sql: str) -> object:
    with closing(sqlite3.connect(file)) as db:
        return db.execute(sql).fetchone()[0]


def content(file: Path) -> bytes:
    return file.read_bytes()


def letter(file: Path) -> None:
    """Put something that is no database in its place."""
    file.parent.mkdir()
    file.write_bytes(b"this is not a database, it is a letter" * 100)


async def refused(store: Store) -> StoreError:
    """The same error for writing, reading, searching and rebuilding the index."""
    attempts: list[Callable[[], Awaitable[object]]] = [
        lambda: said(store, "no"),
        lambda: logged(store),
        lambda: store.search("no"),
        store.reindex,
    ]
    errors: list[StoreError] = []
    for attempt in attempts:
        with pytest.raises(StoreError) as caught:
            await attempt()
        errors.append(caught.value)
    assert len({str(error) for error in errors}) == 1
    await store.close()
    return errors[0]


async def test_a_newer_store_is_left_alone(file: Path) -> None:
    await (await begun(file, "kept")).close()
    change(file, "PRAGMA user_version = 99")
    error = await refused(open_store(file, StillClock()))
    assert isinstance(error, StoreTooNew)
    assert str(error) == (
        f"{file} was written by a newer version of Hermes (schema 99, this one knows"
        f" {CURRENT.latest}). Update Hermes to open it."
    )
    change(file, f"PRAGMA user_version = {CURRENT.latest}")
    store = open_store(file, StillClock())
    assert await logged(store) == ["kept"]
    await store.close()


async def test_another_programs_database_is_left_alone(file: Path) -> None:
    file.parent.mkdir()
    change(file, "CREATE TABLE sessions (id TEXT)")
    before = content(file)
    error = await refused(open_store(file, StillClock()))
    assert str(error) == f"{file} belongs to another program. Move it away, then start again."
    assert content(file) == before


async def test_a_file_that_is_no_database(file: Path) -> None:
    letter(file)
    error = await refused(open_store(file, StillClock()))
    assert str(error) == f"{file} is not a database. Put back its newest backup, or move it away."


async def test_a_damaged_file_is_reported(file: Path) -> None:
    await (await begun(file, *(f"{n} " + "x" * 3000 for n in range(100)))).close()
    with file.open("r+b") as raw:
        raw.seek(4096 * 8)
        raw.write(b"\xff" * 4096 * 60)
    store = open_store(file, StillClock())
    with pytest.raises(StoreError, match="damaged"):
        await logged(store)
    await store.close()


async def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "letter").write_text("not a folder")
    file = tmp_path / "letter" / "home" / "hermes.db"
    error = await refused(open_store(file, StillClock()))
    assert str(error) == f"{file} cannot be opened: Not a directory. Check its folder."


async def nearly_full(file: Path, steps: Path) -> Store:
    """A store with one session whose writing connection finds the disk full soon; the next one does not."""
    await (await begun(file, "before")).close()
    pages = ask(file, "PRAGMA page_count")
    return sqlite_store(file, StillClock(), schema=next_schema(steps, f"PRAGMA max_page_count = {pages};"))


async def test_a_full_disk_loses_only_what_was_refused(file: Path, tmp_path: Path) -> None:
    store = await nearly_full(file, tmp_path / "steps")
    with pytest.raises(StoreError) as caught:
        await said(store, "x" * 100_000)
    assert (
        str(caught.value) == f"The disk is full: {file} could not be written. Free some space and try again."
    )
    await said(store, "after")
    assert await logged(store) == ["before", "after"]
    await store.close()


async def test_a_full_disk_loses_nothing_of_those_that_share_the_commit(file: Path, tmp_path: Path) -> None:
    store = await nearly_full(file, tmp_path / "steps")
    all_queued = Event()
    store.post(lambda tx: all_queued.wait(10))
    store.post(lambda tx: tx.messages.append(ONE, user("x" * 100_000)))
    store.post(lambda tx: tx.messages.append(ONE, user("in the same commit")))
    all_queued.set()
    await said(store, "after")
    texts = [text[:20] for text in await logged(store)]
    assert texts == ["before", "x" * 20, "in the same commit", "after"]  # each was tried anew by itself
    await store.close()


async def test_a_disk_error_loses_only_what_was_refused(file: Path) -> None:
    store = await begun(file, "before")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, hard))
    try:
        with pytest.raises(StoreError, match=r"could not be read or written \(SQLITE_IOERR_WRITE\)"):
            await said(store, "x" * 400_000)
        await said(store, "during")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    await said(store, "after")
    assert await logged(store) == ["before", "during", "after"]
    assert ask(file, "PRAGMA integrity_check") == "ok"
    await store.close()


async def test_a_busy_file_is_reported_and_works_later(file: Path) -> None:
    await (await begun(file, "before")).close()
    store = sqlite_store(file, StillClock(), busy=0.05)
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="held by another process"):
            await said(store, "blocked")
        assert await logged(store) == ["before"]
        other.execute("ROLLBACK")
    await said(store, "after")
    assert await logged(store) == ["before", "after"]
    await store.close()


async def test_nobody_else_may_read_the_files(file: Path) -> None:
    store = await begun(file, "private")
    await store.search("private")
    for path in (file.parent, *file.parent.iterdir()):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path
    await store.close()


def next_schema(folder: Path, sql: str) -> Schema:
    """The schema with one more step."""
    folder.mkdir()
    for step in CURRENT.folder.glob("*.sql"):
        shutil.copy(step, folder)
    (folder / f"{CURRENT.latest + 1:04}_next.sql").write_text(sql)
    return Schema(folder, CURRENT.latest + 1)


async def test_a_new_version_changes_the_file_after_a_backup(file: Path, tmp_path: Path) -> None:
    await (await begun(file, "old message")).close()
    backup = file.with_name(f"hermes.db.v{CURRENT.latest}.bak")
    assert not backup.exists()
    newer = next_schema(tmp_path / "steps", "ALTER TABLE sessions ADD COLUMN mood TEXT;")
    stores = [sqlite_store(file, StillClock(), schema=newer) for _ in range(2)]
    for store in stores:
        assert await logged(store) == ["old message"]
        await store.close()
    assert ask(file, "PRAGMA user_version") == newer.latest
    assert ask(file, "SELECT count(mood) FROM sessions") == 0
    assert ask(backup, "PRAGMA user_version") == CURRENT.latest
    assert "old message" in str(ask(backup, "SELECT body FROM messages"))
    assert sorted(path.name for path in file.parent.iterdir()) == ["hermes.db", backup.name]


async def test_a_change_that_fails_changes_nothing(file: Path, tmp_path: Path) -> None:
    await (await begun(file, "old message")).close()
    newer = next_schema(tmp_path / "steps", "CREATE TABLE extra (x TEXT);\nCREATE TABLE sessions (x TEXT);")
    store = sqlite_store(file, StillClock(), schema=newer)
    with pytest.raises(StoreError, match="sessions already exists"):
        await logged(store)
    await store.close()
    store = open_store(file, StillClock())
    assert await logged(store) == ["old message"]
    await store.close()
    assert ask(file, "SELECT count(*) FROM sqlite_schema WHERE name = 'extra'") == 0


def test_the_last_step_is_the_latest() -> None:
    assert [number for number, _ in CURRENT.pending(0)] == list(range(1, CURRENT.latest + 1))


@pytest.mark.parametrize("how", ["garbage", "empty", "gone", "another log's", "older words"])
async def test_a_broken_index_is_built_anew(file: Path, tmp_path: Path, how: str) -> None:
    store = await begun(file, "a needle in the haystack", "hay", "more hay")
    assert len(await store.search("needle")) == 1
    await store.close()
    index = file.with_name("hermes.search.db")
    match how:
        case "garbage":
            index.write_bytes(b"\x00garbage" * 4000)
        case "empty":
            index.write_bytes(b"")
        case "gone":
            index.unlink()
        case "another log's":
            other = await begun(tmp_path / "other" / "hermes.db", *"abcdefgh")
            await other.search("a")
            await other.close()
            shutil.copy(tmp_path / "other" / "hermes.search.db", index)
        case _:
            change(index, "UPDATE about SET log = log || '?'")
    store = open_store(file, StillClock())
    assert [hit.seq for hit in await store.search("needle")] == [1]
    assert [hit.seq for hit in await store.search("hay")] == [2, 3]
    await store.close()
    assert ask(index, "SELECT message FROM about") == 3


async def test_without_any_index_the_log_is_looked_through(file: Path) -> None:
    store = await begun(file, "a needle in the haystack", "hay")
    file.with_name("hermes.search.db").mkdir()
    assert [hit.seq for hit in await store.search("Needle in")] == [1]
    assert await store.search("pin") == []
    await store.write(lambda tx: tx.sessions.rename(ONE, "still works"))
    with pytest.raises(StoreError, match=r"search\.db"):
        await store.reindex()
    await store.close()


async def test_the_index_is_fed_in_the_background(file: Path) -> None:
    clock = StillClock()
    store = open_store(file, clock)
    await store.write(lambda tx: tx.sessions.create(Session(ONE, ONE)))
    await said(store, "first")
    assert not file.with_name("hermes.search.db").exists()
    clock.advance(60)
    await said(store, "second")
    await said(store, "third")
    await store.close()
    assert ask(file.with_name("hermes.search.db"), "SELECT message FROM about") in (2, 3)


async def test_nothing_of_a_deleted_session_stays_in_the_files(file: Path) -> None:
    store = await begun(file, "xyzzysecret plans")
    assert len(await store.search("xyzzysecret")) == 1
    await store.write(lambda tx: tx.sessions.delete(ONE))
    await store.close()
    assert ask(file, "SELECT count(*) FROM forgotten") == 0
    change(file.with_name("hermes.search.db"), "INSERT INTO words (words) VALUES ('optimize')")
    change(file.with_name("hermes.search.db"), "VACUUM")
    for path in file.parent.iterdir():
        assert b"xyzzysecret" not in path.read_bytes(), path


async def test_a_journal_appends_and_voids_the_drafts(file: Path) -> None:
    store = await begun(file)
    journal = SessionJournal(store, ONE, StillClock())
    for n, piece in enumerate(("Once ", "upon ", "a time")):
        await journal.draft(TurnId("t1"), n, piece)
    await store.close()
    store = open_store(file, StillClock())
    journal = SessionJournal(store, ONE, StillClock())
    assert (await journal.open()).draft == "Once upon a time"
    await journal.append(Message(Role.ASSISTANT, (Text("Once upon a time"),), interrupted=True))
    assert (await journal.open()).draft == ""
    assert await logged(store) == ["Once upon a time"]
    await store.close()


async def test_a_missing_driver_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("hermes.stores.postgres", "hermes.stores.index_postgres"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(StoreError, match=r"pip install 'hermes\[postgres\]'"):
        open_store("postgresql://user:secret@host/db", StillClock())


def test_a_start_loads_neither_the_index_nor_a_driver() -> None:
    code = (
        "import sys, hermes.stores.open, hermes.stores.journal;"
        "print([name for name in ('psycopg', 'hermes.stores.index', 'hermes.stores.words', 'anyio')"
        " if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert run.stdout == "[]\n"
