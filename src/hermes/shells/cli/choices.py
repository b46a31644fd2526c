"""What can be answered to a question, and with which key."""

from dataclasses import dataclass

from hermes.core.people import OWNER
from hermes.core.questions import ALWAYS, APPROVAL_CHOICES, DENY, ONCE, SESSION, Answer, Question

LABELS = {ONCE: "yes, once", SESSION: "yes, for this session", ALWAYS: "yes, always", DENY: "no"}
SPOKEN = {"y": ONCE, "yes": ONCE, "n": DENY, "no": DENY}


@dataclass(frozen=True, slots=True)
class Choice:
    """`key` is pressed or typed, `word` is what the answer says, `label` what a person reads."""

    key: str
    word: str
    label: str


def offered(question: Question) -> tuple[Choice, ...]:
    """The choices of a question: letters for an approval, numbers for anything else."""
    if question.kind == "approval":
        given = question.choices or APPROVAL_CHOICES
        return tuple(Choice(word[0], word, LABELS.get(word, word)) for word in given)
    return tuple(Choice(str(n), word, word) for n, word in enumerate(question.choices, 1))


def choice(question: Question, text: str) -> str | None:
    """What was meant: a key, a word, or free text where that is allowed. None when nothing fits."""
    text = text.strip()
    given = offered(question)
    for one in given:
        if text.lower() in {one.key, one.word.lower()}:
            return one.word
    if question.kind == "approval":
        meant = SPOKEN.get(text.lower())
        return meant if meant in {one.word for one in given} else None
    return text or None


def answered(question: Question, text: str) -> Answer:
    """The answer of whoever sits at this terminal."""
    return Answer(question.id, text, OWNER.id)


def nothing(question: Question) -> Answer:
    """The answer of somebody who left without one."""
    return answered(question, DENY if question.kind == "approval" else "")
