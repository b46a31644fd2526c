"""write_file: the whole content of a file."""

from dataclasses import dataclass

from hermes.core.effects import Effects
from hermes.core.errors import ToolError
from hermes.core.sandbox import Sandbox
from hermes.core.seen import Seen
from hermes.core.tools import ToolContext, ToolOutput
from hermes.lib import numbered, textfile
from hermes.lib.diff import unified
from hermes.lib.redact import HIDDEN
from hermes.lib.text import clean
from hermes.sdk import syntax, tool


@dataclass(frozen=True, slots=True, eq=False)
class _Existing:
    """The file that is to be replaced. `file` is None when it is not text."""

    content: bytes
    file: textfile.TextFile | None

    @property
    def text(self) -> str:
        return self.file.text if self.file else ""


@tool(effects=Effects(writes=("path",), idempotent=True), needs=(Sandbox, Seen), emoji="📝")
async def write_file(ctx: ToolContext, path: str, content: str) -> ToolOutput:
    """Create a file, or replace the whole of one that was read before. Makes missing folders.

    To change a part of a file use patch.
    """
    sandbox, seen = ctx.use(Sandbox), ctx.use(Seen)
    where = sandbox.resolve(path)
    existing = await _existing(sandbox, path)
    text = clean(content)
    _refuse_shown_text(path, text, existing)
    notes = ["characters that no file can hold were replaced by �"] if text != content else []
    if existing is None:
        after, before = text.encode(), None
    else:
        _refuse_unread(path, seen.compare(ctx.session, where, existing.content), existing)
        after, before = _encoded(text, existing.file, notes), existing.content
    lines = len(textfile.lines(text))
    size = f"{lines:,} line{'s' * (lines != 1)}, {len(after):,} bytes"
    data = {"lines": lines, "bytes": len(after)}
    if after == before:
        return ToolOutput(f"{path} already holds exactly this ({size}); nothing was changed.", data)
    try:
        await sandbox.write(path, after, expect=before)
        after = await sandbox.read(path)
    except OSError as error:
        raise ToolError(
            f"{path} cannot be written: {error.strerror or error}. It is as it was before."
        ) from error
    seen.note(ctx.session, where, after, lines=lines)
    if said := syntax.fault(path, text):
        notes.append(said)
    report = [f"{path} {'created' if existing is None else 'replaced'}: {size}."]
    if existing is not None and existing.content:
        report.append(unified(existing.text, textfile.decode(after).text, limit=40))
    return ToolOutput("\n".join([*report, *(f"Note: {note}." for note in notes)]), data)


async def _existing(sandbox: Sandbox, path: str) -> _Existing | None:
    try:
        content = await sandbox.read(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except IsADirectoryError:
        raise ToolError(f"{path} is a folder. Give the path of a file in it.") from None
    except OSError as error:
        raise ToolError(f"{path} is there but cannot be read: {error.strerror or error}.") from error
    return _Existing(content, None if textfile.binary(content) else textfile.decode(content))


def _encoded(text: str, file: textfile.TextFile | None, notes: list[str]) -> bytes:
    """The text in the encoding and with the line ends of the file it replaces."""
    if file is None:
        return text.encode()
    try:
        after = file.encode(text)
    except UnicodeEncodeError:
        notes.append("the file was not UTF-8 and could not hold all of this text; it is UTF-8 now")
        return text.encode()
    if file.traits:
        notes.append(f"kept as it was: {', '.join(file.traits)}")
    return after


def _refuse_unread(path: str, sight: str, existing: _Existing) -> None:
    if not existing.content or sight == "whole":
        return
    said = {
        "never": "exists and was not read yet. Read it first, or change a part of it with patch",
        "part": "was not read as a whole. Read the rest of it first, or change a part of it with patch",
        "changed": "has changed since it was read. Read it again first",
    }[sight]
    raise ToolError(f"{path} {said}. Nothing was written.")


def _refuse_shown_text(path: str, text: str, existing: _Existing | None) -> None:
    """What a tool showed is not what the file holds: hidden secrets, numbered lines."""
    before = existing.text if existing else ""
    if HIDDEN in text and HIDDEN not in before:
        raise ToolError(
            f"The content holds {HIDDEN} where a secret was hidden from you; writing it to {path} would "
            "destroy the secret. Change only the other lines, with patch. Nothing was written."
        )
    if not numbered.looks_numbered(text) or numbered.looks_numbered(before):
        return
    own = set(before.split("\n")) - {""}
    if numbered.has_footer(text) or own.intersection(numbered.bare(text).split("\n")):
        raise ToolError(
            "The content is numbered as read_file shows it. Leave out the numbers. Nothing was written."
        )
