"""patch: change one value in a YAML text and leave every other byte as it is.

The text is not written anew from data: the new value replaces the old one where it stands, or a line is
put in or taken out. The result is read back and must differ in that one value and nothing else; a text
that cannot be changed so (a value shared by an alias, say) is refused and left to a person.
"""

import copy
import json
import re
from collections.abc import Mapping
from typing import Any

from hermes.config.document import Document, Path, plain, read
from hermes.core.errors import ConfigError

_PLAIN = re.compile(r"[A-Za-z_/][A-Za-z0-9_./@+=-]*(?:[: ][A-Za-z0-9_./@+=-]+)*")
_OLD_WORDS = frozenset(("y", "n", "yes", "no", "on", "off"))  # switches to older YAML readers
_BREAK = re.compile(r"\r\n|\r|\n|\Z")


def put(text: str, path: Path, value: Any, name: str = "config.yaml") -> str:
    """The text with the value at `path` set, the sections above it made if they are missing.

    Raises:
        ConfigError: The text is broken, or cannot be changed without touching something else.
    """
    document = read(text, name)
    expected = copy.deepcopy(document.data)
    _set(expected, path, value)
    if path in document.entries and _same(_at(document.data, path), value):
        return text
    return _proved(_put(document, path, value), expected, path, name)


def drop(text: str, path: Path, name: str = "config.yaml") -> str:
    """The text without the key at `path`. The section above it stays, even if it is empty now.

    Raises:
        ConfigError: As for `put`.
    """
    document = read(text, name)
    if path not in document.entries:
        return text
    expected = copy.deepcopy(document.data)
    _unset(expected, path)
    return _proved(_drop(document, path), expected, path, name)


def _proved(text: str, expected: Any, path: Path, name: str) -> str:
    try:
        if _typed(read(text, name).data) == _typed(expected):
            return text
    except ConfigError:
        pass  # told below: the person's text is fine, our change of it is not
    raise ConfigError(
        f"{'.'.join(path)} cannot be changed in {name} without changing something else. "
        "Nothing was changed; do it by hand with `hermes config edit`."
    )


def _typed(value: Any) -> Any:
    """The value for comparing: 1, 1.0 and true differ, and what is empty equals what is not set."""
    match value:
        case dict():
            return {key: _typed(item) for key, item in value.items() if item not in (None, {}, [])}
        case list():
            return [_typed(item) for item in value]
        case bool() | int() | float():
            return (type(value).__name__, value)
        case _:
            return value


def _same(one: Any, other: Any) -> bool:
    return (one in (None, {}, [])) == (other in (None, {}, [])) and _typed([one]) == _typed([other])


def _at(data: Any, path: Path) -> Any:
    for part in path:
        data = data[int(part)] if isinstance(data, list) else data[part]
    return data


def _set(data: Any, path: Path, value: Any) -> None:
    *above, last = path
    for part in above:
        if isinstance(data, list):
            data = data[int(part)]
            continue
        if not isinstance(data.get(part), (dict, list)):
            data[part] = {}
        data = data[part]
    if isinstance(data, list):
        data[int(last)] = value
    else:
        data[last] = value


def _unset(data: Any, path: Path) -> None:
    *above, last = path
    for part in above:
        data = data[int(part)] if isinstance(data, list) else data[part]
    if isinstance(data, list):
        del data[int(last)]
    else:
        del data[last]


def _put(document: Document, path: Path, value: Any) -> str:
    if path in document.entries:
        return _replaced(document, path, value)
    parent = path[:-1]
    while parent and parent not in document.entries:
        parent = parent[:-1]
    key, *rest = path[len(parent) :]
    for part in reversed(rest):
        value = {part: value}
    return _inserted(document, parent, key, value, block=len(rest))


def _replaced(document: Document, path: Path, value: Any) -> str:
    text, entry = document.text, document.entries[path]
    start, end = entry.value
    if entry.kind == "block":
        return _replaced_block(document, path, value)
    if entry.style in ("|", ">"):
        return f"{text[:start]}{inline(value)}{_newline(text)}{text[end:]}"
    if isinstance(value, dict) and value and not entry.flow and entry.key != entry.value:
        return _widened(document, path, value)
    fresh = _styled(value, entry.style)
    if start == end and text[start - 1 : start] not in (" ", "\t"):
        fresh = f" {fresh}"
    return f"{text[:start]}{fresh}{text[end:]}"


def _widened(document: Document, path: Path, value: dict[str, Any]) -> str:
    """One word replaced by a section of lines."""
    text, entry = document.text, document.entries[path]
    start, end = entry.value
    key = text[:start].rstrip(" \t") + (_newline(text) if entry.style in ("|", ">") else "")
    indent = " " * (_column(text, entry.key[0]) + 2)
    lines = "".join(f"{indent}{inline(name)}: {inline(item)}{_newline(text)}" for name, item in value.items())
    return _after(key + text[end:], len(key), lines)


