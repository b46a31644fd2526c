"""The .gitignore matcher decides as git does."""

import subprocess
from pathlib import Path

import pytest

from hermes.lib.gitignore import ignored, parse

RULES = r"""
# a comment
*.pyc
!keep.pyc
/top
build/
docs/*.txt
a/**/z
**/deep/file
logs/**
foo?.md
[Bb]in
[!x]bar
\#hash
\!bang
trailing\ 
space   
**/both/**
"""
PATHS = """
a.pyc keep.pyc sub/keep.pyc top sub/top build/x sub/build/y docs/a.txt docs/sub/a.txt a/z a/b/z a/b/c/z
deep/file x/deep/file logs/a logs/b/c foo1.md foo12.md foo.md bin Bin sub/bin xbar ybar #hash !bang space
both/x q/both/y/z a.py nothing README
""".split()  # noqa: SIM905


def decided(rules: str, path: str) -> bool:
    """True when the path, or a folder above it, is ignored."""
    layers = [parse(rules)]
    parts = path.split("/")
    above = ("/".join(parts[:n]) for n in range(1, len(parts)))
    return any(ignored(layers, folder, True) for folder in above) or ignored(layers, path, False)


@pytest.fixture(scope="module")
def by_git(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    top: Path = tmp_path_factory.mktemp("repository")
    subprocess.run(["git", "init", "-q", str(top)], check=True)
    (top / ".gitignore").write_text(RULES, "utf-8")
    told = subprocess.run(
        ["git", "-c", "core.excludesFile=", "check-ignore", "--no-index", "--stdin"],
        cwd=top,
        input="\n".join(f"./{path}" for path in PATHS),
        capture_output=True,
        text=True,
        check=True,
    )
    return {line.strip('"').removeprefix("./") for line in told.stdout.splitlines()}


@pytest.mark.parametrize("path", PATHS)
def test_as_git_decides(path: str, by_git: set[str]) -> None:
    assert decided(RULES, path) == (path in by_git)


def test_the_innermost_file_decides() -> None:
    layers = [parse("*.log"), parse("!keep.log", "sub/")]
    assert ignored(layers, "keep.log", False)
    assert not ignored(layers, "sub/keep.log", False)


def test_a_line_that_is_no_pattern_is_passed_over() -> None:
    assert parse("[z-a]\n/\n!\n\n   \n").rules == ()
