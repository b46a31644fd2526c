"""What is dangerous about one program called with these words. Pure: no file is looked at."""

import posixpath
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase, translate
from functools import cache
from itertools import pairwise
from typing import Literal

from hermes.lib.pathmatch import encloses
from hermes.safety import paths
from hermes.safety.paths import Place
from hermes.safety.shell import Simple, Word
from hermes.safety.tables import programs, rules, words
from hermes.safety.tables.code import CODE
from hermes.safety.tables.rules import Row


@dataclass(frozen=True, slots=True)
class Finding:
    """Why a command is not simply run. `why` completes "it ..."."""

    level: Literal["ask", "block"]
    rule: str
    why: str


@dataclass(frozen=True, slots=True)
class Invocation:
    """One program with its words, wrappers taken off.

    `under` names the wrappers it was found below; `before` the programs that feed it through a pipe;
    `stdin` is what it reads when that is constant text.
    """

    name: str
    args: tuple[Word, ...]
    under: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    stdin: str | None = None
    program: str = ""
    texts: tuple[str, ...] = field(default=())

    @property
    def line(self) -> str:
        return " ".join((self.name, *self.texts))

    @property
    def positionals(self) -> list[str]:
        """Words that are no options, values of known global options left out."""
        valued = programs.GLOBALS.get(self.name, frozenset())
        found: list[str] = []
        skip = False
        for text in self.texts:
            if skip:
                skip = False
            elif text in valued:
                skip = True
            elif not text.startswith("-") or text == "-":
                found.append(text)
        return found

    def has(self, *patterns: str) -> bool:
        return any(_matches(pattern, self.texts) for pattern in patterns)


def ask(rule: str, why: str) -> Finding:
    return Finding("ask", rule, why)


def block(rule: str, why: str) -> Finding:
    return Finding("block", rule, why)


def dangers(call: Invocation, place: Place) -> Iterator[Finding]:
    """Everything found in this one call."""
    yield from _by_table(call)
    yield from _of_paths(call, place)
    yield from _of_pipes(call)
    if (special := _SPECIAL.get(call.name)) is not None:
        yield from special(call, place)
    if call.name in programs.DATABASES:
        yield from _sql(call)
    if call.name == place.agent:
        yield from _itself(call)


# Tables


@dataclass(frozen=True, slots=True)
class _Rule:
    level: Literal["ask", "block"]
    id: str
    why: str
    subs: tuple[tuple[str, ...], ...]
    having: tuple[str, ...]
    calling_off: tuple[str, ...]


@cache
def _table() -> tuple[dict[str, list[_Rule]], list[tuple[str, _Rule]]]:
    """Rows by program name; those whose program is a pattern apart."""
    exact: dict[str, list[_Rule]] = {}
    patterns: list[tuple[str, _Rule]] = []
    rows: list[tuple[Literal["ask", "block"], Row]] = [("block", row) for row in rules.BLOCKED]
    rows += [("ask", row) for row in rules.ASKED]
    for level, row in rows:
        program, *subs = row.what.split(" ")
        tokens = row.having.split()
        rule = _Rule(
            level,
            row.id,
            row.why,
            tuple(tuple(sub.split("|")) for sub in subs),
            tuple(token for token in tokens if not token.startswith("!")),
            tuple(token[1:] for token in tokens if token.startswith("!")),
        )
        for name in program.split("|"):
            if "*" in name:
                patterns.append((name, rule))
            else:
                exact.setdefault(name, []).append(rule)
    return exact, patterns


def _by_table(call: Invocation) -> Iterator[Finding]:
    exact, patterns = _table()
    found = exact.get(call.name, []) + [rule for name, rule in patterns if fnmatchcase(call.name, name)]
    if not found:
        return
    positionals = call.positionals
    for rule in found:
        if len(positionals) < len(rule.subs):
            continue
        if not all(
            any(fnmatchcase(word, option) for option in options)
            for word, options in zip(positionals, rule.subs, strict=False)
        ):
            continue
        if rule.having and not call.has(*rule.having):
            continue
        if rule.calling_off and call.has(*rule.calling_off):
            continue
        yield Finding(rule.level, rule.id, rule.why)


_BUNDLE = re.compile(r"-[A-Za-z0-9]{1,8}")


def _matches(pattern: str, texts: tuple[str, ...]) -> bool:
    if len(pattern) == 2 and pattern[0] == "-" and pattern != "--":
        letter = pattern[1]
        return any(letter in text[1:] for text in texts if _BUNDLE.fullmatch(text))
    fits = _glob(pattern)
    if any(map(fits, texts)):
        return True
    return "?" in pattern and any(fits(f"{a} {b}") for a, b in pairwise(texts))


