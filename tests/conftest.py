"""For all tests. One that hangs is ended with a stack by `faulthandler_timeout` (see pyproject.toml)."""

import pytest
from hypothesis import settings

settings.register_profile("here", deadline=None)  # a busy machine is slow, not wrong
settings.load_profile("here")


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """Core and engine run on both; tests of edges override this with asyncio alone."""
    return str(request.param)
