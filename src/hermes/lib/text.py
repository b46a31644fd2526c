"""Text that can be stored, sent and shown anywhere."""

import re
import unicodedata

_LONE = re.compile("[\ud800-\udfff]")
_STEERING = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


def clean(text: str) -> str:
    """Replace lone surrogates by U+FFFD: no encoder accepts them."""
    if text.isascii():
        return text
    return _LONE.sub("\ufffd", text)


def visible(text: str) -> str:
    """The text for a decision: every character that shows as nothing, or turns writing round, spelled out."""
    if text.isprintable():
        return text
    return "".join(c if c in "\n\t" or c.isprintable() else _spelled(c) for c in text)


def harmless(text: str) -> str:
    """The text for a terminal: what could steer it, or turn writing round, spelled out.

    Line feeds, tabs, and characters that only join or space others stay as they are.
    """
    if text.isprintable():
        return text
    return _STEERING.sub(lambda found: _spelled(found[0]), clean(text).replace("\r\n", "\n"))


def _spelled(char: str) -> str:
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def head_and_tail(text: str, limit: int, share: float = 0.4) -> str:
    """At most about `limit` characters: the beginning and the end, with a line saying what is left out."""
    if len(text) <= limit:
        return text
    head = int(limit * share)
    tail = limit - head
    left_out = len(text) - head - tail
    return f"{text[:head]}\n[... {left_out:,} characters left out ...]\n{text[len(text) - tail :]}"


def one_line(text: str, limit: int = 80) -> str:
    """The text on one line, control characters shown as spaces, cut with an ellipsis."""
    flat = " ".join("".join(" " if unicodedata.category(c) == "Cc" else c for c in text[: limit * 4]).split())
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"
