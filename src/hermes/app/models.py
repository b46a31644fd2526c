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
from urllib.parse import urlsplit

import anyio
import msgspec

from hermes.config.load import Config
from hermes.config.schema import Fallback, Provider
from hermes.core.endpoints import Endpoint
from hermes.core.errors import ConfigError, ModelError, NoModelAnswered, Rejected, Unavailable
from hermes.core.http import Http, HttpRequest
from hermes.core.models import Model, ModelInfo
from hermes.lib.text import one_line, visible
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
PROBE = 0.3  # seconds: for a server that may not be there, one that was chosen, one that has to answer
LOOK = 3.0
ASKED = 10.0
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

    `note` is what a person should know of the model, `at` where it is reached when a variable says so;
    both are empty mostly.
    """

    vendor: Vendor
    info: ModelInfo
    endpoint: Endpoint
    why: str
    note: str = ""
    at: str = ""

    @property
    def name(self) -> str:
        return f"{self.info.vendor}/{self.info.name}"

    @property
    def placed(self) -> str:
        """The name, and where a variable has moved it."""
        return f"{self.name} {self.at}".rstrip()

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
    after = f", then {', '.join(s.placed for s in seats[1:])}" if seats[1:] else ""
    note = f" ({seat.note})" if seat.note else ""
    why = visible(f"{seat.placed}{note}{after}: {seat.why}{''.join(notes)}")
    return Choice(tuple(s.open(http) for s in seats), tuple(seats), " ".join(why.split()))


async def first(config: Config, http: Http, model: str = "") -> Seat:
    """The model that is asked first. See `choose`."""
    wanted = _asked(config, model)
    return configured(config, wanted) if wanted else await found(config, http)


def _asked(config: Config, model: str) -> Wanted | None:
    """What the command line and the settings want; None when they leave it open."""
    ours = config.settings.model
    settings = Wanted(
        ours.default,
        provider(config),
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
    # A name from nearer by than the provider may bring its own: anthropic, openrouter/x/y
    prefix, _, rest = name.partition("/")
    its = _provider(config, prefix)
    if its and its == settings.provider:
        return replace(settings, model=rest, why=why)
    if its and not (rest and _resells(config, settings.provider, prefix)):
        return Wanted(name, why=why)
    return replace(settings, model=name, why=why)


def provider(config: Config) -> str:
    """The provider in the settings, by its own name and not an alias; empty when they leave it open."""
    ours = config.settings.model
    name = "" if ours.provider == "auto" else ours.provider
    if not name:
        return "custom" if ours.base_url else ""
    return _provider(config, name) or name


def _provider(config: Config, name: str) -> str:
    """The provider that a name or an alias means; empty when it means none."""
    return name if name in config.settings.providers else vendors.meant(name, config.home)


def _resells(config: Config, provider: str, maker: str) -> bool:
    """Whether the provider's own names for models begin with this maker's: openrouter serves anthropic/..."""
    if provider in config.settings.providers:
        return False
    return any(model.startswith(f"{maker}/") for model in vendors.find(provider, config.home).models)


async def named(config: Config, http: Http, name: str) -> Wanted:
    """The provider and the model that a name means which is to be written into the settings.

    Raises:
        ConfigError: Nobody is known to serve it.
    """
    wanted = Wanted(name, why="chosen by you")
    wanted = _placed(config, wanted) or await _here(config, http, wanted)
    own = config.settings.providers.get(wanted.provider)
    vendor = _vendor(config, wanted.provider, own)
    if vendor.name == provider(config):
        wanted = _at_ours(config, wanted)
    return replace(wanted, provider=vendor.name, model=wanted.model or _default(vendor))


def configured(config: Config, wanted: Wanted) -> Seat:
    """The seat for a wanted model, without asking anybody.

    Raises:
        ConfigError: There is no such provider, no such model name, no address.
        Rejected: The key is missing.
    """
    if not wanted.provider and not (wanted := _placed(config, wanted) or wanted).provider:
        raise _unserved(config, wanted.model)
    own = config.settings.providers.get(wanted.provider)
    vendor = _vendor(config, wanted.provider, own)
    if vendor.wire == "embedded":
        return _embedded(config, wanted.model or DEMO, wanted.why)
    return _seat(config, vendor, own, replace(wanted, model=wanted.model or _default(vendor)))


def _default(vendor: Vendor) -> str:
    if vendor.wire == "embedded":
        return DEMO
    if not vendor.default:
        raise ConfigError(
            f"{vendor.title} serves no model by default: name one, {vendor.name}/MODEL "
            f"(`hermes model list {vendor.name}` shows them)."
        )
    return vendor.default


async def _here(config: Config, http: Http, wanted: Wanted) -> Wanted:
    """A model that nobody is known to serve, but that a server on this machine lists."""
    for vendor, names in await _on_this_machine(config, http):
        if {wanted.model, f"{wanted.model}:latest"} & set(names):
            return replace(wanted, provider=vendor.name)
    raise _unserved(config, wanted.model)


def _placed(config: Config, wanted: Wanted) -> Wanted | None:
    """Whom a name means: its prefix, a vendor, one that lists exactly this name, an endpoint of one's own."""
    prefix, _, rest = wanted.model.partition("/")
    if its := _provider(config, prefix):
        return replace(wanted, provider=its, model=rest)
    if wanted.model.endswith(".gguf"):
        return replace(wanted, provider="embedded")
    serving = sorted(vendors.serving(wanted.model, config.home), key=_rank)
    for vendor in serving:
        if vendor.key(config.env)[0]:
            return replace(wanted, provider=vendor.name)
    if provider(config) == "custom":
        return _at_ours(config, wanted)
    if vendors.load("custom", config.home).address(config.env):
        return replace(wanted, provider="custom")
    return replace(wanted, provider=serving[0].name) if serving else None


