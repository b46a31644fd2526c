"""Spill: where a result goes that is too long for the model to read at once."""

from typing import Protocol


class Spill(Protocol):
    async def keep(self, name: str, text: str) -> str:
        """Store the whole text; return an absolute path that read_file can page through."""
        ...
