"""The stored session that a word on a command line names."""

from collections.abc import Iterable, Iterator

from hermes.core.errors import UsageError
from hermes.core.store import Session, Store
from hermes.lib.amounts import moment
from hermes.lib.text import harmless, one_line

LISTED = 10


async def find_session(store: Store, text: str, now: int, principal: str | None = None) -> Session:
    """By id, beginning of an id, or title; only among those of `principal`, if it is given.

    `now` is in microseconds. Raise UsageError for none, and for several with a list of them.
    """
    found = await store.read(lambda tx: tx.sessions.find(text, principal))
    if not found:
        raise UsageError(f"there is no session {text!r}: `hermes sessions list` shows them")
    if len(found) > 1:
        listing = "\n  ".join(rows(found[:LISTED], now))
        raise UsageError(f"{text!r} fits {len(found)} sessions; name one by its id:\n  {listing}")
    return found[0]


def rows(sessions: Iterable[Session], now: int, room: int = 60) -> Iterator[str]:
    """A line for each session: id, last activity, messages, and the title in `room` columns."""
    for one in sessions:
        count = f"{one.count} message{'' if one.count == 1 else 's'}"
        yield f"{one.id}  {moment(one.updated, now):<16}  {count:>12}  {title_of(one, room)}"


def title_of(session: Session, room: int = 60) -> str:
    """Its title on one line, however long and whatever is in it."""
    return one_line(harmless(session.title), room) or "(no title)"
