"""Agent: model chain, tools, limits. Frozen: a conversation changes it by taking another."""

from dataclasses import dataclass, field

from hermes.core.budget import Budget
from hermes.core.models import Model
from hermes.engine.toolbox import Toolbox


@dataclass(frozen=True, slots=True)
class Patience:
    """How often and how long a model that does not answer is asked again.

    `attempts` per model, of which at most `stalls` may end in silence: each costs a long wait. The
    pauses double from `base` to `cap` seconds. An endpoint that tells us to wait longer than
    `longest` seconds counts as not answering.
    """

    attempts: int = 3
    stalls: int = 2
    base: float = 1.0
    cap: float = 30.0
    longest: float = 120.0


@dataclass(frozen=True, slots=True)
class Agent:
    """`models` is the chain, the first one preferred. `budget` is for one turn."""

    models: tuple[Model, ...]
    toolbox: Toolbox
    budget: Budget = field(default_factory=Budget)
    patience: Patience = field(default_factory=Patience)
