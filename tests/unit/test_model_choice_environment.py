"""OPENAI_BASE_URL: whose models are reached there, where its key goes, and that a choice made there lasts."""

import asyncio
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from anyio.from_thread import start_blocking_portal

from hermes.app import models
from hermes.app.front import command
from hermes.config.load import Config, load
from hermes.core.errors import ConfigError, Rejected
from hermes.core.http import Http
from hermes.testing.endpoint import Answer, ModelServer, Says

URL = "http://mine.example:8000/v1"
PRIVATE = {"OPENAI_BASE_URL": URL, "OPENAI_API_KEY": "private-key"}
ACME = """\
name = "acme"
title = "Acme"
wire = "openai_chat"
base_url = "{url}"
key_env = ["ACME_API_KEY"]
default = "rocket"

[models.rocket]
context = 128000
"""

Captured = pytest.CaptureFixture[str]


class NoNetwork:
    """An Http that must not be used."""

    def send(self, request: object) -> object:
        raise AssertionError(f"asked the network: {request}")


NOBODY: Http = NoNetwork()  # type: ignore[assignment]


def config(home: Path, yaml: str = "", flag: str = "", **env: str) -> Config:
    (home / "config.yaml").write_text(yaml)
    return load(home, environ={"HOME": str(home), **env}, flags={"model.default": flag} if flag else {})


def chosen(config: Config, model: str = "") -> models.Choice:
    return asyncio.run(models.choose(config, NOBODY, model))


def place(choice: models.Choice) -> tuple[str, str, str]:
    endpoint = choice.seats[0].endpoint
    return choice.name, endpoint.base_url, endpoint.api_key


# An endpoint of one's own


def test_custom_without_an_address_is_where_the_variable_says(tmp_path: Path) -> None:
    choice = chosen(config(tmp_path, "model: {provider: custom, default: m}", **PRIVATE))
    assert place(choice) == ("custom/m", URL, "private-key")
    assert choice.why == "custom/m at mine.example:8000 (OPENAI_BASE_URL): chosen in config.yaml:1"


def test_custom_with_neither_says_both_ways(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"model\.base_url URL`, or set OPENAI_BASE_URL"):
        chosen(config(tmp_path, "model: {provider: custom, default: m}"))


def test_a_session_held_there_finds_its_model_whatever_is_configured(tmp_path: Path) -> None:
    for yaml in ("", "model: {provider: ollama, default: q}", "model: {provider: custom, default: n}"):
        assert place(chosen(config(tmp_path, yaml, **PRIVATE), "custom/m")) == (
            "custom/m",
            URL,
            "private-key",
        )


def test_an_address_without_a_scheme_and_with_a_password_is_said_without_either(tmp_path: Path) -> None:
    env = {"OPENAI_BASE_URL": " me:secret@127.0.0.1:9/v1/ "}
    choice = chosen(config(tmp_path, "model: custom/m", **env))
    assert choice.seats[0].endpoint.base_url == "http://me:secret@127.0.0.1:9/v1"
    assert choice.why == "custom/m at 127.0.0.1:9 (OPENAI_BASE_URL): chosen in config.yaml:1"


# The key


def test_openai_is_reached_where_the_variable_says(tmp_path: Path) -> None:
    choice = chosen(config(tmp_path, flag="openai/gpt-4o", **PRIVATE))
    assert place(choice) == ("openai/gpt-4o", URL, "private-key")
    assert choice.why.startswith("openai/gpt-4o at mine.example:8000 (OPENAI_BASE_URL): ")
    assert place(chosen(config(tmp_path, "model: gpt-4o", **PRIVATE)))[1] == URL


def test_a_fallback_to_openai_goes_there_too_and_is_said_to(tmp_path: Path) -> None:
    text = "model: {provider: ollama, default: q}\nfallback_providers: [{provider: openai, model: gpt-4o}]\n"
    choice = chosen(config(tmp_path, text, **PRIVATE))
    assert choice.seats[1].endpoint.base_url == URL
    assert choice.why == (
        "ollama/q, then openai/gpt-4o at mine.example:8000 (OPENAI_BASE_URL): chosen in config.yaml:1"
    )


def test_without_the_variable_openai_is_at_home(tmp_path: Path) -> None:
    choice = chosen(config(tmp_path, "model: openai/gpt-4o", OPENAI_API_KEY="k"))
    assert place(choice) == ("openai/gpt-4o", "https://api.openai.com/v1", "k")
    assert choice.why == "openai/gpt-4o: chosen in config.yaml:1"


@pytest.mark.parametrize(
    "yaml",
    [
        "model: {provider: openai, default: gpt-4o, base_url: http://elsewhere/v1}",
        "model: openai/gpt-4o\nproviders: {openai: {base_url: http://elsewhere/v1}}",
    ],
)
def test_the_private_key_does_not_go_where_the_settings_move_openai(tmp_path: Path, yaml: str) -> None:
    with pytest.raises(Rejected, match=r"at elsewhere: OPENAI_API_KEY belongs to OPENAI_BASE_URL"):
        chosen(config(tmp_path, yaml, **PRIVATE))


