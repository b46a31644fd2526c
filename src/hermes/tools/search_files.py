"""search_files: which files there are, and what stands in them."""

import posixpath
import re
import shlex
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator
from contextlib import aclosing
from dataclasses import dataclass, field
from itertools import groupby
from typing import Annotated, Literal

from msgspec import Meta

from hermes.core.effects import Effects
from hermes.core.errors import Denied, ToolError
from hermes.core.gate import Action, Gate
from hermes.core.sandbox import Entry, Sandbox
from hermes.core.tools import ToolContext, ToolOutput
from hermes.lib import textfile
from hermes.lib.pathmatch import matches, wild
from hermes.lib.text import clean
from hermes.sdk import tool
from hermes.sdk.matching import finder

WIDTH = 300
LONGEST_LINE = 2_000
LONGEST_FILE = 5_000_000
MOST_FILES = 20_000
MOST_NAMES = 100_000
SECONDS = 60

_ROW = r"(\d+)([:-])([^\n]*)"


@dataclass(frozen=True, slots=True, eq=False)
class _Row:
    """A line of a file. `hit` is False for a line around a match."""

    path: str
    line: int
    text: str
    hit: bool = True


@dataclass(slots=True, eq=False)
class _Policy:
    """What the gate lets pass unasked; a search is no reason to put a question for each file."""

    gate: Gate | None
    cwd: str
    known: dict[str, bool] = field(default_factory=dict[str, bool])

    def runs(self, command: str) -> bool:
        return self.gate is None or self.gate.judge(Action("run", command, self.cwd)).decision == "allow"

    def reads(self, path: str) -> bool:
        if self.gate is None:
            return True
        if path not in self.known:
            self.known[path] = self.gate.judge(Action("read", path, self.cwd)).decision == "allow"
        return self.known[path]

    @property
    def passed_over(self) -> list[str]:
        return [path for path, allowed in self.known.items() if not allowed]


@dataclass(slots=True, eq=False)
class _Asked:
    """The search: what, where, and how much of it."""

    pattern: str
    top: str
    file_glob: str
    mode: Literal["content", "files_only", "count"]
    context: int
    first: int
    limit: int
    shown: Callable[[str], str]
    policy: _Policy
    notes: list[str] = field(default_factory=list[str])

    @property
    def enough(self) -> int:
        """One match more than is shown, to know whether there is more."""
        return self.first + self.limit + 1


@tool(effects=Effects(reads=("path",), idempotent=True), needs=(Sandbox,), emoji="🔎")
async def search_files(  # noqa: PLR0913 - the parameters people know
    ctx: ToolContext,
    pattern: Annotated[
        str, Meta(min_length=1, description="Regex for content, glob or part of a name for files")
    ],
    target: Literal["content", "files"] = "content",
    path: str = ".",
    file_glob: str = "",
    limit: Annotated[int, Meta(ge=1, le=1_000)] = 50,
    offset: Annotated[int, Meta(ge=0)] = 0,
    output_mode: Literal["content", "files_only", "count"] = "content",
    context: Annotated[int, Meta(ge=0, le=20, description="Lines around each match")] = 0,
) -> ToolOutput:
    """Search text in files line by line (target=content), or find files by name, newest first (target=files).

    Leaves out what .gitignore names and binary files.
    """
    sandbox = ctx.use(Sandbox)
    top = sandbox.resolve(path)
    try:
        await sandbox.stat(path)
    except OSError as error:
        raise ToolError(f"{path} cannot be searched: {error.strerror or error}.") from error
    asked = _Asked(
        clean(pattern),
        top,
        file_glob,
        output_mode,
        context,
        offset,
        limit,
        _shown(sandbox.resolve(ctx.cwd)),
        _Policy(ctx.use(Gate) if ctx.services.has(Gate) else None, ctx.cwd),
    )
    if target == "files":
        return await _files(sandbox, asked)
    rows = await _ripgrep(sandbox, asked)
    if rows is None:
        rows = await _own(sandbox, asked)
    return _reported(asked, [row for row in rows if asked.policy.reads(row.path)])


def _shown(cwd: str) -> Callable[[str], str]:
    """Paths below the working directory are shown relative to it."""
    inside = cwd.rstrip("/") + "/"
    return lambda path: path.removeprefix(inside)


# Names


