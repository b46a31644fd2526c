"""hermes model: see which models there are and which one answers, choose one, test it, install the demo."""

import argparse
import asyncio
import time
from collections.abc import Iterable
from contextlib import aclosing

from hermes.app import models
from hermes.app.lines import say, warn
from hermes.app.local_model import install
from hermes.config import edit
from hermes.config.load import Config
from hermes.config.proxies import proxies
from hermes.core.errors import ModelError
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
            return _list_models(vendors.find(args.provider, config.home), config, args.live)
        case "list":
            return _list_vendors(config)
        case "use":
            return _use(config, args.name)
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


def _list_models(vendor: Vendor, config: Config, live: bool) -> int:
    say(f"{vendor.title}: {vendor.address(config.env) or 'address to be set'}")
    if vendor.sign_up and not vendor.key(config.env)[0]:
        say(f"A key for {vendor.key_env[0]}: {vendor.sign_up}")
    names = list(vendor.models)
    if live or vendor.local:
        names = asyncio.run(_served(vendor, config)) or names
    if not names:
        say("It lists no model: any name it serves will do.")
        return 0
    rows: list[tuple[str, ...]] = [("MODEL", "CONTEXT", "OUTPUT", "IN $/M", "OUT $/M", "CACHED", "CAN")]
    rows += [_row(name, vendor.models.get(name, Facts()), name == vendor.default) for name in names]
    _table(rows)
    say("\n* answers when only the provider is named. Empty: not known.")
    return 0


async def _served(vendor: Vendor, config: Config) -> list[str]:
    url, key = vendor.address(config.env), vendor.key(config.env)[0]
    if vendor.wire == "embedded" or not url:
        return []
    http = LateHttp(proxies(config.env))
    try:
        return sorted(await models.listed(http, url, vendor.models_path, key, 10.0))
    finally:
        await http.aclose()


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


def _use(config: Config, name: str) -> int:
    """Write the choice into config.yaml. What belonged to another endpoint goes out of it."""
    wanted = models.named(config, name)
    try:
        seat = models.configured(config, wanted)
    except ModelError as error:  # a missing key may still come
        warn(f"Note: {error}")
    else:
        if seat.note:
            warn(f"Note: {seat.note}.")
    same = wanted.provider == config.settings.model.provider
    values: dict[tuple[str, ...], str] = {
        ("model", "provider"): wanted.provider,
        ("model", "default"): wanted.model,
    }
    edit.put(config.at, values, () if same else tuple(("model", key) for key in _MORE))
    say(f"From now on {wanted.provider}/{wanted.model} answers ({config.at.config}).")
    origin = config.origin("model.default")
    if origin.kind in ("environment", "flag"):
        warn(f"Note: {origin.where} still counts before it.")
    return 0


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