def test_the_private_key_goes_to_a_configured_endpoint_only_at_the_same_address(tmp_path: Path) -> None:
    text = "model: {provider: custom, default: m, base_url: 'ADDRESS'}"
    same = chosen(config(tmp_path, text.replace("ADDRESS", f"{URL}/"), **PRIVATE))
    other = chosen(
        config(tmp_path, text.replace("ADDRESS", "http://other/v1"), **PRIVATE, CUSTOM_API_KEY="c")
    )
    assert place(same)[2] == "private-key"
    assert place(other)[2] == "c"


# A name for the model


@pytest.fixture
def acme(tmp_path: Path) -> Path:
    (tmp_path / "providers").mkdir()
    (tmp_path / "providers" / "acme.toml").write_text(ACME.format(url="http://acme.example/v1"))
    return tmp_path


@pytest.mark.parametrize(
    "yaml", ["", "model: {provider: ollama, default: q}", "model: {base_url: http://x/v1}"]
)
def test_a_provider_alone_means_its_default_model(acme: Path, yaml: str) -> None:
    for env in ({}, PRIVATE):
        choice = chosen(config(acme, yaml, flag="acme", ACME_API_KEY="a", **env))
        assert place(choice) == ("acme/rocket", "http://acme.example/v1", "a")


def test_a_provider_alone_in_the_settings_or_in_a_conversation(acme: Path) -> None:
    assert chosen(config(acme, "model: Acme", ACME_API_KEY="a")).name == "acme/rocket"
    here = config(acme, "model: {provider: openrouter, default: x}", ACME_API_KEY="a", GEMINI_API_KEY="g")
    assert chosen(here, "acme").name == "acme/rocket"
    assert chosen(here, "gemini").name.startswith("google/")


def test_the_configured_provider_alone_keeps_its_own_address(acme: Path) -> None:
    text = "model: {provider: acme, default: sled, base_url: http://proxy/v1, api_key: k}"
    assert place(chosen(config(acme, text, flag="acme"))) == ("acme/rocket", "http://proxy/v1", "k")


def test_a_provider_without_a_default_says_how_to_name_one(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="name one, ollama/MODEL"):
        chosen(config(tmp_path, flag="ollama"))


def test_a_session_held_with_a_file_finds_it_again(tmp_path: Path) -> None:
    path = tmp_path / "models" / "mine.gguf"
    with pytest.raises(ConfigError, match=f"no model file {path}"):
        chosen(config(tmp_path, f"model: {{provider: embedded, default: {path}}}"), "embedded/mine.gguf")


@pytest.mark.parametrize("url", ["http://[::1", "ftp://mine/v1", "my host/v1"])
def test_what_is_no_address_is_refused_at_once(tmp_path: Path, url: str) -> None:
    for name in ("custom/m", "openai/gpt-4o"):
        with pytest.raises(ConfigError, match=r"\(OPENAI_BASE_URL\) is none: write http://HOST:PORT/v1"):
            chosen(config(tmp_path, flag=name, OPENAI_BASE_URL=url, OPENAI_API_KEY="k"))
    with pytest.raises(ConfigError, match=r"\(in the settings\) is none"):
        chosen(config(tmp_path, f"model: {{default: m, base_url: '{url.removeprefix('http:')}'}}"))


def test_nearly_a_provider_is_answered_with_it(acme: Path) -> None:
    with pytest.raises(ConfigError, match="Did you mean 'acme'"):
        chosen(config(acme, flag="acmee"))
    with pytest.raises(ConfigError, match="Did you mean 'acme'"):
        chosen(config(acme, flag="acmee/of-tomorrow"))


def test_a_fallback_of_the_same_endpoint_needs_no_address_of_its_own(tmp_path: Path) -> None:
    text = "model: {default: m, base_url: 'http://x/v1', api_key: k}\nfallback_providers: [{model: n}]\n"
    seat = chosen(config(tmp_path, text)).seats[1]
    assert (seat.name, seat.endpoint.base_url, seat.endpoint.api_key) == ("custom/n", "http://x/v1", "k")


def test_what_an_endpoint_calls_its_model_cannot_break_the_line(tmp_path: Path) -> None:
    choice = chosen(config(tmp_path, OPENAI_MODEL="a\nb\x1b[2J", **PRIVATE))
    assert choice.why == r"custom/a b\x1b[2J: OPENAI_BASE_URL is set"


