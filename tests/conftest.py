import pytest


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """Core and engine run on both; tests of edges override this with asyncio alone."""
    return str(request.param)
