"""The .env file: NAME=value lines, read without guessing and edited in place.

The rules: a byte order mark and a leading `export` are ignored; the first `=` ends the name; a value
in single quotes is literal; in double quotes \\n \\r \\t \\" \\\\ \\$ \\` are escapes; an unquoted value ends
before ` #`; nothing is ever expanded. Quoted values may span lines. The last of two equal names counts.
"""

import re
from dataclasses import dataclass

_LINE = re.compile(r"[ \t]*(?:export[ \t]+)?(?P<name>[A-Za-z_][A-Za-z0-9_.]*)[ \t]*=")
_SINGLE = re.compile(r"[ \t]*'(?P<text>[^']*)'[ \t]*(?:#[^\n]*)?(?=\r?\n|\Z)")
_DOUBLE = re.compile(r'[ \t]*"(?P<text>(?:[^"\\]|\\.)*)"[ \t]*(?:#[^\n]*)?(?=\r?\n|\Z)', re.DOTALL)
_COMMENT = re.compile(r"[ \t]+#")
_REST = re.compile(r"[^\n]*\n?")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\", "$": "$", "`": "`"}
_SAFE = re.compile(r"[A-Za-z0-9_./:@%+,=^~?&{}\[\]-]*")


@dataclass(frozen=True, slots=True)
class Assignment:
    """One NAME=value, its line from 1, and the offsets of the whole and of the value as written."""

    name: str
    value: str
    line: int
    whole: tuple[int, int]
    written: tuple[int, int]


def parse(text: str) -> tuple[list[Assignment], list[int]]:
    """Read a .env text.

    Returns:
        The assignments in order, and the numbers of the lines that are none of assignment, comment or blank.
    """
    found: list[Assignment] = []
    strange: list[int] = []
    at, line = (1 if text.startswith("\ufeff") else 0), 1
    while at < len(text):
        if start := _LINE.match(text, at):
            value, span, end, plain = _value(text, start.end())
            rest = _REST.match(text, end)
            stop = rest.end() if rest else len(text)
            found.append(Assignment(start["name"], value, line, (at, stop), span))
            if not plain:
                strange.append(line)
        else:
            rest = _REST.match(text, at)
            stop = rest.end() if rest else len(text)
            if (word := text[at:stop].strip()) and not word.startswith("#"):
                strange.append(line)
        line += text.count("\n", at, stop)
        at = stop
    return found, strange


def _value(text: str, at: int) -> tuple[str, tuple[int, int], int, bool]:
    """The value from `at` on, the span it is written in, quotes included, its end, whether it is sound."""
    if single := _SINGLE.match(text, at):
        start, end = single.span("text")
        return single["text"], (start - 1, end + 1), single.end(), True
    if double := _DOUBLE.match(text, at):
        start, end = double.span("text")
        return _ESCAPE.sub(_unescape, double["text"]), (start - 1, end + 1), double.end(), True
    end = text.find("\n", at)
    raw = text[at : end if end >= 0 else len(text)]
    comment = _COMMENT.search(raw)
    bare = raw[: comment.start()] if comment else raw
    start = at + len(bare) - len(bare.lstrip())
    bare = bare.strip()
    return bare, (start, start + len(bare)), at + len(raw), not bare.startswith(("'", '"'))


def _unescape(found: re.Match[str]) -> str:
    return _ESCAPES.get(found[1], found[0])


def written(value: str) -> str:
    """The value as the file holds it: bare if that is safe, else quoted so that it comes back exactly."""
    if _SAFE.fullmatch(value):
        return value
    if "'" not in value and not any(character in value for character in "\r\n"):
        return f"'{value}'"
    for plain, escaped in (
        ("\\", "\\\\"),
        ('"', '\\"'),
        ("$", "\\$"),
        ("`", "\\`"),
        ("\n", "\\n"),
        ("\r", "\\r"),
    ):
        value = value.replace(plain, escaped)
    return f'"{value}"'


def assigned(text: str, name: str, value: str) -> str:
    """The text with `name` set to `value`: in place where it stood, else as a new last line."""
    found, _ = parse(text)
    last = next((one for one in reversed(found) if one.name == name), None)
    if last is not None:
        start, end = last.written
        return f"{text[:start]}{written(value)}{text[end:]}"
    newline = "\r\n" if "\r\n" in text else "\n"
    gap = newline if text and not text.endswith("\n") and text != "\ufeff" else ""
    return f"{text}{gap}{name}={written(value)}{newline}"


def removed(text: str, name: str) -> str:
    """The text without any assignment to `name`."""
    found, _ = parse(text)
    for one in reversed(found):
        if one.name == name:
            start, end = one.whole
            text = text[:start] + text[end:]
    return text