@cache
def _glob(pattern: str) -> Callable[[str], object]:
    return re.compile(translate(pattern)).match


# Paths

_ENDLESS = ("/dev/zero", "/dev/urandom", "/dev/random", "/dev/tty")  # a command reads as much as it wants


def named_paths(text: str) -> Iterator[str]:
    """The paths a word may name: itself, and what follows `=`, `@`, `:` or an option letter."""
    if " " in text or "\n" in text or len(text) > 4096:
        return
    yield text
    yield from (part for part in re.split(r"[=@:,]", text)[1:] if part)
    if match := re.match(r"-[A-Za-z]([~/.].*)", text):
        yield match[1]


def _of_paths(call: Invocation, place: Place) -> Iterator[Finding]:
    if call.name in ("echo", "printf", "cd", "mkdir", "which", "type"):
        return
    if call.name not in programs.LOOKERS and call.name != "git":
        for text in dict.fromkeys(call.texts):
            if any(reads_secrets(part, place) for part in named_paths(text)):
                yield ask("secret.read", f"reads {text}, which may hold secrets")
        for root in (path for named in _roots(call) for path in place.meant(named)):
            if paths.reaches_secrets(root, place):
                yield ask("secret.read", f"reads all of {root}, where secrets are kept")
    for target in written(call):
        yield from of_write(target, place)


def reads_secrets(named: str, place: Place) -> bool:
    """True when this path or glob names a secret, or a folder of them."""
    return any(_is_or_may_be_secret(path, place) for path in place.meant(named))


def _is_or_may_be_secret(path: str, place: Place) -> bool:
    if path in _ENDLESS:
        return False
    return paths.holds_secrets(path, place) or (_wild(path) and paths.may_be_secret(path, place))


def _wild(path: str) -> bool:
    return any(char in path for char in "*?[")


def _roots(call: Invocation) -> Iterator[str]:
    """The folders of which a program reads everything."""
    if call.name not in programs.RECURSIVE:
        return
    having, first, last = programs.RECURSIVE[call.name]
    if having and not call.has(*having):
        return
    where = [*values(call.texts, "-C", "--directory")] if call.name.endswith("tar") else []
    named = [text for text in call.texts if not text.startswith("-") and text not in where]
    roots = named[first:last] if last else named[first:]
    if (not roots and first and not call.before) or (first == 1 and call.has(*programs.BEFORE_PATTERN)):
        roots.append(".")
    yield from (posixpath.join(*where, root) for root in roots)


def of_write(target: str, place: Place) -> Iterator[Finding]:
    """What is dangerous about writing to a path."""
    for path in place.meant(target):
        if paths.is_disk(path):
            yield block("disk.write", f"writes over the disk {path}")
        elif paths.holds_protected(path, place) or (_wild(path) and paths.may_be_protected(path, place)):
            yield ask("write.protected", f"changes {path}")


def written(call: Invocation) -> Iterator[str]:
    """The files a call is told to write."""
    words = [text for text in call.texts if not text.startswith("-")]
    if call.name in ("tee", "touch", "truncate", "sponge", "rm", "unlink", "rmdir"):
        yield from words
    elif call.name in ("cp", "mv", "ln", "install", "link", "rsync", "scp"):
        yield from words[-1:]
        yield from words[:-1] if call.name == "mv" else ()
        yield from values(call.texts, "-t", "--target-directory")
        yield from (b for a, b in pairwise(call.texts) if re.fullmatch(r"-[A-Za-z]+t", a))
    elif call.name in ("sed", "perl", "ruby") and call.has("-i", "-i*", "--in-place*"):
        yield from words[1:] if len(words) > 1 else words
    elif call.name == "git":
        yield from _written_by_git(call)
    elif call.name == "dd":
        yield from (text[3:] for text in call.texts if text.startswith("of="))
    elif call.name in programs.FETCHERS or call.name == "sort":
        yield from values(call.texts, "-o", "-O", "--output", "--output-document", "-P", "--output-dir")
    else:
        yield from _written_below(call, words)


def _written_by_git(call: Invocation) -> Iterator[str]:
    yield from values(call.texts, "--output", "--output-directory")
    sub = next(iter(call.positionals), "")
    if sub == "config" and not call.has("-l", "--list", "--get*"):
        yield from values(call.texts, "-f", "--file")
    elif sub in ("format-patch", "archive"):
        yield from values(call.texts, "-o")


def _written_below(call: Invocation, words: Sequence[str]) -> Iterator[str]:
    """What is unpacked, patched, cut or changed in its mode."""
    if call.name in ("unzip", "tar", "bsdtar", "patch", "chmod", "chown", "chattr"):
        yield from values(call.texts, "-d", "-C", "--directory")
    if call.name == "patch":
        yield from words[:1]
    recursive = call.name in ("chmod", "chown", "chattr") and call.has("-R", "--recursive")
    if recursive or call.name in ("split", "csplit"):
        yield from words[1:]


