"""Layer: one source of settings, a file, the environment or the command line, in the schema's form."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from hermes.config import fit, keys, reading
from hermes.config.environment import Environment
from hermes.config.home import Home, text_of
from hermes.config.problems import Problem

if TYPE_CHECKING:
    from hermes.config.document import Document

Kind = Literal["default", "file", "profile", "environment", "flag"]
Place = Callable[[keys.Parts], tuple[str, int]]

_REFERENCE = re.compile(r"\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)\}")


@dataclass(frozen=True, slots=True)
class Layer:
    """One source of settings: its data, and where each path of it stands."""

    kind: Kind
    data: Mapping[str, Any] = field(repr=False)
    place: Place

    def where(self, path: keys.Parts) -> str:
        """The place of a path, for a person."""
        file, line = self.place(path)
        return f"{file}:{line}" if line else file


def merge(into: dict[str, Any], data: Mapping[str, Any]) -> dict[str, Any]:
    """Lay one layer over another: mappings key by key, everything else replaced."""
    for key, value in data.items():
        if isinstance(value, Mapping):
            below = into.get(key)
            into[key] = merge(below if isinstance(below, dict) else {}, value)
        else:
            into[key] = value
    return into


def reach(data: Any, path: keys.Parts) -> Any:
    """The value at a path, None where there is none. Items of a list go by their index."""
    for part in path:
        match data:
            case Mapping():
                data = data.get(part)
            case list() if part.isdecimal() and int(part) < len(data):
                data = data[int(part)]
            case _:
                return None
    return data


def from_files(home: Home, env: Environment, problems: list[Problem]) -> Iterator[Layer]:
    """The home's config.yaml and over it the profile's, as far as they exist.

    Raises:
        ConfigError: One cannot be read or is not YAML.
    """
    for layer in home.layers:
        text = text_of(layer.config)
        if not text:
            continue
        document = reading.document(text, layer.label("config.yaml"))
        place = placing(document)
        data: Any = document.data
        if "${" in text:
            data = _expanded(data, (), env, place, problems)
        problems += _remarks(document)
        yield Layer("profile" if layer.profile else "file", fit.normal(data), place)


def placing(document: "Document") -> Place:
    """Where the paths of a file stand; what is written under an old name is found there."""
    back: dict[keys.Parts, keys.Parts] = {new: old for old, new in keys.OLD.items()}

    def place(path: keys.Parts) -> tuple[str, int]:
        written = path
        if path not in document.entries:
            written = next((back[path[:end]] for end in range(len(path), 0, -1) if path[:end] in back), path)
        return document.name, document.line(written) or document.line(path)

    return place


def _remarks(document: "Document") -> Iterator[Problem]:
    for path, line in document.repeated:
        key = ".".join(path)
        yield Problem(
            document.name, line, key, f"{key} is given twice; the last one counts.", kind="repeated"
        )
    for old, new in keys.OLD.items():
        if old in document.entries:
            was, now = ".".join(old), ".".join(new)
            message = f"{was} is now called {now}; `hermes config migrate` renames it."
            yield Problem(document.name, document.line(old), was, message, kind="old")


def _expanded(value: Any, path: keys.Parts, env: Environment, place: Place, problems: list[Problem]) -> Any:
    match value:
        case dict():
            return {key: _expanded(item, (*path, key), env, place, problems) for key, item in value.items()}
        case list():
            return [_expanded(item, (*path, str(at)), env, place, problems) for at, item in enumerate(value)]
        case str() if "${" in value:
            problems += [_unset(name, path, place) for name in _REFERENCE.findall(value) if name not in env]
            return _REFERENCE.sub(lambda found: env.get(found[1], found[0]), value)
        case _:
            return value


def _unset(name: str, path: keys.Parts, place: Place) -> Problem:
    key = ".".join(path)
    message = f"{key} uses ${{{name}}}, which is not set; put it into .env: hermes config set {name} VALUE"
    return Problem(*place(path), key, message, kind="unset")


def from_environment(env: Environment, problems: list[Problem]) -> Iterator[Layer]:
    """The variables that are settings. An empty variable sets nothing."""
    named = [name for name in env if name.startswith(("HERMES_", "TERMINAL_")) and env[name]]
    if not named or named == ["HERMES_HOME"]:
        return
    known = keys.variables()
    data: dict[str, Any] = {}
    places: dict[keys.Parts, str] = {}
    # The generated name of a key wins over the other names people know it by, so it comes last.
    for name in sorted((name for name in named if name in known), key=lambda name: name in keys.generated()):
        path = known[name]
        lay(data, path, env[name])
        places[path] = env.where(name)
    problems += [problem for name in named if (problem := _strange(name, env))]
    if data:
        yield Layer("environment", data, _by(places))


def _strange(name: str, env: Environment) -> Problem | None:
    """What is to be said about a variable that looks like a setting and is none."""
    if name in keys.variables() or not name.startswith(keys.prefixes()):
        return None
    where = env.where(name).removeprefix(f"{name} in ")
    file, _, line = where.partition(":") if where != name else ("environment", "", "")
    if keys.later_variable(name):
        return Problem(file, int(line or 0), name, f"{name} is understood, but not used yet.", kind="later")
    return Problem(
        file, int(line or 0), name, f"{name} is not a setting; it has no effect.", keys.nearest_variable(name)
    )


def from_flags(flags: Mapping[str, object]) -> Iterator[Layer]:
    """What the command line sets, by dotted key; None counts as not given."""
    data: dict[str, Any] = {}
    for key, value in flags.items():
        if value is not None:
            lay(data, tuple(key.split(".")), list(value) if isinstance(value, tuple) else value)
    if data:
        yield Layer("flag", fit.normal(data), lambda _: ("command line", 0))


def lay(data: dict[str, Any], path: keys.Parts, value: Any) -> None:
    """Put a value at a path, making the mappings above it."""
    *above, last = path
    for part in above:
        inside = data.setdefault(part, {})
        data = inside if isinstance(inside, dict) else data
    data[last] = value


def _by(places: Mapping[keys.Parts, str]) -> Place:
    def place(path: keys.Parts) -> tuple[str, int]:
        around = next((where for key, where in places.items() if key[: len(path)] == path), "environment")
        return places.get(path, around), 0

    return place
