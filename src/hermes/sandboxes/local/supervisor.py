"""Runs the commands of one agent and ends them. A process of its own: deadlines hold when the agent is stuck.

Started as `python -I -S supervisor.py` with a unix socket as standard input, the control line. Every
request brings a channel of its own, a socket passed over the control line with one byte. On a channel:

    agent -> here    8 bytes of length, then fields, each after 4 bytes of its own length;
                     later a byte (or the end): end it now
    here -> agent    one line: "ended CODE TIMED_OUT CAPPED LEFT", "failed ERRNO WHERE" or "done"

Requests are `run` (mark, seconds, grace, cap, cwd, output, argc, argv..., environ...) and `end` (prefix).
A mark is "owner/number". It travels in the environment, so a descendant that made a session of its own
is still known; on Linux orphans come to this process (child subreaper) and none is lost.
When the control line closes the agent is gone, and everything started here is killed.

Standard library only, no hermes import: what it loads is what a user waits for at the first command.
"""

import contextlib
import ctypes
import errno
import os
import select
import signal
import socket
import sys
import time

MARK = "HERMES_COMMAND"
TICK = 0.02  # seconds between looks at processes that were told to end
PATIENCE = 5.0  # seconds after which a process that even KILL does not end is left to the system
LINUX = sys.platform == "linux"
SET_PDEATHSIG, SET_CHILD_SUBREAPER = 1, 36
LIBC = ctypes.CDLL(None) if LINUX else None
DEAF_TO = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)  # the agent decides when this process ends


class Command:
    """A command, or what it left running: one entry of the table."""

    def __init__(self, mark: str, pid: int, output: int, cap: int, deadline: float, grace: float) -> None:
        self.mark = mark
        self.pid = pid
        self.output = output
        self.cap = cap
        self.deadline = deadline
        self.grace = grace
        self.code: int | None = None  # None while the command itself runs
        self.timed_out = False
        self.capped = False
        self.kill_at: float | None = None  # set once it was told to end
        self.look = 0.05  # seconds between looks at the size of the output
        self.look_at = 0.0
        self.size = 0


class Channel:
    """The agent's end of one request."""

    def __init__(self, line: socket.socket) -> None:
        self.line = line
        self.heard = b""
        self.command: Command | None = None

    def tell(self, text: str) -> None:
        with contextlib.suppress(OSError):  # the agent may have gone away
            self.line.send(text.encode())


