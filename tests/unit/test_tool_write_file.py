"""write_file: a whole file, made with its folders or replaced when its content is known."""

import os
import stat

import pytest

from hermes.core.errors import ToolError
from hermes.core.sandbox import Sandbox
from hermes.lib.redact import HIDDEN
from hermes.testing.sandbox import tool_context
from hermes.tools.read_file import read_file
from hermes.tools.write_file import write_file

pytestmark = pytest.mark.anyio


async def write(ctx, path, content):
    return (await write_file.run(ctx, {"path": path, "content": content})).text


async def test_a_new_file_is_made_with_its_folders(tmp_path):
    said = await write(tool_context(tmp_path), "a/b/c.txt", "one\ntwo\n")
    assert said == "a/b/c.txt created: 2 lines, 8 bytes."
    assert (tmp_path / "a/b/c.txt").read_text() == "one\ntwo\n"


async def test_what_one_wrote_one_may_replace(tmp_path):
    ctx = tool_context(tmp_path)
    await write(ctx, "f", "one\ntwo\n")
    said = await write(ctx, "f", "one\n2\n")
    assert said == "f replaced: 2 lines, 6 bytes.\n@@ -1,2 +1,2 @@\n one\n-two\n+2"


async def test_the_same_again_is_not_written(tmp_path):
    ctx = tool_context(tmp_path)
    await write(ctx, "f", "one\n")
    assert await write(ctx, "f", "one\n") == (
        "f already holds exactly this (1 line, 4 bytes); nothing was changed."
    )
    assert ctx.use(Sandbox).writes == ["f"]


async def test_an_unread_file_is_not_overwritten(tmp_path):
    (tmp_path / "f").write_text("precious\n" * 3)
    (tmp_path / "empty").touch()
    ctx = tool_context(tmp_path)
    with pytest.raises(ToolError, match=r"f exists and was not read yet\. Read it first"):
        await write(ctx, "f", "x")
    await read_file.run(ctx, {"path": "f", "limit": 2})
    with pytest.raises(ToolError, match="f was not read as a whole"):
        await write(ctx, "f", "x")
    await read_file.run(ctx, {"path": "f", "offset": 3})
    (tmp_path / "f").write_text("changed\n")
    with pytest.raises(ToolError, match="f has changed since it was read"):
        await write(ctx, "f", "x")
    assert (tmp_path / "f").read_text() == "changed\n"
    await read_file.run(ctx, {"path": "f"})
    await write(ctx, "f", "x")
    await write(ctx, "empty", "x")
    assert (tmp_path / "f").read_text() == (tmp_path / "empty").read_text() == "x"


@pytest.mark.parametrize(
    ("before", "content", "after", "note"),
    [
        (b"a\r\nb\r\n", "x\ny\n", b"x\r\ny\r\n", "kept as it was: CRLF line ends"),
        ("\ufeffa\n".encode(), "ä\n", "\ufeffä\n".encode(), "kept as it was: byte order mark"),
        ("ä\n".encode("utf-16"), "b\n", "b\n".encode("utf-16"), "UTF-16-LE, byte order mark"),
        ("ä\n".encode("latin-1"), "ö\n", "ö\n".encode("latin-1"), "not UTF-8"),
        ("ä\n".encode("latin-1"), "€\n", "€\n".encode(), "it is UTF-8 now"),
        (b"\x89PNG\r\n\0", "text\n", b"text\n", ""),
    ],
)
async def test_a_replaced_file_keeps_its_ways(tmp_path, before, content, after, note):
    (tmp_path / "f").write_bytes(before)
    (tmp_path / "f").chmod(0o600)
    ctx = tool_context(tmp_path)
    await read_file.run(ctx, {"path": "f"})
    assert note in await write(ctx, "f", content)
    assert (tmp_path / "f").read_bytes() == after
    assert stat.S_IMODE(os.stat(tmp_path / "f").st_mode) == 0o600


@pytest.mark.parametrize(
    ("name", "content", "note"),
    [
        ("a.py", "def f(:\n", "a.py is not valid Python: line 1: "),
        ("a.py", "print('\\d')\n", ""),
        ("a.py", "x = 1\n", ""),
        ("a.json", '{"a": 1,}', "a.json is not valid JSON: "),
        ("a.json", '{"a": 1}', ""),
        ("a.toml", "a = \n", "a.toml is not valid TOML: "),
        ("a.yaml", "a: [1, 2\n", "a.yaml is not valid YAML: "),
        ("a.yaml", "a: 1\n---\nb: !Ref c\n", ""),
        ("a.md", "{[(", ""),
    ],
)
async def test_text_that_its_program_cannot_read_is_noted(tmp_path, name, content, note):
    said = await write(tool_context(tmp_path), name, content)
    assert f"Note: {note}" in said if note else "Note" not in said
    assert (tmp_path / name).read_text() == content


async def test_half_characters_are_replaced_and_said(tmp_path):
    said = await write(tool_context(tmp_path), "f", "price \ud83d end\n")
    assert (tmp_path / "f").read_text() == "price \ufffd end\n"
    assert "Note: characters that no file can hold were replaced" in said


async def test_what_a_tool_shows_is_not_written_back(tmp_path):
    (tmp_path / "f").write_text("alpha\nbeta\n")
    ctx = tool_context(tmp_path)
    shown = (await read_file.run(ctx, {"path": "f"})).text
    for content in (shown, "1|alpha\n2|gamma"):
        with pytest.raises(ToolError, match="numbered as read_file shows it"):
            await write(ctx, "f", content)
    with pytest.raises(ToolError, match="numbered as read_file shows it"):
        await write(ctx, "copy", shown)
    with pytest.raises(ToolError, match="destroy the secret"):
        await write(ctx, "f", f"key={HIDDEN}\n")
    assert (tmp_path / "f").read_text() == "alpha\nbeta\n"
    await write(ctx, "table.csv", "1|a\n2|b\n")
    assert (tmp_path / "table.csv").read_text() == "1|a\n2|b\n"


async def test_a_folder_cannot_be_written(tmp_path):
    with pytest.raises(ToolError, match=r"\. is a folder"):
        await write(tool_context(tmp_path), ".", "x")
    (tmp_path / "f").write_text("a")
    with pytest.raises(ToolError, match="f/x cannot be written"):
        await write(tool_context(tmp_path), "f/x", "x")
