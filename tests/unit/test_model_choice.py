"""Which model answers: settings first, then what is found, and always with the reason."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import pytest

from hermes.app import models
from hermes.app.models import choose
from hermes.config.load import Config, load
from hermes.core.errors import ConfigError, HermesError, NoModelAnswered, Rejected, Unavailable
from hermes.core.http import Http, HttpRequest
from hermes.safety.http import HttpxClient
from hermes.testing.endpoint import ModelServer

pytestmark = pytest.mark.anyio

CUSTOM = "model: {default: fake-model, provider: custom, base_url: http://127.0.0.1:9/v1, api_key: K}\n"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class NoNetwork:
    """An Http that must not be used."""

    def send(self, request: object) -> object:
        raise AssertionError(f"asked the network: {request}")


NOBODY: Http = NoNetwork()  # type: ignore[assignment]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home on a machine where no local model server runs."""
    for name in models.LOCAL:
        _moved(tmp_path, name, "http://127.0.0.1:9/v1")
    return tmp_path


def _moved(home: Path, name: str, url: str) -> None:
    """A vendor's file in this home, with another address."""
    (home / "providers").mkdir(exist_ok=True)
    text = f'name = "{name}"\ntitle = "{name}"\nwire = "openai_chat"\nbase_url = "{url}"\nlocal = true\n'
    (home / "providers" / f"{name}.toml").write_text(text)


def config(home: Path, yaml: str = "", **env: str) -> Config:
    (home / "config.yaml").write_text(yaml)
    return load(home, environ={"HOME": str(home), **env})


async def chosen(config: Config, model: str = "", http: Http = NOBODY) -> models.Choice:
    return await choose(config, http, model)


async def test_the_settings_decide_without_asking_the_network(home: Path) -> None:
    choice = await chosen(config(home, CUSTOM, OPENAI_BASE_URL="http://other", ANTHROPIC_API_KEY="x"))
    seat = choice.seats[0]
    assert choice.name == "custom/fake-model"
    assert (seat.endpoint.base_url, seat.endpoint.api_key) == ("http://127.0.0.1:9/v1", "K")
    assert choice.why == "custom/fake-model: chosen in config.yaml:1"
    assert "K" not in repr(choice.seats).replace("KEY", "")


async def test_a_stored_session_names_its_model_again(home: Path) -> None:
    choice = await chosen(config(home, CUSTOM), "custom/fake-model")
    assert choice.name == "custom/fake-model"
    assert choice.seats[0].endpoint.base_url == "http://127.0.0.1:9/v1"


async def test_a_name_may_bring_its_own_provider(home: Path) -> None:
    here = config(home, CUSTOM, ANTHROPIC_API_KEY="a-key")
    choice = await chosen(here, "anthropic/claude-sonnet-4-5")
    assert choice.name == "anthropic/claude-sonnet-4-5"
    assert choice.seats[0].endpoint.api_key == "a-key"


async def test_a_name_as_the_configured_reseller_spells_it_stays_there(home: Path) -> None:
    here = config(home, "model: {provider: openrouter, default: z-ai/glm-5.3}", OPENROUTER_API_KEY="k")
    assert (await chosen(here, "anthropic/claude-opus-5")).name == "openrouter/anthropic/claude-opus-5"
    assert (await chosen(here, "ollama/qwen3")).name == "ollama/qwen3"


async def test_a_bare_name_goes_to_the_vendor_with_a_key(home: Path) -> None:
    here = config(home, "model: gpt-4o", AZURE_OPENAI_API_KEY="k", AZURE_OPENAI_ENDPOINT="https://x.y")
    assert (await chosen(here)).name == "azure/gpt-4o"
    assert (await chosen(config(home, "model: gpt-4o", OPENAI_API_KEY="k"))).name == "openai/gpt-4o"


async def test_an_alias_and_a_new_model_of_a_known_vendor_work(home: Path) -> None:
    choice = await chosen(config(home, "model: moonshot/kimi-k9", KIMI_API_KEY="k"))
    assert choice.name == "kimi/kimi-k9"
    assert "not in the catalogue" in choice.why


async def test_what_is_known_of_a_model_is_overruled_by_the_settings(home: Path) -> None:
    here = config(
        home, "model: {provider: openai, default: gpt-4o, context_length: 5000}", OPENAI_API_KEY="k"
    )
    assert (await chosen(here)).info.context == 5000


