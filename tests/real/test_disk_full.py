"""A disk that is really full: one clear message, nothing half-written, and it works again afterwards."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from hermes.testing.endpoint import ModelServer, Says

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 1 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], check=True)
    yield folder
    subprocess.run(["umount", folder], check=True)


async def hermes(home: Path, *args: str) -> subprocess.CompletedProcess[bytes]:
    env = {"HERMES_HOME": str(home), "HOME": str(home), "PATH": os.environ["PATH"]}
    return await anyio.run_process([sys.executable, "-m", "hermes", *args], env=env, check=False, input=b"")


async def test_a_full_disk(small_disk: Path) -> None:
    async with ModelServer(lambda _: Says("an answer")) as server:
        (small_disk / "config.yaml").write_text(
            f"model:\n  default: m\n  provider: custom\n  base_url: {server.url}/v1\n  api_key: k\n"
        )
        assert (await hermes(small_disk, "-z", "first")).returncode == 0
        ballast = small_disk / "ballast"
        with ballast.open("wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(4096))
            except OSError:
                pass  # now it is full
        full = await hermes(small_disk, "-c", "-z", "second")
        assert full.returncode == 1
        assert full.stdout == b""
        assert b"full" in full.stderr.lower() or b"space" in full.stderr.lower()
        assert b"Traceback" not in full.stderr
        ballast.unlink()
        again = await hermes(small_disk, "-c", "-z", "third")
        assert (again.returncode, again.stdout) == (0, b"an answer\n")
        said = [m["content"].split("\n")[0] for m in server.asked[-1].json["messages"] if m["role"] == "user"]
    assert said[0] == "first"
    assert said[-1] == "third"
