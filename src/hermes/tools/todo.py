"""todo: the plan of a piece of work, as a list of steps."""

from collections.abc import Sequence
from typing import Annotated, Literal

from msgspec import Meta, Struct, convert

from hermes.core.effects import Effects
from hermes.core.errors import BadArguments
from hermes.core.messages import JSON, Outcome
from hermes.core.store import Store, Stored
from hermes.core.tools import ToolContext, ToolOutput
from hermes.sdk import tool

_MARKS = {"pending": "[ ]", "in_progress": "[>]", "completed": "[x]", "cancelled": "[-]"}


class Step(Struct, frozen=True):
    id: str
    content: str
    status: Literal["pending", "in_progress", "completed", "cancelled"]


@tool(effects=Effects(idempotent=True), needs=(Store,), emoji="📋")
async def todo(
    ctx: ToolContext,
    todos: list[Step] | None = None,
    merge: Annotated[bool, Meta(description="Change or add these steps, keep the others")] = False,
) -> ToolOutput:
    """Keep a list of steps for work that takes several; one is in_progress at a time.

    Returns the whole list; without todos the list as it is.
    """
    ids = [step.id for step in todos or ()]
    if twice := {name for name in ids if ids.count(name) > 1}:
        raise BadArguments(f"Wrong arguments for todo: the id {min(twice)} is given more than once.")
    if todos is not None and not merge:
        return _shown(todos)
    # The log is where the list is kept: it survives a restart, and /undo takes it back as well.
    steps = await ctx.use(Store).read(lambda tx: _last(tx.messages.all(ctx.session)))
    fresh = {step.id: step for step in todos or ()}
    kept = [fresh.pop(step.id, step) for step in steps]
    return _shown([*kept, *fresh.values()])


def _last(log: Sequence[Stored]) -> list[Step]:
    """The list as the latest call that worked returned it."""
    steps: list[Step] = []
    calls: set[str] = set()
    for entry in log:
        calls.update(call.id for call in entry.message.calls if call.name == "todo")
        for result in entry.message.results:
            if result.call in calls and result.outcome is Outcome.OK:
                steps = convert(result.data.get("todos", []), list[Step])
    return steps


def _shown(steps: list[Step]) -> ToolOutput:
    rows = [f"{_MARKS[step.status]} {step.id}. {step.content}" for step in steps]
    done = sum(step.status == "completed" for step in steps)
    rows.append(f"[{done} of {len(steps)} done]" if steps else "[no steps]")
    listed: list[JSON] = [{"id": s.id, "content": s.content, "status": s.status} for s in steps]
    return ToolOutput("\n".join(rows), {"todos": listed})
