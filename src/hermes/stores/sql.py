"""The one SQL text: every table's questions and changes, for SQLite and PostgreSQL alike.

Guard conditions are repeated in the outer UPDATE: without that two PostgreSQL workers claim the
same row. Texts are cleaned on the way in, because no database stores everything a Python string
can hold.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from hermes.core.errors import StaleWriter, StoreError
from hermes.core.ids import ItemId, QuestionId, SessionId, TurnId
from hermes.core.messages import Message, Usage
from hermes.core.people import Address
from hermes.core.questions import Answer, Question
from hermes.core.store import InboxItem, Lease, OutboxItem, Session, Stored
from hermes.lib.text import clean
from hermes.stores import codec
from hermes.stores.dialect import Database, Dialect, like

Now = Callable[[], int]
PAGE = 50
"""Messages read at once on the way back through a log."""


def tidy(text: str) -> str:
    """Text that both databases can hold: no lone surrogates, no NUL."""
    return clean(text).replace("\0", "\ufffd")


class SessionRows:
    """Sessions: one row per conversation."""

    _SELECT = (
        "SELECT s.id, s.root, s.parent, s.title, s.source, s.principal, s.cwd, s.model,"
        " coalesce(p.system, '[]'), s.created, s.updated,"
        " s.input, s.output, s.cached, s.written, s.reasoning, s.cost, s.calls, s.count"
        " FROM sessions s LEFT JOIN prompts p ON p.session = s.id"
    )

    def __init__(self, db: Database, now: Now, deleted: Callable[[], None]) -> None:
        self._db, self._now, self._deleted = db, now, deleted

    def create(self, session: Session) -> None:
        created = session.created or self._now()
        spent, title = session.usage, tidy(session.title)
        row = self._db.execute(
            "INSERT INTO sessions (id, root, parent, title, title_key, source, principal, cwd, model,"
            " created, updated, last, count, input, output, cached, written, reasoning, cost, calls)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, ?, ?, ?, ?, ?, ?, ?)"
            " ON CONFLICT (id) DO NOTHING RETURNING id",
            (
                *(tidy(session.id), tidy(session.root), session.parent, title, title.casefold()),
                *(tidy(session.source), tidy(session.principal), tidy(session.cwd), tidy(session.model)),
                *(created, session.updated or created),
                *(spent.input, spent.output, spent.cached, spent.written, spent.reasoning),
                *(spent.cost, spent.calls),
            ),
        ).fetchone()
        if row is None:
            raise StoreError(f"There is a session {session.id} already.")
        if session.system:
            self.prompt(session.id, session.system)

    def get(self, session: SessionId) -> Session | None:
        row = self._db.execute(f"{self._SELECT} WHERE s.id = ?", (session,)).fetchone()
        return None if row is None else _session(row)

    def find(self, text: str, principal: str | None = None) -> Sequence[Session]:
        text = tidy(text).strip()
        if not text:
            return []
        whose, who = _of(principal)
        rows = self._db.execute(
            f"{self._SELECT} WHERE (s.title_key = ? OR substr(s.id, 1, ?) = ?){whose}"
            " ORDER BY CASE WHEN s.id = ? THEN 0 WHEN s.title_key = ? THEN 1 ELSE 2 END,"
            " s.updated DESC, s.id DESC",
            (text.casefold(), len(text), text, *who, text, text.casefold()),
        ).fetchall()
        found = [_session(row) for row in rows]
        return found[:1] if found and found[0].id == text else found

    def list(
        self, limit: int = 20, offset: int = 0, principal: str | None = None, source: str = ""
    ) -> Sequence[Session]:
        whose, who = _of(principal)
        if source:
            whose, who = f"{whose} AND s.source = ?", (*who, source)
        rows = self._db.execute(
            f"{self._SELECT} WHERE 1 = 1{whose} ORDER BY s.updated DESC, s.id DESC LIMIT ? OFFSET ?",
            (*who, limit, offset),
        ).fetchall()
        return [_session(row) for row in rows]

    def rename(self, session: SessionId, title: str) -> None:
        title = tidy(title)
        self._change(session, "title = ?, title_key = ?", title, title.casefold())

    def move(self, session: SessionId, *, cwd: str = "", model: str = "") -> None:
        if cwd:
            self._change(session, "cwd = ?", tidy(cwd))
        if model:
            self._change(session, "model = ?", tidy(model))

    def prompt(self, session: SessionId, system: tuple[str, ...]) -> None:
        self._db.execute(
            "INSERT INTO prompts (session, system) VALUES (?, ?)"
            " ON CONFLICT (session) DO UPDATE SET system = excluded.system",
            (session, codec.to_text(system)),
        )

    def delete(self, session: SessionId) -> None:
        for sql in (
            "INSERT INTO forgotten (message, session, principal, body)"
            " SELECT m.id, m.session, s.principal, m.body FROM messages m"
            " JOIN sessions s ON s.id = m.session WHERE m.session = ?",
            "DELETE FROM messages WHERE session = ?",
            "DELETE FROM prompts WHERE session = ?",
            "DELETE FROM drafts WHERE session = ?",
            "DELETE FROM questions WHERE session = ?",
            "DELETE FROM outbox WHERE session = ? AND state NOT IN ('due', 'sending')",
            # The ids stay, so that nothing is taken in a second time.
            "UPDATE inbox SET content = '', turn = CASE turn WHEN '' THEN 'deleted' ELSE turn END"
            " WHERE session = ?",
            "DELETE FROM sessions WHERE id = ?",
        ):
            self._db.execute(sql, (session,))
        self._deleted()

    def _change(self, session: SessionId, what: str, *values: str) -> None:
        if self._db.execute(f"UPDATE sessions SET {what} WHERE id = ?", (*values, session)).rowcount == 0:
            raise _no_session(session)


class MessageRows:
    """Messages: the log. Rows are added; none is rewritten."""

    def __init__(self, db: Database, now: Now, dialect: Dialect) -> None:
        self._db, self._now = db, now
        self._epoch = f"SELECT epoch FROM leases WHERE name = ? AND holder <> ''{dialect.share}"

    def append(self, session: SessionId, message: Message, epoch: int = 0) -> int:
        if epoch:
            self._check(session, epoch)
        at, spent = message.at or self._now(), message.usage
        row = self._db.execute(
            "UPDATE sessions SET last = last + 1, count = count + 1, updated = ?, input = input + ?,"
            " output = output + ?, cached = cached + ?, written = written + ?, reasoning = reasoning + ?,"
            " cost = cost + ?, calls = calls + ? WHERE id = ? RETURNING last",
            (
                *(at, spent.input, spent.output, spent.cached, spent.written, spent.reasoning),
                *(spent.cost, spent.calls, session),
            ),
        ).fetchone()
        if row is None:
            raise _no_session(session)
        seq: int = row[0]
        self._db.execute(
            "INSERT INTO messages (session, seq, role, at, retracted, body) VALUES (?, ?, ?, ?, 0, ?)",
            (session, seq, message.role.value, at, codec.encode(message)),
        )
        return seq

    def all(self, session: SessionId, after: int = 0) -> Sequence[Stored]:
        rows = self._db.execute(
            "SELECT seq, role, at, body FROM messages"
            " WHERE session = ? AND seq > ? AND retracted = 0 ORDER BY seq",
            (session, after),
        ).fetchall()
        return [Stored(seq, codec.decode(role, at, body)) for seq, role, at, body in rows]

    def back(self, session: SessionId, word: str = "") -> Iterator[Stored]:
        before = 2**62
        while before:
            rows = self._db.execute(
                "SELECT seq, role, at, body FROM messages WHERE session = ? AND seq < ? AND retracted = 0"
                f" AND body LIKE ? ESCAPE '\\' ORDER BY seq DESC LIMIT {PAGE}",
                (session, before, like(word)),
            ).fetchall()
            for seq, role, at, body in rows:
                yield Stored(seq, codec.decode(role, at, body))
            before = rows[-1][0] if len(rows) == PAGE else 0

    def retract(self, session: SessionId, since: int) -> int:
        return self._mark(session, since, 1)

    def restore(self, session: SessionId, since: int) -> int:
        return self._mark(session, since, 0)

    def _mark(self, session: SessionId, since: int, retracted: Literal[0, 1]) -> int:
        marked = self._db.execute(
            "UPDATE messages SET retracted = ? WHERE session = ? AND seq >= ? AND retracted = ?",
            (retracted, session, since, 1 - retracted),
        ).rowcount
        change = -marked if retracted else marked
        self._db.execute("UPDATE sessions SET count = count + ? WHERE id = ?", (change, session))
        return marked

    def _check(self, session: SessionId, epoch: int) -> None:
        row = self._db.execute(self._epoch, (f"session:{session}",)).fetchone()
        if row is None or row[0] != epoch:
            raise StaleWriter(f"Another worker has taken over session {session}; this one must stop writing.")


class DraftRows:
    """Drafts: text that is still being streamed."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def add(self, session: SessionId, turn: TurnId, n: int, text: str) -> None:
        self._db.execute(
            "INSERT INTO drafts (session, turn, n, text) VALUES (?, ?, ?, ?)"
            " ON CONFLICT (session, turn, n) DO UPDATE SET text = excluded.text",
            (session, turn, n, tidy(text)),
        )

    def read(self, session: SessionId) -> str:
        rows = self._db.execute(
            "SELECT text FROM drafts WHERE session = ? ORDER BY turn, n", (session,)
        ).fetchall()
        return "".join(text for (text,) in rows)

    def clear(self, session: SessionId) -> None:
        self._db.execute("DELETE FROM drafts WHERE session = ?", (session,))


