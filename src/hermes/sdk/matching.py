"""Finder: which lines a regular expression fits, given up where that would take for ever."""

import json
import re
import subprocess
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Protocol, cast

import anyio
from anyio.abc import Process

from hermes.core.errors import ToolError

PATIENCE = 1.0
"""Seconds for the lines of one call, which may be a few megabytes."""
ALTOGETHER = 60.0
"""Seconds for all calls."""

# Reads the pattern, then lists of lines; prints a list of numbers for each. All of it is JSON.
_CHILD = """
import json, re, sys
wanted = re.compile(json.loads(sys.stdin.readline()))
for row in sys.stdin:
    found = [n for n, line in enumerate(json.loads(row)) if wanted.search(line)]
    print(json.dumps(found), flush=True)
"""


class Finder(Protocol):
    """Says which of some lines the pattern fits."""

    async def fitting(self, lines: Sequence[str]) -> list[int]:
        """The numbers of these lines, from 0. Raise ToolError when that takes too long."""
        ...


@asynccontextmanager
async def finder(wanted: re.Pattern[str], patience: float = PATIENCE) -> AsyncGenerator[Finder, None]:
    """A finder for the length of the block. `patience` is in seconds, for each call.

    Python's matcher cannot be stopped and holds everything else up meanwhile. So only patterns with
    at most one repetition are tried here; others in a process of their own, which can be ended.
    """
    if _plain(wanted.pattern):
        yield _Here(wanted)
        return
    words = [sys.executable, "-I", "-S", "-c", _CHILD]
    async with await anyio.open_process(words, stderr=subprocess.DEVNULL, env={}) as child:
        yield _There(child, wanted.pattern, patience)


def _plain(pattern: str) -> bool:
    """Whether the time for a line grows with no more than the square of its length, whatever stands in it."""
    bare = re.sub(r"\\.", "", pattern, flags=re.DOTALL)
    return "(" not in bare and len(re.findall(r"[*+?{]", bare)) <= 1


class _Here:
    def __init__(self, wanted: re.Pattern[str]) -> None:
        self._wanted = wanted

    async def fitting(self, lines: Sequence[str]) -> list[int]:
        search = self._wanted.search
        return [number for number, line in enumerate(lines) if search(line)]


class _There:
    def __init__(self, child: Process, pattern: str, patience: float) -> None:
        self._child, self._pattern, self._patience = child, pattern, patience
        self._until = anyio.current_time() + ALTOGETHER
        self._first = json.dumps(pattern).encode() + b"\n"

    async def fitting(self, lines: Sequence[str]) -> list[int]:
        try:
            with anyio.fail_after(min(self._patience, self._until - anyio.current_time())):
                return await self._asked(json.dumps(lines).encode() + b"\n")
        except TimeoutError:
            self._child.kill()
            raise ToolError(
                f"The pattern {self._pattern!r} takes too long on some lines: what it repeats can fit the"
                " same text in many ways. Repeat less in it, or search for a plain part of it."
            ) from None
        except (anyio.EndOfStream, anyio.BrokenResourceError) as error:
            raise ToolError(f"The pattern {self._pattern!r} is too much to try. Simplify it.") from error

    async def _asked(self, question: bytes) -> list[int]:
        sent, heard = self._child.stdin, self._child.stdout
        assert sent is not None
        assert heard is not None
        await sent.send(self._first + question)
        self._first = b""
        answer = bytearray()
        while not answer.endswith(b"\n"):
            answer += await heard.receive()
        return cast("list[int]", json.loads(answer))
