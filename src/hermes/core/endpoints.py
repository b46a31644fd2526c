"""Endpoint and WireSpec: where a model is reached, and in which protocol."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from hermes.core.http import Http
from hermes.core.messages import JSON
from hermes.core.models import Model, ModelInfo


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One place that answers for a vendor. The key never shows in a repr.

    `options` are the vendor's peculiarities as data, from its catalogue file: each wire documents
    the ones it understands. `idle` is seconds without progress after which a stream is given up.
    """

    vendor: str
    base_url: str
    api_key: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    options: Mapping[str, JSON] = field(default_factory=dict[str, JSON])
    connect: float = 10.0
    idle: float = 120.0


@dataclass(frozen=True, slots=True)
class WireSpec:
    """A protocol: `hermes.providers.<name>` has it as WIRE."""

    name: str
    open: Callable[[Endpoint, ModelInfo, Http], Model]
