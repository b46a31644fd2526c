"""patch: exact changes to files, by replacing text or by a patch of several files."""

import posixpath
import shlex
from dataclasses import dataclass
from typing import Annotated, Literal

from msgspec import Meta

from hermes.core.effects import Effects
from hermes.core.errors import BadArguments, Denied, ToolError
from hermes.core.sandbox import Sandbox
from hermes.core.seen import Seen
from hermes.core.tools import ToolContext, ToolOutput
from hermes.lib import edits, numbered, textfile, v4a
from hermes.lib.diff import unified
from hermes.lib.redact import HIDDEN
from hermes.lib.text import clean
from hermes.sdk import syntax, tool


@dataclass(frozen=True, slots=True, eq=False)
class _Step:
    """One file's change, checked and ready. `after` None deletes the file; `to` is where it moves."""

    path: str
    before: bytes | None
    after: bytes | None
    count: int = 0
    to: str = ""


@tool(effects=Effects(reads=("path",), writes=("path",)), needs=(Sandbox, Seen), emoji="🔧")
async def patch(
    ctx: ToolContext,
    mode: Literal["replace", "patch"] = "replace",
    path: str = "",
    old_string: Annotated[str, Meta(description="Exact text, unique in the file")] = "",
    new_string: str = "",
    replace_all: bool = False,
    patch: Annotated[
        str,
        Meta(
            description='"*** Begin Patch"; "*** Update|Add|Delete File: PATH" or "*** Move File: A -> B"; '
            'hunks of "@@ ANCHOR LINE", " kept", "-gone", "+new" lines; "*** End Patch"'
        ),
    ] = "",
) -> ToolOutput:
    """Change files and return the diff. mode=replace puts new_string in place of old_string in path.

    mode=patch applies a V4A patch to one or more files. Text must match exactly, spaces included;
    otherwise nothing is changed.
    """
    try:
        if mode == "patch" or (patch and not old_string):
            steps = [await _planned(ctx, change) for change in _parsed(patch, path)]
        else:
            steps = [await _replacement(ctx, path, old_string, new_string, replace_all)]
    except edits.Refused as refused:
        raise ToolError(f"Nothing was changed: {refused}") from refused
    return await _perform(ctx, steps)


async def _replacement(ctx: ToolContext, path: str, old: str, new: str, everywhere: bool) -> _Step:
    if not path:
        raise BadArguments("Wrong arguments for patch: path is missing.")
    before = await _read(ctx, path)
    file = _text(path, before)
    old, new = old.replace("\r\n", "\n"), clean(new)
    if file.newline == "\r":
        old = old.replace("\r", "\n")
    _refuse_shown_text(path, file.text, old, new)
    try:
        made = edits.replacements(file.text, old, new, everywhere=everywhere)
    except edits.Refused as refused:
        raise edits.Refused(f"in {path} {refused}") from None
    return _Step(path, before, _edited(path, file, made), len(made))


def _parsed(text: str, path: str) -> list[v4a.Change]:
    if not text.strip():
        raise BadArguments("Wrong arguments for patch: mode=patch needs the parameter patch.")
    if path:  # it would be taken for all that this call touches, and others would run beside it
        raise BadArguments("Wrong arguments for patch: a patch names its files itself. Leave out path.")
    return v4a.parse(clean(text))


async def _planned(ctx: ToolContext, change: v4a.Change) -> _Step:
    """One section of a patch, checked against the file as it is now."""
    if change.to:
        await _refuse_existing(ctx, change.to)
    if change.kind == "Add":
        await _refuse_existing(ctx, change.path)
        return _Step(change.path, None, change.text.encode())
    before = await _read(ctx, change.path)
    if change.kind == "Move":
        return _Step(change.path, before, before, to=change.to)
    if change.kind == "Delete":
        where = ctx.use(Sandbox).resolve(change.path)
        if before and ctx.use(Seen).compare(ctx.session, where, before) == "never":
            raise edits.Refused(f"{change.path} was not read yet. Read it before you delete it.")
        return _Step(change.path, before, None)
    file = _text(change.path, before)
    try:
        made = v4a.edits(file.text, change.hunks)
    except edits.Refused as refused:
        raise edits.Refused(f"in {change.path} {refused}") from None
    return _Step(change.path, before, _edited(change.path, file, made), len(change.hunks), change.to)


async def _read(ctx: ToolContext, path: str) -> bytes:
    """The file as it is, which must be the version that was read, if it was read."""
    sandbox = ctx.use(Sandbox)
    try:
        content = await sandbox.read(path)
    except FileNotFoundError:
        raise ToolError(f"There is no file {path}. To create one use write_file.") from None
    except IsADirectoryError:
        raise ToolError(f"{path} is a folder.") from None
    except OSError as error:
        raise ToolError(f"{path} cannot be read: {error.strerror or error}.") from error
    if ctx.use(Seen).compare(ctx.session, sandbox.resolve(path), content) == "changed":
        raise ToolError(f"{path} has changed since it was read. Read it again first. Nothing was changed.")
    return content


