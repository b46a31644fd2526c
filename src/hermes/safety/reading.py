"""Which calls only read, and what: they may run at the same time as others."""

import posixpath
import re
from collections.abc import Iterator
from itertools import takewhile

from hermes.safety.dangers import Invocation, values
from hermes.safety.paths import Place
from hermes.safety.shell import Word
from hermes.safety.tables import programs, words

_PATTERN_FIRST = words("grep egrep fgrep zgrep rg awk sed jq yq ag ack fd")
_LOOKS_AROUND = words("ls find fd rg tree du ag ack")
_CARRIERS = words("cd command env nice time timeout nohup xargs builtin")


def changes_nothing(call: Invocation) -> bool:
    """True for a call that only looks, as far as the tables know."""
    if call.name == "git":
        sub = next(iter(call.positionals), "")
        return sub in programs.GIT_READS and not call.has(*programs.GIT_NOT_READING)
    if call.name in _CARRIERS:
        return True  # what they run is a call of its own
    if call.name in ("sh", "bash"):
        return bool(call.texts and re.fullmatch(r"-\w*c", call.texts[0]))  # and so is this
    if call.name not in programs.READERS and call.name not in programs.PURE:
        return False
    return not call.has(*programs.NOT_READING.get(call.name, ()))


def read_paths(call: Invocation, place: Place, piped: bool) -> Iterator[str]:
    """The paths a reading program names, or the folder it stands in when it names none."""
    if call.name in programs.PURE or call.name in _CARRIERS or call.name in programs.SHELLS:
        return
    if call.name == "git":
        yield from (place.resolve(value) for value in (place.cwd, *values(call.texts, "-C")))
        return
    named = _operands(call)
    recursive = call.name in _LOOKS_AROUND or call.has("-r", "-R")
    if (
        any(word.dynamic for word in named)
        or "xargs" in call.under
        or (call.name in _PATTERN_FIRST and call.has(*programs.BEFORE_PATTERN, "--*"))
        or (not named and (recursive or not piped))
    ):
        yield place.cwd
    for word in named:
        plain = re.split(r"[*?\[]", word.text)[0] if word.globbed else word.text
        yield place.resolve(posixpath.dirname(plain) if word.globbed else plain)


def _operands(call: Invocation) -> list[Word]:
    """The words that are neither options nor the pattern to look for."""
    if call.name == "find":
        return list(takewhile(lambda word: not word.text.startswith(("-", "(", "!")), call.args))
    found = [word for word in call.args if not word.text.startswith("-")]
    return found[1:] if call.name in _PATTERN_FIRST else found
