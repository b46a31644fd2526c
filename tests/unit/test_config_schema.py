"""The schema as a whole: every key has its line, its own variable, and somebody who reads it."""

import re
from pathlib import Path

import msgspec

import hermes
from hermes.config import Settings, keys
from hermes.config.later import LATER

SOURCE = Path(hermes.__file__).parent


def test_every_key_has_one_line_about_it() -> None:
    for key in keys.walk():
        assert key.doc.endswith("."), key.name
        assert "\n" not in key.doc, key.name


def test_no_two_keys_share_a_variable() -> None:
    owners: dict[str, set[str]] = {}
    for key in keys.walk():
        for name in key.variables:
            owners.setdefault(name, set()).add(key.name)
    assert {name: found for name, found in owners.items() if len(found) > 1} == {}


def test_defaults_fit_their_own_limits() -> None:
    assert msgspec.convert(msgspec.to_builtins(Settings()), Settings) == Settings()


def test_a_key_that_nothing_reads_is_named_as_such() -> None:
    """A setting that is accepted and has no effect is a lie; `later.py` owns up to it."""
    code = "\n".join(
        path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py") if path.parent != SOURCE / "config"
    )
    # A key that may have one value only leaves nothing to read.
    used = (
        key for key in keys.walk() if not key.section and len(key.allowed) != 1 and not keys.unused(key.path)
    )
    assert [key.name for key in used if not re.search(rf"\.{key.path[-1]}\b", code)] == []


def test_keys_of_later_features_are_no_part_of_the_free_names() -> None:
    assert all(re.fullmatch(r"[a-z_]+(\.([a-z_]+|\*))*", name) for name in LATER)


def test_every_key_can_be_found_by_its_path() -> None:
    for key in keys.walk():
        found = keys.find(tuple("0" if part == "*" else part for part in key.path))
        assert found is not None, key.name
        assert found.annotation == key.annotation
