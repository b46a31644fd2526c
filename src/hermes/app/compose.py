"""Config to a running house. The one place that knows every concrete thing and wires it."""

import platform
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from importlib import import_module
from pathlib import Path

import anyio

import hermes.commands
import hermes.tools
from hermes.app.cache import prune
from hermes.app.clock import SystemClock
from hermes.app.finding import find_session
from hermes.app.models import Choice, choose
from hermes.app.policy import policy
from hermes.app.preferences import ReadableSettings
from hermes.config.load import Config
from hermes.config.proxies import proxies
from hermes.core.budget import Budget
from hermes.core.clock import Clock
from hermes.core.commands import Command, Preferences
from hermes.core.errors import ConfigError, ModelError, UsageError
from hermes.core.gate import Gate
from hermes.core.http import Http
from hermes.core.ids import SessionId
from hermes.core.messages import Message
from hermes.core.plans import Plans
from hermes.core.sandbox import Deadlines, Sandbox
from hermes.core.seen import Seen
from hermes.core.services import Services
from hermes.core.spill import Spill
from hermes.core.store import Session, Store
from hermes.core.tools import Tool
from hermes.engine.agent import Agent, Patience
from hermes.engine.conversation import Conversation
from hermes.engine.hub import Hub
from hermes.engine.log import Log
from hermes.engine.prompt import assemble
from hermes.engine.toolbox import Toolbox
from hermes.lib.ids import session_id
from hermes.lib.text import one_line
from hermes.plugins.discover import discover, values
from hermes.safety.guarded import GuardedSandbox
from hermes.safety.late import LateHttp
from hermes.sandboxes.local import LocalSandbox, Supervisor
from hermes.stores.journal import SessionJournal
from hermes.stores.open import open_store
from hermes.stores.spill import FileSpill


def open_home_store(config: Config, clock: Clock | None = None) -> Store:
    """The store of a home: `database.url`, or hermes.db in the home."""
    return open_store(config.settings.database.url or config.home / "hermes.db", clock or SystemClock())


