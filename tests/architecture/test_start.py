"""What must not be loaded on the way to the first answer, or before it is needed."""

import subprocess
import sys

import pytest

HEAVY = ("rich", "prompt_toolkit", "psycopg", "xllamacpp", "ruamel", "mcp", "pydantic", "importlib.metadata")


def loaded(code: str) -> set[str]:
    """The names of all modules that are there after the code."""
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.split())


def test_the_package_itself_costs_nothing() -> None:
    names = loaded("import hermes")
    assert {name for name in names if name.startswith("hermes")} == {"hermes"}


def test_the_version_needs_nothing() -> None:
    names = loaded("import hermes.app.main")
    assert not names & {"asyncio", "argparse", "hermes.config.load", "anyio", "msgspec"}


@pytest.mark.parametrize("module", ["hermes.app.front", "hermes.app.ops.oneshot"])
def test_one_question_loads_no_screen_no_second_database_and_no_client(module: str) -> None:
    names = loaded(f"import {module}")
    assert not names & {
        *HEAVY,
        "httpx2",
        "hermes.stores.postgres",
        "hermes.stores.index",
        "hermes.config.edit",
    }
