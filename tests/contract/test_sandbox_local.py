"""LocalSandbox keeps the sandbox contract, and the promises that only a local one can make."""

import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from hermes.core.errors import ToolError
from hermes.sandboxes.local import LocalSandbox, Supervisor, child_environment, place
from hermes.testing.sandbox_contract import SandboxContract

pytestmark = pytest.mark.anyio

ENVIRON = {"PATH": os.environ["PATH"], "HOME": "/nonexistent-home", "OPENAI_API_KEY": "sk-canary"}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def sandbox(tmp_path: Path) -> AsyncIterator[LocalSandbox]:
    (tmp_path / "work").mkdir()
    made = LocalSandbox(str(tmp_path / "work"), ENVIRON, tmp_path / "spool", grace=0.1)
    yield made
    await made.aclose()


class TestLocalSandbox(SandboxContract):
    pass


def alive(pid: int) -> bool:
    """True while a process runs; one that waits to be reaped does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def wait_until_gone(pids: list[int], seconds: float) -> bool:
    end = time.monotonic() + seconds
    while any(map(alive, pids)):
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def pid_in(file: Path) -> int:
    """The number a command writes into this file, as soon as it has."""
    end = time.monotonic() + 10
    while not (file.exists() and file.read_text().endswith("\n")):
        assert time.monotonic() < end, f"nothing was written to {file}"
        time.sleep(0.01)
    return int(file.read_text())


async def test_keys_are_not_inherited(sandbox: LocalSandbox) -> None:
    shown = (await sandbox.run("env")).output
    assert "sk-canary" not in shown
    assert "HOME=/nonexistent-home" in shown


def test_what_is_inherited_is_a_list_of_names_and_what_is_asked_for() -> None:
    harmless = {
        "LANG": "C",
        "LC_ALL": "ca_ES@valencia",
        "XDG_RUNTIME_DIR": "/r",
        "PATH": "/opt/python@3.11/bin",
    }
    secret = {"MY_TOKEN": "x", "AWS_SECRET": "y", "LC_SECRET_TOKEN": "z", "XDG_SECRET": "z"}
    assert child_environment(harmless | secret) == harmless
    assert child_environment(harmless | secret, ("MY_TOKEN",)) == harmless | {"MY_TOKEN": "x"}


def test_a_url_with_a_password_is_not_inherited_unless_asked_for() -> None:
    harmless = {"HTTP_PROXY": "http://proxy:8080", "all_proxy": "proxy:8080", "NO_PROXY": ".a.test,::1"}
    secret = {
        "https_proxy": "http://u:secret@proxy:8080",
        "ALL_PROXY": "u:secret@proxy:8080",
        "PIP_INDEX_URL": "https://token@pypi.a.test/simple",
    }
    assert child_environment(harmless | secret) == harmless
    assert child_environment(secret, tuple(secret)) == secret


async def test_a_child_with_a_session_of_its_own_is_ended_at_the_deadline(sandbox: LocalSandbox) -> None:
    done = await sandbox.run("setsid sh -c 'echo $$; exec sleep 99' & sleep 99", timeout=0.4)
    pid = int(done.output)
    assert done.timed_out
    assert not alive(pid)


async def test_what_was_left_running_ends_when_the_session_closes(tmp_path: Path) -> None:
    shared = Supervisor()
    one = LocalSandbox(str(tmp_path), ENVIRON, tmp_path / "spool", supervisor=shared)
    other = LocalSandbox(str(tmp_path), ENVIRON, tmp_path / "spool", supervisor=shared)
    mine = int((await one.run("setsid sleep 98 >/dev/null & echo $!")).output)
    theirs = int((await other.run("sleep 97 & echo $!")).output)
    await one.aclose()
    assert not alive(mine)
    assert alive(theirs)
    await anyio.to_thread.run_sync(shared.close)
    assert not alive(theirs)


async def test_endless_output_is_stopped_and_said(tmp_path: Path) -> None:
    sandbox = LocalSandbox(str(tmp_path), ENVIRON, tmp_path / "spool", output_cap=1_000_000)
    done = await sandbox.run("yes", timeout=30)
    assert done.seconds < 10
    assert done.size == 1_000_000
    assert done.exit_code != 0
    assert "passed 1,000,000 bytes" in done.output
    assert (await sandbox.stat(done.file)).size == 1_000_000
    await sandbox.aclose()


async def test_endless_output_of_a_child_left_behind_is_stopped_too(tmp_path: Path) -> None:
    sandbox = LocalSandbox(str(tmp_path), ENVIRON, tmp_path / "spool", output_cap=1_000_000)
    pid = int((await sandbox.run("yes & echo $!")).output.split()[0])
    assert await anyio.to_thread.run_sync(wait_until_gone, [pid], 8.0)
    await sandbox.aclose()


async def test_a_full_disk_is_said(tmp_path: Path) -> None:
    sandbox = LocalSandbox(str(tmp_path), ENVIRON, tmp_path / "spool", free=lambda _: 0)
    done = await sandbox.run("echo half; exit 1")
    assert done.output.startswith("half\n")
    assert f"{tmp_path / 'spool'} is full" in done.output
    await sandbox.aclose()


async def test_a_spool_that_cannot_be_made_is_an_error_and_no_hang(tmp_path: Path) -> None:
    (tmp_path / "spool").write_text("a file in the way")
    sandbox = LocalSandbox(str(tmp_path), ENVIRON, tmp_path / "spool")
    with anyio.fail_after(5), pytest.raises(ToolError, match="spool"):
        await sandbox.run("echo x")
    await sandbox.aclose()


async def test_a_command_too_long_for_the_system_is_said(sandbox: LocalSandbox) -> None:
    with pytest.raises(ToolError, match="too long"):
        await sandbox.run("echo " + "x" * 300_000)


async def test_a_lost_supervisor_is_an_error_once_and_then_replaced(tmp_path: Path) -> None:
    supervisor = Supervisor()
    sandbox = LocalSandbox(str(tmp_path), ENVIRON, tmp_path / "spool", supervisor=supervisor)
    await sandbox.run("true")

    async def lose() -> None:
        await anyio.to_thread.run_sync(pid_in, tmp_path / "pid")
        os.kill(supervisor.pid, signal.SIGKILL)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(lose)
        with anyio.fail_after(5), pytest.raises(ToolError, match="could not be run"):
            await sandbox.run("echo $$ > pid; exec sleep 94")
    pid = pid_in(tmp_path / "pid")
    assert await anyio.to_thread.run_sync(wait_until_gone, [pid], 2.0)
    assert (await sandbox.run("echo again")).output == "again\n"
    await anyio.to_thread.run_sync(supervisor.close)


@pytest.mark.parametrize("again", ["", "while :; do kill -STOP $PPID; done & "])
async def test_a_command_that_stops_the_supervisor_ends_at_its_deadline(tmp_path: Path, again: str) -> None:
    supervisor = Supervisor()
    sandbox = LocalSandbox(str(tmp_path), ENVIRON, tmp_path / "spool", supervisor=supervisor, grace=0.2)
    with anyio.fail_after(0.4 + 0.2 + 3):
        done = await sandbox.run(
            f"setsid sleep 92 & echo $! >pid; {again}kill -STOP $PPID; sleep 91", timeout=0.4
        )
    assert done.timed_out
    assert not alive(pid_in(tmp_path / "pid"))
    assert (await sandbox.run("echo again")).output == "again\n"
    await sandbox.aclose()
    await anyio.to_thread.run_sync(supervisor.close)


async def test_a_supervisor_that_never_answers_is_killed_with_all_it_owns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(place, "ANSWER", 0.2)
    monkeypatch.setattr(place, "LATE", 0.2)
    supervisor = Supervisor()
    monkeypatch.setattr(supervisor, "wake", lambda: None)
    sandbox = LocalSandbox(str(tmp_path), ENVIRON, tmp_path / "spool", supervisor=supervisor, grace=0.2)
    command = "setsid env -i sleep 92 & echo $! >pid; echo said; kill -STOP $PPID; sleep 91"
    with anyio.fail_after(0.4 + 0.2 + 3):
        done = await sandbox.run(command, timeout=0.4)
    assert (done.timed_out, done.exit_code, done.output) == (True, 137, "said\n")
    assert not alive(pid_in(tmp_path / "pid"))
    assert (await sandbox.run("echo again")).output == "again\n"
    await anyio.to_thread.run_sync(supervisor.close)


async def test_stopping_a_turn_ends_a_command_that_stopped_the_supervisor(tmp_path: Path) -> None:
    sandbox = LocalSandbox(str(tmp_path), ENVIRON, tmp_path / "spool", grace=0.2)
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(sandbox.run, "kill -STOP $PPID; echo $$ >pid; exec sleep 91")
            pid = await anyio.to_thread.run_sync(pid_in, tmp_path / "pid")
            tasks.cancel_scope.cancel()
        assert not alive(pid)
        await sandbox.aclose()


async def test_closing_does_not_wait_for_a_stopped_supervisor(tmp_path: Path) -> None:
    supervisor = Supervisor()
    sandbox = LocalSandbox(str(tmp_path), ENVIRON, tmp_path / "spool", supervisor=supervisor)
    pid = int((await sandbox.run("sleep 90 & echo $!; kill -STOP $PPID & sleep 0.1", timeout=0.2)).output)
    os.kill(supervisor.pid, signal.SIGSTOP)
    with anyio.fail_after(5):
        await anyio.to_thread.run_sync(supervisor.close)
    assert not alive(pid)


async def test_the_spool_holds_only_what_was_promised(sandbox: LocalSandbox, tmp_path: Path) -> None:
    for _ in range(3):
        await sandbox.run("echo x; cd /")
    with anyio.move_on_after(0.1):
        await sandbox.run("sleep 9")
    await sandbox.run("sleep 93 &")
    kept = (await sandbox.run("seq 1 1000", limit=100)).file
    await sandbox.aclose()
    assert [str(path) for path in (tmp_path / "spool").iterdir()] == [kept]


def mode(path: Path | int) -> int:
    return stat.S_IMODE(os.stat(path).st_mode)


async def test_a_private_file_is_private_while_it_is_written(
    sandbox: LocalSandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    private = tmp_path / "work/private"
    private.write_text("old")
    private.chmod(0o600)
    seen: list[tuple[int, int]] = []
    fchmod, fsync = os.fchmod, os.fsync
    monkeypatch.setattr(
        os, "fchmod", lambda fd, to: (seen.append((mode(fd), os.stat(fd).st_size)), fchmod(fd, to))
    )
    monkeypatch.setattr(os, "fsync", lambda fd: (seen.append((mode(fd), os.stat(fd).st_size)), fsync(fd)))
    await sandbox.write(str(private), b"secret")
    assert seen == [(0o600, 0), (0o600, 6)]
    assert (private.read_text(), mode(private)) == ("secret", 0o600)


async def test_a_file_made_by_somebody_else_meanwhile_is_not_written_over(
    sandbox: LocalSandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fsync = os.fsync
    theirs = tmp_path / "work/new"
    monkeypatch.setattr(os, "fsync", lambda fd: (theirs.write_text("theirs"), fsync(fd)))
    with pytest.raises(ToolError, match="somebody else"):
        await sandbox.write("new", b"mine")
    assert theirs.read_text() == "theirs"
    assert [path.name for path in (tmp_path / "work").iterdir()] == ["new"]


async def test_a_new_file_is_as_open_as_any_other(sandbox: LocalSandbox, tmp_path: Path) -> None:
    await sandbox.run("touch usual")
    await sandbox.write("new", b"x")
    assert mode(tmp_path / "work/new") == mode(tmp_path / "work/usual")
    assert (tmp_path / "work/new").stat().st_nlink == 1


AGENT = """
import os, sys, signal, threading, time
from pathlib import Path
import anyio
from hermes.sandboxes.local import LocalSandbox

