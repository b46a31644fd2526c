"""ThinkTags: reasoning that a local model writes into its answer, between <think> and </think>."""

from collections.abc import Iterator
from dataclasses import dataclass

BEGIN, END = "<think>", "</think>"


@dataclass(slots=True)
class ThinkTags:
    """Splits an answer as it is streamed. Tags count at its very beginning only; later ones are words."""

    where: str = "before"  # the tag, "inside" it, "between" it and the answer, "after" that
    held: str = ""

    def split(self, text: str) -> Iterator[tuple[bool, str]]:
        """(whether it is a thought, text) for what is certain by now; the beginning of a tag is held."""
        if self.where == "before":
            text = self.held + text
            start = text.lstrip()
            if BEGIN.startswith(start):
                self.held = text
                return
            self.held, self.where = "", "after"
            if start.startswith(BEGIN):
                self.where, text = "inside", start.removeprefix(BEGIN)
        if self.where == "inside":
            thought, found, text = (self.held + text).partition(END)
            self.held = "" if found else _beginning(thought)
            yield from _some(True, thought.removesuffix(self.held))
            if not found:
                return
            self.where = "between"
        if self.where == "between":
            text = text.lstrip()
            self.where = "after" if text else "between"
        yield from _some(False, text)

    def rest(self) -> str:
        """What is still held when the answer ends before the tag does."""
        held, self.held = self.held, ""
        return held


def _some(thought: bool, text: str) -> Iterator[tuple[bool, str]]:
    if text:
        yield thought, text


def _beginning(text: str) -> str:
    """The longest end of the text with which an end tag may begin."""
    sizes = range(min(len(text), len(END) - 1), 0, -1)
    return next((text[-size:] for size in sizes if END.startswith(text[-size:])), "")
