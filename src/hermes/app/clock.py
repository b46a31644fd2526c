"""The machine's clock."""

import time


class SystemClock:
    def now(self) -> int:
        return time.time_ns() // 1_000

    def monotonic(self) -> float:
        return time.monotonic()
