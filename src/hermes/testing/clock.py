"""StillClock: time that moves only when the test says so."""

from dataclasses import dataclass


@dataclass(slots=True)
class StillClock:
    """`wall` is microseconds since the epoch; it starts on 2027-01-01 00:00 UTC."""

    wall: int = 1_798_761_600_000_000

    def now(self) -> int:
        return self.wall

    def monotonic(self) -> float:
        return self.wall / 1_000_000

    def advance(self, seconds: float) -> None:
        self.wall += int(seconds * 1_000_000)
