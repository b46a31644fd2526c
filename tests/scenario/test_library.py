"""The library, as its users call it, against a real endpoint."""

import asyncio
import threading
from pathlib import Path
from typing import Annotated, Any

import msgspec
import pytest

from hermes import Agent, AIAgent, tool
from hermes.core.errors import UsageError
from hermes.core.events import Event, TextDelta, TurnEnded
from hermes.core.questions import Question
from hermes.sdk import Effects, ToolContext
from hermes.testing.endpoint import Fails, ModelServer, Says

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def agent(server: ModelServer, home: Path, **more: Any) -> Agent:
    return Agent("m", base_url=f"{server.url}/v1", api_key="sk-test", home=home, cwd=home, **more)


async def run(who: Agent, text: str, **more: Any) -> dict[str, Any]:
    return await asyncio.to_thread(who.run_conversation, text, **more)


async def test_a_question_is_answered_with_a_tool(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("the word is marzipan\n")
    script = [Says("", (("read_file", {"path": "a.txt"}),)), Says("The word is marzipan.")]
    async with ModelServer(script) as server:
        result = await run(agent(server, tmp_path), "What is the word?")
        assert "marzipan" in server.asked[1].json["messages"][-1]["content"]
    assert result["final_response"] == "The word is marzipan."
    assert [m["role"] for m in result["messages"]] == ["user", "assistant", "tool", "assistant"]
    assert (result["completed"], result["failed"], result["api_calls"]) == (True, False, 2)
    assert (result["model"], result["provider"]) == ("m", "custom")
    assert (result["input_tokens"], result["output_tokens"], result["total_tokens"]) == (20, 10, 30)
    assert result["error"] is None


async def test_the_conversation_goes_on_with_the_next_call(tmp_path: Path) -> None:
    async with ModelServer([Says("Hello Ada."), Says("You are Ada.")]) as server:
        who = agent(server, tmp_path)
        await run(who, "I am Ada.")
        first = who.session_id
        await run(who, "Who am I?")
        assert who.session_id == first
        said = [m["content"] for m in server.asked[1].json["messages"] if m["role"] == "assistant"]
        assert said == ["Hello Ada."]


async def test_a_history_of_dictionaries_stands_in_for_the_stored_one(tmp_path: Path) -> None:
    history = [{"role": "user", "content": "I am Bo."}, {"role": "assistant", "content": "Hello Bo."}]
    async with ModelServer([Says("You are Bo.")]) as server:
        result = await run(agent(server, tmp_path), "Who am I?", conversation_history=history)
        assert "I am Bo." in server.asked[0].json["messages"][1]["content"]
    assert [m["content"] for m in result["messages"]][:2] == ["I am Bo.", "Hello Bo."]


async def test_a_system_message_is_added_to_the_prompt(tmp_path: Path) -> None:
    async with ModelServer([Says("Arr.")]) as server:
        await run(
            agent(server, tmp_path, system_message="Talk like a pirate."), "hi", system_message="Be brief."
        )
        system = server.asked[0].json["messages"][0]
    assert system["role"] == "system"
    assert "Talk like a pirate.\n\nBe brief." in system["content"]


async def test_a_failure_is_in_the_result_and_the_next_message_works(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("agent:\n  api_max_retries: 0\n")
    async with ModelServer([Says("Better.")]) as server:
        who = agent(server, tmp_path)
        broken = Agent("m", base_url="http://127.0.0.1:9/v1", api_key="k", home=tmp_path)
        result = await run(broken, "hi")
        assert (result["failed"], result["completed"]) == (True, False)
        assert "127.0.0.1:9" in result["error"]
        assert result["final_response"] == result["error"]
        who.session_id = broken.session_id
        assert (await run(who, "and now?"))["final_response"] == "Better."


async def test_tools_of_ones_own_are_validated_and_run(tmp_path: Path) -> None:
    @tool(effects=Effects(idempotent=True))
    async def tides(ctx: ToolContext, harbour: Annotated[str, msgspec.Meta(description="Name")]) -> str:
        """Say when it is high water."""
        return f"14:05 in {harbour}"

    script = [
        Says("", (("tides", {"port": "Cuxhaven"}),)),
        Says("", (("tides", {"harbour": "Cuxhaven"}),)),
        Says("At five past two."),
    ]
    async with ModelServer(script) as server:
        result = await run(agent(server, tmp_path, tools=[tides]), "When is high water?")
        offered = {t["function"]["name"] for t in server.asked[0].json["tools"]}
    assert "tides" in offered
    outcomes = [(m["outcome"], m["content"]) for m in result["messages"] if m["role"] == "tool"]
    assert outcomes[0][0] == "failed"
    assert "harbour" in outcomes[0][1]
    assert outcomes[1] == ("ok", "14:05 in Cuxhaven")


async def test_questions_go_to_the_callers_function(tmp_path: Path) -> None:
    asked: list[Question] = []

    def ask(question: Question) -> str:
        asked.append(question)
        return "tea"

    script = [Says("", (("clarify", {"question": "Tea or coffee?"}),)), Says("Tea it is.")]
    async with ModelServer(script) as server:
        result = await run(agent(server, tmp_path, ask=ask), "A drink, please.")
        assert "tea" in server.asked[1].json["messages"][-1]["content"]
    assert [q.action for q in asked] == ["Tea or coffee?"]
    assert result["completed"]


async def test_callbacks_see_events_and_steps(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x\n")
    events: list[Event] = []
    steps: list[tuple[int, list[str]]] = []
    script = [Says("", (("read_file", {"path": "a.txt"}),)), Says("Done.")]
    async with ModelServer(script) as server:
        who = agent(
            server,
            tmp_path,
            event_callback=events.append,
            step_callback=lambda n, before: steps.append((n, [b["name"] for b in before])),
        )
        await run(who, "read it")
    assert isinstance(events[-1], TurnEnded)
    assert steps == [(1, []), (2, ["read_file"])]


async def test_the_async_form_streams_and_is_ended_by_leaving(tmp_path: Path) -> None:
    async with (
        ModelServer([Says("one two three")]) as server,
        agent(server, tmp_path).stream("count") as turn,
    ):
        events = [event async for event in turn.events]
    assert "".join(e.text for e in events if isinstance(e, TextDelta)) == "one two three"
    assert isinstance(events[-1], TurnEnded)


async def test_blocking_inside_an_event_loop_is_refused_with_the_way_out(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"agent\.stream"):
        Agent("m", base_url="http://127.0.0.1:9/v1", home=tmp_path).run_conversation("hi")


async def test_two_homes_in_one_process_never_mix(tmp_path: Path) -> None:
    async with ModelServer([Says("one"), Says("two")]) as server:
        one, two = (agent(server, tmp_path / name) for name in ("one", "two"))
        await run(one, "to the first")
        await run(two, "to the second")
        with pytest.raises(UsageError, match="no session"):
            await run(agent(server, tmp_path / "two", session_id=one.session_id), "hi")
    assert (tmp_path / "one" / "hermes.db").exists()
    assert (tmp_path / "two" / "hermes.db").exists()


async def test_what_a_caller_raises_comes_out_as_it_went_in(tmp_path: Path) -> None:
    def stumble(number: int, before: list[dict[str, Any]]) -> None:
        raise KeyError("mine")

    async with ModelServer(lambda _: Says("hi")) as server:
        with pytest.raises(KeyError, match="mine"):
            await run(agent(server, tmp_path, step_callback=stumble), "hi")
        with pytest.raises(ValueError, match="mine too"):
            async with agent(server, tmp_path).stream("hi"):
                raise ValueError("mine too")
        history = [
            {
                "role": "assistant",
                "tool_calls": [{"id": "c", "function": {"name": "t", "arguments": "[1]"}}],
            }
        ]
        with pytest.raises(UsageError, match=r"conversation_history\[0\]"):
            await run(agent(server, tmp_path), "hi", conversation_history=history)


async def test_two_threads_with_one_agent_take_turns(tmp_path: Path) -> None:
    async with ModelServer(lambda _: Says("hi")) as server:
        who = agent(server, tmp_path)
        await run(who, "first")
        results = await asyncio.gather(run(who, "second"), run(who, "third"))
        roles = [m["role"] for m in server.asked[2].json["messages"]]
    assert [r["completed"] for r in results] == [True, True]
    assert roles == ["system", "user", "assistant", "user", "assistant", "user"]


async def test_the_reason_of_a_failure_is_for_programs(tmp_path: Path) -> None:
    async with ModelServer([Fails("auth")]) as server:
        result = await run(agent(server, tmp_path), "hi")
    assert (result["failure_reason"], result["base_url"]) == ("auth", f"{server.url}/v1")


async def test_streaming_leaves_nothing_running(tmp_path: Path) -> None:
    async with ModelServer(lambda _: Says("hi")) as server:
        before = threading.active_count()
        for _ in range(3):
            async with agent(server, tmp_path).stream("hi") as turn:
                async for _event in turn.events:
                    pass
    assert threading.active_count() <= before + 1  # the loop's own pool may keep a thread


def test_the_name_people_know_is_the_same_class() -> None:
    assert AIAgent is Agent
