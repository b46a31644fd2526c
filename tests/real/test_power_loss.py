"""Power loss at every sync point: no store is corrupt, no acknowledged message is lost.

A real process writes to a real store under strace. Its writes and syncs are played back onto a
model of a disk that keeps only what was synced: file contents by fsync of the file, names by fsync
of the folder. At each sync the power fails; the files are laid out as the disk would have them,
once without anything unsynced and once with some of it, and the store is opened again.
Needs strace (`apt-get install strace`).
"""

import ast
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from hermes.core.ids import SessionId
from hermes.core.messages import user
from hermes.core.store import Store
from hermes.stores.open import open_store

pytestmark = pytest.mark.anyio

WRITER = """
import asyncio, os, sys, time
from hermes.core.ids import SessionId, TurnId
from hermes.core.messages import user
from hermes.core.store import Session
from hermes.stores.open import open_store

class Time:
    def now(self): return time.time_ns() // 1000
    def monotonic(self): return time.monotonic()

async def talk(store, name, count):
    await store.write(lambda tx: tx.sessions.create(Session(name, name)))
    for n in range(count):
        text = f"{name} message {n} " + "x" * (n * 997 % 9000)
        store.post(lambda tx: tx.drafts.add(name, "t", n, "draft"))
        await store.write(lambda tx: (tx.messages.append(name, user(text)), tx.drafts.clear(name)))
        os.write(1, f"ACK {name} {n + 1}\\n".encode())

async def main():
    for life in range(3):
        store = open_store(sys.argv[1], Time())
        async with asyncio.TaskGroup() as tasks:
            for k in range(3):
                tasks.create_task(talk(store, f"life{life}-{k}", 40 + 20 * k))
        await store.search("message")
        await store.close()

asyncio.run(main())
"""
TRACED = "openat,pwrite64,write,fsync,fdatasync,ftruncate,unlink,unlinkat,rename,renameat,renameat2,link"


class SystemTime:
    def now(self) -> int:
        return time.time_ns() // 1000

    def monotonic(self) -> float:
        return time.monotonic()


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@dataclass
class File:
    """Content on the platters, and the changes still in memory."""

    synced: bytearray = field(default_factory=bytearray)
    pending: list[tuple[int, bytes | None]] = field(default_factory=list)

    def sync(self) -> None:
        for change in self.pending:
            _apply(self.synced, change)
        self.pending.clear()

    def after_power_loss(self, luck: random.Random | None) -> bytes:
        content = bytearray(self.synced)
        for change in self.pending if luck else ():
            if luck and luck.random() < 0.5:
                _apply(content, change)
        return bytes(content)


def _apply(content: bytearray, change: tuple[int, bytes | None]) -> None:
    """Write bytes at an offset, or cut there (None)."""
    offset, data = change
    end = offset + len(data or b"")
    content.extend(bytes(max(0, end - len(content))))
    if data is None:
        del content[offset:]
    else:
        content[offset:end] = data


class Disk:
    """One folder's files by name, as programs see them and as they would be after a power loss."""

    def __init__(self, folder: Path) -> None:
        self.folder = str(folder)
        self.names: dict[str, File] = {}
        self.synced_names: dict[str, File] = {}

    def play(self, call: str, path: str, rest: str, result: int) -> None:
        if path == self.folder and call in ("fsync", "fdatasync"):
            self.synced_names = dict(self.names)
            return
        if not path.startswith(self.folder + "/"):
            return
        name = path.removeprefix(self.folder + "/")
        match call:
            case "openat" if "O_CREAT" in rest:
                self.names.setdefault(name, File())
            case "unlink" | "unlinkat":
                self.names.pop(name, None)
            case "pwrite64":
                data, offset = _written(rest)
                self.names[name].pending.append((offset, data[:result]))
            case "ftruncate":
                self.names[name].pending.append((int(rest), None))
            case "fsync" | "fdatasync":
                self.names[name].sync()
            case "openat":
                pass
            case _:
                raise AssertionError(f"the model does not know {call} of {name}")

    def lay_out(self, folder: Path, luck: random.Random | None) -> None:
        folder.mkdir()
        for name, file in self.synced_names.items():
            if not name.endswith("-shm"):
                (folder / name).write_bytes(file.after_power_loss(luck))


