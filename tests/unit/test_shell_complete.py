"""What Tab offers in the terminal."""

from pathlib import Path

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from hermes.core.commands import Command, CommandContext
from hermes.shells.cli.complete import Offers


async def nothing(_: CommandContext, __: str) -> str:
    return ""


COMMANDS = (
    Command("undo", "Take back.", nothing, choices=("restore",)),
    Command("usage", "What it cost.", nothing, aliases=("cost",)),
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "src" / "inner").mkdir(parents=True)
    (tmp_path / "src" / "main.py").touch()
    (tmp_path / "src" / ".hidden").touch()
    return tmp_path


def offered(folder: Path, text: str, asked: bool = True) -> list[str]:
    event = CompleteEvent(completion_requested=asked, text_inserted=not asked)
    found = Offers(COMMANDS, str(folder)).get_completions(Document(text), event)
    return [text[: len(text) + one.start_position] + one.text for one in found]


def test_commands_and_their_words(folder: Path) -> None:
    assert offered(folder, "/u", asked=False) == ["/undo", "/usage"]
    assert offered(folder, "/co", asked=False) == ["/cost"]
    assert offered(folder, "/undo r") == ["/undo restore"]
    assert offered(folder, "/xyz") == []


def test_paths_only_when_asked_for_and_only_where_a_word_looks_like_one(folder: Path) -> None:
    assert offered(folder, "read ./sr") == ["read ./src/"]
    assert offered(folder, "read src/") == ["read src/inner/", "read src/main.py"]
    assert offered(folder, "read src/.h") == ["read src/.hidden"]
    assert offered(folder, "read @src/m") == ["read @src/main.py"]
    assert offered(folder, f"look at {folder}/s") == [f"look at {folder}/src/"]
    assert offered(folder, "read src/", asked=False) == []
    assert offered(folder, "an ordinary word") == []
    assert offered(folder, "read ~nobody-of-this-name/x") == []
    assert offered(folder, "read no/such/folder") == []
