"""The catalogue: every vendor's file is sound, and one in a home counts like one of ours."""

from collections.abc import Callable
from pathlib import Path

import pytest

from hermes.core.errors import ConfigError
from hermes.core.models import Price
from hermes.providers import vendors

PROMISED = (
    *("openai", "anthropic", "openrouter", "nous", "google", "deepseek", "mistral", "groq", "together"),
    *("fireworks", "xai", "qwen", "kimi", "zai", "minimax", "huggingface", "nvidia", "github", "azure"),
    *("ollama", "lmstudio", "llamacpp", "vllm", "custom", "embedded"),
)
# What the wires document: an option nobody reads would be a lie.
OPTIONS = {
    *("stream", "stream_usage", "max_tokens", "temperature", "schema", "reasoning_echo", "system_role"),
    *("empty_content", "call_ids", "parallel_calls", "auth", "path", "query", "extra"),
    *("choosing", "answering", "examples"),
}


def test_every_promised_vendor_has_a_file() -> None:
    assert set(vendors.names()) == set(PROMISED)


@pytest.mark.parametrize("name", PROMISED)
def test_a_file_is_whole(name: str) -> None:
    vendor = vendors.load(name)
    assert (vendors.CATALOG.parent / f"{vendor.wire}.py").is_file()
    assert vendor.base_url.startswith(("https://", "http://127.0.0.1:")) or vendor.name in (
        "azure",
        "custom",
        "embedded",
    )
    assert vendor.local or (vendor.key_env and vendor.sign_up.startswith("https://"))
    assert not vendor.default or vendor.default in vendor.models
    assert set(vendor.options) <= OPTIONS
    assert len(vendor.models) <= 15


@pytest.mark.parametrize("name", PROMISED)
def test_what_is_known_of_a_model_is_plausible(name: str) -> None:
    for facts in vendors.load(name).models.values():
        assert facts.context == 0 or 4_096 <= facts.context <= 20_000_000
        assert 0 <= facts.max_output <= (facts.context or 20_000_000)
        price = facts.price
        if price.input is not None and price.output is not None:
            assert 0 <= price.input <= price.output <= 1_000
            assert price.cached is None or price.cached <= price.input


def test_names_and_aliases_belong_to_one_vendor() -> None:
    taken = [word for name in vendors.names() for word in (name, *vendors.load(name).aliases)]
    assert len(taken) == len(set(taken))


def test_a_vendor_is_found_by_alias_in_any_case() -> None:
    assert vendors.find("Moonshot").name == "kimi"
    assert vendors.find("OpenAI").name == "openai"


def test_a_model_listed_says_what_is_known_and_another_only_its_name() -> None:
    vendor = vendors.load("anthropic")
    known, new = vendor.info("claude-sonnet-4-5"), vendor.info("claude-of-tomorrow")
    assert (known.context, known.price) == (200_000, Price(3, 15, 0.3, 3.75))
    assert (new.name, new.context, new.price, new.tools) == ("claude-of-tomorrow", 0, Price(), True)


def test_a_bare_model_name_finds_the_vendors_that_list_it() -> None:
    assert {vendor.name for vendor in vendors.serving("gpt-4o")} == {"openai", "azure"}
    assert vendors.serving("no-such-model") == []


def test_an_unknown_vendor_is_answered_with_the_nearest() -> None:
    with pytest.raises(ConfigError, match=r"no provider 'antropic'\. Did you mean 'anthropic'\?"):
        vendors.find("antropic")


@pytest.mark.parametrize("name", ["../config", "a/b", "", "*"])
def test_a_name_is_not_a_path(name: str, tmp_path: Path) -> None:
    (tmp_path / "providers").mkdir()
    (tmp_path / "config.toml").write_text("secret")
    with pytest.raises(ConfigError, match="There is no provider"):
        vendors.find(name, tmp_path)


@pytest.fixture
def write(tmp_path: Path):  # type: ignore[no-untyped-def]
    def write(text: str, name: str = "acme") -> Path:
        path = tmp_path / "providers" / f"{name}.toml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        return tmp_path

    return write


