"""hermes model: see which models there are and which one answers, choose one, test it, install the demo."""

import argparse
import asyncio
import time
from collections.abc import Iterable
from contextlib import aclosing

from hermes.app import models
from hermes.app.lines import say, warn
from hermes.app.local_model import install
from hermes.app.models import Seat
from hermes.config import edit
from hermes.config.load import Config
from hermes.config.proxies import proxies
from hermes.core.errors import ModelError
from hermes.core.http import Http
from hermes.core.messages import Usage, user
from hermes.core.models import Model, Reply, Request
from hermes.core.tools import ToolSpec
from hermes.lib.amounts import tokens
from hermes.lib.text import one_line
from hermes.providers import vendors
from hermes.providers.vendors import Facts, Vendor
from hermes.safety.late import LateHttp

SUMMARY = "See, choose, test or install the model that answers."

_MORE = ("base_url", "api_key", "api_mode", "context_length")
_READY = ToolSpec(
    "ready",
    "Say that you are ready.",
    {
        "type": "object",
        "properties": {"word": {"type": "string", "enum": ["yes"]}},
        "required": ["word"],
        "additionalProperties": False,
    },
)


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verbs and what they take."""
    verbs = parser.add_subparsers(dest="verb", metavar="VERB")

    def verb(name: str, summary: str) -> argparse.ArgumentParser:
        return verbs.add_parser(name, help=summary, description=summary)

    listing = verb("list", "List the providers, or the models of one.")
    listing.add_argument("provider", nargs="?", help="a provider's name")
    listing.add_argument("--live", action="store_true", help="ask the provider what it serves now")
    verb("use", "Let a model answer from now on.").add_argument("name", help="PROVIDER/MODEL, or a model")
    test = verb("test", "Send one small request and say what came of it.")
    test.add_argument("name", nargs="?", default="", help="PROVIDER/MODEL; left out, the one that answers")
    get = verb("install", "Fetch the demo model, which runs on this machine.")
    get.add_argument("name", nargs="?", default=models.DEMO, help=models.DEMO)


def run(args: argparse.Namespace, config: Config) -> int:
    """Run one verb; without one, say which model answers and why."""
    match args.verb:
        case "list" if args.provider:
            return _list_models(config, args.provider, args.live)
        case "list":
            return _list_vendors(config)
        case "use":
            return asyncio.run(_use(config, args.name))
        case "test":
            return asyncio.run(_test(config, args.name))
        case "install":
            install(config.env, say, args.name)
            say(f"Use it with: hermes model use embedded/{args.name}")
            return 0
        case _:
            return asyncio.run(_which(config))


async def _which(config: Config) -> int:
    http = LateHttp(proxies(config.env))
    try:
        choice = await models.choose(config, http)
    finally:
        await http.aclose()
    say(choice.why)
    if facts := choice.seats[0].vendor.models.get(choice.info.name):
        say(_described(facts))
    return 0


# See


def _list_vendors(config: Config) -> int:
    rows: list[tuple[str, ...]] = [("PROVIDER", "NAME", "KEY", "MODELS")]
    for name in vendors.names(config.home):
        vendor = vendors.load(name, config.home)
        rows.append((name, vendor.title, _key_state(vendor, config), str(len(vendor.models) or "")))
    for name, own in config.settings.providers.items():
        rows.append((name, own.base_url, "in config.yaml", ""))
    _table(rows)
    say("\nThe models of one: hermes model list PROVIDER")
    return 0


def _key_state(vendor: Vendor, config: Config) -> str:
    key, variable = vendor.key(config.env)
    if key:
        return f"{variable} is set"
    return "none needed" if vendor.local else variable


def _list_models(config: Config, name: str, live: bool) -> int:
    vendor, url, key = models.reached(config, name)
    say(f"{vendor.title}: {url or 'address to be set'}")
    if vendor.sign_up and not key:
        say(f"A key for {vendor.key_env[0]}: {vendor.sign_up}")
    names = list(vendor.models)
    if (live or vendor.local) and vendor.wire != "embedded" and url:
        names = asyncio.run(_served(config, vendor, url, key)) or names
    if not names:
        say("It lists no model: any name it serves will do.")
        return 0
    rows: list[tuple[str, ...]] = [("MODEL", "CONTEXT", "OUTPUT", "IN $/M", "OUT $/M", "CACHED", "CAN")]
    rows += [_row(name, vendor.models.get(name, Facts()), name == vendor.default) for name in names]
    _table(rows)
    say("\n* answers when only the provider is named. Empty: not known.")
    return 0


async def _served(config: Config, vendor: Vendor, url: str, key: str) -> list[str]:
    async with aclosing(LateHttp(proxies(config.env))) as http:
        return sorted(await models.listed(http, url, vendor.models_path, key, models.ASKED))


def _row(name: str, facts: Facts, default: bool) -> tuple[str, ...]:
    price = facts.price
    money = (price.input, price.output, price.cached)
    return (
        f"{one_line(name, 100)}{' *' if default else ''}",
        tokens(facts.context) if facts.context else "",
        tokens(facts.max_output) if facts.max_output else "",
        *("" if one is None else f"{one:g}" for one in money),
        ", ".join(_can(facts)),
    )


def _can(facts: Facts) -> list[str]:
    told = {
        "tools": facts.tools,
        "vision": facts.vision,
        "reasoning": facts.reasoning,
        facts.note: facts.note,
    }
    return [name for name, has in told.items() if has]


def _described(facts: Facts) -> str:
    parts = [f"window {tokens(facts.context)}"] if facts.context else []
    if facts.price.input is not None and facts.price.output is not None:
        parts.append(f"${facts.price.input:g} in, ${facts.price.output:g} out per million tokens")
    return "; ".join([*parts, *_can(facts)])


def _table(rows: Iterable[tuple[str, ...]]) -> None:
    every = list(rows)
    widths = [max(len(row[n]) for row in every) for n in range(len(every[0]))]
    for row in every:
        say("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


# Choose and test


async def _use(config: Config, name: str) -> int:
    """Write the choice into config.yaml. What belonged to another endpoint goes out of it."""
    address = ""
    async with aclosing(LateHttp(proxies(config.env))) as http:
        wanted = await models.named(config, http, name)
        try:
            seat = models.configured(config, wanted)
        except ModelError as error:  # a missing key may still come
            notes = [str(error)]
        else:
            address = _to_keep(config, seat)
            notes = await _notes(config, http, seat, name)
    chosen = {"provider": wanted.provider, "default": wanted.model}
    if address:
        chosen["base_url"] = address
    drop = () if wanted.provider == models.provider(config) else _MORE
    edit.put(
        config.at,
        {("model", key): value for key, value in chosen.items()},
        [("model", key) for key in drop if key not in chosen],
    )
    say(f"From now on {wanted.provider}/{wanted.model} answers ({config.at.config}).")
    origin = config.origin("model.default")
    if origin.kind in ("environment", "flag"):
        notes.append(f"{origin.where} still counts before it.")
    for note in notes:
        warn(f"Note: {note}")
    return 0


def _to_keep(config: Config, seat: Seat) -> str:
    """The address that nothing but a variable of this process names: its vendor has none of its own.

    One with a password in it is left where it is.
    """
    url = seat.endpoint.base_url
    moved = seat.vendor.moved(config.env) if seat.at and not seat.vendor.base_url else ""
    return url if moved and moved not in config.env.stored and "@" not in url else ""


async def _notes(config: Config, http: Http, seat: Seat, name: str) -> list[str]:
    """What a person should know of a choice, most of all what may keep it from answering."""
    vendor, endpoint = seat.vendor, seat.endpoint
    notes = [f"{seat.note}."] if seat.note else []
    if vendor.wire == "embedded":
        return notes
    if (vendor.local or seat.at) and (doubt := await models.doubt(config, http, seat, name)):
        notes.append(doubt)
    key, variable = vendor.key(config.env, endpoint.base_url)
    keep = next((name for name in vendor.key_env if name not in config.env.stored), "")
    if keep and _to_keep(config, seat) and key and key == endpoint.api_key:
        keeps = f"`hermes config set {keep}` keeps it in .env"
        notes.append(f"the key is not kept, it stays in {variable}: {keeps}.")
    moved = vendor.moved(config.env)
    if moved and not seat.at and endpoint.base_url.rstrip("/") != vendor.address(config.env):
        notes.append(f"{config.at.config} says {models.host(endpoint.base_url)}, so {moved} does not count.")
    return notes


async def _test(config: Config, name: str) -> int:
    http = LateHttp(proxies(config.env))
    try:
        choice = await models.choose(config, http, name)
        say(choice.why)
        return await _tried(choice.chain[0])
    finally:
        await http.aclose()


async def _tried(model: Model) -> int:
    """One request with one tool: how long it takes, what it costs, whether the tool is called."""
    tools = (_READY,) if model.info.tools else ()
    request = Request((), (user('Call the tool "ready" with the word "yes".'),), tools, max_tokens=1_000)
    started = time.perf_counter()
    first = 0.0
    reply: Reply | None = None
    async with aclosing(model.stream(request)) as deltas:
        async for delta in deltas:
            first = first or time.perf_counter() - started
            if isinstance(delta, Reply):
                reply = delta
    seconds = time.perf_counter() - started
    if reply is None:
        raise ModelError(f"{model.name} ended its answer in the middle")
    called = [call.name for call in reply.message.calls if not call.fault]
    spent = _spent(reply.message.usage)
    say(f"It answers: first word after {first:.2f} s, done after {seconds:.2f} s; {spent}.")
    if called == ["ready"]:
        say("It calls tools.")
    else:
        said = reply.message.text.strip()[:80]
        say(f"It did not call the tool it was told to call: it may not be able to. It said: {said!r}")
    return 0


def _spent(usage: Usage) -> str:
    cost = f", ${usage.cost:.6f}" if usage.cost else ""
    return f"{usage.input} tokens in, {usage.output} out{cost}"
