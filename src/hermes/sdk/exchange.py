"""Exchange: the piece of a conversation that every model protocol knows how to send.

The log is what happened; protocols are particular. They want speakers to take turns, every call
answered once and at once, ids that are unique, no message without content. `Rendering` cuts a log
into exchanges that have these properties whatever the log looks like, hands each to a wire once,
and keeps the bytes: the next request of a long turn costs what is new in it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from operator import is_
from typing import TypeAlias

from hermes.core.ids import CallId
from hermes.core.messages import (
    Media,
    Message,
    Note,
    Outcome,
    Part,
    Role,
    Text,
    Thought,
    ToolCall,
    ToolResult,
)

CUT_OFF = Note("[This answer was interrupted before it was finished.]", "interrupted")
UNSEEN = Note("[The beginning of this conversation is not shown.]", "window")
GO_ON = Note("[Go on.]", "window")
EMPTY = Note("[An empty message.]", "window")
NO_RESULT = "No result was recorded: the call was interrupted."

Said: TypeAlias = Text | Note | Thought | ToolCall
Heard: TypeAlias = Text | Note | Media


@dataclass(frozen=True, slots=True)
class Exchange:
    """What the model said, then what it was told.

    `said` is empty only in the first exchange. `results` has one result for each call in `said`,
    in their order; the ids of calls are unique in the conversation. `heard` is what people and
    the program said next; it is empty only where there are results.
    """

    said: tuple[Said, ...] = ()
    results: tuple[ToolResult, ...] = ()
    heard: tuple[Heard, ...] = ()


@dataclass(slots=True)
class Rendering:
    """A conversation as far as a wire has rendered it.

    `render` turns an exchange into the bytes of its messages, commas between them. `rename` makes a call's id
    acceptable to the protocol. Belongs to one wire and one model: what is sent differs by both.
    `known` are the ids of all calls in the conversation.
    """

    render: Callable[[Exchange], bytes]
    rename: Callable[[str], str] = str
    known: set[str] = field(default_factory=set[str])
    _seen: list[Message] = field(default_factory=list[Message])
    _done: list[bytes] = field(default_factory=list[bytes])
    _taken: set[str] = field(default_factory=set[str])
    _open: list[Message] = field(default_factory=list[Message])
    _last: tuple[Exchange, bytes] | None = None

    def pieces(self, messages: Sequence[Message]) -> list[bytes]:
        """The rendered exchanges with commas between them, to be joined with whatever surrounds them.

        Cheap when `messages` goes on where it ended last time; that is judged by identity, for
        messages are immutable: the same object means the same bytes.
        """
        if len(self._seen) > len(messages) or not all(map(is_, self._seen, messages)):
            self._restart()
        for message in messages[len(self._seen) :]:
            self._add(message)
        if not self._open:
            return [self.render(Exchange(heard=(EMPTY,)))]
        return [*self._done, self._current()[1]]

    def _restart(self) -> None:
        for kept in (self._seen, self._done, self._open, self._taken, self.known):
            kept.clear()
        self._last = None

    def _add(self, message: Message) -> None:
        self._seen.append(message)
        self.known.update(call.id for call in message.calls)
        if message.role is Role.ASSISTANT:
            if not any(isinstance(part, ToolCall) or _readable(part) for part in message.parts):
                return  # nothing but thoughts, or nothing at all
            self._make_room()
        elif message.role is Role.TOOL and not any(m.role is Role.ASSISTANT for m in self._open):
            return  # a result nobody asked for
        self._open.append(message)
        self._last = None

    def _make_room(self) -> None:
        """Before the model speaks: close what is open, unless it is the beginning of the same speech."""
        if not self._open:
            self._done += self.render(Exchange(heard=(UNSEEN,))), b","
        elif any(m.role is not Role.ASSISTANT or m.calls for m in self._open):
            exchange, piece = self._current()
            self._done += piece, b","
            self._taken.update(result.call for result in exchange.results)
            self._open.clear()

    def _current(self) -> tuple[Exchange, bytes]:
        if self._last is None:
            exchange = self._exchange()
            self._last = exchange, self.render(exchange)
        return self._last

    def _exchange(self) -> Exchange:
        speech = [m for m in self._open if m.role is Role.ASSISTANT]
        said, results = self._paired([p for m in speech for p in m.parts])
        heard = [p for m in self._open if m.role is Role.USER for p in m.parts if _readable(p)]
        if speech and speech[-1].interrupted:
            heard.insert(0, CUT_OFF)
        if not heard and not results:
            heard.append(GO_ON if speech else EMPTY)
        return Exchange(said, results, tuple(p for p in heard if isinstance(p, Heard)))

    def _paired(self, parts: list[Part]) -> tuple[tuple[Said, ...], tuple[ToolResult, ...]]:
        """The speech with every call under an id of its own, and one result for each call."""
        found = {result.call: result for m in reversed(self._open) for result in reversed(m.results)}
        said: list[Said] = []
        results: list[ToolResult] = []
        taken = set[str]()
        for part in parts:
            if isinstance(part, ToolCall):
                name = _unique(self.rename(part.id), self._taken, taken)
                taken.add(name)
                got = found.pop(part.id, None) or ToolResult(part.id, Outcome.INTERRUPTED, NO_RESULT)
                said.append(ToolCall(name, part.name, part.arguments, part.fault))
                results.append(ToolResult(name, got.outcome, got.text, got.data, got.media))
            elif isinstance(part, Thought) or (_readable(part) and isinstance(part, Text | Note)):
                said.append(part)
        return tuple(said), tuple(results)


def _readable(part: Part) -> bool:
    match part:
        case Text(text) | Note(text):
            return bool(text) and not text.isspace()
        case Media():
            return True
        case _:
            return False


def _unique(wanted: str, *taken: set[str]) -> CallId:
    name, number = wanted, 2
    while any(name in names for names in taken):
        name, number = f"{wanted}_{number}", number + 1
    return CallId(name)
