"""Effects: what a tool says it does; Footprint: what one call of it touches."""

from collections.abc import Iterable
from dataclasses import dataclass

from hermes.lib.pathmatch import encloses


@dataclass(frozen=True, slots=True)
class Effects:
    """The one declaration that parallelism, guards, approvals, checkpoints and repair all read.

    `reads`, `writes`: names of arguments that hold paths (a string or a list of strings).
    `executes`: name of the argument that holds a command line or code, "" for none.
    `network`: reaches hosts. `idempotent`: the same call twice changes nothing more than once.
    `outward`: visible to other people (a sent message); kept in order.
    """

    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    executes: str = ""
    network: bool = False
    idempotent: bool = False
    outward: bool = False


@dataclass(frozen=True, slots=True)
class Footprint:
    """What one call touches: absolute paths. `unknown` means: could touch anything."""

    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    outward: bool = False
    unknown: bool = False

    def conflicts(self, other: "Footprint") -> bool:
        """True when the two may not run at the same time."""
        if self.unknown or other.unknown or (self.outward and other.outward):
            return True
        return (
            _meet(self.writes, other.reads)
            or _meet(self.writes, other.writes)
            or _meet(self.reads, other.writes)
        )


ANYTHING = Footprint(unknown=True)
NOTHING = Footprint()


def _meet(left: Iterable[str], right: Iterable[str]) -> bool:
    return any(encloses(a, b) or encloses(b, a) for a in left for b in right)
