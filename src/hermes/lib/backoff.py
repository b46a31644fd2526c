"""How long to wait before asking again."""

import random


def delay(attempt: int, *, base: float = 1.0, cap: float = 60.0, told: float | None = None) -> float:
    """Seconds before attempt number `attempt` (1 is the first repetition).

    What the other side told (Retry-After) is obeyed up to 600 s; otherwise the wait doubles from
    `base` to `cap` with half of it left to chance, so that many clients do not return together.
    """
    if told is not None:
        return min(max(told, 0.0), 600.0)
    full = min(cap, base * 2.0 ** (attempt - 1))
    return full / 2 + random.uniform(0, full / 2)
