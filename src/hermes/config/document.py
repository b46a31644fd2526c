"""Document: a YAML text as plain data, with the place of every value.

YAML 1.2 scalars: only true and false are booleans, so that `mode: off` is the word off. Where a
switch is expected, yes/no/on/off are understood by the schema check instead.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml
from yaml._yaml import CParser

from hermes.core.errors import ConfigError

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """Where a value stands: offsets in characters from the start of the text, line from 1.

    `kind` is what the value is: scalar, flow (in brackets) or block (in lines of its own); `flow` is
    whether the key stands inside brackets. An item of a list has its value for a key.
    """

    line: int
    key: tuple[int, int]
    value: tuple[int, int]
    kind: str
    style: str = ""
    flow: bool = False


@dataclass(slots=True)
class Document:
    """One YAML text read. `entries` has every key by its path, list items by their index; () is the whole."""

    name: str
    text: str
    data: dict[str, Any] = field(default_factory=dict[str, Any])
    entries: dict[Path, Entry] = field(default_factory=dict[Path, Entry])
    repeated: list[tuple[Path, int]] = field(default_factory=list[tuple[Path, int]])

    def children(self, path: Path) -> list[Path]:
        """The paths one level below, in the order of the text."""
        size = len(path) + 1
        return [below for below in self.entries if len(below) == size and below[:-1] == path]

    def line(self, path: Path) -> int:
        """The line of a key, or of the nearest thing around it; 0 when there is none."""
        while path:
            if entry := self.entries.get(path):
                return entry.line
            path = path[:-1]
        return 0


def read(text: str, name: str) -> Document:
    """Read a YAML text that holds one mapping (or nothing).

    Args:
        text: The text, without a byte order mark.
        name: What to call it in messages.

    Raises:
        ConfigError: It is not valid YAML; says line, column and what to do.
    """
    document = Document(name, text)
    try:
        node = _Nodes(text).get_single_node()
    except yaml.YAMLError as error:
        raise ConfigError(_broken(error, name, text)) from None
    if node is None or (isinstance(node, yaml.ScalarNode) and _scalar(node, name) is None):
        return document
    if not isinstance(node, yaml.MappingNode):
        raise ConfigError(f"{name}:1: expected keys and values such as `model: NAME`. {_ADVICE}")
    reader = _Reader(document)
    reader.note((), node, node, False)
    document.data = reader.mapping(node, ())
    return document


_ADVICE = "Put it right with `hermes config edit`; until then nothing runs on it."


class _Nodes(CParser):
    """libyaml's parser, composing nodes; what a scalar means is decided here, not by yaml's resolver."""

    def resolve(self, *_: Any) -> str:
        """No tag: the reader decides."""
        return "!"

    def descend_resolver(self, parent: Any, index: Any) -> None:
        """Nothing to prepare."""

    def ascend_resolver(self) -> None:
        """Nothing to undo."""


_WORDS = {"": None, "~": None, "null": None, "Null": None, "NULL": None}
_WORDS |= dict.fromkeys(("true", "True", "TRUE"), True) | dict.fromkeys(("false", "False", "FALSE"), False)  # type: ignore[arg-type]
_NUMBER = re.compile(
    r"[-+]?(0x[0-9a-fA-F]+|0o[0-7]+|[0-9]+)|[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?"
)
_TAG = "tag:yaml.org,2002:"


def plain(text: str) -> str | int | float | bool | None:
    """What an unquoted scalar means in YAML 1.2."""
    if text in _WORDS:
        return _WORDS[text]
    if (found := _NUMBER.fullmatch(text)) is None:
        return text
    if found[1] is None:
        return float(text)
    return int(text, 0) if "x" in text or "o" in text else int(text)


def _scalar(node: yaml.ScalarNode, name: str) -> Any:
    match node.tag.removeprefix(_TAG):
        case "!":
            return plain(node.value) if node.style in (None, "") else node.value
        case "str":
            return node.value
        case "int" | "float" | "bool" | "null":
            return plain(node.value)
        case tag:
            at = node.start_mark
            raise ConfigError(f"{name}:{at.line + 1}:{at.column + 1}: the tag {tag} is not known. {_ADVICE}")


class _Reader:
    """Turns nodes into data and notes where each key is."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.open: list[int] = []
        self.left = 10_000  # aliases can make a short text endless

    def value(self, node: yaml.Node, path: Path) -> Any:
        if isinstance(node, yaml.ScalarNode):
            return _scalar(node, self.document.name)
        self.left -= 1
        if id(node) in self.open or self.left < 0:
            raise ConfigError(
                f"{self.document.name}:{node.start_mark.line + 1}: its aliases have no end. {_ADVICE}"
            )
        self.open.append(id(node))
        try:
            if isinstance(node, yaml.MappingNode):
                return self.mapping(node, path)
            flow = _kind(node) == "flow"
            return [self.item(item, (*path, str(at)), flow) for at, item in enumerate(node.value)]
        finally:
            self.open.pop()

    def item(self, node: yaml.Node, path: Path, flow: bool) -> Any:
        self.note(path, node, node, flow)
        return self.value(node, path)

    def mapping(self, node: yaml.MappingNode, path: Path) -> dict[str, Any]:
        data: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                at = key_node.start_mark
                raise ConfigError(f"{self.document.name}:{at.line + 1}: a key must be plain text. {_ADVICE}")
            key = key_node.value
            if key == "<<" and key_node.style in (None, ""):
                for part in self.merged(value_node, path):
                    merged = {**part, **merged}
                continue
            here = (*path, key)
            if key in data:
                self.document.repeated.append((here, key_node.start_mark.line + 1))
            self.note(here, key_node, value_node, _kind(node) == "flow")
            data[key] = self.value(value_node, here)
        return {**merged, **data}

    def merged(self, node: yaml.Node, path: Path) -> Iterator[dict[str, Any]]:
        nodes = node.value if isinstance(node, yaml.SequenceNode) else [node]
        for part in nodes:
            value = self.value(part, (*path, "<<"))
            if not isinstance(value, dict):
                at = node.start_mark.line + 1
                raise ConfigError(f"{self.document.name}:{at}: `<<` takes a mapping. {_ADVICE}")
            yield value

    def note(self, path: Path, key: yaml.Node, value: yaml.Node, flow: bool) -> None:
        self.document.entries[path] = Entry(
            key.start_mark.line + 1,
            (key.start_mark.index, key.end_mark.index),
            (value.start_mark.index, value.end_mark.index),
            _kind(value),
            getattr(value, "style", None) or "",
            flow,
        )


def _kind(node: yaml.Node) -> str:
    if isinstance(node, yaml.ScalarNode):
        return "scalar"
    return "flow" if getattr(node, "flow_style", False) else "block"


def _broken(error: yaml.YAMLError, name: str, text: str) -> str:
    if isinstance(error, yaml.MarkedYAMLError) and (mark := error.problem_mark or error.context_mark):
        line, column = mark.line + 1, mark.column + 1
        what = error.problem or error.context or "not valid YAML"
    elif isinstance(error, yaml.reader.ReaderError):
        before = text[: error.position]
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        what = "a character that may not stand in YAML"
    else:
        line, column, what = 1, 1, "not valid YAML"
    return f"{name}:{line}:{column}: not valid YAML: {what}. {_ADVICE}"
