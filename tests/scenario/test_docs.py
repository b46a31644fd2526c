"""The examples of the documentation run."""

import asyncio
import re
from pathlib import Path

import pytest

from hermes.testing.endpoint import ModelServer, Says

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
EXAMPLES = [
    pytest.param(code, id=f"{page.stem}-{n}")
    for page in PAGES
    for n, code in enumerate(BLOCK.findall(page.read_text("utf-8")))
]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.parametrize("code", EXAMPLES)
async def test_an_example_runs(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    async with ModelServer(lambda _: Says("Hello.")) as server:
        page = compile(code.replace("http://127.0.0.1:8080", server.url), "example", "exec")
        await asyncio.to_thread(exec, page, {"__name__": "example"})
        talks = ("agent.run_conversation(", "agent.stream(")
        assert bool(server.asked) == any(name in code for name in talks)
