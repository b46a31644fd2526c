"""View: the events of a turn as rows that scroll away and rows that are still changing."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from hermes.core.events import (
    Compacted,
    Event,
    MessageAdded,
    ModelSwitched,
    Noticed,
    TextDelta,
    ThoughtDelta,
    ToolFinished,
    ToolProgress,
    ToolStarted,
    TurnEnded,
)
from hermes.core.ids import CallId
from hermes.core.messages import Message, Outcome, Role, ToolCall, ToolResult
from hermes.lib.amounts import duration, tokens
from hermes.lib.text import one_line
from hermes.shells.cli import words
from hermes.shells.cli.blocks import LONG, Block, Blocks
from hermes.shells.cli.render import Painter

SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


@dataclass(slots=True)
class Running:
    """A call at work: since when, and the last it said."""

    call: ToolCall
    since: float
    said: str = ""


@dataclass(slots=True)
class View:
    """`put` lets rows scroll away, `width` is the terminal's now.

    `steered` is what was said while the turn runs and has not reached the model yet.
    """

    painter: Painter
    put: Callable[[str], None]
    width: Callable[[], int]
    now: Callable[[], float] = time.monotonic
    steered: list[str] = field(default_factory=list[str])
    _blocks: Blocks = field(default_factory=Blocks)
    _thought: str = ""
    _running: dict[CallId, Running] = field(default_factory=dict[CallId, Running])
    _begun: bool = False
    _busy_since: float = 0.0
    _gap: bool = False

    def begin(self) -> None:
        """A turn starts."""
        self._busy_since = self.now()
        self._fresh()

    def show(self, event: Event) -> None:
        """Take one event."""
        match event:
            case TextDelta(piece):
                self._thought = ""
                self._blocks_done(self._blocks.add(piece))
            case ThoughtDelta(piece):
                self._thought += piece
            case MessageAdded(message):
                self._added(message)
            case ModelSwitched():
                self._void(event)
            case ToolStarted() | ToolProgress() | ToolFinished():
                self._work(event)
            case TurnEnded():
                self._ended(event)
            case _:
                self._remark(event)

    def rows(self, width: int, most: int) -> str:
        """What is still changing, in at most `most` rows; nothing when nothing is."""
        parts: list[str] = []
        if self._blocks.rest.strip():
            parts.append(self._growing(self._blocks.rest, width, most))
        elif self._thought and self.painter.look.thoughts:
            thought = self.painter.line((self._thought.strip()[-2_000:], "faint"), width=width, indent=0)
            parts.append(_tail(thought, min(4, most)))
        parts += [self._run(running, width) for running in self._running.values()]
        steered = [f"{self._arrow()}{text}" for text in self.steered]
        parts += [self.painter.line((text, "steer"), width=width, indent=2) for text in steered]
        return "".join(parts)

    def elapsed(self) -> str:
        """A turning sign and the time the turn has taken."""
        seconds = self.now() - self._busy_since
        sign = SPINNER[int(seconds * 8) % len(SPINNER)] if self.painter.look.unicode else "*"
        return f"{sign} {duration(int(seconds))}"

    def you(self, text: str, steered: bool = False) -> None:
        """What the person said."""
        sign = self._arrow() if steered else self.painter.sign("› ", "> ")
        style = "steer" if steered else "you"
        rows = text.split("\n")
        signed = [f"{sign if not n else '  '}{row}" for n, row in enumerate(rows)]
        self._paragraph("".join(self.painter.line((r, style), width=self.width(), indent=2) for r in signed))

    def answer(self, text: str) -> None:
        """Markdown that is whole."""
        if text.strip():
            self._paragraph(self.painter.markdown(text, self.width()))

    def note(self, text: str, style: str = "faint") -> None:
        """One line about the work."""
        sign = self.painter.sign("· ", "- ")
        self._row(self.painter.line((f"{sign}{text}", style), width=self.width(), indent=2))

    def recall(self, message: Message) -> None:
        """A message of the history, briefly."""
        match message.role:
            case Role.USER:
                self.you(_short(message.text, 3), steered=not message.opening)
            case Role.ASSISTANT:
                self.answer(_short(message.text, 12))
                if message.interrupted:
                    self.note("here it was interrupted")
            case Role.TOOL:
                count = len(message.results)
                self.note(f"{count} tool call{'' if count == 1 else 's'}")

    def _work(self, event: ToolStarted | ToolProgress | ToolFinished) -> None:
        match event:
            case ToolStarted(call):
                self._running[call.id] = Running(call, self.now())
            case ToolProgress(call, text):
                if running := self._running.get(call.id):
                    running.said = one_line(text, 200)
            case ToolFinished(call, result):
                self._running.pop(call.id, None)
                self._finished(call, result)

    def _remark(self, event: Event) -> None:
        match event:
            case Noticed(_, text):
                self.note(text, "warn")
            case Compacted(before, after):
                self.note(f"the conversation was shortened: {tokens(before)} to {tokens(after)} tokens")
            case _:
                pass

    def _fresh(self) -> None:
        self._blocks, self._thought, self._begun = Blocks(), "", False

    def _added(self, message: Message) -> None:
        match message.role:
            case Role.ASSISTANT:
                if not self._begun:  # nothing of it has scrolled away: the whole text is sure
                    self._blocks = Blocks()
                    self._blocks_done(self._blocks.add(message.text))
                self._blocks_done(self._blocks.finish())
                self._fresh()
            case Role.USER if not message.opening:
                if message.text in self.steered:
                    self.steered.remove(message.text)
                self.you(message.text, steered=True)
            case _:
                pass

    def _blocks_done(self, blocks: list[Block]) -> None:
        for block in blocks:
            painted = self.painter.markdown(block.text, self.width())
            if block.seam:
                self.put(painted)
            else:
                self._paragraph(painted)
            self._begun = True

    def _void(self, event: ModelSwitched) -> None:
        void = self._begun
        self._fresh()
        self.note(words.switched(event), "warn")
        if void:
            self.note("the unfinished answer above does not count; it begins anew", "warn")

    def _finished(self, call: ToolCall, result: ToolResult) -> None:
        ending = words.ending(result)
        if not self.painter.look.tools and not ending:
            return
        good = result.outcome is Outcome.OK and not ending
        sign = self.painter.sign("✓ ", "+ ") if good else self.painter.sign("✗ ", "x ")
        pieces = [(sign, "good" if good else "bad"), (call.name, ""), (f" {words.telling(call)}", "faint")]
        pieces.append((f"  {words.took(result)}", "faint"))
        if ending:
            pieces.append((f"  {ending}", "bad"))
        self._row(self.painter.line(*pieces, width=self.width(), indent=2))

    def _ended(self, event: TurnEnded) -> None:
        self._blocks_done(self._blocks.finish())
        for running in self._running.values():  # cut off with the turn: nobody tells how they ended
            seconds = {"seconds": self.now() - running.since}
            self._finished(running.call, ToolResult(running.call.id, Outcome.INTERRUPTED, "", meta=seconds))
        self._running.clear()
        self._fresh()
        if why := words.ended(event):
            self.note(why, "bad" if event.error else "warn")

    def _run(self, running: Running, width: int) -> str:
        seconds = self.now() - running.since
        sign = SPINNER[int(seconds * 8) % len(SPINNER)] if self.painter.look.unicode else "*"
        taken = f"  {duration(int(seconds))}" if seconds >= 1 else ""
        room = max(width - len(running.call.name) - len(taken) - 4, 10)
        what = one_line(words.telling(running.call), room)
        line = self.painter.line(
            (f"{sign} ", "warn"), (running.call.name, ""), (f" {what}{taken}", "faint"), width=width
        )
        said = self.painter.line((f"  {one_line(running.said, width - 3)}", "faint"), width=width)
        return line + (said if running.said else "")

    def _growing(self, text: str, width: int, most: int) -> str:
        """The end of a block that is still being written; one that is tall is not painted all over."""
        if text.count("\n") <= LONG:
            return _tail(self.painter.markdown(text, width), most)
        rows = text.rstrip("\n").split("\n")[-most:]
        return _tail("".join(self.painter.line((row, ""), width=width) for row in rows), most)

    def _paragraph(self, painted: str) -> None:
        """Rows with an empty row before them."""
        self.put("\n" + painted)
        self._gap = True

    def _row(self, painted: str) -> None:
        """A row that stands close to others of its kind."""
        self.put(("\n" if self._gap else "") + painted)
        self._gap = False

    def _arrow(self) -> str:
        return self.painter.sign("↪ ", "+ ")


def _tail(painted: str, most: int) -> str:
    rows = painted.rstrip("\n").split("\n")
    return "\n".join(rows[-most:]) + "\n"


def _short(text: str, most: int) -> str:
    lines = text.strip().split("\n")
    return "\n".join(lines if len(lines) <= most else [*lines[:most], "…"])
