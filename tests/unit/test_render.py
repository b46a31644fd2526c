"""Markdown that is still being written, words made harmless, and what a terminal shows of them."""

import io
import re

from hypothesis import given
from hypothesis import strategies as st

from hermes.core.events import ModelSwitched, Stop, TurnEnded
from hermes.core.ids import CallId, QuestionId
from hermes.core.messages import NOTHING_SPENT, Outcome, ToolCall, ToolResult
from hermes.core.questions import Question
from hermes.shells.cli import words
from hermes.shells.cli.blocks import Blocks
from hermes.shells.cli.choices import choice, offered
from hermes.shells.cli.look import Look
from hermes.shells.cli.plain import Paper, _rows
from hermes.shells.cli.render import Painter

PLAIN = Painter(Look(colors="none"))
COLORED = Painter(Look())
ANSWER = """\
# A head

Some **words** and
a second line.

- one
- two
  - inner

```python
def f():

    return 1
```

| a | b |
|---|---|
| 1 | 2 |

The end."""


def cut(text: str, size: int) -> list[str]:
    blocks = Blocks()
    done = [b.text for at in range(0, len(text), size) for b in blocks.add(text[at : at + size])]
    return done + [block.text for block in blocks.finish()]


def bare(painted: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", painted)


def test_blocks_are_cut_where_nothing_that_follows_can_change_them() -> None:
    for size in (1, 3, 7, 1000):
        assert "".join(cut(ANSWER, size)) == ANSWER
    assert [block.split("\n")[0] for block in cut(ANSWER + "\n", 1)] == [
        "# A head",
        "Some **words** and",
        "- one",
        "```python",
        "| a | b |",
        "The end.",
    ]


@given(st.text(alphabet="ab#-*`|1. \n>", max_size=200), st.integers(1, 9))
def test_no_text_is_lost_whatever_the_pieces(text: str, size: int) -> None:
    assert "".join(cut(text, size)).strip() == text.strip()


def test_a_long_code_block_is_shown_in_parts_that_join_without_a_seam() -> None:
    code = "".join(f"line {n}\n" for n in range(100))
    blocks = Blocks()
    done = blocks.add("```text\n")
    for line in code.splitlines(keepends=True):
        done += blocks.add(line)
    done += blocks.add("```\n\nafter")
    done += blocks.finish()
    assert len(done) > 3
    assert [block.seam for block in done][:2] == [False, True]
    shown = "".join(PLAIN.markdown(block.text, 80) for block in done if "after" not in block.text)
    assert shown == code


def test_a_long_list_is_shown_in_parts() -> None:
    text = "".join(f"{n}. item {n}\n" for n in range(1, 101))
    parts = cut(text, 5)
    assert len(parts) > 1
    assert "".join(parts) == text
    shown = "".join(PLAIN.markdown(part, 80) for part in parts)
    assert [line.split()[-1] for line in shown.splitlines()] == [str(n) for n in range(1, 101)]


def test_tags_line_breaks_and_code_are_kept_as_written() -> None:
    assert PLAIN.markdown("Use Vec<String> and <b>this</b>.\nNext line", 80) == (
        "Use Vec<String> and <b>this</b>.\nNext line\n"
    )
    assert PLAIN.markdown("```\n<div>  x\n```", 80) == "<div>  x\n"
    assert PLAIN.markdown("[the docs](https://example.org)", 80) == "the docs (https://example.org)\n"


def test_wide_characters_line_up_in_a_table() -> None:
    rows = PLAIN.markdown("| 名前 | n |\n|---|--:|\n| 日本語 | 2 |\n| ab | 10 |", 40).splitlines()
    assert rows[0] == " 名前     n"
    assert rows[2:] == [" 日本語   2", " ab      10"]


def test_text_cannot_steer_the_terminal() -> None:
    painted = COLORED.markdown("a\x1b[2Jb \x07 `\x1b]0;title\x07` \ud83d", 80)
    assert bare(painted) == "a\\x1b[2Jb \\x07 \\x1b]0;title\\x07 \ufffd\n"


def test_an_entity_cannot_turn_writing_round_either() -> None:
    painted = PLAIN.markdown("a &#x202e;b\n\n|&#x202e;c|\n|-|\n|d|\n\n# &#x2066;e\n\n![&#x202e;f](g)", 80)
    assert not set(painted) & set("\u202e\u2066")
    assert "a \\u202eb" in painted


def test_a_line_end_may_come_in_two_pieces() -> None:
    out = io.StringIO()
    paper = Paper(out, live=True)
    for piece in ("a\r", "\nb\r", "c\r", "\n"):
        paper.grow(piece)
    paper.settle("a\r\nb\rc\r\n")
    assert out.getvalue() == "a\nb\\x0dc\n\n"


def test_what_joins_and_spaces_words_stays_as_it_is() -> None:
    family, nbsp = "\U0001f468\u200d\U0001f469", "10\xa0km"
    assert PLAIN.markdown(f"{family} {nbsp} می\u200cخواهم", 80) == f"{family} {nbsp} می\u200cخواهم\n"


def test_a_question_hides_nothing() -> None:
    question = Question(QuestionId("q"), "approval", "rm x", "It deletes \u202ex\x1b[8m\u200b")
    assert words.asking(question) == "May this be done? It deletes \\u202ex\\x1b[8m\\u200b"
    assert words.asking(Question(QuestionId("q"), "approval", "rm x")) == "May this be done?"


def test_a_reason_that_ends_as_a_sentence_goes_on_as_a_part_of_one() -> None:
    said = "m (http://h) failed (500): boom. Usually it helps to ask again."
    assert words.switched(ModelSwitched("m", "m", said, 1.0)) == f"{said[:-1]}; asking m again in 1.0 s"
    assert f"({said[:-1]})" in words.switched(ModelSwitched("m", "n", said))
    assert words.ended(TurnEnded(Stop.BUDGET, NOTHING_SPENT, "all is spent.")) == "Stopped: all is spent."


def test_only_ascii_where_only_ascii_can_be_shown() -> None:
    painter = Painter(Look(unicode=False))
    assert painter.sign("✓", "+") == "+"


def test_rows_that_are_too_long_go_on_below() -> None:
    painted = PLAIN.line(("✓ ", "good"), ("read_file a/long/path.txt", ""), width=20, indent=2)
    assert painted == "✓ read_file\n  a/long/path.txt\n"


def call(name: str, **arguments: str) -> ToolCall:
    return ToolCall(CallId("c"), name, arguments)


def test_a_finished_call_in_one_line() -> None:
    ok = ToolResult(CallId("c"), Outcome.OK, "", meta={"seconds": 0.021})
    assert words.finished(call("read_file", path="a.txt"), ok) == "read_file a.txt  0.02 s"
    red = ToolResult(CallId("c"), Outcome.OK, "", data={"exit_code": 1}, meta={"seconds": 75})
    assert (
        words.finished(call("terminal", command="make\ntest"), red)
        == "terminal make test  1 min 15 s  exit 1"
    )
    bad = ToolResult(CallId("c"), Outcome.FAILED, "no such\nfile \x1b[2J")
    assert words.finished(call("patch"), bad) == "patch  failed: no such file [2J"


APPROVAL = Question(QuestionId("q"), "approval", "rm x")
CLARIFY = Question(QuestionId("q"), "clarify", "Which?", choices=("red", "blue"))


def test_answers_by_key_word_or_number() -> None:
    assert [one.key for one in offered(APPROVAL)] == ["o", "s", "a", "d"]
    assert choice(APPROVAL, "a") == "always"
    assert choice(APPROVAL, "YES") == "once"
    assert choice(APPROVAL, "whatever") is None
    assert choice(CLARIFY, "2") == "blue"
    assert choice(CLARIFY, "green, please") == "green, please"
    assert choice(CLARIFY, " ") is None


def test_rows_of_a_text_on_a_terminal() -> None:
    assert _rows("abc", 80) == 0
    assert _rows("a\nb", 80) == 1
    assert _rows("x" * 80, 80) == 0
    assert _rows("x" * 81, 80) == 1
    assert _rows("日" * 41, 80) == 1
