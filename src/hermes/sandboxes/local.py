"""The local machine as a sandbox: files through threads, commands through a supervisor process."""

import array
import contextlib
import errno
import itertools
import os
import re
import shlex
import socket
import stat
import sys
import threading
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

import anyio
import anyio.to_thread

from hermes.core.errors import ToolError
from hermes.core.sandbox import Completed, Entry
from hermes.lib import gitignore

SUPERVISOR = Path(__file__).with_name("supervisor.py")
OUTPUT_CAP = 100_000_000  # bytes of output a command may leave on the disk before it is ended
READ_CAP = 100_000_000  # bytes of a file that is read at once
GRACE = 1.0  # seconds between TERM and KILL
ANSWER = 5.0  # seconds after the grace in which the supervisor must have ended a command
NEARLY_FULL = 65_536  # bytes free below which a failed command may have failed for want of space
HEAD_SHARE = 0.4
BATCH = 512  # entries of a walk fetched per thread hop

_INHERITED_NAMES = """
    PATH HOME USER LOGNAME SHELL LANG LANGUAGE TERM COLORTERM TZ TMPDIR TMP TEMP EDITOR VISUAL
    PAGER VIRTUAL_ENV CONDA_PREFIX PYENV_ROOT NVM_DIR JAVA_HOME GOPATH GOROOT CARGO_HOME
    RUSTUP_HOME DISPLAY WAYLAND_DISPLAY DBUS_SESSION_BUS_ADDRESS SSL_CERT_FILE SSL_CERT_DIR
    NO_COLOR CI HTTP_PROXY HTTPS_PROXY NO_PROXY ALL_PROXY http_proxy https_proxy no_proxy
    all_proxy PIP_INDEX_URL PIP_CERT REQUESTS_CA_BUNDLE CURL_CA_BUNDLE NODE_EXTRA_CA_CERTS
    LC_ALL LC_ADDRESS LC_COLLATE LC_CTYPE LC_IDENTIFICATION LC_MEASUREMENT LC_MESSAGES LC_MONETARY
    LC_NAME LC_NUMERIC LC_PAPER LC_TELEPHONE LC_TIME
    XDG_CACHE_HOME XDG_CONFIG_DIRS XDG_CONFIG_HOME XDG_CURRENT_DESKTOP XDG_DATA_DIRS XDG_DATA_HOME
    XDG_RUNTIME_DIR XDG_SEAT XDG_SESSION_CLASS XDG_SESSION_DESKTOP XDG_SESSION_ID XDG_SESSION_TYPE
    XDG_STATE_HOME XDG_VTNR
"""
_INHERITED = frozenset(_INHERITED_NAMES.split())
_SIGNED_IN = re.compile(r"://[^/\s]*@")  # a URL with a user's name or a password
_SIGNED_IN_PROXY = re.compile(r"(?:^|/)[^/\s]*@")  # for a proxy the scheme may be left out
_MOVES = re.compile(r"(?:^|[^\w-])(?:cd|pushd|popd)(?![\w-])")


def child_environment(environ: Mapping[str, str], passthrough: tuple[str, ...] = ()) -> dict[str, str]:
    """What a command inherits: names known to be harmless and those asked for, so never a key by accident.

    A URL that holds a password is not inherited either, unless its name is in `passthrough`.
    """
    return {
        name: value
        for name, value in environ.items()
        if name in passthrough or (name in _INHERITED and not _holds_a_password(name, value))
    }


