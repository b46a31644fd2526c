"""session_search: earlier conversations of the one who asks, never of others."""

import pytest

from hermes.core.errors import ToolError
from hermes.core.ids import CallId, SessionId
from hermes.core.messages import Message, Outcome, Role, Text, ToolCall, ToolResult, user
from hermes.core.services import Services
from hermes.core.store import Session, Store
from hermes.core.tools import ToolContext
from hermes.stores.sqlite import sqlite_store
from hermes.testing.clock import StillClock
from hermes.tools.session_search import session_search

pytestmark = pytest.mark.anyio
DAY = 86_400


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.fixture
async def store(tmp_path):
    clock = StillClock()
    store = sqlite_store(tmp_path / "state.db", clock)

    async def say(session, *messages, title="", principal="local"):
        row = Session(
            SessionId(session), SessionId(session), title=title, principal=principal, created=clock.now()
        )
        await store.write(lambda tx: tx.sessions.create(row))
        for message in messages:
            await store.write(lambda tx, message=message: tx.messages.append(row.id, message))
        clock.advance(DAY)

    def heard(text):
        return user(text, at=clock.now())

    def told(text):
        return Message(Role.ASSISTANT, (Text(text),), at=clock.now())

    await say("boat-1", heard("How do I caulk the boat?"), told("With cotton and pitch."), title="The boat")
    call = ToolCall(CallId("c1"), "read_file", {"path": "boat.txt"})
    result = ToolResult(call.id, Outcome.OK, "boat list\n" + "plank " * 400)
    await say(
        "boat-2",
        heard("The boat again"),
        Message(Role.ASSISTANT, (Text("I look."), call), at=clock.now()),
        Message(Role.TOOL, (result,), at=clock.now()),
        told("It is in the boat list."),
        title="More boat",
    )
    await say("hers", heard("my secret boat"), title="Hers", principal="telegram:7")
    await say("now", heard("hello"))
    yield store
    await store.close()


async def search(store, session="now", **arguments):
    ctx = ToolContext(CallId("c"), SessionId(session), "/", Services({Store: store}))
    return (await session_search.run(ctx, arguments)).text


async def test_conversations_are_found_with_date_and_words(store):
    shown = await search(store, query="caulk")
    assert shown == (
        "boat-1 2027-01-01 00:00 The boat\n  1 user: How do I **caulk** the boat?\n[1 conversation]"
    )


async def test_the_order_and_the_number_can_be_chosen(store):
    newest = await search(store, query="boat", sort="newest")
    oldest = await search(store, query="boat", sort="oldest")
    assert newest.index("boat-2") < newest.index("boat-1")
    assert oldest.index("boat-1") < oldest.index("boat-2")
    one = await search(store, query="boat", sort="newest", limit=1)
    assert "boat-1" not in one
    assert one.endswith("[1 conversation; 1 more, raise limit]")


async def test_only_what_one_role_said(store):
    shown = await search(store, query="boat", role_filter="assistant", sort="newest")
    assert "user:" not in shown
    assert "assistant: It is in the **boat** list." in shown


async def test_somebody_elses_conversations_do_not_exist(store):
    assert "secret" not in await search(store, query="boat")
    assert "hers" not in await search(store, limit=20)
    for name in ("hers", "Hers", "nobody-has-this"):
        with pytest.raises(ToolError) as caught:
            await search(store, session_id=name)
        assert str(caught.value).startswith(f"No conversation is known as {name!r}.")
    assert "secret" in await search(store, session="hers", query="boat")
    assert "boat-1" not in await search(store, session="hers", query="boat")


async def test_one_can_read_around_a_message(store):
    shown = await search(store, session_id="boat-2", around_message_id=2, window=1)
    assert (
        "\n1 user: The boat again\n2 assistant: I look.\n[calls read_file {'path': 'boat.txt'}]\n3 tool: [ok]"
        in shown
    )
    assert "more characters: window=0]" in shown
    assert "4 assistant" not in shown
    whole = await search(store, session_id="boat-2", around_message_id=3, window=0)
    assert whole.count("plank") == 400
    assert "2 assistant" not in whole


async def test_without_a_place_one_reads_the_end(store):
    shown = await search(store, session_id="More boat", window=0)
    assert "4 assistant: It is in the boat list." in shown
    assert "3 tool" not in shown
    with pytest.raises(ToolError, match="has no message there; it has 4 in all"):
        await search(store, session_id="boat-2", around_message_id=90)


async def test_with_nothing_asked_the_latest_are_listed(store):
    shown = await search(store)
    assert [row.split()[0] for row in shown.split("\n")] == ["now", "boat-2", "boat-1", "[the"]
    assert "More boat, 4 messages" in shown


async def test_nothing_found_is_said(store):
    assert await search(store, query="zeppelin") == "[nothing found for 'zeppelin'; try fewer or other words]"


async def test_from_a_conversation_that_is_not_kept_nothing_is_found(store):
    with pytest.raises(ToolError, match="not kept"):
        await search(store, session="unknown", query="boat")
