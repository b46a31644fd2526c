"""The open questions of a turn: asked of a person, settled once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import anyio

from hermes.core.events import Asked, Emit
from hermes.core.ids import QuestionId
from hermes.core.questions import Answer, Question


@dataclass(slots=True)
class _Slot:
    answer: Answer | None = None
    settled: anyio.Event = field(default_factory=anyio.Event)


@dataclass(slots=True)
class Pending:
    """`attended` says whether a person can answer; without one every question is answered None.

    `waits` says how many seconds a question of a kind stays open; no answer by then is None too.
    """

    emit: Emit
    attended: bool
    waits: Mapping[str, float] = field(default_factory=dict[str, float])
    _open: dict[QuestionId, _Slot] = field(default_factory=dict[QuestionId, _Slot])

    async def ask(self, question: Question) -> Answer | None:
        if not self.attended:
            return None
        slot = self._open[question.id] = _Slot()
        try:
            await self.emit(Asked(question))
            with anyio.move_on_after(self.waits.get(question.kind)):
                await slot.settled.wait()
            return slot.answer
        finally:
            del self._open[question.id]

    def settle(self, answer: Answer) -> bool:
        """False when the question is not open (any more)."""
        slot = self._open.get(answer.question)
        if slot is None or slot.settled.is_set():
            return False
        slot.answer = answer
        slot.settled.set()
        return True

    def open(self) -> Sequence[QuestionId]:
        return tuple(self._open)
