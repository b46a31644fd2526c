"""The text of an answer while it is being streamed: what was shown survives the process."""

from dataclasses import dataclass

from hermes.core.ids import TurnId
from hermes.core.store import Journal


@dataclass(slots=True)
class Draft:
    """Hands each piece to the journal before it is shown. Piece 0 replaces what was there."""

    journal: Journal
    turn: TurnId
    _n: int = 0

    def begin(self) -> None:
        """A new attempt at the answer: earlier pieces are void once the first new one comes."""
        self._n = 0

    async def add(self, text: str) -> None:
        await self.journal.draft(self.turn, self._n, text)
        self._n += 1