def _holds_a_password(name: str, value: str) -> bool:
    signed_in = _SIGNED_IN_PROXY if name.lower().endswith("_proxy") else _SIGNED_IN
    return bool(signed_in.search(value))


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
class _Ended:
    """What the supervisor told of a command."""

    code: int
    timed_out: bool
    capped: bool
    left: int


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
        self._free = free or _free
        self._owner = os.urandom(5).hex()
        self._numbers = itertools.count(1)
        self._unnamed: set[Path] = set()  # output of what still runs, of which nobody was told
        self._shell = ""

    def resolve(self, path: str) -> str:
        _encoded(path)
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
        request = _framed(
            *("run", mark, str(timeout), str(self._grace), str(self._output_cap), folder, str(output), "3"),
            *(self._find_shell(), "-c", _tell_cwd(command, output)),
            *(f"{name}={value}" for name, value in environ.items()),
        )
        started = anyio.current_time()
        try:
            self._spool.mkdir(parents=True, exist_ok=True, mode=0o700)
            ended = await self._supervised(request)
        except OSError as error:
            raise ToolError(_start_failed(error, command, folder, self._spool)) from error
        except anyio.get_cancelled_exc_class():
            _remove(output)
            raise
        seconds = anyio.current_time() - started
        return await anyio.to_thread.run_sync(partial(self._collect, ended, output, limit, seconds, folder))

    async def aclose(self) -> None:
        """End what this session's commands left running."""
        if self._supervisor.pid:
            with contextlib.suppress(OSError), self._supervisor.channel() as channel:
                await _say(channel, _framed("end", f"{self._owner}/"))
                with anyio.move_on_after(self._grace + ANSWER, shield=True):
                    await _hear(channel)
        if self._owns_supervisor:
            await anyio.to_thread.run_sync(self._supervisor.close)
        for output in self._unnamed:
            _remove(output)

    async def _supervised(self, request: bytes) -> _Ended:
        """Have the supervisor run it. Cancelled: have it ended, and wait until it has."""
        with self._supervisor.channel() as channel:
            pid = self._supervisor.pid
            try:
                await _say(channel, request)
                return _read(await _hear(channel))
            except ConnectionError:
                await anyio.to_thread.run_sync(self._supervisor.lost, pid)
                raise
            except anyio.get_cancelled_exc_class():
                with anyio.move_on_after(self._grace + ANSWER, shield=True), contextlib.suppress(OSError):
                    channel.send(b"x")
                    await _hear(channel)
                raise

    def _find_shell(self) -> str:
        if not self._shell:
            folders = self._environ.get("PATH", os.defpath).split(os.pathsep)
            places = (os.path.join(folder, name) for name in ("bash", "sh") for folder in folders if folder)
            self._shell = next((path for path in places if os.access(path, os.X_OK)), "/bin/sh")
        return self._shell

    def _collect(self, ended: _Ended, output: Path, limit: int, seconds: float, cwd: str) -> Completed:
        """Read what the command said. The file stays only when there is more of it, or more to come."""
        with contextlib.suppress(OSError):
            moved = Path(f"{output}.cwd")
            cwd = os.fsdecode(moved.read_bytes()).removesuffix("\n") or cwd
            moved.unlink()
        try:
            text, size = _shaped(output, limit)
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
            _remove(output)
        return Completed(ended.code, text, size, seconds, ended.timed_out, whole, cwd)

    # Files

    async def read(self, path: str) -> bytes:
        return await anyio.to_thread.run_sync(_read_file, self.resolve(path))

    async def write(self, path: str, content: bytes, *, expect: bytes | None = None) -> None:
        await anyio.to_thread.run_sync(_write_file, self.resolve(path), content, expect)

    async def stat(self, path: str) -> Entry:
        return await anyio.to_thread.run_sync(_entry, self.resolve(path))

    async def list(self, path: str) -> list[Entry]:
        return await anyio.to_thread.run_sync(_entries, self.resolve(path))

    async def walk(self, path: str) -> AsyncGenerator[Entry, None]:
        files = _walk(self.resolve(path))
        while batch := await anyio.to_thread.run_sync(_take, files):
            for entry in batch:
                yield entry


# The line to the supervisor


def _encoded(text: str) -> bytes:
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


def _framed(*fields: str) -> bytes:
    """A request. Each field has its length before it, so that none can end early and begin another."""
    body = b"".join(len(data).to_bytes(4, "big") + data for data in map(_encoded, fields))
    return len(body).to_bytes(8, "big") + body


async def _say(channel: socket.socket, request: bytes) -> None:
    rest = memoryview(request)
    while rest:
        try:
            rest = rest[channel.send(rest) :]
        except BlockingIOError:
            await anyio.wait_writable(channel)


async def _hear(channel: socket.socket) -> str:
    heard = b""
    while not heard.endswith(b"\n"):
        await anyio.wait_readable(channel)
        data = channel.recv(4096)
        if not data:
            raise ConnectionResetError(errno.ECONNRESET, "the process that runs commands was lost")
        heard += data
    return heard.decode("utf-8", "replace")


def _read(line: str) -> _Ended:
    verb, *words = line.split()
    if verb == "ended":
        code, timed_out, capped, left = (int(word) for word in words)
        return _Ended(code, bool(timed_out), bool(capped), left)
    number, where = int(words[0]), line.split(" ", 2)[2].strip()
    raise OSError(number, os.strerror(number), where)


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


# Output


def _shaped(path: Path, limit: int) -> tuple[str, int]:
    """At most `limit` bytes of a file, head and tail, as text; and how many bytes there are."""
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size <= limit:
            return file.read(limit).decode("utf-8", "replace"), size
        head = file.read(int(limit * HEAD_SHARE))
        tail_length = limit - len(head)
        file.seek(size - tail_length)
        tail = file.read(tail_length)
    head, tail = _without_broken_end(head), tail.lstrip(bytes(range(0x80, 0xC0)))
    left_out = size - len(head) - len(tail)
    middle = f"\n[... {left_out:,} bytes left out ...]\n"
    return head.decode("utf-8", "replace") + middle + tail.decode("utf-8", "replace"), size


