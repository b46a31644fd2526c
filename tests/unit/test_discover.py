"""A tool is one new file."""

import sys
from pathlib import Path
from types import ModuleType

import pytest

from hermes.core.services import Services
from hermes.core.store import Store
from hermes.core.tools import Tool
from hermes.engine.toolbox import Toolbox
from hermes.plugins.discover import discover, values

SHOUT = '''
"""Shout."""
from hermes.core.store import Store
from hermes.sdk import Effects, ToolContext, tool


@tool(effects=Effects(idempotent=True))
async def shout(ctx: ToolContext, words: str, times: int = 1) -> str:
    """Say it loud."""
    return words.upper() * times


@tool(effects=Effects(), needs=(Store,))
async def remember(ctx: ToolContext) -> str:
    """Needs a store."""
    return ""
'''


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    (tmp_path / "shelf").mkdir()
    (tmp_path / "shelf" / "__init__.py").write_text("")
    (tmp_path / "shelf" / "shout.py").write_text(SHOUT)
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in [name for name in sys.modules if name.partition(".")[0] == "shelf"]:
        del sys.modules[name]
    return __import__("shelf")


def test_it_is_found_offered_and_described(shelf: ModuleType) -> None:
    found = list(values(shelf, Tool))
    assert [tool.spec.name for tool in found] == ["shout", "remember"]
    (spec,) = Toolbox(found).specs  # there is no store here: the other one is not offered
    assert spec.description == "Say it loud."
    assert spec.parameters["properties"] == {
        "words": {"type": "string"},
        "times": {"type": "integer", "default": 1},
    }
    assert spec.parameters["required"] == ["words"]
    assert {one.name for one in Toolbox(found, Services({Store: object()})).specs} == {"shout", "remember"}


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("x = 1\ndef f(:\n", "shelf/broken.py:2 could not be loaded and is left out: SyntaxError"),
        (
            "\n\nimport nosuchmodule\n",
            "shelf/broken.py:3 could not be loaded and is left out: ModuleNotFound",
        ),
        ("raise SystemExit(3)\n", "shelf/broken.py:1 could not be loaded and is left out: SystemExit: 3"),
    ],
)
def test_a_broken_file_is_named_and_takes_no_other_with_it(shelf: ModuleType, code: str, why: str) -> None:
    (Path(shelf.__path__[0]) / "broken.py").write_text(code)
    found = discover(shelf, Tool)
    assert [tool.spec.name for tool in found.values] == ["shout", "remember"]
    (sentence,) = found.broken
    assert sentence.startswith(why)
