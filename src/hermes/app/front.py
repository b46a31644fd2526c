"""What was typed on the command line: options, the operation it names, errors in words."""

import argparse
import os
import sys
from difflib import get_close_matches
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import NoReturn

import hermes.app.ops
from hermes.app.lines import say, warn
from hermes.app.logs import to_file
from hermes.config.load import load
from hermes.core.errors import ConfigError, HermesError, UsageError
from hermes.lib.groups import leaf

DONE, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130

TEXT = """\
usage: hermes [options] [command]

  hermes                      talk, in this terminal
  hermes -z "question"        one answer on stdout and nothing else
  hermes chat -q "question"   the same, with the work shown
  hermes COMMAND --help       what a command does

options:
  -z, --oneshot TEXT   answer once and leave ("-" reads the question from standard input)
  -m, --model MODEL    provider/model, a provider, or a model's name
  -p, --profile NAME   use a profile
  -r, --resume ID      go on with a session: its id, the beginning of it, or its title
  -c, --continue       go on with the newest session
  -V, --version        show the version
  -h, --help           show this

commands:
"""


class Parser(argparse.ArgumentParser):
    """Errors end as one sentence and exit code 2."""

    def error(self, message: str) -> NoReturn:
        self.exit(USAGE, f"{self.prog}: {message}\nTry: {self.prog} --help\n")


def command(argv: list[str]) -> int:
    """Do what was typed. What goes wrong is said in one sentence on stderr."""
    try:
        code = _ended(argv)
        _flush()
        return code
    except (HermesError, OSError, KeyboardInterrupt, BaseExceptionGroup) as error:
        first = leaf(error)
        if not isinstance(first, HermesError | OSError | KeyboardInterrupt):
            raise
        return _failed(first)


def _ended(argv: list[str]) -> int:
    """The exit code, also where the parser of the command line has the last word."""
    try:
        return _dispatch(argv)
    except SystemExit as end:
        return int(end.code or DONE)


def _failed(error: HermesError | OSError | KeyboardInterrupt) -> int:
    """Say what went wrong; the exit code for it."""
    match error:
        case ConfigError() | UsageError():
            code, why = USAGE, str(error)
        case HermesError():
            code, why = FAILED, str(error)
        case BrokenPipeError():  # the reader left: hermes ... | head
            code, why = DONE, ""
        case OSError():  # a full disk, a folder that is gone, a file that cannot be read
            code, why = FAILED, _reason(error)
        case _:
            code, why = INTERRUPTED, ""
    if why:
        warn(f"hermes: {why}")
    try:
        _flush()
    except OSError:  # what cannot be written goes nowhere, when the interpreter flushes at its end
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, sys.stdout.fileno())
        os.close(nothing)
    return code


def _flush() -> None:
    """Find out now whether what was printed can be written."""
    if sys.stdout is not None and not sys.stdout.closed:
        sys.stdout.flush()


def _reason(error: OSError) -> str:
    """Which file, and what is wrong with it."""
    why = error.strerror or str(error)
    if error.filename is not None:
        return f"{os.fsdecode(error.filename)}: {why}"
    if _adrift():
        return "the current folder does not exist any more: change to another one"
    return f"the output cannot be written: {why}"


def _adrift() -> bool:
    """Whether the current folder is gone."""
    try:
        os.getcwd()
    except OSError:
        return True
    return False


def _dispatch(argv: list[str]) -> int:
    options = _options().parse_args(argv)
    rest: list[str] = options.rest
    if options.help and not rest:
        say(TEXT + _listing().rstrip("\n"))
        return DONE
    if options.oneshot is not None:
        return _operation("oneshot", rest, options)
    return _operation(rest[0], rest[1:], options) if rest else _operation("chat", [], options)


def _options() -> Parser:
    parser = Parser("hermes", add_help=False, allow_abbrev=False)
    parser.add_argument("-z", "--oneshot", metavar="TEXT")
    parser.add_argument("-m", "--model", dest="use_model", default="")
    parser.add_argument("-p", "--profile", default="")
    parser.add_argument("-r", "--resume", metavar="ID", default="")
    parser.add_argument("-c", "--continue", dest="go_on", action="store_true")
    parser.add_argument("-h", "--help", action="store_true")
    parser.add_argument("rest", nargs=argparse.REMAINDER)
    return parser


def _names() -> dict[str, str]:
    return {m.name.replace("_", "-"): m.name for m in iter_modules(hermes.app.ops.__path__)}


def _listing() -> str:
    return "".join(f"  {name:<18} {_op(module).SUMMARY}\n" for name, module in sorted(_names().items()))


def _op(module: str) -> ModuleType:
    return import_module(f"hermes.app.ops.{module}")


def _operation(name: str, argv: list[str], options: argparse.Namespace) -> int:
    names = _names()
    if name not in names:
        near = get_close_matches(name, names, n=1)
        hint = f" Did you mean {near[0]}?" if near else ""
        raise UsageError(f"there is no command {name!r}.{hint} `hermes --help` lists them.")
    op = _op(names[name])
    parser = Parser(f"hermes {name}", description=op.SUMMARY, allow_abbrev=False)
    op.arguments(parser)
    args = parser.parse_args(argv, argparse.Namespace(**vars(options)))
    if not getattr(op, "NEEDS_CONFIG", True):
        args.home = None
        return int(op.run(args, None))
    flags = {"model.default": args.use_model} if args.use_model else {}
    config = load(profile=args.profile, flags=flags)
    to_file(config.home)
    if config.notice:
        warn(f"hermes: {config.notice}")
    return int(op.run(args, config))
