"""What goes wrong behind the scenes is in the home's log, private, and not on the terminal."""

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from hermes.app.logs import LARGEST, to_file


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    """Other tests see the logger as it was."""
    logger = logging.getLogger("hermes")
    handlers, propagate = list(logger.handlers), logger.propagate
    yield
    logger.handlers, logger.propagate = handlers, propagate


def test_records_go_to_the_file_of_this_home(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    to_file(tmp_path / "one")
    logging.getLogger("hermes.stores").warning("a write failed")
    to_file(tmp_path / "two")
    logging.getLogger("hermes.engine").error("a tool crashed")
    first, second = (tmp_path / name / "logs" / "hermes.log" for name in ("one", "two"))
    assert "WARNING hermes.stores: a write failed" in first.read_text()
    assert "a tool crashed" not in first.read_text()
    assert "a tool crashed" in second.read_text()
    assert first.stat().st_mode & 0o777 == 0o600
    assert capsys.readouterr() == ("", "")


def test_a_large_log_is_begun_anew(tmp_path: Path) -> None:
    log = tmp_path / "logs" / "hermes.log"
    log.parent.mkdir()
    log.write_bytes(b"x" * (LARGEST + 1))
    to_file(tmp_path)
    logging.getLogger("hermes").error("new")
    assert log.stat().st_size < 200
    assert log.with_suffix(".1.log").stat().st_size == LARGEST + 1


def test_nothing_logged_makes_nothing(tmp_path: Path) -> None:
    to_file(tmp_path / "home")
    assert not (tmp_path / "home").exists()
