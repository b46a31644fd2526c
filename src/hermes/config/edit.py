"""Edits of a home's settings and secrets: checked, one process at a time, whole or not at all."""

import codecs
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from hermes.config import dotenv, files, fit, keys, patch
from hermes.config.document import Document, plain, read
from hermes.config.home import Home, text_of
from hermes.config.layers import lay, placing, reach
from hermes.config.problems import Problem
from hermes.config.secrets import is_secret
from hermes.core.errors import ConfigError

_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]*")
_REFERENCE = re.compile(r"\$\{[A-Za-z_:][A-Za-z0-9_:]*\}")


@dataclass(frozen=True, slots=True)
class Change:
    """What an edit did: the file, the key as it is written there, and whether the value is a secret."""

    file: str
    key: str
    secret: bool = False


def split(key: str) -> keys.Parts:
    """The parts of a dotted key.

    Raises:
        ConfigError: A part is empty.
    """
    parts = tuple(key.split("."))
    if not all(parts):
        raise ConfigError(f"{key!r} is no key: parts are joined by single dots, as in agent.max_turns.")
    return parts


def is_variable(key: str) -> bool:
    """Whether a key names an environment variable, kept in .env, and not a setting: all capitals."""
    return _VARIABLE.fullmatch(key) is not None


def checked(path: keys.Parts, text: str, *, force: bool = False) -> Any:
    """The value a text means for a key.

    Args:
        path: The key.
        text: The value as typed; lists and sections in YAML or JSON, lists also with commas.
        force: Take a key nothing knows, as an extension may read it.

    Raises:
        ConfigError: Nothing reads such a key, or the value does not fit it.
    """
    key = keys.find(path)
    if key is None or (key.section and path == ("model",)):
        return _free(path, text, force) if key is None else text
    if _REFERENCE.search(text):
        return text  # stands for a value that is known when it is read
    if key.section:
        return _section(path, text)
    try:
        return fit.converted(text, key.annotation)
    except msgspec.ValidationError:
        problem = fit.wrong(key, text, ("the value", 0))
        raise ConfigError(problem.message) from None


def _free(path: keys.Parts, text: str, force: bool) -> Any:
    if not force and not keys.later(path):
        near = keys.nearest(path)
        hint = f" Did you mean {near}?" if near else ""
        raise ConfigError(
            f"{'.'.join(path)} is not a setting.{hint} An extension's own key can be set with --force."
        )
    return fit.value_of(text) if text[:1] in ("[", "{") else plain(text)


def _section(path: keys.Parts, text: str) -> Any:
    value = fit.value_of(text) if text[:1] in ("[", "{") else text
    whole: dict[str, Any] = {}
    lay(whole, path, value)
    _, problems = fit.fitted(whole, lambda _: ("the value", 0))
    if bad := [str(problem) for problem in problems if problem.kind in ("wrong", "unknown")]:
        raise ConfigError("\n".join(bad))
    return value


def put(home: Home, values: Mapping[keys.Parts, Any], drop: Sequence[keys.Parts] = ()) -> None:
    """Change settings in the home's config.yaml, all of them or none; the former version is kept.

    Other bytes of the file stay as they are, and what another process has changed meanwhile is kept.

    Args:
        home: Whose file.
        values: What to set.
        drop: What to take out.

    Raises:
        ConfigError: The file is broken or cannot be written; it is as it was.
    """
    with files.locked(home.folder):
        before = text_of(home.config) or ""
        name = home.label("config.yaml")
        after = before
        for path, value in values.items():
            after = _put(after, path, value, name)
        for path in drop:
            after = patch.drop(after, _written(read(after, name), path), name)
        _replace(home, before, after)


def append(home: Home, path: keys.Parts, item: Any) -> None:
    """Add an item to a list in the home's config.yaml; two at the same moment are both kept.

    Raises:
        ConfigError: The file is broken or cannot be written; it is as it was.
    """
    with files.locked(home.folder):
        before = text_of(home.config) or ""
        name = home.label("config.yaml")
        document = read(before, name)
        items = [*(reach(document.data, _written(document, path)) or ()), item]
        _replace(home, before, _put(before, path, items, name))


def _replace(home: Home, before: str, after: str) -> None:
    if after == before:
        return
    mark = (
        b"\xef\xbb\xbf" if home.config.exists() and home.config.read_bytes()[:3] == b"\xef\xbb\xbf" else b""
    )
    files.keep(home.config)
    files.replaced(home.config, mark + after.encode("utf-8"))


def _put(text: str, path: keys.Parts, value: Any, name: str) -> str:
    document = read(text, name)
    model = document.data.get("model")
    if path[0] == "model" and isinstance(model, str):
        if path[1:] in ((), ("default",)):
            return patch.put(text, ("model",), value, name)
        return patch.put(text, ("model",), {"default": model, path[1]: value}, name)
    if path == ("model",) and isinstance(model, dict):
        path = ("model", "default")
    return patch.put(text, path, value, name)


def _written(document: Document, path: keys.Parts) -> keys.Parts:
    """The path under which a key stands in the file: its short form or its old name."""
    if path == ("model", "default") and isinstance(document.data.get("model"), str):
        return ("model",)
    if path not in document.entries:
        return next((old for old, new in keys.OLD.items() if new == path and old in document.entries), path)
    return path


def stored(home: Home, path: keys.Parts) -> Any:
    """What the home's own config.yaml says at a path, as written; None if nothing.

    Raises:
        ConfigError: The file is broken.
    """
    document = read(text_of(home.config) or "", home.label("config.yaml"))
    return reach(document.data, _written(document, path))


