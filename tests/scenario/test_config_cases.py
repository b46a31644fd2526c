"""Cases conf-02 and conf-03 of tests/cases/behaviour.yaml, with real processes on real files."""

import json
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from hermes.config import Home, load
from hermes.config.edit import put

SECRET = 'ab#cd "ef\\gh'

BY_HAND = """\
\ufeffFIRST_KEY=one
BASE_URL=https://llm.invalid/v1  # main endpoint
PROXY_URL=https://p.invalid/v1?FIRST_KEY=two
export NAME='a b'
"""

READER = """
import json, sys
from pathlib import Path
from hermes.config import load
print(json.dumps(dict(load(Path(sys.argv[1]), environ={}).env)))
"""


def environment(home: Path) -> dict[str, str]:
    names = {
        name: value for name, value in os.environ.items() if not name.startswith(("HERMES_", "TERMINAL_"))
    }
    return {**names, "HERMES_HOME": str(home)}


def hermes(home: Path, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "hermes", *words]
    return subprocess.run(
        command, capture_output=True, text=True, input=stdin, env=environment(home), check=False, timeout=30
    )


def read_by_another_process(home: Path) -> dict[str, str]:
    done = subprocess.run(
        [sys.executable, "-c", READER, str(home)], capture_output=True, text=True, check=True, timeout=30
    )
    values: dict[str, str] = json.loads(done.stdout)
    return values


def test_conf_02_a_secret_saved_by_the_command_comes_back_exactly(tmp_path: Path) -> None:
    done = hermes(tmp_path, "config", "set", "MY_SECRET", SECRET)
    assert done.returncode == 0, done.stderr
    assert SECRET not in done.stdout + done.stderr
    assert read_by_another_process(tmp_path) == {"MY_SECRET": SECRET}
    assert stat.S_IMODE((tmp_path / ".env").stat().st_mode) == 0o600


def test_conf_02_a_file_written_by_hand_is_read_as_meant_and_never_rewritten(tmp_path: Path) -> None:
    env = tmp_path / ".env"
    env.write_text(BY_HAND, encoding="utf-8")
    env.chmod(0o600)
    content, seen = env.read_bytes(), env.stat()
    expected = {
        "FIRST_KEY": "one",
        "BASE_URL": "https://llm.invalid/v1",
        "PROXY_URL": "https://p.invalid/v1?FIRST_KEY=two",
        "NAME": "a b",
    }
    assert read_by_another_process(tmp_path) == expected
    assert read_by_another_process(tmp_path) == dict(load(tmp_path, environ={}).env)
    assert hermes(tmp_path, "config", "show").returncode == 0
    assert hermes(tmp_path, "config", "check").returncode == 0
    assert env.read_bytes() == content
    assert (env.stat().st_mtime_ns, env.stat().st_ino) == (seen.st_mtime_ns, seen.st_ino)

    hermes(tmp_path, "config", "set", "MY_SECRET", SECRET)
    assert env.read_bytes() == content + f"MY_SECRET='{SECRET}'\n".encode()
    assert read_by_another_process(tmp_path) == {**expected, "MY_SECRET": SECRET}


FORTY = "\n".join(f"  key_{number}: value {number}   # note {number}" for number in range(40))
FILE = f"""\
# My agent. Written by hand.
model:
  default: "gpt-4"    # the good one
  api_key: ${{MY_KEY}}

display:
    tool_progress:   all # four spaces here
some_plugin:          # nobody knows this one
{FORTY}

timezone: Europe/Madrid
# the end
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "config.yaml").write_text(FILE, encoding="utf-8")
    (tmp_path / ".env").write_text("MY_KEY=k\n")
    return tmp_path


def test_conf_03_one_option_changes_and_nothing_else(home: Path) -> None:
    done = hermes(home, "config", "set", "display.tool_progress", "off")
    assert done.returncode == 0, done.stderr
    text = (home / "config.yaml").read_text(encoding="utf-8")
    assert text == FILE.replace("tool_progress:   all", 'tool_progress:   "off"')
    assert load(home, environ={}).settings.model.api_key == "k"


def test_conf_03_two_edits_at_once_both_survive(home: Path) -> None:
    """One process edits the model while others change the time zone and much else."""
    keys = [("some_plugin", f"key_{number}") for number in range(10)]
    threads = [threading.Thread(target=put, args=(Home(home), {key: "new"})) for key in keys]
    words = ["-m", "hermes", "config", "set"]
    others = [
        subprocess.Popen([sys.executable, *words, *pair], env=environment(home), stdout=subprocess.DEVNULL)
        for pair in (("model.default", "gpt-5"), ("timezone", "Asia/Tokyo"), ("agent.max_turns", "7"))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [process.wait(30) for process in others] == [0, 0, 0]
    config = load(home, environ={})
    assert config.settings.model.default == "gpt-5"
    assert config.settings.agent.max_turns == 7
    assert config.raw("timezone") == "Asia/Tokyo"
    expected = FILE.replace('"gpt-4"', '"gpt-5"').replace("Europe/Madrid", "Asia/Tokyo")
    for number in range(10):
        expected = expected.replace(f"key_{number}: value {number} ", f"key_{number}: new ")
    assert (home / "config.yaml").read_text() == f"{expected}agent:\n  max_turns: 7\n"


def test_conf_03_a_previous_version_can_be_restored(home: Path) -> None:
    hermes(home, "config", "set", "model.default", "gpt-5")
    hermes(home, "config", "unset", "timezone")
    assert hermes(home, "config", "restore", "2").returncode == 0
    assert (home / "config.yaml").read_text(encoding="utf-8") == FILE


def test_a_killed_edit_leaves_the_old_file_or_the_new_one(home: Path) -> None:
    """kill -9 at any moment of an edit: the file is whole, and the next edit works."""
    script = (
        "import os, sys; from pathlib import Path; from hermes.config import Home\n"
        "from hermes.config.edit import put\n"
        "for n in range(100000):\n"
        "    put(Home(Path(sys.argv[1])), {('agent', 'max_turns'): n}); print(n, flush=True)\n"
    )
    for round_ in range(6):
        with subprocess.Popen([sys.executable, "-c", script, str(home)], stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            for _ in range(round_):
                process.stdout.readline()
            process.kill()
        text = (home / "config.yaml").read_text()
        assert text.startswith(FILE)
        assert load(home, environ={}).settings.agent.max_turns in range(91)
        put(Home(home), {}, [("agent", "max_turns")])
        assert not list(home.glob("*.new-*"))


def test_broken_yaml_is_exit_2_with_one_line_and_edit_still_works(home: Path) -> None:
    (home / "config.yaml").write_text("model: gpt\nagent: [\n")
    done = hermes(home, "sessions", "list")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert "config.yaml:3:1: not valid YAML" in done.stderr
    assert hermes(home, "config", "path").stdout == f"{home}/config.yaml\n"
