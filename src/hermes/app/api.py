"""The public library: `from hermes import Agent, tool`.

agent = Agent(model="anthropic/claude-sonnet-5-5")
print(agent.run_conversation("What is in this folder?")["final_response"])

async for event in agent.stream("What is in this folder?"):
    ...
"""

import asyncio
import atexit
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import anyio

from hermes.app.compose import House, build, composed
from hermes.app.transcript import from_dicts, to_dicts
from hermes.config.load import Config, load
from hermes.core.errors import UsageError
from hermes.core.events import Asked, Event, MessageAdded, ModelSwitched, Stop, ToolFinished, TurnEnded
from hermes.core.messages import NOTHING_SPENT, Message, Role, Thought, Usage
from hermes.core.questions import DENY, Answer, Question
from hermes.core.tools import Tool
from hermes.engine.conversation import Conversation, Turn
from hermes.lib.groups import leaf

Ask = Callable[[Question], str | None]
T = TypeVar("T")


class Agent:
    """An agent to be used from Python: the same loop, tools, gate and store as every other shell.

    Args:
        model: "provider/model" or a model's name; what the home's settings say when empty.
        provider, base_url, api_key: an endpoint, as the section `model` of config.yaml.
        tools: more tools, made with `@hermes.tool`.
        home: the folder of settings and state; HERMES_HOME or ~/.hermes when None.
        profile: a profile of that home.
        cwd: the working directory of the tools; the process's own when empty.
        system_message: added to the prompt of every conversation.
        max_turns: the most model calls of one turn; the settings' when None.
        session_id: go on with a stored conversation.
        keep: whether conversations are stored in the home.
        ask: answers questions (approvals, clarifications) with one of their choices or free text;
            without it nobody is there, and what would have to be asked is refused.
        step_callback: called as step_callback(number, tools_before) after every answer of the model.
        event_callback: called with every event of the engine.
    """

    def __init__(  # noqa: PLR0913  settings, all by name
        self,
        model: str = "",
        *,
        provider: str = "",
        base_url: str = "",
        api_key: str = "",
        tools: Sequence[Tool] = (),
        home: str | Path | None = None,
        profile: str = "",
        cwd: str | Path = "",
        system_message: str = "",
        max_turns: int | None = None,
        session_id: str = "",
        keep: bool = True,
        ask: Ask | None = None,
        step_callback: Callable[[int, list[dict[str, Any]]], None] | None = None,
        event_callback: Callable[[Event], None] | None = None,
    ) -> None:
        given = {
            "model.default": model,
            "model.provider": provider or ("custom" if base_url else ""),
            "model.base_url": base_url,
            "model.api_key": api_key,
            "agent.max_turns": max_turns,
        }
        self._flags = {key: value for key, value in given.items() if value not in (None, "")}
        self._home = Path(home) if home is not None else None
        self._profile = profile
        self._tools = tuple(tools)
        self._cwd = str(cwd)
        self._system = system_message
        self._keep = keep
        self._ask = ask
        self._step = step_callback
        self._event = event_callback
        self._talk: Conversation | None = None
        self._house: House | None = None
        self._busy = threading.Lock()
        self.session_id = session_id

    def run_conversation(
        self,
        user_message: str,
        system_message: str | None = None,
        conversation_history: Sequence[Mapping[str, Any]] | None = None,
        moa_config: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Run one turn to its end and return what came of it.

        Args:
            user_message: what the user says.
            system_message: added to the prompt of a new conversation.
            conversation_history: earlier messages in OpenAI's chat form; stands in for stored ones.
            moa_config: a mixture of models; not available yet, refused when given.

        Returns:
            `final_response`, `messages` (OpenAI's chat form), `session_id`, `completed`, `failed`,
            `interrupted`, `turn_exit_reason`, `error`, token counts, `estimated_cost_usd` and more.

        Raises:
            UsageError: inside a running event loop (use `stream` there), or for unusable arguments.
        """
        if _loop_is_running():
            raise UsageError(
                "run_conversation blocks, and an event loop is running here: "
                "use `async with agent.stream(...) as turn` instead"
            )
        if moa_config:
            raise UsageError("moa_config: mixtures of models are not available yet")
        with self._busy:  # one turn at a time, whichever thread asks
            return _BACKGROUND.run(lambda: self._play(user_message, system_message, conversation_history))

    def chat(self, message: str) -> str:
        """The final answer alone."""
        return str(self.run_conversation(message)["final_response"])

    @asynccontextmanager
    async def stream(
        self,
        user_message: str,
        system_message: str | None = None,
        conversation_history: Sequence[Mapping[str, Any]] | None = None,
        *,
        attended: bool = False,
    ) -> AsyncGenerator[Turn, None]:
        """Run a turn for the length of the block: read `turn.events` to the end; the last is TurnEnded.

        `turn.steer`, `turn.answer` and `turn.stop` speak into it. `attended` says that you answer
        the questions of Asked events. Leaving the block ends the turn.
        """
        try:
            async with composed(self._config()) as house, anyio.create_task_group() as tasks:
                talk = await self._open(house, system_message, conversation_history)
                async with talk.turn(tasks, user_message, attended=attended) as turn:
                    yield turn
        except BaseExceptionGroup as group:  # the caller's own error comes out as it went in
            raise leaf(group) from None

    async def _play(
        self, text: str, system: str | None, history: Sequence[Mapping[str, Any]] | None
    ) -> dict[str, Any]:
        house = _BACKGROUND.house(self._config())
        talk = await self._open(house, system, history)
        record = _Record(talk, house)
        try:
            async with (
                anyio.create_task_group() as tasks,
                talk.turn(tasks, text, attended=self._ask is not None) as turn,
            ):
                async for event in turn.events:
                    record.see(event)
                    self._tell(event, record)
                    if isinstance(event, Asked) and self._ask:
                        said = await anyio.to_thread.run_sync(self._ask, event.question)
                        turn.answer(Answer(event.question.id, said or DENY))
        except BaseExceptionGroup as group:  # what a callback raised comes out as it went in
            raise leaf(group) from None
        return record.result()

    def _config(self) -> Config:
        return load(self._home, self._profile, flags=self._flags)

    async def _open(
        self, house: House, system: str | None, history: Sequence[Mapping[str, Any]] | None
    ) -> Conversation:
        """The conversation to go on with, or a new one."""
        goes_on = bool(self.session_id) and history is None
        if self._talk and goes_on and self._talk.session == self.session_id and self._house is house:
            return self._talk
        self._house = house
        self._talk = await house.open(
            await house.find(self.session_id) if goes_on else None,
            source="library",
            cwd=self._cwd,
            system="\n\n".join(filter(None, (self._system, system))),
            tools=self._tools,
            history=None if history is None else from_dicts(history),
            keep=self._keep,
        )
        self.session_id = self._talk.session if self._keep and history is None else ""
        return self._talk

    def _tell(self, event: Event, record: "_Record") -> None:
        if self._event:
            self._event(event)
        if self._step and isinstance(event, MessageAdded) and event.message.role is Role.ASSISTANT:
            self._step(record.usage.calls, record.before)


AIAgent = Agent


@dataclass(slots=True)
class _Record:
    """What a turn came to."""

    talk: Conversation
    house: House
    usage: Usage = NOTHING_SPENT
    last: Usage = NOTHING_SPENT
    answer: Message | None = None
    model: str = ""
    end: TurnEnded | None = None
    before: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    def see(self, event: Event) -> None:
        match event:
            case MessageAdded(message) if message.role is Role.ASSISTANT:
                self.usage += message.usage
                self.last, self.answer, self.model = message.usage, message, message.model
            case ToolFinished(call, result):
                self.before.append(
                    {"name": call.name, "result": result.text, "arguments": dict(call.arguments)}
                )
            case ModelSwitched(_, model):
                self.model = model
            case TurnEnded():
                self.end = event

    def result(self) -> dict[str, Any]:
        end, talk, used = self.end, self.talk, self.usage
        assert end is not None  # every turn ends with TurnEnded
        done = end.stop is Stop.DONE
        answer = self.answer.text if self.answer and done else ""
        thoughts = [p.text for p in self.answer.parts if isinstance(p, Thought)] if self.answer else []
        model = self.model or talk.agent.models[0].name
        vendor, _, name = model.partition("/")
        return {
            "final_response": answer or end.error,
            "last_reasoning": "".join(thoughts) or None,
            "messages": to_dicts(talk.log.messages),
            "api_calls": used.calls,
            "completed": done,
            "turn_exit_reason": "text_response" if done else str(end.stop),
            "failed": end.stop is Stop.FAILED,
            "partial": bool(self.answer and not done),
            "interrupted": end.stop is Stop.CANCELLED,
            "interrupt_message": None,
            "response_transformed": False,
            "response_previewed": False,
            "model": name or vendor,
            "provider": vendor,
            "base_url": self.house.base_url(model),
            "input_tokens": used.input,
            "output_tokens": used.output,
            "cache_read_tokens": used.cached,
            "cache_write_tokens": used.written,
            "reasoning_tokens": used.reasoning,
            "prompt_tokens": used.input,
            "completion_tokens": used.output,
            "total_tokens": used.input + used.output,
            "last_prompt_tokens": self.last.input,
            "estimated_cost_usd": used.cost,
            "cost_status": "estimated" if used.cost else "unknown",
            "cost_source": "catalogue" if used.cost else None,
            "service_tier": None,
            "guardrail": None,
            "session_id": talk.session,
            "cleanup_errors": [],
            "pending_steer": None,
            "error": end.error or None,
            "failure_reason": end.reason or None,
        }


class _Background:
    """One event loop on a thread of its own, for callers that have none, and the houses that live on it.

    Started when first used, closed when the process ends.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._houses: dict[tuple[Path, str], House] = {}

    def run(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Run to the end and return what it returns. Ctrl-C here ends it there first."""
        done = threading.Event()

        async def whole() -> T:
            try:
                return await work()
            finally:
                done.set()

        future = asyncio.run_coroutine_threadsafe(whole(), self._running())
        try:
            return future.result()
        except KeyboardInterrupt:
            future.cancel()
            done.wait()
            raise

    def house(self, config: Config) -> House:
        """One house per home and settings: its connections belong to this loop."""
        key = (config.home, repr(config.settings) + config.settings.model.api_key)
        if key not in self._houses:
            self._houses[key] = build(config)
        return self._houses[key]

    def close(self) -> None:
        """Close every house."""
        loop = self._loop
        if loop is None:
            return

        async def leave() -> None:
            for house in self._houses.values():
                await house.aclose()

        asyncio.run_coroutine_threadsafe(leave(), loop).result()
        loop.call_soon_threadsafe(loop.stop)

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._loop.run_forever, name="hermes", daemon=True).start()
                atexit.register(self.close)
            return self._loop


def _loop_is_running() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


_BACKGROUND = _Background()
