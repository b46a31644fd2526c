"""The reported cases of file editing and of broken characters, played as whole turns on real files."""

import json
import re
from pathlib import Path

import anyio
import pytest
import yaml

from hermes.core.budget import Budget
from hermes.core.ids import SessionId
from hermes.core.messages import Outcome
from hermes.engine.agent import Agent
from hermes.engine.conversation import Conversation
from hermes.engine.log import Log
from hermes.engine.toolbox import Toolbox
from hermes.testing.clock import StillClock
from hermes.testing.sandbox import tool_context
from hermes.testing.scripted import AT_ONCE, ScriptedModel, calls, says
from hermes.tools.patch import patch
from hermes.tools.read_file import read_file
from hermes.tools.search_files import search_files
from hermes.tools.write_file import write_file

pytestmark = pytest.mark.anyio

CASES = {
    case["id"]: case
    for case in yaml.safe_load(
        Path(__file__).parents[1].joinpath("cases", "behaviour.yaml").read_text("utf-8")
    )
}
TOOLS = (read_file, write_file, patch, search_files)


def quoted(case: str) -> list[str]:
    """The texts in double quotes in a case's input, read."""
    found = re.findall(r'"(?:[^"\\]|\\.)*"', CASES[case]["input"])
    return [json.loads(text) for text in found]


async def play(root, *script):
    """A turn of these replies in this folder; the results of its calls, and all the text there was."""
    log = Log()
    who = Agent((ScriptedModel(*script),), Toolbox(TOOLS, tool_context(root).services), Budget(), AT_ONCE)
    talk = Conversation(SessionId("test"), who, log, StillClock(), ("be brief",), str(root))
    async with anyio.create_task_group() as tasks, talk.turn(tasks, "go", attended=False) as turn:
        async for _ in turn.events:
            pass
    return [result for message in log.messages for result in message.results]


async def test_edit_02_a_near_match_is_never_applied(tmp_path):
    """Refused; the file is byte-identical; the error names the nearest place; no success is told."""
    content, old, new = quoted("edit-02")
    (tmp_path / "list.txt").write_text(content)
    (result,) = await play(
        tmp_path, calls("patch", path="list.txt", old_string=old, new_string=new), says("It failed.")
    )
    assert (tmp_path / "list.txt").read_text() == content
    assert result.outcome is Outcome.FAILED
    assert result.text == (
        "Nothing was changed: in list.txt old_string was not found. The nearest place is lines 1-3, "
        "where line 2 of old_string is not the same:\n1|alpha(1)\n2|beta(2)\n3|gamma(3)"
    )


async def test_edit_03_an_added_line_lands_below_its_anchor(tmp_path):
    """serve("soup") ends up inside lunch(), never at the end of the file."""
    given = CASES["edit-03"]["input"]
    content = json.loads(re.search(r'"def lunch.*?[^\\]"', given).group())
    text = given.split("Patch:\n")[1]
    (tmp_path / "menu.py").write_text(content)
    (result,) = await play(tmp_path, calls("patch", mode="patch", patch=text), says("Done."))
    assert result.outcome is Outcome.OK
    assert (tmp_path / "menu.py").read_text() == (
        'def lunch():\n    serve("soup")\n    lay_table()\n\ndef dinner():\n    light_candles()\n'
    )
    assert result.text == (
        'menu.py changed in 1 place.\n@@ -1,3 +1,4 @@\n def lunch():\n+    serve("soup")\n     lay_table()\n '
    )


async def test_edit_03_with_an_anchor_that_is_not_there_nothing_happens(tmp_path):
    content = "def lunch():\n    lay_table()\n"
    (tmp_path / "menu.py").write_text(content)
    text = '*** Begin Patch\n*** Update File: menu.py\n@@ def brunch():\n+    serve("soup")\n*** End Patch'
    (result,) = await play(tmp_path, calls("patch", mode="patch", patch=text), says("It failed."))
    assert result.outcome is Outcome.FAILED
    assert "anchor 'def brunch():' was not found" in result.text
    assert (tmp_path / "menu.py").read_text() == content


async def test_a_file_is_read_changed_and_read_again(tmp_path):
    (tmp_path / "a.txt").write_bytes("ä\r\nöl\r\n".encode())
    results = await play(
        tmp_path,
        calls("read_file", path="a.txt"),
        calls("patch", path="a.txt", old_string="öl", new_string="oil\nfuel"),
        calls("read_file", path="a.txt"),
        says("Done."),
    )
    assert [result.outcome for result in results] == [Outcome.OK] * 3
    assert results[2].text == "1|ä\n2|oil\n3|fuel\n[3 lines; CRLF line ends]"
    assert (tmp_path / "a.txt").read_bytes() == "ä\r\noil\r\nfuel\r\n".encode()


async def test_uni_01_half_a_character_in_arguments_and_files_breaks_nothing(tmp_path):
    """The tool side: what a model sends and what a file holds may be broken, results and files are not."""
    broken = json.loads('"price \\ud83d end \\udc80"')
    (tmp_path / "bad").write_bytes(b"price \x80 end\n")
    results = await play(
        tmp_path,
        calls("write_file", path="a.txt", content=broken),
        calls("read_file", path="a.txt"),
        calls("patch", path="a.txt", old_string="price", new_string=broken),
        calls("patch", path="a.txt", old_string=broken, new_string="x"),
        calls("search_files", pattern=broken),
        calls("search_files", pattern="price", path="bad"),
        calls("read_file", path="bad"),
        calls("read_file", path="udc80 \udc80"),
        says("Done."),
    )
    for result in results:
        assert "crashed" not in result.text
        result.text.encode()
    assert results[1].text == "1|price \ufffd end \ufffd\n[1 line; no newline at the end]"
    assert results[5].text in {f"bad\n1:price {half} end\n[1 match]" for half in "\x80\ufffd"}  # or ripgrep's
    assert (tmp_path / "a.txt").read_text("utf-8") == "price \ufffd end \ufffd \ufffd end \ufffd"