class InboxRows:
    """Inbox: what sessions must react to, each taken in once."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def put(self, item: InboxItem) -> bool:
        row = self._db.execute(
            "INSERT INTO inbox (id, session, source, content, address, at, turn)"
            " VALUES (?, ?, ?, ?, ?, ?, '') ON CONFLICT (id) DO NOTHING RETURNING id",
            (
                *(tidy(item.id), tidy(item.session), item.source, tidy(item.content)),
                *(_address_out(item.address), item.at),
            ),
        ).fetchone()
        return row is not None

    def waiting(self, session: SessionId) -> Sequence[InboxItem]:
        rows = self._db.execute(
            "SELECT id, session, source, content, address, at FROM inbox"
            " WHERE session = ? AND turn = '' ORDER BY n",
            (session,),
        ).fetchall()
        return [
            InboxItem(id, session, source, content, _address_in(address), at)
            for id, session, source, content, address, at in rows
        ]

    def sessions(self) -> Sequence[SessionId]:
        rows = self._db.execute(
            "SELECT session FROM inbox WHERE turn = '' GROUP BY session ORDER BY min(at), min(n)"
        ).fetchall()
        return [SessionId(session) for (session,) in rows]

    def take(self, items: Sequence[ItemId], turn: TurnId) -> None:
        for item in items:
            self._db.execute("UPDATE inbox SET turn = ? WHERE id = ? AND turn = ''", (turn, item))


class OutboxRows:
    """Outbox: visible messages on their way, each with a state that has a name."""

    _FIELDS = "id, session, address, content, at, state, attempts, receipt, error"

    def __init__(self, db: Database, dialect: Dialect) -> None:
        self._db = db
        self._claim = (
            # A common table, because PostgreSQL may run a plain subquery, its LIMIT included, twice.
            "WITH due AS MATERIALIZED (SELECT id FROM outbox WHERE state = 'due' AND at <= ?"
            f" ORDER BY at, n LIMIT ?{dialect.skip})"
            " UPDATE outbox SET state = 'sending', attempts = attempts + 1"
            f" WHERE id IN (SELECT id FROM due) AND state = 'due' RETURNING n, {self._FIELDS}"
        )

    def put(self, item: OutboxItem) -> bool:
        row = self._db.execute(
            f"INSERT INTO outbox ({self._FIELDS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
            " ON CONFLICT (id) DO NOTHING RETURNING id",
            (
                *(tidy(item.id), tidy(item.session), _address_out(item.address), tidy(item.content)),
                *(item.at, item.state, item.attempts, tidy(item.receipt), tidy(item.error)),
            ),
        ).fetchone()
        return row is not None

    def get(self, item: ItemId) -> OutboxItem | None:
        row = self._db.execute(f"SELECT {self._FIELDS} FROM outbox WHERE id = ?", (item,)).fetchone()
        return None if row is None else _outgoing(row)

    def claim(self, limit: int, now: int) -> Sequence[OutboxItem]:
        rows = self._db.execute(self._claim, (now, limit)).fetchall()
        return [_outgoing(row[1:]) for row in sorted(rows, key=lambda row: (row[5], row[0]))]

    def settle(
        self,
        item: ItemId,
        state: Literal["due", "sent", "unsure", "failed"],
        receipt: str = "",
        error: str = "",
    ) -> None:
        self._db.execute(
            "UPDATE outbox SET state = ?, receipt = ?, error = ? WHERE id = ?",
            (state, tidy(receipt), tidy(error), item),
        )


class QuestionRows:
    """Questions: what only a person can decide, settled once."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def put(self, session: SessionId, question: Question, at: int) -> None:
        fields = {
            "kind": question.kind,
            "action": question.action,
            "why": question.why,
            "choices": question.choices,
        }
        self._db.execute(
            "INSERT INTO questions (id, session, body, at, expires, answer, answered_by, answered)"
            " VALUES (?, ?, ?, ?, ?, '', '', 0) ON CONFLICT (id) DO NOTHING",
            (tidy(question.id), tidy(session), codec.to_text(fields), at, question.expires),
        )

    def open(self, session: SessionId | None = None) -> Sequence[Question]:
        of, which = ("", ()) if session is None else (" AND session = ?", (session,))
        rows = self._db.execute(
            f"SELECT id, body, expires FROM questions WHERE answered = 0{of} ORDER BY n", which
        ).fetchall()
        return [_question(*row) for row in rows]

    def answer(self, answer: Answer, at: int) -> bool:
        row = self._db.execute(
            "UPDATE questions SET answer = ?, answered_by = ?, answered = 1 WHERE id = ? AND answered = 0"
            " AND (expires = 0 OR expires > ?) RETURNING id",
            (tidy(answer.text), tidy(answer.by), answer.question, at),
        ).fetchone()
        return row is not None

    def answered(self, question: QuestionId) -> Answer | None:
        row = self._db.execute(
            "SELECT id, answer, answered_by FROM questions WHERE id = ? AND answered = 1", (question,)
        ).fetchone()
        return None if row is None else Answer(QuestionId(row[0]), row[1], row[2])


