"""Address and Principal: where a message comes from and who speaks."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Address:
    """Where an answer goes: one value, passed whole."""

    platform: str
    account: str = ""
    chat: str = ""
    thread: str = ""


@dataclass(frozen=True, slots=True)
class Principal:
    """Who speaks: a stable id per platform, never a display name; and their roles."""

    id: str
    roles: frozenset[str] = frozenset()


OWNER = Principal("local", frozenset({"owner"}))
TERMINAL = Address("terminal")
