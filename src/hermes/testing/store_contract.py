"""The contract of a store, as tests: what every database behind `Store` must do.

For authors of a store: make a subclass whose name begins with Test, mark it `anyio`, and give it a
fixture `opened`, a function that opens the store under test. Each call gives a further one on the
same, at first empty, place, as another process would see it; the fixture closes them.
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias

import anyio
import pytest

from hermes.core.errors import StaleWriter, StoreError
from hermes.core.ids import CallId, ItemId, QuestionId, SessionId, TurnId
from hermes.core.messages import (
    JSON,
    Media,
    Message,
    Note,
    Outcome,
    Role,
    Text,
    Thought,
    ToolCall,
    ToolResult,
    Usage,
    user,
)
from hermes.core.people import Address
from hermes.core.questions import Answer, Question
from hermes.core.store import InboxItem, OutboxItem, Session, Store, Tx

Opened: TypeAlias = Callable[[], Store]
SECOND = 1_000_000
ONE, TWO = SessionId("20300101-000000-aaaaaa"), SessionId("20300101-000000-bbbbbb")
TURN = TurnId("turn_1")
HOME = Address("chat", "bot", "chat-7", "thread-9")


def session(id: SessionId = ONE, title: str = "", principal: str = "local", created: int = 10) -> Session:
    """A session's row with nothing special about it."""
    return Session(id, id, title=title, principal=principal, created=created, updated=created)


async def create(store: Store, one: Session) -> None:
    """Create the session."""
    await store.write(lambda tx: tx.sessions.create(one))


async def begun(store: Store, *sessions: Session) -> None:
    """Create the sessions, one plain one if none is given."""
    for one in sessions or (session(),):
        await create(store, one)


async def append(store: Store, message: Message, of: SessionId = ONE, epoch: int = 0) -> int:
    """Append a message; return its place."""
    return await store.write(lambda tx: tx.messages.append(of, message, epoch))


async def said(store: Store, text: str, of: SessionId = ONE, at: int = 100) -> int:
    """Append a person's message; return its place."""
    return await append(store, user(text, at=at), of)


async def logged(store: Store, of: SessionId = ONE) -> list[str]:
    """The texts of a session's log."""
    return [one.message.text for one in await store.read(lambda tx: tx.messages.all(of))]


