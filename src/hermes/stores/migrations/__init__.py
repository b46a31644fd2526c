"""Numbered, forward-only changes of the schema: one file NNNN_what.sql each."""

from pathlib import Path

LATEST = 1


def pending(version: int) -> list[tuple[int, str]]:
    """The steps above `version` as (number, SQL text), in order. `{identity}` is the dialect's."""
    files = sorted(Path(__file__).parent.glob("[0-9][0-9][0-9][0-9]_*.sql"))
    steps = [(int(file.name[:4]), file) for file in files]
    return [(number, file.read_text(encoding="utf-8")) for number, file in steps if number > version]


def statements(text: str) -> list[str]:
    """The statements of a step; comment lines are left out."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("--")]
    return [part.strip() for part in "\n".join(lines).split(";") if part.strip()]
