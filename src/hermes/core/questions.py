"""Question and Answer: a durable approval or clarification."""

from dataclasses import dataclass
from typing import Literal

from hermes.core.ids import QuestionId


@dataclass(frozen=True, slots=True)
class Question:
    """Something only a person can decide.

    `action` is the exact thing to be approved (a command line, a path); `why` says in one sentence
    what made it a question. `choices` may be empty for free text. `expires` is microseconds since
    the epoch, 0 for never.
    """

    id: QuestionId
    kind: Literal["approval", "clarify"]
    action: str
    why: str = ""
    choices: tuple[str, ...] = ()
    expires: int = 0


@dataclass(frozen=True, slots=True)
class Answer:
    """What a person said. `by` is the principal's id. `text` is a choice or free text."""

    question: QuestionId
    text: str
    by: str = ""


ONCE, SESSION, ALWAYS, DENY = "once", "session", "always", "deny"
APPROVAL_CHOICES = (ONCE, SESSION, ALWAYS, DENY)
