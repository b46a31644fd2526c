"""search_files: the same answer with ripgrep and without it."""

import os
import re
from dataclasses import replace

import pytest

from hermes.core.errors import Denied, ToolError
from hermes.core.gate import Gate, Verdict
from hermes.core.sandbox import Completed, Entry, Sandbox
from hermes.lib.pathmatch import matches
from hermes.sandboxes.local import LocalSandbox
from hermes.testing.sandbox import tool_context
from hermes.tools.search_files import search_files

pytestmark = pytest.mark.anyio

WIDE = "y" * 2_500
# What ripgrep 13 prints for the pattern x in the tree of the fixture below.
CUT = 'x = "' + "y" * 1_995 + " [... omitted end of long line]"
PRINTED = {
    "--line-number --context=0": (
        "{top}/a.py\0002:x = 1\n{top}/a.py\0007:x = 3\n{top}/sub/b.txt\0001:x = 1\r\n"
        "{top}/sub/b.txt\0002:last x\n{top}/wide.txt\0001:{cut}\n"
    ),
    "--line-number --context=1": (
        "{top}/a.py\0001-import os\n{top}/a.py\0002:x = 1\n{top}/a.py\0003-y = 2\n--\n{top}/a.py\0006-\n"
        "{top}/a.py\0007:x = 3\n--\n{top}/sub/b.txt\0001:x = 1\r\n{top}/sub/b.txt\0002:last x\n--\n"
        "{top}/wide.txt\0001:{cut}\n"
    ),
    "--files-with-matches": "{top}/a.py\0{top}/sub/b.txt\0{top}/wide.txt\0",
    "--count": "{top}/a.py\0002\n{top}/sub/b.txt\0002\n{top}/wide.txt\0001\n",
}


class WithoutRipgrep(LocalSandbox):
    """A machine on which there is none."""

    def __init__(self, root):
        super().__init__(str(root), {"HOME": str(root)}, root / ".spool")
        self.commands = []

    async def run(self, command, *, cwd="", env=None, timeout=180.0, limit=50_000):
        self.commands.append(command)
        return Completed(1, "", 0, 0.0)


class WithRipgrep(WithoutRipgrep):
    """A machine on which it prints what was recorded."""

    printed = ""

    async def run(self, command, *, cwd="", env=None, timeout=180.0, limit=50_000):
        self.commands.append(command)
        mode = next((mode for mode in PRINTED if mode in command), "")
        output = self.printed or PRINTED[mode].format(top=self.resolve("."), cut=CUT)
        return Completed(0, output, len(output), 0.0)


@pytest.fixture
def tree(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "x").write_text("x\n")
    (tmp_path / "a.py").write_text("import os\nx = 1\ny = 2\n\n\n\nx = 3\n")
    (tmp_path / "sub" / "b.txt").write_bytes(b"x = 1\r\nlast x")
    (tmp_path / ".gitignore").write_text("*.log\n")
    (tmp_path / "n.log").write_text("x = 9\n")
    (tmp_path / "bin.dat").write_bytes(b"x = 1\0")
    (tmp_path / "wide.txt").write_text(f'x = "{WIDE}"\n')
    for age, name in enumerate(("wide.txt", "a.py", "sub/b.txt", ".gitignore", "bin.dat")):
        os.utime(tmp_path / name, (10_000 - age, 10_000 - age))
    return tmp_path


@pytest.fixture(params=[WithRipgrep, WithoutRipgrep])
def ctx(request, tree):
    return on(request.param(tree), tree)


def on(sandbox, tree):
    ctx = tool_context(tree)
    return replace(ctx, services=ctx.services.plus(Sandbox, sandbox))


async def search(ctx, pattern, **more):
    return (await search_files.run(ctx, {"pattern": pattern, **more})).text


async def test_lines_are_shown_below_their_files(ctx):
    assert await search(ctx, "x") == (
        "a.py\n2:x = 1\n7:x = 3\nsub/b.txt\n1:x = 1\n2:last x\nwide.txt\n1:"
        + f'x = "{WIDE}'[:300]
        + "…\n[5 matches]"
    )


async def test_with_the_lines_around_them(ctx):
    assert await search(ctx, "x", context=1, limit=3) == (
        "a.py\n1-import os\n2:x = 1\n3-y = 2\n--\n6-\n7:x = 3\nsub/b.txt\n1:x = 1\n2:last x\n"
        "[more than 3 matches; shown from 1; read on with offset=3]"
    )


async def test_only_the_files_or_only_the_numbers(ctx):
    assert await search(ctx, "x", output_mode="files_only") == "a.py\nsub/b.txt\nwide.txt\n[3 files]"
    assert await search(ctx, "x", output_mode="count") == "a.py: 2\nsub/b.txt: 2\nwide.txt: 1\n[3 files]"


async def test_paging_goes_on_where_it_stopped(ctx):
    first = await search(ctx, "x", limit=2)
    assert first == "a.py\n2:x = 1\n7:x = 3\n[more than 2 matches; shown from 1; read on with offset=2]"
    assert (await search(ctx, "x", limit=2, offset=2)) == (
        "sub/b.txt\n1:x = 1\n2:last x\n[more than 4 matches; shown from 3; read on with offset=4]"
    )
    assert (await search(ctx, "x", limit=2, offset=4)).endswith("[5 matches; shown from 5]")
    assert await search(ctx, "x", offset=9) == "[5 matches; there is nothing from offset=9 on]"


