"""A model run in this process, from a GGUF file, by xllamacpp.

Tool calls come as JSON held to a schema that is made of the offered tools, so that they are always valid.
A model with a window of up to SMALL tokens gets a short prompt of its own instead of the system prompt:
examples, the newest question, and in a second step what the tools found. Options of the endpoint:

    path        the GGUF file
    choosing    what a small model is told before it chooses a tool
    answering   what it is told before it answers from what a tool found
    examples    a list of worked cases: question, call, found, quote, answer (each but the question optional)
"""

import json
import os
import queue
import re
import secrets
import threading
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from typing import Any, cast

import anyio

from hermes.core.endpoints import Endpoint, WireSpec
from hermes.core.errors import ContextTooLong, ModelError, Rejected, Unavailable
from hermes.core.events import TextDelta
from hermes.core.http import Http
from hermes.core.ids import CallId
from hermes.core.messages import JSON, Message, Note, Outcome, Role, Text, ToolCall, ToolResult, Usage
from hermes.core.models import Delta, Finish, ModelInfo, Reply, Request
from hermes.core.tools import ToolSpec
from hermes.sdk.wire import Wire

SMALL = 8_192
SEED = 1
LONGEST = 512
"""Tokens of an answer when the request does not say."""
MOST_LINES = 60
"""Lines of a tool's result that a small model chooses its quotation from."""

_NUMBER = re.compile(r"\d+[|:-]")
_BRACKETS = re.compile(r"\[.*\]")
_HALVES = "".join(map(chr, range(0xD800, 0xDC00)))
_SAID = re.compile(r'"answer"\s*:\s*"')

Chat = list[dict[str, str]]


