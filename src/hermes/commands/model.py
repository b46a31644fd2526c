"""/model: which model answers; another one."""

from hermes.lib.amounts import tokens
from hermes.sdk import CommandContext, command


@command("model", usage="[provider/model]", role="owner", idle=True)
async def model(ctx: CommandContext, rest: str) -> str:
    """Show which model answers, or let another one answer from now on."""
    if rest:
        return await ctx.desk.switch(rest)
    info = ctx.desk.model()
    window = f"{tokens(info.context)} tokens" if info.context else "of unknown size"
    return (
        f"{ctx.desk.answering()}\n\nIts window is {window}. `/model NAME` switches this conversation;"
        " `hermes model` lists what there is and sets the one new conversations begin with."
    )
