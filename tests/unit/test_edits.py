"""Edits change exactly the intended bytes, or nothing: replacement, patch form, line ends, diff."""

import time

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hermes.lib import textfile, v4a
from hermes.lib.diff import unified
from hermes.lib.edits import Refused, hint, replacements
from hermes.lib.textfile import Edit, decode

# Few letters, so that repetitions and overlaps are frequent; all the line ends there are.
TEXT = st.text("ab\n", max_size=30)
BYTES = st.lists(st.sampled_from([b"a", b"b", b"\xc3\xa4", b"\n", b"\r\n", b"\r"]), max_size=30).map(b"".join)
LINES = st.lists(st.sampled_from(["a", "b", "  a", "c", ""]), max_size=12)


@settings(deadline=None)
@given(TEXT, TEXT, TEXT, st.booleans())
def test_a_replacement_is_what_python_would_do_or_is_refused(text, old, new, everywhere):
    places = sum(text.startswith(old, at) for at in range(len(text))) if old else 0
    try:
        edits = replacements(text, old, new, everywhere=everywhere)
    except Refused:
        assert not old or old == new or not places or (places > 1 and not everywhere)
        return
    assert places == 1 or everywhere
    assert decode(text.encode()).edited(edits).decode() == text.replace(old, new)


@settings(deadline=None)
@given(BYTES, st.data())
def test_bytes_outside_an_edit_stay_as_they_are(content, data):
    file = decode(content)
    assert file.edited([]) == content
    start = data.draw(st.integers(0, len(file.text)))
    end = data.draw(st.integers(start, len(file.text)))
    head, tail = file.edited([Edit(0, start, "")]), file.edited([Edit(end, len(file.text), "")])
    after = file.edited([Edit(start, end, "X\nY")])
    # What the edit leaves of the file is its bytes up to the edit and from its end on.
    kept_head = content[: len(content) - len(head)] if start else b""
    kept_tail = content[len(tail) :]
    assert after.startswith(kept_head)
    assert after.endswith(kept_tail)
    between = after[len(kept_head) : len(after) - len(kept_tail)]
    assert between in (b"X\nY", b"X\r\nY", b"X\rY")
    if file.newline in ("\n", "\r\n", "\r"):
        assert between == b"X" + file.newline.encode() + b"Y"


@settings(deadline=None)
@given(st.text(max_size=20), st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32"]))
def test_every_encoding_survives_a_round(text, encoding):
    content = text.encode(encoding)
    assert decode(content).edited([]) == content


@settings(deadline=None)
@given(st.binary(max_size=60))
def test_any_bytes_survive_a_round(content):
    file = decode(content)
    assert file.edited([]) == content
    assert textfile.lines(file.text) is not None


@settings(max_examples=300, deadline=None)
@given(LINES, st.data(), st.booleans(), st.sampled_from(["\n", "\r\n"]))
def test_a_hunk_goes_where_its_lines_stand_or_is_refused(have, data, closed, newline):
    """A hunk taken from the file itself: context, some lines out, some in."""
    assume(have)
    text = "\n".join(have) + ("\n" if closed else "")
    file = decode(text.replace("\n", newline).encode())
    have = textfile.lines(file.text)
    assume(have)
    start = data.draw(st.integers(0, len(have) - 1))
    end = data.draw(st.integers(start + 1, len(have)))
    rows, wanted = [], have[:start]
    for line in have[start:end]:
        sign = data.draw(st.sampled_from(" -"))
        rows.append((sign, line))
        if sign == " ":
            wanted.append(line)
        for added in data.draw(st.lists(st.sampled_from(["new", "a", ""]), max_size=2)):
            rows.append(("+", added))
            wanted.append(added)
    wanted += have[end:]
    old = have[start:end]
    unique = sum(have[at : at + len(old)] == old for at in range(len(have))) == 1
    if not unique:
        with pytest.raises(Refused, match="places"):
            v4a.edits(file.text, [v4a.Hunk(2, rows=rows)])
        return
    made = v4a.edits(file.text, [v4a.Hunk(2, rows=rows)])
    after = decode(file.edited(made))
    assert textfile.lines(after.text) == wanted
    if wanted:
        assert after.text.endswith("\n") == file.text.endswith("\n") or wanted[-1] == ""


@settings(deadline=None)
@given(TEXT, TEXT)
def test_a_diff_tells_the_whole_difference(before, after):
    rows = unified(before, after).split("\n")
    out = [row[1:] for row in rows if row.startswith("-")]
    new = [row[1:] for row in rows if row.startswith("+")]
    have = textfile.lines(before)
    for line in out:
        have.remove(line)
    assert sorted(have + new) == sorted(textfile.lines(after))


def test_a_diff_shows_the_lines_around_a_change():
    before = "".join(f"{n}\n" for n in range(1, 21))
    after = before.replace("5\n", "five\n", 1).replace("18\n", "")
    assert unified(before, after) == (
        "@@ -3,5 +3,5 @@\n 3\n 4\n-5\n+five\n 6\n 7\n@@ -16,5 +16,4 @@\n 16\n 17\n-18\n 19\n 20"
    )
    assert unified("a", "a\n") == "[newline at the end added]"
    assert unified("", "x\n" * 200, limit=3) == "@@ -1,0 +1,200 @@\n+x\n+x\n[198 more lines of the diff]"


def test_what_is_not_there_is_answered_with_the_nearest_place():
    text = "def a():\n    return 1\n\n\ndef b():\n\treturn  2\n"
    assert hint(text, "def b():\n    return 2") == (
        "The nearest place is lines 5-6, which differs only in spaces, tabs or indentation:\n"
        "5|def b():\n6|\treturn  2"
    )
    assert hint(text, "    return 10").startswith("The nearest place is line 2")
    assert hint(text, "something else entirely, of which nothing is there") == ""
    assert hint("", "a") == hint("a", " \n ") == ""


def test_several_places_are_named():
    with pytest.raises(Refused) as caught:
        replacements("a\n" * 7, "a", "b")
    assert "7 places (lines 1, 2, 3, 4, 5 and 2 more)" in str(caught.value)
    with pytest.raises(Refused, match=r"2 places \(lines 1 and 1\)"):
        replacements("aaa", "aa", "b")


def test_a_suggestion_for_a_big_file_takes_no_longer_than_a_moment():
    big = "".join(f"    value_{n % 700} = compute({n % 500}, {n % 300})\n" for n in range(60_000))
    started = time.process_time()
    assert "nearest place" in hint(big, "    value_12 = compute(12, 13)\n    value_13 = compute(13, 14)")
    hint(big, "    vlaue_12 = compote(12x)\n" * 300)
    hint(big, big[: len(big) // 2] + "x")
    assert time.process_time() - started < 5


def test_a_diff_of_big_files_takes_no_longer_than_a_moment():
    before = "".join(f"line {n % 10}\n" for n in range(50_000))
    started = time.process_time()
    assert unified(before, before.replace("line 3", "line three")).endswith("more lines of the diff]")
    assert time.process_time() - started < 5
