"""hermes sessions: what is kept can be found, read, named, taken along and removed."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest

from hermes.app.front import command
from hermes.core.ids import CallId, SessionId
from hermes.core.messages import Message, Outcome, Role, Text, ToolCall, ToolResult, Usage, user
from hermes.core.store import Session, Tx
from hermes.stores.open import open_store
from hermes.testing.clock import StillClock

READ = ToolCall(CallId("1"), "read_file", {"path": "a.txt"})
LOG = (
    user("what is in a.txt?"),
    Message(Role.ASSISTANT, (READ,), Usage(100, 10, cost=0.01, calls=1), model="m"),
    Message(Role.TOOL, (ToolResult(CallId("1"), Outcome.OK, "```kiwi```"),)),
    Message(Role.ASSISTANT, (Text("A kiwi \ud83d."),), Usage(120, 5, cost=0.02, calls=1), model="m"),
)
FIRST, SECOND = SessionId("20270101-000000-aaaaaa"), SessionId("20270102-000000-bbbbbb")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with two conversations."""
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def kept(home: Path) -> Path:
    def fill(tx: Tx) -> None:
        first = Session(FIRST, FIRST, title="Fruit", cwd="/tmp", model="m", created=1, updated=2)
        tx.sessions.create(first)
        tx.sessions.create(replace(first, id=SECOND, root=SECOND, title=""))
        for message in LOG:
            tx.messages.append(FIRST, message)

    async def write() -> None:
        store = open_store(home / "hermes.db", StillClock())
        await store.write(fill)
        await store.close()

    asyncio.run(write())
    return home


Captured = pytest.CaptureFixture[str]


def test_an_empty_home_says_how_to_begin(home: Path, capsys: Captured) -> None:
    assert command(["sessions"]) == 0
    assert "No conversation is kept yet" in capsys.readouterr().out
    assert command(["sessions", "list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []
    assert command(["sessions", "search", "x"]) == 0
    assert capsys.readouterr().out == "No message holds 'x'.\n"


def test_list_shows_both_and_json_is_for_programs(kept: Path, capsys: Captured) -> None:
    assert command(["sessions", "list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [FIRST, SECOND]
    assert "4 messages  Fruit" in lines[0]
    assert "0 messages  (no title)" in lines[1]
    assert command(["sessions", "list", "--json", "-n", "1"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["id"], row["title"], row["messages"], row["usage"]["calls"]) == (FIRST, "Fruit", 4, 2)


def test_show_by_title_beginning_or_id_reads_as_a_conversation(kept: Path, capsys: Captured) -> None:
    for name in ("fruit", "20270101", FIRST):
        assert command(["sessions", "show", name]) == 0
        shown = capsys.readouterr().out
        assert "# Fruit" in shown
        assert "220 tokens in, 15 out, $0.03" in shown
        assert "## You\n\nwhat is in a.txt?" in shown
        assert '### read_file: ok\n\n```\n{"path": "a.txt"}\n```\n\n````\n```kiwi```\n````' in shown
        assert "A kiwi \ufffd." in shown


def test_a_name_that_fits_several_lists_them(kept: Path, capsys: Captured) -> None:
    assert command(["sessions", "show", "2027"]) == 2
    said = capsys.readouterr().err
    assert "fits 2 sessions" in said
    assert FIRST in said
    assert SECOND in said
    assert command(["sessions", "show", "nothing"]) == 2
    assert "there is no session 'nothing'" in capsys.readouterr().err


def test_search_finds_words_and_marks_nothing_for_programs(kept: Path, capsys: Captured) -> None:
    assert command(["sessions", "reindex"]) == 0
    assert "holds 4 messages" in capsys.readouterr().out
    assert command(["sessions", "search", "kiwi"]) == 0
    shown = capsys.readouterr().out
    assert FIRST in shown
    assert "A kiwi" in shown
    assert "\x1b" not in shown
    assert command(["sessions", "search", "--json", "kiwi"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {hit["session"] for hit in found} == {FIRST}
    assert any(hit["text"].startswith("A kiwi") for hit in found)


def test_rename(kept: Path, capsys: Captured) -> None:
    assert command(["sessions", "rename", "20270102", "A", "better\nname"]) == 0
    assert capsys.readouterr().out == f"{SECOND} is now: A better name\n"
    assert command(["sessions", "show", "a better name"]) == 0


def test_export_to_a_new_file_and_never_over_another(kept: Path, capsys: Captured) -> None:
    target = kept / "out.json"
    assert command(["sessions", "export", "fruit", "--format", "json", "-o", str(target)]) == 0
    assert target.stat().st_mode & 0o777 == 0o600
    assert [entry["role"] for entry in json.loads(target.read_text())["messages"]] == [
        "user",
        "assistant",
        "tool",
        "assistant",
    ]
    before = target.read_bytes()
    assert command(["sessions", "export", "fruit", "-o", str(target)]) == 2
    assert "exists already" in capsys.readouterr().err
    assert target.read_bytes() == before
    assert command(["sessions", "export", "fruit", "-o", str(kept / "no" / "out.md")]) == 1
    assert "cannot be written" in capsys.readouterr().err


def test_delete_wants_a_yes(kept: Path, capsys: Captured) -> None:
    assert command(["sessions", "delete", "fruit"]) == 2
    assert "--yes" in capsys.readouterr().err
    assert command(["sessions", "delete", "fruit", "--yes"]) == 0
    assert command(["sessions", "show", "fruit"]) == 2


def test_delete_takes_the_long_results_along_and_no_others(kept: Path, capsys: Captured) -> None:
    results = kept / "cache" / "results"
    for session in (FIRST, SECOND):
        (results / session).mkdir(parents=True)
        (results / session / "call_1.txt").write_text("long")
    assert command(["sessions", "delete", "fruit", "--yes"]) == 0
    assert capsys.readouterr().out == f"Deleted: {FIRST}\n"
    assert [path.name for path in results.iterdir()] == [SECOND]
    (results / SECOND / "call_1.txt").unlink()
    (results / SECOND).rmdir()
    (results / SECOND).write_text("no folder")
    assert command(["sessions", "delete", SECOND, "--yes"]) == 1
    assert f"Remove {results / SECOND} yourself" in capsys.readouterr().err


@pytest.mark.parametrize("key", ["..", "a/../../precious", "/precious"])
def test_an_id_that_is_no_name_of_a_folder_removes_nothing(home: Path, key: str) -> None:
    async def write() -> None:
        store = open_store(home / "hermes.db", StillClock())
        await store.write(lambda tx: tx.sessions.create(Session(SessionId(key), SessionId(key), title="odd")))
        await store.close()

    asyncio.run(write())
    precious = home / "cache" / "precious"
    precious.mkdir(parents=True)
    assert command(["sessions", "delete", "odd", "--yes"]) == 0
    assert precious.is_dir()


def test_a_title_of_many_lines_is_one(home: Path, capsys: Captured) -> None:
    async def write() -> None:
        store = open_store(home / "hermes.db", StillClock())
        await store.write(
            lambda tx: tx.sessions.create(Session(FIRST, FIRST, title="a\nb\r\n\n" + "c" * 500))
        )
        await store.close()

    asyncio.run(write())
    assert command(["sessions", "list"]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert line.endswith("a b " + "c" * 55 + "…")
    assert command(["sessions", "show", FIRST]) == 0
    assert capsys.readouterr().out.startswith("# a b ccc")