def _replaced_block(document: Document, path: Path, value: Any) -> str:
    """A block of lines replaced: by lines if a list replaces a list, else by one text after the key."""
    text, entry = document.text, document.entries[path]
    start = entry.value[0]
    end = _end(document, path)
    if isinstance(value, list) and value and text[start] == "-" and not _nested(value):
        indent = " " * _column(text, start)
        lines = f"{_newline(text)}{indent}".join(f"- {inline(item)}" for item in value)
        return f"{text[:start]}{lines}{text[end:]}"
    if entry.key == entry.value:  # an item of a list has no key to stand behind
        return f"{text[:start]}{inline(value)}{text[end:]}"
    colon = text.index(":", entry.key[1]) + 1
    line_end = _line_end(text, colon)
    return f"{text[:colon]} {inline(value)}{text[colon:line_end]}{text[end:]}"


def _nested(items: list[Any]) -> bool:
    return any(isinstance(item, (dict, list)) for item in items)


def _inserted(document: Document, parent: Path, key: str, value: Any, block: int) -> str:
    text = document.text
    entry = document.entries.get(parent)
    children = document.children(parent)
    if entry is None or (not parent and not children and entry.kind != "flow"):
        return _appended(text, _lines(key, value, "", block, _newline(text)))
    if entry.kind == "flow":
        pair = f"{inline(key)}: {inline(value)}"
        if not children:
            return f"{text[: entry.value[0] + 1]}{pair}{text[entry.value[0] + 1 :]}"
        end = _end(document, children[-1])
        return f"{text[:end]}, {pair}{text[end:]}"
    if entry.kind == "block" and not parent:
        indent = " " * _column(text, document.entries[children[0]].key[0])
        return _appended(text, _lines(key, value, indent, block, _newline(text)))
    if entry.kind == "block":
        indent = " " * _column(text, document.entries[children[-1]].key[0])
        return _after(text, _end(document, children[-1]), _lines(key, value, indent, block, _newline(text)))
    return _replaced(document, parent, {key: value})


def _lines(key: str, value: Any, indent: str, block: int, newline: str) -> str:
    """`key: value` as lines; the outer `block` levels of a nested value get a line each."""
    if block:
        (inner, below), *_ = value.items()
        rest = _lines(inner, below, f"{indent}  ", block - 1, newline)
        return f"{indent}{inline(key)}:{newline}{rest}"
    return f"{indent}{inline(key)}: {inline(value)}{newline}"


def _appended(text: str, lines: str) -> str:
    gap = _newline(text) if text and not text.endswith(("\n", "\r")) else ""
    return f"{text}{gap}{lines}"


def _after(text: str, at: int, lines: str) -> str:
    """The lines put in after the line that `at` is on (before it, if `at` is a line's start)."""
    if at and text[at - 1] in "\r\n":
        return f"{text[:at]}{lines}{text[at:]}"
    end = _line_end(text, at)
    if end == len(text):
        return _appended(text, lines)
    found = _BREAK.match(text, end)
    end = found.end() if found else end
    return f"{text[:end]}{lines}{text[end:]}"


def _drop(document: Document, path: Path) -> str:
    text, entry = document.text, document.entries[path]
    start, end = entry.key[0], _end(document, path)
    if entry.flow:
        if comma := re.compile(r"\s*,\s*").match(text, end):
            return text[:start] + text[comma.end() :]
        return text[:start].rstrip().removesuffix(",") + text[end:]
    start -= _column(text, start)
    if end and text[end - 1] not in "\r\n":
        found = _BREAK.search(text, end)
        end = found.end() if found else len(text)
    return text[:start] + text[end:]


def _end(document: Document, path: Path) -> int:
    """Where what belongs to a key ends: behind its value, or behind its last child's."""
    entry = document.entries[path]
    if entry.value[0] < entry.key[0]:  # an alias: the value stands elsewhere
        return _line_end(document.text, entry.key[1])
    children = document.children(path)
    if entry.kind == "block" and children:
        return max(_end(document, child) for child in children)
    return entry.value[1]


def _column(text: str, at: int) -> int:
    return at - max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) - 1


def _line_end(text: str, at: int) -> int:
    found = _BREAK.search(text, at)
    return found.start() if found else len(text)


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _styled(value: Any, style: str) -> str:
    """The value in the quotes its predecessor had."""
    if isinstance(value, str) and style == "'" and value.isprintable():
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, str) and style == '"':
        return _quoted(value)
    return inline(value)


def inline(value: Any) -> str:
    """A value as YAML on one line.

    Raises:
        ConfigError: A text holds half a character (a lone surrogate).
    """
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return str(value)
        case Mapping():
            return "{" + ", ".join(f"{inline(str(key))}: {inline(item)}" for key, item in value.items()) + "}"
        case list() | tuple():
            return "[" + ", ".join(inline(item) for item in value) + "]"
        case _:
            text = str(value)
            safe = _PLAIN.fullmatch(text) and plain(text) == text and text.lower() not in _OLD_WORDS
            return text if safe else _quoted(text)


def _quoted(text: str) -> str:
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise ConfigError("The value holds a byte that is no text (not UTF-8); nothing was changed.")
    return "".join(c if c.isprintable() else _escaped(c) for c in json.dumps(text, ensure_ascii=False))


def _escaped(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"
