"""@command: a function becomes a slash command."""

from collections.abc import Awaitable, Callable

from hermes.core.commands import Command, CommandContext

Body = Callable[[CommandContext, str], Awaitable[str]]


def command(
    name: str,
    *,
    usage: str = "",
    aliases: tuple[str, ...] = (),
    role: str = "guest",
    choices: tuple[str, ...] = (),
    idle: bool = False,
) -> Callable[[Body], Command]:
    """Make a Command of an async function; the first line of its docstring is the summary."""

    def build(function: Body) -> Command:
        summary = (function.__doc__ or "").strip().splitlines()[0]
        return Command(name, summary, function, usage, aliases, role, choices, idle)

    return build
