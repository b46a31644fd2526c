"""What a shell command line would do: its programs, what they touch, and what is dangerous about them."""

import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from itertools import pairwise, takewhile

from hermes.safety import dangers as seen
from hermes.safety import paths, shell
from hermes.safety.dangers import Finding, Invocation, ask, block
from hermes.safety.paths import Place
from hermes.safety.reading import changes_nothing, read_paths
from hermes.safety.shell import Pipeline, Redirect, Script, Simple, Unparsable, Word
from hermes.safety.tables import programs, variables

_GUESSED = (
    "rm",
    "dd",
    "sudo",
    "sh",
    "bash",
    "zsh",
    "shred",
    "mkfs",
    "curl",
    "wget",
    "nc",
    "chmod",
    "kill",
    "su",
)
_NAMES = re.compile(r"[A-Za-z_]\w*=")
_DOLLAR = re.compile(r"\$\{?(\w+)")
_VERSION = re.compile(r"(?<=[A-Za-z])[\d.]+$")
_INPUT = ("/dev/stdin", "/dev/fd/0", "/proc/self/fd/0", "-")
_HIDING = frozenset(("base64", "rev", "tac", "xxd"))
_DREAD = re.compile(
    r"\b(?:rm|dd|mkfs\S*|sudo|su|curl|wget|nc|eval|shred|chmod|chown|kill\w*|pkill|shutdown|reboot|crontab|ssh|bash|sh)\b"
)


@dataclass(slots=True)
class Analysis:
    """What was understood of a command line.

    `opaque` is true when some program to be run is only known when it runs; `writes` when files are
    written; `assigns` when variables are set for a program; `reads` are the absolute paths its programs
    look at.
    """

    findings: list[Finding] = field(default_factory=list[Finding])
    calls: list[Invocation] = field(default_factory=list[Invocation])
    opaque: bool = False
    writes: bool = False
    assigns: bool = False
    reads: set[str] = field(default_factory=set[str])

    @property
    def worst(self) -> Finding | None:
        """The finding that decides: a block before a question."""
        return next((f for f in self.findings if f.level == "block"), next(iter(self.findings), None))

    @property
    def only_reads(self) -> bool:
        """True when every program is in the table of those that change nothing."""
        return not (self.opaque or self.writes) and all(map(changes_nothing, self.calls))


def analyse(command: str, place: Place) -> Analysis:
    """Take a command line apart and judge each program in it."""
    made = Analysis()
    try:
        script = shell.parse(command, {"HOME": place.home, "PWD": place.cwd})
        _Walk(made, place).script(script)
    except (Unparsable, RecursionError):
        made.opaque = made.writes = True
        if _DREAD.search(command):
            made.findings.append(
                ask("unparsable", "cannot be understood and names programs that can do harm")
            )
    return made


