"""The V4A patch form: files to add, update, delete and move, with hunks found by their context."""

import re
from dataclasses import dataclass, field
from itertools import pairwise
from posixpath import normpath
from typing import Literal

from hermes.lib.edits import Refused, at_lines, hint
from hermes.lib.textfile import Edit, lines

# Compiled when first used: most runs read no patch.
_HEADER = r"\*\*\* (Add|Update|Delete|Move) File: *(.+?) *$"
_MOVE_TO = r"\*\*\* Move to: *(.+?) *$"
_UNIFIED = r"-\d+(?:,\d+)? \+\d+(?:,\d+)? @@ ?"


@dataclass(slots=True, eq=False)
class Hunk:
    """Lines kept (" "), taken out ("-") and put in ("+"), below the anchor lines. `line` is for errors."""

    line: int
    anchors: list[str] = field(default_factory=list[str])
    rows: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    at_end: bool = False

    @property
    def old(self) -> list[str]:
        return [text for sign, text in self.rows if sign != "+"]


@dataclass(slots=True, eq=False)
class Change:
    """What the patch does to one file. `rows` are those of an added file, `to` is where a file moves."""

    kind: Literal["Add", "Update", "Delete", "Move"]
    path: str
    line: int
    to: str = ""
    rows: list[str] = field(default_factory=list[str])
    hunks: list[Hunk] = field(default_factory=list[Hunk])

    @property
    def text(self) -> str:
        """The whole of an added file."""
        return "".join(row[1:] + "\n" for row in self.rows)


def parse(patch: str) -> list[Change]:
    """The changes a patch asks for. Raise Refused, naming the line, when it is not a whole patch."""
    rows = _unindented(patch)
    if not rows or rows[0].strip() != "*** Begin Patch":
        raise Refused('A patch begins with the line "*** Begin Patch".')
    if rows[-1].strip() != "*** End Patch":
        raise Refused('The patch does not end with the line "*** End Patch", so some of it may be missing.')
    changes: list[Change] = []
    for number, row in enumerate(rows[1:-1], 2):
        if header := re.match(_HEADER, row):
            changes.append(_change(header[1], header[2], number))
        elif changes:
            _add(changes[-1], row, number)
        elif row.strip():
            raise Refused(f'Line {number} of the patch stands before any "*** Update File: PATH": {row!r}.')
    _check(changes)
    return changes


def edits(text: str, hunks: list[Hunk]) -> list[Edit]:
    """Where the hunks go. Each must fit at exactly one place, else Refused is raised."""
    have = lines(text)
    offsets = [0]
    for line in have:
        offsets.append(offsets[-1] + len(line) + 1)
    offsets[-1] = len(text) if have else 0
    made: list[Edit] = []
    for hunk in hunks:
        try:
            made += _runs(hunk, _place(hunk, have), text, offsets)
        except Refused as refused:
            raise Refused(f"the hunk at line {hunk.line} of the patch does not fit. {refused}") from None
    made.sort(key=lambda edit: (edit.start, edit.end))
    for before, after in pairwise(made):
        if after.start < before.end or after.start == before.start:
            raise Refused("two hunks of the patch change the same lines. Put them into one.")
    return made


def _unindented(patch: str) -> list[str]:
    """The rows from Begin to End, without a code fence or an indentation common to all."""
    rows = patch.replace("\r\n", "\n").strip("\n").split("\n")
    if rows and rows[0].startswith("```"):
        rows = rows[1:-1] if rows[-1].strip() == "```" else rows[1:]
    while rows and not rows[-1].strip():
        rows.pop()
    indent = rows[0][: len(rows[0]) - len(rows[0].lstrip())] if rows else ""
    if indent and all(row.startswith(indent) or not row.strip() for row in rows):
        rows = [row[len(indent) :] for row in rows]
    return rows


def _change(kind: str, path: str, number: int) -> Change:
    match kind:
        case "Move":
            source, arrow, target = path.partition(" -> ")
            if not arrow or not target.strip():
                raise Refused(f'Line {number} of the patch should read "*** Move File: FROM -> TO".')
            return Change("Move", source.strip(), number, target.strip())
        case "Add" | "Update" | "Delete":
            return Change(kind, path, number)
        case _:
            raise Refused(f"Line {number} of the patch is not understood.")


def _add(change: Change, row: str, number: int) -> None:
    """Take one more row of a change."""
    if change.kind == "Update":
        _add_to_update(change, row, number)
    elif change.kind == "Add" and (row.startswith("+") or not row):
        change.rows.append(row)
    elif row.strip():
        wanted = ' Every line of an added file begins with "+".' if change.kind == "Add" else ""
        raise Refused(f"Line {number} of the patch does not belong there: {row!r}.{wanted}")


def _add_to_update(change: Change, row: str, number: int) -> None:
    hunks = change.hunks
    if move := re.match(_MOVE_TO, row):
        change.to = move[1]
    elif row.startswith("@@"):
        anchor = re.sub(_UNIFIED, "", row[2:].removeprefix(" "), count=1)
        if not hunks or hunks[-1].rows:
            hunks.append(Hunk(number))
        if anchor.strip():
            hunks[-1].anchors.append(anchor)
    elif row.strip() == "*** End of File":
        if not hunks:
            raise Refused(f"Line {number} of the patch, {row!r}, stands before any change.")
        hunks[-1].at_end = True
    elif row[:1] in {" ", "+", "-"} or not row:
        if not hunks:
            hunks.append(Hunk(number))
        hunks[-1].rows.append((row[:1] or "", row[1:]))
    else:
        raise Refused(f'Line {number} of the patch begins with none of " ", "+", "-" and "@@": {row!r}.')


