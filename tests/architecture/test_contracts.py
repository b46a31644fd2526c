"""The import contracts hold, and each kind of violation is really caught."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# contract -> (file to spoil, line to plant)
PLANTED = {
    "Dependencies point down": ("core/ids.py", "from hermes.engine import turn"),
    "Only app knows concrete capabilities": ("shells/__init__.py", "from hermes.stores import open"),
    "Extensions are handed their settings and services": (
        "tools/read_file.py",
        "from hermes.config import load",
    ),
    "Extensions do not know each other": ("tools/write_file.py", "from hermes.tools import read_file"),
    "No cycles among siblings anywhere": ("lib/ids.py", "from hermes.lib import text"),
}
FRAMEWORKS = {
    "Core, lib and engine import no framework": (("core", "anyio"), ("core", "yaml"), ("lib", "msgspec")),
    "The engine imports anyio and nothing else": (("engine", "httpx2"), ("engine", "psycopg")),
}


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [Path(sys.executable).parent / "lint-imports", "--no-cache", folder / "pyproject.toml"],
        cwd=folder,
        env={"PYTHONPATH": str(folder / "src"), "PATH": "/usr/bin:/bin", "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def spoiled(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What the check says of a copy in which every contract is violated."""
    folder = tmp_path_factory.mktemp("house")
    shutil.copy(ROOT / "pyproject.toml", folder)
    shutil.copytree(ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__"))
    house = folder / "src" / "hermes"
    plants = [*PLANTED.values(), ("lib/text.py", "from hermes.lib import ids")]
    plants += [
        (f"{room}/zz_{name}.py", f"import {name}") for uses in FRAMEWORKS.values() for room, name in uses
    ]
    for name, line in plants:
        with (house / name).open("a", encoding="utf-8") as file:
            file.write(f"\n{line}\n")
    (house / "attic").mkdir()
    (house / "attic" / "__init__.py").write_text('"""A room nobody planned."""\n')
    done = lint(folder)
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("contract", [*PLANTED, *FRAMEWORKS])
def test_a_planted_violation_breaks_its_contract(spoiled: str, contract: str) -> None:
    assert f"{contract} BROKEN" in spoiled


@pytest.mark.parametrize(("room", "name"), [use for uses in FRAMEWORKS.values() for use in uses])
def test_a_framework_in_a_pure_room_is_named(spoiled: str, room: str, name: str) -> None:
    assert f"hermes.{room}.zz_{name} -> {name}" in spoiled


def test_the_house_itself_keeps_every_contract() -> None:
    done = lint(ROOT)
    assert done.returncode == 0, done.stdout


def test_an_upward_import_and_an_unplanned_room_are_named(spoiled: str) -> None:
    assert "hermes.core.ids -> hermes.engine.turn" in spoiled
    assert "attic" in spoiled


def test_a_sibling_that_is_imported_is_named(spoiled: str) -> None:
    assert "hermes.tools.write_file -> hermes.tools.read_file" in spoiled
    assert "hermes.shells -> hermes.stores.open" in spoiled
    assert "hermes.tools.read_file -> hermes.config.load" in spoiled
