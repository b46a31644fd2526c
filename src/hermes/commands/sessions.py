"""/sessions: earlier conversations."""

from hermes.lib.amounts import moment
from hermes.lib.text import one_line
from hermes.sdk import CommandContext, command

MOST = 10


@command("sessions", usage="[words]")
async def sessions(ctx: CommandContext, rest: str) -> str:
    """List the newest conversations, or those that hold these words."""
    return await _holding(ctx, rest) if rest else await _newest(ctx)


async def _newest(ctx: CommandContext) -> str:
    who = ctx.desk.principal
    rows = await ctx.desk.store.read(lambda tx: tx.sessions.list(MOST, 0, who))
    if not rows:
        return "No conversation is kept yet: this is the first."
    now = ctx.desk.now()
    lines = (
        f"| `{row.id}` | {moment(row.updated, now)} | {row.count} | {_cell(row.title or 'without a title')} |"
        for row in rows
    )
    return (
        "| session | last | messages | title |\n|---|---|--:|---|\n"
        + "\n".join(lines)
        + "\n\n`/resume ID` goes on with one."
    )


async def _holding(ctx: CommandContext, words: str) -> str:
    hits = await ctx.desk.store.search(words, limit=MOST, principal=ctx.desk.principal)
    if not hits:
        return f"No message holds {words!r}."
    lines = (
        f"| `{hit.session}` | {hit.role} | {_cell(hit.snippet.replace(chr(2), '**').replace(chr(3), '**'))} |"
        for hit in hits
    )
    return "| session | who | text |\n|---|---|---|\n" + "\n".join(lines)


def _cell(text: str) -> str:
    return one_line(text, 100).replace("|", "\\|")
