"""Look: what the terminal can show and what its owner wants to see."""

import codecs
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from hermes.config.load import Config

Colors = Literal["none", "standard", "256", "truecolor"]


@dataclass(frozen=True, slots=True)
class Look:
    """`plain` terminals cannot move their cursor. `home` keeps the history of what was typed.

    `tools` says whether tool lines are shown, `thoughts` whether a model's thinking is. `settle` is
    for how many seconds no key may have been pressed before one counts as an answer.
    """

    home: Path | None = None
    term: str = "xterm-256color"
    colors: Colors = "256"
    unicode: bool = True
    plain: bool = False
    tools: bool = True
    thoughts: bool = True
    settle: float = 0.4


def look_of(config: Config, encoding: str) -> Look:
    """The look of the terminal that the environment describes; `encoding` is that of stdout."""
    env, display = config.env, config.settings.display
    term = env.get("TERM", "")
    return Look(
        config.home,
        term,
        _colors(term, env.get("COLORTERM", ""), bool(env.get("NO_COLOR"))),
        codecs.lookup(encoding).name == "utf-8",
        term in {"", "dumb", "unknown"},
        display.tool_progress != "off",
        display.show_reasoning,
    )


def _colors(term: str, more: str, unwanted: bool) -> Colors:
    if unwanted:
        return "none"
    if more.lower() in {"truecolor", "24bit"}:
        return "truecolor"
    return "256" if "256" in term else "standard"