async def _files(sandbox: Sandbox, asked: _Asked) -> ToolOutput:
    found: list[Entry] = []
    count = 0
    wanted = _name_test(asked)
    async with _walked(sandbox, asked) as entries:
        async for entry in entries:
            count += 1
            if count > MOST_NAMES:
                asked.notes.append(
                    f"only the first {MOST_NAMES:,} files were looked at; search in a folder below"
                )
                break
            if wanted(entry.path):
                found.append(entry)
    found.sort(key=lambda entry: (-entry.modified, entry.path))
    page = found[asked.first : asked.first + asked.limit]
    said = f"{len(found):,} file{'s' * (len(found) != 1)}"
    if not found:
        said = f"no file among {count:,} has a name like {asked.pattern!r}"
    text = [asked.shown(entry.path) for entry in page]
    return _output(asked, text, said, len(found), len(found) > asked.first + asked.limit)


def _walked(sandbox: Sandbox, asked: _Asked) -> aclosing[AsyncGenerator[Entry, None]]:
    """The files below the top; whoever stops early has it closed at once, not some time later."""
    return aclosing(sandbox.walk(asked.top))


def _name_test(asked: _Asked) -> Callable[[str], bool]:
    start = len(asked.top.rstrip("/")) + 1
    if wild(asked.pattern):
        return lambda path: matches(asked.pattern, path[start:]) and _fits_glob(asked, path)
    part = asked.pattern.lower()
    return lambda path: part in (path[start:] or path).lower() and _fits_glob(asked, path)


def _fits_glob(asked: _Asked, path: str) -> bool:
    inside = path[len(asked.top.rstrip("/")) + 1 :] or posixpath.basename(path)
    return not asked.file_glob or matches(asked.file_glob, inside)


# Content, by ripgrep


async def _ripgrep(sandbox: Sandbox, asked: _Asked) -> list[_Row] | None:
    """The rows ripgrep finds; None when it is not there or does not understand the pattern."""
    most = asked.enough * (2 * asked.context + 2)
    command = f"command -v rg >/dev/null && {shlex.join(_words(asked))} 2>&1 | head -n {most}"
    if not asked.policy.runs(command):
        return None
    try:
        done = await sandbox.run(command, timeout=SECONDS, limit=8_000_000)
    except Denied:
        return None
    if done.exit_code or done.timed_out:
        return None
    rows = list(_parsed(done.output, asked))
    # Something was said that is no row: a complaint. Our own search explains it, or can do it.
    return None if not rows and done.output.strip() else rows


def _words(asked: _Asked) -> list[str]:
    words = [
        "rg",
        "--no-config",
        "--no-messages",
        "--color=never",
        "--no-heading",
        "--null",
        "--with-filename",
    ]
    words += ["--sort=path", "--hidden", "--no-require-git", "--glob=!.git"]
    words += [f"--max-columns={LONGEST_LINE}", "--max-columns-preview"]
    # A glob would bring ignored files back; a type of its own does not.
    if asked.file_glob and "/" not in asked.file_glob:
        words += [f"--type-add=wanted:{asked.file_glob}", "--type=wanted"]
    elif asked.file_glob:
        words.append(f"--glob={asked.file_glob}")
    modes = {"files_only": ["--files-with-matches"], "count": ["--count"]}
    words += modes.get(asked.mode, ["--line-number", f"--context={asked.context}"])
    return [*words, "--regexp", asked.pattern, "--", asked.top]


def _parsed(output: str, asked: _Asked) -> Iterator[_Row]:
    if asked.mode == "files_only":
        yield from (_Row(path, 0, "") for path in output.split("\0")[:-1])
        return
    for row in output.split("\n"):
        path, nul, rest = row.partition("\0")
        if asked.mode == "count" and nul:
            yield _Row(path, int(rest), "")
        elif nul and (found := re.match(_ROW, rest)):
            yield _Row(path, int(found[1]), found[3].rstrip("\r"), found[2] == ":")


# Content, by ourselves


async def _own(sandbox: Sandbox, asked: _Asked) -> list[_Row]:
    wanted = _compiled(asked.pattern)
    rows: list[_Row] = []
    hits = 0
    async with finder(wanted) as finding, aclosing(_texts(sandbox, asked)) as texts:
        async for path, lines in texts:
            found = await finding.fitting([line[:LONGEST_LINE] for line in lines])
            if not found:
                continue
            if asked.mode == "content":
                rows += _around(path, lines, found[: asked.enough - hits], asked.context)
                hits += len(found)
            else:
                rows.append(_Row(path, len(found) if asked.mode == "count" else 0, ""))
                hits += 1
            if hits >= asked.enough:
                break
    return rows


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        wanted = re.compile(pattern)
    except re.error as error:
        at = f" at character {error.pos + 1}" if error.pos is not None else ""
        raise ToolError(
            f"The pattern {pattern!r} is not a regular expression: {error.msg}{at}. "
            "To search for the characters themselves put a backslash before . ^ $ * + ? ( ) [ ] { } | \\."
        ) from error
    if "\n" in pattern or r"\n" in pattern.replace(r"\\", ""):
        raise ToolError(
            "The pattern spans lines, but files are searched line by line. Search for one of the lines."
        )
    return wanted