class Supervisor:
    def __init__(self, control: socket.socket) -> None:
        self.control = control
        self.channels: dict[int, Channel] = {}
        self.commands: dict[int, Command] = {}
        self.waiting: list[tuple[str, Channel]] = []
        self.poll = select.poll()
        self.poll.register(control, select.POLLIN)
        self.woken, wake = os.pipe()
        os.set_blocking(self.woken, False)
        os.set_blocking(wake, False)
        self.poll.register(self.woken, select.POLLIN)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)

    def serve(self) -> None:
        """Answer requests until the agent is gone."""
        while True:
            for fd, _ in self.poll.poll(self._pause()):
                if fd == self.control.fileno():
                    if not self._accept():
                        return
                elif fd == self.woken:
                    with contextlib.suppress(BlockingIOError):
                        os.read(self.woken, 4096)
                elif fd in self.channels:
                    self._hear(self.channels[fd])
            self._reap()
            self._watch(time.monotonic())

    # Requests

    def _accept(self) -> bool:
        try:
            data, fds, _, _ = socket.recv_fds(self.control, 1, 1)
        except OSError:
            return False
        for fd in fds:
            os.set_inheritable(fd, False)  # a received descriptor would be
            line = socket.socket(fileno=fd)
            line.setblocking(False)
            self.channels[fd] = Channel(line)
            self.poll.register(fd, select.POLLIN)
        return bool(data)

    def _hear(self, channel: Channel) -> None:
        try:
            data = channel.line.recv(1 << 20)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if channel.command is not None:
            self._end(channel.command)  # a byte or the end: nobody wants this command any more
            if data:
                return
        if not data:
            self._close(channel)
            return
        channel.heard += data
        size = int.from_bytes(channel.heard[:8], "big")
        if len(channel.heard) >= 8 + size:
            self._answer(channel, fields_of(channel.heard[8 : 8 + size]))
            channel.heard = b""

    def _answer(self, channel: Channel, fields: list[str]) -> None:
        if fields[0] == "end":
            for command in list(self.commands.values()):
                if command.mark.startswith(fields[1]):
                    self._end(command)
            self.waiting.append((fields[1], channel))
            return
        try:
            channel.command = start(fields[1:])
        except OSError as error:
            channel.tell(f"failed {error.errno} {error.filename}\n")
        except ValueError:  # a NUL character, or a request that is none: nothing was started
            channel.tell(f"failed {errno.EINVAL} request\n")
        else:
            self.commands[channel.command.pid] = channel.command

    def _close(self, channel: Channel) -> None:
        fd = channel.line.fileno()
        self.poll.unregister(fd)
        del self.channels[fd]
        self.waiting = [(mark, other) for mark, other in self.waiting if other is not channel]
        channel.line.close()

    # Processes

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            command = self.commands.get(pid)
            if command is not None and command.code is None:
                command.code = os.waitstatus_to_exitcode(status)
                if command.kill_at is None:
                    self._conclude(command)

    def _conclude(self, command: Command) -> None:
        """Tell the agent how the command ended; keep the entry while something of it still runs."""
        left = len(members(command)) if strays(self.commands) else 0
        code = command.code if command.code is not None else -signal.SIGKILL
        code = 128 - code if code < 0 else code
        self._measure(command, time.monotonic())
        for channel in self.channels.values():
            if channel.command is command:
                channel.command = None
                channel.tell(f"ended {code} {command.timed_out:d} {command.capped:d} {left}\n")
        if not left or command.kill_at is not None:
            self._drop(command)

    def _drop(self, command: Command) -> None:
        os.close(command.output)
        del self.commands[command.pid]

    def _end(self, command: Command) -> None:
        if command.kill_at is None:
            command.kill_at = time.monotonic() + command.grace
            strike(command, members(command), signal.SIGTERM)

    def _watch(self, now: float) -> None:
        """Keep deadlines and size limits, and see to it that what was told to end does end."""
        for command in list(self.commands.values()):
            if command.kill_at is not None:
                self._press(command, now)
            elif command.code is None and now >= command.deadline:
                command.timed_out = True
                self._end(command)
            elif now >= command.look_at:
                self._measure(command, now)
                if command.code is not None and not members(command):
                    self._drop(command)
        for prefix, channel in list(self.waiting):
            if not any(command.mark.startswith(prefix) for command in self.commands.values()):
                self.waiting.remove((prefix, channel))
                channel.tell("done\n")

    def _press(self, command: Command, now: float) -> None:
        alive = members(command)
        if command.kill_at is not None and now >= command.kill_at:
            strike(command, alive, signal.SIGKILL)
            if now < command.kill_at + PATIENCE and alive:
                return
        if not alive or (command.kill_at is not None and now >= command.kill_at):
            self._conclude(command)

    def _measure(self, command: Command, now: float) -> None:
        """Look how much was written; often while it grows, seldom while it does not."""
        size = os.fstat(command.output).st_size
        idle = 0.5 if command.code is None else 1.0
        command.look = 0.05 if size > command.size else min(command.look * 1.5, idle)
        command.look_at = now + command.look
        command.size = size
        if size > command.cap:
            command.capped = True
            os.ftruncate(command.output, command.cap)
            self._end(command)

    def _pause(self) -> int | None:
        """Milliseconds until something is due, None when nothing is."""
        if not self.commands:
            return None
        due = min(
            time.monotonic() + TICK
            if command.kill_at is not None
            else min(command.look_at, command.deadline if command.code is None else command.look_at)
            for command in self.commands.values()
        )
        return max(1, int((due - time.monotonic()) * 1000) + 1)

    def finish(self) -> None:
        """End everything: first kindly, soon not."""
        started = time.monotonic()
        while pids := below(os.getpid()) or [c.pid for c in self.commands.values() if c.code is None]:
            elapsed = time.monotonic() - started
            if elapsed > PATIENCE:
                return
            for pid in pids:
                kill(pid, signal.SIGKILL if elapsed > 0.3 else signal.SIGTERM)
            for command in self.commands.values():
                strike(command, [], signal.SIGKILL if elapsed > 0.3 else signal.SIGTERM)
            time.sleep(TICK)
            self._reap()


def fields_of(body: bytes) -> list[str]:
    fields: list[str] = []
    at = 0
    while at < len(body):
        size = int.from_bytes(body[at : at + 4], "big")
        fields.append(os.fsdecode(body[at + 4 : at + 4 + size]))
        at += 4 + size
    return fields


