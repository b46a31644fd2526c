"""Gate: may this happen? One seam for every effect, whichever tool causes it."""

from dataclasses import dataclass
from typing import Literal, Protocol

from hermes.core.effects import Effects, Footprint
from hermes.core.messages import ToolCall
from hermes.core.tools import ToolContext


@dataclass(frozen=True, slots=True)
class Action:
    """One effect about to happen: `what` is the exact command line, path or host."""

    kind: Literal["run", "read", "write", "connect"]
    what: str
    cwd: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the policy says of an action. `rule` is its id, `why` one sentence for a person."""

    decision: Literal["allow", "ask", "block"]
    rule: str = ""
    why: str = ""


class Gate(Protocol):
    def footprint(self, effects: Effects, call: ToolCall, cwd: str) -> Footprint:
        """What this call would touch: decides which calls of one reply may run together."""
        ...

    def judge(self, action: Action) -> Verdict:
        """The policy alone: pure, asks nobody."""
        ...

    async def admit(self, action: Action, ctx: ToolContext) -> None:
        """Return when the action may happen, asking a person where needed; else raise Denied."""
        ...
