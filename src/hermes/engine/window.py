"""What the model sees of a conversation: a view of its log that can be thrown away and rebuilt."""

from dataclasses import dataclass, field
from typing import Any

from hermes.core.models import Request
from hermes.core.tools import ToolSpec
from hermes.engine.log import Log


@dataclass(slots=True)
class Window:
    """The whole history. `system` and `tools` stay the same bytes for the life of a conversation."""

    system: tuple[str, ...]
    tools: tuple[ToolSpec, ...]
    max_tokens: int | None = None
    _memo: dict[str, Any] = field(default_factory=dict[str, Any])

    def request(self, log: Log) -> Request:
        return Request(self.system, log.messages, self.tools, self.max_tokens, memo=self._memo)
