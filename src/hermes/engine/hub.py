"""Fan-out of a conversation's events to observers beside the shell that runs the turn."""

from collections import deque
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field

import anyio

from hermes.core.events import Event, TextDelta, ThoughtDelta
from hermes.core.ids import SessionId


@dataclass(slots=True, eq=False)
class Observer:
    """A listener with a bounded queue. Deltas melt together; other events are kept while there is room.

    When one had to be left out `lost` is set: the observer must read the log again.
    """

    limit: int = 256
    lost: bool = False
    _queue: deque[Event] = field(default_factory=deque[Event])
    _ready: anyio.Event = field(default_factory=anyio.Event)

    def put(self, event: Event) -> None:
        match event, self._queue[-1] if self._queue else None:
            case TextDelta(text), TextDelta(before):
                self._queue[-1] = TextDelta(before + text)
            case ThoughtDelta(text), ThoughtDelta(before):
                self._queue[-1] = ThoughtDelta(before + text)
            case _ if len(self._queue) < self.limit:
                self._queue.append(event)
            case _:
                self.lost = True
        self._ready.set()

    async def get(self) -> Event:
        while not self._queue:
            self._ready = anyio.Event()
            await self._ready.wait()
        return self._queue.popleft()


@dataclass(slots=True)
class Hub:
    """Who watches which conversation."""

    _observers: dict[SessionId, list[Observer]] = field(default_factory=dict[SessionId, list[Observer]])

    def publish(self, session: SessionId, event: Event) -> None:
        for observer in self._observers.get(session, ()):
            observer.put(event)

    @contextmanager
    def watch(self, session: SessionId, limit: int = 256) -> Generator[Observer, None, None]:
        """Observe a conversation for the length of the block."""
        observer = Observer(limit)
        self._observers.setdefault(session, []).append(observer)
        try:
            yield observer
        finally:
            rest = [one for one in self._observers[session] if one is not observer]
            if rest:
                self._observers[session] = rest
            else:
                del self._observers[session]