class SessionContract:
    async def test_a_session_is_read_back_as_it_was_created(self, opened: Opened) -> None:
        one = Session(
            *(TWO, ONE, ONE, "Größe \U0001f600", "telegram", "tg:501", "/home/ö", "vendor/model"),
            *(("stable", "context"), 5, 6, Usage(1, 2, 3, 4, 5, 0.25, 6)),
        )
        store = opened()
        await begun(store, one)
        assert await opened().read(lambda tx: tx.sessions.get(TWO)) == one
        assert await store.read(lambda tx: tx.sessions.get(ONE)) is None

    async def test_a_session_is_created_once(self, opened: Opened) -> None:
        store = opened()
        await begun(store)
        with pytest.raises(StoreError, match=ONE):
            await begun(store)

    async def test_found_by_id_beginning_and_title(self, opened: Opened) -> None:
        store = opened()
        await begun(
            store, session(ONE, "Straße planen", created=1), session(TWO, "STRASSE planen", created=2)
        )

        async def find(text: str) -> Sequence[SessionId]:
            return [one.id for one in await store.read(lambda tx: tx.sessions.find(text))]

        assert await find(ONE) == [ONE]
        assert await find("20300101") == [TWO, ONE]
        assert await find("strasse PLANEN") == [TWO, ONE]
        for nothing in ("", "  ", "strasse", "%", "2030010_", "20300101-000000-aaaaaab", "\0", "\ud800"):
            assert await find(nothing) == []

    async def test_listed_by_activity_and_owner(self, opened: Opened) -> None:
        store = opened()
        await begun(store, session(ONE, principal="u1", created=1), session(TWO, principal="u2", created=2))
        await said(store, "newest now", ONE, at=50)

        async def listed(principal: str | None = None, limit: int = 20, offset: int = 0) -> list[SessionId]:
            rows = await store.read(lambda tx: tx.sessions.list(limit, offset, principal))
            return [row.id for row in rows]

        assert await listed() == [ONE, TWO]
        assert await listed(limit=1, offset=1) == [TWO]
        assert await listed("u2") == [TWO]
        assert await listed("u3") == []
        assert await store.read(lambda tx: tx.sessions.find(ONE, "u2")) == []
        assert await store.read(lambda tx: tx.sessions.list(source="telegram")) == []

    async def test_renamed_moved_and_prompted(self, opened: Opened) -> None:
        store = opened()
        await begun(store)

        def change(tx: Tx) -> None:
            tx.sessions.rename(ONE, "New\0 name\ud800")
            tx.sessions.move(ONE, cwd="/tmp", model="m2")
            tx.sessions.move(ONE)
            tx.sessions.prompt(ONE, ("a", "b"))

        await store.write(change)
        row = await store.read(lambda tx: tx.sessions.get(ONE))
        assert row is not None
        assert (row.title, row.cwd, row.model, row.system) == (
            "New\ufffd name\ufffd",
            "/tmp",
            "m2",
            ("a", "b"),
        )
        with pytest.raises(StoreError, match="no session"):
            await store.write(lambda tx: tx.sessions.rename(TWO, "x"))

    async def test_a_deleted_session_leaves_nothing_to_be_found(self, opened: Opened) -> None:
        store = opened()
        await begun(store, session(ONE), session(TWO))
        await said(store, "a secret plan", ONE)
        await said(store, "an open plan", TWO)
        assert len(await store.search("plan")) == 2
        await store.write(lambda tx: tx.drafts.add(ONE, TURN, 0, "half"))
        await store.write(lambda tx: tx.inbox.put(item("m1")))
        await store.write(lambda tx: tx.sessions.delete(ONE))
        assert await store.read(lambda tx: tx.sessions.get(ONE)) is None
        assert await logged(store) == []
        assert await store.read(lambda tx: tx.drafts.read(ONE)) == ""
        assert await store.read(lambda tx: tx.inbox.sessions()) == []
        assert not await store.write(lambda tx: tx.inbox.put(item("m1")))
        assert [hit.session for hit in await store.search("plan")] == [TWO]
        assert await store.search("secret") == []
        assert await logged(store, TWO) == ["an open plan"]


