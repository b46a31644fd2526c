"""The patch form: what is understood, and what is refused rather than guessed."""

import pytest

from hermes.lib import v4a
from hermes.lib.edits import Refused
from hermes.lib.textfile import decode

MENU = """\
class Lunch:
    def serve(self):
        return "soup"

    def price(self):
        return 1


class Dinner:
    def serve(self):
        return "roast"

    def price(self):
        return 1
"""


def patched(text, *rows):
    patch = "\n".join(["*** Begin Patch", "*** Update File: menu.py", *rows, "*** End Patch"])
    (change,) = v4a.parse(patch)
    return decode(text.encode()).edited(v4a.edits(text, change.hunks)).decode()


def refusal(text, *rows):
    with pytest.raises(Refused) as caught:
        patched(text, *rows)
    return str(caught.value)


def test_context_finds_the_place():
    rows = ("@@", " def lay():", "-    plates", "+    bowls", "     spoons")
    assert patched("def lay():\n    plates\n    spoons\n", *rows) == "def lay():\n    bowls\n    spoons\n"


def test_an_anchor_decides_between_equal_places():
    changed = patched(
        MENU, "@@ class Dinner:", "     def price(self):", "-        return 1", "+        return 2"
    )
    assert changed == MENU[:-2] + "2\n"


def test_nested_anchors_lead_to_the_place():
    changed = patched(
        MENU, "@@ class Dinner:", "@@     def price(self):", "-        return 1", "+        return 2"
    )
    assert changed == MENU[:-2] + "2\n"
    first = patched(
        MENU, "@@ class Lunch:", "@@     def price(self):", "-        return 1", "+        return 2"
    )
    assert first == MENU.replace("return 1", "return 2", 1)


def test_the_head_of_a_unified_diff_is_taken_as_an_anchor():
    rows = (
        "@@ -9,3 +9,3 @@ class Dinner:",
        "     def serve(self):",
        '-        return "roast"',
        "+        return 3",
    )
    assert patched(MENU, *rows) == MENU.replace('"roast"', "3")
    assert patched(MENU, "@@ -1,2 +1,2 @@", '-        return "roast"', "+        return 3") == MENU.replace(
        '"roast"', "3"
    )


def test_equal_places_without_an_anchor_are_refused():
    said = refusal(MENU, "     def price(self):", "-        return 1", "+        return 2")
    assert "2 places (lines 5 and 13)" in said


def test_an_anchor_that_stands_twice_does_not_decide():
    assert "2 places" in refusal(MENU, "@@     def price(self):", "-        return 1", "+        return 2")


def test_lines_above_their_anchor_are_refused():
    said = refusal(MENU, "@@ class Dinner:", '-        return "soup"', "+        return 2")
    assert "line 3 only, above the anchor 'class Dinner:'" in said


def test_a_missing_anchor_is_refused():
    assert "anchor 'class Tea:' was not found" in refusal(
        MENU, "@@ class Tea:", "-        return 1", "+        return 2"
    )


def test_lines_that_are_nearly_there_are_shown_and_not_changed():
    said = refusal(MENU, "@@ class Dinner:", '-        return "Roast"', "+        return 2")
    assert "line 11" in said
    assert '11|        return "roast"' in said


def test_lines_only_added_go_below_their_anchor():
    assert patched("a\nb\n", "@@ a", "+new") == "a\nnew\nb\n"
    assert "stands in several places (lines 1 and 2)" in refusal("a\na\n", "@@ a", "+new")
    assert "says not where" in refusal("a\nb\n", "@@", "+new")
    assert "says not where" in refusal("a\nb\n", "+new")


def test_the_end_of_the_file_can_be_asked_for():
    assert patched("a\nb\n", "+new", "*** End of File") == "a\nb\nnew\n"
    assert patched("a\nb", "+new", "*** End of File") == "a\nb\nnew"
    assert patched("a\nb\na\n", "-a", "+new", "*** End of File") == "a\nb\nnew\n"


def test_a_file_without_a_newline_at_its_end_stays_so():
    assert patched("a\nb", " a", "-b") == "a"
    assert patched("a\nb", "-b", "+c") == "a\nc"
    assert patched("a\nb", " b", "+c") == "a\nb\nc"
    assert patched("", "+c") == "c\n"


def test_empty_rows_are_empty_lines_except_at_the_end_of_a_hunk():
    assert patched("a\n\nb\n", " a", "", "-b", "+c", "") == "a\n\nc\n"


def test_several_hunks_in_any_order():
    assert patched("a\nb\nc\nd\n", "@@", "-d", "+D", "@@", "-a", "+A") == "A\nb\nc\nD\n"
    assert "same lines" in refusal("a\nb\n", "@@", "-a", "+A", "@@", "-a", "+B")


def test_all_kinds_of_changes_are_read():
    changes = v4a.parse(
        "```\n*** Begin Patch\n*** Add File: new.txt\n+one\n+\n+three\n\n*** Delete File: old.txt\n"
        "*** Move File: a b.txt -> c/d.txt\n*** Update File: e.py\n*** Move to: f.py\n@@\n-x\n+y\n"
        "*** End Patch\n```"
    )
    assert [(c.kind, c.path, c.to) for c in changes] == [
        ("Add", "new.txt", ""),
        ("Delete", "old.txt", ""),
        ("Move", "a b.txt", "c/d.txt"),
        ("Update", "e.py", "f.py"),
    ]
    assert changes[0].text == "one\n\nthree\n"


@pytest.mark.parametrize(
    ("patch", "said"),
    [
        ("", "begins with"),
        ("--- a\n+++ b\n", "begins with"),
        ("*** Begin Patch\n*** Update File: a\n-x\n+y\n", "some of it may be missing"),
        ("*** Begin Patch\n*** End Patch", "changes no file"),
        ("*** Begin Patch\n-x\n*** End Patch", "Line 2 of the patch stands before any"),
        ("*** Begin Patch\n*** Update File: a\n x\n*** End Patch", 'has no "+" or "-" line'),
        ("*** Begin Patch\n*** Update File: a\n*** End Patch", "changes nothing in a"),
        (
            "*** Begin Patch\n*** Update File: a\n@@\n?x\n*** End Patch",
            "Line 4 of the patch begins with none of",
        ),
        ("*** Begin Patch\n*** Add File: a\nx\n*** End Patch", 'Every line of an added file begins with "+"'),
        (
            "*** Begin Patch\n*** Delete File: a\n-x\n*** End Patch",
            "Line 3 of the patch does not belong there",
        ),
        ("*** Begin Patch\n*** Move File: a\n*** End Patch", "FROM -> TO"),
        (
            "*** Begin Patch\n*** Delete File: a\n*** Add File: a\n+x\n*** End Patch",
            "a is named more than once",
        ),
        (
            "*** Begin Patch\n*** Delete File: a\n*** Move File: b -> c/../a\n*** End Patch",
            "named more than once",
        ),
        ("*** Begin Patch\n*** Move File: a -> ./a\n*** End Patch", "named more than once"),
    ],
)
def test_a_patch_that_is_not_whole_or_not_clear_is_refused(patch, said):
    with pytest.raises(Refused) as caught:
        v4a.parse(patch)
    assert said in str(caught.value)