async def main():
    sandbox = LocalSandbox(sys.argv[1], {"PATH": os.environ["PATH"]}, Path(sys.argv[1]) / "spool")
    command = "setsid sh -c 'echo $$ > one; exec sleep 96' & echo $$ > two; exec sleep 95"
    await sandbox.run(command, timeout=float(sys.argv[2]))

anyio.run(main)
"""


def start_agent(folder: Path, timeout: float) -> tuple[subprocess.Popen[bytes], list[int]]:
    agent = subprocess.Popen([sys.executable, "-c", AGENT, str(folder), str(timeout)])
    return agent, [pid_in(folder / "one"), pid_in(folder / "two")]


def test_when_the_agent_is_killed_its_commands_end(tmp_path: Path) -> None:
    agent, pids = start_agent(tmp_path, 60)
    agent.kill()
    agent.wait()
    assert wait_until_gone(pids, 2.0)


def test_when_the_agent_is_killed_a_stopped_supervisor_wakes_and_ends_them(tmp_path: Path) -> None:
    agent, pids = start_agent(tmp_path, 60)
    supervisor = int(Path(f"/proc/{pids[1]}/stat").read_text().rpartition(")")[2].split()[1])
    os.kill(supervisor, signal.SIGSTOP)
    agent.kill()
    agent.wait()
    assert wait_until_gone([*pids, supervisor], 3.0)


def test_a_deadline_holds_while_the_agent_stands_still(tmp_path: Path) -> None:
    agent, pids = start_agent(tmp_path, 1.0)
    agent.send_signal(signal.SIGSTOP)
    try:
        assert wait_until_gone(pids, 4.0)
    finally:
        agent.kill()
        agent.wait()
