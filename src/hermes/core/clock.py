"""Clock: where time comes from. Handed in, so that a test can hold it still."""

from typing import Protocol


class Clock(Protocol):
    """Wall time for records, monotonic time for durations."""

    def now(self) -> int:
        """Microseconds since the epoch, UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds from an arbitrary start; never goes back."""
        ...


class Lap:
    """Seconds since it was last asked."""

    __slots__ = ("_clock", "_mark")

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._mark = clock.monotonic()

    def __call__(self) -> float:
        before, self._mark = self._mark, self._clock.monotonic()
        return self._mark - before
