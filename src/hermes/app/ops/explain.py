"""hermes explain: what the gate says of a command or a path, and why. Nothing is run."""

import argparse
import json
from pathlib import Path

from hermes.app.lines import say
from hermes.app.policy import policy
from hermes.config.load import Config
from hermes.core.effects import Effects, Footprint
from hermes.core.gate import Action, Verdict
from hermes.core.ids import CallId
from hermes.core.messages import ToolCall

SUMMARY = "Say whether a command or a path would be allowed, asked about or blocked, and why."
ALLOWED, NOT_ALLOWED = 0, 4
OFF = "questions are switched off (approvals.mode)"
_EFFECTS = {
    "run": Effects(executes="what"),
    "read": Effects(reads=("what",)),
    "write": Effects(writes=("what",)),
}


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what can be asked about."""
    parser.epilog = (
        "Nothing is run, read or written. Exit code: 0 it is allowed, 4 it is asked about (refused when"
        " nobody is there) or blocked. It is judged for the current folder, without isolation."
    )
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("command", nargs="?", metavar="COMMAND", help="a command line, in quotes")
    what.add_argument("--read", metavar="PATH", help="a file that would be read")
    what.add_argument("--write", metavar="PATH", help="a file that would be written")
    parser.add_argument("--json", action="store_true", help="for programs")


def run(args: argparse.Namespace, config: Config) -> int:
    """Print the verdict; return 0 when it is allowed, 4 when it is asked about or blocked."""
    action = _action(args, str(Path(config.settings.terminal.cwd).expanduser().absolute()))
    gate = policy(config, action.cwd)
    verdict = gate.judge(action)
    call = ToolCall(CallId("explain"), action.kind, {"what": action.what})
    touched = gate.footprint(_EFFECTS[action.kind], call, action.cwd)
    off = config.settings.approvals.mode == "off" and verdict.decision == "allow"
    if args.json:
        say(_json(action, verdict, touched))
    else:
        say("\n".join(_told(verdict, touched, off)))
    return ALLOWED if verdict.decision == "allow" else NOT_ALLOWED


def _action(args: argparse.Namespace, cwd: str) -> Action:
    if args.read is not None:
        return Action("read", args.read, cwd)
    if args.write is not None:
        return Action("write", args.write, cwd)
    return Action("run", args.command, cwd)


def _told(verdict: Verdict, touched: Footprint, off: bool) -> list[str]:
    lines = [f"{verdict.decision}: {verdict.rule or (OFF if off else 'no rule speaks against it')}"]
    if verdict.why:
        lines.append(f"{verdict.why.rstrip('.')}.")
    lines += [f"reads {path}" for path in touched.reads]
    lines += [f"writes {path}" for path in touched.writes]
    return lines


def _json(action: Action, verdict: Verdict, touched: Footprint) -> str:
    """`reads` and `writes` are null where it cannot be told what would be touched."""
    known = not touched.unknown
    told = {
        "kind": action.kind,
        "what": action.what,
        "cwd": action.cwd,
        "decision": verdict.decision,
        "rule": verdict.rule,
        "why": verdict.why,
        "reads": list(touched.reads) if known else None,
        "writes": list(touched.writes) if known else None,
    }
    return json.dumps(told, ensure_ascii=False, indent=2)
