"""JSON as models and their servers write it: read what is there, say what is wrong, never raise."""

import json
import math
from collections.abc import Mapping
from typing import Any, cast

from hermes.lib.text import clean

DEEPEST = 100
"""Arguments nested deeper than this are refused: no tool needs it, and recursion has an end."""


def arguments(text: str, *, cut: bool = False) -> tuple[dict[str, Any], str]:
    """The arguments of a tool call, and in one sentence why they cannot be used (empty: they can).

    `cut` says that the model was stopped while it wrote. The same object written twice, as some
    servers' streams do, counts once. With a fault the arguments are always empty.
    """
    text = text.strip()
    if not text:
        return ({}, CUT) if cut else ({}, "")
    if text.count("{") + text.count("[") > DEEPEST and _depth(text) > DEEPEST:
        return {}, "The arguments are nested too deeply."
    try:
        value, end = json.JSONDecoder(strict=False).raw_decode(text)
    except (ValueError, RecursionError) as error:
        return {}, CUT if cut or _unfinished(error, text) else f"The arguments are not valid JSON: {error}."
    rest = text[end:].strip()
    if rest and rest.replace(text[:end], "").strip():
        return (
            {},
            CUT if cut else "The arguments are more than one JSON value run together.",
        )
    if isinstance(value, str) and value.lstrip().startswith("{"):
        return arguments(value, cut=cut)  # encoded twice
    if value is None:
        return {}, ""
    if not isinstance(value, dict):
        return {}, f"The arguments are not a JSON object but {_kind(value)}."
    return cast("dict[str, Any]", cleaned(value)), ""


CUT = "The arguments were cut off before they were complete."


def cleaned(value: Any) -> Any:
    """The value without lone surrogates and without numbers that JSON does not have."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        pairs = cast("Mapping[Any, Any]", value)  # type: ignore[redundant-cast]
        return {clean(str(key)): cleaned(item) for key, item in pairs.items()}
    if isinstance(value, list | tuple):
        return [cleaned(item) for item in cast("list[Any]", value)]
    return value


def _depth(text: str) -> int:
    """How deep brackets are nested, those inside strings not counted."""
    depth = deepest = 0
    quoted = escaped = False
    for char in text:
        if quoted:
            quoted = escaped or char != '"'
            escaped = char == "\\" and not escaped
        elif char == '"':
            quoted = True
        elif char in "{[":
            depth += 1
            deepest = max(deepest, depth)
        elif char in "}]":
            depth -= 1
    return deepest


def _unfinished(error: Exception, text: str) -> bool:
    """Whether a JSON text just stops: nothing in it is wrong as far as it goes."""
    if not isinstance(error, json.JSONDecodeError):
        return False
    return error.pos >= len(text) or error.msg.startswith("Unterminated string")


def _kind(value: Any) -> str:
    match value:
        case list():
            return "a list"
        case str():
            return "a string"
        case bool():
            return "true or false"
        case _:
            return "a number"
