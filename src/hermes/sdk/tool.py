"""@tool: a function becomes a Tool; its schema and its validation come from the signature."""

import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, get_type_hints

import msgspec

from hermes.core.effects import Effects
from hermes.core.errors import BadArguments
from hermes.core.messages import JSON
from hermes.core.tools import Tool, ToolContext, ToolOutput, ToolSpec

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
    docstring is what the model reads.
    """

    def build(function: Body) -> Tool:
        arguments = _arguments(function)
        spec = ToolSpec(name or function.__name__, _description(function), _schema(arguments))
        fields = arguments.__struct_fields__

        async def run(ctx: ToolContext, given: Mapping[str, JSON]) -> ToolOutput:
            checked = _checked(arguments, given, spec.name)
            out = await function(ctx, **{field: getattr(checked, field) for field in fields})
            return ToolOutput(out) if isinstance(out, str) else out

        return Tool(spec, run, effects, needs, limit, poller, volatile, toolset, emoji)

    return build


def _description(function: Body) -> str:
    """The docstring with its paragraphs unwrapped."""
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
    """The JSON schema, inlined and without titles: every byte of it is sent with every request."""
    schema = msgspec.json.schema(arguments)
    definitions = schema.pop("$defs", {})

    def plain(node: Any) -> Any:
        if isinstance(node, list):
            return [plain(item) for item in node]  # pyright: ignore[reportUnknownVariableType]
        if not isinstance(node, dict):
            return node
        if reference := node.get("$ref"):  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
            return plain(definitions[reference.rsplit("/", 1)[1]])  # pyright: ignore[reportUnknownMemberType]
        return {k: plain(v) for k, v in node.items() if not (k == "title" and isinstance(v, str))}  # pyright: ignore[reportUnknownVariableType]

    root: dict[str, JSON] = plain(definitions[arguments.__name__] if definitions else schema)
    return root


def _checked(arguments: type[msgspec.Struct], given: Mapping[str, JSON], name: str) -> msgspec.Struct:
    try:
        return msgspec.convert(given, arguments, strict=False)
    except msgspec.ValidationError as error:
        raise BadArguments(f"wrong arguments for {name}: {error}") from error
