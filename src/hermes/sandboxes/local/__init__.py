"""The local machine as a sandbox: files through threads, commands through a supervisor process."""

from hermes.sandboxes.local.environment import child_environment
from hermes.sandboxes.local.line import Supervisor
from hermes.sandboxes.local.place import LocalSandbox

__all__ = ["LocalSandbox", "Supervisor", "child_environment"]
