"""Budget (limits), Meter (what was spent), as a tree: children draw from their parent."""

from dataclasses import dataclass

from hermes.core.errors import BudgetSpent
from hermes.core.messages import NOTHING_SPENT, Usage


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits; None means none. `steps` are model calls, `cost` is US dollars."""

    steps: int | None = None
    tokens: int | None = None
    cost: float | None = None
    seconds: float | None = None


class Meter:
    """What was spent against a budget, and against every budget above it.

    A model call is reserved before it is made and settled after, so that two children cannot
    both spend the parent's last step.
    """

    __slots__ = ("_reserved", "budget", "parent", "seconds", "steps", "used")

    def __init__(self, budget: Budget | None = None, parent: "Meter | None" = None) -> None:
        self.budget = budget or Budget()
        self.parent = parent
        self.steps = 0
        self.seconds = 0.0
        self.used: Usage = NOTHING_SPENT
        self._reserved = 0

    def reserve(self) -> None:
        """Set one model call aside here and in every ancestor. Raise BudgetSpent if one is out."""
        if reason := self.spent:
            raise BudgetSpent(reason)
        meter: Meter | None = self
        while meter:
            meter._reserved += 1
            meter = meter.parent

    def settle(self, usage: Usage) -> None:
        """Turn a reserved call into a spent one."""
        meter: Meter | None = self
        while meter:
            meter._reserved -= 1
            meter.steps += 1
            meter.used += usage
            meter = meter.parent

    def release(self) -> None:
        """Give a reserved call back: it was never answered."""
        meter: Meter | None = self
        while meter:
            meter._reserved -= 1
            meter = meter.parent

    def elapse(self, seconds: float) -> None:
        """Account for time that passed."""
        meter: Meter | None = self
        while meter:
            meter.seconds += seconds
            meter = meter.parent

    @property
    def spent(self) -> str:
        """Why nothing more may be asked for; empty while there is budget."""
        meter: Meter | None = self
        while meter:
            if reason := meter._exhausted():
                return reason
            meter = meter.parent
        return ""

    def _exhausted(self) -> str:
        limit, used = self.budget, self.used
        if limit.steps is not None and self.steps + self._reserved >= limit.steps:
            return f"the limit of {limit.steps} model calls is reached"
        if limit.tokens is not None and used.input + used.output >= limit.tokens:
            return f"the limit of {limit.tokens} tokens is reached"
        if limit.cost is not None and used.cost >= limit.cost:
            return f"the limit of ${limit.cost:.2f} is reached"
        if limit.seconds is not None and self.seconds >= limit.seconds:
            return f"the limit of {limit.seconds:g} seconds is reached"
        return ""
