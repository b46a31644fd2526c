"""Why a model did not answer: an HTTP reply or an error object becomes an error a person can act on.

Kinds, and what usually helps:

    auth          the key is missing or wrong: set another
    billing       the account cannot pay; quota: its allowance is used up
    rate          too many requests; overloaded: too many of everybody's: wait
    server, timeout, network, stalled, cut, malformed, empty
                  the endpoint or the line failed: ask again
    context       the conversation does not fit
    policy        the vendor will not answer this
    not_found     no such model or no such path
    bad_request   the vendor did not understand the request
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, cast
from urllib.parse import urlsplit

from hermes.core.errors import ContextTooLong, ModelError, Rejected, Unavailable
from hermes.lib.text import clean, one_line

_MASK = re.compile(r"\b(sk|pk|key|gsk|xai|hf|nvapi|AIza)[-_A-Za-z0-9*.]{8,}")


@dataclass(frozen=True, slots=True)
class Where:
    """Who was asked. `secret` is only known to be kept out of every message."""

    vendor: str
    url: str
    model: str = ""
    key_name: str = ""
    secret: str = field(default="", repr=False)

    @property
    def host(self) -> str:
        """Scheme and host of the endpoint, without a user's name or a password."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"

    def __str__(self) -> str:
        return f"{self.vendor} ({self.host})"


@dataclass(frozen=True, slots=True)
class _Rule:
    """A failure is of `kind` when its status is listed and one of the words is found in the body.

    No statuses: any. No words: any.
    """

    kind: str
    statuses: tuple[int, ...] = ()
    words: tuple[str, ...] = ()


# The first rule that fits wins. Words come before bare statuses: vendors agree on neither.
RULES = (
    _Rule(
        "context",
        (),
        (
            "context_length_exceeded",
            "maximum context length",
            "context window",
            "context length",
            "context size",
            "context limit",
            "exceed_context_size",
            "prompt is too long",
            "input is too long",
            "prompt too long",
            "too many input tokens",
            "input token count",
            "reduce the length",
            "request_too_large",
            "model_max_prompt_tokens_exceeded",
            "string_above_max_length",
            "tokens_limit_reached",
        ),
    ),
    _Rule("context", (413,)),
    _Rule("rate", (429,), ("per minute", "perminute", "per_minute", "per second", "retry in")),
    _Rule(
        "billing",
        (),
        (
            "insufficient_quota",
            "insufficient balance",
            "insufficient_balance",
            "insufficient credits",
            "credit balance is too low",
            "billing_error",
            "billing_hard_limit",
            "payment required",
            "exceeded your current quota, please check your plan",
            "account is not active",
            "arrearage",
        ),
    ),
    _Rule("billing", (402,)),
    _Rule("quota", (429, 403), ("daily limit", "per day", "monthly", "usage limit", "quota exceeded")),
    _Rule(
        "policy",
        (),
        (
            "content_policy",
            "content_filter",
            "content policy",
            "safety system",
            "moderation",
            "data_inspection_failed",
        ),
    ),
    _Rule(
        "auth",
        (),
        (
            "invalid_api_key",
            "invalid api key",
            "incorrect api key",
            "authentication_error",
            "api_key_invalid",
        ),
    ),
    _Rule("auth", (401, 403, 407)),
    _Rule(
        "overloaded",
        (),
        ("overloaded", "at capacity", "engine_overloaded", "model is loading", "try again later"),
    ),
    _Rule("rate", (), ("rate_limit", "rate limit", "too many requests", "resource_exhausted")),
    _Rule("rate", (429,)),
    _Rule("overloaded", (503, 529)),
    _Rule("timeout", (408, 504, 524)),
    _Rule(
        "not_found",
        (),
        ("model_not_found", "model not found", "not_found_error", "unknown model", "no such model"),
    ),
    _Rule("not_found", (404, 410)),
    _Rule("policy", (451,)),
    _Rule("auth", (0,), ("permission_error",)),
    _Rule("bad_request", (0,), ("invalid_request",)),
    _Rule("server", (), ("api_error", "server_error", "internal_error", "internal server error")),
    _Rule("server", (409, 425)),
)

