"""make try: one question about real files, answered by a model that calls a real tool.

With OPENAI_BASE_URL set that endpoint answers; else the embedded demo model, which is fetched once. It all
happens in a temporary home and folder: nothing of the user's is read or changed.
"""

import asyncio
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import anyio

from hermes.app.compose import House, composed
from hermes.app.local_model import install
from hermes.app.models import DEMO
from hermes.config.load import Config, load
from hermes.core.errors import HermesError
from hermes.core.events import Event, MessageAdded, Stop, ToolFinished, ToolStarted, TurnEnded
from hermes.core.messages import Message, Outcome, Role, ToolCall, ToolResult
from hermes.core.tools import Tool, ToolSpec

QUESTION = "What is the hotel called?"
FILES = Path(__file__).with_name("demo_files")
WORD = r"^\(\?i\)[A-Za-z0-9]+( [A-Za-z0-9]+)?$"

NEXT = """\
That was the demo model: small enough to come along, too small for real work. To go on with a real one:
  .venv/bin/hermes model list                   what there is
  .venv/bin/hermes model use PROVIDER/MODEL     choose one, for good
  .venv/bin/hermes                              talk"""


@dataclass(slots=True)
class Played:
    """What one question came to."""

    ran: list[tuple[ToolCall, ToolResult]] = field(default_factory=list[tuple[ToolCall, ToolResult]])
    answer: Message | None = None
    end: TurnEnded | None = None

    @property
    def text(self) -> str:
        return self.answer.text if self.answer else ""

    @property
    def error(self) -> str:
        """Why it does not count; empty when a tool ran and an answer came."""
        if self.end is None or self.end.stop is not Stop.DONE:
            return (self.end.error if self.end else "") or "the turn did not end"
        if not any(result.outcome is Outcome.OK for _, result in self.ran):
            return "no tool ran"
        return "" if self.text.strip() else "there was no answer"


def main() -> int:
    """Set everything up and ask. 0 when a tool ran and an answer came, else 1."""
    say = print
    with tempfile.TemporaryDirectory(prefix="hermes-demo-") as scratch:
        try:
            config, names = prepared(Path(scratch), say)
            return asyncio.run(_ask(config, Path(scratch, "folder"), names, say))
        except HermesError as error:
            print(f"hermes: {error}", file=sys.stderr)
            return 1


def prepared(scratch: Path, say: Callable[[str], None]) -> tuple[Config, list[str]]:
    """A fresh home and a folder with a few files, whose names are returned.

    The demo model is fetched when no endpoint is named to answer instead.
    """
    folder = scratch / "folder"
    shutil.copytree(FILES, folder)
    names = sorted(path.name for path in folder.iterdir())
    (scratch / "home").mkdir()
    config = load(scratch / "home", flags={"terminal.cwd": str(folder)})
    if not config.env.get("OPENAI_BASE_URL", "").strip():
        install(config.env, say)
        model = {"model.provider": "embedded", "model.default": DEMO}
        config = load(scratch / "home", flags={"terminal.cwd": str(folder), **model})
    return config, names


async def _ask(config: Config, folder: Path, names: list[str], say: Callable[[str], None]) -> int:
    say(f"Folder: {folder} ({', '.join(names)})")
    async with composed(config) as house:
        choice = await house.chosen()
        say(f"Model: {choice.why}")
        say(f"Question: {QUESTION}\n")
        if choice.info.vendor == "embedded":
            house.tools = narrowed(house.tools, names)
        played = await play(house, folder, QUESTION, lambda event: _show(event, say))
    if played.error:
        print(f"hermes: the demo failed: {played.error}", file=sys.stderr)
        return 1
    say(f"\nAnswer ({choice.name}): {played.text}\n")
    if choice.name == f"embedded/{DEMO}":
        say(NEXT)
    return 0


async def play(
    house: House, folder: Path, question: str, see: Callable[[Event], None] = lambda _: None
) -> Played:
    """One turn in a new conversation, the way `hermes -z` runs it; `see` is called with every event."""
    talk = await house.open(source="demo", cwd=str(folder))
    played = Played()
    async with anyio.create_task_group() as tasks, talk.turn(tasks, question) as turn:
        async for event in turn.events:
            _note(event, played)
            see(event)
    return played


def narrowed(tools: Sequence[Tool], names: Sequence[str]) -> tuple[Tool, ...]:
    """The demo's tools, their parameters held to this folder: a small model cannot invent a file's name."""
    kinds = sorted({f"*{Path(name).suffix}" for name in names})
    held: dict[str, dict[str, Any]] = {
        "read_file": {"path": {"type": "string", "enum": list(names)}},
        "search_files": {"pattern": {"type": "string", "pattern": WORD}},
        "terminal": {"command": {"type": "string", "enum": ["ls", *(f"ls {kind}" for kind in kinds)]}},
    }
    chosen = (tool for tool in tools if tool.spec.name in held)
    return tuple(replace(tool, spec=_held(tool.spec, held[tool.spec.name])) for tool in chosen)


def _held(spec: ToolSpec, properties: Mapping[str, Any]) -> ToolSpec:
    schema: dict[str, Any] = {"type": "object", "properties": dict(properties), "required": list(properties)}
    return replace(spec, parameters={**schema, "additionalProperties": False})


def _note(event: Event, played: Played) -> None:
    match event:
        case ToolFinished(call, result):
            played.ran.append((call, result))
        case MessageAdded(message) if message.role is Role.ASSISTANT:
            played.answer = message
        case TurnEnded():
            played.end = event
        case _:
            pass


def _show(event: Event, say: Callable[[str], None]) -> None:
    match event:
        case ToolStarted(call):
            arguments = ", ".join(f"{key}={value!r}" for key, value in call.arguments.items())
            say(f"  {call.name}({arguments})")
        case ToolFinished(_, result):
            say(f"  {result.outcome} after {float(str(result.meta.get('seconds', 0))):.2f} s")
            say("\n".join(f"  | {line}" for line in result.text.splitlines()[:12]))
        case _:
            pass


if __name__ == "__main__":
    sys.exit(main())
