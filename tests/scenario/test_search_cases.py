"""The reported cases of searching conversations, asked through session_search."""

import re
from pathlib import Path

import pytest
import yaml

from hermes.core.ids import CallId, SessionId
from hermes.core.messages import user
from hermes.core.services import Services
from hermes.core.store import Session, Store
from hermes.core.tools import ToolContext
from hermes.stores.sqlite import sqlite_store
from hermes.testing.clock import StillClock
from hermes.tools.session_search import session_search

pytestmark = pytest.mark.anyio

CASES = {
    case["id"]: case
    for case in yaml.safe_load(
        Path(__file__).parents[1].joinpath("cases", "behaviour.yaml").read_text("utf-8")
    )
}
STORED, QUERIES = CASES["fts-01"]["input"].split("Queries:")
MESSAGE = STORED.partition(":")[2].strip()
WORDS = re.split(r"\s{2,}", QUERIES.strip())


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.fixture
async def ctx(tmp_path):
    clock = StillClock()
    store = sqlite_store(tmp_path / "state.db", clock)
    for name, text in (("then", MESSAGE), ("half", "price \ud83d end"), ("now", "hello")):
        row = Session(SessionId(name), SessionId(name), created=clock.now())
        await store.write(lambda tx, row=row: tx.sessions.create(row))
        await store.write(
            lambda tx, row=row, text=text: tx.messages.append(row.id, user(text, at=clock.now()))
        )
    yield ToolContext(CallId("c"), SessionId("now"), "/", Services({Store: store}))
    await store.close()


def test_fts_01_is_read_as_it_was_written():
    assert MESSAGE.startswith("ticket #417: don't ship")
    assert len(WORDS) == 10


@pytest.mark.parametrize("query", WORDS[:6])
async def test_fts_01_what_is_in_the_text_is_found(ctx, query):
    found = await session_search.run(ctx, {"query": query})
    assert found.text.startswith("then "), found.text
    assert found.data == {"sessions": 1}


@pytest.mark.parametrize("query", WORDS[6:])
async def test_fts_01_what_looks_like_syntax_raises_nothing(ctx, query):
    found = await session_search.run(ctx, {"query": query})
    assert found.text == f"[nothing found for {query!r}; try fewer or other words]"


async def test_uni_01_a_message_with_half_a_character_is_found(ctx):
    found = await session_search.run(ctx, {"query": "price"})
    assert "**price** \ufffd end" in found.text
