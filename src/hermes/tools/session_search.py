"""session_search: what was said in earlier conversations."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated, Literal

from msgspec import Meta

from hermes.core.effects import Effects
from hermes.core.errors import ToolError
from hermes.core.ids import SessionId
from hermes.core.messages import Message, Part, Text, ToolCall, ToolResult
from hermes.core.store import Hit, Session, Store, Stored, Tx
from hermes.core.tools import ToolContext, ToolOutput
from hermes.lib.text import one_line
from hermes.sdk import tool

PER_SESSION = 3
SNIPPET = 300
PASSAGE = 800


@tool(effects=Effects(idempotent=True), needs=(Store,), emoji="🗂️")
async def session_search(
    ctx: ToolContext,
    query: Annotated[str, Meta(description='All of the words; "a phrase"; begin*')] = "",
    limit: Annotated[int, Meta(ge=1, le=20, description="Conversations")] = 3,
    sort: Literal["relevance", "newest", "oldest"] = "relevance",
    session_id: str = "",
    around_message_id: Annotated[int, Meta(ge=0)] = 0,
    window: Annotated[int, Meta(ge=0, le=50)] = 5,
    role_filter: Literal["user", "assistant", "tool"] | None = None,
) -> ToolOutput:
    """Search earlier conversations, or read in one: session_id with around_message_id (0: its end).

    window=0 shows a message whole. With neither query nor session_id the latest conversations are listed.
    """
    store = ctx.use(Store)
    principal = await store.read(lambda tx: _principal(tx, ctx.session))
    found = await store.read(lambda tx: _session(tx, session_id, principal)) if session_id else None
    if query.strip():
        within = found.id if found else ""
        hits = await store.search(query, limit=100, principal=principal, session=within)
        return _hits([hit for hit in hits if role_filter in (None, hit.role)], query, limit, sort)
    if found is None:
        sessions = await store.read(lambda tx: tx.sessions.list(limit=limit, principal=principal))
        rows = [_headline(s.id, s.title, s.updated, f", {s.count} messages") for s in sessions]
        return ToolOutput("\n".join([*rows, "[the latest conversations]"]), {"sessions": len(rows)})
    passage = await store.read(lambda tx: _passage(tx, found, around_message_id, window))
    return _read(found, [one for one in passage if role_filter in (None, one.message.role)], window)


def _principal(tx: Tx, session: SessionId) -> str:
    row = tx.sessions.get(session)
    if row is None:
        raise ToolError("This conversation is not kept, so others cannot be searched from it.")
    return row.principal


def _session(tx: Tx, text: str, principal: str) -> Session:
    """A conversation of this principal: nobody learns whether somebody else has one of that name."""
    row = tx.sessions.get(SessionId(text))
    rows = [row] if row else tx.sessions.find(text, principal)
    own = [row for row in rows if row.principal == principal]
    if len(own) != 1:
        said = f"{len(own)} conversations are" if own else "No conversation is"
        raise ToolError(f"{said} known as {text!r}. Search without session_id to find the one you mean.")
    return own[0]


# Searching


def _hits(hits: Sequence[Hit], query: str, limit: int, sort: str) -> ToolOutput:
    if not hits:
        return ToolOutput(f"[nothing found for {query!r}; try fewer or other words]", {"sessions": 0})
    by_session: dict[SessionId, list[Hit]] = {}
    for hit in hits:
        by_session.setdefault(hit.session, []).append(hit)
    groups = list(by_session.values())
    if sort != "relevance":
        groups.sort(key=lambda group: max(hit.at for hit in group), reverse=sort == "newest")
    text: list[str] = []
    for group in groups[:limit]:
        text.append(_headline(group[0].session, group[0].title, max(hit.at for hit in group)))
        text += [f"  {hit.seq} {hit.role}: {_snippet(hit.snippet)}" for hit in group[:PER_SESSION]]
        if len(group) > PER_SESSION:
            text.append(f"  [{len(group) - PER_SESSION} more here: search with session_id]")
    left = len(groups) - limit
    shown = min(limit, len(groups))
    more = f"; {left} more, raise limit" if left > 0 else ""
    text.append(f"[{shown} conversation{'s' * (shown != 1)}{more}]")
    return ToolOutput("\n".join(text), {"sessions": shown})


def _snippet(text: str) -> str:
    return one_line(text.replace("\x02", "**").replace("\x03", "**"), SNIPPET)


def _headline(session: str, title: str, at: int, more: str = "") -> str:
    day = datetime.fromtimestamp(at / 1_000_000, UTC)
    return f"{session} {day:%Y-%m-%d %H:%M} {title or 'untitled'}{more}"


# Reading


def _passage(tx: Tx, session: Session, around: int, window: int) -> Sequence[Stored]:
    log = tx.messages.all(session.id, after=max(around - window - 1, 0))
    if around:
        return [one for one in log if one.seq <= around + window]
    return log[-(2 * window + 1) :]


def _read(session: Session, passage: Sequence[Stored], window: int) -> ToolOutput:
    if not passage:
        raise ToolError(f"{session.id} has no message there; it has {session.count} in all.")
    most = 0 if window == 0 else PASSAGE
    text = [_headline(session.id, session.title, session.updated, f", {session.count} messages")]
    text += [f"{one.seq} {one.message.role}: {_said(one.message, most)}" for one in passage]
    text.append("[read on with another around_message_id]")
    return ToolOutput("\n".join(text), {"messages": len(passage)})


def _said(message: Message, most: int) -> str:
    text = "\n".join(said for part in message.parts if (said := _part(part)))
    if most and len(text) > most:
        return f"{text[:most]}… [{len(text) - most:,} more characters: window=0]"
    return text


def _part(part: Part) -> str:
    match part:
        case Text(text):
            return text
        case ToolCall(_, name, arguments):
            return f"[calls {name} {one_line(str(dict(arguments)), SNIPPET)}]"
        case ToolResult(_, outcome, text):
            return f"[{outcome}] {text}"
        case _:
            return ""
