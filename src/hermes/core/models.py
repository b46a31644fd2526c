"""Model, ModelInfo, Request, Reply: asking a language model."""

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol, TypeAlias

from hermes.core.events import TextDelta, ThoughtDelta
from hermes.core.messages import JSON, Message
from hermes.core.tools import ToolSpec


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens; None when not known."""

    input: float | None = None
    output: float | None = None
    cached: float | None = None
    written: float | None = None


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """What is known of a model. `context` and `max_output` are tokens, 0 when not known."""

    name: str
    vendor: str
    context: int = 0
    max_output: int = 0
    price: Price = Price()
    tools: bool = True
    vision: bool = False
    reasoning: bool = False


class Finish(StrEnum):
    """Why the model stopped."""

    STOP = "stop"
    CALLS = "calls"
    LENGTH = "length"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Reply:
    """The last thing a stream yields: the whole message."""

    message: Message
    finish: Finish = Finish.STOP


Delta: TypeAlias = TextDelta | ThoughtDelta | Reply


@dataclass(frozen=True, slots=True)
class Request:
    """One question to a model.

    `system` are the stable tiers of the prompt in order, each a cache segment. `schema`, where
    set, constrains the answer to JSON that fits it. `memo` is scratch space that belongs to the
    conversation: a wire keeps rendered messages there, so that a long turn stays cheap.
    """

    system: tuple[str, ...]
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    max_tokens: int | None = None
    temperature: float | None = None
    schema: Mapping[str, JSON] | None = None
    memo: dict[str, Any] = field(default_factory=dict[str, Any], compare=False)


class Model(Protocol):
    """A model that can be asked."""

    @property
    def name(self) -> str:
        """ "vendor/model", unique in a chain."""
        ...

    @property
    def info(self) -> ModelInfo: ...

    def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        """Yield deltas as they come, then exactly one Reply.

        Raise Unavailable, Rejected or ContextTooLong; never return without a Reply.
        """
        ...
