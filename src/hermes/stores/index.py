"""The search index of a SQLite store: a disposable FTS5 database beside it, fed from the log.

Nothing depends on it: whatever is wrong with the file, it is thrown away and built anew, and when
that fails too, the log itself is looked through.
"""

import logging
import os
import sqlite3
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import TypeVar

from hermes.core.store import Hit
from hermes.stores.dialect import Database
from hermes.stores.found import AT_ONCE, RECENT, Log, Query, query
from hermes.stores.sqlite_file import into_wal_mode
from hermes.stores.words import Term, spread

T = TypeVar("T")
log = logging.getLogger(__name__)
FORMAT = 1
FAR_BACK = 50_000
"""Messages looked through when there is no index."""
_BROKEN = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR})
_SCHEMA = (
    "CREATE VIRTUAL TABLE words USING fts5(text, tags, content='',"
    " tokenize=\"unicode61 remove_diacritics 0 categories 'L* N*'\")",
    "CREATE TABLE about (log TEXT NOT NULL, message INTEGER NOT NULL, forgotten INTEGER NOT NULL)",
)


class Index:
    """Finds messages by their words; lives on one thread.

    `log` is a connection to the log to feed from; `applied` is called with the number of the last
    deletion the index has followed.
    """

    def __init__(self, path: Path, log: Database, applied: Callable[[int], None]) -> None:
        self._path, self._log, self._applied = path, Log(log), applied
        self._db: sqlite3.Connection | None = None

    def search(self, text: str, limit: int, principal: str | None, session: str) -> list[Hit]:
        """Ranked among the newest hits, then by recency; text no index knows is looked for in the log."""
        asked = query(text, limit, principal, session)
        hits: list[Hit] = []
        if asked.terms:
            try:
                hits = self._mended(lambda: self._found(asked))
            except (sqlite3.Error, OSError) as error:
                log.warning("Searching without an index, %s is unusable: %s", self._path, error)
                return self._log.scan(asked, FAR_BACK)
        return hits or self._log.scan(asked, RECENT)

    def feed(self) -> None:
        """Take in what was written since the last time."""
        try:
            self._mended(self._feed)
        except (sqlite3.Error, OSError) as error:
            log.warning("The search index %s is not up to date: %s", self._path, error)

    def forget(self) -> None:
        """Follow the deletions only; without an index there is nothing to forget."""
        try:
            if self._path.exists():
                self._mended(lambda: self._feed(fresh=False))
            else:
                self._applied(self._log.last()[1])
        except (sqlite3.Error, OSError) as error:
            log.warning("The search index %s still knows deleted messages: %s", self._path, error)

    def rebuild(self) -> int:
        """Build the index anew; return the number of messages in it. Raises sqlite3.Error or OSError."""
        self._discard()
        return self._feed()

    def close(self) -> None:
        db, self._db = self._db, None
        if db is not None:
            db.close()

    def _mended(self, work: Callable[[], T]) -> T:
        """Run on the index; if that is broken, on a new one."""
        try:
            return work()
        except sqlite3.Error as error:
            if (getattr(error, "sqlite_errorcode", 0) or 0) & 0xFF not in _BROKEN:
                raise
            log.warning("Building the search index %s anew: %s", self._path, error)
            self._discard()
            return work()

    def _found(self, asked: Query) -> list[Hit]:
        self._feed()
        return self._log.hits(self._ranked(asked), asked)

    def _ranked(self, asked: Query) -> Iterator[int]:
        rows = self._opened().execute(
            "SELECT rowid FROM (SELECT rowid, bm25(words, 1.0, 0.0) AS score FROM words"
            " WHERE words MATCH ? ORDER BY rowid DESC LIMIT ?) ORDER BY score, rowid DESC",
            (_match(asked), max(RECENT, asked.limit)),
        )
        return (number for (number,) in rows)

    def _feed(self, fresh: bool = True) -> int:
        """Follow deletions and take in what is `fresh`; return the number of messages taken in."""
        total, more = 0, True
        while more:
            taken, more = self._take_in(fresh)
            total += taken
        return total

    def _take_in(self, fresh: bool) -> tuple[int, bool]:
        """Take in one portion: the number of new messages, and whether there may be more."""
        db = self._opened()
        place = _place(db)
        if place.log != self._identity() or place.message > self._log.assigned():
            self._discard()
            return 0, True
        last, deleted = self._log.last()
        if (place.message >= last or not fresh) and place.forgotten >= deleted:
            return 0, False
        db.execute("BEGIN IMMEDIATE")
        try:
            with self._log.snapshot():  # not older than what another process has taken in
                taken, more = self._portion(db, fresh)
            db.execute("COMMIT")
        except BaseException:
            db.rollback()
            raise
        return taken, more

    def _portion(self, db: sqlite3.Connection, with_fresh: bool) -> tuple[int, bool]:
        place = _place(db)
        gone = self._log.forgotten(place.forgotten)
        fresh = self._log.fresh(place.message) if with_fresh else []
        # Words can only be taken back from where they were put in.
        known = [(id, text, whose, of) for _, id, of, whose, text in gone if id <= place.message]
        db.executemany(
            "INSERT INTO words (words, rowid, text, tags) VALUES ('delete', ?, ?, ?)",
            [(id, spread(text), _tags(whose, of)) for id, text, whose, of in known],
        )
        db.executemany(
            "INSERT INTO words (rowid, text, tags) VALUES (?, ?, ?)",
            [(id, spread(text), _tags(whose, of)) for id, of, whose, text in fresh],
        )
        message = fresh[-1][0] if fresh else place.message
        forgotten = gone[-1][0] if gone else place.forgotten
        db.execute("UPDATE about SET message = ?, forgotten = ?", (message, forgotten))
        if gone:
            self._applied(forgotten)
        return len(fresh), AT_ONCE in (len(fresh), len(gone))

    def _identity(self) -> str:
        """Names the log and the way its words are folded."""
        return f"{self._log.identity()}/{unicodedata.unidata_version}"

    def _opened(self) -> sqlite3.Connection:
        if self._db is None:
            os.close(os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600))
            db = sqlite3.connect(self._path, timeout=5, isolation_level=None, check_same_thread=False)
            try:
                self._prepare(db)
            except BaseException:
                db.close()
                raise
            self._db = db
        return self._db

    def _prepare(self, db: sqlite3.Connection) -> None:
        db.execute("PRAGMA synchronous = NORMAL")  # what is lost is taken in again
        if db.execute("PRAGMA user_version").fetchone()[0] == FORMAT:
            return
        into_wal_mode(db)
        db.execute("BEGIN IMMEDIATE")
        if db.execute("PRAGMA user_version").fetchone()[0] != FORMAT:
            for statement in _SCHEMA:
                db.execute(statement)
            db.execute("INSERT INTO about VALUES (?, 0, 0)", (self._identity(),))
            db.execute(f"PRAGMA user_version = {FORMAT}")
        db.execute("COMMIT")

    def _discard(self) -> None:
        self.close()
        for end in ("", "-wal", "-shm"):
            self._path.with_name(self._path.name + end).unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class _Place:
    """How far an index has followed which log."""

    log: str
    message: int
    forgotten: int


def _place(db: sqlite3.Connection) -> _Place:
    return _Place(*db.execute("SELECT log, message, forgotten FROM about").fetchone())


def _match(asked: Query) -> str:
    """The query in FTS5's language; everything a person typed is quoted."""
    parts = [_quoted(term) for term in asked.terms]
    match = f"text : ({' AND '.join(parts)})"
    if asked.principal is not None:
        match += f' AND tags : "{_tag("p", asked.principal)}"'
    if asked.session:
        match += f' AND tags : "{_tag("s", asked.session)}"'
    return match


def _quoted(term: Term) -> str:
    return f'"{" ".join(term.words)}"{" *" if term.prefix else ""}'


def _tags(principal: str, session: str) -> str:
    return f"{_tag('p', principal)} {_tag('s', session)}"


def _tag(kind: str, value: str) -> str:
    """One word that stands for a principal or a session."""
    return kind + blake2b(value.encode(), digest_size=8).hexdigest()
