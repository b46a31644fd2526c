"""Extension folders to values: whatever a package's modules define at top level."""

from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import TypeVar

T = TypeVar("T")


def values(package: ModuleType, kind: type[T]) -> Iterator[T]:
    """Every module-level value of this kind in the package's files, in the order of file names."""
    for module in sorted(iter_modules(package.__path__, package.__name__ + "."), key=lambda m: m.name):
        for value in vars(import_module(module.name)).values():
            if isinstance(value, kind):
                yield value
