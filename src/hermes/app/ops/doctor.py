"""hermes doctor: what works here, what does not, and what to do about it."""

import argparse
import asyncio
import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Literal

from hermes.app.compose import composed
from hermes.app.lines import say
from hermes.config.load import Config
from hermes.core.errors import HermesError
from hermes.core.store import Tx

SUMMARY = "check the set-up and say what to do about what is missing"

EXTRAS = (
    ("local", "xllamacpp", "the embedded model"),
    ("postgres", "psycopg", "PostgreSQL as the store"),
)
PROGRAMS = (("rg", "fast search", "search_files walks the folders itself"), ("git", "version control", ""))
MARKS = {"ok": "ok  ", "missing": "--  ", "bad": "BAD "}


@dataclass(frozen=True, slots=True)
class Finding:
    """`missing` is something optional; `bad` is something that stops the work."""

    state: Literal["ok", "missing", "bad"]
    text: str
    advice: str = ""


def arguments(parser: argparse.ArgumentParser) -> None:
    del parser  # it takes none


def run(args: argparse.Namespace, config: Config) -> int:
    del args
    findings = [*_surroundings(config), *asyncio.run(_working(config))]
    for finding in findings:
        say(MARKS[finding.state] + finding.text)
        if finding.advice:
            say(f"      {finding.advice}")
    return 1 if any(finding.state == "bad" for finding in findings) else 0


def _surroundings(config: Config) -> Iterator[Finding]:
    yield Finding("ok", f"Python {sys.version.split()[0]}, {sys.platform}")
    yield _home(config)
    for problem in config.problems:
        yield Finding("missing", str(problem), "hermes config check")
    for extra, module, what in EXTRAS:
        if find_spec(module):
            yield Finding("ok", f"extra {extra}: {what}")
        else:
            yield Finding("missing", f"extra {extra}: {what}", f"pip install 'hermes[{extra}]'")
    for program, what, without in PROGRAMS:
        if path := shutil.which(program, path=config.env.get("PATH")):
            yield Finding("ok", f"{program}: {path}")
        else:
            yield Finding("missing", f"{program}: {what}", without)


def _home(config: Config) -> Finding:
    home = config.home
    place = next(folder for folder in (home, *home.parents) if folder.exists())
    if os.access(place, os.W_OK | os.X_OK):
        return Finding("ok", f"home {home}" + ("" if home.exists() else " (will be made when it is needed)"))
    return Finding(
        "bad", f"home {home} cannot be written", f"check the rights of {place}, or set HERMES_HOME"
    )


async def _working(config: Config) -> list[Finding]:
    """What can only be known by trying: the store and the model."""
    findings: list[Finding] = []
    async with composed(config) as house:
        findings += [Finding("bad", sentence, "mend the file, or take it out") for sentence in house.broken]
        try:
            count = await house.store.read(lambda tx: len(_sessions(tx)))
            findings.append(Finding("ok", f"store: {'1,000 or more' if count == 1_000 else count} sessions"))
        except HermesError as error:
            findings.append(Finding("bad", f"store: {error}"))
        try:
            choice = await house.chosen()
            findings.append(Finding("ok", f"model: {choice.why}", "try it: hermes model test"))
        except HermesError as error:
            findings.append(Finding("bad", f"model: {error}"))
    return findings


def _sessions(tx: Tx) -> list[object]:
    return list(tx.sessions.list(1_000))
