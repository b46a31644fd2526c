"""FolderSandbox: a sandbox over a real folder, without isolation or a gate, for tests of tools."""

import os
import posixpath
import stat
import subprocess
import tempfile
from collections.abc import AsyncGenerator, Mapping
from pathlib import Path
from typing import Literal

import anyio

from hermes.core.errors import ToolError
from hermes.core.ids import CallId, SessionId
from hermes.core.sandbox import Completed, Entry, Sandbox
from hermes.core.seen import Seen
from hermes.core.services import Services
from hermes.core.tools import ToolContext


class FolderSandbox:
    """Relative paths are below `root`; `home` stands for `~`.

    What was asked of it is kept in `reads`, `writes` and `commands`.
    """

    name = "folder"

    def __init__(self, root: Path, home: Path | None = None) -> None:
        self.root = root
        self.home = home or root
        self.reads: list[str] = []
        self.writes: list[str] = []
        self.commands: list[str] = []

    def resolve(self, path: str) -> str:
        if path == "~" or path.startswith("~/"):
            path = str(self.home) + path[1:]
        return posixpath.normpath(posixpath.join(str(self.root), path))

    async def run(
        self,
        command: str,
        *,
        cwd: str = "",
        env: Mapping[str, str] | None = None,
        timeout: float = 180.0,
        limit: int = 50_000,
    ) -> Completed:
        self.commands.append(command)
        began = anyio.current_time()
        done = None
        with anyio.move_on_after(timeout):
            done = await anyio.run_process(
                ["bash", "-c", command],
                cwd=cwd or self.root,
                env=env,
                check=False,
                stdin=subprocess.DEVNULL,
                stderr=subprocess.STDOUT,
            )
        seconds = anyio.current_time() - began
        if done is None:
            return Completed(124, "", 0, seconds, timed_out=True)
        text = done.stdout[:limit].decode(errors="replace")
        return Completed(done.returncode, text, len(done.stdout), seconds)

    async def read(self, path: str) -> bytes:
        self.reads.append(path)
        return _read(self.resolve(path))

    async def write(self, path: str, content: bytes, *, expect: bytes | None = None) -> None:
        if expect is not None and _read(self.resolve(path)) != expect:
            raise ToolError(f"{path} has changed meanwhile.")
        _replace(Path(self.resolve(path)), content)
        self.writes.append(path)

    async def stat(self, path: str) -> Entry:
        return _entry(Path(self.resolve(path)))

    async def list(self, path: str) -> list[Entry]:
        return _list(self.resolve(path))

    async def walk(self, path: str) -> AsyncGenerator[Entry, None]:
        """All files but those in .git, a file itself; .gitignore is not looked at."""
        top = Path(self.resolve(path))
        if _is_file(top):
            yield _entry(top)
        for folder, folders, files in os.walk(top):
            folders[:] = sorted(name for name in folders if name != ".git")
            for name in sorted(files):
                yield _entry(Path(folder, name))


def tool_context(root: Path, session: str = "s1", sandbox: Sandbox | None = None) -> ToolContext:
    """What a file tool needs: a sandbox over `root`, and a memory of what was read."""
    services = Services({Sandbox: sandbox or FolderSandbox(root), Seen: Seen()})
    return ToolContext(CallId("c1"), SessionId(session), str(root), services)


def _read(path: str) -> bytes:
    return Path(path).read_bytes()


def _is_file(path: Path) -> bool:
    return path.is_file()


def _list(path: str) -> list[Entry]:
    return [_entry(child) for child in sorted(Path(path).iterdir())]


def _replace(target: Path, content: bytes) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o644
    handle, name = tempfile.mkstemp(dir=target.parent)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
    Path(name).chmod(mode)
    Path(name).replace(target)


def _entry(path: Path) -> Entry:
    seen = path.stat() if path.exists() else path.lstat()
    kind: Literal["file", "dir", "other"] = "other"
    if stat.S_ISDIR(seen.st_mode):
        kind = "dir"
    elif stat.S_ISREG(seen.st_mode):
        kind = "file"
    return Entry(str(path), kind, seen.st_size, seen.st_mtime_ns // 1_000)
