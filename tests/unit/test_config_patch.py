"""Changing one value of a YAML text: it is there afterwards, and nothing else has moved."""

from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes.config.document import read
from hermes.config.patch import drop, inline, put
from hermes.core.errors import ConfigError

TEXT = """\
# my settings
model: gpt-4   # the good one
terminal:   # where
  cwd: "/x"     # dir
  # a remark at the end

agent: {max_turns: 4,  clarify_timeout: 3}
approvals:
  deny:
    - rm *
    - "x"   # xx
  mode: 'off'
empty:
lists:
- a: 1
  b: 2
- c
text: |
  foo
  bar

unknown_plugin: {k:   "${MY_KEY}"}
literal: ${MY_KEY}
# end
"""


def changed(before: str, after: str) -> list[str]:
    """The lines that differ, as a person would mark them."""
    old, new = before.splitlines(), after.splitlines()
    while old and new and old[0] == new[0]:
        old, new = old[1:], new[1:]
    while old and new and old[-1] == new[-1]:
        old, new = old[:-1], new[:-1]
    return [*(f"-{line}" for line in old), *(f"+{line}" for line in new)]


@pytest.mark.parametrize(
    ("key", "value", "lines"),
    [
        ("model", "gpt: 5", ["-model: gpt-4   # the good one", '+model: "gpt: 5"   # the good one']),
        ("terminal.cwd", "/y z", ['-  cwd: "/x"     # dir', '+  cwd: "/y z"     # dir']),
        ("terminal.timeout", 30, ["+  timeout: 30"]),
        (
            "agent.max_turns",
            7,
            [
                "-agent: {max_turns: 4,  clarify_timeout: 3}",
                "+agent: {max_turns: 7,  clarify_timeout: 3}",
            ],
        ),
        (
            "agent.api_max_retries",
            1,
            [
                "-agent: {max_turns: 4,  clarify_timeout: 3}",
                "+agent: {max_turns: 4,  clarify_timeout: 3, api_max_retries: 1}",
            ],
        ),
        (
            "approvals.deny",
            ["a", "b c"],
            ["-    - rm *", '-    - "x"   # xx', "+    - a", "+    - b c   # xx"],
        ),
        ("approvals.mode", "it's", ["-  mode: 'off'", "+  mode: 'it''s'"]),
        ("empty", 3, ["-empty:", "+empty: 3"]),
        ("lists.0.b", [1], ["-  b: 2", "+  b: [1]"]),
        ("lists.1", "z", ["-- c", "+- z"]),
        ("unknown_plugin.k", "v", ['-unknown_plugin: {k:   "${MY_KEY}"}', '+unknown_plugin: {k:   "v"}']),
        ("new.a.b", "off", ["+new:", "+  a:", '+    b: "off"']),
    ],
)
def test_one_value_changes(key: str, value: Any, lines: list[str]) -> None:
    assert changed(TEXT, put(TEXT, tuple(key.split(".")), value)) == lines


@pytest.mark.parametrize(
    ("key", "lines"),
    [
        ("model", ["-model: gpt-4   # the good one"]),
        ("terminal.cwd", ['-  cwd: "/x"     # dir']),
        (
            "agent.max_turns",
            ["-agent: {max_turns: 4,  clarify_timeout: 3}", "+agent: {clarify_timeout: 3}"],
        ),
        ("agent.clarify_timeout", ["-agent: {max_turns: 4,  clarify_timeout: 3}", "+agent: {max_turns: 4}"]),
        ("approvals.deny.0", ["-    - rm *"]),
        ("lists.0.b", ["-  b: 2"]),
        ("unknown_plugin", ['-unknown_plugin: {k:   "${MY_KEY}"}']),
        ("nothing.here", []),
    ],
)
def test_one_key_goes(key: str, lines: list[str]) -> None:
    assert changed(TEXT, drop(TEXT, tuple(key.split(".")))) == lines


