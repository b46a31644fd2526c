"""Screen: what has been said scrolls away above; below it what is going on, and the line to type in."""

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import anyio
from prompt_toolkit.application import Application
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import Completer
from prompt_toolkit.data_structures import Size
from prompt_toolkit.document import Document
from prompt_toolkit.filters import Condition, Filter, is_searching
from prompt_toolkit.formatted_text import ANSI
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.input import Input, create_input
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.layout import AnyContainer, ConditionalContainer, HSplit, Layout, Window
from prompt_toolkit.layout.controls import BufferControl, FormattedTextControl
from prompt_toolkit.layout.dimension import Dimension
from prompt_toolkit.layout.menus import CompletionsMenu
from prompt_toolkit.layout.processors import BeforeInput
from prompt_toolkit.output import ColorDepth, Output
from prompt_toolkit.output.vt100 import Vt100_Output
from prompt_toolkit.styles import Style
from prompt_toolkit.widgets import SearchToolbar

from hermes.shells.cli.look import Look

DEPTHS = {
    "none": ColorDepth.DEPTH_1_BIT,
    "standard": ColorDepth.DEPTH_4_BIT,
    "256": ColorDepth.DEPTH_8_BIT,
    "truecolor": ColorDepth.DEPTH_24_BIT,
}
STYLE = Style.from_dict(
    {
        "prompt": "bold",
        "status": "#888888",
        "completion-menu": "bg:default default",
        "completion-menu.completion": "bg:default default",
        "completion-menu.completion.current": "reverse",
        "completion-menu.meta.completion": "bg:default #888888",
        "completion-menu.meta.completion.current": "bg:default #888888",
        "scrollbar.background": "bg:default",
        "scrollbar.button": "bg:default",
    }
)
PLAIN_STYLE = Style.from_dict({"prompt": "bold", "completion-menu.completion.current": "reverse"})


@dataclass(frozen=True, slots=True)
class Line:
    """Something was typed and sent."""

    text: str


@dataclass(frozen=True, slots=True)
class Key:
    """A key was pressed while only keys are taken."""

    key: str


@dataclass(frozen=True, slots=True)
class Interrupt:
    """Ctrl-C. `empty` when nothing was typed."""

    empty: bool


@dataclass(frozen=True, slots=True)
class Leave:
    """Ctrl-D in an empty line, or the terminal is gone."""


Typed: TypeAlias = Line | Key | Interrupt | Leave
Painted: TypeAlias = Callable[[int], str]


