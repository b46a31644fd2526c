"""Which session a command line means."""

import argparse

from hermes.app.compose import House
from hermes.core.store import Session


async def session_of(house: House, args: argparse.Namespace) -> Session | None:
    """The session of --resume or --continue; None for a new one."""
    if args.resume:
        return await house.find(args.resume)
    return await house.newest() if args.go_on else None
