"""The hermes command itself, as a process, against a real endpoint."""

import asyncio
import os
import pty
import re
import signal
import sqlite3
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import pytest

from hermes.app.clock import SystemClock
from hermes.core.messages import Role
from hermes.stores.open import open_store
from hermes.testing.endpoint import Fails, ModelServer, Says
from hermes.testing.wire_rules import complaints

pytestmark = pytest.mark.anyio

HERMES = [sys.executable, "-m", "hermes"]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@dataclass
class Desk:
    """A home, a folder to work in, and the command."""

    root: Path
    env: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.home, self.work = self.root / "home", self.root / "work"
        self.home.mkdir()
        self.work.mkdir()

    def configure(self, server: ModelServer | str, extra: str = "") -> None:
        url = server if isinstance(server, str) else f"{server.url}/v1"
        (self.home / "config.yaml").write_text(
            f"model:\n  default: m\n  provider: custom\n  base_url: {url}\n"
            f"  api_key: sk-canary-1234567890\n{extra}"
        )

    @property
    def environ(self) -> dict[str, str]:
        return {
            "HERMES_HOME": str(self.home),
            "HOME": str(self.root),
            "PATH": os.environ["PATH"],
            **self.env,
        }

    async def run(self, *args: str, stdin: bytes | None = None) -> tuple[int, str, str]:
        with anyio.fail_after(30):
            done = await anyio.run_process(
                [*HERMES, *args], input=stdin or b"", check=False, cwd=self.work, env=self.environ
            )
        return done.returncode, done.stdout.decode(), done.stderr.decode()


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


async def test_the_answer_is_on_stdout_and_nothing_else(desk: Desk) -> None:
    (desk.work / "a.txt").write_text("the word is marzipan\n")
    async with ModelServer(
        [Says("Looking.", (("read_file", {"path": "a.txt"}),)), Says("marzipan")]
    ) as server:
        desk.configure(server)
        code, out, err = await desk.run("-z", "what is the word?")
        assert "marzipan" in server.asked[1].json["messages"][-1]["content"]
    assert (code, out) == (0, "marzipan\n")
    assert "custom/m" in err
    assert "read_file" in err


async def test_version_and_help(desk: Desk) -> None:
    assert (await desk.run("--version"))[:2] == (0, "hermes 0.1.0\n")
    code, out, _ = await desk.run("--help")
    assert code == 0
    assert {"chat", "config", "doctor", "model", "sessions"} <= set(
        re.findall(r"^  (\w+) ", out, re.MULTILINE)
    )
    code, out, _ = await desk.run("sessions", "--help")
    assert (code, out.startswith("usage: hermes sessions")) == (0, True)


async def test_a_mistyped_command_or_option_is_usage(desk: Desk) -> None:
    code, _, err = await desk.run("sesions")
    assert (code, err) == (
        2,
        "hermes: there is no command 'sesions'. Did you mean sessions? `hermes --help` lists them.\n",
    )
    assert (await desk.run("--frobnicate"))[0] == 2


async def test_a_conversation_is_taken_up_again(desk: Desk) -> None:
    async with ModelServer([Says("Hello Ada."), Says("Ada."), Says("Still Ada.")]) as server:
        desk.configure(server)
        await desk.run("-z", "I am Ada")
        assert (await desk.run("--continue", "-z", "who am I?"))[1] == "Ada.\n"
        key = re.search(r"\d{8}-\d{6}-\w{6}", (await desk.run("sessions", "list"))[1])
        assert key
        assert (await desk.run("--resume", key.group(), "-z", "sure?"))[1] == "Still Ada.\n"
        last = server.asked[2].json["messages"]
    assert [m["role"] for m in last] == ["system", "user", "assistant", "user", "assistant", "user"]
    assert (await desk.run("--resume", "nonsense", "-z", "x"))[0] == 2


async def test_no_model_anywhere_says_how_to_get_one(desk: Desk) -> None:
    code, out, err = await desk.run("-z", "hi")
    assert (code, out) == (1, "")
    assert "hermes model" in err
    assert "ANTHROPIC_API_KEY" in err


@pytest.mark.parametrize(
    ("fault", "says"), [("auth", "key"), ("missing", "m"), ("bad", "did not accept"), ("context", "context")]
)
async def test_a_refusal_of_the_endpoint_is_one_clear_message(desk: Desk, fault: str, says: str) -> None:
    async with ModelServer([Fails(fault), Says("back again")]) as server:  # type: ignore[arg-type]
        desk.configure(server)
        code, out, err = await desk.run("-z", "hi")
        assert (code, out) == (1, "")
        assert says in err.lower()
        assert "sk-canary" not in err
        assert len(server.asked) == 1
        assert (await desk.run("-c", "-z", "and now?"))[:2] == (0, "back again\n")


