"""Proxies of the environment."""

import pytest

from hermes.config.proxies import proxies

HERE = {"all://localhost": "", "all://127.0.0.1": "", "all://[::1]": ""}


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, {}),
        ({"NO_PROXY": "example.org"}, {}),
        ({"HTTPS_PROXY": "http://p:3128"}, {"https://": "http://p:3128", **HERE}),
        ({"https_proxy": "http://low", "HTTPS_PROXY": "http://up"}, {"https://": "http://low", **HERE}),
        ({"all_proxy": "p:1"}, {"all://": "http://p:1", **HERE}),
        (
            {"HTTP_PROXY": "http://p", "NO_PROXY": ".lan, example.org,127.0.0.1"},
            {"http://": "http://p", **HERE, "all://*.lan": "", "all://*example.org": ""},
        ),
        ({"HTTP_PROXY": "http://p", "NO_PROXY": "*"}, {}),
    ],
)
def test_what_the_environment_asks_for(environ: dict[str, str], expected: dict[str, str]) -> None:
    assert proxies(environ) == expected
