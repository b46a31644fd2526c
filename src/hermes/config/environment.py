"""Environment: the variables of one home, those of its .env files under the process's own."""

from collections.abc import Iterator, Mapping

from hermes.config import dotenv
from hermes.config.home import Home, text_of
from hermes.config.problems import Problem


class Environment(Mapping[str, str]):
    """The variables of one home: the process's own over those of .env. Its repr shows no value."""

    __slots__ = ("_own", "_process")

    def __init__(self, process: Mapping[str, str], own: Mapping[str, tuple[str, str]]) -> None:
        """Take the process's variables, and those of .env with their places."""
        self._process = process
        self._own = own

    def __getitem__(self, name: str) -> str:
        """The value of a variable."""
        if name in self._process:
            return self._process[name]
        return self._own[name][0]

    def __iter__(self) -> Iterator[str]:
        """The names, each once."""
        yield from self._process
        yield from (name for name in self._own if name not in self._process)

    def __len__(self) -> int:
        """How many there are."""
        return sum(1 for _ in self)

    def where(self, name: str) -> str:
        """`NAME` if the process has it, `NAME in .env:3` if the file has it."""
        return name if name in self._process else f"{name} in {self._own[name][1]}"

    @property
    def stored(self) -> Mapping[str, str]:
        """What the .env files hold, whether or not the process overrides it."""
        return {name: value for name, (value, _) in self._own.items()}

    def __repr__(self) -> str:
        """How many variables; never a value."""
        return f"Environment({len(self)} variables)"


def variables(home: Home, process: Mapping[str, str]) -> tuple[Environment, list[Problem]]:
    """The variables of a home, and what is wrong with its .env files.

    Raises:
        ConfigError: A .env file is there and cannot be read.
    """
    own: dict[str, tuple[str, str]] = {}
    problems: list[Problem] = []
    for layer in home.layers:
        text = text_of(layer.env)
        if not text:
            continue
        name = layer.label(".env")
        assignments, strange = dotenv.parse(text)
        own |= {one.name: (one.value, f"{name}:{one.line}") for one in assignments}
        problems += [
            Problem(
                name, line, "", "this line is not NAME=value; it may not mean what it says.", kind="strange"
            )
            for line in strange
        ]
    return Environment(process, own), problems