class MessageContract:
    async def test_every_part_comes_back(self, opened: Opened) -> None:
        media = Media("image", "/tmp/a.png", "image/png")
        data: dict[str, JSON] = {"n": 2**80, "x": [1.5, None, True, {"deep": "ü"}], "nul": "a\0b"}
        messages = [
            Message(Role.USER, (Text("hi \0 \u2028 \U0001f600"), Note("in /tmp", "context"), media), at=1),
            Message(
                Role.ASSISTANT,
                (Thought("hm", "sig", "v/m", True), ToolCall(CallId("c1"), "read_file", data, "cut")),
                Usage(10, 20, 3, 4, 5, 0.125, 1),
                at=2,
                model="v/m",
                interrupted=True,
            ),
            Message(
                Role.TOOL,
                (ToolResult(CallId("c1"), Outcome.TIMED_OUT, "late", data, (media,), {"seconds": 1}),),
                at=3,
            ),
        ]
        store = opened()
        await begun(store)
        for message in messages:
            await append(store, message)
        rows = await opened().read(lambda tx: tx.messages.all(ONE))
        assert [row.message for row in rows] == messages
        assert [row.seq for row in rows] == [1, 2, 3]
        assert [row.seq for row in await store.read(lambda tx: tx.messages.all(ONE, 2))] == [3]

    async def test_appending_adds_up(self, opened: Opened) -> None:
        store, spent = opened(), Usage(10, 20, 3, 4, 5, 0.5, 1)
        await begun(store)
        for at in (100, 200):
            message = Message(Role.ASSISTANT, (Text("x"),), spent, at=at)
            await append(store, message)
        row = await store.read(lambda tx: tx.sessions.get(ONE))
        assert row is not None
        assert (row.count, row.updated, row.usage) == (2, 200, spent + spent)

    async def test_a_message_without_a_time_gets_one(self, opened: Opened) -> None:
        store = opened()
        await begun(store)
        await said(store, "now", at=0)
        assert (await store.read(lambda tx: tx.messages.all(ONE)))[0].message.at > 0

    async def test_lone_surrogates_do_no_harm(self, opened: Opened) -> None:
        store = opened()
        await begun(store)
        await said(store, "cut \ud83d here")
        assert await logged(store) == ["cut \ufffd here"]

    async def test_no_message_without_a_session(self, opened: Opened) -> None:
        with pytest.raises(StoreError, match="no session"):
            await said(opened(), "lost")

    async def test_taken_back_and_put_back(self, opened: Opened) -> None:
        store = opened()
        await begun(store)
        for text in ("one word", "two word", "three word"):
            await said(store, text)
        assert await store.write(lambda tx: tx.messages.retract(ONE, 2)) == 2
        assert await store.write(lambda tx: tx.messages.retract(ONE, 2)) == 0
        assert await logged(store) == ["one word"]
        assert [hit.seq for hit in await store.search("word")] == [1]
        assert await said(store, "four word") == 4
        assert await store.write(lambda tx: tx.messages.restore(ONE, 3)) == 1
        assert await logged(store) == ["one word", "three word", "four word"]
        row = await store.read(lambda tx: tx.sessions.get(ONE))
        assert row is not None
        assert row.count == 3
        assert sorted(hit.seq for hit in await store.search("word")) == [1, 3, 4]

    async def test_a_log_is_read_backwards(self, opened: Opened) -> None:
        store = opened()
        await begun(store)
        for number in range(120):
            await said(store, f"{number} {'100%_of' if number % 60 == 7 else 'x'}")
        await store.write(lambda tx: tx.messages.retract(ONE, 119))

        def places(word: str, session: SessionId = ONE) -> Callable[[Tx], list[int]]:
            return lambda tx: [row.seq for row in tx.messages.back(session, word)]

        assert await store.read(places("")) == list(range(118, 0, -1))
        assert await store.read(places("100%_")) == [68, 8]
        assert await store.read(places("100_")) == []
        assert await store.read(places("", SessionId("nobody"))) == []

    async def test_drafts_are_read_in_order_and_cleared(self, opened: Opened) -> None:
        store = opened()
        await begun(store)
        for n, text in ((1, "lo"), (0, "Hel"), (2, " there"), (2, " world")):
            draft(store, n, text)
        await store.write(lambda tx: tx.drafts.add(TWO, TURN, 0, "other"))
        assert await opened().read(lambda tx: tx.drafts.read(ONE)) == "Hello world"
        await store.write(lambda tx: tx.drafts.clear(ONE))
        assert await store.read(lambda tx: tx.drafts.read(ONE)) == ""
        assert await store.read(lambda tx: tx.drafts.read(TWO)) == "other"


def draft(store: Store, n: int, text: str) -> None:
    """Keep a piece of streamed text, without waiting."""
    store.post(lambda tx: tx.drafts.add(ONE, TURN, n, text))


def post(store: Store, text: str) -> None:
    """Append a person's message without waiting."""
    store.post(lambda tx: tx.messages.append(ONE, user(text)))


def item(id: str, of: SessionId = ONE, at: int = 1) -> InboxItem:
    """An inbox item with nothing special about it."""
    return InboxItem(ItemId(id), of, "chat", f"text of {id}", HOME, at)


def reply(id: str, at: int = 1) -> OutboxItem:
    """An outbox item with nothing special about it."""
    return OutboxItem(ItemId(id), ONE, HOME, f"text of {id}", at)


async def receive(store: Store, one: InboxItem) -> bool:
    """Take in an item."""
    return await store.write(lambda tx: tx.inbox.put(one))


async def send(store: Store, one: OutboxItem) -> bool:
    """Put a message on its way."""
    return await store.write(lambda tx: tx.outbox.put(one))