# The command


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A new home, and a machine on which nothing is set up."""
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "OPENAI_MODEL", "CUSTOM_API_KEY", "HERMES_MODEL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def hello(_: object) -> Answer:
    return Says("Hello.")


@pytest.fixture
def server(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    """An endpoint that the environment names. It runs beside the commands, which want the main thread."""
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(ModelServer(hello, models=("m", "n"))) as server,
    ):
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "private-key")
        yield server


def run(*lines: str) -> None:
    """Run commands, each of which succeeds."""
    for line in lines:
        assert command(line.split()) == 0, line


def process(line: str) -> str:
    """Run a command in a process of its own, as a conversation belongs to one. Returns its stderr."""
    words = [sys.executable, "-m", "hermes", *line.split()]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, "Hello.\n"), done.stderr
    return done.stderr


def test_a_model_chosen_on_a_named_endpoint_answers_from_then_on(
    server: ModelServer, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    run("model use m", "model", "model test")
    said = process("-z one")
    monkeypatch.delenv("OPENAI_BASE_URL")
    said += process("--continue -z two")
    assert said == "· custom/m: chosen in config.yaml:3\n· custom/m: this session's model\n"
    written, (out, err) = (home / "config.yaml").read_text(), capsys.readouterr()
    assert written.endswith(f"base_url: {server.url}/v1\n")
    assert "private-key" not in written + out + err
    assert "the key is not kept, it stays in OPENAI_API_KEY: `hermes config set CUSTOM_API_KEY`" in err
    assert out.count("custom/m: chosen in config.yaml:3\n") == 2
    keys = [asked.headers.get("authorization", "") for asked in server.asked]
    assert keys == ["Bearer private-key", "Bearer private-key", ""]  # at last it is OpenAI's key again


def test_a_session_held_on_a_named_endpoint_goes_on_there(server: ModelServer, home: Path) -> None:
    assert process("-z one") == "· custom/m: OPENAI_BASE_URL is set and lists it first\n"
    said = process("--continue -z two")
    assert re.fullmatch(r"· custom/m at 127\.0\.0\.1:\d+ \(OPENAI_BASE_URL\): this session's model\n", said)
    assert len(server.asked[1].json["messages"]) > len(server.asked[0].json["messages"])
    assert not (home / "config.yaml").exists()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("m", ""),
        ("acmee", "does not list 'acmee', only m, n. Did you mean the provider 'acme'?"),
        ("nosuchprovider", "does not list 'nosuchprovider', only m, n.\n"),
        ("openai/gpt-4o", "does not list 'gpt-4o', only m, n."),
    ],
)
def test_a_name_the_endpoint_does_not_list_is_kept_with_a_warning(
    acme: Path, server: ModelServer, capsys: Captured, name: str, said: str
) -> None:
    run(f"model use {name}")
    out, err = capsys.readouterr()
    assert f"{name} answers" in out
    assert said in err
    assert ("does not list" in err) == bool(said)


def test_another_endpoint_in_the_settings_is_said_to_count(
    server: ModelServer, home: Path, capsys: Captured
) -> None:
    (home / "config.yaml").write_text("model: {default: x, base_url: 'http://127.0.0.1:9/v1'}\n")
    run("model use y")
    err = capsys.readouterr().err
    assert "127.0.0.1:9 does not say now what it serves." in err
    assert "config.yaml says 127.0.0.1:9, so OPENAI_BASE_URL does not count" in err
    model = load(home, environ={}).settings.model
    assert (model.provider, model.default, model.base_url) == ("custom", "y", "http://127.0.0.1:9/v1")


def test_what_stands_in_the_homes_own_env_file_is_not_copied(home: Path) -> None:
    (home / ".env").write_text("OPENAI_BASE_URL=http://127.0.0.1:9/v1\nOPENAI_API_KEY=k\n")
    run("model use m")
    assert "base_url" not in (home / "config.yaml").read_text()
    assert place(chosen(load(home, environ={}))) == ("custom/m", "http://127.0.0.1:9/v1", "k")


def test_an_address_with_a_password_is_not_copied(
    server: ModelServer, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://me:secret@127.0.0.1:{server.port}/v1")
    run("model use m")
    assert "secret" not in (home / "config.yaml").read_text()


def test_a_model_of_a_server_on_this_machine_is_chosen_by_its_name(
    server: ModelServer, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL")
    (home / "providers").mkdir()
    for name in models.LOCAL:
        url = server.url if name == "vllm" else "http://127.0.0.1:9"
        text = (
            f'name = "{name}"\ntitle = "{name}"\nwire = "openai_chat"\nbase_url = "{url}/v1"\nlocal = true\n'
        )
        (home / "providers" / f"{name}.toml").write_text(text)
    run("model use n", "-z hello")
    assert "From now on vllm/n answers" in capsys.readouterr().out
    assert server.asked[0].json["model"] == "n"


def test_the_models_of_ones_own_endpoint_are_listed(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    run("model list custom", "model use m")
    monkeypatch.delenv("OPENAI_BASE_URL")
    run("model list custom")
    words = [line.partition(" ")[0] for line in capsys.readouterr().out.splitlines()]
    assert [word for word in words if word in ("m", "n")] == ["m", "n"] * 2
