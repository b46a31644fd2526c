"""The line to the supervisor: the process that runs commands, what is said to it, and what it answers."""

import array
import contextlib
import errno
import itertools
import os
import signal
import socket
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import anyio

from hermes.core.errors import ToolError
from hermes.sandboxes.local.leftovers import end_owned

SUPERVISOR = Path(__file__).with_name("supervisor.py")
CLOSING = 6.5  # seconds the supervisor has to end everything; it gives itself five
FORCE = 2.0  # seconds in which what was killed must be gone
TICK = 0.01  # seconds between looks whether it has ended


class Supervisor:
    """The agent's connection to the process that runs its commands. Shared by all sessions.

    The process starts at the first command. If it is lost, the next command starts another. It may be
    stopped by a signal, as any process: it is woken before each request, and nobody waits for it for ever.
    """

    def __init__(self, python: str = sys.executable) -> None:
        self._python = python
        self._sign = os.urandom(5).hex()
        self._owners = itertools.count(1)
        self._lock = threading.Lock()
        self._control: socket.socket | None = None
        self.pid = 0

    def channel(self) -> socket.socket:
        """A fresh line for one request. Raise OSError when the supervisor cannot be started."""
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        with theirs, self._lock:
            try:
                self._hand_over(theirs)
            except OSError:
                self._forget()
                self._hand_over(theirs)
        return ours

    def owner(self) -> str:
        """A name for the marks of one sandbox, like no other."""
        return f"{self._sign}.{next(self._owners)}"

    def wake(self) -> None:
        """Let the supervisor go on if somebody has stopped it."""
        if self._control is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGCONT)

    def close(self) -> None:
        """End the supervisor, and with it everything it started.

        Takes up to about a second; up to ten when the supervisor does not do what it is told.
        """
        with self._lock:
            self._forget()

    def lost(self, pid: int) -> None:
        """Take note that the supervisor with this pid answers no more."""
        with self._lock:
            if pid == self.pid:
                self._forget()

    def give_up(self, pid: int) -> None:
        """Kill the supervisor with this pid, which does not answer, and everything it started."""
        with self._lock:
            if pid == self.pid and self._control is not None:
                self._control.close()
                self._control = None
                self._kill()

    def _hand_over(self, line: socket.socket) -> None:
        control = self._control or self._start()
        self.wake()
        control.sendmsg([b"+"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [line.fileno()]))])

    def _start(self) -> socket.socket:
        ours, theirs = socket.socketpair()
        with theirs:
            self.pid = os.posix_spawn(
                self._python,
                [self._python, "-I", "-S", str(SUPERVISOR)],
                {},
                file_actions=[
                    (os.POSIX_SPAWN_DUP2, theirs.fileno(), 0),
                    (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
                    (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
                ],
            )
        ours.setblocking(False)
        self._control = ours
        return ours

    def _forget(self) -> None:
        if self._control is None:
            return
        self.wake()
        self._control.close()
        self._control = None
        status = self._ended(CLOSING)
        if status is None:
            self._kill()
        elif status != 0:  # it did not come to tidying up
            end_owned(self._sign, FORCE, self.pid)

    def _kill(self) -> None:
        """What it started first: orphans come to it, and are found as long as it is there."""
        end_owned(self._sign, FORCE, self.pid)
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        self._ended(FORCE)

    def _ended(self, seconds: float) -> int | None:
        """How the supervisor ended, None when it still runs after so long."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                pid, status = os.waitpid(self.pid, os.WNOHANG)
                if pid:
                    return status
                os.kill(self.pid, signal.SIGCONT)  # a command may stop it again and again
            except (ChildProcessError, ProcessLookupError):
                return 0
            time.sleep(TICK)
        return None


@dataclass(frozen=True, slots=True)
class Ended:
    """What the supervisor told of a command."""

    code: int
    timed_out: bool
    capped: bool
    left: int


def encoded(text: str) -> bytes:
    """The bytes the system is given. Raise ToolError for what no path and no word of a command can hold."""
    if "\0" in text:
        raise ToolError(
            f"{text[:80]!r} contains a NUL character: no path, command or variable can. Leave it out."
        )
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise ToolError(
            f"{text[:80]!r} contains half a character (a lone surrogate). Leave it out."
        ) from error


def framed(*fields: str) -> bytes:
    """A request. Each field has its length before it, so that none can end early and begin another."""
    body = b"".join(len(data).to_bytes(4, "big") + data for data in map(encoded, fields))
    return len(body).to_bytes(8, "big") + body


async def say(channel: socket.socket, request: bytes) -> None:
    """Send a request. Raise OSError when the supervisor is gone."""
    rest = memoryview(request)
    while rest:
        try:
            rest = rest[channel.send(rest) :]
        except BlockingIOError:
            await anyio.wait_writable(channel)


async def hear(channel: socket.socket) -> str:
    """The answer, one line. Raise OSError when the supervisor is gone."""
    heard = b""
    while not heard.endswith(b"\n"):
        await anyio.wait_readable(channel)
        data = channel.recv(4096)
        if not data:
            raise ConnectionResetError(errno.ECONNRESET, "the process that runs commands was lost")
        heard += data
    return heard.decode("utf-8", "replace")


def outcome(line: str) -> Ended:
    """What an answer says. Raise OSError for a command that could not be started."""
    verb, *words = line.split()
    if verb == "ended":
        code, timed_out, capped, left = (int(word) for word in words)
        return Ended(code, bool(timed_out), bool(capped), left)
    number, where = int(words[0]), line.split(" ", 2)[2].strip()
    raise OSError(number, os.strerror(number), where)
