"""Problem: something in the settings that does not do what its author expects."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """One remark about the settings of a home.

    `kind` is wrong (a value that cannot be used), unknown (a key nothing reads), old (a key with a new
    name), later (a key of a feature this version does not have yet), unset (`${NAME}` without a value),
    repeated (a key given twice; the last counts), strange (a line of .env that is no assignment) or
    open (a secret file others can read). `line` counts from 1; 0 means the file as a whole.
    """

    file: str
    line: int
    key: str
    message: str
    nearest: str = ""
    kind: str = "unknown"

    def __str__(self) -> str:
        """One line for a person."""
        place = f"{self.file}:{self.line}" if self.line else self.file
        hint = f" Did you mean {self.nearest}?" if self.nearest else ""
        return f"{place}: {self.message}{hint}"
