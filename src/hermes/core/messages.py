"""Message and its parts: what was said, thought, shown, called and returned."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal, TypeAlias

from hermes.core.ids import CallId

JSON: TypeAlias = "str | int | float | bool | list[JSON] | dict[str, JSON] | None"


class Role(StrEnum):
    """Who speaks. The system prompt is not a message: it belongs to the conversation."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class Outcome(StrEnum):
    """How a tool call ended. Typed, never guessed from text."""

    OK = "ok"
    FAILED = "failed"
    DENIED = "denied"
    INTERRUPTED = "interrupted"
    TIMED_OUT = "timed_out"


@dataclass(frozen=True, slots=True)
class Text:
    """Words a person or the model said."""

    text: str


@dataclass(frozen=True, slots=True)
class Note:
    """A fact the program adds to a message: the model reads it, a person's view may fold it away.

    `kind` names its source, for example "context", "steer" or "guard".
    """

    text: str
    kind: str = "context"


@dataclass(frozen=True, slots=True)
class Thought:
    """Reasoning content. Replayed only to the provider that signed it.

    `provider` is "vendor/model" as the wire knows it; `signature` is opaque and is returned
    unchanged; `redacted` marks content that only the vendor can read (then `text` is its blob).
    """

    text: str
    signature: str = ""
    provider: str = ""
    redacted: bool = False


@dataclass(frozen=True, slots=True)
class Media:
    """Something to see or hear. `ref` is a file path or an https URL; `mime` its media type."""

    kind: Literal["image", "audio", "video", "document"]
    ref: str
    mime: str = ""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A request to run a tool.

    `fault` is empty for a usable call. Otherwise it says in one sentence why the call could not be
    read (cut in the middle, not JSON, two calls run together); such a call is never executed, its
    `arguments` are empty, and the model is told the sentence.
    """

    id: CallId
    name: str
    arguments: Mapping[str, JSON] = field(default_factory=dict[str, JSON])
    fault: str = ""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a call returned.

    `text` is for the model, `data` for programs. `meta` holds bookkeeping (duration, counters) and
    is never part of a result's fingerprint. A command that ran and exited non-zero is OK with
    `data["exit_code"]`; FAILED means the tool could not do its work.
    """

    call: CallId
    outcome: Outcome
    text: str
    data: Mapping[str, JSON] = field(default_factory=dict[str, JSON])
    media: tuple[Media, ...] = ()
    meta: Mapping[str, JSON] = field(default_factory=dict[str, JSON])


Part: TypeAlias = Text | Note | Thought | Media | ToolCall | ToolResult


@dataclass(frozen=True, slots=True)
class Usage:
    """What was spent. Tokens are counts; `cost` is US dollars; `input` includes the cached part."""

    input: int = 0
    output: int = 0
    cached: int = 0
    written: int = 0
    reasoning: int = 0
    cost: float = 0.0
    calls: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.cached + other.cached,
            self.written + other.written,
            self.reasoning + other.reasoning,
            self.cost + other.cost,
            self.calls + other.calls,
        )


NOTHING_SPENT = Usage()


@dataclass(frozen=True, slots=True)
class Message:
    """One entry of the log. `at` is microseconds since the epoch, 0 when not recorded.

    `interrupted` marks an answer that was cut off while it was being streamed.
    """

    role: Role
    parts: tuple[Part, ...]
    usage: Usage = NOTHING_SPENT
    at: int = 0
    model: str = ""
    interrupted: bool = False

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts if isinstance(part, Text))

    @property
    def opening(self) -> bool:
        """Whether a person began a turn with it; not so what was said into a running one."""
        steered = any(isinstance(part, Note) and part.kind == "steer" for part in self.parts)
        return self.role is Role.USER and not steered

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        return tuple(part for part in self.parts if isinstance(part, ToolCall))

    @property
    def results(self) -> tuple[ToolResult, ...]:
        return tuple(part for part in self.parts if isinstance(part, ToolResult))


def user(text: str, *notes: Note, at: int = 0) -> Message:
    """A person's message, with facts the program adds."""
    return Message(Role.USER, (Text(text), *notes), at=at)
