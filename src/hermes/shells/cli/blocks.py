"""Blocks: Markdown that is still being written, cut where nothing that follows can change it."""

import re
from dataclasses import dataclass

from markdown_it import MarkdownIt
from markdown_it.token import Token

LONG = 40
"""Lines after which a code block or a list is shown in parts."""


def parser() -> MarkdownIt:
    """CommonMark with tables and strikethrough. Tags are text: what a model writes is never lost."""
    return MarkdownIt().enable(["strikethrough", "table"]).disable(["html_inline", "html_block"])


_PARSER = parser()
_ROW = re.compile(r"[^\n]*\n|[^\n]+")


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of Markdown that stands for itself; `seam` when it goes on with the one before."""

    text: str
    seam: bool = False


class Blocks:
    """Takes text as it comes, gives back what is finished."""

    __slots__ = ("_seam", "_tall", "rest")

    def __init__(self) -> None:
        self.rest = ""
        self._seam = False
        self._tall = False

    def add(self, piece: str) -> list[Block]:
        """The blocks that this piece finishes."""
        piece = piece.replace("\r", "")
        joint = self.rest[-1:] + piece
        self.rest += piece
        # a tall table or paragraph ends at an empty line: looking at each of its lines costs too much
        return self._cut() if ("\n\n" if self._tall else "\n") in joint else []

    def finish(self) -> list[Block]:
        """What is left, as it is."""
        rest, self.rest, self._tall = self.rest, "", False
        block, self._seam = Block(rest, self._seam), False
        return [block] if rest.strip() else []

    def _cut(self) -> list[Block]:
        tops = [token for token in _PARSER.parse(self.rest) if token.level == 0 and token.map]
        if not tops:
            return []
        lines = _ROW.findall(self.rest)
        done: list[Block] = []
        begin = _line(tops[-1])
        if begin and len({_line(token) for token in tops}) > 1:
            done.append(Block("".join(lines[:begin]), self._seam))
            lines, self._seam = lines[begin:], False
        if len(lines) > LONG:
            done += self._part(tops[-1], lines)
        else:
            self.rest = "".join(lines)
        self._tall = self.rest.count("\n") > LONG
        return done

    def _part(self, token: Token, lines: list[str]) -> list[Block]:
        """The beginning of a block that is long already, where it can be cut."""
        self.rest = "".join(lines)
        if token.type == "fence" and not _closed(token, lines):
            shown, kept = lines[:-1], lines[-1:]
            block = Block("".join(shown) + token.markup + "\n", self._seam)
            self.rest = "".join([lines[0], *kept])
        elif token.type in {"bullet_list_open", "ordered_list_open"} and (cut := _last_item(lines)):
            block = Block("".join(lines[:cut]), self._seam)
            self.rest = "".join(lines[cut:])
        else:
            return []
        self._seam = True
        return [block]


def _line(token: Token) -> int:
    return token.map[0] if token.map else 0


def _closed(token: Token, lines: list[str]) -> bool:
    last = lines[-1].strip()
    return len(lines) > 1 and last.startswith(token.markup) and not last.strip(token.markup[0])


def _last_item(lines: list[str]) -> int:
    """The line on which the last item of the list begins, 0 when there is only one."""
    items = [
        _line(token)
        for token in _PARSER.parse("".join(lines))
        if token.type == "list_item_open" and token.level == 1
    ]
    return items[-1] if len(items) > 1 else 0
