"""patch: the file holds what was meant afterwards, or the very bytes it held before."""

import os
import stat
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes.core.errors import BadArguments, Denied, ToolError
from hermes.core.sandbox import Sandbox
from hermes.lib.redact import HIDDEN
from hermes.testing.sandbox import FolderSandbox, tool_context
from hermes.tools.patch import patch
from hermes.tools.read_file import read_file
from hermes.tools.write_file import write_file

pytestmark = pytest.mark.anyio


async def replaced(ctx, path, old, new, **more):
    return (await patch.run(ctx, {"path": path, "old_string": old, "new_string": new, **more})).text


async def applied(ctx, *rows):
    text = "\n".join(["*** Begin Patch", *rows, "*** End Patch"])
    return (await patch.run(ctx, {"mode": "patch", "patch": text})).text


async def test_the_diff_that_is_returned_is_the_one_on_disk(tmp_path):
    (tmp_path / "a.txt").write_text("one\ntwo\nthree\n")
    assert await replaced(tool_context(tmp_path), "a.txt", "two", "2") == (
        "a.txt changed in 1 place.\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three"
    )
    assert (tmp_path / "a.txt").read_text() == "one\n2\nthree\n"


async def test_all_places_only_when_asked(tmp_path):
    (tmp_path / "a.txt").write_text("x\ny\nx\n")
    ctx = tool_context(tmp_path)
    with pytest.raises(ToolError, match=r"in a.txt old_string stands in 2 places \(lines 1 and 3\)"):
        await replaced(ctx, "a.txt", "x", "z")
    assert (tmp_path / "a.txt").read_text() == "x\ny\nx\n"
    assert "changed in 2 places" in await replaced(ctx, "a.txt", "x", "z", replace_all=True)
    assert (tmp_path / "a.txt").read_text() == "z\ny\nz\n"


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        (b"a\r\nb\r\nc\r\n", "a\nb", "a\nx\ny", b"a\r\nx\r\ny\r\nc\r\n"),
        (b"a\r\nb\r\n", "a\r\nb", "x\r\ny", b"x\r\ny\r\n"),
        (b"a\r\nb\nc\n", "b", "x\ny", b"a\r\nx\ny\nc\n"),
        (b"a\r\nb\nc\n", "a", "x\ny", b"x\r\ny\r\nb\nc\n"),
        (b"a\rb\r", "a\nb", "a\nc", b"a\rc\r"),
        ("\ufeffä\nb".encode(), "ä", "ö", "\ufeffö\nb".encode()),
        ("ä\nb\n".encode("utf-16"), "b", "ß", "ä\nß\n".encode("utf-16")),
        ("ä\nb\n".encode("latin-1"), "b", "ß", "ä\nß\n".encode("latin-1")),
        (b"a\nb", "b", "c", b"a\nc"),
        (b"a\nb", "b", "c\n", b"a\nc\n"),
    ],
)
async def test_encoding_mark_and_line_ends_are_kept(tmp_path, before, old, new, after):
    (tmp_path / "f").write_bytes(before)
    await replaced(tool_context(tmp_path), "f", old, new)
    assert (tmp_path / "f").read_bytes() == after


async def test_the_mode_of_the_file_is_kept(tmp_path):
    (tmp_path / "run.sh").write_text("#!/bin/sh\necho a\n")
    (tmp_path / "run.sh").chmod(0o751)
    await replaced(tool_context(tmp_path), "run.sh", "echo a", "echo b")
    assert stat.S_IMODE(os.stat(tmp_path / "run.sh").st_mode) == 0o751


async def test_a_character_the_file_cannot_hold_is_refused(tmp_path):
    before = "ä\nb\n".encode("latin-1")
    (tmp_path / "f").write_bytes(before)
    with pytest.raises(ToolError, match="f is latin-1 and cannot hold '€'"):
        await replaced(tool_context(tmp_path), "f", "b", "€")
    assert (tmp_path / "f").read_bytes() == before


@settings(max_examples=80, deadline=None)
@given(
    st.text("ab\n\r", max_size=12), st.text("ab\n", max_size=4), st.text("abc\n", max_size=4), st.booleans()
)
async def test_refused_means_the_same_bytes(tmp_path_factory, content, old, new, everywhere):
    folder = tmp_path_factory.mktemp("patch")
    (folder / "f").write_bytes(content.encode())
    try:
        await replaced(tool_context(folder), "f", old, new, replace_all=everywhere)
    except ToolError:
        assert (folder / "f").read_bytes() == content.encode()
    else:
        assert (folder / "f").read_bytes() != content.encode()


