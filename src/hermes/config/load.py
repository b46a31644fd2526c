"""load: settings and environment of one home, each value with its origin.

Precedence, lowest first: default, config.yaml, the profile's config.yaml, environment, flag.
The environment is .env of the home, over it .env of the profile, over it the process's own.
Nothing is kept between calls: two homes in one process never mix.
"""

import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import msgspec

from hermes.config import dotenv, fit, keys
from hermes.config.document import Document, read
from hermes.config.problems import Problem
from hermes.config.later import LATER
from hermes.config.schema import Settings
from hermes.core.errors import ConfigError

Kind = Literal["default", "file", "profile", "environment", "flag"]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_REFERENCE = re.compile(r"\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)\}")
_SETTING = re.compile(r"(?:HERMES|TERMINAL)_")


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a value comes from. `where` names the place: `config.yaml:12`, `HERMES_MODEL`, `--model`."""

    kind: Kind
    where: str = ""


class Environment(Mapping[str, str]):
    """The variables of one home: the process's own over those of .env. Its repr shows no value."""

    __slots__ = ("_own", "_process")

    def __init__(self, process: Mapping[str, str], own: Mapping[str, tuple[str, str]]) -> None:
        """Take the process's variables, and those of .env with their places."""
        self._process = process
        self._own = own

    def __getitem__(self, name: str) -> str:
        """The value of a variable."""
        if name in self._process:
            return self._process[name]
        return self._own[name][0]

    def __iter__(self) -> Iterator[str]:
        """The names, each once."""
        yield from self._process
        yield from (name for name in self._own if name not in self._process)

    def __len__(self) -> int:
        """How many there are."""
        return sum(1 for _ in self)

    def where(self, name: str) -> str:
        """`NAME` if the process has it, `NAME in .env:3` if the file has it."""
        return name if name in self._process else f"{name} in {self._own[name][1]}"

    @property
    def stored(self) -> Mapping[str, str]:
        """What the .env files hold, whether or not the process overrides it."""
        return {name: value for name, (value, _) in self._own.items()}

    def __repr__(self) -> str:
        """How many variables; never a value."""
        return f"Environment({len(self)} variables)"


@dataclass(frozen=True, slots=True)
class Layer:
    """One source of settings: its data in the schema's form, and where each path of it stands."""

    kind: Kind
    data: Mapping[str, Any]
    place: Callable[[keys.Parts], tuple[str, int]]
    document: Document | None = None

    def where(self, path: keys.Parts) -> str:
        """The place of a path, for a person."""
        file, line = self.place(path)
        return f"{file}:{line}" if line else file


class Config:
    """The settings of one home. `home` is the profile's own folder when there is a profile.

    `settings` are typed and complete; `env` are the variables of the home and the process;
    `origin` says where a value comes from, `problems` what is to be put right.
    """

    __slots__ = ("_problems", "base", "env", "home", "layers", "profile", "settings")

    def __init__(
        self,
        base: Path,
        profile: str,
        settings: Settings,
        env: Environment,
        layers: tuple[Layer, ...],
        problems: tuple[Problem, ...],
    ) -> None:
        """Made by `load`."""
        self.base = base
        self.profile = profile
        self.home = place_of(base, profile)
        self.settings = settings
        self.env = env
        self.layers = layers
        self._problems = problems

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What is to be put right, in the order of the files."""
        return self._problems

    def origin(self, key: str) -> Origin:
        """Where a dotted key's value comes from; for a section, the highest source with a part of it."""
        path = tuple(key.split("."))
        for layer in reversed(self.layers):
            if reach(layer.data, path) is not None:
                return Origin(layer.kind, layer.where(path))
        return Origin("default")

    def origins(self, key: str) -> list[tuple[Origin, Any]]:
        """Every source that gives a value to a dotted key, the one that counts first."""
        path = tuple(key.split("."))
        found = [(layer, reach(layer.data, path)) for layer in reversed(self.layers)]
        return [(Origin(layer.kind, layer.where(path)), value) for layer, value in found if value is not None]

    def section(self, name: str) -> Any:
        """A section this version has no schema for, as the files give it; None when they do not."""
        merged: dict[str, Any] = {}
        for layer in self.layers:
            merge(merged, layer.data)
        return merged.get(name)

    def __repr__(self) -> str:
        """The home and the profile; no values."""
        return f"Config(home={str(self.home)!r}, profile={self.profile!r})"


