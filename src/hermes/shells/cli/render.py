"""Markdown and lines of words, painted as text a terminal understands."""

import io
import re
from typing import ClassVar

from markdown_it.token import Token
from rich.console import Console, ConsoleOptions, JustifyMethod, RenderResult
from rich.markdown import CodeBlock, Heading, ListItem, Markdown, MarkdownElement
from rich.segment import Segment
from rich.style import Style
from rich.syntax import Syntax
from rich.text import Text
from rich.theme import Theme

from hermes.lib.text import harmless
from hermes.shells.cli.blocks import parser
from hermes.shells.cli.look import Look

THEME = Theme(
    {
        "markdown.h1": "bold underline",
        "markdown.h2": "bold",
        "markdown.h3": "bold italic",
        "markdown.code": "cyan",
        "markdown.code_block": "none",
        "markdown.block_quote": "italic",
        "markdown.item.bullet": "bold",
        "markdown.item.number": "bold",
        "markdown.link_url": "underline",
        "faint": "dim",
        "good": "green",
        "bad": "red",
        "warn": "yellow",
        "you": "bold",
        "steer": "cyan",
    },
    inherit=True,
)
_PARSER = parser()
_STYLING = re.compile(r"\x1b\[[0-9;]*m")


class _Heading(Heading):
    LEVEL_ALIGN: ClassVar[dict[str, JustifyMethod]] = dict.fromkeys(Heading.LEVEL_ALIGN, "left")


class _Item(ListItem):
    """A numbered item with its full stop."""

    def render_number(
        self, console: Console, options: ConsoleOptions, number: int, last_number: int
    ) -> RenderResult:
        sign = f"{number}.".rjust(len(str(last_number - 1)) + 1) + " "
        lines = console.render_lines(self.elements, options.update(width=options.max_width - len(sign)))
        for place, line in enumerate(lines):
            yield Segment(" " * len(sign) if place else sign, console.get_style("markdown.item.number"))
            yield from line
            yield Segment.line()


class _Code(CodeBlock):
    """Code as it is: nothing around it, so that it can be copied."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        code = str(self.text).rstrip("\n")
        yield Syntax(code, self.lexer_name, theme="ansi_dark", background_color="default", word_wrap=True)


class _Markdown(Markdown):
    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "heading_open": _Heading,
        "list_item_open": _Item,
        "fence": _Code,
        "code_block": _Code,
    }

    def __init__(self, text: str) -> None:
        super().__init__("", hyperlinks=False)
        self.parsed = [_shown(token) for token in _PARSER.parse(text)]


def _shown(token: Token) -> Token:
    """Lines stay lines: a model that breaks one means it. An entity (`&#x202e;`) is no way round either."""
    for child in token.children or ():
        if child.type == "softbreak":
            child.type = "hardbreak"
        child.content = harmless(child.content)
        _shown(child)
    return token


class Painter:
    """Paints for one kind of terminal; the width is given with each piece."""

    def __init__(self, look: Look) -> None:
        self.look = look
        self._console = Console(
            file=io.StringIO(),
            force_terminal=True,
            force_interactive=False,
            color_system=None if look.colors == "none" else look.colors,
            no_color=look.colors == "none",
            theme=THEME,
            highlight=False,
            emoji=False,
            markup=False,
            legacy_windows=False,
            _environ={},
        )

    def markdown(self, text: str, width: int) -> str:
        """Markdown as rows that end in a line feed, without empty ones around it."""
        rows = self._paint(_Markdown(harmless(text)), width).split("\n")
        full = [place for place, row in enumerate(rows) if _STYLING.sub("", row).strip()]
        return "\n".join(rows[full[0] : full[-1] + 1]) + "\n" if full else ""

    def line(self, *pieces: tuple[str, str], width: int, indent: int = 0) -> str:
        """One or more rows of (words, style), further rows indented."""
        text = Text.assemble(*((harmless(words), style) for words, style in pieces))
        rows = text.wrap(self._console, max(width - indent, 10))
        for row in list(rows)[1:]:
            row.pad_left(indent)
        return self._paint(Text("\n").join(rows), width)

    def sign(self, pretty: str, bare: str) -> str:
        """A sign, or its stand-in where only ASCII can be shown."""
        return pretty if self.look.unicode else bare

    def _paint(self, what: Text | Markdown, width: int) -> str:
        self._console.width = max(width, 10)
        with self._console.capture() as capture:
            self._console.print(what, style=Style.null(), no_wrap=False, overflow="fold")
        return "\n".join(row.rstrip() for row in capture.get().split("\n"))
