"""clarify: a person answers, or the work goes on without."""

from dataclasses import replace

import pytest

from hermes.core.errors import BadArguments
from hermes.core.ids import CallId, SessionId
from hermes.core.messages import Outcome
from hermes.core.questions import Answer
from hermes.core.services import Services
from hermes.core.tools import ToolContext
from hermes.tools.clarify import clarify

pytestmark = pytest.mark.anyio
ALONE = ToolContext(CallId("c"), SessionId("s"), "/", Services())


def answered(text, asked):
    async def ask(question):
        asked.append(question)
        return Answer(question.id, text)

    return replace(ALONE, ask=ask)


async def test_the_answer_comes_back():
    asked = []
    ctx = answered("the blue one", asked)
    out = await clarify.run(ctx, {"question": "Which?", "choices": ["red", "blue ", "", "red"]})
    assert out.text == "The user answers: the blue one"
    assert out.data == {"answered": True, "answer": "the blue one"}
    (question,) = asked
    assert (question.kind, question.action, question.choices) == ("clarify", "Which?", ("red", "blue"))


async def test_with_nobody_there_the_work_goes_on():
    out = await clarify.run(ALONE, {"question": "Which?"})
    assert out.outcome is Outcome.FAILED
    assert out.text.startswith("Nobody can answer now. Go on with your best judgement")
    # Nothing was forbidden: the run does not end as one that was refused.
    assert "nobody" not in out.data


async def test_an_empty_answer_is_no_answer():
    out = await clarify.run(answered(" ", []), {"question": "Which?"})
    assert out.outcome is Outcome.OK
    assert out.text.startswith("The user gave no answer")


async def test_each_question_has_an_id_of_its_own():
    asked = []
    ctx = answered("yes", asked)
    await clarify.run(ctx, {"question": "Sure?"})
    await clarify.run(ctx, {"question": "Sure?"})
    assert asked[0].id != asked[1].id


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            {"question": "Which?", "choices": list("abcde")},
            "choices should be a list of at most 4, but a list of 5",
        ),
        ({"question": ""}, "question should be text that is not empty"),
    ],
)
async def test_what_cannot_be_asked_is_refused(given, said):
    with pytest.raises(BadArguments, match=said):
        await clarify.run(ALONE, given)
