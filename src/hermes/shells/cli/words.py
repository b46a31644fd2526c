"""Events in plain words: what every terminal shows, whether or not it can paint."""

from hermes.core.events import ModelSwitched, Stop, TurnEnded
from hermes.core.messages import JSON, Outcome, ToolCall, ToolResult
from hermes.core.questions import Question
from hermes.lib.amounts import duration
from hermes.lib.text import clean, one_line, visible

TELLING = ("command", "path", "pattern", "query", "question", "goal", "url", "name")
SHORT = 60


def action(call: ToolCall) -> str:
    """The call in a few words: its name and the argument that tells most."""
    return f"{call.name} {telling(call)}".rstrip()


def telling(call: ToolCall) -> str:
    """The argument that tells most, on one line."""
    keys = [key for key in TELLING if key in call.arguments] or list(call.arguments)
    return one_line(clean(_short(call.arguments[keys[0]])), SHORT) if keys else ""


def _short(value: JSON) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return f"{len(value)} item{'' if len(value) == 1 else 's'}"
    return str(value)


def ending(result: ToolResult) -> str:
    """How a call ended, in a few words; nothing when it simply went well."""
    match result.outcome, result.data.get("exit_code"):
        case Outcome.OK, None | 0:
            return ""
        case Outcome.OK, code:
            return f"exit {code}"
        case Outcome.INTERRUPTED, _:
            return "interrupted"
        case Outcome.TIMED_OUT, _:
            return "out of time"
        case outcome, _:
            why = one_line(clean(result.text), 100)
            return why if why.startswith(str(outcome)) else f"{outcome}: {why}"


def took(result: ToolResult) -> str:
    """How long a call took; empty when not recorded."""
    seconds = result.meta.get("seconds")
    return duration(seconds) if isinstance(seconds, int | float) else ""


def finished(call: ToolCall, result: ToolResult) -> str:
    """One line for a finished call: name, argument, duration, and what went wrong."""
    return "  ".join(part for part in (action(call), took(result), ending(result)) if part)


def switched(event: ModelSwitched) -> str:
    """One line for a model that did not answer."""
    reason = _phrase(one_line(clean(event.reason), 160))
    if event.model != event.failed:
        return f"{event.failed} does not answer ({reason}); {event.model} is asked instead"
    pause = f" in {duration(event.delay)}" if event.delay >= 0.1 else ""
    return f"{reason}; asking {event.model} again{pause}"


def ended(event: TurnEnded) -> str:
    """Why the turn ended, for a person; nothing when it was simply done."""
    match event.stop:
        case Stop.DONE:
            return ""
        case Stop.CANCELLED:
            return "Stopped. What was said is kept."
        case Stop.WAITING:
            return "It waits, and goes on when what it waits for has come."
        case Stop.BUDGET:
            return f"Stopped: {_phrase(event.error) or 'the budget is spent'}."
        case Stop.GUARD:
            return f"Stopped: {_phrase(event.error) or 'it repeated itself without getting further'}."
        case _:
            return event.error or "It failed, and did not say why."


def asking(question: Question) -> str:
    """The head line of a question."""
    if question.kind == "clarify":
        return "A question for you:"
    return f"May this be done? {visible(question.why)}".rstrip()


def _phrase(text: str) -> str:
    """A sentence as part of another one: without what ends it."""
    return text.rstrip(".;, ")
