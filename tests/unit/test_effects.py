"""Which calls may run at the same time."""

import pytest

from hermes.core.effects import ANYTHING, NOTHING, Footprint


@pytest.mark.parametrize(
    ("one", "other", "conflict"),
    [
        (Footprint(reads=("/a",)), Footprint(reads=("/a",)), False),
        (Footprint(reads=("/a",)), Footprint(writes=("/a",)), True),
        (Footprint(reads=("/a/b/c",)), Footprint(writes=("/a",)), True),
        (Footprint(reads=("/a",)), Footprint(writes=("/a/b",)), True),
        (Footprint(reads=("/ab",)), Footprint(writes=("/a",)), False),
        (Footprint(writes=("/",)), Footprint(reads=("/x",)), True),
        (Footprint(writes=("/a",)), Footprint(writes=("/a",)), True),
        (Footprint(outward=True), Footprint(outward=True), True),
        (Footprint(outward=True), Footprint(reads=("/a",)), False),
        (ANYTHING, NOTHING, True),
        (NOTHING, NOTHING, False),
    ],
)
def test_conflicts_and_is_symmetric(one: Footprint, other: Footprint, conflict: bool) -> None:
    assert one.conflicts(other) is conflict
    assert other.conflicts(one) is conflict
