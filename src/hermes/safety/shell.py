"""A shell command line taken apart: simple commands with their words, pipes, redirections and heredocs.

Pure text analysis, never an execution. What can be known without running is put in: quotes, escapes,
`~`, `$HOME`, variables set on the same line, `${X:-default}`, braces, `$(echo constant)`.
"""

import binascii
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from hermes.safety.tables import words

LONGEST = 128_000  # characters of a command line that are looked at
DEEPEST = 12  # nested substitutions
MOST_WORDS = 20_000

_SPLIT = "\x1f"  # where an unquoted expansion breaks a word in two
_BLANK = " \t"
_OPERATORS: tuple[str, ...] = (
    "&&",
    "||",
    ";;&",
    ";;",
    ";&",
    "|&",
    "&>>",
    "&>",
    "<<<",
    "<<-",
    "<<",
    "<&",
    "<>",
    "<(",
    ">(",
)
_OPERATORS += (">>", ">|", ">&", ";", "&", "|", "<", ">", "(", ")", "\n")
_ENDS = frozenset({"&&", "||", ";", "&", "\n", ";;", ";&", ";;&", "(", ")"})
_REDIRECTS = frozenset({"&>>", "&>", "<<<", "<<-", "<<", "<&", "<>", ">>", ">|", ">&", "<", ">"})
_SKIPPED = words(
    """
    if then else elif fi while until do done { } ! time coproc esac
    """
)
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)(\[[^\]]*\])?\+?=")
_NAME = re.compile(r"[A-Za-z_]\w*|[0-9*@#?$!-]")
_DEFAULT = re.compile(r"([A-Za-z_]\w*)(:?[-=])(.*)", re.DOTALL)
_ANSI = re.compile(r"\\(x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|U[0-9a-fA-F]{1,8}|[0-7]{1,3}|c.|.)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "f": "\f", "v": "\v"}


class Unparsable(ValueError):
    """The text is no command line this reader understands."""


@dataclass(frozen=True, slots=True)
class Word:
    """One word. `dynamic` means part of it is only known when it runs; `scripts` are its substitutions."""

    text: str
    dynamic: bool = False
    quoted: bool = False
    globbed: bool = False
    scripts: tuple["Script", ...] = ()
    process: bool = False


@dataclass(frozen=True, slots=True)
class Redirect:
    """`op` with its target; for a heredoc the target is the body."""

    op: str
    target: Word

    @property
    def writes(self) -> bool:
        return self.op in {">", ">>", ">|", "&>", "&>>", "<>"} or (
            self.op == ">&" and not self.target.text.rstrip("-").isdigit() and self.target.text != "-"
        )


@dataclass(slots=True)
class Simple:
    """A simple command. `inside` names the function whose body it stands in."""

    words: list[Word] = field(default_factory=list[Word])
    assigns: list[tuple[str, Word]] = field(default_factory=list[tuple[str, Word]])
    redirects: list[Redirect] = field(default_factory=list[Redirect])
    inside: str = ""

    @property
    def empty(self) -> bool:
        return not (self.words or self.assigns or self.redirects)


Pipeline = list[Simple]


@dataclass(slots=True)
class Script:
    """The pipelines of a command line, in order, whatever they are nested in."""

    pipelines: list[Pipeline] = field(default_factory=list[Pipeline])
    functions: set[str] = field(default_factory=set[str])


def parse(text: str, known: dict[str, str] | None = None, depth: int = 0) -> Script:
    """Take a command line apart. `known` are variables with known values; it learns those set on the way."""
    if depth > DEEPEST or len(text) > LONGEST:
        raise Unparsable("too long or too deeply nested to be understood")
    if "\0" in text:
        raise Unparsable("a NUL character")
    return _Reader(text, {} if known is None else known, depth).script()


class _Reader:
    def __init__(self, text: str, known: dict[str, str], depth: int) -> None:
        self.text = text
        self.at = 0
        self.known = known
        self.depth = depth
        self.made = Script()
        self.current: Pipeline = []
        self.simple = Simple()
        self.heredocs: list[tuple[Simple, str, bool, bool]] = []
        self.function = ""
        self.braces = 0
        self.words_read = 0

    # Commands

    def script(self) -> Script:
        while self.at < len(self.text):
            operator = self._operator()
            if operator == "":
                self._take_word()
            elif operator in ("<(", ">("):
                self._word_from([self._process(operator)])
            elif operator in _REDIRECTS:
                self._redirect(operator)
            elif operator in ("|", "|&"):
                self._end_command(piped=True)
            elif operator == "(" and len(self.simple.words) == 1 and self._peek_closing():
                self._begin_function(self.simple.words.pop().text)
            elif operator:
                self._end_command()
                if operator == "\n":
                    self._read_heredocs()
        self._end_command()
        self._read_heredocs()
        return self.made

    def _operator(self) -> str | None:
        """The operator here, "" when a word begins, None when there is nothing."""
        while self.at < len(self.text) and self.text[self.at] in _BLANK:
            self.at += 1
        if self.text.startswith("\\\n", self.at):
            self.at += 2
            return None
        if self.at >= len(self.text):
            return None
        if self.text[self.at] == "#":
            end = self.text.find("\n", self.at)
            self.at = len(self.text) if end < 0 else end
            return None
        for operator in _OPERATORS:
            if self.text.startswith(operator, self.at):
                self.at += len(operator)
                return operator
        return ""

    def _peek_closing(self) -> bool:
        match = re.compile(r"\s*\)").match(self.text, self.at)
        if match:
            self.at = match.end()
        return bool(match)

    def _begin_function(self, name: str) -> None:
        self.made.functions.add(name)
        self.function = name
        self._end_command()

    def _end_command(self, piped: bool = False) -> None:
        if not self.simple.empty:
            self.simple.inside = self.function
            self.current.append(self.simple)
            self.simple = Simple()
        elif piped and not self.current and self.made.pipelines:
            self.current = self.made.pipelines.pop()  # `{ ...; } | next`
        if not piped and self.current:
            self.made.pipelines.append(self.current)
            self.current = []

    def _take_word(self) -> None:
        self.words_read += 1
        if self.words_read > MOST_WORDS:
            raise Unparsable("too many words")
        start = self.at
        if not self.simple.words and self._assignment():
            return
        words = self._word()
        raw = self.text[start : self.at]
        if not self.simple.words and self._reserved(raw):
            return
        if raw.isdigit() and self.text[self.at : self.at + 1] in ("<", ">"):
            return  # the number of a descriptor
        self._word_from(words)

    def _word_from(self, words: Sequence[Word]) -> None:
        self.simple.words += words
        first = self.simple.words[0].text if self.simple.words else ""
        if first in ("export", "declare", "local", "readonly", "typeset", "alias"):
            for word in words:
                name, equals, value = word.text.partition("=")
                if equals and name.isidentifier():
                    self._learn(name, Word(value, word.dynamic))

    def _assignment(self) -> bool:
        match = _ASSIGNMENT.match(self.text, self.at)
        if not match:
            return False
        self.at = match.end()
        if self.text.startswith("(", self.at):
            self.at += 1
            inside = parse(f": {self._balanced()}", self.known, self.depth + 1)
            self.simple.assigns.append((match[1], Word("", True, scripts=(inside,))))
            return True
        value = Word("")
        if self.at < len(self.text) and self.text[self.at] not in " \t\n;&|()<>":
            parts = self._word()
            value = Word(
                " ".join(part.text for part in parts),
                any(part.dynamic for part in parts),
                scripts=tuple(script for part in parts for script in part.scripts),
            )
        self.simple.assigns.append((match[1], value))
        self._learn(match[1], value)
        return True

    def _learn(self, name: str, value: Word) -> None:
        if value.dynamic:
            self.known.pop(name, None)
        else:
            self.known[name] = value.text

    def _reserved(self, raw: str) -> bool:
        if raw in _SKIPPED:
            self.braces += (raw == "{") - (raw == "}")
            if raw == "}" and self.braces <= 0:
                self.function = ""
            return True
        if raw in ("for", "select"):
            self._for()
            return True
        if raw == "case":
            self._case()
            return True
        if raw == "function":
            self._skip_blanks()
            name = "".join(word.text for word in self._word())
            self._skip_blanks()
            if self.text.startswith("(", self.at):
                self.at += 1
                self._peek_closing()
            self._begin_function(name)
            return True
        return False

    def _for(self) -> None:
        """`for NAME in words`: the name stands for the words."""
        self._skip_blanks()
        name = "".join(word.text for word in self._word())
        values: list[Word] = []
        self._skip_blanks()
        if re.compile(r"in\b").match(self.text, self.at):
            self.at += 2
            while self._operator() == "":
                values += self._word()
            self.at -= self.at < len(self.text) or self.text[-1:] in ";\n"
        self.simple.redirects += [Redirect("for", word) for word in values if word.scripts]
        joined = _SPLIT.join(word.text for word in values)
        self._learn(name, Word(joined, not values or any(word.dynamic for word in values)))

    def _case(self) -> None:
        """`case WORD in`, patterns up to `)` are dropped by treating them as a command of no meaning."""
        match = re.compile(r"\s*\S+\s+in\b[^)]*\)").match(self.text, self.at)
        if match:
            self.at = match.end()

    def _skip_blanks(self) -> None:
        while self.at < len(self.text) and self.text[self.at] in _BLANK:
            self.at += 1

    def _redirect(self, operator: str) -> None:
        self._skip_blanks()
        if operator in ("<<", "<<-"):
            start = self.at
            delimiter = "".join(word.text for word in self._word())
            literal = any(c in self.text[start : self.at] for c in "'\"\\")
            self.heredocs.append((self.simple, delimiter, literal, operator == "<<-"))
            return
        if self.text.startswith(("<(", ">("), self.at):
            self.at += 2
            process = self._process(self.text[self.at - 2 : self.at])
            self.simple.redirects.append(Redirect(operator, process))
            return
        words = self._word() if self.at < len(self.text) and self.text[self.at] not in "\n;|" else []
        for word in words or [Word("", True)]:
            self.simple.redirects.append(Redirect(operator, word))

    def _read_heredocs(self) -> None:
        for simple, delimiter, literal, tabs in self.heredocs:
            lines: list[str] = []
            while self.at < len(self.text):
                end = self.text.find("\n", self.at)
                end = len(self.text) if end < 0 else end
                line = self.text[self.at : end]
                self.at = min(end + 1, len(self.text))
                line = line.lstrip("\t") if tabs else line
                if line == delimiter:
                    break
                lines.append(line)
            body = "".join(f"{line}\n" for line in lines)
            simple.redirects.append(Redirect("<<", Word(body) if literal else self._heredoc(body)))
        self.heredocs.clear()

    def _heredoc(self, body: str) -> Word:
        inner = _Reader(body, self.known, self.depth + 1)
        piece = _Piece()
        while inner.at < len(body):
            inner.expand(piece, quoted=True)
        return Word(piece.text, piece.dynamic, True, scripts=tuple(piece.scripts))

    # Words

    def _process(self, operator: str) -> Word:
        """The target of `<(...)`: a script whose output is read like a file."""
        inside = self._balanced()
        script = parse(inside, self.known, self.depth + 1)
        return Word(f"{operator}{inside})", True, scripts=(script,), process=True)

    def _word(self) -> list[Word]:
        piece = _Piece()
        while self.at < len(self.text):
            char = self.text[self.at]
            if char in " \t\n;&|()<>":
                if char not in "<>" or not self.text.startswith(("<(", ">("), self.at) or piece.text == "":
                    break
                self.at += 2
                process = self._process(self.text[self.at - 2 : self.at])
                piece.unknown(process.text, process.scripts)
                continue
            self._character(piece, char)
        return piece.words(self.known.get("HOME", "~"))

    def _character(self, piece: "_Piece", char: str) -> None:
        if char == "'":
            end = self.text.find("'", self.at + 1)
            if end < 0:
                raise Unparsable("a quote is not closed")
            piece.add(self.text[self.at + 1 : end], quoted=True)
            self.at = end + 1
        elif char == '"':
            self._double(piece)
        elif char == "\\":
            following = self.text[self.at + 1 : self.at + 2]
            piece.add("" if following == "\n" else following, quoted=True)
            self.at += 2
        elif self.text.startswith("$'", self.at):
            self._ansi(piece)
        elif self.text.startswith('$"', self.at):
            self.at += 1
            self._double(piece)
        else:
            self.expand(piece, quoted=False)

    def _ansi(self, piece: "_Piece") -> None:
        match = re.compile(r"\$'((?:[^'\\]|\\.)*)'", re.DOTALL).match(self.text, self.at)
        if not match:
            raise Unparsable("a quote is not closed")
        piece.add(_ANSI.sub(_escaped, match[1]).partition("\0")[0], quoted=True)  # as bash does
        self.at = match.end()

    def _double(self, piece: "_Piece") -> None:
        self.at += 1
        piece.quoted = True
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == '"':
                self.at += 1
                return
            if char == "\\" and self.text[self.at + 1 : self.at + 2] in ("$", "`", '"', "\\", "\n"):
                following = self.text[self.at + 1]
                piece.add("" if following == "\n" else following, quoted=True)
                self.at += 2
            else:
                self.expand(piece, quoted=True)
        raise Unparsable("a quote is not closed")

    def expand(self, piece: "_Piece", quoted: bool) -> None:
        """One character, or one expansion."""
        text, at = self.text, self.at
        if text.startswith("$((", at):
            self.at += 3
            piece.unknown("$((", self._scripts_in(self._balanced(2)))
        elif text.startswith("$(", at):
            self.at += 2
            self._substitution(piece, self._balanced(), quoted)
        elif text[at] == "`":
            end = re.compile(r"`((?:[^`\\]|\\.)*)`", re.DOTALL).match(text, at)
            if not end:
                raise Unparsable("a backtick is not closed")
            self.at = end.end()
            self._substitution(piece, re.sub(r"\\([`\\$])", r"\1", end[1]), quoted)
        elif text.startswith("${", at):
            self.at += 2
            self._parameter(piece, self._balanced(opening="{", closing="}"), quoted)
        elif text[at] == "$" and (match := _NAME.match(text, at + 1)):
            self.at = match.end()
            self._variable(piece, match[0], quoted)
        else:
            piece.add(text[at], quoted)
            self.at += 1

    def _substitution(self, piece: "_Piece", inside: str, quoted: bool) -> None:
        script = parse(inside, dict(self.known), self.depth + 1)
        value = constant(script)
        if value is None:
            piece.unknown(f"$({inside})", (script,))
        else:
            piece.scripts.append(script)
            piece.value(value.rstrip("\n"), quoted)

    def _parameter(self, piece: "_Piece", inside: str, quoted: bool) -> None:
        if inside.isidentifier():
            self._variable(piece, inside, quoted)
            return
        match = _DEFAULT.fullmatch(inside)
        if match and match[1] in self.known:
            piece.value(self.known[match[1]], quoted)
        elif match:
            inner = _Reader(match[3], self.known, self.depth + 1)
            while inner.at < len(match[3]):
                if not quoted and match[3][inner.at].isspace():
                    piece.add(_SPLIT, quoted=False)
                    inner.at += 1
                else:
                    inner._character(piece, match[3][inner.at])
        else:
            piece.unknown("${" + inside + "}", self._scripts_in(inside))

    def _scripts_in(self, text: str) -> tuple[Script, ...]:
        """The substitutions in a text that is otherwise not read."""
        found = re.findall(r"\$\(([^()]+)\)|`([^`]+)`", text)
        return tuple(parse(a or b, dict(self.known), self.depth + 1) for a, b in found)

    def _variable(self, piece: "_Piece", name: str, quoted: bool) -> None:
        if name == "IFS" and name not in self.known:
            piece.add(" " if quoted else _SPLIT, quoted)
        elif name in self.known:
            piece.value(self.known[name], quoted)
        else:
            piece.unknown(f"${name}", ())

    def _balanced(self, level: int = 1, opening: str = "(", closing: str = ")") -> str:
        """The text up to the closing bracket, quotes respected."""
        start, left = self.at, level
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == "\\":
                self.at += 1
            elif char in "'\"" and not (char == "'" and opening == "{"):
                end = self._closing_quote(char)
                self.at = end
            elif char == opening:
                left += 1
            elif char == closing:
                left -= 1
                if left == 0:
                    self.at += 1
                    return self.text[start : self.at - level]
            self.at += 1
        raise Unparsable("a bracket is not closed")

    def _closing_quote(self, quote: str) -> int:
        at = self.at + 1
        while at < len(self.text):
            if self.text[at] == "\\" and quote == '"':
                at += 1
            elif self.text[at] == quote:
                return at
            at += 1
        raise Unparsable("a quote is not closed")


class _Piece:
    """A word being read: its characters, and which of them were quoted."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.mask: list[bool] = []
        self.quoted = False
        self.dynamic = False
        self.scripts: list[Script] = []

    @property
    def text(self) -> str:
        return "".join(self.parts)

    def add(self, text: str, quoted: bool) -> None:
        self.parts += text
        self.mask += [quoted] * len(text)
        self.quoted = self.quoted or quoted

    def value(self, text: str, quoted: bool) -> None:
        """A known expansion: unquoted it is split at blanks."""
        self.add(text if quoted else re.sub(r"[ \t\n]+", _SPLIT, text), quoted)

    def unknown(self, shown: str, scripts: Sequence[Script]) -> None:
        self.add(shown, quoted=True)
        self.dynamic = True
        self.scripts += scripts

    def words(self, home: str) -> list[Word]:
        pairs = list(zip(self.parts, self.mask, strict=True))
        made: list[Word] = []
        for one in _braces(pairs):
            for part in _split(one):
                if part or self.quoted or not pairs:
                    made.append(self._made(part, home))
        return made

    def _made(self, pairs: list[tuple[str, bool]], home: str) -> Word:
        text = "".join(char for char, _ in pairs)
        if pairs and pairs[0] == ("~", False) and text[1:2] in ("", "/"):
            text = home + text[1:]
        globbed = any(char in "*?[" and not masked for char, masked in pairs)
        return Word(text, self.dynamic, self.quoted, globbed, tuple(self.scripts))


def _split(pairs: list[tuple[str, bool]]) -> Iterator[list[tuple[str, bool]]]:
    part: list[tuple[str, bool]] = []
    for pair in pairs:
        if pair[0] == _SPLIT:
            yield part
            part = []
        else:
            part.append(pair)
    yield part


def _braces(pairs: list[tuple[str, bool]], room: int = 64) -> list[list[tuple[str, bool]]]:
    """`a{b,c}` as `ab`, `ac`; unquoted braces with a comma only."""
    if room <= 1 or ("{", False) not in pairs:
        return [pairs]
    start = pairs.index(("{", False))
    depth, cuts = 0, [start]
    for at in range(start, len(pairs)):
        char, masked = pairs[at]
        if masked:
            continue
        depth += (char == "{") - (char == "}")
        if depth == 1 and char == ",":
            cuts.append(at)
        if depth == 0:
            if len(cuts) < 2:
                return [pairs]
            cuts.append(at)
            middles = [pairs[a + 1 : b] for a, b in pairwise(cuts)]
            whole = [pairs[:start] + middle + pairs[at + 1 :] for middle in middles]
            return [out for one in whole for out in _braces(one, room // len(middles))]
    return [pairs]


def _escaped(match: re.Match[str]) -> str:
    code = match[1]
    if code[0] in "xuU" and len(code) > 1:
        return chr(min(int(code[1:], 16), 0x10FFFF))
    if code[0] in "01234567":
        return chr(int(code, 8) & 0xFF)
    return _ESCAPES.get(code, code)


# What a pipeline of constants prints


def constant(script: Script) -> str | None:
    """What the script prints, when that is plain from the text."""
    if len(script.pipelines) != 1:
        return None
    return printed(script.pipelines[0])


def printed(pipeline: Pipeline) -> str | None:
    """What these commands print, when each is a plain printer or a plain recoding."""
    text: str | None = None
    for simple in pipeline:
        if not simple.words or simple.words[0].dynamic:
            return None
        text = _stage(simple, text)
        if text is None:
            return None
        text = text.replace("\0", "")  # a shell that reads it drops them
    return text


def fed(simple: Simple) -> str | None:
    """The constant text a command reads by heredoc or here-string."""
    for redirect in reversed(simple.redirects):
        if redirect.op in ("<<", "<<<"):
            return redirect.target.text + ("\n" if redirect.op == "<<<" else "")
    return None


def _stage(simple: Simple, text: str | None) -> str | None:
    name = simple.words[0].text.rsplit("/", 1)[-1]
    args = [word.text for word in simple.words[1:]]
    text = fed(simple) if fed(simple) is not None else text
    if name in ("echo", "printf") and not any(word.dynamic for word in simple.words):
        return _echo(name, args)
    if text is None:
        return None
    if name in ("cat", "tee") and all(arg.startswith("-") for arg in args):
        return text
    return _recode(name, args, text)


def _echo(name: str, args: list[str]) -> str:
    if name == "printf":
        shown = _ANSI.sub(_escaped, args[0] if args else "")
        for arg in args[1:]:
            shown = re.sub(r"%[sb]", lambda _, arg=arg: arg, shown, count=1)  # type: ignore[misc]
        return shown
    options = "".join(arg for arg in args if re.fullmatch(r"-[neE]+", arg))
    shown = " ".join(arg for arg in args if not re.fullmatch(r"-[neE]+", arg))
    return (_ANSI.sub(_escaped, shown) if "e" in options else shown) + ("" if "n" in options else "\n")


def _recode(name: str, args: list[str], text: str) -> str | None:
    try:
        if name in ("base64", "gbase64") and {"-d", "-D", "--decode"} & set(args):
            return binascii.a2b_base64(text).decode("utf-8", "replace")
        if name == "xxd" and "r" in "".join(args):
            return bytes.fromhex("".join(text.split())).decode("utf-8", "replace")
    except (ValueError, binascii.Error):
        return None
    if name == "rev":
        return "".join(line[::-1] + "\n" for line in text.splitlines())
    if name == "tac":
        return "".join(line + "\n" for line in reversed(text.splitlines()))
    return None
