"""read_file: the whole of any text file is reachable by paging, and everything else is described."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes.core.errors import ToolError
from hermes.core.sandbox import Sandbox
from hermes.core.seen import Seen
from hermes.testing.sandbox import tool_context
from hermes.tools.read_file import LINE, PAGE, read_file

pytestmark = pytest.mark.anyio


async def read(ctx, **arguments):
    return (await read_file.run(ctx, arguments)).text


async def test_a_small_file_is_numbered_and_counted(tmp_path):
    (tmp_path / "a.py").write_text("def f():\n\treturn 1\n")
    assert await read(tool_context(tmp_path), path="a.py") == "1|def f():\n2|\treturn 1\n[2 lines]"


async def test_a_page_says_how_to_read_on(tmp_path):
    (tmp_path / "n").write_text("".join(f"{n}\n" for n in range(1, 1201)))
    ctx = tool_context(tmp_path)
    page = await read(ctx, path="n")
    assert page.startswith("1|1\n2|2\n")
    assert page.endswith("\n500|500\n[lines 1-500 of 1,200; read on with offset=501]")
    assert (await read(ctx, path="n", offset=1199)) == "1199|1199\n1200|1200\n[lines 1,199-1,200 of 1,200]"
    assert (await read(ctx, path="n", offset="3", limit=1)).startswith("3|3\n[lines 3-3 of 1,200; ")


async def test_a_page_has_room_for_so_much_and_then_says_how_to_read_on(tmp_path):
    (tmp_path / "wide").write_text(("x" * 999 + "\n") * 100)
    page = await read(tool_context(tmp_path), path="wide")
    assert len(page) < PAGE + 200
    shown = page.count("\n")
    assert page.endswith(f"[lines 1-{shown} of 100; read on with offset={shown + 1}]")


async def test_the_rest_of_a_long_line_is_reachable(tmp_path):
    line = "".join(f"{n:06}" for n in range(20_000))
    (tmp_path / "long").write_text(f"short\n{line}\nend\n")
    ctx = tool_context(tmp_path)
    page = await read(ctx, path="long")
    assert f"2|{line[:LINE]} [+{len(line) - LINE:,} characters]" in page
    assert page.endswith(f"[3 lines; line 2 goes on: use offset=2, limit=1, column={LINE + 1}]")
    found, column = line[:LINE], LINE + 1
    while len(found) < len(line):
        part = await read(ctx, path="long", offset=2, limit=1, column=column)
        found += part.split("\n")[0].removeprefix("2|").split(" [+")[0]
        column = len(found) + 1
    assert found == line


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.text(st.characters(exclude_characters="\n\r", codec="utf-8"), max_size=40), min_size=1),
    st.integers(1, 9),
)
async def test_paging_shows_every_line_once(tmp_path_factory, lines, limit):
    folder = tmp_path_factory.mktemp("pages")
    lines = [line.replace("\0", "") for line in lines]
    (folder / "f").write_bytes("".join(line + "\n" for line in lines).encode())
    ctx, shown, offset = tool_context(folder), [], 1
    while offset <= len(lines):
        page = await read(ctx, path="f", offset=offset, limit=limit)
        rows = page[: page.rindex("\n[")].split("\n")
        shown += [row.partition("|")[2] for row in rows]
        offset += len(rows)
    # A file that begins with a byte order mark shows it in the brackets, not in the line.
    assert shown[0] in (lines[0], lines[0].removeprefix("\ufeff"))
    assert shown[1:] == lines[1:]


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        (b"", "[f is empty]"),
        (b"\n", "1|\n[1 line]"),
        (b"a", "1|a\n[1 line; no newline at the end]"),
        (b"a\r\nb\r\n", "1|a\n2|b\n[2 lines; CRLF line ends]"),
        (b"a\r\nb\n", "1|a\n2|b\n[2 lines; mixed line ends]"),
        (b"a\rb\r", "1|a\n2|b\n[2 lines; CR line ends]"),
        ("\ufeffä\n".encode(), "1|ä\n[1 line; byte order mark]"),
        ("ä\n".encode("utf-16"), "1|ä\n[1 line; UTF-16-LE; byte order mark]"),
        ("ä\n".encode("latin-1"), "1|ä\n[1 line; not UTF-8, shown as Latin-1]"),
        ("日本\u2028語\n".encode(), "1|日本\u2028語\n[1 line]"),
        (b"\x89PNG\r\n\x1a\n\0\0", "[f is not text: PNG image, 10 bytes]"),
        (b"abc\0def", "[f is not text: binary data, 7 bytes]"),
    ],
)
async def test_every_kind_of_file_is_shown_or_described(tmp_path, content, shown):
    (tmp_path / "f").write_bytes(content)
    assert await read(tool_context(tmp_path), path="f") == shown


async def test_a_folder_is_listed(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "a").touch()
    ctx = tool_context(tmp_path)
    assert await read(ctx, path=".") == "a\nsub/\n[. is a folder with 2 entries]"
    for n in range(150):
        (tmp_path / "sub" / f"{n:03}").touch()
    listed = await read(ctx, path="sub")
    assert listed.endswith(
        "099\n[sub is a folder with 150 entries; 50 more, use search_files with target=files]"
    )


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("confg.yaml", "There is no file confg.yaml. Did you mean config.yaml?"),
        ("CONFIG.YML", "There is no file CONFIG.YML. Did you mean config.yaml?"),
        ("other", "There is no file other."),
        ("no/where", "There is no file no/where, and no folder {root}/no."),
        ("config.yaml/x", "config.yaml/x cannot be read: Not a directory."),
    ],
)
async def test_a_missing_file_is_answered_with_what_is_there(tmp_path, path, said):
    (tmp_path / "config.yaml").write_text("a: 1\n")
    with pytest.raises(ToolError) as caught:
        await read(tool_context(tmp_path), path=path)
    assert str(caught.value) == said.format(root=tmp_path)


async def test_a_page_beyond_the_end_is_refused_with_the_length(tmp_path):
    (tmp_path / "f").write_text("a\nb\n")
    with pytest.raises(ToolError, match="f has 2 lines; there is no line 3"):
        await read(tool_context(tmp_path), path="f", offset=3)


async def test_what_was_seen_is_remembered_per_session(tmp_path):
    content = b"".join(b"%d\n" % n for n in range(10))
    (tmp_path / "f").write_bytes(content)
    ctx, where = tool_context(tmp_path), str(tmp_path / "f")
    seen = ctx.use(Seen)
    assert seen.compare(ctx.session, where, content) == "never"
    await read(ctx, path="f", offset=6)
    assert seen.compare(ctx.session, where, content) == "part"
    await read(ctx, path="f", limit=3)
    assert seen.compare(ctx.session, where, content) == "part"
    await read(ctx, path="f", offset=4)
    assert seen.compare(ctx.session, where, content) == "whole"
    assert seen.compare(ctx.session, where, content + b"x") == "changed"
    assert seen.compare("another", where, content) == "never"
    seen.forget(ctx.session)
    assert seen.compare(ctx.session, where, content) == "never"


async def test_a_look_costs_one_read(tmp_path):
    (tmp_path / "f").write_text("a\n")
    ctx = tool_context(tmp_path)
    await read(ctx, path="f")
    assert ctx.use(Sandbox).reads == ["f"]


def test_the_memory_of_what_was_seen_is_bounded():
    seen = Seen(capacity=3)
    for n in range(5):
        seen.note("s", f"/{n}", b"x", lines=1)
    assert [seen.compare("s", f"/{n}", b"x") for n in range(5)] == [
        "never",
        "never",
        "whole",
        "whole",
        "whole",
    ]
