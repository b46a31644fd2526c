"""Plans: the todo list of each session, for those whose log is kept nowhere."""

from collections import OrderedDict
from collections.abc import Sequence

from hermes.core.ids import SessionId
from hermes.core.messages import JSON


class Plans:
    """Lists of steps, in memory and bounded.

    The list of a stored session is in its log, where a restart keeps it and /undo takes it back.
    """

    __slots__ = ("_capacity", "_plans")

    def __init__(self, capacity: int = 500) -> None:
        self._plans: OrderedDict[SessionId, Sequence[JSON]] = OrderedDict()
        self._capacity = capacity

    def keep(self, session: SessionId, steps: Sequence[JSON]) -> None:
        """Keep the steps of a session in place of those before."""
        self._plans[session] = steps
        self._plans.move_to_end(session)
        if len(self._plans) > self._capacity:
            self._plans.popitem(last=False)

    def read(self, session: SessionId) -> Sequence[JSON]:
        """The steps as they were kept last, none when there were none."""
        return self._plans.get(session, ())
