"""The behaviour cases of the store: fts-01 word by word, and the search of gate-02."""

from pathlib import Path

import pytest
import yaml

from hermes.core.ids import SessionId
from hermes.core.messages import user
from hermes.core.store import Session, Store
from hermes.stores.open import open_store
from hermes.testing.clock import StillClock

pytestmark = pytest.mark.anyio
CASES = Path(__file__).parent.parent / "cases" / "behaviour.yaml"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def case(id: str) -> str:
    """The input of a case."""
    cases = yaml.safe_load(CASES.read_text(encoding="utf-8"))
    (found,) = [str(one["input"]) for one in cases if one["id"] == id]
    return found


async def said(store: Store, id: SessionId, text: str, principal: str = "local", title: str = "") -> None:
    await store.write(lambda tx: tx.sessions.create(Session(id, id, title=title, principal=principal)))
    await store.write(lambda tx: tx.messages.append(id, user(text)))


async def test_fts_01(tmp_path: Path) -> None:
    stored, asked = case("fts-01").split("\n", 1)
    queries = asked.strip().removeprefix("Queries:").split()
    assert len(queries) == 10
    store = open_store(tmp_path / "state.db", StillClock())
    await said(store, SessionId("one"), stored.removeprefix("One stored message: "))
    assert [query for query in queries if await store.search(query)] == queries[:6]
    await store.close()


async def test_gate_02_the_search(tmp_path: Path) -> None:
    assert 'search old sessions for "tax plan"' in " ".join(case("gate-02").split())
    store = open_store(tmp_path / "state.db", StillClock())
    await said(store, SessionId("20310101-u1"), "the tax plan of U1", "u1", "tax plan 2031")
    await said(store, SessionId("20310102-u2"), "hello", "u2")
    assert await store.search("tax plan", principal="u2") == []
    for text in ("tax plan 2031", "20310101"):
        assert await store.read(lambda tx, text=text: tx.sessions.find(text, "u2")) == []  # type: ignore[misc]
        assert len(await store.read(lambda tx, text=text: tx.sessions.find(text, "u1"))) == 1  # type: ignore[misc]
    assert len(await store.search("tax plan", principal="u1")) == 1
    await store.close()