def test_line_ends_of_the_file_are_kept() -> None:
    text = put("a: 1\r\nb:\r\n  c: 2\r\n", ("b", "d"), 3)
    assert text == "a: 1\r\nb:\r\n  c: 2\r\n  d: 3\r\n"
    assert drop(text, ("b", "c")) == "a: 1\r\nb:\r\n  d: 3\r\n"


def test_a_file_without_a_last_line_end_gets_one_only_where_needed() -> None:
    assert put("a: 1", ("a",), 2) == "a: 2"
    assert put("a: 1", ("b",), 2) == "a: 1\nb: 2\n"
    assert put("a:\n  b: 1", ("a", "c"), 2) == "a:\n  b: 1\n  c: 2\n"


@pytest.mark.parametrize(
    "text", ["", "# only a remark\n", "---\n", "{}\n", "a:\n", "a: {}\n", "a: null\n", "a: ~ # x"]
)
def test_a_section_is_made_where_there_is_none(text: str) -> None:
    assert read(put(text, ("a", "b"), "c"), "t").data["a"] == {"b": "c"}


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("x: &x {a: 1}\ny: *x\n", "y.a"),
        ("x: &x {a: 1}\ny: *x\n", "x.a"),
        ("a: 1\n...\n", "b"),
        ("a: |+\n  x", "b"),
    ],
)
def test_what_cannot_be_changed_alone_is_left_to_a_person(text: str, key: str) -> None:
    with pytest.raises(ConfigError, match="Nothing was changed"):
        put(text, tuple(key.split(".")), 5)


def test_a_merged_value_is_overridden_in_place() -> None:
    text = "x: &x {a: 1, c: 0}\ny:\n  <<: *x\n  b: 2\n"
    assert put(text, ("y", "a"), 5) == f"{text}  a: 5\n"


def test_half_a_character_is_refused() -> None:
    with pytest.raises(ConfigError, match="no text"):
        put("a: 1\n", ("a",), "\udc80")


_KEYS = """model terminal.cwd terminal.timeout agent.max_turns agent.x approvals.mode empty approvals.new
    lists.0.a lists.1 text unknown_plugin.k fresh fresh.deep.key"""
KEYS = st.sampled_from(_KEYS.split())
SCALARS = st.text() | st.integers() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False)
VALUES = SCALARS | st.lists(SCALARS, max_size=3) | st.dictionaries(st.text(), SCALARS, max_size=3)


@settings(max_examples=300)
@given(KEYS, VALUES)
def test_any_value_comes_back_and_everything_else_is_as_it_was(key: str, value: Any) -> None:
    path = tuple(key.split("."))
    after = put(TEXT, path, value)
    found: Any = read(after, "t").data
    for part in path:
        found = found[int(part)] if isinstance(found, list) else found[part]
    assert found == value
    assert type(found) is type(value)
    kept = [line for line in TEXT.splitlines() if line.split(":")[0].strip() not in (*path, "", "foo", "bar")]
    assert [line for line in kept if line not in after.splitlines()] in ([], *([line] for line in kept))
    assert put(after, path, value) == after


@given(st.text() | st.integers() | st.booleans())
def test_scalars_mean_the_same_to_an_older_reader(value: Any) -> None:
    assert yaml.safe_load(f"a: {inline(value)}\n") == {"a": value}


@given(
    st.text(alphabet="ab:-#{}[]\n \t'\"|>&*!?,%@`x1", max_size=60),
    st.sampled_from([("a",), ("a", "b"), ("x", "b")]),
)
def test_any_file_is_either_changed_as_asked_or_refused(text: str, path: tuple[str, ...]) -> None:
    try:
        before = read(text, "t").data
        after = put(text, path, "v")
    except ConfigError:
        return
    data = read(after, "t").data
    assert (data[path[0]] if len(path) == 1 else data[path[0]][path[1]]) == "v"
    others = {key: item for key, item in before.items() if key != path[0] and item is not None}
    assert {key: item for key, item in data.items() if key in others} == others