async def _refuse_existing(ctx: ToolContext, path: str) -> None:
    try:
        await ctx.use(Sandbox).stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise ToolError(f"{path} cannot be looked at: {error.strerror or error}.") from error
    raise edits.Refused(f"{path} exists already.")


def _text(path: str, content: bytes) -> textfile.TextFile:
    if kind := textfile.binary(content):
        raise ToolError(f"{path} is not text ({kind}) and cannot be patched.")
    return textfile.decode(content)


def _edited(path: str, file: textfile.TextFile, made: list[textfile.Edit]) -> bytes:
    try:
        return file.edited(made)
    except UnicodeEncodeError as error:
        wrong = error.object[error.start : error.end]
        raise ToolError(
            f"{path} is {file.encoding} and cannot hold {wrong!r}. Nothing was changed."
        ) from None


def _refuse_shown_text(path: str, text: str, old: str, new: str) -> None:
    """What a tool showed is not what the file holds: hidden secrets, numbered lines."""
    if HIDDEN in new and HIDDEN not in text:
        raise ToolError(
            f"new_string holds {HIDDEN}, which would destroy a secret in {path}. Leave that line out."
        )
    for name, given in (("old_string", old), ("new_string", new)):
        if numbered.looks_numbered(given) and given not in text and not numbered.looks_numbered(text):
            raise ToolError(
                f"{name} is numbered as read_file shows it. Leave out the numbers. Nothing was changed."
            )


async def _perform(ctx: ToolContext, steps: list[_Step]) -> ToolOutput:
    """Do what was checked; when something fails in the middle say exactly how far it came."""
    said: list[str] = []
    for number, step in enumerate(steps):
        try:
            said.append(await _do(ctx, step))
        except Denied as error:
            raise Denied(_so_far(steps, number, said, str(error)), nobody=error.nobody) from error
        except OSError as error:
            raise ToolError(_so_far(steps, number, said, error.strerror or str(error))) from error
        except ToolError as error:
            raise ToolError(_so_far(steps, number, said, str(error))) from error
    return ToolOutput("\n".join(said), {"files": [step.to or step.path for step in steps]})


def _so_far(steps: list[_Step], number: int, said: list[str], why: str) -> str:
    parts = [f"{steps[number].path} could not be changed: {why}"]
    if left := ", ".join(later.path for later in steps[number + 1 :]):
        parts.append(f"Not begun: {left}.")
    parts += ["Done before that:", *said] if said else ["Nothing was changed."]
    return "\n".join(parts)


async def _do(ctx: ToolContext, step: _Step) -> str:
    """Change one file and report the difference that is on the disk now."""
    sandbox, seen = ctx.use(Sandbox), ctx.use(Seen)
    if step.after is None:
        await _shell(sandbox, f"rm -- {shlex.quote(sandbox.resolve(step.path))}")
        return f"{step.path} deleted."
    target = step.to or step.path
    if step.to:
        here, there = sandbox.resolve(step.path), sandbox.resolve(step.to)
        folder = shlex.quote(posixpath.dirname(there))
        await _shell(sandbox, f"mkdir -p -- {folder} && mv -n -- {shlex.quote(here)} {shlex.quote(there)}")
    if step.after != step.before:
        await sandbox.write(target, step.after, expect=step.before)
    now = await sandbox.read(target)
    text = textfile.decode(now).text
    _remember(ctx, seen, sandbox, step, now, text)
    return "\n".join([_headline(step), *_difference(step, text), *_note(target, text)])


async def _shell(sandbox: Sandbox, command: str) -> None:
    done = await sandbox.run(command, timeout=30)
    if done.exit_code:
        raise ToolError(done.output.strip() or f"{command} ended with {done.exit_code}.")


def _remember(ctx: ToolContext, seen: Seen, sandbox: Sandbox, step: _Step, now: bytes, text: str) -> None:
    """What was seen whole before is known whole now; of the rest only the version is known."""
    sight = "whole" if step.before is None else "never"
    if step.before is not None:
        sight = seen.compare(ctx.session, sandbox.resolve(step.path), step.before)
    lines = len(textfile.lines(text))
    last = lines if sight == "whole" else 0
    seen.note(ctx.session, sandbox.resolve(step.to or step.path), now, lines=lines, last=last)


def _headline(step: _Step) -> str:
    if step.before is None:
        return f"{step.path} created."
    moved = f" moved to {step.to}" if step.to else ""
    if step.after == step.before:
        return f"{step.path}{moved or ' is as it was'}."
    places = f"{step.count} place{'s' * (step.count != 1)}"
    return f"{step.path}{moved and moved + ' and'} changed in {places}."


def _difference(step: _Step, now: str) -> list[str]:
    if step.before is None or step.before == step.after:
        return []
    return [unified(textfile.decode(step.before).text, now)]


def _note(path: str, text: str) -> list[str]:
    said = syntax.fault(path, text)
    return [f"Note: {said}."] if said else []
