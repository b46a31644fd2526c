"""What is wrong with a value, in one sentence, by a JSON schema of the plain kind tools have."""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, TypeGuard

_KINDS: dict[str, tuple[str, tuple[type, ...]]] = {
    "string": ("text", (str,)),
    "integer": ("a whole number", (int,)),
    "number": ("a number", (int, float)),
    "boolean": ("true or false", (bool,)),
    "array": ("a list", (list,)),
    "object": ("an object", (dict,)),
    "null": ("null", (type(None),)),
}


def fault(schema: Mapping[str, Any], value: Any, name: str = "") -> str:
    """The first thing that is wrong with `value`, "" when nothing is found.

    `name` is what the value is called; members are named below it: `todos[2].status`.
    """
    if options := schema.get("anyOf"):
        faults = [fault(option, value, name) for option in options]
        return "" if "" in faults else f"{name} should be {expected(schema)}, but {given(value)}"
    if not _fits(schema, value):
        return f"{name} should be {expected(schema)}, but {given(value)}"
    if _is_object(value):
        return _members(schema, value, name)
    if _is_list(value):
        found = (fault(schema.get("items", {}), item, f"{name}[{place}]") for place, item in enumerate(value))
        return next((said for said in found if said), "")
    return ""


def expected(schema: Mapping[str, Any]) -> str:
    """What the schema asks for, in words: "a whole number from 1 to 2000"."""
    if "enum" in schema:
        return "one of " + ", ".join(map(str, schema["enum"]))
    if options := schema.get("anyOf"):
        return " or ".join(expected(option) for option in options)
    words = _KINDS.get(str(schema.get("type")), ("another value",))[0]
    if schema.get("minLength"):
        return f"{words} that is not empty"
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and high is not None:
        return f"{words} from {low} to {high}"
    if low is not None:
        return f"{words} of at least {low}"
    if high is not None:
        return f"{words} of at most {high}"
    if "maxItems" in schema:
        return f"{words} of at most {schema['maxItems']}"
    return words


def given(value: Any, limit: int = 60) -> str:
    """What came instead, short enough for a sentence."""
    if _is_list(value):
        return f"a list of {len(value)} was given"
    if _is_object(value):
        return "an object was given"
    shown = {None: "null", True: "true", False: "false"}.get(value) if _singular(value) else None
    shown = shown or repr(value)
    return f"{shown if len(shown) <= limit else shown[:limit] + '…'} was given"


def nearest(name: str, known: list[str]) -> str:
    """A hint at what was meant."""
    near = get_close_matches(name, known, n=1, cutoff=0.5)
    takes = f"it takes {', '.join(known)}" if known else "it takes none"
    return f"did you mean {near[0]}?" if near else takes


def _members(schema: Mapping[str, Any], value: Mapping[str, Any], name: str) -> str:
    properties: Mapping[str, Any] = schema.get("properties", {})
    below = f"{name}." if name else ""
    if schema.get("additionalProperties") is False:
        for key in value:
            if key not in properties:
                return f"there is no parameter {below}{key}; {nearest(key, list(properties))}"
    missing = [below + key for key in schema.get("required", ()) if key not in value]
    if missing:
        return f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing"
    faults = (fault(properties[k], v, below + k) for k, v in value.items() if k in properties)
    return next((found for found in faults if found), "")


def _fits(schema: Mapping[str, Any], value: Any) -> bool:
    if "enum" in schema:
        return value in schema["enum"]
    kind = schema.get("type")
    if kind not in _KINDS:
        return True
    if not isinstance(value, _KINDS[kind][1]) or (isinstance(value, bool) and kind in {"integer", "number"}):
        return isinstance(value, str) and _reads_as(kind, value) and _in_range(schema, _number(value))
    if isinstance(value, str):
        return len(value) >= int(schema.get("minLength", 0))
    if _is_list(value):
        return "maxItems" not in schema or len(value) <= int(schema["maxItems"])
    return _in_range(schema, value)


def _reads_as(kind: str, text: str) -> bool:
    if kind == "boolean":
        return text.lower() in {"true", "false", "0", "1"}
    return kind in {"integer", "number"} and isinstance(
        _number(text), int if kind == "integer" else (int, float)
    )


def _number(text: str) -> int | float | None:
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return None


def _in_range(schema: Mapping[str, Any], value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return True
    return bool(schema.get("minimum", value) <= value <= schema.get("maximum", value))


def _singular(value: Any) -> bool:
    return value is None or isinstance(value, bool)


def _is_list(value: Any) -> TypeGuard[list[Any]]:
    return isinstance(value, list)


def _is_object(value: Any) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)
