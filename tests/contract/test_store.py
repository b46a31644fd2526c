"""Both stores keep the contract: SQLite in a file, PostgreSQL on a real server."""

import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from hermes.core.store import Store
from hermes.stores.open import open_store
from hermes.testing.store_contract import StoreContract

pytestmark = pytest.mark.anyio


class SystemTime:
    def now(self) -> int:
        return time.time_ns() // 1000

    def monotonic(self) -> float:
        return time.monotonic()


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class TestStore(StoreContract):
    @pytest.fixture(params=["sqlite", "postgres"])
    async def opened(
        self, request: pytest.FixtureRequest, tmp_path: Path
    ) -> AsyncIterator[Callable[[], Store]]:
        sqlite = request.param == "sqlite"
        target = tmp_path / "state.db" if sqlite else request.getfixturevalue("postgres_emptied")
        stores: list[Store] = []

        def another() -> Store:
            stores.append(open_store(target, SystemTime()))
            return stores[-1]

        yield another
        for store in stores:
            await store.close()
