"""The tools offered to a conversation: check, run, shape the result. Never raises."""

import difflib
import logging
from collections.abc import Iterable, Mapping
from dataclasses import replace

import anyio

from hermes.core.effects import ANYTHING, NOTHING, Footprint
from hermes.core.errors import Denied, HermesError, TimedOut
from hermes.core.gate import Gate
from hermes.core.messages import JSON, Outcome, ToolCall, ToolResult
from hermes.core.services import Services
from hermes.core.spill import Spill
from hermes.core.tools import Tool, ToolContext, ToolOutput, ToolSpec
from hermes.lib.text import clean, head_and_tail

logger = logging.getLogger(__name__)

PREVIEW = 3_000


class Toolbox:
    """Tools by name. A tool whose needs are not met is not offered."""

    __slots__ = ("_tools", "services")

    def __init__(self, tools: Iterable[Tool], services: Services | None = None) -> None:
        self.services = services or Services()
        self._tools: dict[str, Tool] = {
            tool.spec.name: tool for tool in tools if all(map(self.services.has, tool.needs))
        }

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        return tuple(tool.spec for tool in self._tools.values())

    def get(self, name: str) -> Tool | None:
        return self._tools.get(name)

    def footprint(self, call: ToolCall, cwd: str) -> Footprint:
        """What the call touches. A call that will not run touches nothing."""
        tool = self._tools.get(call.name)
        if tool is None or call.fault:
            return NOTHING
        if not self.services.has(Gate):
            return ANYTHING
        try:
            return self.services.use(Gate).footprint(tool.effects, call, cwd)
        except ValueError:  # no path at all, such as one with a NUL: the tool will say so
            return ANYTHING

    async def run(self, call: ToolCall, ctx: ToolContext) -> ToolResult:
        """Whatever happens becomes something the model can read."""
        tool = self._tools.get(call.name)
        if call.fault:
            return ToolResult(call.id, Outcome.FAILED, f"not run: {call.fault}")
        if tool is None:
            return ToolResult(call.id, Outcome.FAILED, self._unknown(call.name))
        started = anyio.current_time()
        try:
            output = await tool.run(ctx, call.arguments)
        except Denied as no:
            output = ToolOutput(
                f"denied: {no}", {"nobody": no.nobody, "person": no.person}, outcome=Outcome.DENIED
            )
        except TimedOut as late:
            output = ToolOutput(str(late), outcome=Outcome.TIMED_OUT)
        except HermesError as error:
            output = ToolOutput(str(error), outcome=Outcome.FAILED)
        except Exception as bug:  # crash boundary: a tool may break, the turn may not
            logger.exception("tool %s crashed", call.name)
            output = ToolOutput(f"{call.name} crashed: {bug!r}", outcome=Outcome.FAILED)
        meta: Mapping[str, JSON] = {
            **output.meta,
            "seconds": round(anyio.current_time() - started, 3),
        }
        text = await self._shape(tool, call, output.text)
        return ToolResult(call.id, output.outcome, text, output.data, output.media, meta)

    async def _shape(self, tool: Tool, call: ToolCall, text: str) -> str:
        """Text the model can hold: a result over the limit goes to a file, nothing is lost."""
        text = clean(text)
        if len(text) <= tool.limit:
            return text
        if not self.services.has(Spill):
            return head_and_tail(text, tool.limit)
        try:
            path = await self.services.use(Spill).keep(f"{call.name}-{call.id}", text)
        except HermesError as error:
            return f"{head_and_tail(text, tool.limit)}\n[the rest could not be kept: {error}]"
        preview = head_and_tail(text, min(PREVIEW, tool.limit))
        return f"{preview}\n[{len(text):,} characters in all, kept in {path}: read_file pages through it]"

    def _unknown(self, name: str) -> str:
        near = difflib.get_close_matches(name, self._tools, n=1)
        hint = f"; did you mean {near[0]}?" if near else "."
        return f"there is no tool named {name[:80]!r}{hint} The tools are: {', '.join(self._tools)}"

    def without(self, names: Iterable[str]) -> "Toolbox":
        """A copy that does not offer these tools."""
        gone = set(names)
        return Toolbox((t for t in self._tools.values() if t.spec.name not in gone), self.services)


def refused_unasked(result: ToolResult) -> bool:
    """True when a call was denied without a person's word: nobody was there, or it is never done."""
    return result.outcome is Outcome.DENIED and result.data.get("person") is not True


def renamed(result: ToolResult, call: ToolCall) -> ToolResult:
    """The same result for another call."""
    return replace(result, call=call.id)
