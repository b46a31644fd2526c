"""The cache of a home: long results and the output of commands, kept for a while."""

import time
from pathlib import Path

DAY = 86_400.0
KEPT = 14 * DAY
FOLDERS = ("output", "results")


def prune(cache: Path, now: float | None = None) -> None:
    """Remove what is older than two weeks, at most once a day. `now` is seconds since the epoch.

    What cannot be removed stays: the next day tries again.
    """
    moment = time.time_ns() / 1e9 if now is None else now
    stamp = cache / ".pruned"
    try:
        if stamp.exists() and moment - stamp.stat().st_mtime < DAY:
            return
        if not cache.is_dir():
            return
        stamp.touch(mode=0o600)
        for name in FOLDERS:
            _prune(cache / name, moment - KEPT)
    except OSError:
        return


def _prune(folder: Path, before: float) -> None:
    for path in sorted(folder.rglob("*"), reverse=True):  # what is in a folder before the folder
        if path.is_dir() and not path.is_symlink():
            if not any(path.iterdir()):
                path.rmdir()
        elif path.lstat().st_mtime < before:
            path.unlink()