async def test_broken_settings_stop_it_before_anything_runs(desk: Desk) -> None:
    (desk.home / "config.yaml").write_text("model:\n  default: [m\n")
    code, out, err = await desk.run("-z", "hi")
    assert (code, out) == (2, "")
    assert "config.yaml" in err
    assert len(err.splitlines()) <= 3
    desk.configure("http://127.0.0.1:9/v1", "database:\n  url: 7\n")
    assert (await desk.run("-z", "hi"))[0] == 2


async def test_a_home_that_cannot_be_used(desk: Desk) -> None:
    async with ModelServer([Says("hi")]) as server:
        desk.configure(server)
        (desk.home / "hermes.db").mkdir()
        code, _, err = await desk.run("-z", "hi")
    assert code == 1
    assert "hermes.db" in err
    assert "Traceback" not in err


async def test_a_store_of_a_newer_version_is_left_alone(desk: Desk) -> None:
    async with ModelServer([Says("hi"), Says("hi")]) as server:
        desk.configure(server)
        assert (await desk.run("-z", "hi"))[0] == 0
        with sqlite3.connect(desk.home / "hermes.db") as db:
            db.execute("PRAGMA user_version = 9999")
        db.close()
        before = (desk.home / "hermes.db").read_bytes()
        code, _, err = await desk.run("-z", "hi")
    assert code == 1
    assert "newer version" in err
    assert (desk.home / "hermes.db").read_bytes() == before


async def test_what_needs_a_yes_is_refused_when_nobody_is_there(desk: Desk) -> None:
    (desk.root / "precious").mkdir()
    script = [Says("", (("terminal", {"command": f"rm -rf {desk.root}/precious"}),)), Says("It was refused.")]
    async with ModelServer(script) as server:
        desk.configure(server)
        code, out, err = await desk.run("-z", "tidy up")
        assert "nobody is there" in server.asked[1].json["messages"][-1]["content"]
    assert (code, out) == (4, "It was refused.\n")
    assert (desk.root / "precious").is_dir()
    assert "denied" in err or "refused" in err


async def test_what_is_never_run_is_refused_too(desk: Desk) -> None:
    script = [Says("", (("terminal", {"command": "rm -rf /"}),)), Says("I may not.")]
    async with ModelServer(script) as server:
        desk.configure(server, "approvals:\n  mode: 'off'\n")
        assert (await desk.run("-z", "clean up"))[:2] == (4, "I may not.\n")


async def test_the_limit_of_model_calls_is_exit_code_3(desk: Desk) -> None:
    (desk.work / "a.txt").write_text("x\n")
    async with ModelServer(lambda _: Says("", (("read_file", {"path": "a.txt"}),))) as server:
        desk.configure(server, "agent:\n  max_turns: 2\n")
        code, _, err = await desk.run("-z", "go on for ever")
        assert len(server.asked) == 2
    assert code == 3
    assert "2 model calls" in err


async def test_an_interrupt_ends_the_turn_and_keeps_the_history_valid(desk: Desk) -> None:
    async with ModelServer([Says("", (("terminal", {"command": "sleep 60"}),)), Says("fine")]) as server:
        desk.configure(server)
        process = await asyncio.create_subprocess_exec(
            *HERMES, "-z", "wait", cwd=desk.work, env=desk.environ, stderr=asyncio.subprocess.PIPE
        )
        assert process.stderr
        with anyio.fail_after(20):
            while b"sleep 60" not in await process.stderr.readline():
                pass  # the call runs now
            process.send_signal(signal.SIGINT)
            assert await process.wait() == 130
            await process.stderr.read()
        assert (await desk.run("-c", "-z", "and now?"))[1] == "fine\n"
        assert complaints("openai_chat", server.asked[1].body) == []
        results = [m["content"] for m in server.asked[1].json["messages"] if m["role"] == "tool"]
    assert len(results) == 1
    assert "interrupted" in results[0]


