"""Which session a command line means."""

import argparse

from hermes.app.compose import House
from hermes.app.lines import warn
from hermes.core.store import Session


async def session_of(house: House, args: argparse.Namespace) -> Session | None:
    """The session of --resume or --continue; None for a new one."""
    for sentence in house.broken:
        warn(f"hermes: {sentence}")
    if args.resume:
        return await house.find(args.resume)
    return await house.newest() if args.go_on else None
