"""The files below a folder, without what .gitignore leaves out. Blocking, for a thread."""

import contextlib
import itertools
import os
from collections.abc import Iterator
from pathlib import Path

from hermes.core.sandbox import Entry
from hermes.lib import gitignore
from hermes.sandboxes.local.files import describe, entry_of

BATCH = 512  # entries fetched per thread hop


def take(files: Iterator[Entry]) -> list[Entry]:
    """The next batch of a walk; nothing at its end."""
    return [*itertools.islice(files, BATCH)]


def files_below(top: str) -> Iterator[Entry]:
    """Files below a folder, sorted, without what .gitignore leaves out; links to folders not followed."""
    if not os.path.isdir(top):
        yield entry_of(top)
        return
    yield from _walk_folder(top, [*_layers_above(top)])


def _walk_folder(folder: str, layers: list[gitignore.Ignore]) -> Iterator[Entry]:
    layers = [*layers, *_layer(folder)]
    try:
        with os.scandir(folder) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except OSError:  # not ours to read, or gone meanwhile
        return
    for entry in entries:
        is_folder = entry.is_dir(follow_symlinks=False)
        if entry.name == ".git" or gitignore.ignored(layers, entry.path, is_folder):
            continue
        if is_folder:
            yield from _walk_folder(entry.path, layers)
            continue
        try:
            described = describe(entry.path, entry.stat())
        except OSError:
            continue
        if described.kind == "file":
            yield described


def _layers_above(top: str) -> Iterator[gitignore.Ignore]:
    """The .gitignore files between the repository's root and this folder."""
    above = [top]
    while not os.path.exists(os.path.join(above[-1], ".git")):
        parent = os.path.dirname(above[-1])
        if parent == above[-1]:
            return
        above.append(parent)
    for folder in reversed(above[1:]):
        yield from _layer(folder)


def _layer(folder: str) -> Iterator[gitignore.Ignore]:
    base = folder.rstrip("/") + "/"
    for name in (".git/info/exclude", ".gitignore"):
        with contextlib.suppress(OSError):
            yield gitignore.parse(Path(base + name).read_text("utf-8", "replace"), base)
