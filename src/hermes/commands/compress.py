"""/compress: how full the model's window is."""

from hermes.lib.amounts import tokens
from hermes.sdk import CommandContext, command


@command("compress", aliases=("compact",))
async def compress(ctx: CommandContext, _: str) -> str:
    """Show how full the model's window is, and what to do when it fills."""
    info, filled = ctx.desk.model(), ctx.desk.filled()
    if not info.context:
        level = f"The conversation takes {tokens(filled)} tokens; how much {info.name} can hold is not known."
    else:
        share = filled / info.context
        level = f"The conversation takes {tokens(filled)} of {tokens(info.context)} tokens ({share:.0%})."
    return (
        f"{level}\n\nNothing was shortened: this version sends the whole conversation every time."
        " When it no longer fits, `/new` begins afresh (this one stays readable and can be searched),"
        " `/undo` takes back the last exchange, and `/model NAME` may choose a model with a larger window."
    )