class _Walk:
    """Goes through a script in order, following `cd`, downloads and nested command lines."""

    def __init__(self, made: Analysis, place: Place, depth: int = 0) -> None:
        self.made = made
        self.place = place
        self.depth = depth
        self.downloaded: set[str] = set()
        self.printed: set[str] = set()  # variables that hold what a program printed
        self.fetched: set[str] = set()  # and what came from the network

    def script(self, script: Script) -> None:
        for pipeline in script.pipelines:
            self._fork_bomb(pipeline)
            for index, simple in enumerate(pipeline):
                self._simple(simple, pipeline[:index])

    def text(self, text: str) -> None:
        """A command line inside a command line."""
        if self.depth > shell.DEEPEST:
            raise Unparsable("too deeply nested to be understood")
        self.depth += 1
        self.script(shell.parse(text, {"HOME": self.place.home, "PWD": self.place.cwd}, self.depth))
        self.depth -= 1

    def found(self, *findings: Finding) -> None:
        self.made.findings += findings

    def _fork_bomb(self, pipeline: Pipeline) -> None:
        names = [simple.words[0].text for simple in pipeline if simple.words]
        if len(names) > 1 and pipeline[0].inside and names.count(pipeline[0].inside) > 1:
            self.found(block("process.bomb", "starts itself again and again until the machine stops"))

    def _simple(self, simple: Simple, before: Pipeline) -> None:
        words = [
            *simple.words,
            *(value for _, value in simple.assigns),
            *(r.target for r in simple.redirects),
        ]
        for script in dict.fromkeys(id(s) for word in words for s in word.scripts):
            inner, word = next((s, word) for word in words for s in word.scripts if id(s) == script)
            if ">(" in word.text:
                self._fed(inner, [*before, simple])
            else:
                self.script(inner)
        for redirect in simple.redirects:
            self._redirect(redirect, simple)
        for name, value in simple.assigns:
            self._assigned(name, value)
        if simple.words:
            self._taken_in(simple, before)
            stdin = shell.fed(simple)
            if stdin is None and before:
                stdin = shell.printed(before)
            self._invoke(simple.words, before, stdin, ())

    def _fed(self, script: Script, before: Pipeline) -> None:
        """The script of a `>(...)`: what is written to it is its input."""
        for pipeline in script.pipelines:
            for index, simple in enumerate(pipeline):
                self._simple(simple, [*before, *pipeline[:index]])

    def _taken_in(self, simple: Simple, before: Pipeline) -> None:
        """Variables that `read` and its like fill with what another command prints."""
        if _base(simple.words[0].text) in ("read", "mapfile", "readarray"):
            scripts = [script for r in simple.redirects for script in r.target.scripts]
            scripts.append(Script([before]))
            for word in simple.words[1:]:
                self._holds(word.text, scripts)

    def _holds(self, name: str, scripts: Sequence[Script]) -> None:
        programs_run = {program for script in scripts for program in _programs(script)}
        self.printed.update((name,) if programs_run else ())
        self.fetched.update((name,) if programs_run & programs.FETCHERS else ())

    def _assigned(self, name: str, value: Word) -> None:
        """A variable is set: some name a program, or make others load one."""
        self.made.assigns = True
        self.printed.discard(name)
        self.fetched.discard(name)
        if value.dynamic:
            self._holds(name, value.scripts)
            self.printed.update((name,) if _variables(value) & self.printed else ())
            self.fetched.update((name,) if _variables(value) & self.fetched else ())
        if name.startswith("HERMES_"):
            self.found(ask("self.setting", f"sets {name}, a setting of the agent itself"))
        if variables.loads(name, value.text):
            self.found(ask("stay.preload", f"sets {name}, which puts a program before others"))
        if variables.names_a_program(name):
            self.made.opaque = self.made.opaque or value.dynamic
            self.text(value.text.lstrip("|- "))

    def _redirect(self, redirect: Redirect, simple: Simple) -> None:
        target = redirect.target.text
        if target.startswith(("/dev/tcp/", "/dev/udp/")):
            self.found(ask("door.tcp", "connects to another machine"))
        elif redirect.writes:
            path = self.place.resolve(target)
            if (
                redirect.op in (">", ">|")
                and seen.prints_nothing(simple)
                and not paths.inside(path, self.place)
            ):
                self.found(ask("wipe.empty", f"empties {path}, outside the working folder"))
            if path not in ("/dev/null", "/dev/stderr", "/dev/stdout"):
                self.made.writes = True
                self.found(*seen.of_write(target, self.place))
                held = {name for word in simple.words for name in _variables(word)}
                if held & self.fetched or (simple.words and _base(simple.words[0].text) in programs.FETCHERS):
                    self.downloaded.add(path)
        elif redirect.op == "<":
            path = self.place.resolve(target)
            self.made.reads.add(path)
            if seen.reads_secrets(target, self.place):
                self.found(ask("secret.read", f"reads {target}, which may hold secrets"))
            if path in self.downloaded and simple.words and _runs_code(_base(simple.words[0].text)):
                self.found(ask("code.download", "runs a file it has just fetched from the network"))

    # One program

    def _invoke(
        self, words: Sequence[Word], before: Pipeline, stdin: str | None, under: tuple[str, ...]
    ) -> None:
        first = words[0]
        if first.dynamic:
            self._unknown(words, under)
            return
        if first.text.startswith("-") and len(words) > 1:  # `time -p command`, `flock file -c command`
            self._invoke(words[1:], before, stdin, under)
            return
        if " " in first.text.strip() and under:
            self.text(first.text)
            return
        for index, word in enumerate(words):
            if word.text == "{" and not word.quoted and words[index + 1 :]:  # `coproc NAME { command`
                self._invoke(words[index + 1 :], before, stdin, under)
        name = _base(first.text)
        if first.globbed and name not in ("[", "[["):
            name = next((guess for guess in _GUESSED if fnmatchcase(guess, name)), name)
            self.made.opaque = True
        args = tuple(words[1:])
        feeding = tuple(_base(simple.words[0].text) for simple in before if simple.words)
        call = Invocation(name, args, under, feeding, stdin, first.text, tuple(word.text for word in args))
        self.made.calls.append(call)
        self.made.writes = self.made.writes or any(seen.written(call))
        self._ran_download(call, before)
        self.found(*seen.dangers(call, self.place))
        self._inside(call, before)
        self._after(call, bool(before))

    def _unknown(self, words: Sequence[Word], under: tuple[str, ...]) -> None:
        """The program itself is only known when it runs."""
        self.made.opaque = True
        destructive = any(re.fullmatch(r"-\w*[rRf]\w*", word.text) for word in words[1:])
        parameter = re.fullmatch(r"\$[@*0-9]", words[0].text)
        if _variables(words[0]) & self.fetched:
            self.found(ask("code.piped", "runs what it fetches from the network"))
        elif words[0].scripts or under or destructive or parameter:
            self.found(ask("run.unknown", "runs a program whose name is only known when it runs"))

    def _ran_download(self, call: Invocation, before: Pipeline) -> None:
        run = [call.program] if "/" in call.program else []
        if _runs_code(call.name):
            run += call.positionals[:1]
            run += (word.text for simple in before for word in simple.words[1:])
        if any(self.place.resolve(path) in self.downloaded for path in run):
            self.found(ask("code.download", "runs a file it has just fetched from the network"))

    def _after(self, call: Invocation, piped: bool) -> None:
        """What the call changes for those that follow."""
        if call.name in ("cd", "pushd"):
            target = next(iter(call.positionals), self.place.home)
            self.place = self.place.at(self.place.resolve(target))
        elif call.name == "tee" and set(call.before) & programs.FETCHERS:
            self.downloaded.update(self.place.resolve(path) for path in call.positionals)
        elif call.name in programs.FETCHERS:
            self.downloaded.update(self.place.resolve(path) for path in seen.written(call))
            if call.name == "wget" or call.has("-O", "--remote-name*"):
                names = (posixpath.basename(text) for text in call.positionals if "://" in text)
                self.downloaded.update(self.place.resolve(name) for name in names if name)
        self.made.reads.update(read_paths(call, self.place, piped))

    # Programs that run programs

    def _inside(self, call: Invocation, before: Pipeline) -> None:
        if call.name in programs.SHELLS:
            self._shell(call)
        elif call.name in ("export", "declare", "typeset", "readonly", "local"):
            self._exported(call)
        elif call.name == "git":
            self._git(call)
        elif call.name == "eval":
            self._code_or_ask(call.args, "run.eval")
        elif call.name in ("source", "."):
            self._sourced(call)
        elif call.name in ("find", "fd"):
            self._find(call)
        elif call.name in ("ssh", "su", "script", "runuser"):
            self._remote(call)
        elif call.name in programs.WRAPPERS:
            self._wrapper(call, before)
        elif interpreter := _interpreter(call.name):
            self._interpreter(call, programs.INTERPRETERS[interpreter])

    def _exported(self, call: Invocation) -> None:
        for word in call.args:
            name, equals, value = word.text.partition("=")
            if equals:
                self._assigned(name, replace(word, text=value))

    def _git(self, call: Invocation) -> None:
        """The command lines that git is handed."""
        for setting in seen.values(call.texts, "-c", "--config", "--config-env"):
            key, _, value = setting.partition("=")
            if value and variables.git_runs(key):
                self.found(ask("run.git", f"sets {key}, which makes git run a program"))
                self.text(value.lstrip("! "))
        words = call.positionals
        if words[:2] in (["bisect", "run"], ["submodule", "foreach"]):
            self.text(" ".join(call.texts[call.texts.index(words[1]) + 1 :]).removeprefix("--recursive "))
        for command in seen.values(call.texts, "--exec", "-x", "--extcmd"):
            if words[:1] in (["rebase"], ["difftool"]):
                self.text(command)

    def _wrapper(self, call: Invocation, before: Pipeline) -> None:
        own = takewhile(lambda text: text.startswith("-") or _NAMES.match(text), call.texts)
        split = [text for text in own if re.match(r"-S|--split-string", text)]
        if call.name == "env" and split:
            start = call.texts.index(split[0])
            inline = split[0].removeprefix("--split-string").removeprefix("=").removeprefix("-S")
            self.text(" ".join((inline, *call.texts[start + 1 :])))
            return
        if call.name == "command" and call.has("-v", "-V"):
            return
        rest_words = self._unwrapped(call)
        under = (*call.under, call.name)
        if call.name in ("watch", "parallel", "trap", "entr") and rest_words:
            if call.name == "watch" and call.has("-x", "--exec"):
                self._invoke(rest_words, before, None, under)
            else:
                self.text(" ".join(w.text for w in (rest_words[:1] if call.name == "trap" else rest_words)))
        elif rest_words:
            extra = self._listed(call, before) if call.name == "xargs" else []
            filled = _filled(call, rest_words, extra) or [*rest_words, *extra]
            self._invoke(filled, before, None if extra else call.stdin, under)

    def _unwrapped(self, call: Invocation) -> list[Word]:
        valued, skipped = programs.WRAPPERS[call.name]
        options = valued.split()
        index = 0
        while index < len(call.args):
            text = call.texts[index]
            if text == "--":
                index += 1
                break
            if text in options:
                index += 1
            elif _NAMES.match(text) and call.name in ("env", "sudo", "doas"):
                name, _, value = text.partition("=")
                self._assigned(name, replace(call.args[index], text=value))
            elif not text.startswith("-") or text == "-":
                break
            index += 1
        return list(call.args[index + skipped :])

    def _listed(self, call: Invocation, before: Pipeline) -> list[Word]:
        """What xargs adds: constant text, what a find before it looks for, or something unknown."""
        if call.stdin is not None:
            home = self.place.home
            return [Word(re.sub(r"^~(?=/|$)", home, part)) for part in call.stdin.split()] or [Word("", True)]
        if before and before[-1].words and _base(before[-1].words[0].text) == "find":
            return _found_by([word.text for word in before[-1].words[1:]])
        return [Word("$(stdin)", True)]

    def _shell(self, call: Invocation) -> None:
        index = next((i for i, t in enumerate(call.texts) if re.fullmatch(r"-\w*c\w*", t)), -1)
        if index >= 0:
            if set(call.under) & programs.FEEDERS:
                self.found(ask("run.feeder", "hands a command line to a shell by a detour"))
            self._code_or_ask(call.args[index + 1 : index + 2], "run.shell")
            return
        script = next((word for word in call.args if not word.text.startswith("-")), None)
        if script is not None and not call.has("-s") and script.text not in _INPUT:
            if script.process:
                self._from_elsewhere(script.scripts, "runs what another command prints")
            return
        self._piped_code(call, is_shell=True)

    def _piped_code(self, call: Invocation, is_shell: bool) -> None:
        if call.stdin is not None:
            if _HIDING & set(call.before) and re.search(r"\b(?:rm|dd|mkfs|shred)\b", call.stdin):
                self.found(block("run.hidden", "hides from the reader that it destroys files"))
            if is_shell:
                self.text(call.stdin)
            else:
                self._held(call.stdin)
                self.found(*seen.of_code(call.stdin))
        elif set(call.before) & programs.FETCHERS:
            self.found(ask("code.piped", "runs what it fetches from the network"))
        elif call.before and not set(call.before) <= {"cat"}:
            self.made.opaque = True
            self.found(ask("run.piped", "runs whatever another command prints"))

    def _held(self, code: str) -> None:
        """Code that holds a variable with what came from the network."""
        if set(_DOLLAR.findall(code)) & self.fetched:
            self.found(ask("code.piped", "runs what it fetches from the network"))

    def _code_or_ask(self, words: Sequence[Word], rule: str) -> None:
        """A command line given as words; when part of it is unknown, a question."""
        scripts = tuple(script for word in words for script in word.scripts)
        unknown = any(word.dynamic and word.scripts for word in words)
        if unknown:
            self.made.opaque = True
            if all(re.fullmatch(r"\$\(.*\)", word.text, re.DOTALL) for word in words if word.dynamic):
                self._from_elsewhere(scripts, "runs text that is only known when it runs", rule)
                return
        held = {name for word in words if word.dynamic for name in _variables(word)}
        if held & self.fetched:
            self.found(ask("code.piped", "runs what it fetches from the network"))
        elif held & self.printed and not unknown:
            self.found(ask(rule, "runs text that is only known when it runs"))
        self.text(" ".join(word.text for word in words))

    def _from_elsewhere(self, scripts: Sequence[Script], why: str, rule: str = "run.printed") -> None:
        names = {name for script in scripts for name in _programs(script)}
        if names & programs.FETCHERS:
            self.found(ask("code.piped", "runs what it fetches from the network"))
        else:
            self.found(ask(rule, why))

    def _sourced(self, call: Invocation) -> None:
        scripts = [script for word in call.args if word.process for script in word.scripts]
        if call.texts[:1] and call.texts[0] in _INPUT:
            self._piped_code(call, is_shell=True)
        if scripts:
            self._from_elsewhere(scripts, "runs what another command prints")

    def _find(self, call: Invocation) -> None:
        texts = call.texts
        if "-delete" in texts:
            words = _found_by(list(texts))
            deletes = Invocation("rm", (Word("-r"), *words), texts=("-r", *(word.text for word in words)))
            self.made.writes = True
            self.found(*seen.dangers(deletes, self.place))
        for index, text in enumerate(texts):
            if re.fullmatch(r"-exec(dir)?|-ok(dir)?|-x|-X|--exec|--exec-batch", text):
                ends = [i for i in range(index, len(texts)) if texts[i] in (";", "+")] or [len(texts)]
                inner = list(call.args[index + 1 : ends[0]])
                filled = [
                    w for word in inner for w in (_found_by(list(texts)) if word.text == "{}" else [word])
                ]
                if filled:
                    self._invoke(filled, [], None, (*call.under, "find"))

    def _remote(self, call: Invocation) -> None:
        """A command line for another shell: after `-c`, or after the host."""
        if call.name == "ssh":
            words = call.args
            index = 0
            while index < len(words) and words[index].text.startswith("-"):
                index += 2 if re.fullmatch(r"-\w*[bcDEeFIiJLlmOopQRSWw]", words[index].text) else 1
            rest = words[index + 1 :]
        else:
            at = next(
                (i for i, text in enumerate(call.texts) if text in ("-c", "--command")), len(call.texts)
            )
            rest = call.args[at + 1 : at + 2]
        if rest:
            self.made.writes = True
            self.text(" ".join(word.text for word in rest))

    def _interpreter(self, call: Invocation, options: tuple[str, ...]) -> None:
        for index, text in enumerate(call.texts):
            flag = next(
                (o for o in options if text == o or (len(o) == 2 and re.fullmatch(rf"-\w*{o[1]}", text))), ""
            )
            if flag and index + 1 < len(call.args):
                code = call.args[index + 1]
                self._held(code.text if code.dynamic else "")
                if code.dynamic and code.scripts:
                    self._from_elsewhere(code.scripts, "runs code that is only known when it runs")
                self.found(*seen.of_code(code.text))
                return
            if not text.startswith("-"):
                break  # a script, and what follows is for it
        if call.args and call.args[0].process:
            self._from_elsewhere(call.args[0].scripts, "runs what another command prints")
        elif not [text for text in call.positionals if text != "-"] and "-m" not in call.texts:
            self._piped_code(call, is_shell=False)


