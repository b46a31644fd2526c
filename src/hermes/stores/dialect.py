"""Dialect: what SQLite and PostgreSQL write differently."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

Value: TypeAlias = "str | int | float | None"


class Rows(Protocol):
    """The part of a database cursor the repositories use."""

    @property
    def rowcount(self) -> int: ...
    def fetchone(self) -> Any: ...
    def fetchall(self) -> list[Any]: ...


class Database(Protocol):
    """One open connection that understands the common SQL text (placeholders are `?`)."""

    def execute(self, sql: str, values: Sequence[Value] = (), /) -> Rows: ...


@dataclass(frozen=True, slots=True)
class Dialect:
    """`identity` is the type of a self-numbering primary key; `share` keeps a read row from being
    changed until the transaction ends; `skip` locks rows and passes over those locked by others.
    """

    name: str
    identity: str
    share: str = ""
    skip: str = ""


def like(text: str) -> str:
    """The pattern of LIKE (with ESCAPE '\\') for what has this text in it."""
    for special in "\\%_":
        text = text.replace(special, "\\" + special)
    return f"%{text}%"


SQLITE = Dialect("sqlite", "INTEGER PRIMARY KEY AUTOINCREMENT")
POSTGRES = Dialect(
    "postgres",
    "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
    share=" FOR SHARE",
    skip=" FOR UPDATE SKIP LOCKED",
)
