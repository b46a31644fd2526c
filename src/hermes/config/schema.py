"""Settings: every key this version reads, with its type, default and one line about it.

A key that nothing reads does not belong here. Keys people know from config files of this kind whose
feature is not built yet are named in `later.py`: understood, kept, reported by `hermes config check`.
Environment names, `explain`, the reference page and the checks are all generated from this file.
"""

from typing import Annotated, Literal

from msgspec import Meta, Struct, field

from hermes.config.secrets import shown


class Section(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A group of settings. Secrets never show in its repr."""

    def __repr__(self) -> str:
        """The class and its fields, secret ones masked."""
        parts = (f"{name}={shown(name, getattr(self, name))!r}" for name in self.__struct_fields__)
        return f"{type(self).__name__}({', '.join(parts)})"


def _doc(text: str, *, least: float | None = None) -> Meta:
    return Meta(description=text, ge=least)


class Model(Section, frozen=True):
    """Which model answers. A bare text `model: NAME` is the same as `model: {default: NAME}`."""

    default: Annotated[str, _doc("The model that answers, in the vendor's own spelling.")] = ""
    provider: Annotated[
        str, _doc("Who serves it: a vendor of `hermes model`, a name under providers, or custom.")
    ] = ""
    base_url: Annotated[str, _doc("Where the endpoint is reached; empty means the vendor's own address.")] = (
        ""
    )
    api_key: Annotated[str, _doc("The key for this endpoint; better kept in .env.")] = ""
    api_mode: Annotated[
        Literal["", "chat_completions", "anthropic_messages", "codex_responses"],
        _doc("The protocol the endpoint speaks; empty means the vendor's own."),
    ] = ""
    context_length: Annotated[int, _doc("The model's window in tokens; 0 asks the catalogue.", least=0)] = 0
    max_tokens: Annotated[
        int, _doc("The most tokens of one reply; 0 leaves it to the endpoint.", least=0)
    ] = 0


class Provider(Section, frozen=True):
    """An endpoint of your own, or changes to one of the catalogue; the key is its name."""

    base_url: Annotated[str, _doc("Where the endpoint is reached.")] = ""
    api_key: Annotated[str, _doc("The key for this endpoint; better kept in .env.")] = ""
    key_env: Annotated[str, _doc("The environment variable that holds the key.")] = ""
    api_mode: Annotated[
        Literal["", "chat_completions", "anthropic_messages", "codex_responses"],
        _doc("The protocol the endpoint speaks."),
    ] = ""
    headers: Annotated[dict[str, str], _doc("Extra HTTP headers sent with every request.")] = field(
        default_factory=dict[str, str]
    )
    request_timeout_seconds: Annotated[
        float, _doc("Seconds to wait for a connection; 0 is the default.", least=0)
    ] = 0
    stale_timeout_seconds: Annotated[
        float, _doc("Seconds without progress after which a reply is given up; 0 is the default.", least=0)
    ] = 0


class Fallback(Section, frozen=True):
    """A model to ask when the one before it does not answer."""

    provider: Annotated[str, _doc("Who serves it.")] = ""
    model: Annotated[str, _doc("The model's name there.")] = ""
    base_url: Annotated[str, _doc("Where the endpoint is reached.")] = ""
    api_key: Annotated[str, _doc("The key for this endpoint; better kept in .env.")] = ""
    key_env: Annotated[str, _doc("The environment variable that holds the key.")] = ""
    context_length: Annotated[int, _doc("The model's window in tokens; 0 asks the catalogue.", least=0)] = 0


class AgentSettings(Section, frozen=True):
    """How long and how hard the agent works."""

    max_turns: Annotated[int, _doc("The most model calls of one turn; 0 means no limit.", least=0)] = 90
    api_max_retries: Annotated[int, _doc("How often a failed model call is tried again.", least=0)] = 3
    clarify_timeout: Annotated[
        float, _doc("Seconds a question to a person stays open; 0 means no limit.", least=0)
    ] = 3600
    reasoning_effort: Annotated[
        Literal["", "none", "minimal", "low", "medium", "high", "xhigh", "max"],
        _doc("How much a reasoning model thinks; empty leaves it to the model."),
    ] = ""


class Terminal(Section, frozen=True):
    """Where and how commands run."""

    # A place that is not built yet is refused: commands meant for a container must not run here instead.
    backend: Annotated[Literal["local"], _doc("Where commands run.")] = "local"
    cwd: Annotated[str, _doc("The working directory; a dot is the one hermes was started in.")] = "."
    timeout: Annotated[
        float, _doc("Seconds a foreground command may take unless it asks for more.", least=1)
    ] = 180
    max_foreground_timeout: Annotated[
        float, _doc("The most seconds a foreground command may ask for.", least=1)
    ] = 600
    env_passthrough: Annotated[
        tuple[str, ...], _doc("Environment variables that commands may see although they look secret.")
    ] = ()


class WarnAfter(Section, frozen=True):
    """After how many occurrences, the first included, the model is told."""

    exact_failure: Annotated[int, _doc("The same call failing.", least=1)] = 2
    same_tool_failure: Annotated[int, _doc("The same tool failing, whatever the arguments.", least=1)] = 3
    idempotent_no_progress: Annotated[int, _doc("The same read with the same result.", least=1)] = 2
    identical_call: Annotated[int, _doc("Any identical call with an identical result.", least=1)] = 3
    cycle: Annotated[int, _doc("Laps of a repeating pattern of 2 to 5 calls.", least=1)] = 3
    no_progress: Annotated[int, _doc("Calls in a row that learn and change nothing.", least=1)] = 6


class HardStopAfter(Section, frozen=True):
    """After how many occurrences, the first included, the turn is ended."""

    exact_failure: Annotated[int, _doc("The same call failing.", least=1)] = 5
    same_tool_failure: Annotated[int, _doc("The same tool failing, whatever the arguments.", least=1)] = 8
    idempotent_no_progress: Annotated[int, _doc("The same read with the same result.", least=1)] = 5
    identical_call: Annotated[int, _doc("Any identical call with an identical result.", least=1)] = 5
    cycle: Annotated[int, _doc("Laps of a repeating pattern of 2 to 5 calls.", least=1)] = 5
    no_progress: Annotated[int, _doc("Calls in a row that learn and change nothing.", least=1)] = 12


class LoopCaps(Section, frozen=True):
    """What one turn may do at most; these act whether or not hard stops are on. 0 means no limit."""

    max_web_searches: Annotated[int, _doc("Web searches in one turn.", least=0)] = 50
    max_subagents: Annotated[int, _doc("Subagents started in one turn.", least=0)] = 50


class Guardrails(Section, frozen=True):
    """What happens when the agent repeats itself."""

    warnings_enabled: Annotated[bool, _doc("Tell the model when it repeats itself.")] = True
    hard_stop_enabled: Annotated[bool, _doc("End a turn that repeats itself while a person is there.")] = (
        False
    )
    non_interactive_hard_stop_enabled: Annotated[
        bool, _doc("End a turn that repeats itself when nobody is there.")
    ] = True
    warn_after: Annotated[WarnAfter, _doc("When the model is told.")] = WarnAfter()
    hard_stop_after: Annotated[HardStopAfter, _doc("When the turn is ended.")] = HardStopAfter()
    loop_caps: Annotated[LoopCaps, _doc("What one turn may do at most.")] = LoopCaps()


class Approvals(Section, frozen=True):
    """When a person is asked before something is done."""

    mode: Annotated[
        Literal["manual", "smart", "off"],
        _doc("manual asks you; smart too, until a model can judge first; off asks nobody."),
    ] = "smart"
    timeout: Annotated[float, _doc("Seconds after which no answer means no; 0 waits for ever.", least=0)] = (
        300
    )
    deny: Annotated[tuple[str, ...], _doc("Patterns of commands that are never run, with * and ?.")] = ()


class Display(Section, frozen=True):
    """What the terminal shows."""

    tool_progress: Annotated[
        Literal["off", "new", "all", "verbose"], _doc("How much of the tools' work is shown.")
    ] = "all"
    show_reasoning: Annotated[bool, _doc("Show what a reasoning model thinks.")] = True


class Streaming(Section, frozen=True):
    """How text arrives on chat platforms that can edit a message."""

    enabled: Annotated[bool, _doc("Show an answer while it is being written.")] = False
    transport: Annotated[Literal["auto", "draft", "edit", "off"], _doc("How a growing answer is shown.")] = (
        "auto"
    )
    edit_interval: Annotated[float, _doc("Seconds between two edits of a message.", least=0)] = 0.8
    buffer_threshold: Annotated[int, _doc("Characters gathered before an edit.", least=1)] = 24
    cursor: Annotated[str, _doc("What stands at the end of an unfinished message.")] = ""


class PromptCaching(Section, frozen=True):
    """Prompt caching at vendors that take marks for it."""

    cache_ttl: Annotated[Literal["5m", "1h", "off"], _doc("How long a marked prefix is kept.")] = "5m"


class Database(Section, frozen=True):
    """Where state is kept."""

    url: Annotated[str, _doc("postgresql://... for PostgreSQL; empty means a SQLite file in the home.")] = ""


class Settings(Section, frozen=True):
    """All settings."""

    model: Annotated[Model, _doc("Which model answers.")] = Model()
    providers: Annotated[dict[str, Provider], _doc("Endpoints of your own, by name.")] = field(
        default_factory=dict[str, Provider]
    )
    fallback_providers: Annotated[
        tuple[Fallback, ...], _doc("Models to ask, in order, when the first does not answer.")
    ] = ()
    agent: Annotated[AgentSettings, _doc("How long and how hard the agent works.")] = AgentSettings()
    terminal: Annotated[Terminal, _doc("Where and how commands run.")] = Terminal()
    tool_loop_guardrails: Annotated[Guardrails, _doc("What happens when the agent repeats itself.")] = (
        Guardrails()
    )
    approvals: Annotated[Approvals, _doc("When a person is asked before something is done.")] = Approvals()
    command_allowlist: Annotated[
        tuple[str, ...], _doc("Commands that run without a question, with * and ?.")
    ] = ()
    display: Annotated[Display, _doc("What the terminal shows.")] = Display()
    streaming: Annotated[Streaming, _doc("How text arrives on chat platforms.")] = Streaming()
    prompt_caching: Annotated[PromptCaching, _doc("Prompt caching at vendors that take marks for it.")] = (
        PromptCaching()
    )
    database: Annotated[Database, _doc("Where state is kept.")] = Database()
