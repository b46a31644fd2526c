"""Exact replacement of text in a file, and the nearest place to point at when it is not there."""

from collections import Counter
from difflib import SequenceMatcher

from hermes.lib.textfile import Edit, lines

SHOWN = 5
LONGEST = 200
CLOSE = 0.5


class Refused(ValueError):
    """The edit cannot be made exactly as asked. The message says why and what to do."""


def replacements(text: str, old: str, new: str, *, everywhere: bool = False) -> list[Edit]:
    """The edits that put `new` in place of `old`, which must stand in the text exactly once.

    With `everywhere` all places that do not overlap are taken. Raise Refused when `old` is not
    there, not unique, empty, or the same as `new`.
    """
    if not old:
        raise Refused("old_string is empty. Give the text to replace; to write a whole file use write_file.")
    if old == new:
        raise Refused("old_string and new_string are the same, so there is nothing to change.")
    places = _places(text, old, step=len(old) if everywhere else 1)
    if not places:
        raise Refused(f"old_string was not found. {hint(text, old)}".strip())
    if len(places) > 1 and not everywhere:
        numbers = [line_of(text, place) for place in places]
        raise Refused(
            f"old_string stands in {len(places)} places ({at_lines(numbers)}). "
            "Add lines around it until it is unique, or set replace_all."
        )
    return [Edit(place, place + len(old), new) for place in places]


def hint(text: str, old: str) -> str:
    """Where the text that was probably meant stands, with that text; "" when nothing is near."""
    found = nearest(lines(text), lines(old))
    if found is None:
        return ""
    start, end = found
    have, want = lines(text)[start:end], lines(old)
    shown = "\n".join(f"{number}|{line}" for number, line in enumerate(have[: 2 * SHOWN], start + 1))
    rest = f"\n[{end - start - 2 * SHOWN} more lines]" if end - start > 2 * SHOWN else ""
    return (
        f"The nearest place is {at_lines(range(start + 1, end + 1))}{_difference(have, want)}:\n{shown}{rest}"
    )


def nearest(have: list[str], want: list[str]) -> tuple[int, int] | None:
    """The lines (from, up to; counted from 0) most like the wanted ones, in bounded time."""
    want = want[:LONGEST]
    if not have or not any(line.strip() for line in want):
        return None
    starts = _by_equal_lines(have, want) or _by_likeness(have, want)
    pattern = "\n".join(" ".join(line.split()) for line in want)
    scored = [(_likeness("\n".join(have[start : start + len(want)]), pattern), -start) for start in starts]
    if not scored or max(scored)[0] < CLOSE:
        return None
    start = -max(scored)[1]
    return start, min(start + len(want), len(have))


def line_of(text: str, place: int) -> int:
    """The number, from 1, of the line in which a character stands."""
    return text.count("\n", 0, place) + 1


def at_lines(numbers: "list[int] | range") -> str:
    """ "line 3", "lines 3-7", "lines 3, 9 and 12", "lines 3, 9, 12 and 4 more"."""
    if len(numbers) == 1:
        return f"line {numbers[0]}"
    if isinstance(numbers, range):
        return f"lines {numbers[0]}-{numbers[-1]}"
    shown = [str(number) for number in numbers[:SHOWN]]
    last = f"{len(numbers) - SHOWN} more" if len(numbers) > SHOWN else shown.pop()
    return f"lines {', '.join(shown)} and {last}"


def _places(text: str, old: str, step: int) -> list[int]:
    places: list[int] = []
    place = text.find(old)
    while place >= 0:
        places.append(place)
        place = text.find(old, place + step)
    return places


def _by_equal_lines(have: list[str], want: list[str]) -> list[int]:
    """Starts for which most lines are the same, spaces around them aside."""
    where: dict[str, list[int]] = {}
    for number, line in enumerate(have):
        where.setdefault(line.strip(), []).append(number)
    votes: Counter[int] = Counter()
    for offset, line in enumerate(want):
        places = where.get(line.strip(), []) if line.strip() else []
        # A line that stands everywhere says nothing about where.
        if len(places) <= LONGEST:
            votes.update(max(place - offset, 0) for place in places)
    return [start for start, _ in votes.most_common(SHOWN)]


def _by_likeness(have: list[str], want: list[str]) -> list[int]:
    """Starts at the lines most like the longest wanted line."""
    offset, longest = max(enumerate(line.strip()[:LONGEST] for line in want), key=lambda pair: len(pair[1]))
    matcher = SequenceMatcher(None, "", longest, autojunk=False)
    ratios: list[tuple[float, int]] = []
    for number, line in enumerate(have[:20_000]):
        matcher.set_seq1(line.strip()[:LONGEST])
        if matcher.real_quick_ratio() > CLOSE and matcher.quick_ratio() > CLOSE:
            ratios.append((matcher.quick_ratio(), -number))
    return [max(-number - offset, 0) for _, number in sorted(ratios)[-SHOWN:]]


def _likeness(text: str, pattern: str) -> float:
    """From 0 to 1: by characters while that is quick, by words else."""
    text = "\n".join(" ".join(line.split()) for line in text.split("\n"))
    if len(text) + len(pattern) <= 600:
        return SequenceMatcher(None, text, pattern, autojunk=False).ratio()
    return SequenceMatcher(None, text.split()[:500], pattern.split()[:500], autojunk=False).ratio()


def _difference(have: list[str], want: list[str]) -> str:
    """What the difference comes down to, when that is easily said."""
    if [line.split() for line in have] == [line.split() for line in want]:
        return ", which differs only in spaces, tabs or indentation"
    different = [n for n, (a, b) in enumerate(zip(have, want, strict=False)) if a != b]
    if len(have) == len(want) > 1 and len(different) == 1:
        return f", where line {different[0] + 1} of old_string is not the same"
    return ""
