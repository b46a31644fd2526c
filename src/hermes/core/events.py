"""The thirteen events a turn may emit; the only output of the engine."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from hermes.core.ids import SessionId, TurnId
from hermes.core.messages import Message, ToolCall, ToolResult, Usage
from hermes.core.questions import Question


class Stop(StrEnum):
    """How a turn ended. There is no other way."""

    DONE = "done"
    WAITING = "waiting"
    BUDGET = "budget"
    GUARD = "guard"
    CANCELLED = "cancelled"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class TurnStarted:
    turn: TurnId
    session: SessionId
    model: str


@dataclass(frozen=True, slots=True)
class TextDelta:
    text: str


@dataclass(frozen=True, slots=True)
class ThoughtDelta:
    text: str


@dataclass(frozen=True, slots=True)
class MessageAdded:
    """A message is in the log: acknowledged, not to be lost again."""

    message: Message


@dataclass(frozen=True, slots=True)
class ToolStarted:
    call: ToolCall


@dataclass(frozen=True, slots=True)
class ToolProgress:
    call: ToolCall
    text: str


@dataclass(frozen=True, slots=True)
class ToolFinished:
    call: ToolCall
    result: ToolResult


@dataclass(frozen=True, slots=True)
class Asked:
    """A person is asked; the turn goes on with `Turn.answer`."""

    question: Question


@dataclass(frozen=True, slots=True)
class ModelSwitched:
    """A model failed and `model` is asked next (the same one when it is asked again).

    Text streamed since the last MessageAdded is void: it will be streamed anew.
    `delay` is the pause before that, in seconds.
    """

    failed: str
    model: str
    reason: str
    delay: float = 0.0


@dataclass(frozen=True, slots=True)
class Compacted:
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class Noticed:
    """Something a person should know: `guard` names the watcher, `text` is one sentence."""

    guard: str
    text: str


@dataclass(frozen=True, slots=True)
class ChildEvent:
    child: SessionId
    event: "Event"


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """The last event of every turn.

    `error` is fit for a person, empty unless something failed; `reason` is its class for programs: the
    kind of a model's failure ("auth", "rate", ...), or the name of the error.
    """

    stop: Stop
    usage: Usage
    error: str = ""
    reason: str = ""


Event: TypeAlias = (
    TurnStarted
    | TextDelta
    | ThoughtDelta
    | MessageAdded
    | ToolStarted
    | ToolProgress
    | ToolFinished
    | Asked
    | ModelSwitched
    | Compacted
    | Noticed
    | ChildEvent
    | TurnEnded
)
Emit: TypeAlias = Callable[[Event], Awaitable[None]]
