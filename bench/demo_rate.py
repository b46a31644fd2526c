"""How often the demo model gets it right: 20 questions about the demo's folder, other than the demo's own.

    python bench/demo_rate.py [-v]

A question counts when the right tool ran on the right file and the answer has the fact. Facts are matched
as whole words, letter case ignored; a tool is right when it lists for a question about names, and reads or
searches for a question about contents. The prompt was tuned on other questions, which share the folder and
some facts with these; one change was made after a first run of these (13 of 20) had shown it.
"""

import asyncio
import re
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hermes.app.compose import composed
from hermes.app.demo import Played, narrowed, play, prepared
from hermes.core.messages import Outcome, ToolCall, ToolResult


@dataclass(frozen=True, slots=True)
class Case:
    """A question, the file that has the answer ("" for a question about names), and the facts of it."""

    question: str
    file: str
    facts: tuple[str, ...]


CASES = (
    Case("What time does the train leave?", "trip.md", ("7:45",)),
    Case("When is the return?", "trip.md", ("14 June",)),
    Case("How much does the museum ticket cost?", "trip.md", ("12",)),
    Case("When are carrots planted?", "garden.md", ("March",)),
    Case("How often do the roses need water?", "garden.md", ("two days",)),
    Case("What hangs behind the blue door?", "garden.md", ("key",)),
    Case("How much flour goes into the pancakes?", "recipe.txt", ("250",)),
    Case("How much butter do I need?", "recipe.txt", ("40",)),
    Case("How long does the batter rest?", "recipe.txt", ("20 minutes",)),
    Case("What does a library card cost?", "library.txt", ("8",)),
    Case("When is the library open on Saturday?", "library.txt", ("10:00",)),
    Case("What is the phone number of Ana Torres?", "contacts.csv", ("555-0142",)),
    Case("Where does Ben Okafor live?", "contacts.csv", ("Lagos",)),
    Case("How much was spent on food in February?", "budget.csv", ("295",)),
    Case("Read recipe.txt and tell me how many eggs are needed.", "recipe.txt", ("3",)),
    Case("What does trip.md say about the platform?", "trip.md", ("4",)),
    Case("Open garden.md. When are tomatoes planted?", "garden.md", ("May",)),
    Case("What is in budget.csv?", "budget.csv", ("900",)),
    Case("Which file mentions the museum?", "trip.md", ("trip.md",)),
    Case("Which files are in the folder?", "", ("trip.md", "recipe.txt")),
)


def judged(case: Case, played: Played) -> tuple[bool, bool]:
    """Whether the right tool ran on the right file, and whether the answer has the facts."""
    ran = any(_right(case, call, result) for call, result in played.ran)
    said = played.text
    return ran, all(re.search(rf"(?<![\w.:-]){re.escape(f)}(?![\w-]|[:.]\d)", said, re.I) for f in case.facts)


def _right(case: Case, call: ToolCall, result: ToolResult) -> bool:
    if result.outcome is not Outcome.OK:
        return False
    lists = call.name == "terminal"
    if not case.file:
        return lists
    return not lists and (call.arguments.get("path") == case.file or case.file in result.text.splitlines())


async def measure(cases: Sequence[Case], verbose: bool) -> int:
    """Ask them all, each in a conversation of its own; return how many were right."""
    right = tools = 0
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as scratch:
        config, names = prepared(Path(scratch), print)
        async with composed(config) as house:
            choice = await house.chosen()
            print(choice.why)
            if choice.info.vendor == "embedded":
                house.tools = narrowed(house.tools, names)
            for case in cases:
                played = await play(house, Path(scratch, "folder"), case.question)
                ran, said = judged(case, played)
                right += ran and said
                tools += ran
                if verbose:
                    calls = ", ".join(f"{c.name} {dict(c.arguments)}" for c, _ in played.ran)
                    mark = "right" if ran and said else "WRONG"
                    print(f"{mark}  {case.question}\n       {calls}\n       {played.text!r} {played.error}")
    seconds = time.perf_counter() - started
    print(f"{right} of {len(cases)} right (right tool and file: {tools}), {seconds / len(cases):.1f} s each")
    return right


if __name__ == "__main__":
    asyncio.run(measure(CASES, "-v" in sys.argv))
