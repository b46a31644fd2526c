"""hermes sessions: the conversations that are kept."""

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path

from hermes.app.clock import SystemClock
from hermes.app.compose import open_home_store
from hermes.app.export import as_json, as_markdown, facts
from hermes.config.load import Config
from hermes.core.errors import HermesError, UsageError
from hermes.core.messages import Message
from hermes.core.store import Hit, Session, Store
from hermes.lib.amounts import moment, stamp
from hermes.lib.text import clean, one_line

SUMMARY = "list, read, search, rename, export and delete conversations"
Op = Callable[[argparse.Namespace, Store], Awaitable[int]]


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parts = parser.add_subparsers(dest="part", metavar="list|show|search|rename|export|delete|reindex")
    listing = parts.add_parser("list", help="the newest conversations")
    listing.add_argument("-n", "--limit", type=_count, default=20, help="how many (default 20)")
    listing.add_argument("--source", default="", help="only those that began there, such as terminal")
    show = parts.add_parser("show", help="what was said")
    show.add_argument("session", help="id, beginning of an id, or title")
    search = parts.add_parser("search", help="messages that hold the words")
    search.add_argument("words", nargs="+", help='all of them; "quotes" for a phrase, word* for a beginning')
    search.add_argument("-n", "--limit", type=_count, default=20, help="how many (default 20)")
    for part in (listing, show, search):
        part.add_argument("--json", action="store_true", help="for programs")
    rename = parts.add_parser("rename", help="give a title")
    rename.add_argument("session", help="id, beginning of an id, or title")
    rename.add_argument("title", nargs="+", help="the new title")
    export = parts.add_parser("export", help="the whole conversation as a document")
    export.add_argument("session", help="id, beginning of an id, or title")
    export.add_argument("--format", choices=("markdown", "json"), default="markdown")
    export.add_argument("-o", "--output", metavar="FILE", default="", help="a new file (default: stdout)")
    delete = parts.add_parser("delete", help="remove a conversation for good")
    delete.add_argument("session", help="id, beginning of an id, or title")
    delete.add_argument("-y", "--yes", action="store_true", help="do not ask")
    parts.add_parser("reindex", help="build the search index anew")


def run(args: argparse.Namespace, config: Config) -> int:
    """Do what was asked for; without a word for it, list."""
    ops: dict[str, Op] = {
        "list": _list,
        "show": _show,
        "search": _search,
        "rename": _rename,
        "export": _export,
        "delete": _delete,
        "reindex": _reindex,
    }
    if args.part is None:
        args.part, args.limit, args.source, args.json = "list", 20, "", False
    return asyncio.run(_with_store(ops[args.part], args, config))


async def _with_store(op: Op, args: argparse.Namespace, config: Config) -> int:
    store = open_home_store(config)
    try:
        return await op(args, store)
    finally:
        await store.close()


async def _list(args: argparse.Namespace, store: Store) -> int:
    rows = await store.read(lambda tx: tx.sessions.list(args.limit, 0, None, args.source))
    if args.json:
        _print(json.dumps([facts(row) for row in rows], ensure_ascii=False, indent=2))
    elif not rows:
        _print('No conversation is kept yet. Begin one: hermes, or hermes -z "..."')
    else:
        _print("\n".join(_lines(rows)))
    return 0


def _lines(rows: Iterable[Session]) -> Iterable[str]:
    now = SystemClock().now()
    for row in rows:
        count = f"{row.count} message{'' if row.count == 1 else 's'}"
        yield f"{row.id}  {moment(row.updated, now):<16}  {count:>12}  {_title(row)}"


async def _show(args: argparse.Namespace, store: Store) -> int:
    session, messages = await _whole(store, args.session)
    _print(as_json(session, messages) if args.json else as_markdown(session, messages).rstrip())
    return 0


