"""Store: everything that crosses time is a row, written in one transaction, acknowledged when synced."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeVar

from hermes.core.ids import ItemId, QuestionId, SessionId, TurnId
from hermes.core.messages import NOTHING_SPENT, Message, Usage
from hermes.core.people import Address
from hermes.core.questions import Answer, Question

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Session:
    """A conversation's row. Times are microseconds since the epoch.

    `parent` is the session it came from, `root` the first of its line (itself when it has no
    parent). `system` are the stable tiers of its prompt, kept so that they stay the same bytes.
    `source` is the shell or platform it began on, `principal` whose it is. `count` is the number
    of messages.
    """

    id: SessionId
    root: SessionId
    parent: SessionId | None = None
    title: str = ""
    source: str = "terminal"
    principal: str = "local"
    cwd: str = ""
    model: str = ""
    system: tuple[str, ...] = ()
    created: int = 0
    updated: int = 0
    usage: Usage = NOTHING_SPENT
    count: int = 0


@dataclass(frozen=True, slots=True)
class Stored:
    """A message with its place in the session's log, counted from 1."""

    seq: int
    message: Message


@dataclass(frozen=True, slots=True)
class InboxItem:
    """Something a session must react to. `id` is the key under which it is only taken in once."""

    id: ItemId
    session: SessionId
    source: Literal["chat", "cron", "child", "board", "process", "hook"]
    content: str
    address: Address
    at: int


@dataclass(frozen=True, slots=True)
class OutboxItem:
    """One visible message on its way. `id` is the idempotency key."""

    id: ItemId
    session: SessionId
    address: Address
    content: str
    at: int
    state: Literal["due", "sending", "sent", "unsure", "failed"] = "due"
    attempts: int = 0
    receipt: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to be the only one. Each new holder gets a higher epoch."""

    name: str
    holder: str
    epoch: int
    until: int


@dataclass(frozen=True, slots=True)
class Hit:
    """A found message. `snippet` has the found words between \\x02 and \\x03."""

    session: SessionId
    seq: int
    role: str
    snippet: str
    at: int
    title: str = ""


class Sessions(Protocol):
    def create(self, session: Session) -> None: ...
    def get(self, session: SessionId) -> Session | None: ...
    def find(self, text: str, principal: str | None = None) -> Sequence[Session]:
        """By whole id, by the beginning of an id, or by title (letter case ignored)."""
        ...

    def list(
        self, limit: int = 20, offset: int = 0, principal: str | None = None, source: str = ""
    ) -> Sequence[Session]:
        """Newest activity first. `principal` None means everybody's."""
        ...

    def rename(self, session: SessionId, title: str) -> None: ...
    def move(self, session: SessionId, *, cwd: str = "", model: str = "") -> None: ...
    def prompt(self, session: SessionId, system: tuple[str, ...]) -> None: ...
    def delete(self, session: SessionId) -> None:
        """Remove the session, its messages and its drafts."""
        ...


class Messages(Protocol):
    def append(self, session: SessionId, message: Message, epoch: int = 0) -> int:
        """Append, add up usage, return the place. Raise StaleWriter if `epoch` is not current."""
        ...

    def all(self, session: SessionId, after: int = 0) -> Sequence[Stored]:
        """Messages in order, those taken back left out."""
        ...

    def back(self, session: SessionId, word: str = "") -> Iterator[Stored]:
        """Messages from the newest back, read as they are asked for; those taken back left out.

        With `word` only those that hold it anywhere, names and arguments of calls included. To be
        used up within the transaction.
        """
        ...

    def retract(self, session: SessionId, since: int) -> int:
        """Take back every message from this place on. The rows stay; the log no longer shows them."""
        ...

    def restore(self, session: SessionId, since: int) -> int:
        """Undo `retract`."""
        ...


class Drafts(Protocol):
    """Text of an answer that is still being streamed, for when the process dies."""

    def add(self, session: SessionId, turn: TurnId, n: int, text: str) -> None: ...
    def read(self, session: SessionId) -> str: ...
    def clear(self, session: SessionId) -> None: ...


