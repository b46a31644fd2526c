"""The slash commands, on a conversation that is kept."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from hermes.core.commands import CommandContext, Preferences, find, said, typed
from hermes.core.errors import ConfigError, UsageError
from hermes.core.services import Services
from hermes.engine.conversation import Conversation
from hermes.shells.cli.desk import TerminalDesk
from hermes.testing.runtime import StoryRuntime, story
from hermes.testing.scripted import ScriptedModel, says

pytestmark = pytest.mark.anyio
BUILT_IN = {
    *("help", "new", "stop", "model", "usage", "sessions", "resume"),
    *("title", "undo", "retry", "compress", "config", "quit"),
}
GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "slash-commands.md"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Table:
    """Somebody at a desk: says things, types commands."""

    def __init__(self, house: StoryRuntime, talk: Conversation) -> None:
        self.house = house
        self.left = False
        self.shown: list[str] = []
        self.desk = TerminalDesk(
            house, talk, self.say, self.leave, lambda one: self.shown.append(one.session)
        )
        self.services = Services()

    async def say(self, text: str) -> None:
        self.desk.undone.clear()
        async with anyio.create_task_group() as tasks, self.desk.talk.turn(tasks, text) as turn:
            async for _ in turn.events:
                pass

    def show(self, talk: Conversation) -> None:
        self.shown.append(talk.session)

    def leave(self) -> None:
        self.left = True

    async def type(self, line: str) -> str:
        name, rest = typed(line) or ("", "")
        return await find(self.house.commands, name).run(CommandContext(self.desk, self.services), rest)

    @property
    def log(self) -> list[str]:
        return [message.text for message in self.desk.talk.log.messages]


@asynccontextmanager
async def table(tmp_path: Path, *answers: str) -> AsyncGenerator[Table, None]:
    model = ScriptedModel(*(says(answer, cost=0.25) for answer in answers))
    async with story(tmp_path, model, ScriptedModel(says("from b"), name="b")) as house:
        yield Table(house, await house.open())


async def test_help_lists_every_command_and_explains_each(tmp_path: Path) -> None:
    async with table(tmp_path) as at:
        whole = await at.type("/help")
        assert {command.name for command in at.house.commands} >= BUILT_IN
        for command in at.house.commands:
            assert f"`/{command.name}" in whole
            assert command.summary in whole
            assert command.summary in await at.type(f"/help {command.name}")
        with pytest.raises(UsageError, match="Did you mean /model"):
            await at.type("/help modle")


async def test_the_guide_names_every_command_and_every_other_name_of_it(tmp_path: Path) -> None:
    guide = GUIDE.read_text("utf-8")
    async with table(tmp_path) as at:
        for command in at.house.commands:
            for name in (command.name, *command.aliases):
                assert f"`/{name}" in guide


async def test_new_keeps_the_conversation_before_and_resume_goes_back_to_it(tmp_path: Path) -> None:
    async with table(tmp_path, "hello") as at:
        await at.say("hi")
        first = at.desk.session
        assert first in await at.type("/new Fresh start")
        assert at.log == []
        assert at.desk.session != first
        assert await at.type(f"/resume {first}") == ""
        assert at.log == ["hi", "hello"]
        assert at.shown == [at.shown[0], first]
        assert await at.type(f"/resume {first}") == "This is that conversation."


async def test_undo_takes_back_exchanges_and_restore_brings_them_back(tmp_path: Path) -> None:
    async with table(tmp_path, "a1", "a2", "a3") as at:
        for question in ("q1", "q2", "q3"):
            await at.say(question)
        assert "q3" in await at.type("/undo")
        assert at.log == ["q1", "a1", "q2", "a2"]
        assert "q1" in await at.type("/undo 2")
        assert at.log == []
        assert await at.type("/undo") == "There is nothing to take back."
        assert await at.type("/undo restore") == "Brought back: 6 messages."
        assert at.log == ["q1", "a1", "q2", "a2", "q3", "a3"]
        assert "Nothing was taken back" in await at.type("/undo restore")
        with pytest.raises(UsageError):
            await at.type("/undo all")


async def test_what_was_said_after_an_undo_is_not_mixed_with_what_was_taken_back(tmp_path: Path) -> None:
    async with table(tmp_path, "a1", "a2", "again") as at:
        await at.say("q1")
        await at.say("q2")
        await at.type("/undo")
        await at.say("q2, better")
        assert "Nothing was taken back" in await at.type("/undo restore")
        assert at.log == ["q1", "a1", "q2, better", "again"]


async def test_retry_asks_the_same_again(tmp_path: Path) -> None:
    async with table(tmp_path, "first try", "second try") as at:
        assert await at.type("/retry") == "There is nothing to ask again."
        await at.say("q")
        assert await at.type("/retry") == ""
        assert at.log == ["q", "second try"]


async def test_title_before_and_after_the_first_message(tmp_path: Path) -> None:
    async with table(tmp_path, "a") as at:
        assert "no title yet" in await at.type("/title")
        await at.type("/title Before anything")
        await at.say("q")
        assert await at.type("/title") == "The title is: Before anything"
        await at.type("/title   Later \n on ")
        assert await at.type("/title") == "The title is: Later on"
        assert "| Later on |" in await at.type("/sessions")


async def test_sessions_lists_and_searches(tmp_path: Path) -> None:
    async with table(tmp_path, "the answer is kiwi") as at:
        assert "first" in await at.type("/sessions")
        await at.say("which fruit | which?")
        assert at.desk.session in await at.type("/sessions")
        assert await at.type("/sessions banana") == "No message holds 'banana'."


async def test_usage_and_compress_tell_what_was_spent_and_how_full_it_is(tmp_path: Path) -> None:
    async with table(tmp_path, "a", "b") as at:
        await at.say("q")
        await at.say("q")
        used = await at.type("/usage")
        assert "| whole conversation | 2 | 2 | 0 | 2 | $0.5 |" in used
        assert "Window: 2 of 100k tokens" in used
        assert "2 of 100k tokens (0%)" in await at.type("/compress")


async def test_model_shows_and_switches(tmp_path: Path) -> None:
    async with table(tmp_path) as at:
        assert "scripted answers: the script says so" in await at.type("/model")
        assert await at.type("/model b") == "b answers: you chose it"
        await at.say("hi")
        assert at.log[-1] == "from b"
        with pytest.raises(UsageError):
            await at.type("/model nobody")


async def test_stop_and_quit(tmp_path: Path) -> None:
    async with table(tmp_path) as at:
        assert await at.type("/stop") == "Nothing is running."
        assert await at.type("/exit") == ""
        assert at.left


class Known:
    def show(self, key: str) -> str:
        if key not in {"", "model.default"}:
            raise ConfigError("not a setting")
        return f"{key or 'everything'}: x"


async def test_config_is_for_reading(tmp_path: Path) -> None:
    async with table(tmp_path) as at:
        assert "hermes config show" in await at.type("/config")
        at.services = at.services.plus(Preferences, Known())
        assert "everything: x" in await at.type("/config")
        assert "model.default: x" in await at.type("/config get model.default")
        assert "hermes config set" in await at.type("/config set a b")
        with pytest.raises(ConfigError):
            await at.type("/config nonsense")


def test_what_is_a_command_and_what_is_said() -> None:
    assert typed("/Help  model ") == ("help", "model")
    assert typed("/title one\ntwo") == ("title", "one\ntwo")
    assert typed("/etc/hosts is what?") is None
    assert typed("//help") is None
    assert typed("help") is None
    assert typed("/") is None
    assert said("//help me") == "/help me"
    assert said("plain // text") == "plain // text"


async def test_names_aliases_beginnings_and_near_misses(tmp_path: Path) -> None:
    async with table(tmp_path) as at:
        known = at.house.commands
        assert find(known, "reset").name == "new"
        assert find(known, "usa").name == "usage"
        with pytest.raises(UsageError, match="Did you mean /new or /resume or /retry or /title"):
            find(known, "re")
        with pytest.raises(UsageError, match="Did you mean /quit"):
            find(known, "quiz")
        with pytest.raises(UsageError, match="/help lists them"):
            find(known, "xyzzy")
        names = [name for one in known for name in (one.name, *one.aliases)]
        assert len(names) == len(set(names))
