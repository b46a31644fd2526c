"""Which names hold secrets, and how a secret is shown: never whole."""

import re

MASK = "…"

_SECRET = """key keys apikey token secret secrets password passwd passphrase pass pw credential
credentials dsn bearer authorization cookie"""
_WORDS = frozenset(_SECRET.split())
# A last word that says the value is about a secret, not one.
_ASIDE = "env file path name names count limit size ttl length enabled mode type id interval"
_ABOUT = frozenset(_ASIDE.split())
_SPLIT = re.compile(r"[^A-Za-z0-9]+|(?<=[a-z0-9])(?=[A-Z])")
_USERINFO = re.compile(r"(?<=://)([^/@\s:]*):([^/@\s]+)(?=@)")


def is_secret(name: str) -> bool:
    """Whether a setting or variable of this name holds a secret, judged by its words.

    `name` may be a dotted path; its last part counts. `max_tokens` and `key_env` are no secrets.
    """
    words = [word.lower() for word in _SPLIT.split(name.rpartition(".")[2]) if word]
    return bool(words) and words[-1] not in _ABOUT and not _WORDS.isdisjoint(words)


def masked(value: str) -> str:
    """What may be shown of a secret: three characters in front and four behind if it is long, else none."""
    if len(value) < 20 or not value.isascii() or any(character.isspace() for character in value):
        return MASK
    return f"{value[:3]}{MASK}{value[-4:]}"


def shown(name: str, value: object) -> object:
    """The value as it may be printed: masked if the name holds a secret, at any depth, and in URLs."""
    match value:
        case dict():
            return {key: shown(str(key), item) for key, item in value.items()}
        case list() | tuple():
            return [shown(name, item) for item in value]
        case str() if value and is_secret(name) and not _reference(value):
            return masked(value)
        case str():
            return _USERINFO.sub(rf"\1:{MASK}", value)
        case _:
            return value


def _reference(value: str) -> bool:
    """Whether the text only names a variable: `${NAME}`."""
    return re.fullmatch(r"\$\{[A-Za-z_:][A-Za-z0-9_:]*\}", value) is not None
