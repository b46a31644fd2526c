"""The cache is pruned by age, at most once a day."""

import os
from pathlib import Path

from hermes.app.cache import DAY, KEPT, prune

NOW = 2_000_000_000.0


def aged(path: Path, seconds: float) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("x")
    os.utime(path, (NOW - seconds, NOW - seconds))
    return path


def test_old_files_go_and_young_ones_stay(tmp_path: Path) -> None:
    old = aged(tmp_path / "results" / "s1" / "a.txt", KEPT + 1)
    young = aged(tmp_path / "results" / "s2" / "b.txt", KEPT - 1)
    other = aged(tmp_path / "models" / "m.gguf", KEPT * 9)
    prune(tmp_path, NOW)
    assert not old.parent.exists()
    assert young.exists()
    assert other.exists()


def test_once_a_day_is_enough(tmp_path: Path) -> None:
    (tmp_path / "output").mkdir()
    prune(tmp_path, NOW)
    os.utime(tmp_path / ".pruned", (NOW, NOW))
    late = aged(tmp_path / "output" / "c.txt", KEPT + 1)
    prune(tmp_path, NOW + DAY - 1)
    assert late.exists()
    prune(tmp_path, NOW + DAY + 1)
    assert not late.exists()


def test_without_a_cache_nothing_is_made(tmp_path: Path) -> None:
    prune(tmp_path / "cache", NOW)
    assert not (tmp_path / "cache").exists()
