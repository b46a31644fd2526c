"""terminal: run a shell command to its end."""

import posixpath
from typing import Annotated

from msgspec import Meta

from hermes.core.effects import Effects
from hermes.core.messages import JSON, Outcome
from hermes.core.sandbox import Completed, Deadlines, Sandbox
from hermes.core.tools import ToolContext, ToolOutput
from hermes.sdk import ToolError, tool


@tool(effects=Effects(executes="command"), needs=(Sandbox,), limit=60_000, emoji="💻")
async def terminal(
    ctx: ToolContext,
    command: Annotated[str, Meta(min_length=1)],
    timeout: Annotated[int, Meta(ge=0, description="Seconds; 0: the usual time")] = 0,
    workdir: str = "",
) -> ToolOutput:
    """Run a shell command and return its output (stdout and stderr) when it ends.

    Starts in the working directory; cd lasts for this command only. Input is closed: nothing can be
    typed. Use & for a server; it runs on after the call. For files prefer read_file, search_files,
    write_file and patch.
    """
    limits = ctx.services.use(Deadlines) if ctx.services.has(Deadlines) else Deadlines()
    if timeout > limits.longest:
        raise ToolError(f"A command may take at most {limits.longest:g} s here; start longer work with &.")
    folder = workdir if workdir.startswith("~") else posixpath.join(ctx.cwd, workdir)
    done = await ctx.use(Sandbox).run(command, cwd=folder, timeout=timeout or limits.usual)
    data: dict[str, JSON] = {"exit_code": done.exit_code}
    if done.file:
        data["file"] = done.file
    outcome = Outcome.TIMED_OUT if done.timed_out else Outcome.OK
    return ToolOutput(_text(done), data, outcome=outcome)


def _text(done: Completed) -> str:
    lines = [done.output.rstrip("\n")] if done.output.strip() else []
    if done.file:
        lines.append(f"[{done.size:,} bytes in all, kept in {done.file}: read_file pages through it]")
    if done.timed_out:
        lines.append(f"[ended: still running after {done.seconds:.0f} s]")
    elif done.exit_code:
        lines.append(f"[exit code {done.exit_code}]")
    return "\n".join(lines) or "[no output]"
