"""The shape of the code: what no linter counts."""

import ast
import sys
from pathlib import Path

import pytest

HOUSE = Path(__file__).parents[2] / "src" / "hermes"
SOURCES = sorted(HOUSE.rglob("*.py"))
PURE = [path for path in SOURCES if path.relative_to(HOUSE).parts[0] in {"core", "lib"}]


def imported(path: Path) -> set[str]:
    """Top-level package names imported anywhere in the file, late imports included."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.split(".")[0])
    return names


def name(path: Path) -> str:
    return str(path.relative_to(HOUSE))


@pytest.mark.parametrize("path", SOURCES, ids=name)
def test_a_file_says_what_it_is_in_its_first_line(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text("utf-8")))


@pytest.mark.parametrize("path", PURE, ids=name)
def test_core_and_lib_import_only_the_standard_library(path: Path) -> None:
    assert imported(path) <= sys.stdlib_module_names | {"hermes"}


def test_the_engine_imports_anyio_and_the_standard_library_alone() -> None:
    engine = [path for path in SOURCES if path.relative_to(HOUSE).parts[0] == "engine"]
    assert engine
    assert set().union(*map(imported, engine)) <= sys.stdlib_module_names | {"hermes", "anyio"}
