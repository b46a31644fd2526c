"""/quit: leave."""

from hermes.sdk import CommandContext, command


@command("quit", aliases=("exit", "q"))
async def quit_command(ctx: CommandContext, _: str) -> str:
    """Leave; the conversation is kept."""
    await ctx.desk.stop()
    ctx.desk.leave()
    return ""
