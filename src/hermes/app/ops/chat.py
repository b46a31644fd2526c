"""hermes chat, and hermes alone: talk in this terminal."""

import argparse
import asyncio
from importlib import import_module

from hermes.app.compose import composed
from hermes.app.opening import session_of
from hermes.app.ops.oneshot import answer
from hermes.config.load import Config

SUMMARY = "talk in this terminal, or ask one question with -q"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-q", "--query", metavar="TEXT", help="ask once, show the work, and leave")
    parser.add_argument("-r", "--resume", metavar="ID", default=argparse.SUPPRESS, help="go on with a session")
    parser.add_argument("-c", "--continue", dest="go_on", action="store_true", default=argparse.SUPPRESS)
    parser.add_argument("-m", "--model", default=argparse.SUPPRESS, help="provider/model, or a model's name")


def run(args: argparse.Namespace, config: Config) -> int:
    return asyncio.run(_talk(args, config))


async def _talk(args: argparse.Namespace, config: Config) -> int:
    if args.query is not None:
        return await answer(args, config, args.query, False)
    shell = import_module("hermes.shells.cli.interactive")  # rich and prompt_toolkit, only when needed
    async with composed(config) as house:
        return int(await shell.interactive(house, await session_of(house, args)))
