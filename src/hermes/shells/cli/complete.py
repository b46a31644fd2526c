"""What Tab offers: slash commands, their words, and paths."""

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from hermes.core.commands import Command
from hermes.lib.text import harmless

MOST = 100


class Offers(Completer):
    """Commands at the beginning of the text, paths for words that look like one.

    `cwd` is where relative paths begin. While somebody is only typing, commands alone are offered.
    """

    def __init__(self, commands: Sequence[Command], cwd: str) -> None:
        self.commands, self.cwd = commands, cwd

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        before = document.text_before_cursor
        if before.startswith("/") and "\n" not in before:
            name, space, rest = before[1:].partition(" ")
            if not space and "/" not in name:
                yield from self._names(name.lower())
                return
            if space and " " not in rest:
                yield from self._words(name.lower(), rest)
        if complete_event.completion_requested:
            yield from _paths(before.split()[-1] if before and not before[-1].isspace() else "", self.cwd)

    def _names(self, begun: str) -> Iterator[Completion]:
        for command in self.commands:
            matching = [name for name in (command.name, *command.aliases) if name.startswith(begun)]
            if matching:
                yield Completion(matching[0], -len(begun), f"/{matching[0]}", command.summary)

    def _words(self, name: str, begun: str) -> Iterator[Completion]:
        for command in self.commands:
            if name == command.name or name in command.aliases:
                yield from (
                    Completion(word, -len(begun)) for word in command.choices if word.startswith(begun)
                )


def _paths(word: str, cwd: str) -> Iterator[Completion]:
    """Files and folders that go on from the word; an @ before it stays."""
    begun = word.removeprefix("@")
    if not word or (word == begun and "/" not in begun and not begun.startswith((".", "~"))):
        return
    folder, slash, name = begun.rpartition("/")
    base = Path(cwd, os.path.expanduser(folder + slash))  # unlike Path's, it knows no error
    try:
        with os.scandir(base) as entries:
            found = sorted(entry.name + "/" * entry.is_dir() for entry in entries)
    except (OSError, ValueError):  # no such folder, or a name no folder can have
        return
    fitting = [entry for entry in found if entry.startswith(name)]
    for entry in fitting[:MOST]:
        if name.startswith(".") or not entry.startswith("."):
            yield Completion(entry, -len(name), harmless(entry))