def change(home: Home, key: str, text: str, *, force: bool = False) -> list[Change]:
    """Set one key from text: a setting in config.yaml, a secret or a variable in .env.

    A secret setting goes to .env under a name of its own, and config.yaml gets `${THAT_NAME}`.

    Raises:
        ConfigError: The key or the value is wrong, or a file cannot be written; nothing was changed.
    """
    if is_variable(key):
        remember(home, {key: text})
        return [Change(home.label(".env"), key, secret=True)]
    path = split(key)
    value = checked(path, text, force=force)
    if not is_secret(key) or not isinstance(value, str) or not value or _REFERENCE.search(value):
        put(home, {path: value})
        return [Change(home.label("config.yaml"), key)]
    variable = re.sub(r"[^A-Z0-9_]", "_", keys.variable(path))
    read(text_of(home.config) or "", home.label("config.yaml"))  # a broken file is told before .env changes
    remember(home, {variable: value})
    put(home, {path: f"${{{variable}}}"})
    return [Change(home.label(".env"), variable, secret=True), Change(home.label("config.yaml"), key)]


def forget(home: Home, key: str) -> list[Change]:
    """Take one key out of config.yaml, or of .env; empty if it was not there.

    Raises:
        ConfigError: A file is broken or cannot be written; nothing was changed.
    """
    if is_variable(key):
        return [Change(home.label(".env"), key)] if remember(home, {key: None}) else []
    path = split(key)
    value = stored(home, path)
    document = read(text_of(home.config) or "", home.label("config.yaml"))
    if _written(document, path) not in document.entries:
        return []
    put(home, {}, [path])
    done = [Change(home.label("config.yaml"), key)]
    variable = re.sub(r"[^A-Z0-9_]", "_", keys.variable(path))
    if value == f"${{{variable}}}" and remember(home, {variable: None}):
        done.append(Change(home.label(".env"), variable))
    return done


def remember(home: Home, values: Mapping[str, str | None]) -> bool:
    """Write variables to the home's .env (0600), keeping its other lines; None takes one out.

    Returns:
        Whether the file had to change.

    Raises:
        ConfigError: The file cannot be read or written; it is as it was.
    """
    if not any(value is not None for value in values.values()) and text_of(home.env) is None:
        return False  # nothing to take out, and no folder to make for it
    with files.locked(home.folder):
        before = text_of(home.env) or ""
        after = before
        for name, value in values.items():
            after = dotenv.removed(after, name) if value is None else dotenv.assigned(after, name, value)
        if after != before:
            files.replaced(home.env, _bytes(home.env, after), 0o600)
        return after != before


def _bytes(path: Path, text: str) -> bytes:
    """The text as the file's content, with the byte order mark the file has now, if it has one."""
    try:
        content = text.encode("utf-8")
    except UnicodeEncodeError:
        raise ConfigError(
            "The value holds a byte that is no text (not UTF-8); nothing was changed."
        ) from None
    marked = path.exists() and path.read_bytes().startswith(codecs.BOM_UTF8)
    return codecs.BOM_UTF8 + content if marked else content


def replace(home: Home, before: str, after: str) -> bool:
    """Put a whole new text in place of config.yaml, if it still is what it was.

    Returns:
        False when another process has changed the file since `before` was read; nothing was changed then.

    Raises:
        ConfigError: The file cannot be written; it is as it was.
    """
    with files.locked(home.folder):
        if (text_of(home.config) or "") != before:
            return False
        _replace(home, before, after)
        return True


def restore(home: Home, number: int) -> None:
    """Bring back a former version of config.yaml, 1 being the newest; what is there now is kept as one.

    Raises:
        ConfigError: There is no such version, or the file cannot be written; it is as it was.
    """
    with files.locked(home.folder):
        version = home.config.with_name(f"{home.config.name}.bak-{number}")
        try:
            content = version.read_bytes()
        except OSError as error:
            raise ConfigError(f"{version} cannot be read: {error.strerror}.") from None
        files.keep(home.config)
        files.replaced(home.config, content)


def migrated(home: Home) -> list[str]:
    """Rename the old keys of config.yaml; the former version is kept.

    Returns:
        What was done, a line each; empty if nothing had an old name.

    Raises:
        ConfigError: The file is broken or cannot be changed; it is as it was.
    """
    name = home.label("config.yaml")
    done: list[str] = []
    if text_of(home.config) is None:
        return done
    with files.locked(home.folder):
        before = text_of(home.config) or ""
        after = before
        for old, new in keys.OLD.items():
            document = read(after, name)
            if old not in document.entries:
                continue
            for path, value in fit.renamed(old, new, reach(document.data, old)):
                kept = reach(document.data, path) is not None
                after = after if kept else patch.put(after, path, value, name)
                fate = "was set already and counts" if kept else "has its value"
                done.append(f"{'.'.join(old)} is gone; {'.'.join(path)} {fate}.")
            after = patch.drop(after, old, name)
        if after != before:
            _replace(home, before, after)
    return done


def proofread(home: Home, text: str) -> list[Problem]:
    """What is wrong with a text that is to become config.yaml: wrong values and unknown keys.

    Raises:
        ConfigError: It is not YAML.
    """
    document = read(text, home.label("config.yaml"))
    _, problems = fit.fitted(fit.normal(_open(document.data)), placing(document))
    return [problem for problem in problems if problem.kind != "later"]


def _open(value: Any) -> Any:
    """Without the values that stand for variables, whose types are not known yet."""
    match value:
        case dict():
            return {key: _open(item) for key, item in value.items()}
        case str() if _REFERENCE.search(value):
            return None
        case _:
            return value