@dataclass(slots=True)
class House:
    """One home, composed and running: see `engine.runtime.Runtime`.

    `broken` has a sentence for each extension that could not be loaded.
    """

    config: Config
    clock: Clock
    store: Store
    http: LateHttp
    tools: tuple[Tool, ...]
    broken: tuple[str, ...] = ()
    hub: Hub = field(default_factory=Hub)
    services: Services = field(default_factory=Services)
    supervisor: Supervisor = field(default_factory=Supervisor)
    _choices: dict[str, Choice] = field(default_factory=dict[str, Choice])
    _answers: str = ""
    _places: list[LocalSandbox] = field(default_factory=list[LocalSandbox])

    @property
    def commands(self) -> Sequence[Command]:
        return sorted(values(hermes.commands, Command), key=lambda command: command.name)

    def answering(self) -> str:
        return self._answers

    async def find(self, text: str, principal: str = "local") -> Session:
        return await find_session(self.store, text, self.clock.now(), principal)

    async def newest(self, principal: str = "local", source: str = "terminal") -> Session:
        found = await self.store.read(lambda tx: tx.sessions.list(1, 0, principal, source))
        if not found:
            raise UsageError("there is no session to go on with yet")
        return found[0]

    async def open(
        self,
        session: Session | None = None,
        *,
        source: str = "terminal",
        cwd: str = "",
        title: str = "",
        system: str = "",
        tools: Sequence[Tool] = (),
        history: Sequence[Message] | None = None,
        keep: bool = True,
    ) -> Conversation:
        """See `Runtime.open`.

        `system` is added to the prompt of a new conversation, `tools` to its tools; `history` stands
        in for what is stored; with `keep` false nothing is stored.
        """
        choice, self._answers = await self._for(session)
        if session is None:
            session = self._fresh(source, cwd or self._cwd(), title, system, choice)
            stored: Sequence[Message] = history or ()
            journal = SessionJournal(self.store, session.id, self.clock, new=session)
        else:
            key = session.id
            rows = await self.store.read(lambda tx: tx.messages.all(key))
            stored, seen = [row.message for row in rows], rows[-1].seq if rows else 0
            journal = SessionJournal(self.store, key, self.clock, seen=seen)
        log = Log(stored, journal if keep else None)
        return Conversation(
            session.id,
            self._agent(choice, session, tools),
            log,
            self.clock,
            session.system,
            session.cwd,
            self.config.settings.model.max_tokens or None,
            hub=self.hub,
            root=session.root,
            facts=self._facts(choice),
            waits=self._waits(),
        )

    async def switch(self, talk: Conversation, model: str) -> str:
        choice = await self.chosen(model)
        talk.switch(replace(talk.agent, models=choice.chain))
        talk.facts = self._facts(choice)
        if not (isinstance(talk.log.journal, SessionJournal) and talk.log.journal.chose(choice.name)):
            key = talk.session
            await self.store.write(lambda tx: tx.sessions.move(key, model=choice.name))
        self._answers = choice.why
        return choice.why

    async def chosen(self, model: str = "") -> Choice:
        """The model chain for a name; for no name, what the settings and the surroundings say."""
        if model not in self._choices:
            self._choices[model] = await choose(self.config, self.http, model)
        return self._choices[model]

    async def _for(self, session: Session | None) -> tuple[Choice, str]:
        """Who answers in a session, and why: the model it was held with, unless the command line says."""
        named = self.config.origin("model.default").kind == "flag"
        if session is None or not session.model or named:
            choice = await self.chosen()
            return choice, choice.why
        try:
            choice = await self.chosen(session.model)
        except (ConfigError, ModelError) as error:
            choice = await self.chosen()
            return choice, f"{choice.why}. This session's own model cannot be had: {error}"
        return choice, f"{choice.seats[0].placed}: this session's model"

    def base_url(self, model: str) -> str:
        """Where a model of this house is reached; "" when it has not been chosen here."""
        seats = [seat for choice in self._choices.values() for seat in choice.seats]
        return next((seat.endpoint.base_url for seat in seats if seat.name == model), "")

    async def aclose(self) -> None:
        """Close everything, whatever fails on the way. Without helper threads: they may be gone by now."""
        with anyio.CancelScope(shield=True):
            async with AsyncExitStack() as stack:
                stack.callback(prune, self.config.home / "cache")
                stack.callback(self.supervisor.close)
                for place in self._places:
                    stack.push_async_callback(place.aclose)
                stack.push_async_callback(self.store.close)
                stack.push_async_callback(self.http.aclose)

    def _cwd(self) -> str:
        try:
            return str(Path(self.config.settings.terminal.cwd).expanduser().absolute())
        except (OSError, RuntimeError) as error:
            why = error.strerror if isinstance(error, OSError) else str(error)
            raise ConfigError(
                f"the working directory cannot be had ({why}): go to one that exists, or set terminal.cwd"
            ) from error

    def _soul(self) -> str:
        """The user's own words for who the agent is."""
        path = self.config.home / "SOUL.md"
        try:
            return path.read_text("utf-8", "replace")
        except FileNotFoundError:
            return ""
        except OSError as error:
            raise ConfigError(f"{path} cannot be read: {error.strerror}") from error

    def _fresh(self, source: str, cwd: str, title: str, system: str, choice: Choice) -> Session:
        now = self.clock.now()
        key = SessionId(session_id(now))
        place = f"Working directory: {one_line(cwd, 300)}\nOperating system: {platform.system()}"
        tiers = assemble(self._soul(), (place, system))
        return Session(key, key, None, title, source, "local", cwd, choice.name, tiers, now, now)

    def _agent(self, choice: Choice, session: Session, extra: Sequence[Tool]) -> Agent:
        settings = self.config.settings
        gate = policy(self.config, session.cwd, self._allow_always)
        place = LocalSandbox(
            session.cwd,
            self.config.env,
            self.config.home / "cache" / "output",
            passthrough=settings.terminal.env_passthrough,
            supervisor=self.supervisor,
        )
        self._places.append(place)
        services = (
            self.services.plus(Gate, gate)
            .plus(Deadlines, Deadlines(settings.terminal.timeout, settings.terminal.max_foreground_timeout))
            .plus(Sandbox, GuardedSandbox(place, gate))
            .plus(Spill, FileSpill(self.config.home / "cache" / "results" / session.id))
        )
        limit = settings.agent
        return Agent(
            choice.chain,
            Toolbox((*self.tools, *extra), services),
            Budget(steps=limit.max_turns or None),
            Patience(attempts=limit.api_max_retries + 1),
        )

    def _waits(self) -> dict[str, float]:
        """How long a person may think about a question; 0 in the settings means as long as they like."""
        settings = self.config.settings
        waits = {"approval": settings.approvals.timeout, "clarify": settings.agent.clarify_timeout}
        return {kind: seconds for kind, seconds in waits.items() if seconds}

    def _allow_always(self, rule: str) -> None:
        """Keep a command pattern that a person answered "always"."""
        edit = import_module("hermes.config.edit")  # rare, and not on the way to the first answer
        edit.append(self.config.at, ("command_allowlist",), rule)

    def _facts(self, choice: Choice) -> Callable[[], Sequence[str]]:
        def facts() -> Sequence[str]:
            now = datetime.fromtimestamp(self.clock.now() / 1_000_000).astimezone()
            return (f"Date: {now:%A %Y-%m-%d}, time zone {now.tzname()}", f"Model: {choice.name}")

        return facts


@asynccontextmanager
async def composed(config: Config, clock: Clock | None = None) -> AsyncIterator[House]:
    """A house for the length of the block."""
    house = build(config, clock)
    try:
        yield house
    finally:
        await house.aclose()


def build(config: Config, clock: Clock | None = None) -> House:
    """Wire a house. Nothing is opened, connected or started before it is used."""
    clock = clock or SystemClock()
    store = open_home_store(config, clock)
    http = LateHttp(proxies(config.env))
    services = Services(
        {Store: store, Http: http, Seen: Seen(), Plans: Plans(), Preferences: ReadableSettings(config)}
    )
    found = discover(hermes.tools, Tool)
    named: dict[str, Tool] = {}
    for tool in found.values:
        if tool is not named.setdefault(tool.spec.name, tool):
            found.broken.append(f"a second tool is named {tool.spec.name} and is left out")
    return House(config, clock, store, http, tuple(named.values()), tuple(found.broken), services=services)
