"""The three tiers of the prompt."""

from hermes.core.messages import Note, user
from hermes.engine.prompt import assemble, block, volatile


def test_the_stable_tier_is_the_same_bytes_wherever_it_works() -> None:
    here, there = assemble("", ("in /a",)), assemble("", ("in /b",))
    assert here[0] == there[0]
    assert (here[1], there[1]) == ("in /a", "in /b")


def test_a_soul_replaces_the_identity_and_nothing_else() -> None:
    own, built_in = assemble("You are Marvin."), assemble()
    assert own[0].startswith("You are Marvin.\n\n")
    assert own[0].removeprefix("You are Marvin.") == built_in[0].removeprefix(block("identity"))


def test_facts_are_told_once_and_again_when_they_change() -> None:
    first = volatile(["Date: Monday"], [])
    assert first == (Note("Date: Monday"),)
    talk = [user("hi", *first)]
    assert volatile(["Date: Monday"], talk) == ()
    assert volatile(["Date: Tuesday"], talk) == (Note("Date: Tuesday"),)
    assert volatile([], []) == ()
