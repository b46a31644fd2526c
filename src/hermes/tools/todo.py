"""todo: the plan of a piece of work, as a list of steps."""

from collections.abc import Iterable, Sequence
from typing import Annotated, Literal, cast

from msgspec import Meta, Struct, convert

from hermes.core.effects import Effects
from hermes.core.errors import BadArguments
from hermes.core.messages import JSON, Outcome, ToolResult
from hermes.core.plans import Plans
from hermes.core.store import Store, Stored, Tx
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
    before = [] if todos is not None and not merge else await _before(ctx)
    fresh = {step.id: step for step in todos or ()}
    kept = [fresh.pop(step.id, step) for step in before]
    out = _shown([*kept, *fresh.values()])
    if ctx.services.has(Plans):
        ctx.use(Plans).keep(ctx.session, cast("list[JSON]", out.data["todos"]))
    return out


async def _before(ctx: ToolContext) -> list[Step]:
    """The list so far: as the log has it, which survives a restart and is taken back by /undo."""

    def look(tx: Tx) -> Sequence[JSON] | None:
        return None if tx.sessions.get(ctx.session) is None else _last(tx.messages.back(ctx.session, "todo"))

    found = await ctx.use(Store).read(look)
    if found is None:  # a session that is kept nowhere
        found = ctx.use(Plans).read(ctx.session) if ctx.services.has(Plans) else ()
    return convert(found, list[Step])


def _last(newest_first: Iterable[Stored]) -> Sequence[JSON]:
    """The list as the latest call that worked returned it."""
    results: dict[str, ToolResult] = {}
    for entry in newest_first:
        results.update((result.call, result) for result in entry.message.results)
        for call in reversed(entry.message.calls):
            result = results.get(call.id)
            if call.name == "todo" and result is not None and result.outcome is Outcome.OK:
                return cast("Sequence[JSON]", result.data.get("todos", ()))
    return ()


def _shown(steps: list[Step]) -> ToolOutput:
    rows = [f"{_MARKS[step.status]} {step.id}. {step.content}" for step in steps]
    done = sum(step.status == "completed" for step in steps)
    rows.append(f"[{done} of {len(steps)} done]" if steps else "[no steps]")
    listed: list[JSON] = [{"id": s.id, "content": s.content, "status": s.status} for s in steps]
    return ToolOutput("\n".join(rows), {"todos": listed})
