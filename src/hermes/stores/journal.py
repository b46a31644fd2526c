"""SessionJournal: one session's slice of a store, and the right to be the only one who writes it."""

import secrets
from dataclasses import replace

from hermes.core.clock import Clock
from hermes.core.errors import SessionBusy
from hermes.core.ids import SessionId, TurnId
from hermes.core.messages import Message
from hermes.core.store import Lease, Opening, Session, Store, Tx
from hermes.lib.text import one_line
from hermes.stores import holder

HELD = 900.0
"""Seconds a session is held without being heard of. A holder that died on this machine loses it at once."""


class SessionJournal:
    """A `Journal` over a store.

    `new` is the row of a session that has none yet: it is written with the first message, which also
    gives it a title. `seen` is the place of the last message its log knows. A message that is appended
    makes the session's drafts void, in the same transaction.
    """

    def __init__(
        self, store: Store, session: SessionId, clock: Clock, *, new: Session | None = None, seen: int = 0
    ) -> None:
        self._store, self._session, self._clock = store, session, clock
        self._new, self._seen = new, seen
        self._holder = f"{holder.this_process()}:{secrets.token_hex(4)}"
        self._lease: Lease | None = None
        self._drafting = True  # a process before this one may have left drafts

    def chose(self, model: str) -> bool:
        """Another model before anything was said; False when the row is written already."""
        if self._new is None:
            return False
        self._new = replace(self._new, model=model)
        return True

    async def open(self) -> Opening:
        self._lease, opening, self._seen = await self._store.write(self._take)
        return opening

    def close(self) -> None:
        lease, self._lease = self._lease, None
        if lease:
            self._store.post(lambda tx: tx.leases.release(lease))

    async def append(self, message: Message) -> None:
        void, self._drafting = self._drafting, False
        new = self._new and replace(self._new, title=self._new.title or one_line(message.text, 60))

        def work(tx: Tx) -> int:
            if new:
                tx.sessions.create(new)
            place = tx.messages.append(self._session, message, self._lease.epoch if self._lease else 0)
            if void:
                tx.drafts.clear(self._session)
            return place

        try:
            self._seen = await self._store.write(work)
        except BaseException:
            self._drafting = self._drafting or void
            raise
        self._new = None
        self._renew()

    async def draft(self, turn: TurnId, n: int, text: str) -> None:
        self._drafting = True

        def work(tx: Tx) -> None:
            if n == 0:  # a new attempt at the answer: what an earlier one left is void
                tx.drafts.clear(self._session)
            tx.drafts.add(self._session, turn, n, text)

        await self._store.write(work)

    def _take(self, tx: Tx) -> tuple[Lease, Opening, int]:
        name = f"session:{self._session}"
        lease = tx.leases.acquire(name, self._holder, HELD, self._clock.now())
        if lease is None and (other := tx.leases.current(name)) and not holder.alive(other.holder):
            tx.leases.release(other)
            lease = tx.leases.acquire(name, self._holder, HELD, self._clock.now())
        if lease is None:
            raise SessionBusy(
                f"session {self._session} is at work elsewhere: wait until that turn has ended,"
                " or stop it there"
            )
        news = [] if self._new else tx.messages.all(self._session, self._seen)
        opening = Opening(tuple(row.message for row in news), tx.drafts.read(self._session))
        return lease, opening, news[-1].seq if news else self._seen

    def _renew(self) -> None:
        """Hold on for longer, once a third of the time is over."""
        lease, now = self._lease, self._clock.now()
        if lease and lease.until - now < HELD * 2 / 3 * 1_000_000:
            self._lease = replace(lease, until=now + int(HELD * 1_000_000))
            self._store.post(lambda tx: tx.leases.acquire(lease.name, lease.holder, HELD, now))