class Policy:
    """Asks about b.txt, and about commands that name it."""

    def judge(self, action):
        return Verdict("ask" if "b.txt" in action.what else "allow")


async def test_what_the_policy_guards_is_passed_over(ctx):
    ctx = replace(ctx, services=ctx.services.plus(Gate, Policy()))
    assert await search(ctx, "x", output_mode="files_only") == (
        "a.py\nwide.txt\n[2 files]\n[passed over, as they may hold secrets: sub/b.txt]"
    )


async def test_a_word_that_looks_dangerous_asks_nobody(tree):
    sandbox = WithRipgrep(tree)
    ctx = on(sandbox, tree)
    ctx = replace(ctx, services=ctx.services.plus(Gate, Policy()))
    (tree / "note").write_text("see b.txt\n")
    assert (await search(ctx, "b.txt")).startswith("note\n1:see b.txt\n[1 match]")
    assert sandbox.commands == []


async def test_files_are_found_by_name_newest_first(ctx):
    assert await search(ctx, "*.txt", target="files") == "wide.txt\nsub/b.txt\n[2 files]"
    assert await search(ctx, "B.T", target="files") == "sub/b.txt\n[1 file]"
    assert await search(ctx, "sub/*", target="files") == "sub/b.txt\n[1 file]"
    assert await search(ctx, "*", target="files", limit=2) == (
        "wide.txt\na.py\n[5 files; shown from 1; read on with offset=2]"
    )
    assert await search(ctx, "*.rs", target="files") == "[no file among 5 has a name like '*.rs']"


async def test_a_search_inside_a_folder_or_a_file(tree):
    ctx = on(WithoutRipgrep(tree), tree)
    assert await search(ctx, "x = 1", path="sub") == "sub/b.txt\n1:x = 1\n[1 match]"
    assert await search(ctx, "x = 1", path="a.py") == "a.py\n2:x = 1\n[1 match]"
    assert await search(ctx, "x = 1", file_glob="*.{txt,md}") == "sub/b.txt\n1:x = 1\n[1 match]"
    with pytest.raises(ToolError, match="nowhere cannot be searched: No such file or directory"):
        await search(ctx, "x", path="nowhere")


async def test_ripgrep_gets_what_was_asked_as_words_not_as_shell(tree):
    sandbox = WithRipgrep(tree)
    await search(on(sandbox, tree), "$(rm -rf x); 'a'", file_glob="*.py")
    (command,) = sandbox.commands
    assert f"--regexp '$(rm -rf x); '\"'\"'a'\"'\"'' -- {tree} 2>&1 | head -n 102" in command
    assert "'--type-add=wanted:*.py' --type=wanted" in command


async def test_what_ripgrep_does_not_understand_is_searched_without_it(tree):
    sandbox = WithRipgrep(tree)
    sandbox.printed = "regex parse error:\n    x(?= = 3)\n     ^^^\nerror: look-around is not supported\n"
    assert await search(on(sandbox, tree), "x(?= = 3)") == "a.py\n7:x = 3\n[1 match]"


async def test_where_commands_are_refused_it_is_searched_without_them(tree):
    class Guarded(WithoutRipgrep):
        async def run(self, command, **_):
            raise Denied("no commands here")

    assert await search(on(Guarded(tree), tree), "x = 3") == "a.py\n7:x = 3\n[1 match]"


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        (
            "f(x",
            "'f(x' is not a regular expression: missing ), unterminated subpattern at character 2. To search",
        ),
        ("a\\nb", "The pattern spans lines"),
    ],
)
async def test_a_pattern_that_cannot_be_used_is_explained(tree, pattern, said):
    with pytest.raises(ToolError, match=re.escape(said)):
        await search(on(WithoutRipgrep(tree), tree), pattern)


async def test_the_work_is_bounded_and_says_so(tree):
    class Huge(WithoutRipgrep):
        async def walk(self, path):
            yield Entry(f"{path}/large", "file", 6_000_000, 1)
            for number in range(100_000):
                yield Entry(f"{path}/{number}", "file", 1, 1)

        async def read(self, path):
            return b"x\n"

    ctx = on(Huge(tree), tree)
    assert await search(ctx, "zzz") == (
        "[0 matches]\n[only the first 20,000 files were searched; search in a folder below]\n"
        "[passed over, as larger than 5 MB: 1 files]"
    )
    assert (await search(ctx, "zzz", target="files")).endswith(
        "[only the first 100,000 files were looked at; search in a folder below]"
    )


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("*.py", "src/a.py", True),
        ("*.py", "src/a.pyc", False),
        ("src/*.py", "src/a.py", True),
        ("src/*.py", "src/b/a.py", False),
        ("src/**/*.py", "src/a.py", True),
        ("src/**/*.py", "src/b/c/a.py", True),
        ("**/a.py", "a.py", True),
        ("src/**", "src/b/c", True),
        ("[!a]?.{md,txt}", "bb.txt", True),
        ("[!a]?.{md,txt}", "ab.txt", False),
        ("a+b(1).txt", "a+b(1).txt", True),
        ("{a", "{a", True),
        ("[a", "[a", True),
    ],
)
def test_globs(pattern, path, fits):
    assert matches(pattern, path) is fits
