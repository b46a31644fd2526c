"""clarify: a question only a person can answer."""

from typing import Annotated

from msgspec import Meta

from hermes.core.effects import Effects
from hermes.core.ids import QuestionId
from hermes.core.messages import Outcome
from hermes.core.questions import Question
from hermes.core.tools import ToolContext, ToolOutput
from hermes.lib.ids import fresh
from hermes.sdk import tool

NOBODY = (
    "Nobody can answer now. Go on with your best judgement, do nothing that could not be undone, "
    "and say at the end what you assumed."
)


@tool(effects=Effects(outward=True), emoji="❓")
async def clarify(
    ctx: ToolContext,
    question: Annotated[str, Meta(min_length=1)],
    choices: Annotated[
        list[str], Meta(max_length=4, description="Offered answers; free text is always possible")
    ] = [],  # noqa: B006 - copied for each call
) -> ToolOutput:
    """Ask the user and wait for the answer. Only for what you cannot find out and cannot sensibly decide."""
    offered = tuple(dict.fromkeys(choice.strip() for choice in choices if choice.strip()))
    answer = await ctx.ask(Question(QuestionId(fresh("q")), "clarify", question, choices=offered))
    if answer is None:
        # Failed, not denied: nothing was forbidden, and the run may well end with an answer.
        return ToolOutput(NOBODY, {"answered": False}, outcome=Outcome.FAILED)
    if not answer.text.strip():
        return ToolOutput("The user gave no answer. Go on with your best judgement.", {"answered": False})
    return ToolOutput(f"The user answers: {answer.text}", {"answered": True, "answer": answer.text})
