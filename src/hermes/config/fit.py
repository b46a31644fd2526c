"""fit: one layer of settings against the schema; what does not fit is named, with its place."""

import textwrap
import typing
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from hermes.config import keys, reading
from hermes.config.problems import Problem
from hermes.config.schema import Settings
from hermes.config.secrets import shown

Place = Callable[[keys.Parts], tuple[str, int]]

_SWITCH = dict.fromkeys(("true", "yes", "on", "1"), True) | dict.fromkeys(("false", "no", "off", "0"), False)


def normal(data: Mapping[str, Any]) -> dict[str, Any]:
    """The layer in the schema's own form: old names renamed, `model: NAME` widened, empty values left out."""
    found = _filled(data)
    for old, new in keys.OLD.items():
        if (value := _taken(found, old)) is not None:
            for path, item in renamed(old, new, value):
                _default(found, path, item)
    if isinstance(found.get("model"), str):
        found["model"] = {"default": found["model"]}
    return found


def _filled(data: Mapping[str, Any]) -> dict[str, Any]:
    """Without the keys that have no value: `key:` alone means not set."""
    return {
        key: _filled(value) if isinstance(value, dict) else value
        for key, value in data.items()
        if value is not None
    }


def _taken(data: dict[str, Any], path: keys.Parts) -> Any:
    inside: Any = data
    for part in path[:-1]:
        inside = inside.get(part)
        if not isinstance(inside, dict):
            return None
    return inside.pop(path[-1], None)


def _default(data: dict[str, Any], path: keys.Parts, value: Any) -> None:
    """Set a value where there is none yet."""
    for part in path[:-1]:
        data = data.setdefault(part, {})
        if not isinstance(data, dict):
            return
    data.setdefault(path[-1], value)


def renamed(old: keys.Parts, new: keys.Parts, value: Any) -> list[tuple[keys.Parts, Any]]:
    """What an old key means today, as paths and values."""
    match old, value:
        case ("fallback_model",), str():
            return [(new, [{"model": value}])]
        case ("fallback_model",), dict():
            return [(new, [value])]
        case ("custom_providers",), list():
            named = [
                (str(item.get("name") or at), item) for at, item in enumerate(value) if isinstance(item, dict)
            ]
            return [
                ((*new, name), {key: part for key, part in item.items() if key != "name"})
                for name, item in named
            ]
        case _:
            return [(new, value)]


def fitted(data: Mapping[str, Any], place: Place) -> tuple[dict[str, Any], list[Problem]]:
    """What of a layer fits the schema, and what is to be said about the rest.

    Args:
        data: The layer, in normal form.
        place: The file and line of a path.
    """
    problems: list[Problem] = []
    return _section(data, Settings, (), place, problems), problems


def _section(
    data: Mapping[str, Any],
    kind: type[msgspec.Struct],
    path: keys.Parts,
    place: Place,
    problems: list[Problem],
) -> dict[str, Any]:
    fields = keys.fields(kind)
    result: dict[str, Any] = {}
    for name, value in data.items():
        here = (*path, name)
        if keys.listed(here):
            problems.append(_later(here, place))
        if name not in fields:
            if not keys.listed(here):
                problems.append(_unknown(here, place))
            continue
        fit = _value(value, fields[name].type, here, place, problems)
        if fit is not _UNFIT:
            result[name] = fit
    return result


_UNFIT: Any = object()


def _value(value: Any, annotation: Any, path: keys.Parts, place: Place, problems: list[Problem]) -> Any:
    kind, _ = keys.bare(annotation)
    inner = keys.members(kind)
    if inner is None:
        return _leaf(value, annotation, path, place, problems)
    origin = typing.get_origin(kind)
    if isinstance(value, str) and value[:1] in ("{", "["):
        value = value_of(value)
    if origin is tuple:
        value = [value] if isinstance(value, dict) else value
        if isinstance(value, list):
            items = enumerate(value)
            fits = [_value(item, inner, (*path, str(at)), place, problems) for at, item in items]
            return [fit for fit in fits if fit is not _UNFIT]
    elif isinstance(value, dict):
        if origin is dict:
            fits_by = {
                name: _value(item, inner, (*path, name), place, problems) for name, item in value.items()
            }
            return {name: fit for name, fit in fits_by.items() if fit is not _UNFIT}
        return _section(value, inner, path, place, problems)
    problems.append(wrong(keys.Key(path, annotation, None), value, place(path)))
    return _UNFIT


def _leaf(value: Any, annotation: Any, path: keys.Parts, place: Place, problems: list[Problem]) -> Any:
    try:
        return converted(value, annotation)
    except msgspec.ValidationError:
        problems.append(wrong(keys.Key(path, annotation, None), value, place(path)))
        return _UNFIT


def converted(value: Any, annotation: Any) -> Any:
    """A value as the type of its key: words and numbers in text are understood, nothing else is bent.

    Raises:
        msgspec.ValidationError: It does not fit.
    """
    kind, _ = keys.bare(annotation)
    if isinstance(value, str) and kind is bool:
        value = _SWITCH.get(value.strip().lower(), value)
    elif isinstance(value, str) and typing.get_origin(kind) in (tuple, dict):
        value = value_of(value) if value[:1] in ("[", "{") else _words(value)
    if typing.get_origin(kind) is typing.Literal and isinstance(value, bool):
        value = ("off", "on")[value]
    lax = isinstance(value, str) and kind in (int, float)
    fit = msgspec.convert(value, annotation, strict=not lax)
    return list(fit) if isinstance(fit, tuple) else fit


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def value_of(text: str) -> Any:
    """A list or mapping given as one text, in YAML or JSON; the text itself if it is neither."""
    return reading.document(f"value: {text}", "value").data.get("value")


def wrong(key: keys.Key, value: Any, at: tuple[str, int]) -> Problem:
    """That a value does not fit its key."""
    word = {str: "the text ", int: "the number ", float: "the number "}.get(type(value), "")
    seen = textwrap.shorten(f"{word}{shown(key.name, value)!r}", 80, placeholder=" ...")
    quote = "; put it in quotes" if key.expected == "text" and isinstance(value, (bool, int, float)) else ""
    return Problem(*at, key.name, f"{key.name} must be {key.expected}, not {seen}{quote}.", kind="wrong")


def _unknown(path: keys.Parts, place: Place) -> Problem:
    file, line = place(path)
    name = ".".join(path)
    return Problem(
        file, line, name, f"{name} is not a setting; it has no effect.", keys.nearest(path), "unknown"
    )


def _later(path: keys.Parts, place: Place) -> Problem:
    file, line = place(path)
    name = ".".join(path)
    return Problem(file, line, name, f"{name} is understood and kept, but not used yet.", kind="later")
