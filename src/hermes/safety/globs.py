"""Whether two patterns have a path in common: one a shell would fill in, one of a table."""

import re
from fnmatch import fnmatchcase

_TOKENS = re.compile(r"\[!?\]?[^\]]*\]|.", re.DOTALL)
_START = "start"  # where the shell's wildcards leave out names that begin with a dot


def meet(typed: str, listed: str) -> bool:
    """True when some path fits both.

    In `typed`, as in a shell, wildcards stop at a slash and do not begin a hidden name; in `listed` only
    a `*` at the end goes on below.
    """
    return _Meeting(_typed(typed), list(listed)).at(0, 0)


def _typed(pattern: str) -> list[str]:
    tokens: list[str] = []
    for token in _TOKENS.findall(pattern):
        if token in ("*", "?") and (not tokens or tokens[-1] == "/"):
            tokens.append(_START)
        if token != "*" or tokens[-1:] != ["*"]:
            tokens.append(token)
    return tokens


class _Meeting:
    """Two patterns read side by side; each pair of positions is looked at once."""

    def __init__(self, typed: list[str], listed: list[str]) -> None:
        self.typed = typed
        self.listed = listed
        self.seen: dict[tuple[int, int], bool] = {}

    def at(self, i: int, j: int) -> bool:
        """True when the rest of both can be filled in with the same characters."""
        if (i, j) not in self.seen:
            self.seen[i, j] = self._look(i, j)
        return self.seen[i, j]

    def _look(self, i: int, j: int) -> bool:
        if i == len(self.typed):
            return all(char == "*" for char in self.listed[j:])
        typed, listed = self.typed[i], self.listed[j] if j < len(self.listed) else ""
        if listed == "*":
            goes_on = typed != "/" or j == len(self.listed) - 1
            return self.at(i, j + 1) or (goes_on and self.at(i + 1, j))
        if typed == _START:
            return listed != "." and self.at(i + 1, j)
        if typed == "*":
            return self.at(i + 1, j) or (listed not in ("", "/") and self.at(i, j + 1))
        return _same(typed, listed) and self.at(i + 1, j + 1)


def _same(typed: str, listed: str) -> bool:
    if listed in ("", "/"):
        return typed == listed
    return fnmatchcase(listed, typed)
