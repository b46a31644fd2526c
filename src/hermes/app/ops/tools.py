"""hermes tools: what the model can do here."""

import argparse
import json

import hermes.tools
from hermes.app.lines import say
from hermes.config.load import Config
from hermes.core.effects import Effects
from hermes.core.errors import UsageError
from hermes.core.tools import Tool
from hermes.lib.text import one_line
from hermes.plugins.discover import values

SUMMARY = "List the tools, or show one as the model sees it."


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", default="", help="show this one with its parameters")


def run(args: argparse.Namespace, config: Config) -> int:
    del config
    tools = {tool.spec.name: tool for tool in values(hermes.tools, Tool)}
    if not args.name:
        width = max(map(len, tools))
        for name, tool in sorted(tools.items()):
            say(f"{name:<{width}}  {one_line(tool.spec.description, 90)}")
        return 0
    if args.name not in tools:
        raise UsageError(f"there is no tool {args.name!r}: `hermes tools` lists them")
    _show(tools[args.name])
    return 0


def _show(tool: Tool) -> None:
    say(f"{tool.spec.name}: {_doing(tool.effects)}\n\n{tool.spec.description}\n")
    say(json.dumps(tool.spec.parameters, indent=2, ensure_ascii=False))


def _doing(effects: Effects) -> str:
    """What a tool declares to do, in words."""
    said = [
        *(f"reads `{name}`" for name in effects.reads),
        *(f"writes `{name}`" for name in effects.writes),
        *([f"runs `{effects.executes}`"] if effects.executes else []),
        *(["reaches the network"] if effects.network else []),
        *(["is seen by others"] if effects.outward else []),
    ]
    return ", ".join(said) or "touches nothing outside the conversation"
