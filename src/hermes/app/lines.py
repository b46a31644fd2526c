"""What a subcommand prints: lines on stdout for whoever asked, remarks and errors on stderr."""

import sys
from typing import TextIO

from hermes.lib.text import clean, harmless


def terminal() -> bool:
    """Whether stdout is a terminal."""
    return sys.stdout is not None and sys.stdout.isatty()


def say(text: object = "") -> None:
    """Print on stdout. A terminal is not steered by it; a file or a program gets the text as it is."""
    paint(harmless(str(text)) if terminal() else clean(str(text)))


def paint(text: str) -> None:
    """Print on stdout what is harmless already, with the escapes that it is painted with."""
    _write(sys.stdout, text)


def warn(text: object) -> None:
    """Print on stderr, always so that a terminal may show it."""
    _write(sys.stderr, harmless(str(text)))


def _write(stream: TextIO | None, text: str) -> None:
    """Write a line, whatever the stream's encoding can hold; nothing where it was closed before the start."""
    if stream is not None:
        encoding = stream.encoding or "utf-8"
        stream.write(text.encode(encoding, "replace").decode(encoding) + "\n")
