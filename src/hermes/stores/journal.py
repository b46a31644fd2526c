"""SessionJournal: one session's slice of a store, where its log is kept."""

from hermes.core.ids import SessionId, TurnId
from hermes.core.messages import Message
from hermes.core.store import Store, Tx


class SessionJournal:
    """A `Journal` over a store.

    `epoch` is the session lease's; with one, appending raises StaleWriter once another worker has
    taken over. A message that is appended makes the session's drafts void, in the same transaction.
    """

    def __init__(self, store: Store, session: SessionId, epoch: int = 0) -> None:
        self._store, self._session, self._epoch = store, session, epoch
        self._drafting = True  # a process before this one may have left drafts

    async def append(self, message: Message) -> None:
        void, self._drafting = self._drafting, False

        def work(tx: Tx) -> None:
            tx.messages.append(self._session, message, self._epoch)
            if void:
                tx.drafts.clear(self._session)

        try:
            await self._store.write(work)
        except BaseException:
            self._drafting = self._drafting or void
            raise

    async def draft(self, turn: TurnId, n: int, text: str) -> None:
        self._drafting = True

        def work(tx: Tx) -> None:
            if n == 0:  # a new attempt at the answer: what an earlier one left is void
                tx.drafts.clear(self._session)
            tx.drafts.add(self._session, turn, n, text)

        await self._store.write(work)

    async def drafted(self) -> str:
        # in order with the writes: that of a cancelled turn may still be under way
        return await self._store.write(lambda tx: tx.drafts.read(self._session))