def _at_ours(config: Config, wanted: Wanted) -> Wanted:
    """A wanted model at the endpoint of the settings."""
    ours = config.settings.model
    return replace(
        wanted,
        provider=provider(config),
        base_url=ours.base_url,
        api_key=wanted.api_key or ours.api_key,
        api_mode=ours.api_mode,
    )


def _unserved(config: Config, name: str) -> ConfigError:
    known = set(_providers(config))
    for vendor in (vendors.load(one, config.home) for one in vendors.names(config.home)):
        known |= {word for model in vendor.models for word in (model, f"{vendor.name}/{model}")}
    near = get_close_matches(name, known, n=1) or _like(config, name)
    meant = f" Did you mean {near[0]!r}?" if near else ""
    return ConfigError(
        f"No provider is known to serve the model {name!r}.{meant} "
        "Say PROVIDER/MODEL; `hermes model list` shows the providers."
    )


def _providers(config: Config) -> list[str]:
    return [*config.settings.providers, *vendors.names(config.home)]


def _like(config: Config, name: str) -> list[str]:
    """The provider, if any, that the beginning of a name is nearly, but not quite: acmee is like acme."""
    prefix = name.partition("/")[0].lower()
    near = get_close_matches(prefix, _providers(config), n=1, cutoff=0.75)
    return near if not _provider(config, prefix) else []


async def doubt(config: Config, http: Http, seat: Seat, said: str) -> str:
    """Why an endpoint may not serve the model that `said` names, as a sentence; empty when it lists it."""
    endpoint, name = seat.endpoint, seat.info.name
    names = await listed(http, endpoint.base_url, seat.vendor.models_path, endpoint.api_key, LOOK, whole=True)
    if name in names or f"{name}:latest" in names:
        return ""
    some = ", ".join(one_line(one, 60) for one in names[:5]) + (", ..." if names[5:] else "")
    what = f"does not list {name!r}, only {some}" if names else "does not say now what it serves"
    near = _like(config, said)
    meant = f" Did you mean the provider {near[0]!r}?" if near else ""
    return f"{host(endpoint.base_url)} {what}.{meant}"


def _rank(vendor: Vendor) -> int:
    return KEYS.index(vendor.name) if vendor.name in KEYS else len(KEYS)


def _vendor(config: Config, name: str, own: Provider | None) -> Vendor:
    """The vendor of a name; an endpoint from the settings counts as one."""
    if own is None:
        try:
            return vendors.find(name, config.home)
        except ConfigError:
            near = get_close_matches(name, _providers(config), n=1)
            if not near or near[0] not in config.settings.providers:
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
    told = wanted.base_url or (own.base_url if own else "")
    url = told or vendor.address(config.env)
    if not url:
        other = f", or set {vendor.base_env[0]}" if vendor.base_env else ""
        raise ConfigError(f"{vendor.title} has no address: `hermes config set model.base_url URL`{other}.")
    moved = "" if told else vendor.moved(config.env)
    if not host(url):
        where = moved or "in the settings"
        raise ConfigError(f"The address of {vendor.name} ({where}) is none: write http://HOST:PORT/v1.")
    key, variable = _key(config.env, vendor, own, wanted, url)
    if not key and not vendor.local and vendor.key_env:
        raise _keyless(vendor, variable, url)
    info = vendor.info(wanted.model)
    if wanted.context:
        info = replace(info, context=wanted.context)
    known = not vendor.models or wanted.model in vendor.models
    note = "" if known else "not in the catalogue: its window and price are not known"
    endpoint = _endpoint(vendor, own, url, key, variable)
    if vendor.wire == "anthropic":
        life = CACHES[config.settings.prompt_caching.cache_ttl]
        endpoint = replace(endpoint, options={**endpoint.options, "cache": life})
    return Seat(vendor, info, endpoint, wanted.why, note, f"at {host(url)} ({moved})" if moved else "")


