"""hermes -z: one answer on stdout and nothing else."""

import argparse
import asyncio

from hermes.app.compose import composed
from hermes.app.opening import session_of
from hermes.config.load import Config
from hermes.shells.cli.oneshot import oneshot
from hermes.shells.cli.plain import Streams

SUMMARY = "answer one question and leave"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("question", nargs="?", default="", help="the question; - reads standard input")


def run(args: argparse.Namespace, config: Config) -> int:
    return asyncio.run(answer(args, config, args.question if args.oneshot is None else args.oneshot, True))


async def answer(args: argparse.Namespace, config: Config, question: str, quiet: bool) -> int:
    """Answer in a new session, or in the one named on the command line."""
    streams = Streams.standard(dumb=config.env.get("TERM") == "dumb")
    async with composed(config) as house:
        return await oneshot(house, question, streams, session=await session_of(house, args), quiet=quiet)
