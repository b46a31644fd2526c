"""The catalogue of vendors: one TOML file each, read one at a time.

A file in `catalog/` or in a home's `providers/` folder describes a vendor; the home's counts when both
have the name. Keys of a file:

    name         how settings call it; the file has the same name
    title        how people call it
    wire         the protocol: a module of this package ("openai_chat", "anthropic", "embedded")
    base_url     where it is reached, and base_env: variables that move it, base_path: what is added then
    key_env      variables that may hold the key, the first that is set counts
    base_key_env variables whose key belongs to the address in base_env: while that is set, it goes only there
    models_path  where the list of models is found: below base_url, or a whole address
    sign_up      where people get a key
    aliases      other names for it
    default      the model that answers when none is named
    local        true for a server on this machine, which needs no key
    detect       false when a key in the environment is no reason to use it (it serves other programs too)
    options      the vendor's accents, as its wire documents them
    headers      sent with every request
    models       what is known of its models: context, max_output, price, tools, vision, reasoning
"""

import re
import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, field

from hermes.core.errors import ConfigError
from hermes.core.models import ModelInfo, Price

CATALOG = Path(__file__).with_name("catalog")
_NAME = re.compile(r"[\w.-]+")
_UNKNOWN = re.compile(r"unknown field `(.+?)`(?: - at `\$(.*)`)?")
_MISSING = re.compile(r"missing required field `(.+?)`")
_WRONG = re.compile(r"(.*?)(?: - at `\$\.?(.*)`)?$", re.DOTALL)


