"""@tool: a function becomes a Tool; its schema and its validation come from the signature."""

import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, get_type_hints

import msgspec

from hermes.core.effects import Effects
from hermes.core.errors import BadArguments
from hermes.core.messages import JSON
from hermes.core.tools import Tool, ToolContext, ToolOutput, ToolSpec
from hermes.lib.schema import fault

Body = Callable[..., Awaitable[str | ToolOutput]]


def tool(
    *,
    effects: Effects,
    needs: tuple[type, ...] = (),
    limit: int = 50_000,
    poller: bool = False,
    volatile: tuple[str, ...] = (),
    toolset: str = "core",
    emoji: str = "",
    name: str = "",
) -> Callable[[Body], Tool]:
    """Make a Tool of an async function.

    The first parameter is the ToolContext; every other one is for the model to fill. Types become
    the JSON schema, `Annotated[str, msgspec.Meta(description=...)]` describes a parameter, and the
    docstring is what the model reads, its paragraphs unwrapped.
    """

    def build(function: Body) -> Tool:
        arguments = _arguments(function)
        spec = ToolSpec(name or function.__name__, _description(function), _schema(arguments))
        fields = arguments.__struct_fields__

        async def run(ctx: ToolContext, given: Mapping[str, JSON]) -> ToolOutput:
            checked = _checked(arguments, given, spec)
            out = await function(ctx, **{field: getattr(checked, field) for field in fields})
            return ToolOutput(out) if isinstance(out, str) else out

        return Tool(spec, run, effects, needs, limit, poller, volatile, toolset, emoji)

    return build


def _description(function: Body) -> str:
    paragraphs = (inspect.getdoc(function) or "").split("\n\n")
    return "\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


def _arguments(function: Body) -> type[msgspec.Struct]:
    hints = get_type_hints(function, include_extras=True)
    parameters = list(inspect.signature(function).parameters.values())[1:]
    fields: list[Any] = [
        (p.name, hints[p.name]) if p.default is p.empty else (p.name, hints[p.name], p.default)
        for p in parameters
    ]
    return msgspec.defstruct(function.__name__, fields, kw_only=True, forbid_unknown_fields=True)


def _schema(arguments: type[msgspec.Struct]) -> dict[str, JSON]:
    """The JSON schema, inlined and bare: every byte of it is sent with every request."""
    schema: dict[str, Any] = msgspec.json.schema(arguments)
    definitions: dict[str, Any] = schema.pop("$defs", {})
    root: dict[str, JSON] = _bare(definitions.get(arguments.__name__, schema), definitions)
    return root


def _bare(node: Any, definitions: Mapping[str, Any]) -> Any:
    """References put in place; titles, empty lists and defaults, and "or null" left out."""
    if not isinstance(node, Mapping):
        return node
    given: dict[str, Any] = dict(node)  # pyright: ignore[reportUnknownArgumentType]
    if reference := given.get("$ref"):
        return _bare(definitions[reference.rsplit("/", 1)[1]], definitions)
    given.pop("title", None)
    for key in ("default", "required"):
        if not given.get(key, True):
            del given[key]
    for key in ("items", "additionalProperties"):
        if key in given:
            given[key] = _bare(given[key], definitions)
    if "properties" in given:
        given["properties"] = {k: _bare(v, definitions) for k, v in given["properties"].items()}
    if "enum" in given:
        return _choices(given)
    if "anyOf" in given:
        options = [_bare(option, definitions) for option in given.pop("anyOf") if option != {"type": "null"}]
        given |= options[0] if len(options) == 1 else {"anyOf": options}
    return given


def _choices(given: dict[str, Any]) -> dict[str, Any]:
    given["enum"] = [choice for choice in given["enum"] if choice is not None]
    of_text = all(isinstance(choice, str) for choice in given["enum"])
    return {"type": "string", **given} if of_text else given


def _checked(arguments: type[msgspec.Struct], given: Mapping[str, JSON], spec: ToolSpec) -> msgspec.Struct:
    """The arguments as their types. "5" is taken for 5 and null for a parameter that was left out."""
    if None in given.values():
        given = {key: value for key, value in given.items() if value is not None}
    try:
        return msgspec.convert(given, arguments, strict=False)
    except msgspec.ValidationError as error:
        opened = _opened(given, spec.parameters)
        if opened != given:
            return _checked(arguments, opened, spec)
        said = fault(spec.parameters, given) or str(error)
        raise BadArguments(
            f"Wrong arguments for {spec.name}: {said}{'' if said.endswith('?') else '.'}"
        ) from error


def _opened(given: Mapping[str, JSON], schema: Mapping[str, Any]) -> dict[str, JSON]:
    """Lists and objects that came as JSON text are read: some models quote them."""
    opened = dict(given)
    for key, value in given.items():
        kind = schema["properties"].get(key, {}).get("type")
        if isinstance(value, str) and value[:1] == {"array": "[", "object": "{"}.get(kind):
            try:
                opened[key] = msgspec.json.decode(value)
            except msgspec.DecodeError:
                continue
    return opened
