"""The message codec: what goes in comes out; what is new or broken does no harm."""

import string
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.core.ids import CallId
from hermes.core.messages import (
    Media,
    Message,
    Note,
    Outcome,
    Role,
    Text,
    Thought,
    ToolCall,
    ToolResult,
    Usage,
    user,
)
from hermes.stores import codec

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
numbers = st.integers(min_value=0, max_value=2**62)
leaves = st.none() | st.booleans() | st.integers() | texts | st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3)
)
objects = st.dictionaries(texts, values, max_size=3)
media = st.builds(Media, st.sampled_from(["image", "audio", "video", "document"]), texts, texts)
parts = st.one_of(
    st.builds(Text, texts),
    st.builds(Note, texts, texts),
    st.builds(Thought, texts, texts, texts, st.booleans()),
    media,
    st.builds(ToolCall, texts.map(CallId), texts, objects, texts),
    st.builds(
        ToolResult,
        *(texts.map(CallId), st.sampled_from(Outcome), texts, objects),
        *(st.lists(media, max_size=2).map(tuple), objects),
    ),
)
usages = st.builds(Usage, *[numbers] * 5, st.floats(0, 1e9), numbers)
messages = st.builds(
    Message,
    st.sampled_from(Role),
    st.lists(parts, max_size=4).map(tuple),
    usages,
    numbers,
    texts,
    st.booleans(),
)


@given(messages)
def test_what_goes_in_comes_out(message: Message) -> None:
    assert codec.decode(message.role.value, message.at, codec.encode(message)) == message


@given(st.text(max_size=30))
def test_any_string_can_be_stored(text: str) -> None:
    message = Message(Role.TOOL, (Text(text), ToolResult(CallId("c"), Outcome.OK, text, {text: [text]})))
    read = codec.decode("tool", 0, codec.encode(message))
    expected = "".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in text)
    assert read.text == expected
    assert read.results[0].data == {expected: [expected]}


def test_what_is_not_json_is_told_in_words() -> None:
    data = cast(Any, {"path": Path("/tmp/\ud800"), "more": MappingProxyType({"n": float("nan")})})
    read = codec.decode("tool", 0, codec.encode(Message(Role.TOOL, (ToolCall(CallId("c"), "t", data),))))
    assert read.calls[0].arguments["path"] == "/tmp/\ufffd"


def test_a_future_version_is_read_as_far_as_it_is_known() -> None:
    body = '{"parts":[{"type":"text","text":"hi","mood":1},{"type":"hologram"}],"usage":{"input":3,"soul":2}}'
    read = codec.decode("assistant", 7, body)
    assert read.text == "hi"
    assert read.usage == Usage(input=3)
    assert isinstance(read.parts[1], Note)
    assert "hologram" in read.parts[1].text
    assert codec.searchable(body) == "hi"


@pytest.mark.parametrize("text", ["plain", "ünïcode \U0001f600", 'quo"te \\ \n'])
def test_what_is_searched_is_the_text(text: str) -> None:
    assert codec.searchable(codec.encode(user(text))) == text


def test_the_body_is_small() -> None:
    assert len(codec.encode(user(string.ascii_letters))) < 52 + 45