async def _search(args: argparse.Namespace, store: Store) -> int:
    words = " ".join(args.words)
    hits = await store.search(words, limit=args.limit)
    if args.json:
        _print(json.dumps([_found(hit) for hit in hits], ensure_ascii=False, indent=2))
        return 0
    if not hits:
        _print(f"No message holds {words!r}.")
        return 0
    on, off = ("\x1b[1m", "\x1b[0m") if sys.stdout.isatty() else ("", "")
    now = SystemClock().now()
    for hit in hits:
        _print(f"{hit.session}  {moment(hit.at, now)}  {hit.role}  {one_line(hit.title, 60)}".rstrip())
        _print(f"    {_marked(' '.join(hit.snippet.split()), on, off)}")
    return 0


def _found(hit: Hit) -> dict[str, str | int]:
    text = _marked(hit.snippet, "", "")
    place: dict[str, str | int] = {
        "session": hit.session,
        "title": hit.title,
        "place": hit.seq,
        "role": hit.role,
    }
    return {**place, "at": stamp(hit.at), "text": text}


async def _rename(args: argparse.Namespace, store: Store) -> int:
    session = await _find(store, args.session)
    title = one_line(" ".join(args.title), 120)
    if not title:
        raise UsageError("The title is empty.")
    await store.write(lambda tx: tx.sessions.rename(session.id, title))
    _print(f"{session.id} is now: {title}")
    return 0


async def _export(args: argparse.Namespace, store: Store) -> int:
    session, messages = await _whole(store, args.session)
    text = as_json(session, messages) + "\n" if args.format == "json" else as_markdown(session, messages)
    if not args.output:
        _print(text.rstrip("\n"))
        return 0
    path = _save(args.output, clean(text))
    _print(f"{session.count} messages are in {path}")
    return 0


def _save(name: str, text: str) -> Path:
    """A new file that only its owner can read; whole or not at all."""
    path = Path(name).expanduser().absolute()
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise UsageError(f"{path} exists already; name another file.") from None
    except OSError as error:
        raise HermesError(f"{path} cannot be written: {error.strerror}.") from error
    try:
        with open(handle, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        path.unlink(missing_ok=True)
        raise HermesError(f"{path} cannot be written: {error.strerror}.") from error
    return path


async def _delete(args: argparse.Namespace, store: Store) -> int:
    session = await _find(store, args.session)
    if not (args.yes or _sure(session)):
        _print("Kept.")
        return 0
    await store.write(lambda tx: tx.sessions.delete(session.id))
    _print(f"Deleted: {session.id}")
    return 0


def _sure(session: Session) -> bool:
    if not sys.stdin.isatty():
        raise UsageError("Nobody is there to be asked: add --yes to delete it.")
    said = input(f"Delete {session.id} ({_title(session)}, {session.count} messages) for good? [y/N] ")
    return said.strip().lower() in {"y", "yes"}


async def _reindex(args: argparse.Namespace, store: Store) -> int:  # noqa: ARG001
    count = await store.reindex()
    _print(f"The search index holds {count:,} messages.")
    return 0


async def _whole(store: Store, text: str) -> tuple[Session, list[Message]]:
    session = await _find(store, text)
    rows = await store.read(lambda tx: tx.messages.all(session.id))
    return session, [row.message for row in rows]


async def _find(store: Store, text: str) -> Session:
    """By id, beginning of an id, or title. Raise UsageError that lists what it could be."""
    found = await store.read(lambda tx: tx.sessions.find(text))
    if not found:
        raise UsageError(f"there is no session {text!r}: `hermes sessions list` shows them")
    if len(found) > 1:
        listing = "\n  ".join(_lines(found[:10]))
        raise UsageError(f"{text!r} fits {len(found)} sessions; name one by its id:\n  {listing}")
    return found[0]


def _title(session: Session) -> str:
    return one_line(session.title, 60) or "(no title)"


def _marked(snippet: str, on: str, off: str) -> str:
    """The snippet with its found words marked, and nothing else that could steer a terminal."""
    shown = "".join(c if c.isprintable() or c in "\x02\x03\n" else " " for c in snippet)
    return shown.replace("\x02", on).replace("\x03", off)


def _count(text: str) -> int:
    count = int(text)
    if count < 1:
        raise argparse.ArgumentTypeError("at least 1")
    return count


def _print(text: str) -> None:
    """Print, whatever the encoding of stdout can hold."""
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(clean(text).encode(encoding, "replace").decode(encoding) + "\n")