class MailContract:
    async def test_an_item_is_taken_in_once(self, opened: Opened) -> None:
        store, other = opened(), opened()
        assert await store.write(lambda tx: tx.inbox.put(item("m1")))
        assert not await other.write(lambda tx: tx.inbox.put(item("m1")))
        assert await other.read(lambda tx: tx.inbox.waiting(ONE)) == [item("m1")]
        await store.write(lambda tx: tx.inbox.take([ItemId("m1")], TURN))
        assert await store.read(lambda tx: tx.inbox.waiting(ONE)) == []
        assert not await store.write(lambda tx: tx.inbox.put(item("m1")))

    async def test_the_longest_waiting_session_is_first(self, opened: Opened) -> None:
        store = opened()
        for one in (item("a", TWO, 5), item("b", ONE, 9), item("c", TWO, 1), item("d", ONE, 2)):
            await receive(store, one)
        assert await store.read(lambda tx: tx.inbox.sessions()) == [TWO, ONE]
        assert [one.id for one in await store.read(lambda tx: tx.inbox.waiting(TWO))] == ["a", "c"]
        await store.write(lambda tx: tx.inbox.take([ItemId("c"), ItemId("a")], TURN))
        assert await store.read(lambda tx: tx.inbox.sessions()) == [ONE]

    async def test_two_senders_never_get_the_same_row(self, opened: Opened) -> None:
        store, other = opened(), opened()
        for n in range(40):
            await send(store, reply(f"r{n:02}"))
        claimed: list[str] = []

        async def sender(by: Store) -> None:
            while rows := await by.write(lambda tx: tx.outbox.claim(3, 100)):
                claimed.extend(row.id for row in rows)

        async with anyio.create_task_group() as senders:
            senders.start_soon(sender, store)
            senders.start_soon(sender, other)
        assert sorted(claimed) == [f"r{n:02}" for n in range(40)]

    async def test_an_outgoing_message_is_claimed_and_settled(self, opened: Opened) -> None:
        store = opened()
        assert await store.write(lambda tx: tx.outbox.put(reply("r1", at=5)))
        assert not await store.write(lambda tx: tx.outbox.put(reply("r1")))
        assert await store.write(lambda tx: tx.outbox.claim(9, 4)) == []
        (row,) = await store.write(lambda tx: tx.outbox.claim(9, 5))
        assert (row.state, row.attempts, row.address) == ("sending", 1, HOME)
        await store.write(lambda tx: tx.outbox.settle(row.id, "due", error="flood"))
        (row,) = await store.write(lambda tx: tx.outbox.claim(9, 5))
        assert (row.attempts, row.error) == (2, "flood")
        await store.write(lambda tx: tx.outbox.settle(row.id, "sent", receipt="55"))
        sent = await store.read(lambda tx: tx.outbox.get(row.id))
        assert sent is not None
        assert (sent.state, sent.receipt, sent.error) == ("sent", "55", "")
        assert await store.read(lambda tx: tx.outbox.get(ItemId("none"))) is None

    async def test_claimed_in_the_order_of_time(self, opened: Opened) -> None:
        store = opened()
        for id, at in (("b", 2), ("c", 2), ("a", 1)):
            await send(store, reply(id, at))
        rows = await store.write(lambda tx: tx.outbox.claim(2, 100))
        assert [row.id for row in rows] == ["a", "b"]


class QuestionContract:
    async def test_a_question_is_settled_once(self, opened: Opened) -> None:
        store, other = opened(), opened()
        asked = Question(QuestionId("q1"), "approval", "rm -rf x", "destructive", ("once", "deny"), 50)
        await store.write(lambda tx: tx.questions.put(ONE, asked, 1))
        assert await other.read(lambda tx: tx.questions.open(ONE)) == [asked]
        assert await other.read(lambda tx: tx.questions.open(TWO)) == []
        assert await store.read(lambda tx: tx.questions.answered(asked.id)) is None
        yes, no = Answer(asked.id, "once", "u1"), Answer(asked.id, "deny", "u2")
        assert await store.write(lambda tx: tx.questions.answer(yes, 2))
        assert not await other.write(lambda tx: tx.questions.answer(no, 3))
        assert await other.read(lambda tx: tx.questions.answered(asked.id)) == yes
        assert await store.read(lambda tx: tx.questions.open()) == []

    async def test_too_late_and_unknown_answers_count_for_nothing(self, opened: Opened) -> None:
        store = opened()
        asked = Question(QuestionId("q1"), "clarify", "which one?", expires=50)
        await store.write(lambda tx: tx.questions.put(ONE, asked, 1))
        assert not await store.write(lambda tx: tx.questions.answer(Answer(asked.id, "a"), 50))
        assert not await store.write(lambda tx: tx.questions.answer(Answer(QuestionId("q2"), "a"), 1))
        assert await store.read(lambda tx: tx.questions.answered(asked.id)) is None


