"""StoryRuntime: a house over a real SQLite store and scripted models, for tests of front ends."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import hermes.commands
from hermes.core.budget import Budget
from hermes.core.clock import Clock
from hermes.core.commands import Command
from hermes.core.errors import ModelError, UsageError
from hermes.core.ids import SessionId
from hermes.core.models import Model
from hermes.core.services import Services
from hermes.core.store import Session, Store
from hermes.core.tools import Tool
from hermes.engine.agent import Agent
from hermes.engine.conversation import Conversation
from hermes.engine.hub import Hub
from hermes.engine.log import Log
from hermes.engine.toolbox import Toolbox
from hermes.lib.ids import session_id
from hermes.plugins.discover import values
from hermes.stores.journal import SessionJournal
from hermes.stores.open import open_store
from hermes.testing.clock import StillClock
from hermes.testing.scripted import AT_ONCE


@dataclass(slots=True)
class StoryRuntime:
    """A `Runtime` whose models are given; the first answers. `tools` are what they can call."""

    store: Store
    models: tuple[Model, ...]
    tools: tuple[Tool, ...] = ()
    clock: Clock = field(default_factory=StillClock)
    hub: Hub = field(default_factory=Hub)
    services: Services = field(default_factory=Services)
    budget: Budget = field(default_factory=Budget)
    opened: list[Conversation] = field(default_factory=list[Conversation])
    _answers: str = ""

    @property
    def commands(self) -> Sequence[Command]:
        return sorted(values(hermes.commands, Command), key=lambda command: command.name)

    def answering(self) -> str:
        return self._answers

    async def open(
        self, session: Session | None = None, *, source: str = "terminal", cwd: str = "", title: str = ""
    ) -> Conversation:
        if not self.models:
            raise ModelError("no model can be reached")
        new = None
        if session is None:
            now = self.clock.now()
            key = SessionId(session_id(now))
            tiers = ("be brief",)
            session = new = Session(key, key, None, title, source, "local", cwd or "/", "", tiers, now, now)
        key = session.id
        rows = () if new else await self.store.read(lambda tx: tx.messages.all(key))
        journal = SessionJournal(self.store, key, self.clock, new=new, seen=rows[-1].seq if rows else 0)
        log = Log([row.message for row in rows], journal)
        agent = Agent(self.models, Toolbox(self.tools, self.services), self.budget, AT_ONCE)
        talk = Conversation(
            key, agent, log, self.clock, session.system, session.cwd, hub=self.hub, root=session.root
        )
        self._answers = f"{self.models[0].name} answers: the script says so"
        self.opened.append(talk)
        return talk

    async def find(self, text: str, principal: str = "local") -> Session:
        found = await self.store.read(lambda tx: tx.sessions.find(text, principal))
        if len(found) != 1:
            raise UsageError(f"{text!r} names {len(found)} sessions")
        return found[0]

    async def switch(self, talk: Conversation, model: str) -> str:
        chosen = tuple(one for one in self.models if one.name == model)
        if not chosen:
            raise UsageError(f"there is no model {model!r}")
        talk.switch(replace(talk.agent, models=chosen))
        self._answers = f"{model} answers: you chose it"
        return self._answers


@asynccontextmanager
async def story(
    folder: Path, *models: Model, tools: tuple[Tool, ...] = ()
) -> AsyncGenerator[StoryRuntime, None]:
    """A house in a folder for the length of the block."""
    clock = StillClock()
    store = open_store(folder / "hermes.db", clock)
    try:
        yield StoryRuntime(store, models, tools, clock)
    finally:
        await store.close()
