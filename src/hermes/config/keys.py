"""Keys of the schema by their path: type, default, allowed values, environment names, nearest name."""

import difflib
import typing
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import msgspec
from msgspec.structs import FieldInfo

from hermes.config.later import LATER
from hermes.config.schema import Settings

Parts = tuple[str, ...]

KNOWN_AS = {
    "HERMES_MODEL": ("model", "default"),
    "HERMES_INFERENCE_MODEL": ("model", "default"),
    "HERMES_INFERENCE_PROVIDER": ("model", "provider"),
    "HERMES_MAX_ITERATIONS": ("agent", "max_turns"),
}
"""Names of variables people already use, beside the ones generated from the schema."""

_GUARD = "tool_loop_guardrails"
OLD: Mapping[Parts, Parts] = {
    (_GUARD, "exact_failure_warn_after"): (_GUARD, "warn_after", "exact_failure"),
    (_GUARD, "exact_failure_block_after"): (_GUARD, "hard_stop_after", "exact_failure"),
    (_GUARD, "same_tool_failure_warn_after"): (_GUARD, "warn_after", "same_tool_failure"),
    (_GUARD, "same_tool_failure_halt_after"): (_GUARD, "hard_stop_after", "same_tool_failure"),
    (_GUARD, "no_progress_warn_after"): (_GUARD, "warn_after", "idempotent_no_progress"),
    (_GUARD, "no_progress_block_after"): (_GUARD, "hard_stop_after", "idempotent_no_progress"),
    ("fallback_model",): ("fallback_providers",),
    ("custom_providers",): ("providers",),
}
"""Old names and what they are called now. Still read; `hermes config migrate` rewrites them."""


@dataclass(frozen=True, slots=True)
class Key:
    """One key of the schema. `annotation` is its type with its limits and its doc."""

    path: Parts
    annotation: Any
    default: Any

    @property
    def type(self) -> Any:
        """The type alone."""
        return bare(self.annotation)[0]

    @property
    def doc(self) -> str:
        """The one line about it."""
        return bare(self.annotation)[1]

    @property
    def name(self) -> str:
        """The dotted path."""
        return ".".join(self.path)

    @property
    def section(self) -> bool:
        """Whether it has keys of its own."""
        return members(self.type) is not None

    @property
    def allowed(self) -> tuple[str, ...]:
        """The values it may have, if they are few."""
        return typing.get_args(self.type) if typing.get_origin(self.type) is typing.Literal else ()

    @property
    def expected(self) -> str:
        """What kind of value it takes, in words."""
        if self.allowed:
            return ("one of " if len(self.allowed) > 1 else "") + ", ".join(
                item or "empty" for item in self.allowed
            )
        match self.type if isinstance(self.type, type) else typing.get_origin(self.type):
            case t if t is bool:
                return "true or false"
            case t if t is int:
                return f"a whole number{self._least}"
            case t if t is float:
                return f"a number{self._least}"
            case t if t is str:
                return "text"
            case t if t is tuple:
                return "a list of sections" if self.section else "a list of texts"
            case t if t is dict and not self.section:
                return "names and texts"
            case _:
                return "keys and values"

    @property
    def _least(self) -> str:
        notes = getattr(self.annotation, "__metadata__", ())
        least = next((note.ge for note in notes if isinstance(note, msgspec.Meta)), None)
        return "" if least is None else f" of at least {least:g}"

    @property
    def variables(self) -> tuple[str, ...]:
        """The environment variables that set it, the first one wins over the others."""
        if self.section or typing.get_origin(self.type) is dict:
            return ()
        main = variable(self.path)
        also = tuple(name for name, path in KNOWN_AS.items() if path == self.path)
        short = ("_".join(self.path).upper(),) if self.path[0] == "terminal" else ()
        return (main, *also, *short)


def bare(annotation: Any) -> tuple[Any, str]:
    """The type without its notes, and its one-line doc."""
    if typing.get_origin(annotation) is typing.Annotated:
        inner, *notes = typing.get_args(annotation)
        return inner, next((note.description or "" for note in notes if isinstance(note, msgspec.Meta)), "")
    return annotation, ""


@cache
def fields(section: type[msgspec.Struct]) -> Mapping[str, FieldInfo]:
    """The fields of a section by name."""
    return {info.name: info for info in msgspec.structs.fields(section)}


def members(kind: Any) -> Any:
    """What a type holds: a section itself, the element of a list or map of sections, else None."""
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return kind
    if typing.get_origin(kind) in (dict, tuple):
        element = bare(typing.get_args(kind)[1 if typing.get_origin(kind) is dict else 0])[0]
        return element if isinstance(element, type) and issubclass(element, msgspec.Struct) else None
    return None


