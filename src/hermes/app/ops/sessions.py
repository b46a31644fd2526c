"""hermes sessions: the conversations that are kept."""

import argparse
import asyncio
import json
import os
import re
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from shutil import rmtree

from hermes.app.clock import SystemClock
from hermes.app.compose import open_home_store
from hermes.app.export import as_json, as_markdown, facts
from hermes.app.finding import find_session, rows, title_of
from hermes.app.lines import paint, say, terminal
from hermes.config.load import Config
from hermes.core.errors import HermesError, UsageError
from hermes.core.messages import Message, Role, Text
from hermes.core.store import Hit, Session, Store
from hermes.lib.amounts import moment, stamp
from hermes.lib.text import clean, harmless, one_line

SUMMARY = "list, read, search, rename, export and delete conversations"
_BESIDE = len("20270101-000000-abcdef  2027-01-01 00:00  100 messages  ")
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
    args.results = config.home / "cache" / "results"
    return asyncio.run(_with_store(ops[args.part], args, config))


async def _with_store(op: Op, args: argparse.Namespace, config: Config) -> int:
    store = open_home_store(config)
    try:
        return await op(args, store)
    finally:
        await store.close()


async def _list(args: argparse.Namespace, store: Store) -> int:
    found = await store.read(lambda tx: tx.sessions.list(args.limit, 0, None, args.source))
    if args.json:
        say(json.dumps([facts(one) for one in found], ensure_ascii=False, indent=2))
    elif not found:
        say('No conversation is kept yet. Begin one: hermes, or hermes -z "..."')
    else:
        say("\n".join(rows(found, SystemClock().now(), _room())))
    return 0


async def _show(args: argparse.Namespace, store: Store) -> int:
    session, messages = await _whole(store, args.session)
    say(as_json(session, messages) if args.json else as_markdown(session, messages).rstrip())
    return 0


async def _search(args: argparse.Namespace, store: Store) -> int:
    words = " ".join(args.words)
    hits = await store.search(words, limit=args.limit)
    if args.json:
        say(json.dumps([_found(hit) for hit in hits], ensure_ascii=False, indent=2))
        return 0
    if not hits:
        say(f"No message holds {words!r}.")
        return 0
    on, off = ("\x1b[1m", "\x1b[0m") if terminal() else ("", "")
    now = SystemClock().now()
    for hit in hits:
        say(f"{hit.session}  {moment(hit.at, now)}  {hit.role}  {one_line(hit.title, 60)}".rstrip())
        paint(f"    {_marked(' '.join(hit.snippet.split()), on, off)}")
    return 0


def _found(hit: Hit) -> dict[str, str | int]:
    text = hit.snippet.replace("\x02", "").replace("\x03", "")
    place: dict[str, str | int] = {
        "session": hit.session,
        "title": hit.title,
        "place": hit.seq,
        "role": hit.role,
    }
    return {**place, "at": stamp(hit.at), "text": text}


async def _rename(args: argparse.Namespace, store: Store) -> int:
    session = await _named(store, args.session)
    title = one_line(" ".join(args.title), 120)
    if not title:
        raise UsageError("The title is empty.")
    await store.write(lambda tx: tx.sessions.rename(session.id, title))
    say(f"{session.id} is now: {title}")
    return 0


async def _export(args: argparse.Namespace, store: Store) -> int:
    session, messages = await _whole(store, args.session)
    text = as_json(session, messages) + "\n" if args.format == "json" else as_markdown(session, messages)
    if not args.output:
        say(text.rstrip("\n"))
        return 0
    path = _save(args.output, clean(text))
    say(f"{session.count} messages are in {path}")
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
    session = await _named(store, args.session)
    if not (args.yes or _sure(session)):
        say("Kept.")
        return 0
    await store.write(lambda tx: tx.sessions.delete(session.id))
    _drop_results(args.results, session.id)
    say(f"Deleted: {session.id}")
    return 0


def _drop_results(folder: Path, session: str) -> None:
    """Remove the long results of a session, which are kept as files."""
    place = folder / session
    if place.parent != folder or session == "..":  # an id that cannot be the name of a folder
        return
    try:
        rmtree(place)
    except FileNotFoundError:
        return
    except OSError as error:
        raise HermesError(
            f"The conversation is deleted, but not all of its results: {error.filename or place}:"
            f" {error.strerror or error}."
            f" Remove {place} yourself."
        ) from error


def _sure(session: Session) -> bool:
    if not sys.stdin.isatty():
        raise UsageError("Nobody is there to be asked: add --yes to delete it.")
    what = f"{session.id} ({title_of(session)}, {session.count} messages)"
    try:
        said = input(harmless(f"Delete {what} for good? [y/N] "))
    except EOFError:
        return False
    return said.strip().lower() in {"y", "yes"}


async def _reindex(args: argparse.Namespace, store: Store) -> int:  # noqa: ARG001
    count = await store.reindex()
    say(f"The search index holds {count:,} messages.")
    return 0


async def _named(store: Store, text: str) -> Session:
    return await find_session(store, text, SystemClock().now())


async def _whole(store: Store, text: str) -> tuple[Session, list[Message]]:
    """The session with all that was said, an answer that was cut off by a crash included."""
    session = await _named(store, text)
    stored, draft = await store.read(lambda tx: (tx.messages.all(session.id), tx.drafts.read(session.id)))
    messages = [row.message for row in stored]
    if draft:
        messages.append(Message(Role.ASSISTANT, (Text(draft),), interrupted=True))
    return session, messages


def _marked(snippet: str, on: str, off: str) -> str:
    """The snippet with its found words marked, and nothing else that could steer a terminal."""
    shown = re.sub(r"[^\x02\x03]+", lambda piece: harmless(piece[0]), snippet)
    return shown.replace("\x02", on).replace("\x03", off)


def _room() -> int:
    """Columns for a title: what the terminal leaves beside the rest of its line, or enough for any."""
    if not terminal():
        return 60
    return max(os.get_terminal_size(sys.stdout.fileno()).columns - _BESIDE, 20)


def _count(text: str) -> int:
    count = int(text)
    if count < 1:
        raise argparse.ArgumentTypeError("at least 1")
    return count
