"""What every sandbox promises, as a pytest suite. Subclass it, and give it a `sandbox` fixture.

The fixture yields a fresh sandbox whose working directory is an empty folder:

    @pytest.mark.anyio
    class TestMine(SandboxContract):
        @pytest.fixture
        async def sandbox(self): ...

Everything is done through the sandbox itself, so it may be on another machine.
"""

import secrets

import anyio
import pytest

from hermes.core.errors import ToolError
from hermes.core.sandbox import Sandbox


def _sleeper() -> str:
    """A command that sleeps for long and is like no other on the machine."""
    return f"sleep {4000 + secrets.randbelow(1000)}.{secrets.randbelow(10**6)}"


async def _alive(sandbox: Sandbox, sign: str) -> bool:
    """True while a process with this word in its command line runs; the search does not find itself."""
    found = await sandbox.run(f"ps ax -o args= | grep -c '[{sign[0]}]{sign[1:]}'")
    return found.output.strip() != "0"


async def _gone(sandbox: Sandbox, sign: str) -> bool:
    """True as soon as no such process is left, False after three seconds."""
    with anyio.move_on_after(3):
        while await _alive(sandbox, sign):
            await sandbox.run("sleep 0.05")
        return True
    return False


class SandboxContract:
    # Commands

    async def test_a_command_gives_its_output_and_its_exit_code(self, sandbox: Sandbox) -> None:
        done = await sandbox.run("echo out; echo err >&2; exit 3")
        assert (done.output, done.exit_code, done.size, done.file) == ("out\nerr\n", 3, 8, "")
        assert not done.timed_out

    async def test_a_signal_is_an_exit_code_above_128(self, sandbox: Sandbox) -> None:
        assert (await sandbox.run("kill -9 $$")).exit_code == 137

    async def test_a_command_that_is_not_there_is_said_by_the_shell(self, sandbox: Sandbox) -> None:
        done = await sandbox.run("no-such-program-here")
        assert done.exit_code == 127
        assert "no-such-program-here" in done.output

    async def test_input_is_closed(self, sandbox: Sandbox) -> None:
        done = await sandbox.run('read -r name; echo "hi:$name"; cat', timeout=5)
        assert (done.output, done.timed_out) == ("hi:\n", False)

    async def test_a_deadline_ends_the_command_and_keeps_what_it_said(self, sandbox: Sandbox) -> None:
        sleep = _sleeper()
        done = await sandbox.run(f"echo before; {sleep} & {sleep}", timeout=0.3)
        assert done.timed_out
        assert done.output == "before\n"
        assert done.exit_code != 0
        assert done.seconds < 5
        assert await _gone(sandbox, sleep)

    async def test_a_command_that_ignores_term_is_ended_too(self, sandbox: Sandbox) -> None:
        done = await sandbox.run("trap '' TERM; while :; do sleep 0.05; done", timeout=0.2)
        assert done.timed_out
        assert done.seconds < 5

    async def test_a_background_child_does_not_hold_the_call(self, sandbox: Sandbox) -> None:
        sleep = _sleeper()
        done = await sandbox.run(f"{sleep} & echo started")
        assert (done.output, done.exit_code) == ("started\n", 0)
        assert done.seconds < 3
        assert await _alive(sandbox, sleep)
        await sandbox.run(f"pkill -f '[s]{sleep[1:]}'")

    async def test_cancelling_ends_the_command_and_its_children(self, sandbox: Sandbox) -> None:
        sleep = _sleeper()
        with anyio.move_on_after(0.3) as scope:
            await sandbox.run(f"({sleep}; true) & {sleep}")
        assert scope.cancelled_caught
        assert await _gone(sandbox, sleep)

    async def test_long_output_is_shown_head_and_tail_and_kept_whole(self, sandbox: Sandbox) -> None:
        done = await sandbox.run("seq 1 20000", limit=1_000)
        assert done.output.startswith("1\n2\n3\n")
        assert done.output.endswith("19999\n20000\n")
        assert len(done.output) < 1_100
        whole = await sandbox.read(done.file)
        assert len(whole) == done.size
        assert whole.split() == [str(n).encode() for n in range(1, 20_001)]

    async def test_bytes_that_are_no_text_become_replacement_characters(self, sandbox: Sandbox) -> None:
        done = await sandbox.run(r"printf 'a\377\355\240\200b\n'")
        done.output.encode()
        assert done.output[0] + done.output[-2:] == "ab\n"
        assert "\ufffd" in done.output

    async def test_a_character_is_not_cut_in_two(self, sandbox: Sandbox) -> None:
        done = await sandbox.run("for i in $(seq 1 400); do printf 'é€😀'; done", limit=101)
        assert "\ufffd" not in done.output

    async def test_folder_and_environment_of_a_command(self, sandbox: Sandbox) -> None:
        await sandbox.write("sub/file", b"")
        done = await sandbox.run('ls; echo "$GREETING"', cwd="sub", env={"GREETING": "good day"})
        assert done.output == "file\ngood day\n"

    async def test_a_folder_that_is_not_there_is_an_error(self, sandbox: Sandbox) -> None:
        with pytest.raises(ToolError, match="nowhere"):
            await sandbox.run("echo never", cwd="nowhere")

    async def test_where_cd_leads_is_told(self, sandbox: Sandbox) -> None:
        await sandbox.write("sub/file", b"")
        done = await sandbox.run("cd sub && false")
        assert (done.cwd, done.exit_code) == (sandbox.resolve("sub"), 1)
        assert (await sandbox.run("true")).cwd == sandbox.resolve(".")

    async def test_commands_run_at_the_same_time(self, sandbox: Sandbox) -> None:
        began = anyio.current_time()
        async with anyio.create_task_group() as tasks:
            for _ in range(8):
                tasks.start_soon(sandbox.run, "sleep 0.4")
        assert anyio.current_time() - began < 2.0

    async def test_unusual_text_reaches_the_command_unchanged(self, sandbox: Sandbox) -> None:
        done = await sandbox.run("cat <<'EOF'\nnaïve 漢字 $HOME `x` \\ \"'\nEOF")
        assert done.output == "naïve 漢字 $HOME `x` \\ \"'\n"

    async def test_a_nul_character_is_refused(self, sandbox: Sandbox) -> None:
        with pytest.raises(ToolError, match="NUL"):
            await sandbox.run("echo a\0b")
        with pytest.raises(ToolError, match="NUL"):
            await sandbox.run("true", env={"A": "b\0C=d"})
        for path in ("a\0b", "/tmp\0", "~/\0"):
            with pytest.raises(ToolError, match="NUL"):
                sandbox.resolve(path)
            with pytest.raises(ToolError, match="NUL"):
                await sandbox.read(path)
            with pytest.raises(ToolError, match="NUL"):
                await sandbox.write(path, b"")
            with pytest.raises(ToolError, match="NUL"):
                await sandbox.run("true", cwd=path)

    async def test_a_folder_cannot_smuggle_in_another_command(self, sandbox: Sandbox) -> None:
        here = sandbox.resolve(".")
        injected = f"{here}\0{here}/out\x003\0/bin/sh\0-c\0touch smuggled\0A=b"
        with pytest.raises(ToolError, match="NUL"):
            await sandbox.run("ls", cwd=injected)
        assert await sandbox.list(".") == []

    async def test_half_a_character_is_refused(self, sandbox: Sandbox) -> None:
        with pytest.raises(ToolError, match="half a character"):
            await sandbox.run("echo \ud800")
        with pytest.raises(ToolError, match="half a character"):
            await sandbox.read("\ud800")

    # Files

    async def test_what_is_written_is_read(self, sandbox: Sandbox) -> None:
        await sandbox.write("new/folder/a.bin", b"\x00\xff\r\n")
        assert await sandbox.read("new/folder/a.bin") == b"\x00\xff\r\n"
        assert [e.path for e in await sandbox.list("new/folder")] == [sandbox.resolve("new/folder/a.bin")]

    async def test_writing_keeps_the_mode_and_the_link(self, sandbox: Sandbox) -> None:
        await sandbox.run("echo old > real; chmod 751 real; ln -s real link")
        await sandbox.write("link", b"new")
        shown = (await sandbox.run("ls -l real link")).output
        assert "-rwxr-x--x" in shown
        assert "link -> real" in shown
        assert await sandbox.read("real") == b"new"

    async def test_writing_over_what_changed_meanwhile_is_refused(self, sandbox: Sandbox) -> None:
        await sandbox.write("a", b"one")
        await sandbox.write("a", b"two", expect=b"one")
        with pytest.raises(ToolError, match="changed"):
            await sandbox.write("a", b"three", expect=b"one")
        with pytest.raises(ToolError, match="changed"):
            await sandbox.write("never-there", b"x", expect=b"")
        assert await sandbox.read("a") == b"two"
        assert [e.path for e in await sandbox.list(".")] == [sandbox.resolve("a")]

    async def test_errors_are_those_of_the_system(self, sandbox: Sandbox) -> None:
        await sandbox.write("folder/a", b"")
        with pytest.raises(FileNotFoundError):
            await sandbox.read("none")
        with pytest.raises(FileNotFoundError):
            await sandbox.stat("none")
        with pytest.raises(FileNotFoundError):
            await sandbox.list("none")
        with pytest.raises(IsADirectoryError):
            await sandbox.read("folder")
        with pytest.raises(IsADirectoryError):
            await sandbox.write("folder", b"x")
        with pytest.raises(NotADirectoryError):
            await sandbox.list("folder/a")

    async def test_what_is_no_file_is_not_read(self, sandbox: Sandbox) -> None:
        await sandbox.run("mkfifo pipe")
        with anyio.fail_after(5), pytest.raises(ToolError, match="not a regular file"):
            await sandbox.read("pipe")
        with pytest.raises(ToolError, match="not a regular file"):
            await sandbox.write("pipe", b"x")

    async def test_stat_and_list(self, sandbox: Sandbox) -> None:
        await sandbox.run("mkdir b; printf 12345 > a; ln -s nowhere c; touch -d '2020-01-02 03:04:05 UTC' a")
        a, b, c = await sandbox.list(".")
        assert (a.kind, a.size, a.modified) == ("file", 5, 1_577_934_245_000_000)
        assert (b.kind, c.kind) == ("dir", "other")
        assert await sandbox.stat("a") == a

    async def test_paths_are_made_absolute_without_following_links(self, sandbox: Sandbox) -> None:
        top = sandbox.resolve(".")
        await sandbox.run("mkdir real; ln -s real link")
        assert sandbox.resolve("link/../x/./y") == f"{top}/x/y"
        assert sandbox.resolve("link/a") == f"{top}/link/a"
        assert sandbox.resolve("/etc/../tmp") == "/tmp"
        assert sandbox.resolve("~/a").endswith("/a")
        assert not sandbox.resolve("~/a").startswith("~")

    async def test_walking_leaves_out_what_git_ignores(self, sandbox: Sandbox) -> None:
        files = [".gitignore", ".git/config", "a.py", "a.pyc", "build/x", "docs/build/y", "docs/keep.log"]
        for name in [*files, "docs/drop.log", "docs/.gitignore", "z/deep/b.py"]:
            await sandbox.write(name, b"")
        await sandbox.write(".gitignore", b"*.pyc\n/build/\n*.log\n")
        await sandbox.write("docs/.gitignore", b"!keep.log\n")
        await sandbox.run("ln -s .. z/loop")
        seen = [entry.path async for entry in sandbox.walk(".")]
        wanted = [".gitignore", "a.py", "docs/.gitignore", "docs/build/y", "docs/keep.log", "z/deep/b.py"]
        assert seen == [sandbox.resolve(name) for name in wanted]
        below = [entry.path async for entry in sandbox.walk("docs")]
        assert below == [sandbox.resolve(name) for name in wanted[2:5]]
