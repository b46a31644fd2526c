"""LocalSandbox: files and commands of this machine."""

import contextlib
import errno
import itertools
import os
import re
import shlex
import socket
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

import anyio
import anyio.to_thread

from hermes.core.errors import ToolError
from hermes.core.sandbox import Completed, Entry
from hermes.sandboxes.local import files
from hermes.sandboxes.local.environment import child_environment
from hermes.sandboxes.local.leftovers import end_owned
from hermes.sandboxes.local.line import Ended, Supervisor, encoded, framed, hear, outcome, say
from hermes.sandboxes.local.output import NEARLY_FULL, free_below, remove, shaped
from hermes.sandboxes.local.walk import files_below, take

OUTPUT_CAP = 100_000_000  # bytes of output a command may leave on the disk before it is ended
GRACE = 1.0  # seconds between TERM and KILL
WAKING = 0.02  # seconds between wakings
NUDGE = 0.5  # seconds after the deadline from which on the supervisor is woken: it may be stopped
LATE = 1.0  # seconds after the grace from which on the agent itself kills what carries the command's mark
ANSWER = 5.0  # seconds after that in which the supervisor must have answered
KILLED = 137  # the exit code of a command that was killed

_MOVES = re.compile(r"(?:^|[^\w-])(?:cd|pushd|popd)(?![\w-])")


