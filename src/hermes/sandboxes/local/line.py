"""The line to the supervisor: the process that runs commands, what is said to it, and what it answers."""

import array
import contextlib
import errno
import os
import socket
import sys
import threading
from dataclasses import dataclass
from pathlib import Path

import anyio

from hermes.core.errors import ToolError

SUPERVISOR = Path(__file__).with_name("supervisor.py")


class Supervisor:
    """The agent's connection to the process that runs its commands. Shared by all sessions.

    The process starts at the first command. If it is lost, the next command starts another.
    """

    def __init__(self, python: str = sys.executable) -> None:
        self._python = python
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

    def close(self) -> None:
        """End the supervisor, and with it everything it started. Takes up to about a second."""
        with self._lock:
            self._forget()

    def lost(self, pid: int) -> None:
        """Take note that the supervisor with this pid answers no more."""
        with self._lock:
            if pid == self.pid:
                self._forget()

    def _hand_over(self, line: socket.socket) -> None:
        control = self._control or self._start()
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
        self._control = ours
        return ours

    def _forget(self) -> None:
        if self._control is None:
            return
        self._control.close()
        self._control = None
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self.pid, 0)


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
