"""GuardedSandbox: a sandbox whose every effect is admitted by the gate first."""

from collections.abc import AsyncGenerator, Mapping

from hermes.core.gate import Action, Gate
from hermes.core.sandbox import Completed, Entry, Sandbox
from hermes.core.tools import ToolContext


class GuardedSandbox:
    """What tools are handed as their Sandbox. For each call it is bound to that call."""

    def __init__(self, inner: Sandbox, gate: Gate) -> None:
        self._inner = inner
        self._gate = gate

    def bind(self, ctx: ToolContext) -> Sandbox:
        return _Guarded(self._inner, self._gate, ctx)


class _Guarded:
    """The sandbox as one call sees it: relative paths start at the session's working directory."""

    __slots__ = ("_ctx", "_gate", "_inner")

    def __init__(self, inner: Sandbox, gate: Gate, ctx: ToolContext) -> None:
        self._inner = inner
        self._gate = gate
        self._ctx = ctx

    @property
    def name(self) -> str:
        return self._inner.name

    def resolve(self, path: str) -> str:
        if path.startswith(("/", "~")) or not self._ctx.cwd:
            return self._inner.resolve(path)
        return self._inner.resolve(f"{self._ctx.cwd}/{path}")

    async def run(
        self,
        command: str,
        *,
        cwd: str = "",
        env: Mapping[str, str] | None = None,
        timeout: float = 180.0,
        limit: int = 50_000,
    ) -> Completed:
        folder = self.resolve(cwd or self._ctx.cwd or ".")
        await self._gate.admit(Action("run", command, folder), self._ctx)
        return await self._inner.run(command, cwd=folder, env=env, timeout=timeout, limit=limit)

    async def read(self, path: str) -> bytes:
        return await self._inner.read(await self._admitted("read", path))

    async def write(self, path: str, content: bytes, *, expect: bytes | None = None) -> None:
        await self._inner.write(await self._admitted("write", path), content, expect=expect)

    async def stat(self, path: str) -> Entry:
        return await self._inner.stat(self.resolve(path))

    async def list(self, path: str) -> list[Entry]:
        return await self._inner.list(self.resolve(path))

    def walk(self, path: str) -> AsyncGenerator[Entry, None]:
        return self._inner.walk(self.resolve(path))

    async def _admitted(self, kind: str, path: str) -> str:
        full = self.resolve(path)
        await self._gate.admit(Action("read" if kind == "read" else "write", full, self._ctx.cwd), self._ctx)
        return full
