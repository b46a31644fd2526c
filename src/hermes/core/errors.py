"""The HermesError tree.

HermesError                 root of every error raised on purpose
├── ConfigError             a setting is wrong: says file, line and the nearest valid key
├── ModelError              a model did not answer
│   ├── Unavailable         may answer later, or another may: retry, then the next of the chain
│   ├── Rejected            the request itself was refused: wrong key, unknown model, bad request
│   ├── ContextTooLong      the conversation does not fit into the model's window
│   └── NoModelAnswered     every model of the chain was tried
├── ToolError               the tool could not do its work; the model reads this as a result
│   ├── BadArguments        the call's arguments do not fit the tool's schema
│   └── TimedOut            the tool's deadline passed
├── Denied                  the gate did not allow an effect
├── BudgetSpent             no budget is left for what was asked
├── StoreError              the state could not be read or written
│   ├── SessionBusy         the session is at work elsewhere
│   ├── StaleWriter         another worker holds the session's lease
│   └── StoreTooNew         the store was written by a newer version
└── UsageError              the command line or a library call was used wrongly
"""


class HermesError(Exception):
    """Root of every error this package raises on purpose. `str(error)` is fit for a person."""


class ConfigError(HermesError):
    """A setting is wrong."""


class ModelError(HermesError):
    """A model did not answer. `kind` is the class of failure (see `sdk.failures`)."""

    def __init__(self, message: str, *, kind: str = "unknown") -> None:
        super().__init__(message)
        self.kind = kind


class Unavailable(ModelError):
    """May answer later. `retry_after` is in seconds, None when the endpoint did not say."""

    def __init__(self, message: str, *, kind: str = "unavailable", retry_after: float | None = None) -> None:
        super().__init__(message, kind=kind)
        self.retry_after = retry_after


class Rejected(ModelError):
    """The request itself was refused; asking the same again is pointless."""


class ContextTooLong(ModelError):
    """The conversation does not fit. `limit` is the window in tokens, 0 when unknown."""

    def __init__(self, message: str, *, limit: int = 0) -> None:
        super().__init__(message, kind="context")
        self.limit = limit


class NoModelAnswered(ModelError):
    """Every model of the chain was tried."""


class ToolError(HermesError):
    """Becomes a failed result; the model may try again."""


class BadArguments(ToolError):
    """The call's arguments do not fit the tool's schema."""


class TimedOut(ToolError):
    """The tool's deadline passed."""


class Denied(HermesError):
    """The gate did not allow an effect.

    `nobody` is true when nobody was there to be asked, `person` when somebody was and said no.
    """

    def __init__(self, message: str, *, nobody: bool = False, person: bool = False) -> None:
        super().__init__(message)
        self.nobody = nobody
        self.person = person


class BudgetSpent(HermesError):
    """No budget is left for what was asked."""


class StoreError(HermesError):
    """The state could not be read or written."""


class SessionBusy(StoreError):
    """The session is at work elsewhere."""


class StaleWriter(StoreError):
    """Another worker holds the session's lease."""


class StoreTooNew(StoreError):
    """The store was written by a newer version of the program."""


class UsageError(HermesError):
    """The command line or a library call was used wrongly."""
