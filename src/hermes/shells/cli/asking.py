"""Questions on the screen: shown exactly, answered by a key or by the line."""

from collections.abc import Callable
from dataclasses import dataclass, field

import anyio

from hermes.core.questions import Question
from hermes.engine.conversation import Turn
from hermes.lib.text import visible
from hermes.shells.cli import words
from hermes.shells.cli.choices import answered, choice, nothing, offered
from hermes.shells.cli.render import Painter
from hermes.shells.cli.screen import Screen


@dataclass(slots=True)
class Asking:
    """The open questions of the running turn, one on the screen at a time.

    What was being typed when a question appears is put aside and comes back after it. Whoever goes
    on typing does not answer by accident: a key counts when nothing was pressed for `look.settle`
    seconds before it and for half as long after it.
    """

    painter: Painter
    screen: Screen
    now: Callable[[], float]
    _open: list[Question] = field(default_factory=list[Question])
    _shown: Question | None = None
    _since: float = 0.0
    _presses: int = 0
    _pressed: float = 0.0
    _aside: str = ""

    @property
    def current(self) -> Question | None:
        return self._open[0] if self._open else None

    def add(self, question: Question) -> None:
        if not self._open:
            self._aside = self.screen.empty()
        self._open.append(question)
        if len(self._open) == 1:
            self._present()

    def keep(self, turn: Turn) -> None:
        """Forget questions that nobody waits for any more: the turn went on without an answer."""
        waiting = turn.questions()
        left = [one for one in self._open if one.id in waiting]
        if len(left) != len(self._open):
            self._open[:] = left
            self._present()

    async def press(self, key: str, turn: Turn) -> None:
        """A key was pressed for an approval. It counts when it stands alone: words are no answer."""
        self._presses, before = self._presses + 1, max(self._since, self._pressed)
        mine, self._pressed = self._presses, self.now()
        settle = self.painter.look.settle
        question = self.current
        if question is None or self._pressed - before < settle:
            return
        await anyio.sleep(settle / 2)
        if (
            mine == self._presses
            and question is self.current
            and (meant := choice(question, key)) is not None
        ):
            self._answer(question, meant, turn)

    def line(self, text: str, turn: Turn) -> None:
        """A line was typed for a question that takes words."""
        if (question := self.current) and (meant := choice(question, text)) is not None:
            self._answer(question, meant, turn)

    def give_up(self, turn: Turn) -> None:
        """Answer all of them with nothing."""
        for question in tuple(self._open):
            turn.answer(nothing(question))
        self.clear()

    def clear(self) -> None:
        self._open.clear()
        self._present()

    def rows(self, width: int) -> str:
        """What can be answered, painted."""
        question = self.current
        if question is None:
            return ""
        choices = offered(question)
        rows = [self._line((f" {one.key} ", "you"), (visible(one.label), ""), width=width) for one in choices]
        if question.kind != "approval":
            hint = "a number, or your own words" if choices else "in your own words"
            rows.append(self._line((hint, "faint"), width=width))
        if len(self._open) > 1:
            rows.append(self._line((f"{len(self._open) - 1} more after this", "faint"), width=width))
        return "".join(rows)

    def _answer(self, question: Question, meant: str, turn: Turn) -> None:
        turn.answer(answered(question, meant))
        self._open.pop(0)
        arrow = self.painter.sign("→ ", "-> ")
        self.screen.put(self._line((arrow, "warn"), (meant, "you"), width=self.screen.width))
        self._present()

    def _present(self) -> None:
        """Put the question at hand on the screen, all of it; or give back the line."""
        question, self._since = self.current, self.now()
        self.screen.keys_only = question is not None and question.kind == "approval"
        if question is not None and question is not self._shown:
            width, bar = self.screen.width, self.painter.sign("│ ", "| ")
            rows = [self._line((words.asking(question), "warn"), width=width)]
            for line in visible(question.action).split("\n"):
                rows.append(self._line((bar, "warn"), (line, "you"), width=width))
            self.screen.put("\n" + "".join(rows))
        self._shown = question
        if question is None and self._aside:
            self.screen.fill(self._aside)
            self._aside = ""
        self.screen.redraw()

    def _line(self, *pieces: tuple[str, str], width: int) -> str:
        return self.painter.line(*pieces, width=width, indent=2)
