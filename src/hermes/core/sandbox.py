"""Sandbox: a place where commands run and files live. Every effect of a tool goes through one."""

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol


@dataclass(frozen=True, slots=True)
class Completed:
    """A command that ended, or was ended.

    `output` is stdout and stderr as they came, at most `limit` bytes of head and tail decoded;
    `size` is how many bytes there were; `file` is where the whole output lies when some of it is
    not in `output`, "" otherwise. `exit_code` is 128 + n for signal n. `seconds` is wall time.
    `cwd` is where the command left the shell.
    """

    exit_code: int
    output: str
    size: int
    seconds: float
    timed_out: bool = False
    file: str = ""
    cwd: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """A file or folder. `modified` is microseconds since the epoch; `size` is bytes."""

    path: str
    kind: Literal["file", "dir", "other"]
    size: int
    modified: int


@dataclass(frozen=True, slots=True)
class Deadlines:
    """Seconds a foreground command may take: when nothing is said, and at most."""

    usual: float = 180.0
    longest: float = 600.0


class Sandbox(Protocol):
    """Paths are absolute, or relative to the session's working directory.

    `read`, `stat` and `list` raise FileNotFoundError, IsADirectoryError, PermissionError and the
    like as the operating system does; any of them may raise Denied.
    """

    @property
    def name(self) -> str: ...

    def resolve(self, path: str) -> str:
        """Absolute path with `~` expanded and `.` and `..` taken out; links are not followed."""
        ...

    async def run(
        self,
        command: str,
        *,
        cwd: str = "",
        env: Mapping[str, str] | None = None,
        timeout: float = 180.0,
        limit: int = 50_000,
    ) -> Completed:
        """Run a shell command to its end. Its own process group, stdin closed. `timeout` seconds.

        Returns when the command itself ends; children it left in the background do not hold it.
        """
        ...

    async def read(self, path: str) -> bytes: ...

    async def write(self, path: str, content: bytes, *, expect: bytes | None = None) -> None:
        """Replace a file atomically, keeping its mode; parents are made.

        With `expect`, raise ToolError when the file no longer holds these bytes.
        """
        ...

    async def stat(self, path: str) -> Entry: ...

    async def list(self, path: str) -> list[Entry]:
        """The entries of a folder, sorted by name."""
        ...

    def walk(self, path: str) -> AsyncGenerator[Entry, None]:
        """Files below a folder in a stable order, honouring .gitignore, skipping .git.

        A file given as `path` is yielded itself. Close the walk when leaving it early.
        """
        ...