class ForgottenRows:
    """Forgotten: what was deleted, kept until the search index has followed."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self.fresh = False
        """Whether something was deleted on this connection; whoever acts on it sets it back."""

    def note(self) -> None:
        self.fresh = True

    def drop(self, upto: int) -> None:
        """The index has followed up to this number."""
        self._db.execute("DELETE FROM forgotten WHERE n <= ?", (upto,))


class LeaseRows:
    """Leases: the right to be the only one."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def acquire(self, name: str, holder: str, seconds: float, now: int) -> Lease | None:
        until = now + int(seconds * 1_000_000)
        row = self._db.execute(
            "INSERT INTO leases (name, holder, epoch, until) VALUES (?, ?, 1, ?)"
            " ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until,"
            " epoch = CASE WHEN leases.holder = excluded.holder THEN leases.epoch ELSE leases.epoch + 1 END"
            " WHERE leases.holder = excluded.holder OR leases.until <= ? RETURNING epoch",
            (tidy(name), tidy(holder), until, now),
        ).fetchone()
        return None if row is None else Lease(name, holder, row[0], until)

    def release(self, lease: Lease) -> None:
        self._db.execute(
            "UPDATE leases SET holder = '', until = 0 WHERE name = ? AND holder = ? AND epoch = ?",
            (lease.name, lease.holder, lease.epoch),
        )

    def current(self, name: str) -> Lease | None:
        row = self._db.execute(
            "SELECT name, holder, epoch, until FROM leases WHERE name = ? AND holder <> ''", (name,)
        ).fetchone()
        return None if row is None else Lease(*row)