def _check(changes: list[Change]) -> None:
    if not changes:
        raise Refused("The patch changes no file.")
    named: set[str] = set()
    for change in changes:
        while change.rows and not change.rows[-1]:
            change.rows.pop()
        for path in (change.path, change.to) if change.to else (change.path,):
            if normpath(path) in named:
                raise Refused(
                    f"{path} is named more than once in the patch. Put its changes into one section."
                )
            named.add(normpath(path))
        for hunk in change.hunks:
            _check_hunk(hunk)
        if change.kind == "Update" and not change.hunks and not change.to:
            raise Refused(f"The patch changes nothing in {change.path}.")


def _check_hunk(hunk: Hunk) -> None:
    """Empty rows count as kept lines, except after the last one."""
    while hunk.rows and hunk.rows[-1] == ("", ""):
        hunk.rows.pop()
    hunk.rows = [(sign or " ", text) for sign, text in hunk.rows]
    if all(sign == " " for sign, _ in hunk.rows):
        raise Refused(f'The hunk at line {hunk.line} of the patch has no "+" or "-" line.')


def _place(hunk: Hunk, have: list[str]) -> int:
    """The line, from 0, at which the hunk's first line stands."""
    old = hunk.old
    anchored = _anchored(hunk, have)
    if not old:
        return _insertion(hunk, anchored, have)
    found = [i for i in _matches(old, have) if not hunk.at_end or i + len(old) == len(have)]
    if not found:
        raise Refused(f"Its lines were not found. {hint(chr(10).join(have), chr(10).join(old))}".strip())
    below = [i for i in found if not anchored or i >= anchored[0]]
    if len(below) == 1:
        return below[0]
    inside = [i for i in below if any(_encloses(anchor, i + len(old), have) for anchor in anchored)]
    if len(inside) == 1:
        return inside[0]
    numbers = [i + 1 for i in found]
    if not below:
        raise Refused(f"Its lines stand at {at_lines(numbers)} only, above the anchor {hunk.anchors[-1]!r}.")
    where = f"{len(found)} places ({at_lines(numbers)})"
    raise Refused(f"Its lines stand in {where}. Add lines around them, or an @@ anchor.")


def _insertion(hunk: Hunk, anchored: list[int], have: list[str]) -> int:
    """The place of a hunk that only adds: right below its anchor, or at the end where that is asked."""
    if hunk.at_end or not have:
        return len(have)
    if not anchored:
        raise Refused(
            "It only adds lines and says not where. Add the lines before or after them, or an @@ anchor."
        )
    if len(anchored) > 1:
        numbers = at_lines([i + 1 for i in anchored])
        raise Refused(
            f"Its anchor {hunk.anchors[-1]!r} stands in several places ({numbers}). Add lines around it."
        )
    return anchored[0] + 1


def _anchored(hunk: Hunk, have: list[str]) -> list[int]:
    """The lines at which the last anchor stands: inside what the anchors before it head, or else below."""
    places: list[int] = []
    for depth, anchor in enumerate(hunk.anchors):
        found = [i for i, line in enumerate(have) if line.strip() == anchor.strip()]
        if depth:
            found = [i for i in found if i > places[0]]
            inside = [i for i in found if any(_encloses(place, i + 1, have) for place in places)]
            found = inside or found
        if not found:
            raise Refused(f"Its anchor {anchor!r} was not found as a whole line.")
        places = found
    return places


def _matches(old: list[str], have: list[str]) -> list[int]:
    first, size = old[0], len(old)
    return [i for i, line in enumerate(have) if line == first and have[i : i + size] == old]


def _encloses(anchor: int, end: int, have: list[str]) -> bool:
    """True when the lines from below the anchor up to `end` are all indented more than the anchor."""
    if end <= anchor + 1:
        return False
    depth = _depth(have[anchor])
    return all(_depth(line) > depth for line in have[anchor + 1 : end] if line.strip())


def _depth(line: str) -> int:
    expanded = line.expandtabs(8)
    return len(expanded) - len(expanded.lstrip())


def _runs(hunk: Hunk, place: int, text: str, offsets: list[int]) -> list[Edit]:
    """One edit for each stretch of "-" and "+" rows, so that the lines around it stay untouched."""
    made: list[Edit] = []
    gone, added = 0, list[str]()
    for sign, row in [*hunk.rows, (" ", "")]:
        if sign == "-":
            gone += 1
        elif sign == "+":
            added.append(row)
        else:
            if gone or added:
                made.append(_edit(text, offsets, place, gone, added))
            place += gone + 1
            gone, added = 0, []
    return made


def _edit(text: str, offsets: list[int], place: int, gone: int, added: list[str]) -> Edit:
    """Lines in place of others; a file without a newline at its end stays without.

    Unless its last line is empty now: that needs one to be a line at all.
    """
    start, end = offsets[place], offsets[place + gone]
    body = "\n".join(added)
    if end < len(text) or not text or text.endswith("\n"):
        return Edit(start, end, body + "\n" if added else "")
    if added and not added[-1]:
        body += "\n"
    if not gone:
        return Edit(start, end, "\n" + body)
    if added or text[:start].endswith("\n\n") or text[:start] == "\n":
        return Edit(start, end, body)
    return Edit(max(start - 1, 0), end, "")
