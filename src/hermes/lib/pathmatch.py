"""Globs over paths, as people type them: *.py, src/**/test_*.py, name without wildcards."""

import re
from functools import lru_cache


def wild(pattern: str) -> bool:
    """True when the pattern has wildcards."""
    return any(char in pattern for char in "*?[{")


def matches(pattern: str, path: str) -> bool:
    """True when a relative path fits the glob; without a slash in it, when the last name does.

    `*` and `?` stop at a slash, `**` does not, `{a,b}` are alternatives. Letter case counts.
    """
    subject = path if "/" in pattern else path.rsplit("/", 1)[-1]
    return _compiled(pattern).fullmatch(subject) is not None


def encloses(outer: str, inner: str) -> bool:
    """True when an absolute path is this folder or lies below it."""
    return inner == outer or inner.startswith(outer.rstrip("/") + "/")


@lru_cache(64)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(_translated(pattern.lstrip("/")), re.DOTALL)


def _translated(glob: str) -> str:
    out: list[str] = []
    at, depth = 0, 0
    while at < len(glob):
        step, piece = _token(glob, at, depth)
        depth += {"(?:": 1, ")": -1}.get(piece, 0)
        out.append(piece)
        at += step
    return "".join(out) if depth == 0 else re.escape(glob)


def _token(glob: str, at: int, depth: int) -> tuple[int, str]:
    """How many characters to take, and the regular expression they stand for."""
    if glob.startswith("**/", at):
        return 3, "(?:[^/]+/)*"
    if glob.startswith("**", at):
        return 2, ".*"
    char = glob[at]
    if char == "[" and (end := glob.find("]", at + 2)) > 0:
        inside = glob[at + 1 : end].replace("\\", "\\\\").replace("[", "\\[")
        return end + 1 - at, f"[{'^' + inside[1:] if inside[0] == '!' else inside}]"
    if char == "{":
        return 1, "(?:"
    if depth and char in ",}":
        return 1, "|" if char == "," else ")"
    return 1, {"*": "[^/]*", "?": "[^/]"}.get(char) or re.escape(char)
