"""A terminal without paint: an answer on paper, notes in lines, questions asked by the line."""

import io
import os
import sys
import termios
import unicodedata
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Self, TextIO

import anyio

from hermes.core.errors import HermesError
from hermes.core.events import Compacted, Event, ModelSwitched, Noticed, ToolFinished
from hermes.core.ids import SessionId
from hermes.core.messages import Usage
from hermes.core.questions import Question
from hermes.engine.conversation import Turn
from hermes.lib.amounts import dollars, tokens
from hermes.lib.text import clean, harmless, visible
from hermes.shells.cli import words
from hermes.shells.cli.choices import answered, choice, nothing, offered


@dataclass(frozen=True, slots=True)
class Streams:
    """Where a question comes from and its answer goes. A `dumb` terminal cannot move its cursor."""

    stdin: TextIO
    out: TextIO
    err: TextIO
    dumb: bool = False

    @classmethod
    def standard(cls, *, dumb: bool = False) -> Self:
        """Those of this process; one that is closed holds nothing and takes everything."""
        return cls(
            sys.stdin or io.StringIO(), sys.stdout or io.StringIO(), sys.stderr or io.StringIO(), dumb=dumb
        )

    @property
    def attended(self) -> bool:
        """Whether a person can be asked: a terminal to read from and one to ask on."""
        return self.stdin.isatty() and self.err.isatty()


class Closed(Exception):
    """Whoever read our output has left."""


@dataclass(slots=True)
class Notes:
    """Lines on stderr. A `talkative` one also tells what the model says on its way."""

    stream: TextIO
    talkative: bool = False

    def say(self, text: str) -> None:
        """Write one message; when nobody can read it any more, nothing."""
        try:
            _write(self.stream, harmless(text) + "\n")
        except (Closed, HermesError):
            return

    def add(self, text: str) -> None:
        """Write one line about the work."""
        if text:
            self.say(f"· {text}")

    def aside(self, text: str) -> None:
        """Tell what the model says before it goes on working."""
        if self.talkative and text.strip():
            self.say(text.strip())

    def event(self, event: Event) -> None:
        """Tell what happened, where that is worth a line."""
        match event:
            case ToolFinished(call, result):
                self.add(words.finished(call, result))
            case ModelSwitched():
                self.add(words.switched(event))
            case Noticed(_, text):
                self.add(text)
            case Compacted(before, after):
                self.add(f"the conversation was shortened from {tokens(before)} to {tokens(after)} tokens")
            case _:
                pass

    def close(self, session: SessionId, usage: Usage | None) -> None:
        """Where the conversation is kept and what it took; only for those who want to know."""
        if self.talkative and usage is not None:
            cost = f", {dollars(usage.cost)}" if usage.cost else ""
            spent = f"{tokens(usage.input)} tokens in, {tokens(usage.output)} out{cost}"
            self.add(f"{spent}; to go on: hermes --resume {session}")


@dataclass(slots=True)
class Paper:
    """The answer on stdout. When `live` it is seen growing; otherwise it comes once, whole."""

    out: TextIO
    live: bool
    _shown: list[str] = field(default_factory=list[str])
    _open: bool = False
    _held: str = ""

    def grow(self, piece: str) -> None:
        """A piece of the text that is being streamed."""
        if self.live:
            self._shown.append(piece)
            self._open = True
            piece = self._held + piece
            self._held = "\r" if piece.endswith("\r") else ""  # what follows says whether a line ends here
            _write(self.out, harmless(piece.removesuffix("\r")))

    def void(self) -> None:
        """What was streamed since the last settled text does not count: take it away."""
        if self._shown:
            rows = _rows(harmless("".join(self._shown).removesuffix("\r")), _width(self.out))
            _write(self.out, "\r" + (f"\x1b[{rows}A" if rows else "") + "\x1b[J")
            self._shown.clear()
            self._open, self._held = False, ""

    def settle(self, text: str) -> None:
        """The whole of what was streamed, now certain."""
        if not self.live:
            return
        if text != "".join(self._shown):
            self.void()
            self.grow(text)
        self._shown.clear()
        self.end()

    def answer(self, text: str) -> None:
        """The answer of the turn, for whom nothing was streamed. A file or a program gets it as it is."""
        if not self.live:
            shown = harmless(text) if self.out.isatty() else clean(text)
            _write(self.out, shown.rstrip("\n") + "\n")

    def end(self) -> None:
        """Leave the cursor at the beginning of a line."""
        if self._open:
            _write(self.out, "\n")
        self._open, self._held = False, ""


@dataclass(slots=True)
class Interview:
    """Questions to a person who types lines, one at a time."""

    stdin: TextIO
    notes: Notes
    _turn: anyio.Lock = field(default_factory=anyio.Lock)

    async def ask(self, question: Question, turn: Turn) -> None:
        """Ask until there is an answer, and give it to the turn."""
        async with self._turn:
            handle = self.stdin.fileno()
            if self.stdin.isatty():
                termios.tcflush(handle, termios.TCIFLUSH)  # what was typed before is no answer
            self.notes.say(_asked(question))
            while question.id in turn.questions():
                await anyio.wait_readable(handle)
                line = os.read(handle, 4_096)
                if not line:
                    turn.answer(nothing(question))
                elif meant := choice(question, line.decode(errors="replace")):
                    turn.answer(answered(question, meant))
                else:
                    self.notes.say(f"Please one of: {_keys(question)}")


def discard(stream: TextIO) -> None:
    """Let what cannot be written go nowhere when the interpreter flushes at its end."""
    with suppress(OSError, ValueError):
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, stream.fileno())
        os.close(nothing)


def _asked(question: Question) -> str:
    bar = "\n".join(f"  | {line}" for line in visible(question.action).split("\n"))
    return f"{words.asking(question)}\n{bar}\n{_keys(question) or 'Type your answer.'}"


def _keys(question: Question) -> str:
    return "   ".join(f"[{one.key}] {visible(one.label)}" for one in offered(question))


def _write(stream: TextIO, text: str) -> None:
    """Write at once, whatever the stream's encoding can hold.

    Raise Closed when nobody reads any more, HermesError when it cannot be written (a full disk).
    """
    encoding = stream.encoding or "utf-8"
    try:
        stream.write(text.encode(encoding, "replace").decode(encoding))
        stream.flush()
    except (BrokenPipeError, ValueError) as gone:
        raise Closed from gone
    except OSError as error:
        raise HermesError(f"the answer cannot be written: {error.strerror}") from error


def _width(stream: TextIO) -> int:
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except OSError:
        return 80


def _rows(text: str, width: int) -> int:
    """How many rows below its first one the text ends on a terminal."""
    rows = column = 0
    for char in text:
        if char == "\n":
            rows, column = rows + 1, 0
            continue
        wide = 8 - column % 8 if char == "\t" else _cells(char)
        if column + wide > width:
            rows, column = rows + 1, 0
        column += wide
    return rows


def _cells(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
