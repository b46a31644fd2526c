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
from hermes.config.load import load
from hermes.core.errors import ConfigError, HermesError, UsageError

DONE, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130

TEXT = """\
usage: hermes [options] [command]

  hermes                      talk, in this terminal
  hermes -z "question"        one answer on stdout and nothing else
  hermes chat -q "question"   the same, with the work shown
  hermes COMMAND --help       what a command does

options:
  -z, --oneshot TEXT   answer once and leave ("-" reads the question from standard input)
  -m, --model MODEL    provider/model, or a model's name
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
        return _dispatch(argv)
    except (ConfigError, UsageError) as error:
        print(f"hermes: {error}", file=sys.stderr)
        return USAGE
    except HermesError as error:
        print(f"hermes: {error}", file=sys.stderr)
        return FAILED
    except BrokenPipeError:  # the reader left: hermes ... | head
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return DONE
    except KeyboardInterrupt:
        return INTERRUPTED


def _dispatch(argv: list[str]) -> int:
    options = _options().parse_args(argv)
    rest: list[str] = options.rest
    if options.help and not rest:
        print(TEXT + _listing(), end="")
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
    if config.notice:
        print(f"hermes: {config.notice}", file=sys.stderr)
    return int(op.run(args, config))
