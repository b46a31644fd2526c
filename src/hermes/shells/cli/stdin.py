"""What was piped in: added to the question, bounded, never waited for without saying so."""

import os
import select
import stat
from typing import TextIO

from hermes.core.errors import UsageError
from hermes.lib.textfile import decode

MOST = 400_000
"""Bytes taken from standard input; more than that belongs into a file the model can page through."""
PATIENCE = 3.0
"""Seconds until a pipe that says nothing is left alone."""


def question(text: str, stdin: TextIO, err: TextIO) -> str:
    """The question as typed, and after it what was piped in. "-" stands for standard input alone.

    Raise UsageError when there is no question, or when more than MOST bytes come in.
    """
    text = text.strip()
    if text == "-":
        asked = _all(stdin).strip()
    elif piped := _piped(stdin, err):
        asked = f"{text}\n\n{piped}".strip()
    else:
        asked = text
    if not asked:
        raise UsageError('There is no question. Ask one: hermes -z "..."')
    return asked


def _all(stdin: TextIO) -> str:
    try:
        handle = stdin.fileno()
    except (OSError, ValueError):  # it is closed
        return ""
    return _read(handle)


def _piped(stdin: TextIO, err: TextIO) -> str:
    """What a pipe or a redirected file holds; nothing for a terminal, /dev/null or a closed one."""
    try:
        handle = stdin.fileno()
        kind = os.fstat(handle).st_mode
    except (OSError, ValueError):
        return ""
    if stat.S_ISREG(kind):
        return _read(handle).strip()
    if not (stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind)):
        return ""
    if not select.select([handle], [], [], PATIENCE)[0]:
        err.write(f"standard input said nothing for {PATIENCE:g} s: going on without it (`-` would wait)\n")
        return ""
    return _read(handle).strip()


def _read(handle: int) -> str:
    pieces: list[bytes] = []
    size = 0
    while piece := os.read(handle, 65_536):
        pieces.append(piece)
        size += len(piece)
        if size > MOST:
            raise UsageError(
                f"Standard input holds more than {MOST // 1000} kB. Put it into a file and name the file:"
                " it is read in pages then."
            )
    return decode(b"".join(pieces)).text