class Inbox(Protocol):
    def put(self, item: InboxItem) -> bool:
        """False when this id was taken in before."""
        ...

    def waiting(self, session: SessionId) -> Sequence[InboxItem]: ...
    def sessions(self) -> Sequence[SessionId]:
        """Sessions with something waiting, longest wait first."""
        ...

    def take(self, items: Sequence[ItemId], turn: TurnId) -> None:
        """Mark as taken by a turn."""
        ...


class Outbox(Protocol):
    def put(self, item: OutboxItem) -> bool: ...
    def get(self, item: ItemId) -> OutboxItem | None: ...
    def claim(self, limit: int, now: int) -> Sequence[OutboxItem]:
        """Take due rows for sending; two senders never get the same row."""
        ...

    def settle(
        self,
        item: ItemId,
        state: Literal["due", "sent", "unsure", "failed"],
        receipt: str = "",
        error: str = "",
    ) -> None: ...


class Questions(Protocol):
    def put(self, session: SessionId, question: Question, at: int) -> None: ...
    def open(self, session: SessionId | None = None) -> Sequence[Question]: ...
    def answer(self, answer: Answer, at: int) -> bool:
        """Settle once: False when it was settled before or does not exist."""
        ...

    def answered(self, question: QuestionId) -> Answer | None: ...


class Leases(Protocol):
    def acquire(self, name: str, holder: str, seconds: float, now: int) -> Lease | None:
        """None while somebody else holds it. Its own holder renews it and keeps the epoch."""
        ...

    def release(self, lease: Lease) -> None: ...
    def current(self, name: str) -> Lease | None: ...


class Tx(Protocol):
    """One transaction. Its methods do not await: a transaction never waits for the network."""

    @property
    def sessions(self) -> Sessions: ...
    @property
    def messages(self) -> Messages: ...
    @property
    def drafts(self) -> Drafts: ...
    @property
    def inbox(self) -> Inbox: ...
    @property
    def outbox(self) -> Outbox: ...
    @property
    def questions(self) -> Questions: ...
    @property
    def leases(self) -> Leases: ...


class Store(Protocol):
    """Transactions are functions: they run to the end on the store's own thread.

    Several may share one commit; each is atomic on its own, and each is answered only when the
    commit is on disk.
    """

    async def write(self, work: Callable[[Tx], T]) -> T:
        """Run in one transaction; return when synced. An exception rolls it back and is raised.

        `work` may be run anew, after a deadlock for example, so it changes nothing but the store.
        A caller that is cancelled does not take it back.
        """
        ...

    async def read(self, work: Callable[[Tx], T]) -> T:
        """Run on a snapshot."""
        ...

    def post(self, work: Callable[[Tx], object]) -> None:
        """Write without waiting, in order with other writes; a failure is logged."""
        ...

    async def search(
        self, query: str, *, limit: int = 20, principal: str | None = None, session: str = ""
    ) -> Sequence[Hit]:
        """Messages that hold the words (all of them; "quotes" for a phrase, word* for a prefix).

        Any text is a valid query. Best first among the newest, see the stores for the order.
        """
        ...

    async def reindex(self) -> int:
        """Build the search index anew from the log; return the number of messages."""
        ...

    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Opening:
    """What a session's writer finds: messages its log does not know, and text that was being streamed."""

    news: tuple[Message, ...] = ()
    draft: str = ""


class Journal(Protocol):
    """Where a log's messages go: one session's slice of a store."""

    async def open(self) -> Opening:
        """Become the session's only writer, until `close`. Raise SessionBusy while another one is."""
        ...

    def close(self) -> None:
        """Let others write. Nothing happens when it is not open."""
        ...

    async def append(self, message: Message) -> None: ...
    async def draft(self, turn: TurnId, n: int, text: str) -> None:
        """Keep a piece of an answer before it is shown. Piece 0 makes those of an earlier attempt void."""
        ...
