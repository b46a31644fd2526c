"""Repair makes any history valid that a crash can leave behind."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.core.ids import CallId, TurnId
from hermes.core.messages import Message, Outcome, Role, Text, ToolCall, ToolResult, user
from hermes.engine.log import LOST, Log, Nowhere

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def turn(n: int, calls: int, answered: int) -> list[Message]:
    asked = Message(Role.ASSISTANT, tuple(ToolCall(CallId(f"{n}-{i}"), "t") for i in range(calls)))
    results = tuple(ToolResult(CallId(f"{n}-{i}"), Outcome.OK, "") for i in range(answered))
    return [user("go"), asked, *([Message(Role.TOOL, results)] if results else [])]


@given(st.integers(1, 6).flatmap(lambda calls: st.tuples(st.just(calls), st.integers(0, calls))))
async def test_every_call_has_exactly_one_result(case: tuple[int, int]) -> None:
    calls, answered = case
    log = Log([*turn(1, 2, 2), *turn(2, calls, answered)])
    await log.repair()
    await log.repair()
    results = [r.call for m in log.messages for r in m.results]
    assert sorted(results) == sorted(c.id for m in log.messages for c in m.calls)
    lost = [r for m in log.messages for r in m.results if r.outcome is Outcome.INTERRUPTED]
    assert [r.text for r in lost] == [LOST] * (calls - answered)


async def test_text_that_was_being_streamed_becomes_an_interrupted_answer() -> None:
    journal = Nowhere()
    log = Log([user("tell me")], journal)
    await journal.draft(TurnId("t"), 0, "Once upon")
    await journal.draft(TurnId("t"), 1, " a time")
    await log.repair()
    assert log.last == Message(Role.ASSISTANT, (Text("Once upon a time"),), interrupted=True)
    await log.repair()
    assert len(log.messages) == 2


async def test_a_new_attempt_replaces_what_an_earlier_one_said() -> None:
    journal = Nowhere()
    await journal.draft(TurnId("t"), 0, "Hel")
    await journal.draft(TurnId("t"), 0, "Hello")
    assert (await journal.open()).draft == "Hello"


async def test_a_message_whose_journal_failed_is_not_in_the_log() -> None:
    class Full(Nowhere):
        async def append(self, message: Message) -> None:
            raise OSError("no space left")

    log = Log((), Full())
    with pytest.raises(OSError, match="no space left"):
        await log.append(user("hi"))
    assert log.messages == ()
