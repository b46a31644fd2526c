"""In-process measurements of this product; uses its public names and its store port."""
import asyncio, os, random, sys, threading, time
from pathlib import Path
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import emit, rss_kb, text

WRITERS = 64      # sessions that write at the same time: each waits for its own message to be on disk


def d_import():
    r0, t0, c0, m0 = rss_kb(), time.perf_counter(), time.process_time(), len(sys.modules)
    from hermes import Agent  # noqa: F401
    emit(import_s=time.perf_counter() - t0, import_cpu_s=time.process_time() - c0, rss_before_kb=r0,
         rss_after_kb=rss_kb(), modules=len(sys.modules) - m0)


def d_agents(base, n, turns):
    n, turns = int(n), int(turns)
    from hermes import Agent

    def mk():
        return Agent("fake-model", base_url=base, api_key="sk-bench")
    a = [mk()]                       # the first one pays the lazy imports
    for _ in range(turns):
        a[0].run_conversation("say hi")
    r0, t0, c0 = rss_kb(), time.perf_counter(), time.process_time()
    series = []
    for k in range(n):
        ag = mk()
        hist = []
        for t in range(turns):
            hist = ag.run_conversation(f"say hi {k} {t}", conversation_history=hist)["messages"]
        a.append((ag, hist))
        if k % 10 == 9:
            series.append(rss_kb())
    dt, dc = time.perf_counter() - t0, time.process_time() - c0
    emit(n=n, turns=turns, rss_first_kb=r0, rss_end_kb=rss_kb(), per_agent_kb=(rss_kb() - r0) / n,
         per_agent_s=dt / n, per_agent_cpu_s=dc / n, series_kb=series, threads=threading.active_count())
    sys.__stdout__.flush()
    os._exit(0)


def d_db(n, per):
    asyncio.run(db(int(n), int(per)))


async def db(n, per):
    from hermes.app.clock import SystemClock
    from hermes.core.ids import CallId, SessionId
    from hermes.core.messages import Message, Role, Text
    from hermes.core.services import Services
    from hermes.core.store import Session, Store
    from hermes.core.tools import ToolContext
    from hermes.stores.open import open_store
    p = Path(os.environ["HERMES_HOME"]) / "hermes.db"
    clock = SystemClock()
    store = open_store(p, clock)
    rng = random.Random(1)
    chunk = n // 5
    rates, cpu_rates = [], []

    async def session(k, bodies):
        key = SessionId(f"s{k:06d}")
        now = clock.now()
        await store.write(lambda tx: tx.sessions.create(Session(key, key, source="terminal", created=now, updated=now)))
        for i, body in enumerate(bodies):
            m = Message(Role.USER if i % 2 == 0 else Role.ASSISTANT, (Text(body),), at=clock.now())
            await store.write(lambda tx, m=m: tx.messages.append(key, m))

    for c in range(5):
        rows = [text(rng) for _ in range(chunk)]
        todo = [(c * chunk // per + j, rows[j * per:(j + 1) * per]) for j in range(chunk // per)]
        t0, c0 = time.perf_counter(), time.process_time()

        async def worker():
            while todo:
                await session(*todo.pop(0))
        async with asyncio.TaskGroup() as tasks:
            for _ in range(WRITERS):
                tasks.create_task(worker())
        rates.append(chunk / (time.perf_counter() - t0))
        cpu_rates.append((time.process_time() - c0) / chunk)
    last = SessionId("s000010")
    await store.write(lambda tx: tx.messages.append(
        last, Message(Role.USER, (Text("the needle zzqxneedle is here"),), at=clock.now())))
    await store.close()
    size = sum(f.stat().st_size for f in p.parent.glob("*.db*"))
    t0 = time.perf_counter()
    store = open_store(p, clock)
    await store.read(lambda tx: tx.sessions.list(1))
    open_s = time.perf_counter() - t0
    t0 = time.perf_counter()
    await store.search("warm the index", limit=1)
    index_s = time.perf_counter() - t0
    from common import VOCAB
    q = {"rare_unique": "zzqxneedle", "common_word": VOCAB[1], "mid_word": VOCAB[200], "and_two": f"{VOCAB[30]} {VOCAB[60]}",
         "phrase": f'"{VOCAB[3]} {VOCAB[5]}"', "prefix": VOCAB[100][:3] + "*", "no_hit": "qqqqzzzzxxxx"}
    out = {}
    for k, s in q.items():
        ts, cs, hits = [], [], None
        for _ in range(8):
            t0, c0 = time.perf_counter(), time.process_time()
            hits = len(await store.search(s, limit=20))
            ts.append(time.perf_counter() - t0)
            cs.append(time.process_time() - c0)
        out[k] = dict(first_s=ts[0], samples=ts[1:], cpu=cs[1:], hits=hits)
    from hermes.tools.session_search import session_search
    ctx = ToolContext(CallId("c"), last, "/", Services({Store: store}))
    tool = {}
    for k in ("rare_unique", "common_word", "and_two"):
        ts = []
        for _ in range(6):
            t0 = time.perf_counter()
            await session_search.run(ctx, {"query": q[k]})
            ts.append(time.perf_counter() - t0)
        tool[k] = ts
    lst, ld = [], []
    for _ in range(6):
        t0 = time.perf_counter()
        await store.read(lambda tx: tx.sessions.list(20))
        lst.append(time.perf_counter() - t0)
    for _ in range(6):
        t0 = time.perf_counter()
        await store.read(lambda tx: tx.messages.all(last))
        ld.append(time.perf_counter() - t0)
    emit(n=n, per_session=per, writers=WRITERS, insert_rate_by_fifth=rates, insert_cpu_s_by_fifth=cpu_rates, db_bytes=size,
         open_s=open_s, index_s=index_s, search=out, tool=tool, list_sessions_s=lst, load_session_s=ld, rss_kb=rss_kb())
    await store.close()


def d_cron(n):
    sys.exit("cron is not part of this version")


{"import": d_import, "agents": d_agents, "db": d_db, "cron": d_cron}[sys.argv[1]](*sys.argv[2:])