class LeaseContract:
    async def test_one_holder_at_a_time(self, opened: Opened) -> None:
        store, other = opened(), opened()
        first = await store.write(lambda tx: tx.leases.acquire("tick", "a", 10, 0))
        assert first is not None
        assert (first.epoch, first.until) == (1, 10 * SECOND)
        assert await other.write(lambda tx: tx.leases.acquire("tick", "b", 10, 5 * SECOND)) is None
        again = await store.write(lambda tx: tx.leases.acquire("tick", "a", 10, 5 * SECOND))
        assert again is not None
        assert (again.epoch, again.until) == (1, 15 * SECOND)
        taken = await other.write(lambda tx: tx.leases.acquire("tick", "b", 10, 15 * SECOND))
        assert taken is not None
        assert taken.epoch == 2
        assert await store.read(lambda tx: tx.leases.current("tick")) == taken
        await store.write(lambda tx: tx.leases.release(again))
        assert await store.read(lambda tx: tx.leases.current("tick")) == taken
        await other.write(lambda tx: tx.leases.release(taken))
        assert await store.read(lambda tx: tx.leases.current("tick")) is None
        last = await store.write(lambda tx: tx.leases.acquire("tick", "a", 10, 15 * SECOND))
        assert last is not None
        assert last.epoch == 3

    async def test_a_crowd_gets_one_lease(self, opened: Opened) -> None:
        stores = [opened(), opened()]
        got: list[str] = []

        async def grab(n: int) -> None:
            lease = await stores[n % 2].write(lambda tx: tx.leases.acquire("one", f"h{n}", 10, 0))
            if lease is not None:
                got.append(lease.holder)

        async with anyio.create_task_group() as crowd:
            for n in range(20):
                crowd.start_soon(grab, n)
        assert len(got) == 1

    async def test_a_stale_worker_cannot_write(self, opened: Opened) -> None:
        store, name = opened(), f"session:{ONE}"
        await begun(store)

        with pytest.raises(StaleWriter, match=ONE):
            await append(store, user("without a lease"), epoch=1)
        old = await store.write(lambda tx: tx.leases.acquire(name, "a", 1, 0))
        assert old is not None
        assert await append(store, user("in time"), epoch=old.epoch) == 1
        new = await store.write(lambda tx: tx.leases.acquire(name, "b", 1, 2 * SECOND))
        assert new is not None
        with pytest.raises(StaleWriter):
            await append(store, user("too late"), epoch=old.epoch)
        assert await append(store, user("mine now"), epoch=new.epoch) == 2
        await store.write(lambda tx: tx.leases.release(new))
        with pytest.raises(StaleWriter):
            await append(store, user("after giving it back"), epoch=new.epoch)
        assert await logged(store) == ["in time", "mine now"]