class Screen:
    """The terminal of one shell.

    `typed` is what the person does. `above` and `status` paint, for a width, what stands above the
    line and below it; they are called at each redraw. While `keys_only` says so, keys are not text.
    """

    def __init__(
        self,
        look: Look,
        completer: Completer,
        above: Painted,
        status: Painted,
        *,
        source: Input | None = None,
        output: Output | None = None,
    ) -> None:
        self.keys_only = False
        self._send, self.typed = anyio.create_memory_object_stream[Typed](1_000)
        self._above, self._status, self._look = above, status, look
        self.buffer = Buffer(
            completer=completer,
            history=_history(look.home),
            complete_while_typing=Condition(lambda: self.buffer.text.startswith("/")),
            multiline=True,
        )
        self._output = output or _terminal(look)
        self._app: Application[None] = Application(
            layout=self._layout(),
            key_bindings=self._keys(),
            style=PLAIN_STYLE if look.colors == "none" else STYLE,
            color_depth=DEPTHS[look.colors],
            erase_when_done=True,
            min_redraw_interval=0.04,
            input=source or create_input(),
            output=self._output,
        )

    async def run(self) -> None:
        """Show the screen until `leave`. The terminal is as before when this returns or raises."""
        try:
            await self._app.run_async(set_exception_handler=False)
        except (EOFError, OSError):  # the terminal is gone
            pass
        finally:
            self._send.close()

    def leave(self) -> None:
        if self._app.is_running and not self._app.is_done:
            self._app.exit()

    @property
    def width(self) -> int:
        return max(self._output.get_size().columns - 1, 10)

    @property
    def height(self) -> int:
        return self._output.get_size().rows

    def put(self, painted: str) -> None:
        """Let rows scroll away above the line."""
        if not painted:
            return
        running = self._app.is_running and not self._app.is_done
        if running:
            self._app.renderer.erase()
        self._output.write_raw(painted.replace("\n", "\r\n"))
        with suppress(OSError):  # the terminal is gone: somebody else notices
            self._output.flush()
        if running:
            self._app._redraw()

    def redraw(self) -> None:
        self._app.invalidate()

    def fill(self, text: str) -> None:
        """Put text into the line, before what is typed there."""
        if not text:
            return
        rest = self.buffer.text
        text = f"{text}\n{rest}" if rest else text
        self.buffer.document = Document(text, len(text))

    def empty(self) -> str:
        """Take what is typed out of the line."""
        text = self.buffer.text
        self._app.layout.focus(self.buffer)  # away from a search in what was typed before
        self.buffer.reset()
        return text

    def _tell(self, what: Typed) -> None:
        try:
            self._send.send_nowait(what)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.WouldBlock):
            return

    def _layout(self) -> Layout:
        search = SearchToolbar()
        arrow = "› " if self._look.unicode else "> "
        line = Window(
            BufferControl(
                self.buffer,
                input_processors=[BeforeInput(arrow, "class:prompt")],
                search_buffer_control=search.control,
            ),
            height=Dimension(min=1, max=12),
            wrap_lines=True,
            dont_extend_height=True,
            get_line_prefix=lambda number, wrap: "  " if number or wrap else "",
        )
        rows: list[AnyContainer] = [
            Window(height=1),
            self._painted(lambda: self._above(self.width)),
            ConditionalContainer(line, Condition(lambda: not self.keys_only)),
            search,
            CompletionsMenu(max_height=8),
            self._painted(lambda: self._status(self.width), "class:status"),
        ]
        return Layout(HSplit(rows), focused_element=line)

    def _painted(self, paint: Callable[[], str], style: str = "") -> ConditionalContainer:
        """Rows that are painted once per redraw, and take no room when there are none."""
        last: list[tuple[int, str]] = [(-1, "")]

        def painted() -> str:
            if last[0][0] != self._app.render_counter:
                last[0] = (self._app.render_counter, paint().rstrip("\n"))
            return last[0][1]

        window = Window(
            FormattedTextControl(lambda: ANSI(painted()), focusable=False),
            dont_extend_height=True,
            wrap_lines=False,
            style=style,
        )
        return ConditionalContainer(window, Condition(lambda: bool(painted())))

    def _keys(self) -> KeyBindings:
        keys = KeyBindings()
        only = Condition(lambda: self.keys_only)
        text = ~only & ~is_searching
        bound: list[tuple[tuple[str, ...], Condition | Filter, Callable[[], None]]] = [
            (("enter",), text, self._enter),
            (("escape", "enter"), text, self._break),
            (("escape", "c-j"), text, self._break),
            (("c-j",), text, self._enter),  # an Enter that was typed before the screen was there
            (("c-c",), ~is_searching, self._interrupt),
            (("<sigint>",), ~is_searching, self._interrupt),
            (("c-d",), ~is_searching, self._delete_or_leave),
            (("c-l",), ~is_searching, self._app_clear),
            (("enter",), only, self._ignore),
            (("escape",), only, self._ignore),
            ((Keys.BracketedPaste.value,), only, self._ignore),
        ]
        for names, when, do in bound:
            keys.add(*names, filter=when)(_without_event(do))

        @keys.add(Keys.Any, filter=only)
        def _(event: KeyPressEvent) -> None:
            self._tell(Key(event.data))

        return keys

    def _break(self) -> None:
        self.buffer.insert_text("\n")

    def _interrupt(self) -> None:
        self._tell(Interrupt(not self.buffer.text))

    def _delete_or_leave(self) -> None:
        if self.buffer.text and not self.keys_only:
            self.buffer.delete()
        else:
            self._tell(Leave())

    def _app_clear(self) -> None:
        self._app.renderer.clear()

    def _ignore(self) -> None:
        """Neither an Enter nor a pasted text is an answer where a key is asked for."""

    def _enter(self) -> None:
        """Send the line; a backslash at its end asks for another one."""
        state, text = self.buffer.complete_state, self.buffer.text
        if state and state.current_completion and not text.startswith("/"):
            self.buffer.complete_state = None
            return
        if text.endswith("\\") and self.buffer.document.is_cursor_at_the_end:
            self.buffer.delete_before_cursor()
            self.buffer.insert_text("\n")
            return
        if text.strip():
            self.buffer.append_to_history()
            self.buffer.reset()
            self._tell(Line(text.strip()))


def _terminal(look: Look) -> Output:
    """Standard output. It is never asked where its cursor is: some terminals do not answer."""

    def size() -> Size:
        try:
            columns, rows = os.get_terminal_size(sys.stdout.fileno())
        except OSError:  # it is gone: there is still an end to be written
            columns = rows = 0
        return Size(rows or 24, columns or 80)

    return Vt100_Output(sys.stdout, size, look.term, enable_cpr=False)


def _without_event(do: Callable[[], None]) -> Callable[[KeyPressEvent], None]:
    def bound(_: KeyPressEvent) -> None:
        do()

    return bound


def _history(home: Path | None) -> History:
    """What was typed before, in a file that only its owner can read."""
    if home is None:
        return InMemoryHistory()
    file = home / "terminal_history"
    try:
        home.mkdir(parents=True, exist_ok=True)
        file.touch(0o600)
        file.chmod(0o600)
    except OSError:  # a home that cannot be written to: nothing is kept
        return InMemoryHistory()
    return FileHistory(file)
