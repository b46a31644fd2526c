"""read_file: a numbered page of a text file."""

import posixpath
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Annotated, NoReturn

from msgspec import Meta

from hermes.core.effects import Effects
from hermes.core.errors import ToolError
from hermes.core.sandbox import Sandbox
from hermes.core.seen import Seen
from hermes.core.tools import ToolContext, ToolOutput
from hermes.lib import textfile
from hermes.sdk import tool

MOST_LINES = 2_000
LINE = 2_000
PAGE = 60_000
NAMES = 100


@dataclass(slots=True, eq=False)
class _Page:
    """Lines `first` to `last` as shown; `cut` are the numbers of lines that go on at `next_column`."""

    text: str
    first: int
    last: int
    cut: list[int]
    next_column: int


@tool(effects=Effects(reads=("path",), idempotent=True), needs=(Sandbox, Seen), limit=200_000, emoji="📖")
async def read_file(
    ctx: ToolContext,
    path: str,
    offset: Annotated[int, Meta(ge=1, description="First line, from 1")] = 1,
    limit: Annotated[int, Meta(ge=1, le=MOST_LINES)] = 500,
    column: Annotated[int, Meta(ge=1, description="First character of a line")] = 1,
) -> ToolOutput:
    """Read a page of a text file.

    Each line is shown as NUMBER|TEXT; the last line, in brackets, says how to read on. For a folder its
    entries are shown.
    """
    sandbox = ctx.use(Sandbox)
    try:
        content = await sandbox.read(path)
    except IsADirectoryError:
        return await _folder(sandbox, path)
    except FileNotFoundError:
        await _missing(sandbox, path)
    except OSError as error:
        raise ToolError(f"{path} cannot be read: {error.strerror or error}.") from error
    seen = ctx.use(Seen)
    where = sandbox.resolve(path)
    if kind := textfile.binary(content):
        seen.note(ctx.session, where, content)
        return ToolOutput(f"[{path} is not text: {kind}, {len(content):,} bytes]", {"lines": 0})
    file = textfile.decode(content)
    lines = textfile.lines(file.text)
    if not lines:
        seen.note(ctx.session, where, content)
        return ToolOutput(f"[{path} is empty]", {"lines": 0})
    if offset > len(lines):
        raise ToolError(f"{path} has {len(lines):,} lines; there is no line {offset:,}.")
    page = _page(lines, offset, limit, column)
    if not page.cut:
        seen.note(ctx.session, where, content, lines=len(lines), first=page.first, last=page.last)
    else:
        seen.note(ctx.session, where, content, lines=len(lines), first=page.first, last=page.cut[0] - 1)
    return ToolOutput(f"{page.text}\n[{_footer(page, file, len(lines))}]", {"lines": len(lines)})


def _page(lines: list[str], offset: int, limit: int, column: int) -> _Page:
    """As many of the lines as fit. A single line may fill the page, one of many is cut sooner."""
    most = PAGE if limit == 1 else LINE
    start, end = column - 1, column - 1 + most
    shown: list[str] = []
    cut: list[int] = []
    room = PAGE
    number = offset - 1
    for number, line in enumerate(lines[offset - 1 : offset - 1 + limit], offset):
        if len(line) > end:
            cut.append(number)
            row = f"{number}|{line[start:end]} [+{len(line) - end:,} characters]"
        else:
            row = f"{number}|{line[start:] if start else line}"
        room -= len(row) + 1
        if room < 0 and shown:
            number -= 1
            if cut and cut[-1] > number:
                cut.pop()
            break
        shown.append(row)
    return _Page("\n".join(shown), offset, number, cut, end + 1)


def _footer(page: _Page, file: textfile.TextFile, total: int) -> str:
    if page.first == 1 and page.last == total:
        said = [f"{total:,} line{'s' * (total != 1)}"]
    else:
        said = [f"lines {page.first:,}-{page.last:,} of {total:,}"]
    if page.last < total:
        said.append(f"read on with offset={page.last + 1}")
    if page.cut:
        line = page.cut[0]
        said.append(f"line {line} goes on: use offset={line}, limit=1, column={page.next_column}")
    said += file.traits
    if page.last == total and not file.text.endswith("\n"):
        said.append("no newline at the end")
    return "; ".join(said)


async def _folder(sandbox: Sandbox, path: str) -> ToolOutput:
    entries = await sandbox.list(path)
    names = [posixpath.basename(e.path) + "/" * (e.kind == "dir") for e in entries]
    more = f"; {len(names) - NAMES:,} more, use search_files with target=files" if len(names) > NAMES else ""
    text = "\n".join([*names[:NAMES], f"[{path} is a folder with {len(names):,} entries{more}]"])
    return ToolOutput(text, {"entries": len(names)})


async def _missing(sandbox: Sandbox, path: str) -> NoReturn:
    """Say what is there instead: names like it in its folder."""
    where = sandbox.resolve(path)
    folder, name = posixpath.split(where)
    try:
        names = [posixpath.basename(entry.path) for entry in await sandbox.list(folder)]
    except OSError:
        raise ToolError(f"There is no file {path}, and no folder {folder}.") from None
    lower = {n.lower(): n for n in names}
    near = [lower[n] for n in get_close_matches(name.lower(), lower, n=3, cutoff=0.6)]
    hint = f" Did you mean {' or '.join(near)}?" if near else ""
    raise ToolError(f"There is no file {path}.{hint}") from None