@dataclass(frozen=True, slots=True)
class Tables:
    """All tables on one connection: the `Tx` of a running transaction."""

    sessions: SessionRows
    messages: MessageRows
    drafts: DraftRows
    inbox: InboxRows
    outbox: OutboxRows
    questions: QuestionRows
    leases: LeaseRows
    forgotten: ForgottenRows


def tables(db: Database, dialect: Dialect, now: Now) -> Tables:
    """The tables on this connection. `now` gives microseconds since the epoch."""
    forgotten = ForgottenRows(db)
    return Tables(
        SessionRows(db, now, forgotten.note),
        MessageRows(db, now, dialect),
        DraftRows(db),
        InboxRows(db),
        OutboxRows(db, dialect),
        QuestionRows(db),
        LeaseRows(db),
        forgotten,
    )


def _of(principal: str | None) -> tuple[str, tuple[str, ...]]:
    return ("", ()) if principal is None else (" AND s.principal = ?", (principal,))


def _no_session(session: SessionId) -> StoreError:
    return StoreError(f"There is no session {session}; `hermes sessions list` shows those there are.")


def _session(row: Sequence[Any]) -> Session:
    id, root, parent, title, source, principal, cwd, model, system, created, updated = row[:11]
    spent, tiers = Usage(*row[11:18]), tuple(codec.from_text(system))
    return Session(
        *(id, root, parent, title, source, principal, cwd, model, tiers, created, updated),
        usage=spent,
        count=row[18],
    )


def _outgoing(row: Sequence[Any]) -> OutboxItem:
    return OutboxItem(row[0], row[1], _address_in(row[2]), *row[3:])


def _question(id: str, body: str, expires: int) -> Question:
    fields = codec.from_text(body)
    choices = tuple(fields["choices"])
    return Question(QuestionId(id), fields["kind"], fields["action"], fields["why"], choices, expires)


def _address_out(address: Address) -> str:
    return codec.to_text([address.platform, address.account, address.chat, address.thread])


def _address_in(text: str) -> Address:
    return Address(*codec.from_text(text))