def values(texts: tuple[str, ...], *options: str) -> Iterator[str]:
    """The values given to these options."""
    for text, following in zip(texts, (*texts[1:], ""), strict=False):
        if text in options and following:
            yield following
        for option in options:
            if option.startswith("--") and text.startswith(option + "="):
                yield text[len(option) + 1 :]
            elif len(option) == 2 and len(text) > 2 and text.startswith(option) and text[2] in "/~.":
                yield text[2:]


def prints_nothing(simple: Simple) -> bool:
    """True for a command that is there for its redirection only, which empties a file."""
    said = [word.text for word in simple.words]
    return not said or said[0] in (":", "true") or said == ["cat", "/dev/null"]


# Pipes and the network

_LOCAL = ("*localhost*", "*127.0.0.1*", "*[[]::1]*")
_TELLING = words(
    """
    env printenv set export cat base64 tar gzip xxd history head tail od zip gpg whoami
    """
)


def _of_pipes(call: Invocation) -> Iterator[Finding]:
    sends = call.name in programs.SENDERS or call.name in programs.FETCHERS
    if not sends or call.has(*_LOCAL):
        return
    if call.before and (call.name in programs.SENDERS or "xargs" in call.under):
        yield ask("send.pipe", "sends what another command prints to another machine")
    inner = {
        simple.words[0].text.rsplit("/", 1)[-1]
        for word in call.args
        for script in word.scripts
        for pipeline in script.pipelines
        for simple in pipeline
        if simple.words
    }
    if inner & _TELLING:
        yield ask("send.substitution", "sends what another command prints to another machine")


# Programs that need more than a table


def _rm(call: Invocation, place: Place) -> Iterator[Finding]:
    recursive = call.has("-r", "-R", "--recursive", "--no-preserve-root")
    if call.has("--no-preserve-root"):
        yield block("wipe.root", "deletes the whole machine")
    ends = call.texts.index("--") if "--" in call.texts else len(call.texts)
    for index, word in enumerate(call.args):
        if word.text == "--" or (word.text.startswith("-") and index < ends):
            continue
        yield from _removed(call, word, recursive, place)


def _removed(call: Invocation, word: Word, recursive: bool, place: Place) -> Iterator[Finding]:
    text = word.text
    path = place.resolve(text)
    bare = re.sub(r"/?(?:\.?\*+|\.\[!?.*|\{.*)$", "", text) if word.globbed or "*" in text else text
    everything = place.resolve(bare or ("/" if text.startswith("/") else "."))
    emptied = place.meant(everything) if bare != text else ()
    vital = any(paths.is_vital(one, place) for one in (path, *emptied))
    if recursive and (vital or (word.globbed and paths.covers_vital(path, place))):
        yield block("wipe.vital", f"deletes everything in {everything}")
    elif word.dynamic and (recursive or "xargs" in call.under):
        yield ask("wipe.unknown", "deletes files whose names are only known when it runs")
    elif (recursive or _found(call)) and not paths.is_regenerable(path, place):
        yield ask("wipe.folder", f"deletes {text} and all below it")
    elif bare != text and text.rsplit("/", 1)[-1] in ("*", ".*", "*.*"):
        yield ask("wipe.glob", f"deletes all files in {everything}")
    elif not word.dynamic and not paths.inside(path, place) and path != place.workspace:
        yield ask("wipe.outside", f"deletes {path}, outside the working folder")


def _found(call: Invocation) -> bool:
    """True when the names come from a search through folders."""
    return "find" in call.under or ("xargs" in call.under and "find" in call.before)


def _dd(call: Invocation, place: Place) -> Iterator[Finding]:
    for text in call.texts:
        if text.startswith("of=") and not place.resolve(text[3:]).startswith("/dev/null"):
            yield ask("wipe.dd", f"writes over {text[3:]}")


_ENDINGS = r"-(?:TERM|INT|HUP|SIGTERM|SIGINT|SIGHUP|CONT|SIGCONT|USR1|USR2|0|1|2|15|18|l|L|-)"


def _kill(call: Invocation, place: Place) -> Iterator[Finding]:
    words = [text for text in call.texts if text != "--"]
    targets = words[1:] if words and words[0].startswith("-") and len(words) > 1 else words
    if "-1" in targets or (words[:1] == ["-s"] and "-1" in words[2:]):
        yield block("process.all", "ends every process")
    unusual = any(text.startswith("-") and not re.fullmatch(_ENDINGS, text) for text in words)
    unknown = any(word.dynamic and word.text not in ("$!", "$$") for word in call.args)
    if any("PPID" in text for text in targets) or (unusual and unknown):
        yield ask("process.self", "may stop or end the agent's own processes")
    if any(re.fullmatch(r"-?[0-9]{2,9}", text) and place.ours(abs(int(text))) for text in words):
        yield ask("process.self", "stops or ends the agent's own processes")


