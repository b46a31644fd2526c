"""Which paths a .gitignore file leaves out: pure pattern matching, no file access."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of a .gitignore. `pattern` matches a path relative to the file's folder."""

    pattern: re.Pattern[str]
    negated: bool
    folders_only: bool


@dataclass(frozen=True, slots=True)
class Ignore:
    """The rules of one .gitignore. `base` is its folder: "" or a path ending in "/"."""

    base: str
    rules: tuple[Rule, ...]

    def verdict(self, path: str, is_folder: bool) -> bool | None:
        """True ignored, False kept by a `!` line, None when no line speaks of it."""
        if not path.startswith(self.base):
            return None
        inside = path[len(self.base) :]
        for rule in reversed(self.rules):
            if (is_folder or not rule.folders_only) and rule.pattern.fullmatch(inside):
                return not rule.negated
        return None


def parse(text: str, base: str = "") -> Ignore:
    """The rules of a .gitignore lying in `base`. Lines that are no pattern are passed over."""
    return Ignore(base, tuple(rule for line in text.splitlines() if (rule := _rule(line))))


def ignored(layers: Sequence[Ignore], path: str, is_folder: bool) -> bool:
    """True when the innermost file that speaks of the path ignores it.

    `layers` go from the outermost folder inwards. Whoever walks does not enter ignored folders, so a
    path below one is never asked about.
    """
    for layer in reversed(layers):
        if (verdict := layer.verdict(path, is_folder)) is not None:
            return verdict
    return False


def _rule(line: str) -> Rule | None:
    line = _stripped(line)
    if not line or line.startswith("#"):
        return None
    negated = line.startswith("!")
    body = line[1:] if negated else line
    folders_only = body.endswith("/")
    body = body.rstrip("/") if folders_only else body
    if not body:
        return None
    anchored = "/" in body
    regex = _regex(body.removeprefix("/"))
    try:
        return Rule(re.compile(regex if anchored else f"(?:.*/)?{regex}", re.DOTALL), negated, folders_only)
    except re.error:
        return None


def _stripped(line: str) -> str:
    """Without trailing blanks, unless the last one is escaped."""
    bare = line.rstrip(" \t\r")
    escaped = (len(bare) - len(bare.rstrip("\\"))) % 2 == 1
    return bare + " " if escaped and len(bare) < len(line) else bare


_TOKEN = re.compile(r"/\*\*/|^\*\*/|/\*\*$|\*+|\?|\[[!^]?\]?[^\]]*\]|\\.|.", re.DOTALL)
_MEANING = {"/**/": "/(?:.*/)?", "**/": "(?:.*/)?", "/**": "/.+", "?": "[^/]"}


def _regex(glob: str) -> str:
    return "".join(_piece(token) for token in _tokens(glob))


def _tokens(glob: str) -> Iterable[str]:
    return (match.group() for match in _TOKEN.finditer(glob))


def _piece(token: str) -> str:
    if token in _MEANING:
        return _MEANING[token]
    if token.startswith("*"):
        return "[^/]*"
    if len(token) > 1 and token.startswith("["):
        inner = token[1:-1].replace("\\", "\\\\")
        inner = "^" + inner[1:] if inner[:1] in "!^" else inner
        return f"(?!/)[{inner}]"
    return re.escape(token[1:] if len(token) == 2 and token.startswith("\\") else token)
