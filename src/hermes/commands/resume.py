"""/resume: go on with an earlier conversation."""

from hermes.core.errors import UsageError
from hermes.sdk import CommandContext, command


@command("resume", usage="ID or title", aliases=("continue",), idle=True)
async def resume(ctx: CommandContext, rest: str) -> str:
    """Go on with an earlier conversation, by id, beginning of an id, or title."""
    if not rest:
        raise UsageError("Say which one: /resume ID, or a title. /sessions lists them.")
    found = await ctx.desk.find(rest)
    if found.id == ctx.desk.session:
        return "This is that conversation."
    await ctx.desk.open(found.id)
    return ""
