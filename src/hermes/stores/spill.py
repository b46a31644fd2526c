"""Results too long for the model, kept as files under the home."""

import re
from asyncio import to_thread
from pathlib import Path

from hermes.core.errors import ToolError


class FileSpill:
    """One folder per session."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def keep(self, name: str, text: str) -> str:
        """Store the text under a name; return the absolute path. Raise ToolError on a full disk."""
        path = self._folder / (re.sub(r"[^\w.-]", "_", name)[:100] + ".txt")
        try:
            await to_thread(self._write, path, text)
        except OSError as error:
            raise ToolError(
                f"the result is too long to show and could not be kept in {path}: {error}"
            ) from error
        return str(path)

    def _write(self, path: Path, text: str) -> None:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        path.chmod(0o600)
