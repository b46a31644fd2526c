"""A unified diff of two texts, in bounded time and of bounded length."""

from collections.abc import Iterator
from difflib import SequenceMatcher

from hermes.lib.textfile import lines

CONTEXT = 2
MOST_WORK = 4_000_000

_Block = tuple[int, int, int, int]


def unified(before: str, after: str, limit: int = 120, width: int = 300) -> str:
    """The changed lines with two lines around them: "@@ -12,3 +12,4 @@", " same", "-gone", "+new".

    At most `limit` lines of at most `width` characters; what was left out is counted in the last
    line. "" when the lines are the same.
    """
    old, new = lines(before), lines(after)
    rows = [row for group in _groups(_blocks(old, new)) for row in _hunk(group, old, new)]
    shown = [row if len(row) <= width else row[:width] + "…" for row in rows[:limit]]
    if len(rows) > limit:
        shown.append(f"[{len(rows) - limit} more lines of the diff]")
    if before and after and before.endswith("\n") != after.endswith("\n"):
        shown.append("[newline at the end " + ("added]" if after.endswith("\n") else "removed]"))
    return "\n".join(shown)


def _blocks(old: list[str], new: list[str]) -> list[_Block]:
    """Changed stretches as (old from, old up to, new from, new up to)."""
    head = 0
    least = min(len(old), len(new))
    while head < least and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < least - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    a, b = old[head : len(old) - tail], new[head : len(new) - tail]
    if not a and not b:
        return []
    # Between the first and the last change: compared line by line only while that is quick.
    if not a or not b or len(a) * len(b) > MOST_WORK:
        return [(head, head + len(a), head, head + len(b))]
    return [
        (head + i, head + j, head + k, head + m)
        for tag, i, j, k, m in SequenceMatcher(None, a, b, autojunk=False).get_opcodes()
        if tag != "equal"
    ]


def _groups(blocks: list[_Block]) -> Iterator[list[_Block]]:
    """Blocks whose surroundings touch belong together."""
    group: list[_Block] = []
    for block in blocks:
        if group and block[0] - group[-1][1] > 2 * CONTEXT:
            yield group
            group = []
        group.append(block)
    if group:
        yield group


def _hunk(group: list[_Block], old: list[str], new: list[str]) -> Iterator[str]:
    first, last = group[0], group[-1]
    before = min(CONTEXT, first[0])
    after = min(CONTEXT, len(old) - last[1])
    start, end = first[0] - before, last[1] + after
    new_start, new_end = first[2] - before, last[3] + after
    yield f"@@ -{start + 1},{end - start} +{new_start + 1},{new_end - new_start} @@"
    at = start
    for i, j, k, m in group:
        yield from (" " + line for line in old[at:i])
        yield from ("-" + line for line in old[i:j])
        yield from ("+" + line for line in new[k:m])
        at = j
    yield from (" " + line for line in old[at:end])
