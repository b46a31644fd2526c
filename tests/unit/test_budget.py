"""A tree of budgets: reserved before, settled after, children draw from their parent."""

import pytest

from hermes.core.budget import Budget, Meter
from hermes.core.errors import BudgetSpent
from hermes.core.messages import Usage


def test_what_a_child_spends_its_parent_has_spent() -> None:
    day = Meter(Budget(cost=1.0))
    child = Meter(Budget(steps=5), day)
    child.reserve()
    child.settle(Usage(100, 10, cost=0.25, calls=1))
    assert (child.steps, day.steps, day.used.cost) == (1, 1, 0.25)


def test_two_children_cannot_both_take_the_last_step() -> None:
    day = Meter(Budget(steps=1))
    one, two = Meter(Budget(), day), Meter(Budget(), day)
    one.reserve()
    with pytest.raises(BudgetSpent, match="the limit of 1 model calls is reached"):
        two.reserve()


def test_a_call_that_was_never_answered_is_given_back() -> None:
    day = Meter(Budget(steps=1))
    one = Meter(Budget(), day)
    one.reserve()
    one.release()
    one.reserve()
    assert day.steps == 0


@pytest.mark.parametrize(
    ("budget", "usage", "seconds", "why"),
    [
        (Budget(tokens=100), Usage(90, 10), 0.0, "the limit of 100 tokens is reached"),
        (Budget(cost=0.5), Usage(cost=0.5), 0.0, "the limit of $0.50 is reached"),
        (Budget(seconds=30), Usage(), 31.0, "the limit of 30 seconds is reached"),
        (Budget(), Usage(10**9, 10**9, cost=99.0), 9e9, ""),
    ],
)
def test_every_kind_of_limit_says_what_it_is(budget: Budget, usage: Usage, seconds: float, why: str) -> None:
    meter = Meter(budget)
    meter.reserve()
    meter.settle(usage)
    meter.elapse(seconds)
    assert meter.spent == why
