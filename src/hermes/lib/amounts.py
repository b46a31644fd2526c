"""Amounts and moments as short words for people: tokens, dollars, durations, local times."""

from datetime import datetime


def tokens(count: int) -> str:
    """940, 12.3k, 1.2M."""
    if count < 1_000:
        return str(count)
    if count < 999_500:
        return f"{count / 1_000:.3g}k"
    return f"{count / 1_000_000:.3g}M"


def dollars(amount: float) -> str:
    """$12.30, $0.0042; small amounts keep two figures."""
    if amount >= 1:
        return f"${amount:,.2f}"
    return f"${amount:.2g}" if amount >= 0.0001 else "$0" if amount == 0 else "<$0.0001"


def duration(seconds: float) -> str:
    """0.02 s, 3.4 s, 47 s, 2 min 05 s, 1 h 12 min; whole seconds stay whole."""
    if seconds < 9.95 and not isinstance(seconds, int):
        return f"{seconds:.2f} s" if seconds < 0.995 else f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3_600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3_600} h {whole % 3_600 // 60:02d} min"


def moment(at: int, now: int) -> str:
    """A time of microseconds since the epoch, local: today 14:05, yesterday 09:30, 2026-11-28 18:00."""
    when, today = _local(at), _local(now)
    days = (today.date() - when.date()).days
    if days == 0:
        return f"today {when:%H:%M}"
    return f"yesterday {when:%H:%M}" if days == 1 else f"{when:%Y-%m-%d %H:%M}"


def stamp(at: int) -> str:
    """A time of microseconds since the epoch as ISO 8601 with the local offset, to the second."""
    return _local(at).isoformat(timespec="seconds")


def _local(at: int) -> datetime:
    return datetime.fromtimestamp(at / 1_000_000).astimezone()
