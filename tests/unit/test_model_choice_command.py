"""hermes model: what it lists, how it chooses, what a test request tells."""

import argparse
import asyncio
from pathlib import Path

import pytest

from hermes.app.ops import model
from hermes.config.load import load
from hermes.core.errors import ConfigError, ModelError
from hermes.testing.endpoint import Answer, Fails, ModelServer, Says

MINE = """\
# mine
model:
  provider: custom  # at home
  default: m
  base_url: {url}
  api_key: secret-key
"""


def run(home: Path, *words: str, **env: str) -> int:
    parser = argparse.ArgumentParser()
    model.arguments(parser)
    return model.run(parser.parse_args(words), load(home, environ={"HOME": str(home), **env}))


async def _served(home: Path, words: tuple[str, ...], *script: Answer) -> int:
    async with ModelServer(list(script), models=("m", "n")) as server:
        (home / "config.yaml").write_text(MINE.format(url=server.url))
        return await asyncio.to_thread(run, home, *words)


def test_it_says_which_one_answers_and_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "config.yaml").write_text("model: openai/gpt-4o\n")
    assert run(tmp_path, OPENAI_API_KEY="k") == 0
    assert capsys.readouterr().out == (
        "openai/gpt-4o: chosen in config.yaml:1\n"
        "window 128k; $2.5 in, $10 out per million tokens; tools; vision\n"
    )


def test_the_list_shows_every_vendor_and_whose_key_is_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, "list", GEMINI_API_KEY="k") == 0
    out = capsys.readouterr().out
    assert "GEMINI_API_KEY is set" in out
    assert all(name in out for name in ("anthropic", "zai", "vllm", "MISTRAL_API_KEY", "none needed"))


def test_the_models_of_one_vendor_with_price_and_abilities(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, "list", "claude") == 0
    out = capsys.readouterr().out
    assert "https://console.anthropic.com" in out
    (line,) = [line for line in out.splitlines() if line.startswith("claude-sonnet-4-5 ")]
    assert line.split() == [
        "claude-sonnet-4-5",
        "200k",
        "64k",
        "3",
        "15",
        "0.3",
        "tools,",
        "vision,",
        "reasoning",
    ]


def test_choosing_keeps_the_rest_of_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "config.yaml").write_text(MINE.format(url="http://h/v1"))
    assert run(tmp_path, "use", "claude-sonnet-4-5", ANTHROPIC_API_KEY="k") == 0
    text = (tmp_path / "config.yaml").read_text()
    assert text == "# mine\nmodel:\n  provider: anthropic  # at home\n  default: claude-sonnet-4-5\n"
    assert "From now on anthropic/claude-sonnet-4-5 answers" in capsys.readouterr().out


def test_choosing_another_model_of_the_same_endpoint_keeps_the_endpoint(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(MINE.format(url="http://h/v1"))
    assert run(tmp_path, "use", "custom/other") == 0
    settings = load(tmp_path, environ={}).settings.model
    assert (settings.default, settings.base_url, settings.api_key) == ("other", "http://h/v1", "secret-key")


def test_a_missing_key_is_noted_and_the_choice_stands(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, "use", "gemini") == 0
    assert "There is no key for Google Gemini" in capsys.readouterr().err
    assert load(tmp_path, environ={}).settings.model.provider == "google"


def test_a_model_nobody_is_known_to_serve_is_not_chosen(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="Did you mean 'claude-sonnet-5'"):
        run(tmp_path, "use", "claude-sonet-5")
    assert not (tmp_path / "config.yaml").exists()


def test_a_test_tells_time_tokens_and_whether_tools_are_called(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    says = Says(calls=(("ready", {"word": "yes"}),), usage=(40, 7, 0))
    assert asyncio.run(_served(tmp_path, ("test",), says)) == 0
    out = capsys.readouterr().out
    assert "custom/m: chosen in config.yaml:4" in out
    assert "40 tokens in, 7 out." in out
    assert "It calls tools." in out
    assert "secret-key" not in out


def test_a_model_that_only_talks_is_said_to(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert asyncio.run(_served(tmp_path, ("test",), Says("I am ready."))) == 0
    assert "It did not call the tool" in capsys.readouterr().out


def test_a_wrong_key_is_one_clear_message(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="key"):
        asyncio.run(_served(tmp_path, ("test",), Fails("auth")))


def test_what_an_endpoint_serves_now_is_asked_when_wanted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async def listed() -> None:
        async with ModelServer([], models=("llama", "qwen")) as server:
            (tmp_path / "providers").mkdir()
            file = (
                f'name = "ollama"\ntitle = "O"\nwire = "openai_chat"\nlocal = true\nbase_url = "{server.url}"'
            )
            (tmp_path / "providers" / "ollama.toml").write_text(file)
            assert await asyncio.to_thread(run, tmp_path, "list", "ollama") == 0

    asyncio.run(listed())
    out = capsys.readouterr().out
    assert "llama" in out
    assert "qwen" in out
