"""Adding to a list setting."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from hermes.config import edit
from hermes.config.load import load

KEY = ("command_allowlist",)


def test_items_added_at_the_same_moment_are_all_kept(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("# mine\ncommand_allowlist: [ls *]  # listing\n")
    config = load(tmp_path, environ={})
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: edit.append(config.at, KEY, f"make {n}"), range(8)))
    rules = load(tmp_path, environ={}).settings.command_allowlist
    assert rules[0] == "ls *"
    assert sorted(rules[1:]) == [f"make {n}" for n in range(8)]
    assert (tmp_path / "config.yaml").read_text().startswith("# mine\n")


def test_the_first_item_makes_the_list(tmp_path: Path) -> None:
    edit.append(load(tmp_path, environ={}).at, KEY, "git status")
    assert load(tmp_path, environ={}).settings.command_allowlist == ("git status",)