ADVICE = {
    "auth": "{where} refused the key{said}. {key}",
    "forbidden": "{where} does not allow this{said}. Check what the key may do. {other}",
    "no key": "{where} wants a key, and none is set{said}. {key}",
    "billing": "{where} will not answer before the account is paid for{said}. {other}",
    "quota": "The allowance at {where} is used up{said}. {other}",
    "rate": "{where} is asked too often{said}{wait}",
    "overloaded": "{where} is overloaded{said}{wait}",
    "server": "{where} failed{said}. Usually it helps to ask again",
    "timeout": "{where} did not answer in time{said}. Usually it helps to ask again",
    "context": "The conversation is too long for {model}{said}. `/compress` shortens it",
    "policy": "{where} declined to answer for reasons of policy{said}. {other}",
    "not_found": "{where} does not know {model}{said}. {other}, and check base_url",
    "bad_request": "{where} did not accept the request{said}",
    "redirect": "{where} answers with a redirect{said}. Set base_url to the address it points to",
}
_OTHER = "Choose another model with `hermes model`"

_REJECTED = frozenset({"auth", "billing", "quota", "policy", "not_found", "bad_request", "redirect"})


@dataclass(frozen=True, slots=True)
class _Facts:
    """What an error body says: a sentence, and words (codes, types) to recognise it by."""

    sentence: str
    words: str
    status: int = 0
    retry_after: float | None = None


def classify(
    status: int,
    body: bytes | str | Mapping[str, Any] | list[Any],
    headers: Mapping[str, str],
    where: Where,
) -> ModelError:
    """The error for a reply that is no answer.

    `status` is 0 for an error object inside a stream, whose own code then counts. `body` is raw or
    decoded.
    """
    facts = _read(body)
    status = status if status and status != 200 else facts.status
    kind = _kind(status, facts.words)
    told = retry_after(headers)
    told = facts.retry_after if told is None else told
    if kind == "redirect" and (target := headers.get("location", "")):
        facts = _Facts(target, "")
    message = _sentence(kind, status, facts, where, told)
    if kind == "context":
        return ContextTooLong(message, limit=_limit(facts.sentence))
    if kind in _REJECTED:
        return Rejected(message, kind="bad_request" if kind == "redirect" else kind)
    return Unavailable(message, kind=kind, retry_after=told)


def cut(where: Where) -> Unavailable:
    """The stream ended before the answer did."""
    return Unavailable(f"{where} broke off in the middle of the answer", kind="cut")


def stalled(where: Where, seconds: float) -> Unavailable:
    """The connection is alive, the answer does not grow."""
    return Unavailable(f"{where} made no progress for {seconds:g} s", kind="stalled")


def empty(where: Where) -> Unavailable:
    """An answer with nothing in it."""
    return Unavailable(f"{where} gave an empty answer", kind="empty")


def malformed(where: Where, got: bytes | str) -> Unavailable:
    """Something that is no reply of this protocol: a web page, garbage."""
    text = got.decode("utf-8", "replace") if isinstance(got, bytes) else got
    if re.match(r"\s*<(!doctype|html|head|body|\?xml)", text, re.IGNORECASE):
        title = _title(text)
        said = f" ({_without(title, where)})" if title else ""
        return Unavailable(
            f"{where} answered with a web page{said}, not with a model's reply. Check base_url",
            kind="malformed",
        )
    shown = _without(one_line(clean(text), 80), where)
    return Unavailable(
        f"{where} sent something that is no model's reply: {shown or 'nothing'}", kind="malformed"
    )


