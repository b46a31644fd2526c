"""The search index of a PostgreSQL store: a disposable table of word vectors, fed from the log.

The words are found by us, not by the server's parser, so that both databases find the same things.
"""

import logging
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from time import sleep
from typing import Any, Protocol

import psycopg
from psycopg.errors import LockNotAvailable

from hermes.core.store import Hit
from hermes.stores.dialect import Rows
from hermes.stores.found import AT_ONCE, RECENT, Log, Query, query
from hermes.stores.words import Term, words

log = logging.getLogger(__name__)
FAR_BACK = 50_000
"""Messages looked through when there is no index."""
INDEXING = 0x4865726E
"""The advisory lock under which the index is made."""
POLITE = "200ms"
"""How long to wait for transactions under way; other writers stand behind us meanwhile."""
TRIES = 50
"""How often that is tried when the index is built anew, half a second apart."""
LONG = 200
"""Characters of a word that count."""
MOST = 200_000
"""Characters of a message that are indexed: a word vector may not exceed 1 MB."""
_SCHEMA = (
    "CREATE TABLE search_words (message BIGINT PRIMARY KEY, principal TEXT NOT NULL,"
    " session TEXT NOT NULL, words TSVECTOR NOT NULL)",
    "CREATE INDEX search_words_words ON search_words USING gin (words)",
    "CREATE TABLE search_place (message BIGINT NOT NULL)",
    "INSERT INTO search_place VALUES (0)",
)


class Database(Protocol):
    """The connection the index lives on."""

    raw: psycopg.Connection[Any]

    def execute(self, sql: str, values: Any = (), /) -> Rows: ...
    def close(self) -> None: ...


class Index:
    """Finds messages by their words; lives on one thread."""

    def __init__(self, db: Database) -> None:
        self._db, self._log = db, Log(db)

    def search(self, text: str, limit: int, principal: str | None, session: str) -> list[Hit]:
        """Ranked among the newest hits, then by recency; text no index knows is looked for in the log."""
        asked = query(text, limit, principal, session)
        hits: list[Hit] = []
        if asked.terms:
            try:
                self.feed()
                hits = self._log.hits(self._ranked(asked), asked)
            except psycopg.Error as error:
                if self._db.raw.closed:
                    raise
                log.warning("Searching without an index: %s", error)
                return self._log.scan(asked, FAR_BACK)
        return hits or self._log.scan(asked, RECENT)

    def feed(self) -> None:
        """Take in what was written since the last time, unless a long transaction is under way."""
        try:
            self._feed()
        except LockNotAvailable:
            log.info("The search index is fed later: a long transaction is under way.")

    def forget(self) -> None:
        """Follow the deletions."""
        self.feed()

    def rebuild(self) -> int:
        """Build the index anew; return the number of messages in it."""
        with self._transaction():
            self._db.execute("DROP TABLE IF EXISTS search_words, search_place")
        for _ in range(TRIES - 1):
            try:
                return self._feed()
            except LockNotAvailable:
                sleep(0.5)
        return self._feed()

    def close(self) -> None:
        self._db.close()

    def _ranked(self, asked: Query) -> Iterator[int]:
        match = " & ".join(_vector_query(term) for term in asked.terms)
        where, limits = "", []
        if asked.principal is not None:
            where, limits = " AND principal = ?", [asked.principal]
        if asked.session:
            where, limits = f"{where} AND session = ?", [*limits, asked.session]
        rows = self._db.execute(
            "SELECT message FROM (SELECT message, ts_rank(words, ?::tsquery) AS score FROM search_words"
            f" WHERE words @@ ?::tsquery{where} ORDER BY message DESC LIMIT ?) AS newest"
            " ORDER BY score DESC, message DESC",
            (match, match, *limits, max(RECENT, asked.limit)),
        ).fetchall()
        return (number for (number,) in rows)

    def _feed(self) -> int:
        """Follow deletions and take in everything new; return the number of messages taken in."""
        self._make()
        upto, total, more = self._settled(), 0, True
        while more:
            with self._transaction():
                taken = self._portion(upto)
            total, more = total + taken, taken == AT_ONCE
        return total

    def _make(self) -> None:
        if self._made():
            return
        self._db.execute("SELECT pg_advisory_lock(?)", (INDEXING,))
        try:
            with self._transaction():
                for statement in () if self._made() else _SCHEMA:
                    self._db.execute(statement)
        finally:
            self._db.execute("SELECT pg_advisory_unlock(?)", (INDEXING,))

    def _made(self) -> bool:
        return self._db.execute("SELECT to_regclass('search_place')").fetchone()[0] is not None

    def _settled(self) -> int:
        """The highest message number below which nothing is still being written.

        Numbers are given before the commit, so a lower one may become visible after a higher one.
        The lock waits for the transactions under way, which are short, and lasts for one statement.
        Raises LockNotAvailable when one of them is not.
        """
        with self._transaction():
            self._db.execute(f"SET LOCAL lock_timeout = '{POLITE}'")
            self._db.execute("LOCK TABLE messages IN SHARE MODE")
            return self._log.last()[0]

    def _portion(self, upto: int) -> int:
        after = self._db.execute("SELECT message FROM search_place FOR UPDATE").fetchone()[0]
        fresh = self._log.fresh(after, upto)
        for number, session, principal, text in fresh:
            self._db.execute(
                "INSERT INTO search_words VALUES (?, ?, ?, ?::tsvector) ON CONFLICT (message) DO NOTHING",
                (number, principal, session, _vector(text)),
            )
        if fresh:
            self._db.execute("UPDATE search_place SET message = ?", (fresh[-1][0],))
        self._db.execute(
            "WITH gone AS (DELETE FROM forgotten RETURNING message)"
            " DELETE FROM search_words WHERE message IN (SELECT message FROM gone)"
        )
        return len(fresh)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._db.raw.transaction():
            yield


def _vector(text: str) -> str:
    places: defaultdict[str, list[int]] = defaultdict(list)
    for place, word in enumerate(words(text[:MOST]), 1):
        places[word[:LONG]].append(min(place, 16_383))
    return " ".join(f"'{word}':{','.join(map(str, at[:255]))}" for word, at in places.items())


def _vector_query(term: Term) -> str:
    *first, last = (f"'{word[:LONG]}'" for word in term.words)
    return " <-> ".join([*first, f"{last}:*" if term.prefix else last])
