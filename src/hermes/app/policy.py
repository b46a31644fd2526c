"""The gate that the settings ask for."""

from collections.abc import Callable
from pathlib import Path

import hermes
from hermes.config.load import Config
from hermes.safety.gate import PolicyGate


def policy(config: Config, workspace: str, remember: Callable[[str], None] | None = None) -> PolicyGate:
    """A gate for work in an absolute folder; `remember` keeps a rule that was answered "always"."""
    settings = config.settings
    return PolicyGate(
        settings.approvals.mode,
        home=str(Path.home()),
        workspace=workspace,
        state=str(config.home),
        program=str(Path(hermes.__file__).parent),
        deny=settings.approvals.deny,
        allow=settings.command_allowlist,
        remember=remember,
    )