def _written(rest: str) -> tuple[bytes, int]:
    quoted, _, offset = rest.rsplit(", ", 2)
    return ast.literal_eval("b" + quoted), int(offset)


_LINE = re.compile(
    r"(\d+) +(?:(\w+)\((.*?)(?:\) += (-?\d+).*| <unfinished \.\.\.>)|<\.\.\. (\w+) resumed>(.*))$"
)
_ARGUMENTS = re.compile(
    r'(?:AT_FDCWD(?:<[^>]*>)?, "(?P<named>[^"]*)"|\d+<(?P<open>[^>]*)>|"(?P<plain>[^"]*)")(?:, )?'
)


def calls(trace: Path) -> Iterator[tuple[str, str, str, int | None]]:
    """(call, path, other arguments, result) in order; a call's beginning has no result yet."""
    begun: dict[str, tuple[str, str, str]] = {}
    with trace.open() as lines:
        for line in lines:
            found = _LINE.match(line)
            if found is None:  # signals, exits
                continue
            thread, call, arguments, result, resumed, end = found.groups()
            if resumed is None:
                what = _ARGUMENTS.match(arguments)
                assert what is not None, arguments[:200]
                path = what["named"] or what["open"] or what["plain"] or ""
                if "\\x" in path:
                    path = ast.literal_eval(f'b"{path}"').decode()
                begun[thread] = (call, path, arguments[what.end() :])
                yield *begun[thread], None
            else:
                ended = re.search(r"\) += (-?\d+)", end)
                result = ended[1] if ended else None
            if result is not None and int(result) >= 0:
                yield *begun.pop(thread), int(result)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The folder a process has written to, and the record of its system calls."""
    strace = shutil.which("strace")
    assert strace is not None, "this test needs strace: apt-get install strace"
    folder, trace = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("trace") / "calls"
    recording = [strace, "-f", "-y", "-xx", "-s", "20000000", "-e", f"trace={TRACED}", "-o", str(trace)]
    writing = [sys.executable, "-c", WRITER, str(folder / "state.db")]
    subprocess.run([*recording, *writing], check=True, stdout=subprocess.DEVNULL, timeout=120)
    return folder, trace


async def test_power_fails_at_every_sync(
    recorded: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, trace = recorded
    disk, acknowledged, points = Disk(folder), dict[SessionId, int](), 0
    for call, path, rest, result in calls(trace):
        if result is not None:
            disk.play(call, path, rest, result)
            if call == "write" and (told := _acknowledged(rest)):
                acknowledged[told[0]] = told[1]
        elif call in ("fsync", "fdatasync") and path.startswith(str(folder)):
            points += 1
            for luck in (None, random.Random(points)):
                await _survives(disk, tmp_path / f"{points}-{luck is not None}", luck, acknowledged)
    assert len(acknowledged) == 9
    assert sum(acknowledged.values()) == 3 * (40 + 60 + 80)
    assert points >= 200
    with capsys.disabled():
        print(f"\n{points} power losses, {2 * points} stores opened again: none corrupt, nothing lost")


def _acknowledged(rest: str) -> tuple[SessionId, int] | None:
    text = ast.literal_eval("b" + rest.rsplit(", ", 1)[0]).decode(errors="replace")
    found = re.match(r"ACK (\S+) (\d+)", text)
    return (SessionId(found[1]), int(found[2])) if found else None


async def _survives(
    disk: Disk, folder: Path, luck: random.Random | None, acknowledged: dict[SessionId, int]
) -> None:
    disk.lay_out(folder, luck)
    store = open_store(folder / "state.db", SystemTime())
    for name, count in acknowledged.items():
        rows = await store.read(lambda tx, name=name: tx.messages.all(name))  # type: ignore[misc]
        texts = [row.message.text for row in rows]
        assert len(texts) >= count, f"{name}: {len(texts)} of {count} acknowledged messages are left"
        assert all(text.startswith(f"{name} message {n} ") for n, text in enumerate(texts))
    await _works_again(store, acknowledged)
    with sqlite3.connect(folder / "state.db") as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    db.close()
    shutil.rmtree(folder)


async def _works_again(store: Store, acknowledged: dict[SessionId, int]) -> None:
    if acknowledged:
        name = next(iter(acknowledged))
        await store.write(lambda tx: tx.messages.append(name, user("and on it goes")))
        assert (await store.search("goes"))[0].session == name
    await store.close()
