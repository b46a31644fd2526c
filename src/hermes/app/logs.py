"""The log of a home: what went wrong behind the scenes, in logs/hermes.log."""

import logging
from pathlib import Path

FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"
LARGEST = 5_000_000
"""Bytes; a larger log is begun anew, and the one before is kept beside it."""


def to_file(home: Path) -> None:
    """Send what the program logs to the file of this home, and nothing to the terminal.

    The file is opened with the first record, private to its owner.
    """
    logger = logging.getLogger("hermes")
    for handler in list(logger.handlers):
        logger.removeHandler(handler)
        handler.close()
    logger.addHandler(_Late(home / "logs" / "hermes.log"))
    logger.propagate = False


class _Late(logging.Handler):
    """Opens its file when there is something to write. A disk that takes nothing is not an error here."""

    def __init__(self, path: Path) -> None:
        super().__init__(logging.INFO)
        self._path = path
        self.setFormatter(logging.Formatter(FORMAT))

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            if self._path.exists() and self._path.stat().st_size > LARGEST:
                self._path.replace(self._path.with_suffix(".1.log"))
            self._path.touch(mode=0o600)
            with self._path.open("a", encoding="utf-8", errors="replace") as file:
                file.write(self.format(record) + "\n")
        except OSError:
            return