class TransactionContract:
    async def test_an_error_undoes_its_own_work_only(self, opened: Opened) -> None:
        store = opened()
        await begun(store)
        outcomes: dict[str, str] = {}

        async def attempt(n: int) -> None:
            def work(tx: Tx) -> None:
                tx.messages.append(ONE, user(f"message {n}"))
                if n % 3 == 0:
                    raise KeyError(f"no {n}")

            try:
                await store.write(work)
            except KeyError as error:
                outcomes[f"message {n}"] = str(error)

        async with anyio.create_task_group() as crowd:
            for n in range(30):
                crowd.start_soon(attempt, n)
        assert sorted(outcomes) == sorted(f"message {n}" for n in range(0, 30, 3))
        assert sorted(await logged(store)) == sorted(f"message {n}" for n in range(30) if n % 3)
        assert [row.seq for row in await store.read(lambda tx: tx.messages.all(ONE))] == list(range(1, 21))

    async def test_a_failed_statement_undoes_its_own_work_only(self, opened: Opened) -> None:
        store = opened()
        await begun(store)

        def twice(tx: Tx) -> None:
            tx.messages.append(ONE, user("before"))
            tx.sessions.create(session(ONE))

        async with anyio.create_task_group() as crowd:
            crowd.start_soon(said, store, "first")
            with pytest.raises(StoreError):
                await store.write(twice)
        await said(store, "second")
        assert await logged(store) == ["first", "second"]

    async def test_posts_keep_their_order(self, opened: Opened, caplog: pytest.LogCaptureFixture) -> None:
        store = opened()
        await begun(store)
        for n in range(50):
            post(store, str(n))
        store.post(lambda tx: tx.messages.append(TWO, user("nowhere")))
        assert await said(store, "last") == 51
        assert await logged(store) == [*map(str, range(50)), "last"]
        assert "no session" in caplog.text

    async def test_a_read_cannot_write(self, opened: Opened) -> None:
        store = opened()
        await begun(store)
        with pytest.raises(StoreError):
            await store.read(lambda tx: tx.messages.append(ONE, user("no")))
        assert await logged(store) == []

    async def test_a_read_sees_one_moment(self, opened: Opened) -> None:
        store, other = opened(), opened()
        await begun(store)
        await said(store, "before")
        seen: list[int] = []

        def look_twice(tx: Tx) -> None:
            seen.append(len(tx.messages.all(ONE)))
            anyio.from_thread.run(said, other, "meanwhile", token=token)
            seen.append(len(tx.messages.all(ONE)))

        token = anyio.lowlevel.current_token()
        await store.read(look_twice)
        assert seen == [1, 1]
        assert await logged(store) == ["before", "meanwhile"]

    async def test_two_writers_keep_every_row(self, opened: Opened) -> None:
        stores = [opened(), opened()]
        await begun(stores[0])

        async def write(n: int) -> None:
            for k in range(20):
                await said(stores[n], f"{n}-{k}")

        async with anyio.create_task_group() as writers:
            writers.start_soon(write, 0)
            writers.start_soon(write, 1)
        rows = await stores[0].read(lambda tx: tx.messages.all(ONE))
        assert [row.seq for row in rows] == list(range(1, 41))
        assert {row.message.text for row in rows} == {f"{n}-{k}" for n in (0, 1) for k in range(20)}

    async def test_what_was_posted_is_there_after_closing(self, opened: Opened) -> None:
        store = opened()
        await begun(store)
        store.post(lambda tx: tx.messages.append(ONE, user("posted")))
        await store.close()
        await store.close()
        assert await logged(opened()) == ["posted"]
        with pytest.raises(StoreError, match="closed"):
            await said(store, "after")


TICKET = "ticket #417: don't ship app/server.py before 75% of ops@example.org ack the re-issue"


CONTAINED = (
    *("#417", "app/server.py", "don't", "75%", "ops@example.org", "re-issue"),
    *("TICKET", "ship ack", '"before 75%"', "tick*", "erver", "#", '"', "417:", "…re-issue"),
)
HARMLESS = (
    '"unbalanced',
    "AND",
    "title:foo",
    "*",
    "",
    " ",
    "()",
    "NEAR(",
    "a OR b",
    "-x",
    "\0",
    "\ud800",
    "'",
)
SCRIPTS = (
    *(("strasse", "Straße"), ("STRASSE", "Straße"), ("naive", "naïve"), ("ΣΊΣΥΦΟΣ", "Σίσυφος")),
    *(("東", "東"), ("京都", "京都"), ("한국", "한국"), ("ガ", "ガ"), ("สวัส", "สวัส"), ("हिन्दी", "हिन्दी")),
)


