"""The loop: ask, act, repeat. Read this first."""

from dataclasses import dataclass, field

from hermes.core.budget import Meter
from hermes.core.clock import Lap
from hermes.core.errors import NoModelAnswered
from hermes.core.events import Emit, MessageAdded, Noticed, Stop
from hermes.core.messages import Message
from hermes.core.models import Finish, Reply
from hermes.engine.act import Scene, act
from hermes.engine.agent import Agent
from hermes.engine.ask import ask
from hermes.engine.draft import Draft
from hermes.engine.log import Log
from hermes.engine.window import Window

UNREADABLE_IN_A_ROW = 3


@dataclass(slots=True)
class Inbox:
    """What people say: the message that began the turn, and what they say while it runs."""

    waiting: list[Message] = field(default_factory=list[Message])

    def take(self) -> list[Message]:
        taken, self.waiting = self.waiting, []
        return taken


@dataclass(frozen=True, slots=True)
class Stage:
    """What one turn works with."""

    agent: Agent
    log: Log
    window: Window
    inbox: Inbox
    meter: Meter
    draft: Draft
    scene: Scene
    emit: Emit
    lap: Lap


async def run(stage: Stage) -> Stop:
    """Ask, act, repeat: until the model rests, waits, or may not go on."""
    unreadable = 0
    await stage.log.repair()  # after a crash or a cancel, the same way
    while True:
        for message in stage.inbox.take():  # the prompt, then whatever was said meanwhile
            await _add(stage, message)
        stage.meter.elapse(stage.lap())
        if stage.meter.spent:
            return Stop.BUDGET
        reply = await _ask(stage)
        await _add(stage, reply.message)
        if calls := reply.message.calls:
            await act(calls, stage.scene)
            unreadable = unreadable + 1 if all(call.fault for call in calls) else 0
            if unreadable == UNREADABLE_IN_A_ROW:
                raise NoModelAnswered(_garbled(reply))
        elif not stage.inbox.waiting:
            if reply.finish is Finish.LENGTH:
                await stage.emit(Noticed("length", "the answer was cut off at the model's output limit"))
            return Stop.DONE


async def _add(stage: Stage, message: Message) -> None:
    await stage.log.append(message)
    await stage.emit(MessageAdded(message))


async def _ask(stage: Stage) -> Reply:
    """One model call, reserved before and settled after."""
    agent, meter = stage.agent, stage.meter
    meter.reserve()
    try:
        request = stage.window.request(stage.log)
        reply = await ask(agent.models, request, stage.emit, stage.draft, agent.patience)
    except BaseException:  # a cancel, too, gives the reserved call back
        meter.release()
        raise
    meter.settle(reply.message.usage)
    return reply


def _garbled(reply: Reply) -> str:
    return (
        f"{reply.message.model or 'the model'} sent tool calls that cannot be read, "
        f"{UNREADABLE_IN_A_ROW} times in a row; none of them was run ({reply.message.calls[-1].fault}). "
        "Ask for a smaller step, or raise model.max_tokens."
    )