async def test_a_vendor_file_of_the_home_is_a_provider(home: Path) -> None:
    _moved(home, "acme", "http://acme.example/v1")
    choice = await chosen(config(home, "model: acme/rocket"))
    assert (choice.name, choice.seats[0].endpoint.base_url) == ("acme/rocket", "http://acme.example/v1")


async def test_an_endpoint_of_the_settings_is_a_provider(home: Path) -> None:
    text = """\
model: {provider: mine, default: m}
providers: {mine: {base_url: "http://mine/v1", key_env: MINE, headers: {X-A: b}, stale_timeout_seconds: 7}}
"""
    seat = (await chosen(config(home, text, MINE="secret"))).seats[0]
    assert (seat.name, seat.endpoint.api_key, seat.endpoint.idle) == ("mine/m", "secret", 7)
    assert seat.endpoint.headers == {"X-A": "b"}


async def test_a_key_is_not_carried_to_an_address_it_does_not_belong_to(home: Path) -> None:
    text = "model: {default: m, provider: custom, base_url: http://elsewhere/v1}"
    seat = (await chosen(config(home, text, OPENAI_API_KEY="secret"))).seats[0]
    assert seat.endpoint.api_key == ""


async def test_fallbacks_follow_and_one_without_a_key_is_left_out(home: Path) -> None:
    text = CUSTOM + "fallback_providers: [{provider: openai, model: gpt-4o}, {provider: ollama, model: q}]\n"
    choice = await chosen(config(home, text))
    assert [seat.name for seat in choice.seats] == ["custom/fake-model", "ollama/q"]
    assert "left out of the chain: There is no key for OpenAI" in choice.why


@pytest.mark.parametrize(
    ("yaml", "kind", "said"),
    [
        ("model: {provider: anthropik, default: x}", ConfigError, "Did you mean 'anthropic'"),
        ("model: gpt-4oo", ConfigError, "Did you mean 'gpt-4o'"),
        ("model: {provider: ollama}", ConfigError, "name one, ollama/MODEL"),
        ("model: {provider: custom, default: x}", ConfigError, "set model.base_url"),
        ("model: {provider: azure, default: x}", ConfigError, "AZURE_OPENAI_ENDPOINT"),
        ("model: {provider: custom, default: x, base_url: u, api_mode: codex_responses}", ConfigError, "not"),
        ("model: openai/gpt-4o", Rejected, r"no key for OpenAI: .*OPENAI_API_KEY.*platform\.openai\.com"),
        ("model: embedded/smollm2", NoModelAnswered, "hermes model install smollm2"),
        ("model: /no/such.gguf", ConfigError, r"no model file /no/such\.gguf"),
    ],
)
async def test_what_cannot_be_chosen_says_what_to_do(
    home: Path, yaml: str, kind: type[HermesError], said: str
) -> None:
    with pytest.raises(kind, match=said):
        await chosen(config(home, yaml))


# Nothing is configured