async def test_an_edit_does_not_rest_on_a_version_that_is_gone(tmp_path):
    (tmp_path / "f").write_text("a\nb\n")
    ctx = tool_context(tmp_path)
    await read_file.run(ctx, {"path": "f"})
    (tmp_path / "f").write_text("a\nb\nc\n")
    with pytest.raises(ToolError, match=r"f has changed since it was read\. Read it again first"):
        await replaced(ctx, "f", "b", "B")
    await read_file.run(ctx, {"path": "./f"})
    await replaced(ctx, "f", "b", "B")
    await replaced(ctx, "f", "c", "C")
    assert (tmp_path / "f").read_text() == "a\nB\nC\n"


async def test_after_an_edit_of_what_was_read_whole_it_may_be_written_whole(tmp_path):
    (tmp_path / "f").write_text("a\nb\n")
    ctx = tool_context(tmp_path)
    await read_file.run(ctx, {"path": "f"})
    await replaced(ctx, "f", "b", "B")
    await write_file.run(ctx, {"path": "f", "content": "new\n"})
    assert (tmp_path / "f").read_text() == "new\n"


async def test_an_edit_of_what_was_not_read_does_not_count_as_reading(tmp_path):
    (tmp_path / "f").write_text("a\nb\n")
    ctx = tool_context(tmp_path)
    await replaced(ctx, "f", "b", "B")
    with pytest.raises(ToolError, match="not read as a whole"):
        await write_file.run(ctx, {"path": "f", "content": "new\n"})


async def test_a_change_between_look_and_write_is_noticed(tmp_path):
    class Racing(FolderSandbox):
        async def read(self, path):
            content = await super().read(path)
            (tmp_path / "f").write_text("somebody else\n")
            return content

    (tmp_path / "f").write_text("a\n")
    ctx = tool_context(tmp_path)
    ctx = replace(ctx, services=ctx.services.plus(Sandbox, Racing(tmp_path)))
    with pytest.raises(ToolError, match="f could not be changed: f has changed meanwhile"):
        await replaced(ctx, "f", "a", "b")
    assert (tmp_path / "f").read_text() == "somebody else\n"


async def test_what_read_file_shows_is_not_what_a_file_holds(tmp_path):
    (tmp_path / "f").write_text("alpha\nbeta\n")
    ctx = tool_context(tmp_path)
    with pytest.raises(ToolError, match="old_string is numbered as read_file shows it"):
        await replaced(ctx, "f", "1|alpha\n2|beta", "x")
    with pytest.raises(ToolError, match="new_string is numbered as read_file shows it"):
        await replaced(ctx, "f", "alpha\nbeta", "1|alpha\n2|gamma")
    with pytest.raises(ToolError, match="destroy a secret"):
        await replaced(ctx, "f", "alpha", f"key={HIDDEN}")
    (tmp_path / "table").write_text("1|a\n2|b\n")
    await replaced(ctx, "table", "1|a\n2|b", "1|a\n2|b\n3|c")
    assert (tmp_path / "table").read_text() == "1|a\n2|b\n3|c\n"


async def test_a_broken_python_file_is_noted(tmp_path):
    (tmp_path / "a.py").write_text("print(1)\n")
    said = await replaced(tool_context(tmp_path), "a.py", "1)", "1")
    assert said.endswith("Note: a.py is not valid Python: line 1: '(' was never closed.")


@pytest.mark.parametrize(
    ("arguments", "error", "said"),
    [
        (
            {"path": "no", "old_string": "a", "new_string": "b"},
            ToolError,
            "There is no file no. To create one",
        ),
        ({"path": ".", "old_string": "a", "new_string": "b"}, ToolError, r"\. is a folder"),
        ({"old_string": "a", "new_string": "b"}, BadArguments, "path is missing"),
        ({"path": "bin", "old_string": "a", "new_string": "b"}, ToolError, "not text"),
        ({"path": "f", "old_string": "", "new_string": "b"}, ToolError, "old_string is empty"),
        ({"path": "f", "old_string": "a", "new_string": "a"}, ToolError, "nothing to change"),
        ({"mode": "patch"}, BadArguments, "mode=patch needs the parameter patch"),
        (
            {"mode": "patch", "path": "g", "patch": "*** Begin Patch\n*** Delete File: f\n*** End Patch"},
            BadArguments,
            "a patch names its files itself. Leave out path",
        ),
        (
            {"path": "g", "patch": "*** Begin Patch\n*** Delete File: f\n*** End Patch"},
            BadArguments,
            "Leave out",
        ),
    ],
)
async def test_what_cannot_be_done_is_said(tmp_path, arguments, error, said):
    (tmp_path / "f").write_text("a\n")
    (tmp_path / "bin").write_bytes(b"a\0b")
    with pytest.raises(error, match=said):
        await patch.run(tool_context(tmp_path), arguments)
    assert (tmp_path / "f").read_text() == "a\n"


