"""Fresh ids: sortable by time for what people see, random for the rest."""

import secrets
from datetime import UTC, datetime


def session_id(now: int) -> str:
    """Like 20261130-195128-1a2b3c, from microseconds since the epoch (UTC)."""
    moment = datetime.fromtimestamp(now / 1_000_000, UTC)
    return f"{moment:%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"


def fresh(prefix: str) -> str:
    """A prefix and 80 random bits."""
    return f"{prefix}_{secrets.token_hex(10)}"