def _without_broken_end(data: bytes) -> bytes:
    """Drop a character that was cut in the middle at the end."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte >= 0xC0:
            length = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return data[:-back] if back < length else data
        if byte < 0x80:
            break
    return data


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink()


def _free(folder: Path) -> int:
    disk = os.statvfs(folder)
    return disk.f_bavail * disk.f_frsize


# Files


def _read_file(path: str) -> bytes:
    with open(path, "rb", opener=_without_waiting) as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise ToolError(f"{path} is not a regular file: reading it may never end.")
        if found.st_size > READ_CAP:
            raise ToolError(
                f"{path} has {found.st_size:,} bytes: search it, or look at parts of it with terminal."
            )
        return file.read()


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)  # opening a pipe would wait for its writer


def _write_file(path: str, content: bytes, expect: bytes | None) -> None:
    target = os.path.realpath(path)  # a link stays a link
    folder = os.path.dirname(target)
    os.makedirs(folder, exist_ok=True)
    before = _status(target)
    if before is not None and not stat.S_ISREG(before.st_mode):
        if stat.S_ISDIR(before.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        raise ToolError(f"{path} is not a regular file and is not written to.")
    fresh = os.path.join(folder, f".hermes-{os.urandom(6).hex()}.tmp")
    try:
        mode = 0o666 if before is None else 0o600  # what was private is private at every moment
        with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
            if before is not None:
                _take_after(file.fileno(), before)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if expect is not None:
            _unchanged(target, expect)
        if before is None:
            _appear(fresh, target, path)
        else:
            os.replace(fresh, target)
    except BaseException:
        _remove(Path(fresh))
        raise


def _appear(fresh: str, target: str, path: str) -> None:
    """Give a new file its name, unless somebody else has taken it meanwhile."""
    try:
        os.link(fresh, target)
    except FileExistsError as error:
        raise ToolError(f"{path} was made by somebody else just now: read it before writing.") from error
    except OSError:  # a file system without hard links
        os.replace(fresh, target)
    else:
        os.unlink(fresh)


def _unchanged(path: str, expect: bytes) -> None:
    try:
        same = _read_file(path) == expect
    except FileNotFoundError:
        same = False
    if not same:
        raise ToolError(f"{path} has changed since it was read: read it again before writing.")


def _status(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _take_after(fresh: int, before: os.stat_result) -> None:
    """Give the new file the mode of the old one, and its owner where that is allowed."""
    now = os.fstat(fresh)
    if (now.st_uid, now.st_gid) != (before.st_uid, before.st_gid):
        with contextlib.suppress(PermissionError):
            os.fchown(fresh, before.st_uid, before.st_gid)
    os.fchmod(fresh, stat.S_IMODE(before.st_mode))


def _entry(path: str) -> Entry:
    return _described(path, os.stat(path))


def _described(path: str, found: os.stat_result) -> Entry:
    kind: Literal["file", "dir", "other"] = "other"
    if stat.S_ISREG(found.st_mode):
        kind = "file"
    elif stat.S_ISDIR(found.st_mode):
        kind = "dir"
    return Entry(path, kind, found.st_size, found.st_mtime_ns // 1000)


def _entries(path: str) -> list[Entry]:
    with os.scandir(path) as found:
        names = sorted(entry.name for entry in found)
    entries: list[Entry] = []
    for name in names:
        full = os.path.join(path, name)
        try:
            entries.append(_entry(full))
        except OSError:  # a link to nowhere, or gone meanwhile
            with contextlib.suppress(OSError):
                entries.append(_described(full, os.lstat(full)))
    return entries


def _take(files: Iterator[Entry]) -> list[Entry]:
    return [*itertools.islice(files, BATCH)]


def _walk(top: str) -> Iterator[Entry]:
    """Files below a folder, sorted, without what .gitignore leaves out; links to folders not followed."""
    if not os.path.isdir(top):
        yield _entry(top)
        return
    yield from _walk_folder(top, [*_layers_above(top)])


def _walk_folder(folder: str, layers: list[gitignore.Ignore]) -> Iterator[Entry]:
    layers = [*layers, *_layer(folder)]
    try:
        with os.scandir(folder) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except OSError:  # not ours to read, or gone meanwhile
        return
    for entry in entries:
        is_folder = entry.is_dir(follow_symlinks=False)
        if entry.name == ".git" or gitignore.ignored(layers, entry.path, is_folder):
            continue
        if is_folder:
            yield from _walk_folder(entry.path, layers)
            continue
        try:
            described = _described(entry.path, entry.stat())
        except OSError:
            continue
        if described.kind == "file":
            yield described


def _layers_above(top: str) -> Iterator[gitignore.Ignore]:
    """The .gitignore files between the repository's root and this folder."""
    above = [top]
    while not os.path.exists(os.path.join(above[-1], ".git")):
        parent = os.path.dirname(above[-1])
        if parent == above[-1]:
            return
        above.append(parent)
    for folder in reversed(above[1:]):
        yield from _layer(folder)


def _layer(folder: str) -> Iterator[gitignore.Ignore]:
    base = folder.rstrip("/") + "/"
    for name in (".git/info/exclude", ".gitignore"):
        with contextlib.suppress(OSError):
            yield gitignore.parse(Path(base + name).read_text("utf-8", "replace"), base)
