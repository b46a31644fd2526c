"""Conversations as OpenAI's chat messages, and back."""

import pytest

from hermes.app.transcript import from_dicts, to_dicts
from hermes.core.errors import UsageError
from hermes.core.ids import CallId
from hermes.core.messages import Message, Note, Outcome, Role, Text, Thought, ToolCall, ToolResult, user

TALK = [
    user("what is in a.txt?", Note("Date: today")),
    Message(
        Role.ASSISTANT,
        (Thought("look first"), Text("Looking."), ToolCall(CallId("c1"), "read_file", {"path": "a.txt"})),
    ),
    Message(Role.TOOL, (ToolResult(CallId("c1"), Outcome.FAILED, "no such file"),)),
    Message(Role.ASSISTANT, (Text("There is no a.txt."),)),
]


def test_the_form_people_know() -> None:
    assert to_dicts(TALK) == [
        {"role": "user", "content": "what is in a.txt?"},
        {
            "role": "assistant",
            "content": "Looking.",
            "reasoning": "look first",
            "tool_calls": [
                {
                    "id": "c1",
                    "type": "function",
                    "function": {"name": "read_file", "arguments": '{"path": "a.txt"}'},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "no such file", "outcome": "failed"},
        {"role": "assistant", "content": "There is no a.txt."},
    ]


def test_there_and_back_again() -> None:
    assert to_dicts(from_dicts(to_dicts(TALK))) == [
        {k: v for k, v in entry.items() if k != "reasoning"} for entry in to_dicts(TALK)
    ]


def test_content_in_parts_and_system_messages() -> None:
    history = [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
    ]
    assert [m.text for m in from_dicts(history)] == ["ab"]


@pytest.mark.parametrize(
    "entry", [{}, {"role": "wizard"}, {"role": "tool"}, {"role": "assistant", "tool_calls": [1]}]
)
def test_an_entry_that_is_no_message_is_named_by_its_place(entry: dict[str, object]) -> None:
    with pytest.raises(UsageError, match=r"conversation_history\[1\] is not a chat message"):
        from_dicts([{"role": "user", "content": "hi"}, entry])