def host(url: str) -> str:
    """The host and port of an address, for people: what else stands in it may be a secret. Empty for none."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    place = parts.netloc.rpartition("@")[2] if parts.scheme in ("http", "https") else ""
    return "" if " " in place else place


def reached(config: Config, name: str) -> tuple[Vendor, str, str]:
    """A provider, where it is reached (empty when that is to be set) and the key that is sent there."""
    own = config.settings.providers.get(name)
    vendor = _vendor(config, name, own)
    ours = config.settings.model
    wanted = Wanted()
    if vendor.name == provider(config):
        wanted = Wanted(base_url=ours.base_url, api_key=ours.api_key)
    url = wanted.base_url or (own.base_url if own else "") or vendor.address(config.env)
    return vendor, url, _key(config.env, vendor, own, wanted, url)[0]


def _keyless(vendor: Vendor, variable: str, url: str) -> Rejected:
    if not variable:  # there may be one, and it belongs to another address
        said = f"at {host(url)}: {vendor.base_key_env[0]} belongs to {vendor.base_env[0]}; set model.api_key"
        return Rejected(f"There is no key for {vendor.title} {said}", kind="auth")
    how = f"put it into .env with `hermes config set {variable} KEY`"
    get = f", or get one at {vendor.sign_up}" if vendor.sign_up else ""
    return Rejected(f"There is no key for {vendor.title}: {how}{get}", kind="auth")


def _key(
    env: Mapping[str, str], vendor: Vendor, own: Provider | None, wanted: Wanted, url: str
) -> tuple[str, str]:
    """The key for an address, and the variable in which it stands or should stand."""
    variable = wanted.key_env or (own.key_env if own else "")
    given = wanted.api_key or (own.api_key if own else "") or env.get(variable, "")
    found, name = vendor.key(env, url)
    return given or found, variable or name


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
    custom = vendors.load("custom", config.home)
    if url := custom.address(config.env):
        return await _named_endpoint(config, http, custom, url)
    for vendor, served in await _on_this_machine(config, http):
        why = f"{vendor.title} runs on this machine and nothing else is configured"
        return _seat(config, vendor, None, Wanted(served[0], vendor.name, why=why))
    for name in KEYS:
        vendor = vendors.load(name, config.home)
        key, variable = vendor.key(config.env)
        if key and vendor.default and vendor.address(config.env):
            why = f"{variable} is set and nothing else is configured"
            return _seat(config, vendor, None, Wanted(vendor.default, vendor.name, why=why))
    if demo_file(config.env).is_file() and find_spec("xllamacpp"):
        return _embedded(config, DEMO, "nothing else was found")
    raise NoModelAnswered(NOTHING)


async def _named_endpoint(config: Config, http: Http, custom: Vendor, url: str) -> Seat:
    why = "OPENAI_BASE_URL is set"
    model = config.env.get("OPENAI_MODEL", "").strip()
    if not model:
        names = await listed(http, url, custom.models_path, custom.key(config.env)[0], ASKED)
        if not names:
            raise NoModelAnswered(
                f"{url} (OPENAI_BASE_URL) does not list its models: "
                "is it running and the key right? Name one with OPENAI_MODEL."
            )
        model, why = names[0], f"{why} and lists it first"
    return replace(_seat(config, custom, None, Wanted(model, "custom", why=why)), at="")


async def _on_this_machine(config: Config, http: Http) -> list[tuple[Vendor, list[str]]]:
    """The servers of LOCAL that list a model, in that order, and what they list. All are asked at once."""
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
    return [(vendor, answers[vendor.name]) for vendor in places if answers.get(vendor.name)]


def _loopback(url: str) -> bool:
    return any(url.startswith(f"http://{host}") for host in ("127.", "localhost", "[::1]"))


async def listed(
    http: Http, url: str, path: str, key: str, seconds: float, *, whole: bool = False
) -> list[str]:
    """The models an endpoint lists; none when it does not answer in time or in the right shape.

    Models that only embed are left out, unless the whole list is wanted.
    """
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    place = path if "://" in path else url.rstrip("/") + path
    body = b""
    with anyio.move_on_after(seconds):
        try:
            async with http.send(HttpRequest("GET", place, headers, b"", seconds, seconds)) as reply:
                body = await reply.read() if reply.status == 200 else b""
        except Unavailable:
            return []
    try:
        names = [one.id for one in msgspec.json.decode(body, type=_Listing).data]
    except msgspec.DecodeError:
        return []
    return [name for name in names if name and (whole or "embed" not in name.lower())]


class _Listed(msgspec.Struct):
    id: str


class _Listing(msgspec.Struct):
    data: list[_Listed]


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
    chosen = Path(config.settings.model.default)
    path = demo_file(config.env) if demo else chosen if chosen.name == model else Path(model)
    path = path.expanduser()
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
