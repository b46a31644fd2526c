"""Finding lines by a pattern: the same as Python's own search, and no pattern holds anything up."""

import re
import time
from pathlib import Path

import anyio
import pytest

from hermes.core.errors import ToolError
from hermes.core.sandbox import Completed
from hermes.sdk.matching import finder
from hermes.testing.sandbox import FolderSandbox, tool_context
from hermes.tools.search_files import search_files

pytestmark = pytest.mark.anyio
LINES = ["def f(x):", "", "aaa", "a.b.c = (1)", "\ud800 half", "Straße 12", "x" * 300, "aaaab"]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.parametrize(
    "pattern",
    ["a", "^$", r"\w+\(\w*\)", "(a+)+$", r"(?:\w\.)+", "x*x*y", "(a)\\1", "(?=.*b)a{2}", "\ud800", "[(*+?]"],
)
async def test_it_finds_what_pythons_search_finds(pattern: str) -> None:
    async with finder(re.compile(pattern)) as finding:
        for _ in range(2):
            found = await finding.fitting(LINES)
            assert found == [n for n, line in enumerate(LINES) if re.search(pattern, line)]


@pytest.mark.parametrize(
    "pattern",
    ["((a)+)+$", "(?:a|a)*$", "a?" * 40 + "a{40}$", ".*.*.*.*.*x"],
)
async def test_what_would_take_for_ever_is_ended_and_holds_nothing_up(pattern: str) -> None:
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await anyio.sleep(0.02)
            ticks += 1

    began = time.monotonic()
    async with anyio.create_task_group() as both:
        both.start_soon(tick)
        async with finder(re.compile(pattern), patience=0.2) as finding:
            with pytest.raises(ToolError, match="takes too long"):
                await finding.fitting(["a" * 39 + "b" if "{40}" in pattern else "a" * 1_999 + "b"])
        both.cancel_scope.cancel()
    assert time.monotonic() - began < 5
    assert ticks >= 3


class WithoutRipgrep(FolderSandbox):
    async def run(self, command, *, cwd="", env=None, timeout=180.0, limit=50_000):  # type: ignore[no-untyped-def]
        return Completed(1, "", 0, 0.0)


async def test_a_search_with_such_a_pattern_explains_itself(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("fine\n" + "a" * 60 + "b\n")
    ctx = tool_context(tmp_path, sandbox=WithoutRipgrep(tmp_path))
    with anyio.fail_after(10), pytest.raises(ToolError, match=re.escape("'((a)+)+$' takes too long")):
        await search_files.run(ctx, {"pattern": "((a)+)+$"})
    assert (await search_files.run(ctx, {"pattern": "(fi|ne)+"})).text == "a.txt\n1:fine\n[1 match]"


async def test_leaving_early_ends_the_process() -> None:
    began = time.monotonic()
    with anyio.move_on_after(0.2) as scope:
        async with finder(re.compile("(a|a)*$"), patience=60) as finding:
            await finding.fitting(["a" * 100 + "b"])
    assert scope.cancelled_caught
    assert time.monotonic() - began < 10  # leaving waits for the process, whose work would take for ever
