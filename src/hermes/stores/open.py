"""Opening a store by its address: a file path or a postgresql:// URL."""

from importlib import import_module
from pathlib import Path
from typing import cast

from hermes.core.clock import Clock
from hermes.core.errors import StoreError
from hermes.core.store import Store
from hermes.stores.sqlite import sqlite_store


def open_store(target: str | Path, clock: Clock) -> Store:
    """The store at `target`, opened at its first use.

    Args:
        target: a file path (SQLite), or a URL that begins with postgresql:// or postgres://.
        clock: stamps rows that come without a time.

    Raises:
        StoreError: the URL needs a package that is not installed.
    """
    if isinstance(target, str) and target.startswith(("postgresql://", "postgres://")):
        try:
            module = import_module("hermes.stores.postgres")
        except ModuleNotFoundError as error:
            raise StoreError(
                "database.url names PostgreSQL, but its driver is not installed:"
                " pip install 'hermes[postgres]'"
            ) from error
        return cast(Store, module.postgres_store(target, clock))
    return sqlite_store(Path(target), clock)
