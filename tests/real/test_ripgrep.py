"""search_files with the real ripgrep says what its own walk says."""

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from hermes.sandboxes.local import LocalSandbox
from hermes.testing.sandbox import tool_context
from hermes.tools.search_files import search_files

pytestmark = pytest.mark.anyio

ASKED: list[dict[str, Any]] = [
    {"pattern": "needle"},
    {"pattern": "needle", "context": 1},
    {"pattern": "NEEDLE"},
    {"pattern": r"need\w+ \d", "output_mode": "files_only"},
    {"pattern": "needle", "output_mode": "count"},
    {"pattern": "needle", "file_glob": "*.py"},
    {"pattern": "needle", "path": "sub"},
    {"pattern": "needle", "limit": 2, "offset": 1},
    {"pattern": "京都"},
    {"pattern": "nothing like it"},
]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "sub" / "deep").mkdir(parents=True)
    (tmp_path / "a.py").write_text("import os\nneedle = 1\n\nneedle 2\n")
    (tmp_path / "sub" / "b.txt").write_bytes(b"one needle\r\nno\r\nlast needle 3")
    (tmp_path / "sub" / "deep" / "c.md").write_text("京都で needle\n")
    (tmp_path / "built.log").write_text("needle in what is ignored\n")
    (tmp_path / ".gitignore").write_text("*.log\n")
    (tmp_path / "picture.bin").write_bytes(b"\x00needle\x00")
    return tmp_path


@pytest.mark.parametrize("asked", ASKED, ids=str)
async def test_both_ways_say_the_same(
    tree: Path, tmp_path_factory: pytest.TempPathFactory, asked: dict[str, Any]
) -> None:
    assert shutil.which("rg"), "make real installs it"
    bare = tmp_path_factory.mktemp("bin")
    for name in ("sh", "bash", "head", "command"):
        if path := shutil.which(name):
            (bare / name).symlink_to(path)
    said = []
    for path in (os.environ["PATH"], str(bare)):
        sandbox = LocalSandbox(str(tree), {"PATH": path, "HOME": str(tree)}, tmp_path_factory.mktemp("spool"))
        context = tool_context(tree, sandbox=sandbox)
        said.append((await search_files.run(context, asked)).text)
        await sandbox.aclose()
    assert said[0] == said[1]
