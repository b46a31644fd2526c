"""Extension folders to values: whatever a package's modules define at top level."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(slots=True)
class Found(Generic[T]):
    """What the files of a folder define, and one sentence for each file that could not be loaded."""

    values: list[T] = field(default_factory=list[T])
    broken: list[str] = field(default_factory=list[str])


def discover(package: ModuleType, kind: type[T]) -> Found[T]:
    """Every module-level value of this kind in the package's files, in the order of file names.

    A file that cannot be loaded takes no other with it.
    """
    found: Found[T] = Found()
    for module in sorted(iter_modules(package.__path__, package.__name__ + "."), key=lambda m: m.name):
        try:
            loaded = import_module(module.name)
        except (Exception, SystemExit) as error:  # noqa: BLE001  crash boundary: an extension's own code
            found.broken.append(_sentence(module.name, error))
            continue
        found.values += (value for value in vars(loaded).values() if isinstance(value, kind))
    return found


def values(package: ModuleType, kind: type[T]) -> Iterator[T]:
    """What `discover` finds, for callers that have no use for the rest."""
    yield from discover(package, kind).values


def _sentence(module: str, error: BaseException) -> str:
    """Which file, which line, what."""
    name = module.replace(".", "/") + ".py"
    line = error.lineno if isinstance(error, SyntaxError) else None
    trace = error.__traceback__
    while trace and line is None:
        if trace.tb_frame.f_code.co_filename.replace("\\", "/").endswith(name):
            line = trace.tb_lineno
        trace = trace.tb_next
    place = f"{name}:{line}" if line else name
    return f"{place} could not be loaded and is left out: {type(error).__name__}: {error}"