def _base(text: str) -> str:
    return text.rstrip("/").rsplit("/", 1)[-1]


def _variables(word: Word) -> set[str]:
    """The variables whose values are not known that stand in a word."""
    return set(_DOLLAR.findall(word.text)) if word.dynamic else set()


def _runs_code(name: str) -> bool:
    return name in programs.SHELLS or name in ("source", ".") or bool(_interpreter(name))


def _filled(call: Invocation, words: Sequence[Word], extra: Sequence[Word]) -> list[Word]:
    """The words of `xargs -I{}` with what it lists put in; nothing when no word has the sign."""
    named = [b for a, b in pairwise(call.texts) if a in ("-I", "--replace")]
    sign = next((text[2:] for text in call.texts if re.match("-I.", text)), next(iter(named), "{}"))
    if call.name != "xargs" or not any(sign in word.text for word in words):
        return []
    return [
        replace(
            word,
            text=word.text.replace(sign, one.text),
            dynamic=word.dynamic or one.dynamic,
            globbed=word.globbed or one.globbed,
        )
        for word in words
        for one in (extra if sign in word.text else (Word(""),))
    ]


def _interpreter(name: str) -> str:
    """The interpreter a name stands for, `python3.11` being python; "" for none."""
    plain = _VERSION.sub("", name)
    return plain if plain in programs.INTERPRETERS else ""


def _programs(script: Script) -> Iterator[str]:
    for pipeline in script.pipelines:
        for simple in pipeline:
            if simple.words:
                yield _base(simple.words[0].text)
            for word in simple.words:
                for inner in word.scripts:
                    yield from _programs(inner)


def _found_by(texts: list[str]) -> list[Word]:
    """What a find would list, as patterns below its folders."""
    roots: list[str] = []
    for text in texts:
        if text.startswith("-") or text in ("(", "!", "\\("):
            break
        roots.append(text)
    names = [b for a, b in pairwise(texts) if a in ("-name", "-iname", "-path", "-wholename")]
    names += [name.lstrip("*") for name in names if name.lstrip("*") != name and name.lstrip("*")[:1] == "."]
    return [
        Word(f"{root.rstrip('/')}/{name}", globbed=True) for root in roots or ["."] for name in names or ["*"]
    ]
