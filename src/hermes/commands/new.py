"""/new: begin another conversation."""

from hermes.sdk import CommandContext, command


@command("new", usage="[title]", aliases=("reset", "clear"), idle=True)
async def new(ctx: CommandContext, rest: str) -> str:
    """Begin a new conversation; this one is kept."""
    before = ctx.desk.session
    kept = await ctx.desk.store.read(lambda tx: tx.sessions.get(before))
    await ctx.desk.open(None, rest)
    if kept is None or not kept.count:
        return "A new conversation."
    return f"A new conversation. The one before is kept: `/resume {before}`"
