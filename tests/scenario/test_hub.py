"""Observers beside the shell that runs a turn."""

import anyio
import pytest

from hermes.core.events import Noticed, Stop, TextDelta, TurnEnded
from hermes.core.ids import SessionId
from hermes.core.messages import NOTHING_SPENT
from hermes.engine.hub import Observer
from hermes.testing.scripted import ScriptedModel, agent, says, talk

pytestmark = pytest.mark.anyio


async def test_a_sleeping_observer_gets_melted_text_and_every_other_event() -> None:
    observer = Observer()
    for word in ("a", "b", "c"):
        observer.put(TextDelta(word))
    observer.put(TurnEnded(Stop.DONE, NOTHING_SPENT))
    assert [await observer.get(), await observer.get()] == [
        TextDelta("abc"),
        TurnEnded(Stop.DONE, NOTHING_SPENT),
    ]
    assert not observer.lost


async def test_an_observer_that_is_too_slow_is_told_so() -> None:
    observer = Observer(limit=2)
    for n in range(3):
        observer.put(Noticed("g", str(n)))
    assert observer.lost


async def test_a_turn_is_watched_from_beside() -> None:
    one = talk(agent(ScriptedModel(says("a b c"))))
    with one.hub.watch(SessionId("test")) as observer:
        async with anyio.create_task_group() as tasks, one.turn(tasks, "go") as turn:
            async for _ in turn.events:
                pass
        seen = [await observer.get() for _ in range(5)]
    assert seen[2] == TextDelta("abc")
    assert isinstance(seen[-1], TurnEnded)
