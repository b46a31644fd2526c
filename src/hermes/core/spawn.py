"""Spawner: run a child agent and wait for it."""

from typing import Protocol


class Spawner(Protocol):
    async def spawn(self, goal: str, context: str = "", background: bool = False) -> str: ...
