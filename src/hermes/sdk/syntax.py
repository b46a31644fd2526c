"""A cheap look at whether a file's text is what its name says."""

import ast
import posixpath
import warnings
from collections.abc import Callable

import msgspec

LONGEST = 1_000_000


def fault(path: str, text: str) -> str:
    """Why the text is not valid Python, JSON, TOML or YAML, by the file's ending; "" when nothing is wrong.

    Texts of more than a million characters are not looked at.
    """
    ending = posixpath.splitext(path)[1].lower()
    check = _CHECKS.get(ending)
    if check is None or len(text) > LONGEST or not text.strip():
        return ""
    try:
        said = check(text)
    except RecursionError:
        return ""
    return f"{posixpath.basename(path)} is not valid {_NAMES[ending]}: {said}" if said else ""


def _python(text: str) -> str:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except SyntaxError as error:
        return f"line {error.lineno}: {error.msg}"
    except ValueError as error:
        return str(error)
    return ""


def _json(text: str) -> str:
    return _decoded(msgspec.json.decode, text)


def _toml(text: str) -> str:
    return _decoded(msgspec.toml.decode, text)


def _yaml(text: str) -> str:
    # Several documents in one file, and tags of some program, are valid but not read by this parser.
    if "\n---" in text or "!" in text:
        return ""
    return _decoded(msgspec.yaml.decode, text)


def _decoded(decode: Callable[[str], object], text: str) -> str:
    try:
        decode(text)
    except msgspec.DecodeError as error:
        return " ".join(str(error).split())
    return ""


_CHECKS: dict[str, Callable[[str], str]] = {
    ".py": _python,
    ".pyi": _python,
    ".json": _json,
    ".toml": _toml,
    ".yaml": _yaml,
    ".yml": _yaml,
}
_NAMES = {
    ".py": "Python",
    ".pyi": "Python",
    ".json": "JSON",
    ".toml": "TOML",
    ".yaml": "YAML",
    ".yml": "YAML",
}
