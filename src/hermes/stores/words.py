"""Words of a text as the search index sees them, and of a query as a person means it.

Letter case and diacritics are folded. Scripts written without spaces between words (Chinese,
Japanese, Korean syllables, Thai and its neighbours) are indexed character by character and found
as phrases, so that a query of one or two characters finds its text.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3105-\u312f\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff]"
)
_MARKS = re.compile("[\u0300-\u036f]+")
_WORD = re.compile(r"[^\W_]+")
_TERM = re.compile(r'"([^"]*)"(\*?)|(\S+)')
LONGEST = 1_000
"""Characters of a query that are looked at."""
SHOWN = 50_000
"""Characters of a text with letters beyond ASCII in which a place to show is looked for."""
START, END = "\x02", "\x03"


@dataclass(frozen=True, slots=True)
class Term:
    """Words that must follow one another; the last of them may be the beginning of a word."""

    words: tuple[str, ...]
    prefix: bool = False


def fold(text: str) -> str:
    """The text without letter case and diacritics."""
    if text.isascii():
        return text.lower()
    bare = _MARKS.sub("", unicodedata.normalize("NFKD", text))
    return unicodedata.normalize("NFC", bare).casefold()


def spread(text: str) -> str:
    """The folded text with a space around each character of the unspaced scripts."""
    folded = fold(text)
    return folded if folded.isascii() else _UNSPACED.sub(r" \g<0> ", folded)


def words(text: str) -> list[str]:
    """The words of a text in order."""
    return _WORD.findall(spread(text))


def terms(query: str) -> list[Term]:
    """What a query asks for: each term must be found. Any text is a valid query."""
    found: list[Term] = []
    for phrase, star, word in _TERM.findall(query[:LONGEST]):
        prefix = bool(star) or (word.endswith("*"))
        parts = tuple(words(phrase or word))
        if parts:
            found.append(Term(parts, prefix))
    return found


def snippet(text: str, asked: Sequence[Term], literal: str, width: int = 200) -> str:
    """About `width` characters around the first thing found, what is found between \\x02 and \\x03."""
    spans = list(_spans(text, asked)) or _literally(text, literal)
    begin = max(0, spans[0][0] - width // 3) if spans else 0
    end, at, out = min(len(text), begin + width), begin, ["…" if begin else ""]
    for start, stop in spans:
        if at <= start and stop <= end:
            out += [text[at:start], START, text[start:stop], END]
            at = stop
    out += [text[at:end], "…" if end < len(text) else ""]
    return "".join(out)


def _literally(text: str, literal: str) -> list[tuple[int, int]]:
    at = text.lower().find(literal.lower()) if literal else -1
    return [] if at < 0 else [(at, at + len(literal))]


def _spans(text: str, asked: Sequence[Term]) -> Iterator[tuple[int, int]]:
    """Where the terms stand in the text, left to right."""
    if not asked:
        return
    folded, places = _folded_with_places(text)
    for match in re.finditer("|".join(_pattern(term) for term in asked), folded):
        stop = places[match.end() - 1] + 1
        while unicodedata.category(text[stop : stop + 1] or " ").startswith("M"):
            stop += 1
        yield places[match.start()], stop


def _folded_with_places(text: str) -> tuple[str, Sequence[int]]:
    """The folded text, and for each of its characters the place it came from."""
    if text.isascii():
        return text.lower(), range(len(text))
    pairs = [(piece, at) for at, char in enumerate(text[:SHOWN]) for piece in fold(char)]
    return "".join(piece for piece, _ in pairs), [at for _, at in pairs]


def _pattern(term: Term) -> str:
    between = r"[\W_]*".join(re.escape(word) for word in term.words)
    before = "" if _UNSPACED.match(term.words[0]) else r"(?<![^\W_])"
    after = "" if term.prefix or _UNSPACED.match(term.words[-1]) else r"(?![^\W_])"
    return f"{before}{between}{after}"
