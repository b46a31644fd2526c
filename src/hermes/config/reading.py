"""Reading YAML only when there is some: a home without config.yaml does not pay for the parser."""

from importlib import import_module
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from hermes.config.document import Document


def document(text: str, name: str) -> "Document":
    """Read a YAML text that holds one mapping (or nothing).

    Args:
        text: The text, without a byte order mark.
        name: What to call it in messages.

    Raises:
        ConfigError: It is not valid YAML; says line, column and what to do.
    """
    reader = import_module("hermes.config.document")  # importing yaml costs as much as all the rest
    return cast("Document", reader.read(text, name))
