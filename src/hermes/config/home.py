"""Home: the folder that holds everything of one person's agent, and a profile's own folder within it."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from hermes.core.errors import ConfigError

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


@dataclass(frozen=True, slots=True)
class Home:
    """A home, or a profile of it. Nothing is made on disk until something is written."""

    base: Path
    profile: str = ""

    @property
    def folder(self) -> Path:
        """Where this home, or this profile, keeps its own things."""
        return self.base / "profiles" / self.profile if self.profile else self.base

    @property
    def config(self) -> Path:
        """The settings file."""
        return self.folder / "config.yaml"

    @property
    def env(self) -> Path:
        """The file of secrets."""
        return self.folder / ".env"

    def label(self, name: str) -> str:
        """What a file of this home is called in messages."""
        return f"profiles/{self.profile}/{name}" if self.profile else name

    @property
    def layers(self) -> tuple["Home", ...]:
        """The homes whose settings lie over each other, the lowest first."""
        return (Home(self.base), self) if self.profile else (self,)


def find(
    home: Path | None = None, profile: str = "", environ: Mapping[str, str] | None = None
) -> tuple[Home, Mapping[str, str]]:
    """The home that is meant, and the process's variables.

    Args:
        home: The folder; None takes HERMES_HOME, else ~/.hermes.
        profile: The profile's name; empty for none.
        environ: The process's variables; None takes the real ones.

    Raises:
        ConfigError: The profile's name could not be a folder's name.
    """
    process = dict(os.environ) if environ is None else dict(environ)
    if profile and not _NAME.fullmatch(profile):
        raise ConfigError(
            f"{profile!r} cannot be a profile's name: up to 64 letters, digits, - and _, "
            "the first a letter or digit."
        )
    return Home(_of(process) if home is None else Path(os.path.abspath(home)), profile), process


def _of(environ: Mapping[str, str]) -> Path:
    user = environ.get("HOME") or os.path.expanduser("~")
    given = environ.get("HERMES_HOME", "")
    if not given:
        return Path(user, ".hermes")
    if given == "~" or given.startswith("~/"):
        given = user + given[1:]
    return Path(os.path.abspath(given))


def text_of(path: Path) -> str | None:
    """The text of a file without its byte order mark, None when there is no such file.

    Raises:
        ConfigError: It is there and cannot be read, or is not UTF-8.
    """
    try:
        content = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}. Check its owner and rights.") from None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{path}:{line}: not UTF-8 text. Save the file as UTF-8.") from None
