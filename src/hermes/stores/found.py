"""What a search reads from the log: the rows to index, and the messages behind the hits."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from hermes.core.ids import SessionId
from hermes.core.store import Hit
from hermes.stores import codec
from hermes.stores.dialect import Database, Value, like
from hermes.stores.words import LONGEST, Term, snippet, terms

RECENT = 5_000
"""Hits that are ranked, and messages that are looked through for text no word index knows."""
AT_ONCE = 500
"""Rows of the log that are indexed in one transaction."""
ALL = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Query:
    """A search: its terms, the text as typed, and what it is limited to."""

    terms: tuple[Term, ...]
    literal: str
    limit: int
    principal: str | None
    session: str


def query(text: str, limit: int, principal: str | None, session: str) -> Query:
    """The search a person means by this text."""
    return Query(tuple(terms(text)), text.strip()[:LONGEST], limit, principal, session)


class Log:
    """The search's view of the log, on a connection that only reads."""

    _FOUND = (
        "SELECT m.id, m.session, m.seq, m.role, m.body, m.at, s.title FROM messages m"
        " JOIN sessions s ON s.id = m.session WHERE m.retracted = 0"
    )

    def __init__(self, db: Database) -> None:
        self._db = db

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """What is read inside belongs to one moment."""
        self._db.execute("BEGIN")
        try:
            yield
        finally:
            self._db.execute("COMMIT")

    def assigned(self) -> int:
        """The highest number a message of a SQLite store ever had."""
        row = self._db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'messages'").fetchone()
        return 0 if row is None else int(row[0])

    def identity(self) -> str:
        """The name of this log: an index of another one is of no use."""
        return str(self._db.execute("SELECT value FROM meta WHERE name = 'store'").fetchone()[0])

    def last(self) -> tuple[int, int]:
        """The highest number of a message and of a deletion so far."""
        row = self._db.execute(
            "SELECT (SELECT coalesce(max(id), 0) FROM messages), (SELECT coalesce(max(n), 0) FROM forgotten)"
        ).fetchone()
        return int(row[0]), int(row[1])

    def fresh(self, after: int, upto: int = ALL) -> list[tuple[int, str, str, str]]:
        """Some messages behind `after` and up to `upto`: number, session, principal, text."""
        rows = self._db.execute(
            "SELECT m.id, m.session, s.principal, m.body FROM messages m JOIN sessions s ON s.id = m.session"
            f" WHERE m.id > ? AND m.id <= ? ORDER BY m.id LIMIT {AT_ONCE}",
            (after, upto),
        ).fetchall()
        return [(id, session, whose, codec.searchable(body)) for id, session, whose, body in rows]

    def forgotten(self, after: int) -> list[tuple[int, int, str, str, str]]:
        """Some deletions behind this number: number, message, session, principal, text."""
        rows = self._db.execute(
            "SELECT n, message, session, principal, body FROM forgotten"
            f" WHERE n > ? ORDER BY n LIMIT {AT_ONCE}",
            (after,),
        ).fetchall()
        return [(n, id, session, whose, codec.searchable(body)) for n, id, session, whose, body in rows]

    def hits(self, numbers: Iterable[int], asked: Query) -> list[Hit]:
        """The messages of these numbers in this order, as many as are wanted, those not gone since."""
        hits: list[Hit] = []
        where, limits = _within(asked)
        for chunk in _chunks(numbers, max(20, asked.limit)):
            marks = ", ".join("?" * len(chunk))
            rows = self._db.execute(f"{self._FOUND} AND m.id IN ({marks}){where}", (*chunk, *limits))
            found = {row[0]: row for row in rows.fetchall()}
            hits += [_hit(found[number], asked) for number in chunk if number in found]
            if len(hits) >= asked.limit:
                break
        return hits[: asked.limit]

    def scan(self, asked: Query, newest: int) -> list[Hit]:
        """Look through the newest messages for the text as typed, newest first."""
        if not asked.literal:
            return []
        pattern = like(codec.to_text(asked.literal.lower())[1:-1])
        where, limits = _within(asked)
        rows = self._db.execute(
            f"{self._FOUND} AND m.id > (SELECT max(id) FROM messages) - ?{where}"
            " AND lower(m.body) LIKE ? ESCAPE '\\' ORDER BY m.id DESC LIMIT ?",
            (newest, *limits, pattern, asked.limit * 4),
        ).fetchall()
        wanted = asked.literal.lower()
        kept = [row for row in rows if wanted in codec.searchable(row[4]).lower()]
        return [_hit(row, asked) for row in kept[: asked.limit]]


def _within(asked: Query) -> tuple[str, tuple[Value, ...]]:
    whose = asked.principal is not None
    where = (" AND s.principal = ?" if whose else "") + (" AND s.id = ?" if asked.session else "")
    given = (asked.principal if whose else None, asked.session or None)
    return where, tuple(value for value in given if value is not None)


def _chunks(numbers: Iterable[int], size: int) -> Iterator[list[int]]:
    chunk: list[int] = []
    for number in numbers:
        chunk.append(number)
        if len(chunk) == size:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


def _hit(row: Sequence[Any], asked: Query) -> Hit:
    _, session, seq, role, body, at, title = row
    text = snippet(codec.searchable(body), asked.terms, asked.literal)
    return Hit(SessionId(session), seq, role, text, at, title)
