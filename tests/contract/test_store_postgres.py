"""What can go wrong with a PostgreSQL server, and what is said then."""

import asyncio
from contextlib import closing
from pathlib import Path
from threading import Barrier

import psycopg
import pytest

from hermes.core.errors import StoreError, StoreTooNew
from hermes.core.ids import SessionId
from hermes.core.messages import user
from hermes.core.store import Session, Store, Tx
from hermes.stores.open import open_store
from hermes.testing.clock import StillClock

pytestmark = pytest.mark.anyio
ONE = SessionId("one")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def create(store: Store, id: SessionId) -> None:
    await store.write(lambda tx: tx.sessions.create(Session(id, id)))


async def begun(url: str) -> Store:
    store = open_store(url, StillClock())
    await create(store, ONE)
    await said(store, "before")
    return store


async def said(store: Store, text: str) -> int:
    return await store.write(lambda tx: tx.messages.append(ONE, user(text)))


async def logged(store: Store) -> list[str]:
    return [row.message.text for row in await store.read(lambda tx: tx.messages.all(ONE))]


def change(url: str, sql: str) -> None:
    with closing(psycopg.connect(url, autocommit=True)) as db:
        db.execute(sql)  # type: ignore[call-overload]


async def test_a_newer_store_is_left_alone(postgres_url: str) -> None:
    await (await begun(postgres_url)).close()
    change(postgres_url, "UPDATE meta SET value = '99' WHERE name = 'schema'")
    store = open_store(postgres_url, StillClock())
    for attempt in (said(store, "no"), logged(store), store.search("no")):
        with pytest.raises(StoreTooNew, match="schema 99"):
            await attempt
    await store.close()


async def test_two_processes_make_the_tables_at_once(postgres_url: str) -> None:
    stores = [open_store(postgres_url, StillClock()) for _ in range(2)]
    async with asyncio.TaskGroup() as both:
        for store, id in zip(stores, (ONE, SessionId("two")), strict=True):
            both.create_task(create(store, id))
    assert len(await stores[0].read(lambda tx: tx.sessions.list())) == 2
    for store in stores:
        await store.close()


async def test_a_lost_connection_is_made_again(postgres_url: str) -> None:
    store = await begun(postgres_url)
    assert await logged(store) == ["before"]
    assert len(await store.search("before")) == 1
    change(
        postgres_url,
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'hermes'",
    )
    await said(store, "after")
    assert await logged(store) == ["before", "after"]
    assert len(await store.search("after")) == 1
    await store.close()


async def test_a_server_that_is_not_there(tmp_path: Path) -> None:
    store = open_store(f"postgresql://ada:hunter2@/notes?host={tmp_path}", StillClock())
    with pytest.raises(StoreError) as caught:
        await said(store, "no")
    assert str(caught.value).startswith(f"The database notes at {tmp_path} does not answer (")
    assert "Check database.url" in str(caught.value)
    assert "hunter2" not in str(caught.value)
    await store.close()


async def test_a_broken_index_slows_search_and_stops_nothing(postgres_url: str) -> None:
    store = await begun(postgres_url)
    assert len(await store.search("before")) == 1
    change(postgres_url, "DROP TABLE search_words")
    assert len(await store.search("before")) == 1
    await said(store, "after")
    assert await store.reindex() == 2
    assert len(await store.search("after")) == 1
    await store.close()


async def test_a_long_transaction_of_another_process_holds_up_neither_search_nor_writing(
    postgres_url: str,
) -> None:
    store = await begun(postgres_url)
    assert len(await store.search("before")) == 1
    with closing(psycopg.connect(postgres_url)) as long:
        long.execute("LOCK TABLE messages IN ROW EXCLUSIVE MODE")
        await said(store, "meanwhile")
        async with asyncio.timeout(5):
            assert len(await store.search("before")) == 1
            assert len(await store.search("meanwhile")) == 1  # found in the log itself
            await said(store, "after")
        assert postgres_indexed(postgres_url) == 1
    assert len(await store.search("after")) == 1
    assert postgres_indexed(postgres_url) == 3
    await store.close()


def postgres_indexed(url: str) -> int:
    """The number of messages in the search index."""
    with closing(psycopg.connect(url)) as db:
        row = db.execute("SELECT count(*) FROM search_words").fetchone()
    assert row is not None
    return int(row[0])


async def test_two_processes_in_each_others_way_both_get_through(postgres_url: str) -> None:
    store, other = await begun(postgres_url), open_store(postgres_url, StillClock())
    two = SessionId("two")
    await store.write(lambda tx: tx.sessions.create(Session(two, two)))
    both_hold_one_row = Barrier(2, timeout=10)

    async def rename(by: Store, title: str, order: tuple[SessionId, SessionId]) -> None:
        tries: list[str] = []

        def work(tx: Tx) -> None:
            tx.sessions.rename(order[0], title)
            tries.append(title)
            if len(tries) == 1:
                both_hold_one_row.wait()
            tx.sessions.rename(order[1], title)

        await by.write(work)

    async with asyncio.TaskGroup() as both:
        both.create_task(rename(store, "a", (ONE, two)))
        both.create_task(rename(other, "b", (two, ONE)))
    rows = await store.read(lambda tx: tx.sessions.list())
    assert len({row.title for row in rows}) == 1
    await other.close()
    await store.close()
