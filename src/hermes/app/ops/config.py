"""hermes config: see, change, check and explain the settings of a home."""

import argparse
import getpass
import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import yaml

from hermes.app.lines import say, warn
from hermes.config import edit as edits
from hermes.config import files, home, keys, load, reference
from hermes.config.environment import variables
from hermes.config.home import Home, text_of
from hermes.config.later import LATER
from hermes.config.layers import reach
from hermes.config.load import Config, gathered
from hermes.config.patch import inline
from hermes.config.problems import Problem
from hermes.config.schema import Settings
from hermes.config.secrets import is_secret, masked, shown
from hermes.core.errors import ConfigError

SUMMARY = "See, change, check and explain the settings."
NEEDS_CONFIG = False  # most of this must work when the settings are broken

_KEY = "a dotted key such as agent.max_turns, or the NAME of a variable in .env"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verbs and what they take."""
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)

    def verb(name: str, summary: str) -> argparse.ArgumentParser:
        return verbs.add_parser(name, help=summary, description=summary)

    verb("show", "Print every setting with where it comes from; secrets masked.")
    verb("edit", "Open config.yaml in your editor; it is checked before it counts.")
    get = verb("get", "Print the value that counts now.")
    get.add_argument("key", help=_KEY)
    get.add_argument("--json", action="store_true", help="print it as JSON")
    setter = verb("set", "Set one value; everything else in the file stays as it is.")
    setter.add_argument("key", help=_KEY)
    setter.add_argument("value", nargs="?", help="the value; left out, it is read from the terminal or stdin")
    setter.add_argument("--force", action="store_true", help="take a key only an extension knows")
    verb("unset", "Take one value out, so that what is below counts again.").add_argument("key", help=_KEY)
    verb("path", "Print where config.yaml is.")
    verb("env-path", "Print where .env is.")
    verb("check", "Say what is wrong, unknown or misspelt, with file, line and the nearest valid key.")
    verb("migrate", "Rename old keys; the former version is kept.")
    verb("explain", "Say what a key does, what it may be, and where its value comes from.").add_argument(
        "key", help="a dotted key such as agent.max_turns"
    )
    restore = verb("restore", "List the former versions of config.yaml, or bring one back.")
    restore.add_argument("number", nargs="?", type=int, help="which one, 1 being the newest")


def run(args: argparse.Namespace, config: Config | None = None) -> int:
    """Run one verb.

    Args:
        args: The verb and its arguments; `home` and `profile` as given to the command, if they were.
        config: Not used: the verbs load what they need, so that a broken file can be put right.

    Returns:
        0 done, 1 not found or something to put right, 2 wrong settings or wrong use.
    """
    del config
    given = getattr(args, "home", None)
    try:
        at, process = home.find(Path(given) if given else None, getattr(args, "profile", None) or "")
        return _VERBS[args.verb](args, at, process)
    except ConfigError as error:
        return _fail(str(error), 2)


def _fail(message: str, code: int) -> int:
    warn(message)
    return code


def _path(_: argparse.Namespace, at: Home, __: Mapping[str, str]) -> int:
    say(at.config)
    return 0


def _env_path(_: argparse.Namespace, at: Home, __: Mapping[str, str]) -> int:
    say(at.env)
    return 0


def _show(_: argparse.Namespace, at: Home, process: Mapping[str, str]) -> int:
    config = load(at.base, at.profile, process)
    say(f"# {at.config}{'' if at.config.exists() else ' (not there yet)'}")
    for line in _lines(msgspec.to_builtins(config.settings), (), config):
        say(line)
    raw = _others(config)
    for name, value in raw.items():
        note = "kept, not used yet" if name in LATER else "not a setting"
        say(f"{name}: {inline(shown(name, value))}  # {config.origin(name).where}, {note}")
    if config.env.stored:
        say(f"\n# {at.env}")
        for name, value in config.env.stored.items():
            say(f"{name}={masked(value)}")
    return 0


def _others(config: Config) -> dict[str, Any]:
    """The top-level sections the schema does not have, as the files give them."""
    names = {name for layer in config.layers for name in layer.data}
    return {name: config.raw(name) for name in sorted(names - keys.fields(Settings).keys())}


def _lines(section: Mapping[str, Any], path: keys.Parts, config: Config) -> Iterator[str]:
    indent = "  " * len(path)
    for name, value in section.items():
        here = (*path, name)
        if isinstance(value, dict) and value:
            yield f"{indent}{inline(name)}:"
            yield from _lines(value, here, config)
            continue
        key = ".".join(here)
        origin = config.origin(key)
        note = f"  # {origin.where}" if origin.kind != "default" else ""
        yield f"{indent}{inline(name)}: {inline(shown(key, value))}{note}"


def _get(args: argparse.Namespace, at: Home, process: Mapping[str, str]) -> int:
    if edits.is_variable(args.key):
        return _get_variable(args.key, at, process)
    config = load(at.base, at.profile, process)
    path = edits.split(args.key)
    value = reach(msgspec.to_builtins(config.settings), path)
    if value is None:
        value = config.raw(args.key)
    if value is None:
        return _fail(_missing(path), 1)
    value = shown(args.key, value)
    if args.json:
        say(json.dumps(value, ensure_ascii=False))
    elif isinstance(value, (dict, list)):
        say(yaml.safe_dump(value, sort_keys=False, allow_unicode=True).rstrip())
    else:
        say(value if isinstance(value, str) else inline(value))
    return 0


def _get_variable(name: str, at: Home, process: Mapping[str, str]) -> int:
    env, _ = variables(at, process)
    value = env.get(name)
    if value is None:
        return _fail(f"{name} is not set.", 1)
    say(masked(value) if is_secret(name) or name in env.stored else value)
    return 0


def _missing(path: keys.Parts) -> str:
    name = ".".join(path)
    if keys.find(path) or keys.later(path):
        return f"{name} is not set."
    near = keys.nearest(path)
    return f"{name} is not a setting." + (f" Did you mean {near}?" if near else "")


def _set(args: argparse.Namespace, at: Home, process: Mapping[str, str]) -> int:
    value = args.value if args.value is not None else _asked(args.key)
    done = edits.change(at, args.key, value, force=args.force)
    for change in done:
        say(f"{change.key} is set in {at.folder / Path(change.file).name}.")
    key = edits.split(args.key)
    if not edits.is_variable(args.key) and keys.unused(key):
        warn(f"Note: {args.key} is kept, but this version does not use it yet.")
    if over := _overriding(args.key, done[0].key, at, process):
        warn(f"Note: {over} still counts before it.")
    return 0


def _overriding(key: str, variable: str, at: Home, process: Mapping[str, str]) -> str:
    """What keeps the value just set from counting, empty if nothing does."""
    if variable in process and edits.is_variable(variable):
        return f"{variable} of this shell"
    if edits.is_variable(key):
        return ""
    origin = gathered(at, process, {}).origin(key)
    return origin.where if origin.kind == "environment" and variable == key else ""


def _asked(key: str) -> str:
    """A value that is not on the command line, where others could see it."""
    if not sys.stdin.isatty():
        return sys.stdin.read().removesuffix("\n").removesuffix("\r")
    try:
        return getpass.getpass(f"{key}: ") if is_secret(key) else input(f"{key}: ")
    except EOFError:
        raise ConfigError(f"No value for {key} was given; nothing is changed.") from None


def _unset(args: argparse.Namespace, at: Home, _: Mapping[str, str]) -> int:
    done = edits.forget(at, args.key)
    if not done:
        return _fail(f"{args.key} is not set in {at.env if edits.is_variable(args.key) else at.config}.", 1)
    for change in done:
        say(f"{change.key} is out of {at.folder / Path(change.file).name}.")
    return 0


def _check(_: argparse.Namespace, at: Home, process: Mapping[str, str]) -> int:
    config = gathered(at, process, {})
    problems = [*config.problems, *_exposed(at)]
    for problem in problems:
        say(problem)
    kinds = {problem.kind for problem in problems}
    if not kinds - {"later"}:
        say(
            f"{at.config}: nothing to put right."
            if at.config.exists()
            else f"{at.config}: not there yet; defaults."
        )
    return 2 if "wrong" in kinds else 1 if kinds - {"later"} else 0


def _exposed(at: Home) -> Iterator[Problem]:
    """Files of secrets that others can read."""
    for layer in at.layers:
        if layer.env.exists() and layer.env.stat().st_mode & 0o077:
            message = f"other users can read it; make it yours alone: chmod 600 {shlex.quote(str(layer.env))}"
            yield Problem(layer.label(".env"), 0, "", message, kind="open")


def _migrate(_: argparse.Namespace, at: Home, __: Mapping[str, str]) -> int:
    done = edits.migrated(at)
    for line in done:
        say(line)
    say(f"The former version is {at.config}.bak-1." if done else f"{at.config}: nothing has an old name.")
    return 0


def _explain(args: argparse.Namespace, at: Home, process: Mapping[str, str]) -> int:
    config = load(at.base, at.profile, process)
    path = edits.split(args.key)
    key = keys.find(path)
    if key is None and keys.later(path):
        say(f"{args.key}: understood and kept; this version does not use it yet.")
        return 0
    if key is None:
        return _fail(_missing(path), 1)
    say(reference.explained(config, key, reach(msgspec.to_builtins(config.settings), path)))
    return 0


def _restore(args: argparse.Namespace, at: Home, _: Mapping[str, str]) -> int:
    if args.number is not None:
        edits.restore(at, args.number)
        say(f"{at.config} is again what it was; what it was until now is {at.config}.bak-1.")
        return 0
    versions = files.kept(at.config)
    for version in versions:
        lines = len((text_of(version) or "").splitlines())
        say(f"{version.suffix.removeprefix('.bak-')}  {version}  {lines} lines")
    return 0 if versions else _fail(f"There are no former versions of {at.config}.", 1)


def _edit(_: argparse.Namespace, at: Home, process: Mapping[str, str]) -> int:
    before = text_of(at.config) or ""
    with files.locked(at.folder):
        handle, name = tempfile.mkstemp(suffix=".yaml", prefix=".config-", dir=at.folder)
    draft = Path(name)
    with open(handle, "w", encoding="utf-8") as file:
        file.write(before)
    try:
        return _edited(draft, before, at, process)
    finally:
        if draft.exists() and text_of(draft) != before:
            warn(f"What you wrote is in {draft}.")
        else:
            draft.unlink(missing_ok=True)


def _edited(draft: Path, before: str, at: Home, process: Mapping[str, str]) -> int:
    """Let a person edit the draft until it is sound. The draft goes when it is saved or discarded."""
    while True:
        if code := _in_editor(draft, process):
            return _fail(f"The editor ended with {code}; config.yaml is as it was.", 1)
        after = text_of(draft) or ""
        if after == before:
            say("Nothing was changed.")
            return 0
        if not any(problem.kind == "wrong" for problem in _remarks(at, after)):
            break
        if (answer := _choice()) != "e":
            if answer == "d":
                draft.unlink()
            return _fail("config.yaml is as it was.", 2)
    if not edits.replace(at, before, after):
        return _fail(f"{at.config} was changed meanwhile and is left as it is now.", 1)
    draft.unlink()
    say(f"{at.config} is saved; the former version is {at.config}.bak-1.")
    return 0


def _in_editor(draft: Path, process: Mapping[str, str]) -> int:
    editor = process.get("VISUAL") or process.get("EDITOR") or "vi"
    try:
        return subprocess.run([*shlex.split(editor), os.fspath(draft)], check=False).returncode
    except OSError as error:
        raise ConfigError(
            f"The editor {editor!r} cannot be started: {error.strerror}. Set $EDITOR."
        ) from None


def _remarks(at: Home, text: str) -> list[Problem]:
    """Print what is wrong with a draft; a text that is no YAML counts as one wrong thing."""
    try:
        problems = edits.proofread(at, text)
    except ConfigError as error:
        warn(error)
        return [Problem(at.label("config.yaml"), 0, "", str(error), kind="wrong")]
    for problem in problems:
        warn(problem)
    return problems


def _choice() -> str:
    """What to do with a draft that cannot be used: e to edit again, d to discard, empty when nobody says."""
    if not sys.stdin.isatty():
        return ""
    try:
        return input("[e]dit again or [d]iscard? ").strip().lower()[:1] or "e"
    except EOFError:
        return ""


_VERBS: Mapping[str, Callable[[argparse.Namespace, Home, Mapping[str, str]], int]] = {
    "show": _show,
    "edit": _edit,
    "get": _get,
    "set": _set,
    "unset": _unset,
    "path": _path,
    "env-path": _env_path,
    "check": _check,
    "migrate": _migrate,
    "explain": _explain,
    "restore": _restore,
}