def home_of(environ: Mapping[str, str]) -> Path:
    """The home a process of this environment uses: HERMES_HOME, else ~/.hermes."""
    user = environ.get("HOME") or os.path.expanduser("~")
    given = environ.get("HERMES_HOME", "")
    if not given:
        return Path(user, ".hermes")
    if given == "~" or given.startswith("~/"):
        given = user + given[1:]
    return Path(os.path.abspath(given))


def place_of(home: Path, profile: str) -> Path:
    """The folder of a profile, the home itself when there is none.

    Raises:
        ConfigError: The name could not be a folder's name.
    """
    if not profile:
        return home
    if not _NAME.fullmatch(profile):
        raise ConfigError(
            f"{profile!r} cannot be a profile's name: up to 64 letters, digits, - and _, "
            "the first a letter or digit."
        )
    return home / "profiles" / profile


def load(
    home: Path | None = None,
    profile: str = "",
    environ: Mapping[str, str] | None = None,
    flags: Mapping[str, object] | None = None,
) -> Config:
    """Read the settings of a home. Writes nothing, creates nothing.

    Args:
        home: The home; None takes HERMES_HOME or ~/.hermes.
        profile: The profile's name; empty for none.
        environ: The process's variables; None takes the real ones.
        flags: Settings given on the command line, by dotted key; a value of None counts as not given.

    Raises:
        ConfigError: A file is unreadable, not YAML, or holds a value of the wrong type; says file and line.
    """
    process = dict(os.environ) if environ is None else dict(environ)
    base = home_of(process) if home is None else Path(home)
    folder = place_of(base, profile)
    if profile and not folder.is_dir():
        raise ConfigError(_no_profile(base, profile))
    homes = [base] if folder == base else [base, folder]
    problems: list[Problem] = []
    env = Environment(process, _variables(homes, base, problems))
    layers = [
        *_files(homes, base, env, problems),
        *_from_environment(env),
        *_from_flags(flags or {}),
    ]
    settings, found = _settled(layers)
    problems += found
    if wrong := [problem for problem in problems if problem.kind == "wrong"]:
        raise ConfigError("\n".join(str(problem) for problem in wrong))
    return Config(base, profile, settings, env, tuple(layers), tuple(problems))


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


def text_of(path: Path) -> str | None:
    """The text of a file without its byte order mark, None when there is no such file.

    Raises:
        ConfigError: It is there and cannot be read, or is not UTF-8.
    """
    try:
        content = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be read: {error.strerror}. Check its owner and its rights."
        ) from None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{path}:{line}: not UTF-8 text. Save the file as UTF-8.") from None


def label(home: Path, base: Path, name: str) -> str:
    """What a file of the home is called in messages."""
    return name if home == base else f"profiles/{home.name}/{name}"


def _no_profile(base: Path, profile: str) -> str:
    try:
        known = sorted(item.name for item in (base / "profiles").iterdir() if item.is_dir())
    except OSError:
        known = []
    there = f"There are: {', '.join(known)}." if known else "There are none yet."
    return (
        f"There is no profile {profile!r} under {base / 'profiles'}. {there} "
        f"Make it by giving it a setting: hermes -p {profile} config set model.default NAME"
    )


def _variables(homes: list[Path], base: Path, problems: list[Problem]) -> dict[str, tuple[str, str]]:
    own: dict[str, tuple[str, str]] = {}
    for home in homes:
        text = text_of(home / ".env")
        if not text:
            continue
        name = label(home, base, ".env")
        assignments, strange = dotenv.parse(text)
        for one in assignments:
            own[one.name] = (one.value, f"{name}:{one.line}")
        problems += [
            Problem(
                name, line, "", "this line is not NAME=value; it may not mean what it says.", kind="strange"
            )
            for line in strange
        ]
    return own


