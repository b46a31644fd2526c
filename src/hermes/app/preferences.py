"""The settings for reading, as `/config` shows them: each with where it comes from, secrets masked."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from hermes.config import keys
from hermes.config.load import Config
from hermes.config.secrets import shown
from hermes.core.errors import ConfigError


@dataclass(frozen=True, slots=True)
class ReadableSettings:
    """`Preferences` over one home's settings."""

    config: Config

    def show(self, key: str) -> str:
        """One line per value: those under `key`, or with "" all that are not the default."""
        leaves = dict(_leaves(msgspec.to_builtins(self.config.settings), ()))
        if key:
            fitting = [name for name in leaves if name == key or name.startswith(f"{key}.")]
        else:
            fitting = [name for name in leaves if self.config.origin(name).kind != "default"]
        if key and not fitting:
            near = keys.nearest(tuple(key.split(".")))
            raise ConfigError(f"{key} is not a setting.{f' Did you mean {near}?' if near else ''}")
        return "\n".join(self._line(name, leaves[name]) for name in fitting) or "Everything is the default."

    def _line(self, name: str, value: Any) -> str:
        origin = self.config.origin(name)
        return f"{name}: {json.dumps(shown(name, value), ensure_ascii=False)}  ({origin.where or 'default'})"


def _leaves(section: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    for name, value in section.items():
        if isinstance(value, dict) and value:
            yield from _leaves(value, (*path, name))
        else:
            yield ".".join((*path, name)), value
