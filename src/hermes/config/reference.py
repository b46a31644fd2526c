"""The reference page of all settings, and what one key means, made from the schema."""

from collections.abc import Iterator
from typing import Any

import msgspec

from hermes.config import keys
from hermes.config.later import LATER
from hermes.config.load import Config
from hermes.config.patch import inline
from hermes.config.schema import Settings
from hermes.config.secrets import shown


def markdown() -> str:
    """The whole page, in Markdown."""
    return "\n".join(_page()) + "\n"


def _page() -> Iterator[str]:
    yield "# Settings"
    yield ""
    yield "Every key of `config.yaml`, made from the schema. `*` stands for a name of your own or an index."
    yield "How files, environment and flags work together: [Configuration](../guide/configuration.md)."
    for name, section in keys.fields(Settings).items():
        kind, doc = keys.bare(section.type)
        yield from ("", f"## {name}", "", doc, "")
        yield "| key | value | default | environment | meaning |"
        yield "|---|---|---|---|---|"
        rows = [key for key in keys.walk() if key.path[0] == name and not key.section]
        yield from map(_row, rows)
        if name in LATER:
            yield from ("", "This section is understood and kept; this version does not use it yet.")
        if keys.members(kind) is None and not rows:
            yield ""
    yield from ("", "## Understood, not used yet", "")
    yield "These keys are kept as they are. The features they belong to are not part of this version."
    yield ""
    yield ", ".join(f"`{name}`" for name in sorted(LATER))


def _row(key: keys.Key) -> str:
    variables = ", ".join(f"`{name}`" for name in key.variables) if "*" not in key.path else ""
    cells = (f"`{key.name}`", key.expected, f"`{inline(_plain(key.default))}`", variables, key.doc)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _plain(value: Any) -> Any:
    return msgspec.to_builtins(value)


def explained(config: Config, key: keys.Key, value: Any) -> str:
    """What a key does, what it may be, what it is now, and where that comes from.

    Args:
        config: The settings of the home.
        key: The key.
        value: Its present value.
    """
    return "\n".join(_explained(config, key, value))


def _explained(config: Config, key: keys.Key, value: Any) -> Iterator[str]:
    yield f"{key.name}: {key.doc}"
    if keys.unused(key.path):
        yield "  This version understands and keeps it, but does not use it yet."
    yield f"  takes      {key.expected}"
    if not key.section:
        yield f"  default    {_shown(key, _plain(key.default))}"
    if key.variables and "*" not in key.path:
        yield f"  variables  {', '.join(key.variables)}"
    yield f"  now        {_shown(key, _plain(value))}"
    first, *below = config.origins(key.name)
    yield f"  from       {_place(first[0].kind, first[0].where)}"
    for origin, other in below[:-1]:
        yield f"  overrides  {_shown(key, other)} from {_place(origin.kind, origin.where)}"


def _shown(key: keys.Key, value: Any) -> str:
    return inline(shown(key.name, value))


def _place(kind: str, where: str) -> str:
    match kind:
        case "default":
            return "the default"
        case "environment":
            return f"the environment: {where}"
        case _:
            return where