def _files(homes: list[Path], base: Path, env: Environment, problems: list[Problem]) -> Iterator[Layer]:
    for home in homes:
        text = text_of(home / "config.yaml")
        if not text:
            continue
        document = read(text, label(home, base, "config.yaml"))
        place = _place(document)
        data = document.data
        if "${" in text:
            data = _expanded(data, (), env, place, problems)
        problems += [
            Problem(
                document.name,
                line,
                ".".join(path),
                f"{'.'.join(path)} is given twice; the last one counts.",
                kind="repeated",
            )
            for path, line in document.repeated
        ]
        problems += _old(document)
        yield Layer("file" if home == base else "profile", fit.normal(data), place, document)


def _place(document: Document) -> Callable[[keys.Parts], tuple[str, int]]:
    back: dict[keys.Parts, keys.Parts] = {new: old for old, new in keys.OLD.items()}

    def place(path: keys.Parts) -> tuple[str, int]:
        old = back.get(path)
        written = old if old in document.entries and path not in document.entries else path
        return document.name, document.line(written or path)

    return place


def _old(document: Document) -> Iterator[Problem]:
    for old, new in keys.OLD.items():
        if old in document.entries:
            was, now = ".".join(old), ".".join(new)
            message = f"{was} is now called {now}; `hermes config migrate` renames it."
            yield Problem(document.name, document.line(old), was, message, kind="old")


def _expanded(value: Any, path: keys.Parts, env: Environment, place: Any, problems: list[Problem]) -> Any:
    match value:
        case dict():
            return {key: _expanded(item, (*path, key), env, place, problems) for key, item in value.items()}
        case list():
            return [_expanded(item, (*path, str(at)), env, place, problems) for at, item in enumerate(value)]
        case str() if "${" in value:
            missing = [name for name in _REFERENCE.findall(value) if name not in env]
            for name in missing:
                file, line = place(path)
                key = ".".join(path)
                message = (
                    f"{key} uses ${{{name}}}, which is not set; put it into .env: hermes config set {name}"
                )
                problems.append(Problem(file, line, key, message, kind="unset"))
            return _REFERENCE.sub(lambda found: env.get(found[1], found[0]), value)
        case _:
            return value


def _from_environment(env: Environment) -> Iterator[Layer]:
    named = [name for name in env if _SETTING.match(name) and env[name] and name != "HERMES_HOME"]
    if not named:
        return
    known = keys.variables()
    data: dict[str, Any] = {}
    places: dict[keys.Parts, str] = {}
    # The generated name is the first of a key's names: sorted last here, it wins over the others.
    order = sorted(
        (name for name in named if name in known), key=lambda name: name == keys.variable(known[name])
    )
    for name in order:
        path = known[name]
        inside = data
        for part in path[:-1]:
            inside = inside.setdefault(part, {})
        inside[path[-1]] = env[name]
        places[path] = env.where(name)
    if data:
        yield Layer("environment", data, _by(places, "environment"))


def _from_flags(flags: Mapping[str, object]) -> Iterator[Layer]:
    data: dict[str, Any] = {}
    for key, value in flags.items():
        if value is None:
            continue
        *above, last = key.split(".")
        inside = data
        for part in above:
            inside = inside.setdefault(part, {})
        inside[last] = list(value) if isinstance(value, tuple) else value
    if data:
        yield Layer("flag", fit.normal(data), lambda _: ("command line", 0))


def _by(places: Mapping[keys.Parts, str], otherwise: str) -> Callable[[keys.Parts], tuple[str, int]]:
    def place(path: keys.Parts) -> tuple[str, int]:
        inside = next((where for key, where in places.items() if key[: len(path)] == path), otherwise)
        return places.get(path, inside), 0

    return place


def _settled(layers: list[Layer]) -> tuple[Settings, list[Problem]]:
    """Lay the layers over each other. The straight way is taken when everything fits as it is."""
    merged: dict[str, Any] = {}
    for layer in layers:
        merge(merged, layer.data)
    if LATER.isdisjoint(merged):
        try:
            return msgspec.convert(merged, Settings), []
        except msgspec.ValidationError:
            pass  # the slow way below says what does not fit, and where
    merged = {}
    problems: list[Problem] = []
    for layer in layers:
        data, found = fit.fitted(layer.data, layer.place)
        merge(merged, data)
        problems += found
    return msgspec.convert(merged, Settings), problems
