"""/help: the commands, or one of them."""

from hermes.core.commands import find
from hermes.sdk import Command, CommandContext, command

SAYING = """
`//` at the start says a slash to the model. What you type while it works is given to it at its next step."""


@command("help", usage="[command]", aliases=("commands", "?"))
async def help_command(ctx: CommandContext, rest: str) -> str:
    """List the commands, or explain one."""
    commands = ctx.desk.commands()
    if rest:
        one = find(commands, rest.removeprefix("/").split()[0].lower())
        also = f"\n\nAlso: {', '.join(f'`/{alias}`' for alias in one.aliases)}" if one.aliases else ""
        words = f"\n\nWords: {', '.join(f'`{word}`' for word in one.choices)}" if one.choices else ""
        return f"`{_call(one)}`: {one.summary}{also}{words}"
    rows = "\n".join(f"| `{_call(one)}` | {one.summary} |" for one in commands)
    return f"| command | what it does |\n|---|---|\n{rows}\n{SAYING}"


def _call(one: Command) -> str:
    return f"/{one.name} {one.usage}".strip().replace("|", "\\|")