def start(fields: list[str]) -> Command:
    """Start a command. Raise OSError whose `filename` says what could not be had, ValueError for nonsense."""
    if any("\0" in field for field in fields):
        raise ValueError("a field holds a NUL character")
    mark, seconds, grace, cap, cwd, path, argc, *rest = fields
    argv, pairs = rest[: int(argc)], rest[int(argc) :]
    environ = dict(pair.split("=", 1) for pair in pairs if "=" in pair)
    environ[MARK] = mark
    output = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    reading, writing = os.pipe()  # closed by a successful exec, else it brings the error
    try:
        pid = os.fork()
    except OSError as error:
        os.close(output)
        raise OSError(error.errno, error.strerror, "fork") from error
    if pid == 0:
        become(argv, environ, cwd, output, writing)
    os.close(writing)
    with os.fdopen(reading, "rb") as trouble:
        told = trouble.read().decode(errors="replace")
    if told:
        os.close(output)
        number, _, where = told.partition(" ")
        raise OSError(int(number), "", where)
    return Command(mark, pid, output, int(cap), time.monotonic() + float(seconds), float(grace))


def become(argv: list[str], environ: dict[str, str], cwd: str, output: int, trouble: int) -> None:
    """In the child: turn into the command. Never returns."""
    where = cwd
    try:
        os.setsid()
        prctl(SET_PDEATHSIG, signal.SIGKILL)  # should this process be killed, the command is too
        signal.set_wakeup_fd(-1)
        for number in (*DEAF_TO, signal.SIGPIPE, signal.SIGXFSZ, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        os.chdir(cwd)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        where = argv[0]
        os.execve(argv[0], argv, environ)
    except OSError as error:
        os.write(trouble, f"{error.errno} {where}".encode(errors="surrogateescape"))
    finally:
        os._exit(127)


def kill(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)
        if number == signal.SIGTERM:
            os.kill(pid, signal.SIGCONT)  # a stopped process hears nothing else


def strike(command: Command, pids: list[int], number: int) -> None:
    for pid in pids:
        kill(pid, number)
    if command.code is None:  # not reaped: the group's number is still its own
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(command.pid, number)


def strays(commands: dict[int, Command]) -> bool:
    """True when this process may have children that are not commands: a cheap look before a dear one."""
    if not LINUX:
        return True
    try:
        with open(f"/proc/self/task/{os.getpid()}/children", "rb") as file:
            children = {int(pid) for pid in file.read().split()}
    except OSError:
        return True
    return bool(children - {pid for pid, command in commands.items() if command.code is None})


def members(command: Command) -> list[int]:
    """The living processes of a command: its own, those below it, those that carry its mark."""
    if not LINUX:
        try:
            os.killpg(command.pid, 0)
        except (ProcessLookupError, PermissionError):
            return []
        return [-command.pid]
    mine = set(below(command.pid)) if command.code is None else set()
    wanted = f"{MARK}={command.mark}\0".encode()
    for pid in below(os.getpid()):
        if pid in mine:
            continue
        try:
            if os.getsid(pid) == command.pid:
                mine.add(pid)
                continue
            with open(f"/proc/{pid}/environ", "rb") as file:
                if wanted in b"\0" + file.read() + b"\0":
                    mine.add(pid)
        except OSError:
            continue
    if command.code is None:
        mine.add(command.pid)
    return sorted(mine)


def below(root: int) -> list[int]:
    """The pids of all living descendants of a process (Linux; elsewhere nothing)."""
    if not LINUX:
        return []
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                state, parent = file.read().rpartition(b")")[2].split()[:2]
        except OSError:
            continue
        if state not in (b"Z", b"X"):
            children.setdefault(int(parent), []).append(int(name))
    found: list[int] = []
    queue = [root]
    while queue:
        born = children.get(queue.pop(), [])
        found += born
        queue += born
    return found


def prctl(option: int, value: int) -> None:
    """Ask the kernel for a favour (Linux); without it less is certain, nothing is wrong."""
    if LIBC is not None:
        with contextlib.suppress(AttributeError):
            LIBC.prctl(option, value, 0, 0, 0)


def main() -> None:
    for number in DEAF_TO:
        signal.signal(number, signal.SIG_IGN)
    with contextlib.suppress(PermissionError):
        os.setsid()  # Ctrl-C in the agent's terminal is for the agent
    prctl(SET_PDEATHSIG, signal.SIGCONT)  # should it be stopped, it wakes when the agent is gone
    prctl(SET_CHILD_SUBREAPER, 1)  # descendants that lose their parent come here
    supervisor = Supervisor(socket.socket(fileno=os.dup(0)))
    try:
        supervisor.serve()
    finally:
        supervisor.finish()


if __name__ == "__main__":
    main()
