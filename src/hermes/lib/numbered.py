"""Lines as read_file shows them, NUMBER|TEXT, and how to tell that text is such output."""

import re

# Compiled when first used.
_ROW = r"(\d+)\|"
_FOOTER = r"\n\[(?:\d[\d,]* lines?|lines \d[\d,]*-\d[\d,]* of \d[\d,]*)[^\n]*\]\s*\Z"


def looks_numbered(text: str) -> bool:
    """True for two or more lines that begin with NUMBER| counting up by one."""
    body = re.sub(_FOOTER, "", text).strip("\n").split("\n")
    if len(body) < 2:
        return False
    found = [re.match(_ROW, line) for line in body]
    numbers = [int(row[1]) for row in found if row]
    return len(numbers) == len(body) and numbers == list(range(numbers[0], numbers[0] + len(body)))


def has_footer(text: str) -> bool:
    """True when the text ends with the line in brackets that says how to read on."""
    return bool(re.search(_FOOTER, text))


def bare(text: str) -> str:
    """The text without the numbers and the line in brackets."""
    return "\n".join(re.sub(_ROW, "", line, count=1) for line in re.sub(_FOOTER, "", text).split("\n"))