class Embedded(Wire):
    """One GGUF file. It is loaded when it is first asked, in a thread of its own."""

    def __init__(
        self,
        endpoint: Endpoint,
        info: ModelInfo,
        http: Http,  # noqa: ARG002  nothing leaves this process
        load: Callable[[str, int], Any] | None = None,
    ) -> None:
        """`load` makes a server of a file and a window; xllamacpp's when None."""
        super().__init__(info)
        self._load = load or _load
        self._options = cast("Mapping[str, Any]", endpoint.options)
        self._window = info.context or SMALL
        self._lock = threading.Lock()
        self._server: Any = None

    async def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        """See `Model.stream`. Temperature 0 and a fixed seed unless the request has a temperature."""
        step = self._small(request) if self._window <= SMALL else self._large(request)
        body: dict[str, Any] = {
            "messages": step.chat,
            "temperature": request.temperature or 0,
            "seed": SEED,
            "max_tokens": request.max_tokens or LONGEST,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if step.schema:
            schema = {"name": "reply", "schema": step.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        said = _Said(plain=step.plain)
        run = _Run(self._loaded, body)
        try:
            async for chunk in run.chunks():
                if piece := said.take(chunk):
                    yield TextDelta(piece)
        finally:
            run.stop()
        message, finish = self._read(said, step, len(request.messages))
        yield Reply(message, finish)

    def _loaded(self) -> Any:
        with self._lock:
            if self._server is None:
                self._server = self._load(str(self._options.get("path", "")), self._window)
            return self._server

    def _small(self, request: Request) -> "_Step":
        """The short prompt: choose a tool, or answer from what the tools of this turn found."""
        question, results, used = _turn(request.messages)
        if request.schema:
            return _Step([_say("user", question)], request.schema, plain=True)
        offered = [tool for tool in request.tools if tool.name not in used]
        if offered and not any(_found(result) for result in results):
            return self._choosing(question, offered, final=bool(used))
        if results:
            return self._answering(question, results)
        return _Step(_recent(request.messages), None, plain=True)

    def _choosing(self, question: str, tools: Sequence[ToolSpec], final: bool) -> "_Step":
        names = {tool.name for tool in tools}
        chat = [_say("system", str(self._options.get("choosing", "Choose the tool that helps.")))]
        for example in self._examples():
            call = example.get("call")
            if call and call["tool"] in names:
                chat += _say("user", example["question"]), _say("assistant", _json(call))
        choices = [
            *_branches(tools, short=True),
            *([_object({"answer": {"type": "string"}})] if final else []),
        ]
        return _Step([*chat, _say("user", question)], {"oneOf": choices})

    def _answering(self, question: str, results: Sequence[ToolResult]) -> "_Step":
        read = [_lines(result.text) for result in results]
        lines = [line for found, _ in read for line in found][:MOST_LINES]
        chat = [_say("system", str(self._options.get("answering", "Answer from the text.")))]
        for example in self._examples():
            if found := example.get("found"):
                reply = _json({"quote": example["quote"], "answer": example["answer"]})
                chat += _say("user", _asked("\n".join(found), example["question"])), _say("assistant", reply)
        chat.append(_say("user", _asked("\n".join(lines), question)))
        line: JSON = {"enum": [*lines] or ["nothing"]}
        most = 1 if any(numbered for _, numbered in read) else 12  # one line of a text, or many names
        quote: JSON = {"type": "array", "items": line, "minItems": 1, "maxItems": most}
        return _Step(chat, _object({"quote": quote, "answer": {"type": "string", "maxLength": 160}}))

    def _examples(self) -> list[dict[str, Any]]:
        return cast("list[dict[str, Any]]", self._options.get("examples", []))

    def _large(self, request: Request) -> "_Step":
        """The whole conversation, and a schema that allows a call or an answer."""
        system = "\n\n".join(request.system)
        if not request.tools:
            chat = [_say("system", system), *_history(request.messages)]
            return _Step(chat, request.schema, plain=True)
        tools = "\n".join(
            _json({"tool": t.name, "for": t.description, **t.parameters}) for t in request.tools
        )
        told = (
            'Reply with one JSON object: {"tool": NAME, ...its parameters} to use a tool, '
            f'or {{"answer": TEXT}} when you are done. The tools:\n{tools}'
        )
        branches = [*_branches(request.tools, short=False), _object({"answer": {"type": "string"}})]
        return _Step(
            [_say("system", f"{system}\n\n{told}"), *_history(request.messages)], {"oneOf": branches}
        )

    def _read(self, said: "_Said", step: "_Step", turn: int) -> tuple[Message, Finish]:
        """The whole reply as a message."""
        usage = said.usage
        if step.plain:
            return _message(said.whole, usage, self.name), said.finish
        try:
            reply: dict[str, JSON] = json.loads(said.whole)
        except ValueError as error:
            cut = ToolCall(CallId(f"call_{turn}"), "unknown", {}, f"the reply is not whole JSON ({error})")
            return Message(Role.ASSISTANT, (cut,), usage, model=self.name), Finish.CALLS
        if "tool" in reply:
            name = str(reply.pop("tool"))
            call = ToolCall(CallId(f"call_{turn}"), name, reply)
            return Message(Role.ASSISTANT, (call,), usage, model=self.name), Finish.CALLS
        return _message(_with_quote(reply), usage, self.name), said.finish


@dataclass(frozen=True, slots=True)
class _Step:
    """What is asked of the model now. `plain`: its text is the answer as it stands, no call."""

    chat: Chat
    schema: Mapping[str, JSON] | None
    plain: bool = False


@dataclass(slots=True)
class _Said:
    """What has come so far, and the words of the answer in it."""

    plain: bool
    whole: str = ""
    shown: int = 0
    usage: Usage = field(default_factory=lambda: Usage(calls=1))
    finish: Finish = Finish.STOP

    def take(self, chunk: Mapping[str, Any]) -> str:
        """Note a chunk; return the new words of the answer."""
        if used := chunk.get("usage"):
            cached = (used.get("prompt_tokens_details") or {}).get("cached_tokens", 0)
            self.usage = Usage(used["prompt_tokens"], used["completion_tokens"], cached, calls=1)
        piece = ""
        for choice in chunk.get("choices") or ():
            piece += (choice.get("delta") or {}).get("content") or ""
            if choice.get("finish_reason") == "length":
                self.finish = Finish.LENGTH
        self.whole += piece
        return piece if self.plain else self._new_words()

    def _new_words(self) -> str:
        """The part of the answer's JSON string that was not shown yet."""
        begin = _SAID.search(self.whole)
        if begin is None:
            return ""
        raw = re.match(r'(?:[^"\\]|\\u[0-9a-fA-F]{4}|\\[^u])*', self.whole[begin.end() :])
        words = json.loads(f'"{raw[0] if raw else ""}"', strict=False).rstrip(_HALVES)
        new = words[self.shown :]
        self.shown = len(words)
        return cast("str", new)


class _Run:
    """One generation in a thread of its own. `stop` ends it at the next token."""

    def __init__(self, load: Any, body: Mapping[str, Any]) -> None:
        self._load = load
        self._body = body
        self._stopped = threading.Event()
        self._queue: queue.SimpleQueue[Any] = queue.SimpleQueue()

    async def chunks(self) -> AsyncGenerator[Mapping[str, Any], None]:
        threading.Thread(target=self._work, name="embedded model", daemon=True).start()
        take = partial(anyio.to_thread.run_sync, self._queue.get, abandon_on_cancel=True)
        while (item := await take()) is not None:
            if isinstance(item, BaseException):
                raise item
            if error := item.get("error"):
                raise _failure(error)
            yield item

    def stop(self) -> None:
        self._stopped.set()

    def _work(self) -> None:
        """On the thread, and its crash boundary: one that dies silently is waited for for ever."""
        try:
            self._load().handle_chat_completions(dict(self._body), self._heard)
        except ModelError as error:
            self._queue.put(error)
        except BaseException as error:  # noqa: BLE001 - handed to the caller, who waits for it
            failed = Unavailable(f"the embedded model: {error or type(error).__name__}")
            failed.__cause__ = error
            self._queue.put(failed)
        finally:
            self._queue.put(None)

    def _heard(self, chunk: Any) -> bool:
        """Called for every token; True ends the generation."""
        for one in chunk if isinstance(chunk, list) else [chunk]:
            self._queue.put(one)
        return self._stopped.is_set()


def _failure(error: Mapping[str, Any]) -> ContextTooLong | Rejected:
    if error.get("type") == "exceed_context_size_error":
        return ContextTooLong("The conversation does not fit into the model.", limit=error.get("n_ctx", 0))
    return Rejected(f"the embedded model: {error.get('message', error)}", kind="bad_request")


def _load(path: str, window: int) -> Any:
    """Load a file. The server that xllamacpp opens on a loopback port lets nobody in: its key is random."""
    threads = max(
        1, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    xllamacpp = import_module("xllamacpp")  # 100 MB of machine code, and an extra: not before it is needed
    params = xllamacpp.CommonParams()
    params.model.path = path
    params.n_ctx = window
    params.n_parallel = 1
    params.n_gpu_layers = 0
    params.cpuparams.n_threads = threads
    params.cpuparams_batch.n_threads = threads
    params.warmup = False
    params.verbosity = -1
    params.api_keys = [secrets.token_hex(16)]
    params.endpoint_slots = False
    params.ui = False
    try:
        return xllamacpp.Server(params)
    except RuntimeError:
        raise Rejected(f"{path} cannot be loaded: is it a GGUF file, and whole?", kind="not_found") from None


def _turn(messages: Sequence[Message]) -> tuple[str, list[ToolResult], set[str]]:
    """The newest question, what the tools found since, and which tools were used."""
    question, results, used = "", list[ToolResult](), set[str]()
    for message in reversed(messages):
        results[:0] = message.results
        used |= {call.name for call in message.calls}
        if message.role is Role.USER and message.text.strip():
            question = message.text.strip()
            break
    return question, results, used


def _found(result: ToolResult) -> bool:
    """Whether there is anything in a result to answer from."""
    return result.outcome is Outcome.OK and result.data.get("count", 1) != 0


def _lines(text: str) -> tuple[list[str], bool]:
    """The lines of a result without numbers and remarks in brackets; whether there were numbers.

    A line without a number above ones that have some is a heading, the file's name: it goes behind each,
    where it does not make them alike.
    """
    heading, lines, numbered = "", list[str](), False
    for line in text.splitlines():
        if _BRACKETS.fullmatch(line) or not line.strip():
            continue
        if found := _NUMBER.match(line):
            numbered = True
            if lines and lines[-1] == heading:
                lines.pop()
            lines.append(f"{line[found.end() :].strip()}{f' ({heading})' if heading else ''}")
        else:
            heading = line.strip()
            lines.append(heading)
    return list(dict.fromkeys(line for line in lines if line)), numbered


def _asked(text: str, question: str) -> str:
    return f"{text}\n\nQuestion: {question}"


def _with_quote(reply: Mapping[str, JSON]) -> str:
    """The answer, and below it the quoted lines that it does not repeat."""
    answer = str(reply.get("answer", "")).strip()
    quotes = dict.fromkeys(str(line) for line in cast("list[JSON]", reply.get("quote") or []))
    rest = [line for line in quotes if line not in answer]
    return "\n".join([answer, *(f"> {line}" for line in rest)])


def _message(text: str, usage: Usage, model: str) -> Message:
    return Message(Role.ASSISTANT, (Text(text),), usage, model=model)


def _say(role: str, text: str) -> dict[str, str]:
    return {"role": role, "content": text}


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _object(properties: Mapping[str, JSON], required: Sequence[str] | None = None) -> dict[str, JSON]:
    names: list[JSON] = list(properties if required is None else required)
    return {
        "type": "object",
        "properties": dict(properties),
        "required": names,
        "additionalProperties": False,
    }


def _branches(tools: Sequence[ToolSpec], short: bool) -> Iterator[JSON]:
    """One schema per tool: its name, then its parameters; `short` leaves optional ones out."""
    for tool in tools:
        parameters = cast("dict[str, Any]", tool.parameters)
        must: list[str] = parameters.get("required", [])
        given = {k: v for k, v in parameters.get("properties", {}).items() if not short or k in must}
        yield _object({"tool": {"const": tool.name}, **given}, ["tool", *must])


def _history(messages: Sequence[Message]) -> Chat:
    """The messages in the roles every chat template knows."""
    chat: Chat = []
    for message in messages:
        words = "\n\n".join(p.text for p in message.parts if isinstance(p, Text | Note) and p.text)
        if message.role is Role.ASSISTANT:
            calls = [_json({"tool": call.name, **call.arguments}) for call in message.calls]
            chat.append(_say("assistant", "\n".join([*([words] if words else []), *calls])))
            continue
        found = [f"Result ({result.outcome}):\n{result.text}" for result in message.results]
        chat.append(_say("user", "\n\n".join([*found, *([words] if words else [])])))
    return chat


def _recent(messages: Sequence[Message], most: int = 4) -> Chat:
    """The last exchanges, words only."""
    spoken = [message for message in messages if message.text.strip()][-most:]
    return [_say("assistant" if m.role is Role.ASSISTANT else "user", m.text) for m in spoken]


WIRE = WireSpec("embedded", Embedded)
