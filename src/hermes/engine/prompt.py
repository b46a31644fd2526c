"""The system prompt in three tiers: stable, context, volatile.

The stable tier is the same bytes everywhere, the context tier for the life of a conversation. What
changes (the date, the model) travels with the newest message, where it costs no cached prefix.
"""

from collections.abc import Sequence
from pathlib import Path

from hermes.core.messages import Message, Note

_BLOCKS = Path(__file__).parent / "prompts"
STABLE = ("identity", "conduct", "tools")


def block(name: str) -> str:
    """The text of `prompts/<name>.md`."""
    return (_BLOCKS / f"{name}.md").read_text("utf-8").strip()


def assemble(identity: str = "", context: Sequence[str] = ()) -> tuple[str, ...]:
    """The tiers that are stored with the conversation.

    `identity` replaces the built-in one (the user's SOUL.md). `context` are the blocks of this
    conversation: where it works, what the caller wants.
    """
    first = (identity.strip() or block(STABLE[0]), *(block(name) for name in STABLE[1:]))
    stable = "\n\n".join(first)
    rest = "\n\n".join(text.strip() for text in context if text.strip())
    return (stable, rest) if rest else (stable,)


def volatile(facts: Sequence[str], messages: Sequence[Message]) -> tuple[Note, ...]:
    """The facts as a note for the next message; nothing if the model knows them already."""
    text = "\n".join(facts)
    for message in reversed(messages):
        for part in message.parts:
            if isinstance(part, Note) and part.kind == "context":
                return () if part.text == text else (Note(text),)
    return (Note(text),) if text else ()
