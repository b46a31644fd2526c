"""hermes chat, and hermes alone: talk in this terminal."""

import argparse
import asyncio
import sys
from importlib import import_module

from hermes.app.compose import composed
from hermes.app.opening import session_of
from hermes.app.ops.oneshot import answer
from hermes.config.load import Config
from hermes.shells.cli.look import look_of

SUMMARY = "talk in this terminal, or ask one question with -q"


def arguments(parser: argparse.ArgumentParser) -> None:
    same = argparse.SUPPRESS  # what stands before `chat` counts unless it is said again
    parser.add_argument("-q", "--query", metavar="TEXT", help="ask once, show the work, and leave")
    parser.add_argument("-m", "--model", dest="use_model", default=same, help="provider/model, or a name")
    parser.add_argument("-p", "--profile", default=same, help="use a profile")
    parser.add_argument("-r", "--resume", metavar="ID", default=same, help="go on with a session")
    parser.add_argument("-c", "--continue", dest="go_on", action="store_true", default=same)


def run(args: argparse.Namespace, config: Config) -> int:
    return asyncio.run(_talk(args, config))


async def _talk(args: argparse.Namespace, config: Config) -> int:
    if args.query is not None:
        return await answer(args, config, args.query, False)
    shell = import_module("hermes.shells.cli.interactive")  # rich and prompt_toolkit, only when needed
    look = look_of(config, getattr(sys.stdout, "encoding", None) or "utf-8")
    async with composed(config) as house:
        return int(await shell.interactive(house, await session_of(house, args), look=look))
