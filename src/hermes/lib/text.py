"""Text that can be stored, sent and shown anywhere."""

import re
import unicodedata

_LONE = re.compile("[\ud800-\udfff]")


def clean(text: str) -> str:
    """Replace lone surrogates by U+FFFD: no encoder accepts them."""
    if text.isascii():
        return text
    return _LONE.sub("\ufffd", text)


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
