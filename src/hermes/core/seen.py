"""Seen: which version of a file the model has looked at, per session."""

from collections import OrderedDict
from dataclasses import dataclass
from typing import Literal

from hermes.core.ids import SessionId


@dataclass(slots=True, eq=False)
class _Sight:
    version: tuple[int, int]
    lines: int
    upto: int


class Seen:
    """What the model last saw of each file, so that no edit rests on a version that is gone.

    In memory and bounded: what was forgotten counts as never read, which costs one more look.
    """

    __slots__ = ("_capacity", "_sights")

    def __init__(self, capacity: int = 2_000) -> None:
        self._sights: OrderedDict[tuple[SessionId, str], _Sight] = OrderedDict()
        self._capacity = capacity

    def note(
        self,
        session: SessionId,
        path: str,
        content: bytes,
        *,
        lines: int = 0,
        first: int = 1,
        last: int | None = None,
    ) -> None:
        """Record that the model saw lines `first` to `last` (None: to the end) of `lines` of this content."""
        key, version = (session, path), _version(content)
        last = lines if last is None else last
        before = self._sights.get(key)
        upto = before.upto if before and before.version == version else 0
        if first <= upto + 1:
            upto = max(upto, last)
        self._sights[key] = _Sight(version, lines, upto)
        self._sights.move_to_end(key)
        if len(self._sights) > self._capacity:
            self._sights.popitem(last=False)

    def compare(
        self, session: SessionId, path: str, content: bytes
    ) -> Literal["whole", "part", "changed", "never"]:
        """How this content relates to what was seen: all of it, its beginning, another version, nothing."""
        sight = self._sights.get((session, path))
        if sight is None:
            return "never"
        if sight.version != _version(content):
            return "changed"
        return "whole" if sight.upto >= sight.lines else "part"

    def forget(self, session: SessionId) -> None:
        """Drop what a session saw: its window was rebuilt and the model no longer has it before it."""
        for key in [key for key in self._sights if key[0] == session]:
            del self._sights[key]


def _version(content: bytes) -> tuple[int, int]:
    # The keyed hash of the interpreter: never leaves the process, and loads no library for it.
    return len(content), hash(content)
