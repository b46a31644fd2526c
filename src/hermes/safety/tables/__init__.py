"""What the gate knows of programs, commands and paths, as data."""


def words(text: str) -> frozenset[str]:
    """The words of a table written as plain lines."""
    return frozenset(text.split())