def declined(where: Where) -> Rejected:
    """A filter of the vendor stopped the answer before its first word."""
    return Rejected(_sentence("policy", 0, _Facts("", ""), where, None), kind="policy")


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds the endpoint asks to wait; None when it does not say or says it unreadably.

    A date is compared with the endpoint's own clock, its Date header.
    """
    if (ms := _seconds(headers.get("retry-after-ms", ""))) is not None:
        return ms / 1000
    text = headers.get("retry-after", "")
    if (seconds := _seconds(text)) is not None:
        return seconds
    then, now = _moment(text), _moment(headers.get("date", ""))
    return max(0.0, (then - now).total_seconds()) if then and now else None


def _moment(text: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _kind(status: int, words: str) -> str:
    if 300 <= status < 400:
        return "redirect"
    for rule in RULES:
        if rule.statuses and status not in rule.statuses:
            continue
        if rule.words and not any(word in words for word in rule.words):
            continue
        return rule.kind
    return "bad_request" if 400 <= status < 500 else "server"


def _sentence(kind: str, status: int, facts: _Facts, where: Where, told: float | None) -> str:
    said = _without(one_line(facts.sentence, 300), where).rstrip(". ")
    code = f" ({status})" if status else ""
    advice = kind
    if kind == "auth":
        advice = "no key" if not where.secret else "forbidden" if status == 403 else kind
    return ADVICE[advice].format(
        where=where,
        model=where.model or "the model",
        said=f"{code}: {said}" if said else code,
        key=f"Set it: `hermes config set {where.key_name or 'model.api_key'} KEY`",
        other=_OTHER,
        wait=f"; it asks to wait {told:g} s" if told else "",
    )


def _without(text: str, where: Where) -> str:
    """Without keys, and without characters that could do something to a terminal."""
    if len(where.secret) >= 6:  # a shorter one is no secret, and any word may contain it
        text = text.replace(where.secret, "***")
    text = _MASK.sub("***", text)
    return text if text.isprintable() else "".join(c if c.isprintable() else "\ufffd" for c in text)


def _read(body: bytes | str | Mapping[str, Any] | list[Any]) -> _Facts:
    """Find the sentence and the codes in any of the shapes vendors use."""
    value: Any = body
    if isinstance(body, bytes | str):
        text = body.decode("utf-8", "replace") if isinstance(body, bytes) else body
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            page = text.lstrip().startswith("<")
            return _Facts(clean(_title(text) if page else text), "" if page else text[:4000].lower())
    leaves = [leaf for leaf, _ in zip(_leaves(value), range(200), strict=False)]
    sentences = [text for key, text in leaves if key in _SENTENCES and isinstance(text, str) and text]
    codes = [number for key, number in leaves if key in _CODES and _is_status(number)]
    waits = [wait for key, leaf in leaves if key in _WAITS and (wait := _seconds(str(leaf))) is not None]
    words = " ".join(str(leaf) for _, leaf in leaves)[:4000].lower()
    return _Facts(
        clean(sentences[0]) if sentences else "",
        words,
        int(codes[0]) if codes else 0,
        waits[0] if waits else None,
    )


_SENTENCES = ("message", "error", "detail", "msg", "title", "error_description", "reason", "")
_WAITS = ("retry_after", "retryDelay")
_CODES = ("code", "status", "status_code", "statusCode", "error_code")


def _leaves(value: Any, key: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """(key, value) of everything that is not a container, outermost first within a level."""
    if depth > 6:
        return
    items = _items(value, key)
    if items is None:
        yield key, value
        return
    for name, item in items:
        if not isinstance(item, Mapping | list):
            yield name, item
    for name, item in items:
        if isinstance(item, Mapping | list):
            yield from _leaves(item, name, depth + 1)


def _items(value: Any, key: str) -> list[tuple[str, Any]] | None:
    match value:
        case Mapping():
            return list(cast("Mapping[str, Any]", value).items())
        case list():
            return [(key, item) for item in cast("list[Any]", value)]  # type: ignore[redundant-cast]
        case _:
            return None


def _is_status(value: Any) -> bool:
    text = str(value)
    return len(text) == 3 and text.isdigit() and 300 <= int(text) < 600


def _seconds(text: str) -> float | None:
    try:
        value = float(text.removesuffix("s"))
    except ValueError:
        return None
    return value if 0 <= value < 1e9 else None


def _title(page: str) -> str:
    found = re.search(r"<title[^>]*>(.*?)</title>", page[:20_000], re.IGNORECASE | re.DOTALL)
    return one_line(found[1], 80) if found else ""


def _limit(sentence: str) -> int:
    """The window in tokens, when the vendor names it."""
    patterns = (
        r"maximum context length (?:is|of) ([\d,]+)",
        r"> ([\d,]{4,})",
        r"context (?:limit|window|length|size)[^\d]{0,30}([\d,]{4,})",
        r"maximum (?:allowed )?(?:number of (?:input )?tokens )?[^\d]{0,20}\(?([\d,]{4,})",
    )
    for pattern in patterns:
        if found := re.search(pattern, sentence, re.IGNORECASE):
            return int(found[1].replace(",", "") or 0)
    return 0
