"""/title: what the conversation is called."""

from hermes.lib.text import one_line
from hermes.sdk import CommandContext, command


@command("title", usage="[new title]", aliases=("rename",))
async def title(ctx: CommandContext, rest: str) -> str:
    """Show the title of this conversation, or give it one."""
    desk, name = ctx.desk, one_line(rest, 120)
    key = desk.session
    row = await desk.store.read(lambda tx: tx.sessions.get(key))
    if not name:
        return (
            f"The title is: {row.title}"
            if row and row.title
            else "It has no title yet: `/title WORDS` gives it one."
        )
    if row is not None:
        await desk.store.write(lambda tx: tx.sessions.rename(key, name))
    elif desk.busy:
        return "The conversation is just being stored: try again in a moment."
    else:  # nothing was said yet: begin it again, with its title
        await desk.open(None, name)
    return f"The title is now: {name}"