def _mv(call: Invocation, place: Place) -> Iterator[Finding]:
    for path in (path for word in call.texts for path in place.meant(word)):
        if any(own and encloses(path, own) for own in (place.state, place.program)):
            yield ask("write.protected", f"moves {path}, where the agent's own files are")


def _git(call: Invocation, place: Place) -> Iterator[Finding]:
    """What git shows of files that hold secrets, or takes in to be shown later."""
    words = call.positionals
    place = place.at(place.resolve(next(values(call.texts, "-C"), ".")))
    shows = words[:1] and words[0] in programs.GIT_SHOWS
    if shows or call.has(*programs.GIT_SHOWING) or (words[:1] == ["add"] and call.has("-f", "--force")):
        for text in call.texts:
            if any(reads_secrets(part, place) for part in named_paths(text)):
                yield ask("secret.read", f"reads {text}, which may hold secrets")
    if call.has("--no-index"):
        for root in (path for named in (".", *words[1:]) for path in place.meant(named)):
            if paths.reaches_secrets(root, place):
                yield ask("secret.read", f"reads all of {root}, where secrets are kept")


def _mkfs(call: Invocation, place: Place) -> Iterator[Finding]:
    if any(paths.is_disk(place.resolve(text)) for text in call.texts):
        yield block("disk.format", "makes a new file system over a disk")


def _awk(call: Invocation, _: Place) -> Iterator[Finding]:
    for text in call.texts:
        if re.search(r"\bsystem\s*\(|\|\s*\"|\"\s*\||\|&|getline\s*<\s*\"/inet|/inet/", text):
            yield ask("run.awk", "runs a program from inside awk")


def _sed(call: Invocation, _: Place) -> Iterator[Finding]:
    for text in call.texts:
        executes = re.search(r"(?:^|[;{\n])\s*(?:\d+|\$|/[^/]*/)?(?:,\S+)?\s*e(?:\s|$)", text)
        replaces = re.search(r"(?:^|[;{])\s*s(.)(?:(?!\1).)*\1(?:(?!\1).)*\1[a-zA-Z0-9]*e", text)
        if not text.startswith("-") and (executes or replaces):
            yield ask("run.sed", "runs a program from inside sed")


_SQL = (  # compiled at the first use, not at every start
    r"\bdrop\s+(?:table|database|schema|index|view|user|role|collection|keyspace|column|owned)|\btruncate\b"
    r"|\bdelete\s+from\b|\balter\s+(?:user|role|system|table)|\bgrant\s|\bupdate\s+\S+\s+set\b(?!.*\bwhere\b)"
    r"|dropdatabase|dropuser|\.drop\(|deletemany|deleteone|\.remove\(|\binto\s+(?:outfile|dumpfile)|\bset\s+password"
)


def _sql(call: Invocation) -> Iterator[Finding]:
    if re.search(_SQL, "\n".join((*call.texts, call.stdin or "")), re.IGNORECASE | re.DOTALL):
        yield ask("data.sql", "deletes or changes data in a database")


_HARMLESS_SELF = words(
    """
    doctor status logs insights help version path env-path list show get search check
    """
)


def _itself(call: Invocation) -> Iterator[Finding]:
    words = call.positionals
    telling = words[:1] and (words[0] in _HARMLESS_SELF or (len(words) > 1 and words[1] in _HARMLESS_SELF))
    if not telling and not call.has("--version", "--help", "-h"):
        yield ask("self.command", "gives orders to the agent itself")


_SPECIAL: dict[str, Callable[[Invocation, Place], Iterator[Finding]]] = {
    "rm": _rm,
    "unlink": _rm,
    "dd": _dd,
    "kill": _kill,
    "git": _git,
    "mv": _mv,
    "awk": _awk,
    "gawk": _awk,
    "mawk": _awk,
    "nawk": _awk,
    "sed": _sed,
    "gsed": _sed,
    "wipefs": _mkfs,
    "shred": _mkfs,
}


# Code handed to an interpreter


@cache
def _code() -> tuple[tuple[re.Pattern[str], str, str], ...]:
    return tuple((re.compile(pattern, re.DOTALL), rule, why) for pattern, rule, why in CODE)


def of_code(code: str) -> Iterator[Finding]:
    """What is dangerous about a piece of a programming language, judged by its words."""
    for pattern, rule, why in _code():
        if pattern.search(code):
            yield ask(rule, f"holds code that {why}")
