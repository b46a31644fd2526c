"""Numbered, forward-only changes of the schema: one file NNNN_what.sql each."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Schema:
    """The steps of a folder. `latest` is the number of the last one, so that a start reads no file."""

    folder: Path
    latest: int

    def pending(self, version: int) -> list[tuple[int, str]]:
        """The steps above `version` as (number, SQL text), in order. `{identity}` is the dialect's."""
        files = sorted(self.folder.glob("[0-9][0-9][0-9][0-9]_*.sql"))
        steps = [(int(file.name[:4]), file) for file in files]
        return [(number, file.read_text(encoding="utf-8")) for number, file in steps if number > version]


CURRENT = Schema(Path(__file__).parent, latest=1)


def statements(text: str) -> list[str]:
    """The statements of a step; comment lines are left out."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("--")]
    return [part.strip() for part in "\n".join(lines).split(";") if part.strip()]
