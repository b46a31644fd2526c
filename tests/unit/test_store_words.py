"""Words of texts and queries, and the snippets that show what was found."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.stores.words import END, START, Term, snippet, terms, words


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("two words", [Term(("two",)), Term(("words",))]),
        ('"two words"', [Term(("two", "words"))]),
        ('"two wor"*', [Term(("two", "wor"), prefix=True)]),
        ("Wor*", [Term(("wor",), prefix=True)]),
        ("app/server.py", [Term(("app", "server", "py"))]),
        ('"unbalanced', [Term(("unbalanced",))]),
        ("a AND b", [Term(("a",)), Term(("and",)), Term(("b",))]),
        ("東京 *", [Term(("東", "京"))]),
        ('* "" " -', []),
    ],
)
def test_a_query_is_read_as_a_person_means_it(query: str, expected: list[Term]) -> None:
    assert terms(query) == expected


@given(st.text())
def test_any_text_is_a_valid_query(text: str) -> None:
    for term in terms(text):
        assert term.words
        assert all(re.fullmatch(r"[^\W_]+", word) for word in term.words)


@given(st.text(max_size=100), st.text(max_size=10))
def test_a_snippet_is_a_piece_of_the_text(text: str, query: str) -> None:
    text = text.replace(START, "").replace(END, "")
    shown = snippet(text, terms(query), query).removeprefix("…").removesuffix("…")
    assert shown.replace(START, "").replace(END, "") in text
    assert shown.count(START) == shown.count(END)


def test_a_snippet_shows_the_place() -> None:
    text = "before " * 100 + "the Größe matters" + " after" * 100
    shown = snippet(text, terms("grosse"), "grosse")
    assert f"the {START}Größe{END} matters" in shown
    assert shown.startswith("…")
    assert shown.endswith("…")
    assert len(shown) < 220


def test_only_whole_words_are_marked_unless_a_beginning_was_asked_for() -> None:
    assert snippet("art party", terms("art"), "art") == f"{START}art{END} party"
    assert snippet("party art", terms("part*"), "part*") == f"{START}part{END}y art"


def test_folding_is_the_same_for_both_forms_of_a_letter() -> None:
    assert words("e\u0301te\u0301 ÉTÉ été") == ["ete", "ete", "ete"]