async def test_a_patch_of_several_files(tmp_path):
    for name in ("up.py", "gone.txt", "from.txt", "both.txt"):
        (tmp_path / name).write_text("one\ntwo\n")
    ctx = tool_context(tmp_path)
    await read_file.run(ctx, {"path": "gone.txt"})
    said = await applied(
        ctx,
        *("*** Update File: up.py", "@@", "-two", "+2"),
        *("*** Add File: new/n.txt", "+hello"),
        *("*** Delete File: gone.txt", "*** Move File: from.txt -> to/t.txt"),
        *("*** Update File: both.txt", "*** Move to: to/b.txt", " one", "-two"),
    )
    assert said == (
        "up.py changed in 1 place.\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n"
        "new/n.txt created.\n"
        "gone.txt deleted.\n"
        "from.txt moved to to/t.txt.\n"
        "both.txt moved to to/b.txt and changed in 1 place.\n@@ -1,2 +1,1 @@\n one\n-two"
    )
    found = {str(p.relative_to(tmp_path)): p.read_text() for p in tmp_path.rglob("*") if p.is_file()}
    assert found == {
        "up.py": "one\n2\n",
        "new/n.txt": "hello\n",
        "to/t.txt": "one\ntwo\n",
        "to/b.txt": "one\n",
    }


async def test_a_patch_without_a_mode_can_only_mean_one_thing(tmp_path):
    text = "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch"
    assert (await patch.run(tool_context(tmp_path), {"patch": text})).text == "a created."


async def test_all_is_checked_before_anything_is_written(tmp_path):
    (tmp_path / "a").write_text("one\n")
    (tmp_path / "b").write_text("one\n")
    ctx = tool_context(tmp_path)
    with pytest.raises(
        ToolError, match="Nothing was changed: in b the hunk at line 7 of the patch does not fit"
    ):
        await applied(ctx, "*** Update File: a", "@@", "-one", "+1", "*** Update File: b", "@@", "-uno", "+1")
    for rows in (
        ("*** Update File: a", "@@", "-one", "+1", "*** Add File: b", "+x"),
        ("*** Update File: a", "@@", "-one", "+1", "*** Delete File: c"),
        ("*** Update File: a", "@@", "-one", "+1", "*** Delete File: b"),
        ("*** Update File: a", "@@", "-one", "+1", "*** Move File: a.txt -> b"),
    ):
        with pytest.raises(ToolError):
            await applied(ctx, *rows)
    assert (tmp_path / "a").read_text() == (tmp_path / "b").read_text() == "one\n"
    assert ctx.use(Sandbox).writes == []


async def test_a_failure_in_the_middle_is_reported_exactly(tmp_path):
    class Full(FolderSandbox):
        async def write(self, path, content, *, expect=None):
            if path == "b":
                raise OSError(28, "No space left on device")
            await super().write(path, content, expect=expect)

    for name in "abc":
        (tmp_path / name).write_text("one\n")
    ctx = tool_context(tmp_path)
    ctx = replace(ctx, services=ctx.services.plus(Sandbox, Full(tmp_path)))
    rows = [row for name in "abc" for row in (f"*** Update File: {name}", "@@", "-one", f"+{name}")]
    with pytest.raises(ToolError) as caught:
        await applied(ctx, *rows)
    assert str(caught.value) == (
        "b could not be changed: No space left on device\nNot begun: c.\nDone before that:\n"
        "a changed in 1 place.\n@@ -1,1 +1,1 @@\n-one\n+a"
    )
    assert [(tmp_path / name).read_text() for name in "abc"] == ["a\n", "one\n", "one\n"]


async def test_a_refused_write_stays_a_refusal(tmp_path):
    class Guarded(FolderSandbox):
        async def write(self, path, content, *, expect=None):
            if path == "b":
                raise Denied("nobody is there to be asked", nobody=True)
            await super().write(path, content, expect=expect)

    (tmp_path / "a").write_text("one\n")
    (tmp_path / "b").write_text("one\n")
    ctx = tool_context(tmp_path)
    ctx = replace(ctx, services=ctx.services.plus(Sandbox, Guarded(tmp_path)))
    with pytest.raises(Denied) as caught:
        await replaced(ctx, "b", "one", "two")
    assert caught.value.nobody
    assert str(caught.value).endswith("nobody is there to be asked\nNothing was changed.")
    with pytest.raises(Denied, match=r"(?s)Done before that:.a changed in 1 place"):
        await applied(ctx, "*** Update File: a", "@@", "-one", "+1", "*** Update File: b", "@@", "-one", "+1")
    assert (tmp_path / "b").read_text() == "one\n"
