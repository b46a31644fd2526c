"""Exception groups: what went wrong first."""

from typing import cast


def leaf(error: BaseException) -> BaseException:
    """The first exception in a group, at any depth; a plain exception itself."""
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    return error
