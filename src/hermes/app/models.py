"""Which model answers, and why: settings, surroundings and the catalogue become a chain of models.

With a model in the settings nothing is probed. Without one the first of these answers:

1. OPENAI_BASE_URL, with OPENAI_API_KEY and OPENAI_MODEL (or the first model it lists)
2. a server on this machine whose list of models has the right shape: Ollama, llama.cpp, LM Studio, vLLM
3. a vendor whose key is in the environment, in the order of KEYS
4. the embedded demo model, when it is installed
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import anyio
import msgspec

from hermes.config.load import Config
from hermes.config.schema import Fallback, Provider
from hermes.core.endpoints import Endpoint
from hermes.core.errors import ConfigError, ModelError, NoModelAnswered, Rejected, Unavailable
from hermes.core.http import Http, HttpRequest
from hermes.core.models import Model, ModelInfo
from hermes.providers import vendors
from hermes.providers.vendors import Vendor

LOCAL = ("ollama", "llamacpp", "lmstudio", "vllm")
KEYS = (
    *("anthropic", "openai", "google", "openrouter", "nous", "deepseek", "mistral", "xai", "kimi", "zai"),
    *("qwen", "minimax", "groq", "together", "fireworks", "nvidia", "azure"),
)
WIRES = {"chat_completions": "openai_chat", "anthropic_messages": "anthropic"}
CACHES: dict[str, bool | str] = {"5m": True, "1h": "1h", "off": False}
DEMO = "smollm2"
DEMO_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
PROBE = 0.3
NEARER = ("default", "file", "profile", "environment", "flag")

NOTHING = """\
no model is set up, and none was found. Any of these helps:
  hermes model use PROVIDER/MODEL   choose one; `hermes model list` shows them
  export ANTHROPIC_API_KEY=...      or the key of another vendor (`hermes model list`)
  export OPENAI_BASE_URL=...        an endpoint of your own, with OPENAI_API_KEY
  ollama serve                      or llama.cpp, LM Studio, vLLM on this machine
  hermes model install smollm2      a small demo model, without key or network"""


@dataclass(frozen=True, slots=True)
class Seat:
    """One place of the chain: who answers there, and why it was taken. Nothing is connected yet.

    `note` is what a person should know of the model, empty mostly.
    """

    vendor: Vendor
    info: ModelInfo
    endpoint: Endpoint
    why: str
    note: str = ""

    @property
    def name(self) -> str:
        return f"{self.info.vendor}/{self.info.name}"

    def open(self, http: Http) -> Model:
        """The model. Its wire is imported by name, so that no other is."""
        model: Model = import_module(f"hermes.providers.{self.vendor.wire}").WIRE.open(
            self.endpoint, self.info, http
        )
        return model


@dataclass(frozen=True, slots=True)
class Choice:
    """The models in the order in which they are asked. `why` is one line for people."""

    chain: tuple[Model, ...]
    seats: tuple[Seat, ...]
    why: str

    @property
    def name(self) -> str:
        return self.seats[0].name

    @property
    def info(self) -> ModelInfo:
        return self.seats[0].info


@dataclass(frozen=True, slots=True)
class Wanted:
    """A model as settings or a command line name it."""

    model: str = ""
    provider: str = ""
    base_url: str = ""
    api_key: str = field(default="", repr=False)
    key_env: str = ""
    api_mode: str = ""
    context: int = 0
    why: str = ""


async def choose(config: Config, http: Http, model: str = "") -> Choice:
    """The chain for a model's name; for no name, what the settings say, else what is found.

    Raises:
        ConfigError: The settings name a provider that does not exist, or lack something.
        ModelError: No model can be had, or its key is missing; the message says how to get one.
    """
    seat = await first(config, http, model)
    seats = [seat]
    notes: list[str] = []
    for place, other in enumerate(config.settings.fallback_providers):
        try:
            seats.append(_fallback(config, other, f"fallback_providers.{place}"))
        except ModelError as error:
            notes.append(f"; left out of the chain: {error}")
    after = f", then {', '.join(s.name for s in seats[1:])}" if seats[1:] else ""
    note = f" ({seat.note})" if seat.note else ""
    why = f"{seat.name}{note}{after}: {seat.why}{''.join(notes)}"
    return Choice(tuple(s.open(http) for s in seats), tuple(seats), why)


async def first(config: Config, http: Http, model: str = "") -> Seat:
    """The model that is asked first. See `choose`."""
    wanted = _asked(config, model)
    return configured(config, wanted) if wanted else await found(config, http)


def _asked(config: Config, model: str) -> Wanted | None:
    """What the command line and the settings want; None when they leave it open."""
    ours = config.settings.model
    provider = "" if ours.provider == "auto" else ours.provider
    settings = Wanted(
        ours.default,
        provider or ("custom" if ours.base_url else ""),
        ours.base_url,
        ours.api_key,
        "",
        ours.api_mode,
        ours.context_length,
    )
    name = model or ours.default
    if not name and not settings.provider:
        return None
    origin = config.origin("model.default" if name else "model.provider")
    loose = model or NEARER.index(origin.kind) > NEARER.index(config.origin("model.provider").kind)
    why = "asked for by name" if model else f"chosen in {origin.where}"
    if not loose or not settings.provider:
        return replace(settings, model=name, why=why)
    # A name from nearer by than the provider may bring its own: anthropic/claude-..., openrouter/x/y
    prefix, _, rest = name.partition("/")
    if rest and prefix.lower() == settings.provider.lower():
        return replace(settings, model=rest, why=why)
    if rest and _is_vendor(config, prefix) and not _resells(config, settings.provider, prefix):
        return Wanted(name, why=why)
    return replace(settings, model=name, why=why)


def _is_vendor(config: Config, name: str) -> bool:
    if name in config.settings.providers or name in ("custom", "embedded"):
        return True
    try:
        vendors.find(name, config.home)
    except ConfigError:
        return False
    return True


def _resells(config: Config, provider: str, maker: str) -> bool:
    """Whether the provider's own names for models begin with this maker's: openrouter serves anthropic/..."""
    if provider in config.settings.providers:
        return False
    return any(model.startswith(f"{maker}/") for model in vendors.find(provider, config.home).models)


def named(config: Config, name: str) -> Wanted:
    """The provider and the model that a name on the command line means.

    Raises:
        ConfigError: Nobody is known to serve it.
    """
    if _is_vendor(config, name) and "/" not in name:
        vendor = _vendor(config, name, config.settings.providers.get(name))
        wanted = Wanted(vendor.default, name)
        if not vendor.default:
            raise ConfigError(
                f"{vendor.title} has no model of its own choice: name one, {vendor.name}/MODEL."
            )
    else:
        wanted = _placed(config, Wanted(name))
    own = wanted.provider in config.settings.providers
    provider = wanted.provider if own else vendors.find(wanted.provider, config.home).name
    ours = config.settings.model
    if provider == ours.provider:
        wanted = replace(wanted, base_url=ours.base_url, api_key=ours.api_key, api_mode=ours.api_mode)
    return replace(wanted, provider=provider, why="chosen by you")


def configured(config: Config, wanted: Wanted) -> Seat:
    """The seat for a wanted model, without asking anybody.

    Raises:
        ConfigError: There is no such provider, no such model name, no address.
        Rejected: The key is missing.
    """
    if not wanted.provider:
        wanted = _placed(config, wanted)
    own = config.settings.providers.get(wanted.provider)
    vendor = _vendor(config, wanted.provider, own)
    if vendor.wire == "embedded":
        return _embedded(config, wanted.model or DEMO, wanted.why)
    return _seat(config, vendor, own, replace(wanted, model=wanted.model or _default(vendor)))


def _default(vendor: Vendor) -> str:
    if not vendor.default:
        raise ConfigError(f"{vendor.title} serves no model by default: name one, {vendor.name}/MODEL.")
    return vendor.default


def _placed(config: Config, wanted: Wanted) -> Wanted:
    """The vendor that a bare name means: its prefix, a list with exactly this name, or OPENAI_BASE_URL."""
    prefix, _, rest = wanted.model.partition("/")
    if rest and _is_vendor(config, prefix):
        return replace(wanted, provider=prefix, model=rest)
    if wanted.model.endswith(".gguf"):
        return replace(wanted, provider="embedded")
    serving = vendors.serving(wanted.model, config.home)
    for vendor in sorted(serving, key=_rank):
        if vendor.key(config.env)[0]:
            return replace(wanted, provider=vendor.name)
    if url := config.env.get("OPENAI_BASE_URL", "").strip():
        key = config.env.get("OPENAI_API_KEY", "")
        return replace(wanted, provider="custom", base_url=url, api_key=key, key_env="OPENAI_API_KEY")
    if serving:
        return replace(wanted, provider=min(serving, key=_rank).name)
    known = {f"{name}/{model}" for name in vendors.names() for model in vendors.load(name).models}
    near = get_close_matches(wanted.model, known | {one.partition("/")[2] for one in known}, n=1)
    meant = f" Did you mean {near[0]!r}?" if near else ""
    raise ConfigError(
        f"No provider is known to serve the model {wanted.model!r}.{meant} "
        "Say PROVIDER/MODEL; `hermes model list` shows the providers."
    )


def _rank(vendor: Vendor) -> int:
    return KEYS.index(vendor.name) if vendor.name in KEYS else len(KEYS)


def _vendor(config: Config, name: str, own: Provider | None) -> Vendor:
    """The vendor of a name; an endpoint from the settings counts as one."""
    if own is None:
        known = [*config.settings.providers, *vendors.names(config.home)]
        try:
            return vendors.find(name, config.home)
        except ConfigError:
            if not (near := get_close_matches(name, known, n=1)) or near[0] not in config.settings.providers:
                raise
            raise ConfigError(f"There is no provider {name!r}. Did you mean {near[0]!r}?") from None
    try:
        vendor = vendors.find(name, config.home)
    except ConfigError:
        vendor = Vendor(name=name, title=name, wire="openai_chat", local=True)
    wire = _wire(own.api_mode, f"providers.{name}.api_mode") or vendor.wire
    return msgspec.structs.replace(
        vendor, wire=wire, base_url=own.base_url or vendor.base_url, headers={**vendor.headers, **own.headers}
    )


def _wire(mode: str, key: str) -> str:
    if mode and mode not in WIRES:
        raise ConfigError(f"{key}: {mode} is not available yet; there are {', '.join(WIRES)}.")
    return WIRES.get(mode, "")


def _seat(config: Config, vendor: Vendor, own: Provider | None, wanted: Wanted) -> Seat:
    if wire := _wire(wanted.api_mode, "model.api_mode"):
        vendor = msgspec.structs.replace(vendor, wire=wire)
    url = wanted.base_url or (own.base_url if own else "") or vendor.address(config.env)
    if not url:
        where = f"set {vendor.base_env[0]}" if vendor.base_env else "set model.base_url"
        raise ConfigError(f"{vendor.title} has no address: {where} (hermes config set model.base_url URL).")
    key, variable = _key(config.env, vendor, own, wanted)
    if not key and not vendor.local and vendor.key_env:
        raise Rejected(
            f"There is no key for {vendor.title}: put it into .env with `hermes config set {variable} KEY`"
            + (f", or get one at {vendor.sign_up}" if vendor.sign_up else ""),
            kind="auth",
        )
    info = vendor.info(wanted.model)
    if wanted.context:
        info = replace(info, context=wanted.context)
    known = not vendor.models or wanted.model in vendor.models
    note = "" if known else "not in the catalogue: its window and price are not known"
    endpoint = _endpoint(vendor, own, url, key, variable)
    if vendor.wire == "anthropic":
        life = CACHES[config.settings.prompt_caching.cache_ttl]
        endpoint = replace(endpoint, options={**endpoint.options, "cache": life})
    return Seat(vendor, info, endpoint, wanted.why, note)


def _key(env: Mapping[str, str], vendor: Vendor, own: Provider | None, wanted: Wanted) -> tuple[str, str]:
    """The key, and the variable in which it stands or should stand."""
    variable = wanted.key_env or (own.key_env if own else "")
    given = wanted.api_key or (own.api_key if own else "") or env.get(variable, "")
    if given:
        return given, variable or vendor.key(env)[1]
    found, name = vendor.key(env)
    return found, variable or name


def _endpoint(vendor: Vendor, own: Provider | None, url: str, key: str, variable: str) -> Endpoint:
    options = {**vendor.options, "key_env": variable} if variable else vendor.options
    made = Endpoint(vendor.name, url, key, vendor.headers, options)
    if own and own.request_timeout_seconds:
        made = replace(made, connect=own.request_timeout_seconds)
    if own and own.stale_timeout_seconds:
        made = replace(made, idle=own.stale_timeout_seconds)
    return made


def _fallback(config: Config, other: Fallback, key: str) -> Seat:
    provider = other.provider or ("custom" if other.base_url else "")
    return configured(
        config,
        Wanted(
            other.model, provider, other.base_url, other.api_key, other.key_env, "", other.context_length, key
        ),
    )


# Nothing is configured: look around


async def found(config: Config, http: Http) -> Seat:
    """The first model that can be had here. See the top of the file for the order.

    Raises:
        NoModelAnswered: There is none; the message says how to get one.
    """
    if config.env.get("OPENAI_BASE_URL", "").strip():
        return await _named_endpoint(config, http)
    if seat := await _on_this_machine(config, http):
        return seat
    for name in KEYS:
        vendor = vendors.load(name, config.home)
        key, variable = vendor.key(config.env)
        if key and vendor.default and vendor.address(config.env):
            why = f"{variable} is set and nothing else is configured"
            return _seat(config, vendor, None, Wanted(vendor.default, vendor.name, why=why))
    if demo_file(config.env).is_file() and find_spec("xllamacpp"):
        return _embedded(config, DEMO, "nothing else was found")
    raise NoModelAnswered(NOTHING)


async def _named_endpoint(config: Config, http: Http) -> Seat:
    env = config.env
    url, key = env["OPENAI_BASE_URL"].strip().rstrip("/"), env.get("OPENAI_API_KEY", "").strip()
    why = "OPENAI_BASE_URL is set"
    model = env.get("OPENAI_MODEL", "").strip()
    if not model:
        names = await listed(http, url, "/models", key, 10.0)
        if not names:
            raise NoModelAnswered(
                f"{url} (OPENAI_BASE_URL) does not list its models: "
                "is it running and the key right? Name one with OPENAI_MODEL."
            )
        model, why = names[0], f"{why} and lists it first"
    wanted = Wanted(model, "custom", url, key, "OPENAI_API_KEY", why=why)
    return _seat(config, vendors.load("custom", config.home), None, wanted)


async def _on_this_machine(config: Config, http: Http) -> Seat | None:
    """The first local server, in the order of LOCAL, that lists a model. All are asked at once."""
    places = [vendors.load(name, config.home) for name in LOCAL]
    answers: dict[str, list[str]] = {}

    async def ask(vendor: Vendor) -> None:
        url = vendor.address(config.env)
        if _loopback(url):
            key = vendor.key(config.env)[0]
            answers[vendor.name] = await listed(http, url, vendor.models_path, key, PROBE)

    async with anyio.create_task_group() as tasks:
        for vendor in places:
            tasks.start_soon(ask, vendor)
    for vendor in places:
        if names := answers.get(vendor.name):
            why = f"{vendor.title} runs on this machine and nothing else is configured"
            return _seat(config, vendor, None, Wanted(names[0], vendor.name, why=why))
    return None


def _loopback(url: str) -> bool:
    return any(url.startswith(f"http://{host}") for host in ("127.", "localhost", "[::1]"))


async def listed(http: Http, url: str, path: str, key: str, seconds: float) -> list[str]:
    """The models an endpoint lists; none when it does not answer in time or in the right shape."""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    whole = path if "://" in path else url.rstrip("/") + path
    body = b""
    with anyio.move_on_after(seconds):
        try:
            async with http.send(HttpRequest("GET", whole, headers, b"", seconds, seconds)) as reply:
                body = await reply.read() if reply.status == 200 else b""
        except Unavailable:
            return []
    try:
        names = [one.id for one in msgspec.json.decode(body, type=_Models).data]
    except msgspec.DecodeError:
        return []
    return [name for name in names if name and "embed" not in name.lower()]


class _Model(msgspec.Struct):
    id: str


class _Models(msgspec.Struct):
    data: list[_Model]


# The embedded model


def demo_folder(env: Mapping[str, str]) -> Path:
    """Where models for this machine are kept, shared by every home of the user."""
    cache = env.get("XDG_CACHE_HOME") or env.get("LOCALAPPDATA") or ""
    return Path(cache or Path(env.get("HOME") or Path.home(), ".cache"), "hermes", "models")


def demo_file(env: Mapping[str, str]) -> Path:
    """Where the demo model is, once it is installed."""
    return demo_folder(env) / DEMO_FILE


def _embedded(config: Config, model: str, why: str) -> Seat:
    """A GGUF file run in this process."""
    vendor = vendors.load("embedded", config.home)
    demo = model == DEMO
    path = demo_file(config.env) if demo else Path(model).expanduser()
    if not path.is_file():
        if demo:
            raise NoModelAnswered("The demo model is not installed: hermes model install smollm2")
        raise ConfigError(f"There is no model file {path}: model.default names a GGUF file.")
    if not find_spec("xllamacpp"):
        raise NoModelAnswered("To run a model in this process: pip install 'hermes[local]'")
    info = vendor.info(model if demo else path.name)
    if window := config.settings.model.context_length:
        info = replace(info, context=window)
    note = "the demo model, too small for real work" if demo else ""
    options = {**vendor.options, "path": str(path)}
    return Seat(vendor, info, Endpoint("embedded", "", options=options), why, note)
