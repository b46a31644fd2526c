"""todo: the list is what the log says it is."""

import pytest

from hermes.core.errors import BadArguments
from hermes.core.ids import CallId, SessionId
from hermes.core.messages import Message, Outcome, Role, ToolCall, ToolResult, user
from hermes.core.plans import Plans
from hermes.core.services import Services
from hermes.core.store import Session, Store
from hermes.core.tools import ToolContext
from hermes.stores.sqlite import sqlite_store
from hermes.testing.clock import StillClock
from hermes.tools.todo import todo

pytestmark = pytest.mark.anyio
S = SessionId("s1")


def step(id, content, status="pending"):
    return {"id": id, "content": content, "status": status}


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.fixture
async def store(tmp_path):
    store = sqlite_store(tmp_path / "state.db", StillClock())
    await store.write(lambda tx: tx.sessions.create(Session(S, S)))
    yield store
    await store.close()


async def call(store, number=1, plans=None, **arguments):
    """One call as the loop makes it: the call, the tool, the result in the log."""
    made = ToolCall(CallId(f"c{number}"), "todo", arguments)
    services = Services({Store: store, Plans: plans or Plans()})
    ctx = ToolContext(made.id, S, "/", services)
    out = await todo.run(ctx, arguments)
    result = ToolResult(made.id, Outcome.OK, out.text, out.data)
    for message in (Message(Role.ASSISTANT, (made,)), Message(Role.TOOL, (result,))):
        await store.write(lambda tx, message=message: tx.messages.append(S, message))
    return out.text


async def test_a_list_is_shown_whole(store):
    shown = await call(
        store,
        todos=[
            step("1", "look", "completed"),
            step("2", "do", "in_progress"),
            step("3", "tell"),
            step("4", "rest", "cancelled"),
        ],
    )
    assert shown == "[x] 1. look\n[>] 2. do\n[ ] 3. tell\n[-] 4. rest\n[1 of 4 done]"
    assert await call(store, 2) == shown


async def test_merging_changes_some_steps_and_adds_others(store):
    await call(store, 1, todos=[step("1", "look"), step("2", "do")])
    merged = await call(store, 2, todos=[step("2", "do it", "completed"), step("3", "tell")], merge=True)
    assert merged == "[ ] 1. look\n[x] 2. do it\n[ ] 3. tell\n[1 of 3 done]"
    assert await call(store, 3, todos=[step("9", "anew")]) == "[ ] 9. anew\n[0 of 1 done]"


async def test_what_was_taken_back_is_taken_back_here_too(store):
    plans = Plans()
    await call(store, 1, plans, todos=[step("1", "look")])
    await call(store, 2, plans, todos=[step("1", "look", "completed")])
    await store.write(lambda tx: tx.messages.retract(S, 3))
    assert await call(store, 3, plans) == "[ ] 1. look\n[0 of 1 done]"


async def test_a_session_that_is_kept_nowhere_has_its_list_in_memory(store):
    plans, unkept = Plans(), SessionId("unkept")

    async def ask(**arguments):
        services = Services({Store: store, Plans: plans})
        return (await todo.run(ToolContext(CallId("c"), unkept, "/", services), arguments)).text

    assert await ask(todos=[step("1", "look"), step("2", "do")]) == "[ ] 1. look\n[ ] 2. do\n[0 of 2 done]"
    merged = await ask(todos=[step("1", "look", "completed"), step("3", "tell")], merge=True)
    assert merged == "[x] 1. look\n[ ] 2. do\n[ ] 3. tell\n[1 of 3 done]"
    assert await ask() == merged
    assert await call(store) == "[no steps]"  # another session's


async def test_a_long_log_is_read_from_its_end_and_no_further_than_needed(store):
    def grow(tx):
        for _ in range(200):
            tx.messages.append(S, user("what is there to do? See the todo list."))

    await store.write(grow)
    await call(store, 1, todos=[step("1", "look")])
    await store.write(lambda tx: tx.messages.append(S, user("and now?")))
    read = await store.read(lambda tx: next(tx.messages.back(S, "todo")).seq)
    assert read == 202  # the newest that says "todo", not the first of 203
    await store.write(grow)
    assert await call(store, 2) == "[ ] 1. look\n[0 of 1 done]"


def test_plans_are_bounded():
    plans = Plans(capacity=2)
    for name in ("a", "b", "c"):
        plans.keep(SessionId(name), [{"id": name}])
    assert [plans.read(SessionId(name)) for name in ("a", "c")] == [(), [{"id": "c"}]]


async def test_without_a_list_there_is_none(store):
    assert await call(store) == "[no steps]"


@pytest.mark.parametrize(
    ("todos", "said"),
    [
        ([step("1", "a"), step("1", "b")], "the id 1 is given more than once"),
        ([step("1", "a", "done")], r"todos\[0\].status should be one of .*, but 'done' was given"),
        ([{"id": "1"}], r"todos\[0\].content and todos\[0\].status are missing"),
    ],
)
async def test_a_list_that_makes_no_sense_is_refused(store, todos, said):
    with pytest.raises(BadArguments, match=said):
        await call(store, todos=todos)
