"""PolicyGate: what the policy says of an action, and the question to a person where it does not know."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from os.path import realpath
from typing import Literal

import anyio
import anyio.to_thread

from hermes.core.effects import ANYTHING, Effects, Footprint
from hermes.core.errors import Denied, HermesError, ToolError
from hermes.core.gate import Action, Verdict
from hermes.core.ids import QuestionId, SessionId
from hermes.core.messages import JSON, ToolCall
from hermes.core.questions import ALWAYS, APPROVAL_CHOICES, DENY, ONCE, SESSION, Question
from hermes.core.tools import ToolContext
from hermes.lib.ids import fresh
from hermes.lib.text import visible
from hermes.safety import paths
from hermes.safety.commands import Analysis, analyse
from hermes.safety.found import Found, is_ours
from hermes.safety.paths import Place

Mode = Literal["manual", "smart", "off"]

ALLOWED = Verdict("allow")
FOR_NOW = (ONCE, SESSION, DENY)

_OF_ITS_FOLDER = ("wipe.", "git.", "write.")  # what these do depends on where they run
_RUNS_ANOTHER = ("run.", "stay.preload", "stay.git", "code.clone", "self.setting")


class PolicyGate:
    """The gate of one agent: tables, the user's own rules, and what was answered before.

    `mode` off turns questions into a yes; what is blocked stays blocked. `deny` and `allow` are patterns
    of commands (`sudo *`); deny goes before everything. `home`, `workspace`, `state` (the agent's own
    home) and `program` (the folder of its program files) are absolute. `remember` keeps a rule that was
    answered "always"; it may take its time and raise HermesError.
    """

    def __init__(
        self,
        mode: Mode = "manual",
        *,
        home: str,
        workspace: str,
        state: str,
        program: str = "",
        deny: Sequence[str] = (),
        allow: Sequence[str] = (),
        remember: Callable[[str], None] | None = None,
    ) -> None:
        self._mode: Mode = mode
        self._deny = tuple(deny)
        self._allow = list(allow)
        self._remember = remember
        self._place = Place(home, workspace, workspace, state, program=program, ours=is_ours)
        self._keeping = anyio.Lock()
        self._said_yes: set[tuple[SessionId, str, str, str]] = set()

    def footprint(self, effects: Effects, call: ToolCall, cwd: str) -> Footprint:
        try:
            return self._footprint(effects, call, cwd)
        except (ToolError, ValueError):  # a path that is none: the tool will say so
            return ANYTHING

    def _footprint(self, effects: Effects, call: ToolCall, cwd: str) -> Footprint:
        if effects.executes:
            return self._command_footprint(call, effects, cwd)
        if not all(call.arguments.get(name) for name in effects.writes):
            return ANYTHING  # it writes, and only its text or its default says where
        place = self._place.at(cwd)
        reads = _resolved(effects.reads, call, place)
        if not all(call.arguments.get(name) for name in effects.reads):
            reads = (*reads, realpath(cwd))  # what is not named is looked for here
        return Footprint(reads, _resolved(effects.writes, call, place), effects.outward)

    def judge(self, action: Action) -> Verdict:
        if "\0" in action.what or "\0" in action.cwd:
            return Verdict("block", "text.nul", "It holds a NUL character, which can hide what follows it")
        if action.kind == "run":
            return self._judge_command(action)
        if action.kind == "connect":
            return ALLOWED
        return self._judge_path(action)

    async def admit(self, action: Action, ctx: ToolContext) -> None:
        verdict = self.judge(action)
        if verdict.decision == "allow":
            return
        shown = visible(action.what)
        if verdict.decision == "block":
            raise Denied(f"{shown}\nThis is never run: {verdict.why} ({verdict.rule}).")
        key = (ctx.session, action.kind, action.what, action.cwd)
        if key in self._said_yes:
            return
        choices = self._choices(action)
        answer = await ctx.ask(Question(QuestionId(fresh("ask")), "approval", shown, verdict.why, choices))
        if answer is None:
            raise Denied(
                f"{shown}\nThis needs a person's yes, and nobody is there: {verdict.why} ({verdict.rule}).",
                nobody=True,
            )
        said = answer.text.strip().lower()
        if said not in (ONCE, SESSION, ALWAYS):
            reason = "" if said == DENY else f" They said: {said[:500]}"
            raise Denied(f"A person said no to this: {shown} ({verdict.rule}).{reason}", person=True)
        if said != ONCE:
            self._said_yes.add(key)
        if said == ALWAYS and said in choices:
            await self._keep(escape(action.what), ctx)

    def _choices(self, action: Action) -> tuple[str, ...]:
        """A yes for ever is kept without a folder, so it is offered only where the folder does not matter."""
        if action.kind != "run":
            return FOR_NOW
        findings = self._analysis(action).findings
        return FOR_NOW if any(f.rule.startswith(_OF_ITS_FOLDER) for f in findings) else APPROVAL_CHOICES

    async def _keep(self, rule: str, ctx: ToolContext) -> None:
        self._allow.append(rule)
        if self._remember is None:
            return
        try:
            async with self._keeping:
                await anyio.to_thread.run_sync(self._remember, rule)
        except HermesError as error:  # the yes holds all the same
            await ctx.progress(f"This runs, but the rule for later could not be kept: {error}")

    # The policy

    def _judge_command(self, action: Action) -> Verdict:
        analysis = self._analysis(action)
        worst = analysis.worst
        if worst is not None and worst.level == "block":
            return Verdict("block", worst.rule, f"It {worst.why}")
        if self._deny and (refused := self._refused(action.what, analysis)):
            return refused
        if worst is None or self._mode == "off" or self._allowed(action.what, analysis):
            return ALLOWED
        return Verdict("ask", worst.rule, f"It {worst.why}")

    def _refused(self, command: str, analysis: Analysis) -> Verdict | None:
        lines = [command.strip(), *(call.line for call in analysis.calls)]
        for rule in self._deny:
            if any(fnmatchcase(line, rule) or fnmatchcase(f"{line} ", rule) for line in lines):
                return Verdict("block", "deny", f"Your rule `{rule}` forbids it")
        if analysis.opaque:
            return Verdict("ask", "deny.unknown", "It cannot be told whether one of your rules forbids it")
        return None

    def _allowed(self, command: str, analysis: Analysis) -> bool:
        """True under a rule of the user; a pattern speaks for one program, not for those it would run."""
        if any(escape(command) == rule or command == rule for rule in self._allow):
            return True
        if len(analysis.calls) != 1 or analysis.opaque or re.search(r"[;&|<>`\n]|\$\(", command):
            return False
        if analysis.assigns or any(finding.rule.startswith(_RUNS_ANOTHER) for finding in analysis.findings):
            return False
        return any(fnmatchcase(command.strip(), rule) for rule in self._allow)

    def _judge_path(self, action: Action) -> Verdict:
        place = self._place.at(action.cwd) if action.cwd else self._place
        path = place.resolve(action.what)
        if action.kind == "write" and paths.is_disk(path):
            return Verdict("block", "disk.write", f"It writes over the disk {path}")
        if self._mode == "off":
            return ALLOWED
        touchy = paths.is_secret if action.kind == "read" else paths.is_protected
        real = Found(place.home, place.state, place.workspace).really(path)
        if any(touchy(one, place) for one in (path, *real)):
            kind, why = (
                ("secret.read", "It may hold secrets")
                if action.kind == "read"
                else (
                    "write.protected",
                    "It changes how this machine or the agent behaves, or may hold secrets",
                )
            )
            return Verdict("ask", kind, why)
        return ALLOWED

    # What a call touches

    def _command_footprint(self, call: ToolCall, effects: Effects, cwd: str) -> Footprint:
        command = call.arguments.get(effects.executes)
        if not isinstance(command, str):
            return ANYTHING
        folder = call.arguments.get("workdir")
        place = self._place.at(cwd)
        analysis = self._analyse(command, place.resolve(folder) if isinstance(folder, str) else cwd)
        if not analysis.only_reads:
            return ANYTHING
        return Footprint(reads=tuple(sorted(realpath(path) for path in analysis.reads)))

    def _analysis(self, action: Action) -> Analysis:
        return self._analyse(action.what, action.cwd or self._place.cwd)

    def _analyse(self, command: str, cwd: str) -> Analysis:
        """Anew each time: where links lead may have changed."""
        looked_up = Found(self._place.home, self._place.state, self._place.workspace)
        return analyse(command, replace(self._place, cwd=cwd, found=looked_up.really))


def _resolved(names: Sequence[str], call: ToolCall, place: Place) -> tuple[str, ...]:
    """The real paths that these arguments name."""
    found: list[str] = []
    for name in names:
        given: JSON = call.arguments.get(name)
        values = given if isinstance(given, list) else [given]
        found += [realpath(place.resolve(value)) for value in values if isinstance(value, str)]
    return tuple(found)


def escape(text: str) -> str:
    """A pattern that matches this text and no other."""
    return re.sub(r"([*?[])", r"[\1]", text)