def find(path: Parts) -> Key | None:
    """The key at a path, None if the schema has none there. Names and indexes of entries are free."""
    annotation: Any = Settings
    default: Any = Settings()
    for part in path:
        kind = bare(annotation)[0]
        if typing.get_origin(kind) is dict or (typing.get_origin(kind) is tuple and part.isdecimal()):
            annotation = typing.get_args(kind)[1 if typing.get_origin(kind) is dict else 0]
            inner = bare(annotation)[0]
            default = inner()
        elif members(kind) is kind and part in fields(kind):
            annotation, default = fields(kind)[part].type, getattr(default, part)
        else:
            return None
    return Key(path, annotation, default)


def walk(section: type[msgspec.Struct] = Settings, path: Parts = ()) -> Iterator[Key]:
    """Every key in the order of the schema, a section before its keys; `*` stands for a free name."""
    for name, info in fields(section).items():
        kind = bare(info.type)[0]
        here = (*path, name)
        default = info.default if info.default is not msgspec.NODEFAULT else _made(info)
        yield Key(here, info.type, default)
        inner = members(kind)
        if inner is not None:
            yield from walk(inner, here if inner is kind else (*here, "*"))


def _made(info: FieldInfo) -> Any:
    return info.default_factory() if info.default_factory is not msgspec.NODEFAULT else ""


@cache
def variables() -> Mapping[str, Parts]:
    """Every environment variable that is a setting, with the key it sets."""
    found: dict[str, Parts] = {}
    for key in walk():
        if "*" not in key.path:
            found |= dict.fromkeys(key.variables, key.path)
    return found


@cache
def generated() -> frozenset[str]:
    """The variables whose names are made from the keys."""
    return frozenset(map(variable, variables().values()))


@cache
def prefixes() -> tuple[str, ...]:
    """How a variable begins that is meant for one of the sections."""
    plain = (
        name for name, info in fields(Settings).items() if members(bare(info.type)[0]) is bare(info.type)[0]
    )
    return tuple(f"HERMES_{name.upper()}_" for name in plain)


def later_variable(name: str) -> bool:
    """Whether a variable belongs to a feature this version does not have yet."""
    name = name.removeprefix("HERMES_").lower()
    section = next((section for section in fields(Settings) if name.startswith(f"{section}_")), "")
    return later((section, name[len(section) + 1 :])) or name in _LATER_VARIABLES


_LATER_VARIABLES = frozenset(("agent_timeout", "agent_timeout_warning", "agent_notify_interval"))


def nearest_variable(name: str) -> str:
    """The variable most like this one that is a setting, empty if none is near."""
    close = difflib.get_close_matches(name, variables(), 1, 0.75)
    return close[0] if close else ""


def listed(path: Parts) -> bool:
    """Whether exactly this key is one whose feature is not built yet."""
    free = ".".join((path[0], "*", *path[2:])) if len(path) > 2 else ""
    return ".".join(path) in LATER or free in LATER


def later(path: Parts) -> bool:
    """Whether a key that the schema does not have belongs to a feature that is not built yet."""
    above = (path[:end] for end in range(1, len(path) + 1))
    return find(path) is None and any(listed(part) and find(part) is None for part in above)


def unused(path: Parts) -> bool:
    """Whether nothing reads a key yet, in the schema or not."""
    return any(listed(path[:end]) for end in range(1, len(path) + 1))


def nearest(path: Parts) -> str:
    """The key most like this path, empty if none is near: first among its neighbours, then anywhere."""
    above, last = path[:-1], path[-1]
    if close := difflib.get_close_matches(last, _beside(above), 1, 0.6):
        return ".".join((*above, close[0]))
    names = [key.name for key in walk() if "*" not in key.path] + [name for name in LATER if "*" not in name]
    if close := difflib.get_close_matches(".".join(path), names, 1, 0.75):
        return close[0]
    elsewhere = [name for name in names if name.endswith(f".{last}")]
    return elsewhere[0] if len(elsewhere) == 1 else ""


def _beside(path: Parts) -> list[str]:
    """The names of the keys right below a path."""
    section = find(path)
    known = list(fields(section.type)) if section and members(section.type) is section.type else []
    above = ".".join(path)
    return known + [name.rpartition(".")[2] for name in LATER if name.rpartition(".")[0] == above]


def variable(path: Parts) -> str:
    """The environment variable generated for a key."""
    return "HERMES_" + "_".join(path).upper()