async def test_text_that_was_shown_survives_kill_9(desk: Desk) -> None:
    """R13: the stream breaks off because the process is killed; what a person saw is in the store."""
    words = " ".join(f"word{n}" for n in range(400))
    async with ModelServer([Fails("silent", "text", Says(words)), Says("going on")]) as server:
        desk.configure(server)
        shown = await asyncio.to_thread(_watch_and_kill, desk, len(words) // 2)
        store = open_store(desk.home / "hermes.db", SystemClock())
        (session,) = await store.read(lambda tx: tx.sessions.list(5))
        rows = await store.read(lambda tx: tx.messages.all(session.id))
        kept = await store.read(lambda tx: tx.drafts.read(session.id))
        await store.close()
        assert [row.message.text for row in rows] == ["tell me"]
        assert words.startswith(kept)
        assert len(kept) >= 0.95 * len(shown)
        code, seen, _ = await desk.run("sessions", "show", session.id)
        assert (code, kept.rpartition(" ")[2] in seen) == (0, True)
        assert (await desk.run("-c", "-z", "go on"))[1] == "going on\n"
        assert complaints("openai_chat", server.asked[1].body) == []
        said = [m["content"] for m in server.asked[1].json["messages"] if m["role"] == Role.ASSISTANT]
    assert said
    assert kept in said[0]


def _watch_and_kill(desk: Desk, expected: int) -> str:
    """Run on a terminal until this much of the answer is on the screen, then kill -9. What was shown."""
    pid, screen = pty.fork()
    if pid == 0:
        os.chdir(desk.work)
        os.execve(HERMES[0], [*HERMES, "-z", "tell me"], {**desk.environ, "TERM": "xterm"})
    text = ""
    while len(_words(text)) < expected - 10:
        text += os.read(screen, 4096).decode()
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    os.close(screen)
    return _words(text)


def _words(screen: str) -> str:
    return " ".join(re.findall(r"word\d+", screen))


async def test_kill_9_in_a_tool_call_answers_it_interrupted_and_does_not_run_it_again(desk: Desk) -> None:
    call = Says("", (("terminal", {"command": "echo once >> ran.txt; sleep 60"}),))
    async with ModelServer([call, Says("it may have happened")]) as server:
        desk.configure(server, "approvals:\n  mode: 'off'\n")
        process = await asyncio.create_subprocess_exec(
            *HERMES, "-z", "do it", cwd=desk.work, env=desk.environ, stderr=asyncio.subprocess.DEVNULL
        )
        with anyio.fail_after(20):
            while not (desk.work / "ran.txt").exists():  # noqa: ASYNC110  another process makes it
                await anyio.sleep(0.01)
            process.kill()
            await process.wait()
        assert (await desk.run("-c", "-z", "what happened?"))[0] == 0
        assert complaints("openai_chat", server.asked[1].body) == []
        results = [m["content"] for m in server.asked[1].json["messages"] if m["role"] == "tool"]
    assert len(results) == 1
    assert "interrupted" in results[0]
    assert (desk.work / "ran.txt").read_text() == "once\n"


async def test_a_lone_surrogate_is_shown_stored_and_found(desk: Desk) -> None:
    """Case uni-01, in the terminal."""
    async with ModelServer([Says("price \ud83d end"), Says("ok")]) as server:
        desk.configure(server)
        assert (await desk.run("-z", "what is the price?"))[:2] == (0, "price \ufffd end\n")
        assert (await desk.run("-c", "-z", "again"))[0] == 0
        assert server.asked[1].json["messages"][2]["content"] == "price \ufffd end"
    code, out, _ = await desk.run("sessions", "search", "price")
    assert code == 0
    assert "price" in out


async def test_the_key_is_in_no_file_of_the_home_but_the_settings(desk: Desk) -> None:
    async with ModelServer([Says("hi"), Fails("auth")]) as server:
        desk.configure(server)
        await desk.run("-z", "hi")
        await desk.run("-z", "hi")
    leaked = [
        path.name
        for path in desk.home.rglob("*")
        if path.is_file() and path.name != "config.yaml" and b"sk-canary" in path.read_bytes()
    ]
    assert leaked == []


@pytest.mark.parametrize(
    "args", [("--help",), ("sessions", "--help"), ("sessions", "list"), ("config", "show")]
)
def test_output_that_cannot_be_written_is_one_sentence(desk: Desk, args: tuple[str, ...]) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*HERMES, *args], stdout=full, stderr=subprocess.PIPE, cwd=desk.work, env=desk.environ, timeout=30
        )
    assert done.returncode == 1
    assert done.stderr.decode() == "hermes: the output cannot be written: No space left on device\n"


async def test_a_folder_that_is_gone_and_a_file_that_is_none_are_one_sentence(desk: Desk) -> None:
    desk.configure("http://127.0.0.1:9/v1")
    (desk.home / "SOUL.md").mkdir()
    code, out, err = await desk.run("-z", "hi")
    assert (code != 0, out, len(err.splitlines())) == (True, "", 1)
    assert "SOUL.md" in err
    leave = f"cd {desk.work} && rmdir {desk.work} && exec {HERMES[0]} -P -m hermes"
    for words in ("-z hi", "explain ls", "sessions export x -o y"):
        with anyio.fail_after(30):
            done = await anyio.run_process(
                ["/bin/sh", "-c", f"mkdir -p {desk.work}; {leave} {words}"], check=False, env=desk.environ
            )
        assert done.returncode in {1, 2}
        assert len(done.stderr.decode().splitlines()) == 1
        assert done.stderr.startswith(b"hermes: ")
