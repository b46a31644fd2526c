"""The reference pages are written from the registries, and nothing is missing in them."""

import subprocess
import sys
from pathlib import Path
from pkgutil import iter_modules

import hermes.app.ops
import hermes.commands
import hermes.tools
from hermes.core.commands import Command
from hermes.core.tools import Tool
from hermes.plugins.discover import values
from hermes.providers import vendors

SCRIPT = Path(__file__).parents[2] / "scripts" / "reference.py"


def test_every_tool_command_operation_and_vendor_has_its_place(tmp_path: Path) -> None:
    subprocess.run([sys.executable, SCRIPT, tmp_path], check=True)
    pages = {path.stem: path.read_text("utf-8") for path in tmp_path.glob("*.md")}
    assert set(pages) == {"tools", "slash-commands", "commands", "vendors", "settings"}
    for tool in values(hermes.tools, Tool):
        assert f"## `{tool.spec.name}`" in pages["tools"]
    for command in values(hermes.commands, Command):
        assert f"`/{command.name}`" in pages["slash-commands"]
    for module in iter_modules(hermes.app.ops.__path__):
        assert f"## hermes {module.name}" in pages["commands"]
    for name in vendors.names():
        assert f"`{name}`" in pages["vendors"]
    assert "max_turns" in pages["settings"]
