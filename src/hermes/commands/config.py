"""/config: the settings, for reading."""

from hermes.core.commands import Preferences
from hermes.sdk import CommandContext, command


@command("config", usage="[key]", role="owner", choices=("get", "show"))
async def config(ctx: CommandContext, rest: str) -> str:
    """Show the settings you changed, or one of them and where it comes from."""
    words = rest.split()
    if words and words[0] == "set":
        return "Settings are not changed from inside a conversation: `hermes config set KEY VALUE` does it."
    if words and words[0] in {"get", "show"}:
        words = words[1:]
    if not ctx.services.has(Preferences):
        return "`hermes config show` shows the settings, `hermes config set KEY VALUE` changes one."
    shown = ctx.services.use(Preferences).show(words[0] if words else "")
    return f"```\n{shown}\n```\n`hermes config set KEY VALUE` changes one."
