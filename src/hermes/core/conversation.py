"""The id of the conversation at work, for whatever is called underneath it.

Side calls (compaction, vision, an approval judge, a review) are labelled and metered with the
root conversation without every signature carrying it.
"""

from contextvars import ContextVar

from hermes.core.ids import SessionId

current: ContextVar[SessionId] = ContextVar("hermes_conversation")


def root() -> SessionId | None:
    """The root conversation of the running turn, None outside one."""
    return current.get(None)