MINE = """\
name = "acme"
title = "Acme"
wire = "openai_chat"
base_url = "https://acme.example/v1"
key_env = ["ACME_API_KEY"]
aliases = ["coyote"]

[models.rocket]
context = 64000
price = { input = 1, output = 2.5 }
"""


def test_a_vendor_in_one_file_of_the_home_works(write) -> None:  # type: ignore[no-untyped-def]
    home = write(MINE)
    assert vendors.find("coyote", home).info("rocket").price == Price(1, 2.5)
    assert "acme" in vendors.names(home)
    assert [vendor.name for vendor in vendors.serving("rocket", home)] == ["acme"]


def test_the_homes_file_counts_before_ours(write) -> None:  # type: ignore[no-untyped-def]
    home = write(MINE.replace("acme", "openai"), "openai")
    assert vendors.load("openai", home).title == "Acme"
    assert vendors.load("openai").title == "OpenAI"


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (MINE.replace("base_url", "base_uri"), r"acme\.toml: .*'base_uri'.*Did you mean 'base_url'\?"),
        (MINE.replace("context", "contxt"), r"'contxt' in models.*Did you mean 'context'\?"),
        (MINE.replace("output = 2.5", "ouput = 2.5"), r"'ouput' in models.*Did you mean 'output'\?"),
        (MINE.replace("64000", '"64k"'), r"models.*has the wrong type: expected `int`"),
        (MINE.replace('title = "Acme"\n', ""), r"the key 'title' is missing"),
        (MINE.replace('"Acme"', '"Acme'), r"acme\.toml is not TOML: .*line 2"),
        (MINE.replace('name = "acme"', 'name = "other"'), r"name is 'other'"),
    ],
)
def test_a_wrong_file_says_what_and_where(write, wrong: str, said: str) -> None:  # type: ignore[no-untyped-def]
    home = write(wrong)
    with pytest.raises(ConfigError, match=said):
        vendors.load("acme", home)


def test_variables_move_a_vendor() -> None:
    ollama, azure = vendors.load("ollama"), vendors.load("azure")
    assert ollama.address({}) == "http://127.0.0.1:11434/v1"
    assert ollama.address({"OLLAMA_HOST": "127.0.0.1:9999"}) == "http://127.0.0.1:9999/v1"
    assert azure.address({}) == ""
    endpoint = {"AZURE_OPENAI_ENDPOINT": "https://mine.openai.azure.com/"}
    assert azure.address(endpoint) == "https://mine.openai.azure.com/openai/v1"
    assert (azure.moved({}), azure.moved(endpoint)) == ("", "AZURE_OPENAI_ENDPOINT")
    whole = {"AZURE_OPENAI_ENDPOINT": "https://mine.openai.azure.com/openai/v1"}
    assert azure.address(whole) == "https://mine.openai.azure.com/openai/v1"


def test_a_key_that_belongs_to_a_moved_address_goes_nowhere_else() -> None:
    keys = {"OPENAI_API_KEY": "o", "CUSTOM_API_KEY": "c"}
    moved = {**keys, "OPENAI_BASE_URL": "http://mine/v1/"}
    openai, custom = vendors.load("openai"), vendors.load("custom")
    assert openai.key(keys, "http://elsewhere/v1") == ("o", "OPENAI_API_KEY")  # the settings say so
    assert openai.key(moved) == openai.key(moved, "http://mine/v1") == ("o", "OPENAI_API_KEY")
    assert openai.key(moved, "http://elsewhere/v1") == ("", "")
    assert custom.key(keys) == custom.key(moved, "http://elsewhere/v1") == ("c", "CUSTOM_API_KEY")
    assert custom.key(moved) == ("o", "OPENAI_API_KEY")
    assert custom.key({**moved, "OPENAI_API_KEY": ""}) == ("c", "CUSTOM_API_KEY")


def test_what_a_name_means_is_told_without_a_complaint(write: Callable[[str], Path]) -> None:
    home = write(MINE.replace('["coyote"]', "['coyote']"))
    words = ("ACME", "coyote", "Claude", "gpt-4o", "../acme", "")
    assert [vendors.meant(word, home) for word in words] == ["acme", "acme", "anthropic", "", "", ""]