class SearchContract:
    async def test_plainly_contained_text_is_found(self, opened: Opened) -> None:
        store = opened()
        await begun(store, session(title="Release"))
        await said(store, 'say "yes" or ' + TICKET)
        found = {query: await store.search(query) for query in CONTAINED}
        assert [query for query, hits in found.items() if len(hits) != 1] == []
        hit = found["#417"][0]
        assert (hit.session, hit.seq, hit.role, hit.at, hit.title) == (ONE, 1, "user", 100, "Release")
        assert "\x02417\x03" in hit.snippet

    async def test_any_text_is_a_valid_query(self, opened: Opened) -> None:
        store = opened()
        await begun(store)
        await said(store, "ticket: nothing of all this")
        assert [query for query in HARMLESS if await store.search(query)] == []

    async def test_every_script_is_found(self, opened: Opened) -> None:
        store = opened()
        await begun(store)
        await said(store, "Straße naïve Σίσυφος 東京都で会う 한국어는 ガハハ สวัสดี हिन्दी")
        for query, found in SCRIPTS:
            (hit,) = await store.search(query)
            assert f"\x02{found}\x03" in hit.snippet
        assert await store.search("カ") == []
        assert await store.search("京東") == []

    async def test_texts_notes_and_results_are_searched(self, opened: Opened) -> None:
        store = opened()
        await begun(store)
        result = ToolResult(CallId("c"), Outcome.OK, "resultword", {"k": "dataword"}, (), {"k": "metaword"})
        parts = (Text("textword"), Note("noteword"), Thought("thoughtword"), result)
        await store.write(lambda tx: tx.messages.append(ONE, Message(Role.TOOL, parts)))
        for word in ("textword", "noteword", "resultword"):
            assert len(await store.search(word)) == 1
        for word in ("thoughtword", "dataword", "metaword"):
            assert await store.search(word) == []

    async def test_nobody_sees_another_principals_messages(self, opened: Opened) -> None:
        store = opened()
        await begun(store, session(ONE, "tax plan", "u1"), session(TWO, "other", "u2"))
        await said(store, "tax plan 2031 #", ONE)
        await said(store, "something else", TWO)
        for query in ("tax plan", "2031", "#", "lan 20"):
            assert await store.search(query, principal="u2") == []
            assert len(await store.search(query, principal="u1")) == 1
            assert len(await store.search(query)) == 1
            assert await store.search(query, session=TWO) == []
            assert len(await store.search(query, session=ONE)) == 1

    async def test_better_first_then_newer_first(self, opened: Opened) -> None:
        store = opened()
        await begun(store)
        await said(store, "owl")
        await said(store, "an owl in a long text about many other things of no interest")
        await said(store, "owl")
        found = [hit.seq for hit in await store.search("owl")]
        assert found.index(3) < found.index(1)
        assert sorted(found) == [1, 2, 3]
        assert len(await store.search("owl", limit=2)) == 2

    async def test_all_words_are_wanted(self, opened: Opened) -> None:
        store = opened()
        await begun(store)
        await said(store, "red house")
        await said(store, "red mouse, green house")
        assert [hit.seq for hit in await store.search("house red")] != []
        assert [hit.seq for hit in await store.search('"red house"')] == [1]
        assert [hit.seq for hit in await store.search("house green")] == [2]
        assert [hit.seq for hit in await store.search("hou* mou*")] == [2]
        assert await store.search("red ship") == []

    async def test_what_another_process_wrote_is_found(self, opened: Opened) -> None:
        store, other = opened(), opened()
        await begun(store)
        await said(store, "first light")
        assert len(await other.search("light")) == 1
        await said(other, "second light")
        assert len(await store.search("light")) == 2
        assert len(await other.search("light")) == 2

    async def test_built_anew_it_finds_the_same(self, opened: Opened) -> None:
        store = opened()
        await begun(store, session(ONE), session(TWO))
        for n in range(5):
            await said(store, f"number {n} of many")
            await said(store, f"number {n} elsewhere", TWO)
        await store.write(lambda tx: tx.sessions.delete(TWO))
        before = await store.search("number")
        assert await store.reindex() == 5
        assert await store.search("number") == before
        assert await store.search("elsewhere") == []


class StoreContract(
    SessionContract,
    MessageContract,
    MailContract,
    QuestionContract,
    LeaseContract,
    TransactionContract,
    SearchContract,
):
    """All of it."""
