"""A function becomes a tool: its schema is bare, its arguments are checked, faults are one sentence."""

import json
from typing import Annotated, Literal

import pytest
from msgspec import Meta, Struct

from hermes.core.effects import Effects
from hermes.core.errors import BadArguments
from hermes.core.ids import CallId, SessionId
from hermes.core.services import Services
from hermes.core.tools import ToolContext
from hermes.sdk import tool

pytestmark = pytest.mark.anyio

CTX = ToolContext(CallId("c"), SessionId("s"), "/", Services())


class Point(Struct):
    x: int
    label: str = ""


@tool(effects=Effects())
async def draw(
    ctx: ToolContext,
    name: Annotated[str, Meta(min_length=1)],
    size: Annotated[int, Meta(ge=1, le=9, description="In metres")] = 3,
    filled: bool = False,
    colour: Literal["red", "blue"] = "red",
    points: list[Point] = [],  # noqa: B006 - copied for each call
    near: Point | None = None,
) -> str:
    """Draw a thing
    on the wall.

    Twice if need be.
    """
    return repr((name, size, filled, colour, points, near))


def test_the_schema_says_what_is_needed_and_nothing_else():
    point = {
        "type": "object",
        "properties": {"x": {"type": "integer"}, "label": {"type": "string"}},
        "required": ["x"],
    }
    assert draw.spec.parameters == {
        "type": "object",
        "properties": {
            "name": {"type": "string", "minLength": 1},
            "size": {"type": "integer", "minimum": 1, "maximum": 9, "default": 3, "description": "In metres"},
            "filled": {"type": "boolean"},
            "colour": {"type": "string", "enum": ["blue", "red"], "default": "red"},
            "points": {"type": "array", "items": point},
            "near": point,
        },
        "required": ["name"],
        "additionalProperties": False,
    }
    assert draw.spec.description == "Draw a thing on the wall.\nTwice if need be."


@pytest.mark.parametrize(
    ("given", "taken"),
    [
        ({"name": "a"}, "('a', 3, False, 'red', [], None)"),
        ({"name": "a", "size": "5"}, "('a', 5, False, 'red', [], None)"),
        ({"name": "a", "filled": "true"}, "('a', 3, True, 'red', [], None)"),
        ({"name": "a", "size": None, "colour": None}, "('a', 3, False, 'red', [], None)"),
        ({"name": "a", "points": '[{"x": 1}]'}, "('a', 3, False, 'red', [Point(x=1, label='')], None)"),
        ({"name": "a", "near": {"x": "7"}}, "('a', 3, False, 'red', [], Point(x=7, label=''))"),
    ],
)
async def test_what_can_only_mean_one_thing_is_taken(given, taken):
    assert (await draw.run(CTX, given)).text == taken


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "name is missing."),
        ({"nam": "a"}, "there is no parameter nam; did you mean name?"),
        (
            {"name": "a", "weight": 3},
            "there is no parameter weight; it takes name, size, filled, colour, points, near.",
        ),
        ({"name": ""}, "name should be text that is not empty, but '' was given."),
        ({"name": 7}, "name should be text that is not empty, but 7 was given."),
        ({"name": "a", "size": "many"}, "size should be a whole number from 1 to 9, but 'many' was given."),
        ({"name": "a", "size": 10}, "size should be a whole number from 1 to 9, but 10 was given."),
        ({"name": "a", "size": "10"}, "size should be a whole number from 1 to 9, but '10' was given."),
        ({"name": "a", "size": 1.5}, "size should be a whole number from 1 to 9, but 1.5 was given."),
        ({"name": "a", "size": True}, "size should be a whole number from 1 to 9, but true was given."),
        ({"name": "a", "filled": "perhaps"}, "filled should be true or false, but 'perhaps' was given."),
        ({"name": "a", "colour": "green"}, "colour should be one of blue, red, but 'green' was given."),
        ({"name": "a", "points": {"x": 1}}, "points should be a list, but an object was given."),
        ({"name": "a", "points": "[1, 2"}, "points should be a list, but '[1, 2' was given."),
        (
            {"name": "a", "points": [{"x": 1}, {"x": "?"}]},
            "points[1].x should be a whole number, but '?' was given.",
        ),
        ({"name": "a", "points": [{"label": "b"}]}, "points[0].x is missing."),
    ],
)
async def test_what_is_wrong_is_said_in_one_sentence(given, said):
    with pytest.raises(BadArguments) as caught:
        await draw.run(CTX, given)
    assert str(caught.value) == f"Wrong arguments for draw: {said}"


@pytest.mark.parametrize(
    "name", ["read_file", "write_file", "patch", "search_files", "todo", "clarify", "session_search"]
)
def test_every_byte_of_a_tool_is_sent_with_every_request_so_there_are_few(name):
    module = __import__(f"hermes.tools.{name}", fromlist=[name])
    spec = getattr(module, name).spec
    told = {"name": spec.name, "description": spec.description, "parameters": spec.parameters}
    assert len(json.dumps(told, ensure_ascii=False, separators=(",", ":"))) <= 900
    assert "title" not in json.dumps(spec.parameters)
    assert "$ref" not in json.dumps(spec.parameters)
