"""The .env file: what a line means, and edits that keep every other line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.config.dotenv import assigned, parse, removed, written


def values(text: str) -> dict[str, str]:
    return {one.name: one.value for one in parse(text)[0]}


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("X=a", "a"),
        ("  X=a", "a"),
        ("export X=a", "a"),
        ("\texport   X = a b \t", "a b"),
        ("X=", ""),
        ("X= # nothing", ""),
        ("X=#a", "#a"),
        ("X=a#b", "a#b"),
        ("X=a # b # c", "a"),
        ("X=https://llm.invalid/v1  # main endpoint", "https://llm.invalid/v1"),
        ("X=https://p.invalid/v1?FIRST_KEY=two", "https://p.invalid/v1?FIRST_KEY=two"),
        ("X='a b' # c", "a b"),
        ("X='a # \\n $Y'", "a # \\n $Y"),
        ('X="a \\"b\\" \\\\ \\n \\$c \\x"', 'a "b" \\ \n $c \\x'),
        ("X='one\ntwo'", "one\ntwo"),
        ("X=a\r", "a"),
        ("X='a'b", "'a'b"),
        ("X='a", "'a"),
        ("X=$HOME/${Y}", "$HOME/${Y}"),
    ],
)
def test_what_a_line_means(line: str, value: str) -> None:
    assert values(line) == {"X": value}
    assert values(f"A=1\n{line}\nB=2\n") == {"A": "1", "X": value, "B": "2"}


def test_lines_that_are_no_assignment_are_named() -> None:
    assert parse("A=1\n# comment\n\nwhat is this\nB='x'y\nC=2\n")[1] == [4, 5]


def test_a_byte_order_mark_is_no_part_of_the_first_name() -> None:
    assert values("\ufeffFIRST_KEY=one\n") == {"FIRST_KEY": "one"}


def test_the_last_of_two_counts() -> None:
    assert values("A=1\nA=2\n") == {"A": "2"}


TEXT = "\ufeff# keys\nexport A='old'   # why\n\nB = two\r\nLONG=\"x\ny\" # z\nC=3"


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("A", "new", TEXT.replace("'old'", "new")),
        ("B", "a b", TEXT.replace("two", "'a b'")),
        ("LONG", "1", TEXT.replace('"x\ny"', "1")),
        ("C", "", TEXT[:-1]),
        ("D", "4", f"{TEXT}\r\nD=4\r\n"),
    ],
)
def test_an_edit_changes_one_value(name: str, value: str, expected: str) -> None:
    assert assigned(TEXT, name, value) == expected


def test_taking_a_variable_out_takes_every_line_of_it() -> None:
    assert removed(f"C=0\n{TEXT}", "C") == TEXT[:-3]
    assert removed(TEXT, "LONG") == TEXT.replace('LONG="x\ny" # z\n', "")
    assert removed(TEXT, "NONE") == TEXT


@given(st.text(), st.sampled_from(["A", "B", "LONG", "C", "NEW"]))
def test_any_text_comes_back_exactly(value: str, name: str) -> None:
    text = assigned(TEXT, name, value)
    expected = values(TEXT) | {name: value}
    assert values(text) == expected
    assert parse(text)[1] == []


@given(st.text())
def test_any_text_can_be_read(text: str) -> None:
    assignments, _ = parse(text)
    for one in assignments:
        start, end = one.whole
        assert text[start:end].lstrip(" \t").startswith((one.name, "export"))


def test_plain_values_are_written_plain() -> None:
    assert written("https://x.invalid/v1?a=b") == "https://x.invalid/v1?a=b"
    assert written('ab#cd "ef\\gh') == "'ab#cd \"ef\\gh'"