@dataclass
class Page:
    """A reply that is there at once."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)

    async def read(self) -> bytes:
        return self.body

    async def chunks(self) -> AsyncIterator[bytes]:
        yield self.body


class Web:
    """An Http with these pages; nobody is at any other address."""

    def __init__(self, **pages: bytes) -> None:
        self.pages = pages
        self.asked: list[str] = []

    @asynccontextmanager
    async def send(self, request: HttpRequest) -> AsyncIterator[Page]:
        self.asked.append(request.url)
        host = request.url.split("/")[2].partition(".")[0].replace("-", "_")
        if host not in self.pages:
            raise Unavailable("nobody is there", kind="network")
        yield Page(200, self.pages[host])


def listing(*names: str) -> bytes:
    return msgspec.json.encode({"object": "list", "data": [{"id": name} for name in names]})


async def test_a_key_in_the_environment_is_used_in_the_stated_order(home: Path) -> None:
    here = config(home, OPENAI_API_KEY="o", ANTHROPIC_API_KEY="a", GITHUB_TOKEN="g")
    choice = await chosen(here, http=Web())
    assert choice.seats[0].vendor.name == "anthropic"
    assert "ANTHROPIC_API_KEY is set and nothing else is configured" in choice.why


async def test_a_token_that_serves_other_programs_is_no_reason_to_use_it(home: Path) -> None:
    with pytest.raises(NoModelAnswered):
        await chosen(config(home, GITHUB_TOKEN="g", HF_TOKEN="h"), http=Web())


async def test_a_named_endpoint_comes_first_with_the_model_it_lists_first(home: Path) -> None:
    here = config(home, OPENAI_BASE_URL="http://mine.example/v1", OPENAI_API_KEY="k", ANTHROPIC_API_KEY="a")
    choice = await chosen(here, http=Web(mine=listing("first", "second")))
    assert choice.why == "custom/first: OPENAI_BASE_URL is set and lists it first"
    assert choice.seats[0].endpoint.api_key == "k"


async def test_a_named_endpoint_with_a_named_model_is_not_even_asked(home: Path) -> None:
    here = config(home, OPENAI_BASE_URL="http://mine.example/v1", OPENAI_MODEL="mine")
    assert (await chosen(here)).name == "custom/mine"


async def test_a_named_endpoint_that_does_not_answer_is_not_passed_over(home: Path) -> None:
    here = config(home, OPENAI_BASE_URL="http://mine.example/v1", ANTHROPIC_API_KEY="a")
    with pytest.raises(NoModelAnswered, match="OPENAI_BASE_URL"):
        await chosen(here, http=Web())


async def test_a_local_server_is_taken_when_its_list_has_the_right_shape(home: Path) -> None:
    _moved(home, "lmstudio", "http://localhost/v1")
    web = Web(localhost=listing("nomic-embed-text", "qwen3"))
    choice = await chosen(config(home, ANTHROPIC_API_KEY="a"), http=web)
    assert choice.name == "lmstudio/qwen3"
    assert "runs on this machine" in choice.why
    assert len(web.asked) == len(models.LOCAL)


async def test_a_local_server_is_found_over_the_real_network(home: Path) -> None:
    http = HttpxClient()
    async with ModelServer([], models=("llama",)) as server:
        _moved(home, "vllm", f"{server.url}/v1")
        choice = await chosen(config(home), http=http)
        await http.aclose()
    assert choice.name == "vllm/llama"


@pytest.mark.parametrize(
    "body", [b"<html>hello</html>", b'{"data": "no"}', b'{"models": []}', b'{"data": []}']
)
async def test_an_open_port_alone_is_not_a_model(home: Path, body: bytes) -> None:
    _moved(home, "ollama", "http://localhost/v1")
    with pytest.raises(NoModelAnswered, match="no model is set up"):
        await chosen(config(home), http=Web(localhost=body))


async def test_only_this_machine_is_probed(home: Path) -> None:
    _moved(home, "ollama", "http://far.example/v1")
    web = Web(far=listing("m"))
    with pytest.raises(NoModelAnswered):
        await chosen(config(home), http=web)
    assert not [url for url in web.asked if "far" in url]


async def test_with_nothing_at_all_it_says_how_to_get_a_model(home: Path) -> None:
    with pytest.raises(NoModelAnswered) as caught:
        await chosen(config(home), http=Web())
    for way in ("hermes model use", "ANTHROPIC_API_KEY", "OPENAI_BASE_URL", "ollama", "install smollm2"):
        assert way in str(caught.value)


def test_the_demo_model_lies_where_every_home_finds_it() -> None:
    places: list[Mapping[str, str]] = [{"HOME": "/u"}, {"HOME": "/u", "XDG_CACHE_HOME": "/c"}]
    folders = [str(models.demo_folder(env)) for env in places]
    assert folders == ["/u/.cache/hermes/models", "/c/hermes/models"]


@pytest.mark.parametrize(("written", "life"), [("5m", True), ("1h", "1h"), ("'off'", False)])
async def test_the_life_of_a_cached_prompt_is_a_setting(
    tmp_path: Path, written: str, life: bool | str
) -> None:
    (tmp_path / "config.yaml").write_text(f"prompt_caching:\n  cache_ttl: {written}\n")
    config = load(tmp_path, environ={"ANTHROPIC_API_KEY": "K"})
    choice = await choose(config, NoNetwork(), "anthropic/claude-sonnet-4-5")
    assert choice.seats[0].endpoint.options["cache"] == life