class Prices(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """US dollars per million tokens; None means unknown."""

    input: float | None = None
    output: float | None = None
    cached: float | None = None
    written: float | None = None


class Facts(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is known of a model. Tokens are counts; 0 means unknown. `note` is for people."""

    context: int = 0
    max_output: int = 0
    price: Prices = Prices()
    tools: bool = True
    vision: bool = False
    reasoning: bool = False
    note: str = ""


class Vendor(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One vendor: see the top of the file."""

    name: str
    title: str
    wire: str
    base_url: str = ""
    base_env: tuple[str, ...] = ()
    base_path: str = ""
    key_env: tuple[str, ...] = ()
    base_key_env: tuple[str, ...] = ()
    models_path: str = "/models"
    sign_up: str = ""
    aliases: tuple[str, ...] = ()
    default: str = ""
    local: bool = False
    detect: bool = True
    options: dict[str, Any] = field(default_factory=dict[str, Any])
    headers: dict[str, str] = field(default_factory=dict[str, str])
    models: dict[str, Facts] = field(default_factory=dict[str, Facts])

    def info(self, model: str) -> ModelInfo:
        """What is known of a model; of one that is not listed, its name."""
        facts = self.models.get(model, Facts())
        price = facts.price
        return ModelInfo(
            model,
            self.name,
            facts.context,
            facts.max_output,
            Price(price.input, price.output, price.cached, price.written),
            facts.tools,
            facts.vision,
            facts.reasoning,
        )

    def moved(self, env: Mapping[str, str]) -> str:
        """The variable that says where the vendor is reached in these surroundings; empty when none does."""
        return next((name for name in self.base_env if env.get(name, "").strip().rstrip("/")), "")

    def address(self, env: Mapping[str, str]) -> str:
        """Where the vendor is reached in these surroundings; empty when that has to be told."""
        if not (name := self.moved(env)):
            return self.base_url
        given = env[name].strip().rstrip("/")
        whole = given if "://" in given else f"http://{given}"
        return whole if whole.endswith(self.base_path) else whole + self.base_path

    def key(self, env: Mapping[str, str], url: str = "") -> tuple[str, str]:
        """The key in these surroundings for an address, and the name of its variable.

        The variable is named when it is not set, too; it is empty when there is none.

        Args:
            env: The surroundings.
            url: Where the key would be sent; empty means the vendor's own address.
        """
        names = self.key_env
        if self.moved(env):
            there = url.rstrip("/") in ("", self.address(env).rstrip("/"))
            others = tuple(name for name in names if name not in self.base_key_env)
            names = (*self.base_key_env, *others) if there else others
        for name in names:
            if value := env.get(name, "").strip():
                return value, name
        return "", names[0] if names else ""


def names(home: Path | None = None) -> list[str]:
    """Every vendor there is a file for, sorted."""
    return sorted({path.stem for folder in _folders(home) for path in folder.glob("*.toml")})


def load(name: str, home: Path | None = None) -> Vendor:
    """The vendor of this name, and no other file is parsed.

    Raises:
        ConfigError: There is no such vendor (says the nearest), or its file is wrong (says file and key).
    """
    for folder in _folders(home):
        if _NAME.fullmatch(name) and (path := folder / f"{name}.toml").is_file():
            return read(path)
    near = get_close_matches(name, [*names(home), *_aliases(home)], n=1)
    meant = f" Did you mean {near[0]!r}?" if near else ""
    raise ConfigError(f"There is no provider {name!r}.{meant} `hermes model list` shows them all.")


def find(name: str, home: Path | None = None) -> Vendor:
    """The vendor of this name or alias, letter case ignored.

    Raises:
        ConfigError: As for `load`.
    """
    return load(meant(name, home) or name.strip().lower(), home)


def meant(name: str, home: Path | None = None) -> str:
    """The own name of the vendor that a name or an alias means, letter case ignored; empty for none."""
    wanted = name.strip().lower()
    if not _NAME.fullmatch(wanted):
        return ""
    if any((folder / f"{wanted}.toml").is_file() for folder in _folders(home)):
        return wanted
    quoted = (path for quote in "\"'" for path in _holding(f"{quote}{wanted}{quote}", home))
    return next((path.stem for path in quoted if wanted in read(path).aliases), "")


def serving(model: str, home: Path | None = None) -> list[Vendor]:
    """The vendors whose list has a model of exactly this name."""
    return [vendor for path in _holding(model, home) if model in (vendor := read(path)).models]


def read(path: Path) -> Vendor:
    """A vendor from its file.

    Raises:
        ConfigError: It cannot be read, is not TOML, has a key nobody knows or a value of the wrong type.
    """
    try:
        data: dict[str, Any] = tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path} is not TOML: {error}") from None
    try:
        vendor = msgspec.convert(data, Vendor)
    except msgspec.ValidationError as error:
        raise ConfigError(f"{path}: {_said(str(error))}") from None
    if vendor.name != path.stem:
        raise ConfigError(f"{path}: name is {vendor.name!r}, but a vendor's file is called NAME.toml.")
    return vendor


def _said(error: str) -> str:
    """A validation error in words, with the nearest key that exists."""
    if found := _UNKNOWN.search(error):
        key, inside = found[1], (found[2] or "").lstrip(".")
        kind = Prices if inside.endswith("price") else Facts if inside else Vendor
        fields = kind.__struct_fields__
        near = get_close_matches(key, fields, n=1)
        meant = f" Did you mean {near[0]!r}?" if near else f" There are: {', '.join(fields)}."
        return f"nobody knows the key {key!r}{f' in {inside}' if inside else ''}.{meant}"
    if found := _MISSING.search(error):
        return f"the key {found[1]!r} is missing."
    found = _WRONG.match(error)
    what, where = (found[1], found[2]) if found else (error, "")
    return f"{where or 'a value'} has the wrong type: {what[:1].lower()}{what[1:]}."


def _folders(home: Path | None) -> list[Path]:
    return [home / "providers", CATALOG] if home else [CATALOG]


def _holding(text: str, home: Path | None) -> list[Path]:
    """The files in which this text stands: reading is quick, parsing is not."""
    return [path for path in _paths(home) if text in path.read_text("utf-8", "replace")]


def _aliases(home: Path | None) -> list[str]:
    return [alias for path in _paths(home) for alias in read(path).aliases]


def _paths(home: Path | None) -> list[Path]:
    """One file for each vendor, sorted by name."""
    paths = {path.stem: path for folder in reversed(_folders(home)) for path in folder.glob("*.toml")}
    return [path for _, path in sorted(paths.items())]
