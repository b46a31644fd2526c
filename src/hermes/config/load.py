"""load: the settings of one home, each value with its origin.

Precedence, lowest first: default, config.yaml, the profile's config.yaml, environment, flag.
The environment is .env of the home, over it .env of the profile, over it the process's own.
Nothing is kept between calls: two homes in one process never mix.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from hermes.config import fit, layers
from hermes.config.environment import Environment, variables
from hermes.config.home import Home, find
from hermes.config.later import LATER, TYPED_PATHS
from hermes.config.layers import Kind, Layer
from hermes.config.problems import Problem
from hermes.config.schema import Settings
from hermes.core.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a value comes from. `where` names the place: `config.yaml:12`, `HERMES_MODEL`."""

    kind: Kind
    where: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class Config:
    """The settings of one home.

    `settings` are typed and complete; `env` are the variables of the home and the process; `problems`
    is what is to be put right, in the order of the files; `layers` are the sources, the lowest first.
    """

    at: Home
    settings: Settings
    env: Environment
    layers: tuple[Layer, ...]
    problems: tuple[Problem, ...]

    @property
    def home(self) -> Path:
        """The folder everything of this home, or of its profile, is kept in. It may not exist yet."""
        return self.at.folder

    @property
    def profile(self) -> str:
        """The profile's name, empty without one."""
        return self.at.profile

    def origin(self, key: str) -> Origin:
        """Where a dotted key's value comes from; for a section, the highest source with a part of it."""
        return self.origins(key)[0][0]

    def origins(self, key: str) -> list[tuple[Origin, Any]]:
        """Every source that has a value for a dotted key, the one that counts first, the default last."""
        path = tuple(key.split("."))
        found = [(layer, layers.reach(layer.data, path)) for layer in reversed(self.layers)]
        given = [
            (Origin(layer.kind, layer.where(path)), value) for layer, value in found if value is not None
        ]
        return [*given, (Origin("default"), None)]

    def raw(self, key: str) -> Any:
        """What the sources say about a dotted key, whether or not the schema has it; None if nothing."""
        merged: dict[str, Any] = {}
        for layer in self.layers:
            layers.merge(merged, layer.data)
        return layers.reach(merged, tuple(key.split(".")))

    @property
    def notice(self) -> str:
        """One line to print at a start when something has no effect as written; empty when all is well."""
        bad = [str(problem) for problem in self.problems if problem.kind != "later"]
        more = f" ({len(bad) - 1} more: hermes config check)" if len(bad) > 1 else ""
        return f"{bad[0]}{more}" if bad else ""

    def __repr__(self) -> str:
        """The home and the profile; no values."""
        return f"Config(home={str(self.home)!r}, profile={self.profile!r})"


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
        ConfigError: A file is unreadable, not YAML, or holds a value of the wrong type; says file and
            line. There is no such profile.
    """
    at, process = find(home, profile, environ)
    config = gathered(at, process, flags or {})
    if wrong := [problem for problem in config.problems if problem.kind == "wrong"]:
        raise ConfigError("\n".join(str(problem) for problem in wrong))
    return config


def gathered(at: Home, process: Mapping[str, str], flags: Mapping[str, object]) -> Config:
    """As `load`, but values of the wrong type are left out and named in `problems`.

    Raises:
        ConfigError: A file is unreadable or not YAML; there is no such profile.
    """
    env, problems = variables(at, process)
    if at.profile and not at.folder.is_dir():
        raise ConfigError(_no_profile(at))
    sources = [
        *layers.from_files(at, env, problems),
        *layers.from_environment(env, problems),
        *layers.from_flags(flags),
    ]
    settings, found = _settled(sources)
    return Config(at, settings, env, tuple(sources), tuple(problems + found))


def _no_profile(at: Home) -> str:
    folder = at.folder.parent
    known = sorted(item.parent.name for item in folder.glob("*/config.yaml"))
    there = f"There are: {', '.join(known)}." if known else "There are none yet."
    return (
        f"There is no profile {at.profile!r} under {folder}. {there} "
        f"Giving it a setting makes it: hermes -p {at.profile} config set model.default NAME"
    )


def _settled(sources: list[Layer]) -> tuple[Settings, list[Problem]]:
    """Lay the sources over each other. The straight way is taken when everything fits as it is."""
    merged: dict[str, Any] = {}
    for layer in sources:
        layers.merge(merged, layer.data)
    plain = LATER.isdisjoint(merged) and all(layers.reach(merged, path) is None for path in TYPED_PATHS)
    if plain:
        try:
            return msgspec.convert(merged, Settings), []
        except msgspec.ValidationError:
            pass  # the slow way below says what does not fit, and where
    merged = {}
    problems: list[Problem] = []
    for layer in sources:
        data, found = fit.fitted(layer.data, layer.place)
        layers.merge(merged, data)
        problems += found
    return msgspec.convert(merged, Settings), problems
