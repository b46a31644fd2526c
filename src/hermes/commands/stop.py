"""/stop: end the running turn."""

from hermes.sdk import CommandContext, command


@command("stop")
async def stop(ctx: CommandContext, _: str) -> str:
    """Stop the running turn; what was said is kept."""
    return "" if await ctx.desk.stop() else "Nothing is running."
