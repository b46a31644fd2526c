"""kill -9 at random moments of a turn, again and again, in one session: nothing lost, nothing done twice."""

import json
import os
import random
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import anyio
import pytest

from hermes.testing.endpoint import Answer, Asked, ModelServer, Says
from hermes.testing.wire_rules import complaints

pytestmark = pytest.mark.anyio

KILLS = int(os.environ.get("HERMES_KILLS", "300"))


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def rounds(asked: Asked) -> list[int]:
    """The prompts that the model was shown."""
    said = [m["content"] for m in json.loads(asked.body)["messages"] if m["role"] == "user"]
    return [int(n) for text in said for n in re.findall(r"round (\d+)", text)]


def answer(asked: Asked) -> Answer:
    """A command first, words after it."""
    messages = json.loads(asked.body)["messages"]
    if messages[-1]["role"] == "tool":
        return Says("done with it " * 20)
    return Says("", (("terminal", {"command": f"echo {rounds(asked)[-1]} >> ran.txt; sleep 0.05"}),))


async def test_random_kills(tmp_path: Path) -> None:
    chance = random.Random(20261130)
    env = {"HERMES_HOME": str(tmp_path / "home"), "HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    (tmp_path / "home").mkdir()
    killed = finished = 0
    async with ModelServer(answer) as server:
        (tmp_path / "home" / "config.yaml").write_text(
            f"model:\n  default: m\n  provider: custom\n  base_url: {server.url}/v1\n  api_key: k\n"
            "approvals:\n  mode: 'off'\n"
        )
        for n in range(KILLS):
            command = [sys.executable, "-m", "hermes", *(["-c"] if n else []), "-z", f"round {n}"]
            async with await anyio.open_process(
                command,
                cwd=tmp_path,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=None,
            ) as process:
                with anyio.move_on_after(None if n == 0 else chance.uniform(0.15, 0.6)) as moment:
                    await process.wait()
                if moment.cancelled_caught:
                    killed += 1
                    process.kill()
                    await process.wait()
                else:
                    finished += 1
                    assert process.returncode == 0
    for asked in server.asked:
        assert complaints("openai_chat", asked.body) == []
    seen: list[int] = []
    for asked in server.asked:  # what the model was shown once is in every later request, in order
        now = rounds(asked)
        assert now[: len(seen)] == seen
        seen = now
    ran = Counter((tmp_path / "ran.txt").read_text().split())
    assert max(ran.values()) == 1
    print(f"\n{killed} kills, {finished} turns ended, {len(seen)} prompts kept, {len(ran)} commands run once")