class LocalSandbox:
    """Files and commands of this machine, as the user who runs the agent.

    `cwd` is where relative paths start, `environ` what commands may inherit from (through an
    allow-list; `passthrough` names more), `spool` a folder for the output of commands. `supervisor`
    is shared by the sandboxes of a process; without it this sandbox has one of its own. A command may
    leave `output_cap` bytes of output, and has `grace` seconds between TERM and KILL. `free` tells how
    many bytes are free below a folder.
    """

    name = "local"

    def __init__(
        self,
        cwd: str,
        environ: Mapping[str, str],
        spool: Path,
        *,
        passthrough: tuple[str, ...] = (),
        supervisor: Supervisor | None = None,
        output_cap: int = OUTPUT_CAP,
        grace: float = GRACE,
        free: Callable[[Path], int] | None = None,
    ) -> None:
        self._cwd = os.path.abspath(cwd)
        self._home = environ.get("HOME", "")
        self._environ = child_environment(environ, passthrough)
        self._spool = spool
        self._owns_supervisor = supervisor is None
        self._supervisor = supervisor or Supervisor()
        self._output_cap = output_cap
        self._grace = grace
        self._free = free or free_below
        self._owner = self._supervisor.owner()
        self._numbers = itertools.count(1)
        self._unnamed: set[Path] = set()  # output of what still runs, of which nobody was told
        self._shell = ""

    def resolve(self, path: str) -> str:
        encoded(path)
        if path == "~" or path.startswith("~/"):
            path = (self._home or "~") + path[1:]
        return os.path.normpath(os.path.join(self._cwd, path))

    # Commands

    async def run(
        self,
        command: str,
        *,
        cwd: str = "",
        env: Mapping[str, str] | None = None,
        timeout: float = 180.0,
        limit: int = 50_000,
    ) -> Completed:
        mark = f"{self._owner}/{next(self._numbers)}"
        output = self._spool / f"{mark.replace('/', '-')}.txt"
        folder = self.resolve(cwd) if cwd else self._cwd
        environ = {**self._environ, **(env or {}), "PWD": folder}
        request = framed(
            *("run", mark, str(timeout), str(self._grace), str(self._output_cap), folder, str(output), "3"),
            *(self._find_shell(), "-c", _tell_cwd(command, output)),
            *(f"{name}={value}" for name, value in environ.items()),
        )
        started = anyio.current_time()
        try:
            self._spool.mkdir(parents=True, exist_ok=True, mode=0o700)
            ended = await self._supervised(request, mark, timeout)
        except OSError as error:
            raise ToolError(_start_failed(error, command, folder, self._spool)) from error
        except anyio.get_cancelled_exc_class():
            remove(output)
            raise
        seconds = anyio.current_time() - started
        return await anyio.to_thread.run_sync(partial(self._collect, ended, output, limit, seconds, folder))

    async def aclose(self) -> None:
        """End what this session's commands left running."""
        if self._supervisor.pid:
            with contextlib.suppress(OSError), self._supervisor.channel() as channel:
                pid = self._supervisor.pid
                with anyio.CancelScope(shield=True):
                    await say(channel, framed("end", f"{self._owner}/"))
                    await self._answer(channel, pid, f"{self._owner}/")
        if self._owns_supervisor:
            await anyio.to_thread.run_sync(self._supervisor.close)
        for output in self._unnamed:
            remove(output)

    async def _supervised(self, request: bytes, mark: str, seconds: float) -> Ended:
        """Have the supervisor run it. Cancelled: have it ended, and wait until it has."""
        with self._supervisor.channel() as channel:
            pid = self._supervisor.pid
            try:
                with anyio.move_on_after(seconds + NUDGE):
                    await say(channel, request)
                    return outcome(await hear(channel))
                said = await self._answer(channel, pid, f"{mark}\0")
                ended = outcome(said) if said else Ended(KILLED, timed_out=True, capped=False, left=0)
                return replace(ended, timed_out=True) if ended.code == KILLED else ended  # perhaps by us
            except ConnectionError:
                await anyio.to_thread.run_sync(self._supervisor.lost, pid)
                raise
            except anyio.get_cancelled_exc_class():
                with anyio.CancelScope(shield=True), contextlib.suppress(OSError):
                    channel.send(b"x")
                    await self._answer(channel, pid, f"{mark}\0")
                raise

    async def _answer(self, channel: socket.socket, pid: int, mark: str) -> str:
        """What the supervisor says of something that must end now; "" when it says nothing and is killed."""
        if not (said := await self._awoken(channel, self._grace + LATE)):
            await anyio.to_thread.run_sync(end_owned, mark, LATE)  # what keeps it from its work, perhaps
            said = await self._awoken(channel, ANSWER)
        if not said:
            await anyio.to_thread.run_sync(self._supervisor.give_up, pid)
        return said

    async def _awoken(self, channel: socket.socket, seconds: float) -> str:
        """The answer, while the supervisor is woken again and again: a command may have stopped it."""
        end = anyio.current_time() + seconds
        while anyio.current_time() < end:
            self._supervisor.wake()
            with anyio.move_on_after(WAKING):
                return await hear(channel)
        return ""

    def _find_shell(self) -> str:
        if not self._shell:
            folders = self._environ.get("PATH", os.defpath).split(os.pathsep)
            places = (os.path.join(folder, name) for name in ("bash", "sh") for folder in folders if folder)
            self._shell = next((path for path in places if os.access(path, os.X_OK)), "/bin/sh")
        return self._shell

    def _collect(self, ended: Ended, output: Path, limit: int, seconds: float, cwd: str) -> Completed:
        """Read what the command said. The file stays only when there is more of it, or more to come."""
        with contextlib.suppress(OSError):
            moved = Path(f"{output}.cwd")
            cwd = os.fsdecode(moved.read_bytes()).removesuffix("\n") or cwd
            moved.unlink()
        try:
            text, size = shaped(output, limit)
            free = self._free(self._spool) if ended.code else NEARLY_FULL
        except OSError as error:
            raise ToolError(
                f"The output of the command in {output} cannot be read: {error.strerror}."
            ) from error
        if ended.capped:
            text += f"\n[the output passed {self._output_cap:,} bytes and the command was ended]"
        if free < NEARLY_FULL:
            text += f"\n[the disk that holds {self._spool} is full: output may be missing]"
        whole = str(output) if size > limit else ""
        if not whole and ended.left:
            self._unnamed.add(output)
        elif not whole:
            remove(output)
        return Completed(ended.code, text, size, seconds, ended.timed_out, whole, cwd)

    # Files

    async def read(self, path: str) -> bytes:
        return await anyio.to_thread.run_sync(files.read, self.resolve(path))

    async def write(self, path: str, content: bytes, *, expect: bytes | None = None) -> None:
        await anyio.to_thread.run_sync(files.write, self.resolve(path), content, expect)

    async def stat(self, path: str) -> Entry:
        return await anyio.to_thread.run_sync(files.entry_of, self.resolve(path))

    async def list(self, path: str) -> list[Entry]:
        return await anyio.to_thread.run_sync(files.entries_of, self.resolve(path))

    async def walk(self, path: str) -> AsyncGenerator[Entry, None]:
        found = files_below(self.resolve(path))
        while batch := await anyio.to_thread.run_sync(take, found):
            for entry in batch:
                yield entry


def _start_failed(error: OSError, command: str, folder: str, spool: Path) -> str:
    if error.errno == errno.E2BIG:
        return f"The command is too long for the system ({len(command):,} characters): put it into a file."
    if error.filename == folder:
        return f"The command cannot start in {folder}: {error.strerror}."
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"The disk that holds {spool} is full: the output of a command cannot be kept."
    return f"The command could not be run: {error.strerror or error} ({error.filename or spool})."


def _tell_cwd(command: str, output: Path) -> str:
    """The command, and when it may change folder, a note of where it ended."""
    if not _MOVES.search(command):
        return command
    note = shlex.quote(f"{output}.cwd")
    return f"trap {shlex.quote(f'pwd > {note} 2>/dev/null')} EXIT; {command}"
