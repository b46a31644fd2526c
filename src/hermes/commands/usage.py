"""/usage: what the conversation has cost."""

from hermes.core.messages import Usage
from hermes.lib.amounts import dollars, tokens
from hermes.sdk import CommandContext, command


@command("usage", aliases=("cost", "status"))
async def usage(ctx: CommandContext, _: str) -> str:
    """Show tokens, calls and cost of this conversation."""
    desk = ctx.desk
    key = desk.session
    row = await desk.store.read(lambda tx: tx.sessions.get(key))
    rows = [("whole conversation", row.usage)] if row else []
    rows.append(("since it was opened here", desk.spent()))
    table = "\n".join(f"| {name} | {_figures(used)} |" for name, used in rows)
    info = desk.model()
    window = f"{tokens(desk.filled())} of {tokens(info.context)}" if info.context else tokens(desk.filled())
    return (
        "| | calls | tokens in | of them cached | tokens out | cost |\n|---|--:|--:|--:|--:|--:|\n"
        f"{table}\n\n"
        f"Window: {window} tokens. Session: `{key}`."
    )


def _figures(used: Usage) -> str:
    cost = dollars(used.cost) if used.cost or not used.calls else "not known"
    figures = (str(used.calls), tokens(used.input), tokens(used.cached), tokens(used.output), cost)
    return " | ".join(figures)