async def _texts(sandbox: Sandbox, asked: _Asked) -> AsyncGenerator[tuple[str, list[str]], None]:
    """The text files below the top, in the order of their paths."""
    count = large = 0
    async with _walked(sandbox, asked) as entries:
        async for entry in entries:
            if not _fits_glob(asked, entry.path) or not asked.policy.reads(entry.path):
                continue
            if entry.size > LONGEST_FILE:
                large += 1
                continue
            count += 1
            if count > MOST_FILES:
                asked.notes.append(
                    f"only the first {MOST_FILES:,} files were searched; search in a folder below"
                )
                break
            if lines := await _lines_of(sandbox, entry.path):
                yield entry.path, lines
    if large:
        asked.notes.append(f"passed over, as larger than {LONGEST_FILE // 1_000_000} MB: {large} files")


async def _lines_of(sandbox: Sandbox, path: str) -> list[str]:
    try:
        content = await sandbox.read(path)
    except (OSError, Denied, ToolError):
        return []
    return [] if textfile.binary(content) else textfile.lines(textfile.decode(content).text)


def _around(path: str, lines: list[str], found: list[int], context: int) -> Iterator[_Row]:
    hits = set(found)
    near = sorted(
        {n for hit in found for n in range(hit - context, hit + context + 1) if 0 <= n < len(lines)}
    )
    for number in near:
        yield _Row(path, number + 1, lines[number], number in hits)


# The report


def _reported(asked: _Asked, rows: list[_Row]) -> ToolOutput:
    hits = [row for row in rows if row.hit]
    page = hits[asked.first : asked.first + asked.limit]
    more = len(hits) > asked.first + asked.limit
    match asked.mode:
        case "files_only":
            text = [asked.shown(row.path) for row in page]
        case "count":
            text = [f"{asked.shown(row.path)}: {row.line}" for row in page]
        case "content":
            text = _by_file(asked, rows, page)
    noun, plural = ("match", "matches") if asked.mode == "content" else ("file", "files")
    count = asked.first + asked.limit if more else len(hits)
    said = f"more than {count:,} {plural}" if more else f"{count:,} {noun if count == 1 else plural}"
    return _output(asked, text, said, count, more)


def _by_file(asked: _Asked, rows: list[_Row], page: list[_Row]) -> list[str]:
    """The matches of a page and the lines around them, below the names of their files."""
    reach = range(-asked.context, asked.context + 1)
    wanted = {(hit.path, hit.line + step) for hit in page for step in reach}
    text: list[str] = []
    near = (row for row in rows if (row.path, row.line) in wanted)
    for path, group in groupby(near, key=lambda row: row.path):
        text += asked.shown(path), *_lines(group, apart=asked.context > 0)
    return text


def _lines(rows: Iterable[_Row], *, apart: bool) -> Iterator[str]:
    """Rows as they are shown; with `apart` a line between stretches that do not touch."""
    before = 0
    for row in rows:
        if apart and before and row.line > before + 1:
            yield "--"
        before = row.line
        text = row.text if len(row.text) <= WIDTH else row.text[:WIDTH] + "…"
        yield f"{row.line}{':' if row.hit else '-'}{text}"


def _output(asked: _Asked, text: list[str], said: str, count: int, more: bool) -> ToolOutput:
    if text and (more or asked.first):
        said += f"; shown from {asked.first + 1}"
    if more:
        said += f"; read on with offset={asked.first + asked.limit}"
    if not text and count and asked.first:
        said += f"; there is nothing from offset={asked.first} on"
    if guarded := asked.policy.passed_over:
        names = ", ".join(asked.shown(path) for path in guarded[:3]) + (", …" if len(guarded) > 3 else "")
        asked.notes.append(f"passed over, as they may hold secrets: {names}")
    notes = "".join(f"\n[{note}]" for note in asked.notes)
    return ToolOutput("\n".join([*text, f"[{said}]"]) + notes, {"count": count, "more": more})
