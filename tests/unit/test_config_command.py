"""hermes config: the verbs, what they print and what they leave in the files."""

import argparse
import io
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hermes.app.ops import config as op
from hermes.config import Home, load, reference
from hermes.config.edit import change, forget, put, stored
from hermes.config.secrets import is_secret, masked, shown
from hermes.core.errors import ConfigError

SECRET = 'ab#cd "ef\\gh'
KEY = "sk-abcdefghijklmnopqrstuvwxyz012345"


class Command:
    """hermes config on one home."""

    def __init__(self, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.home = home
        self.capsys = capsys
        self.out = self.err = ""

    def __call__(self, *words: str, profile: str = "") -> int:
        parser = argparse.ArgumentParser()
        op.arguments(parser)
        args = parser.parse_args(words)
        args.home, args.profile = self.home, profile
        code = op.run(args, None)
        self.out, self.err = self.capsys.readouterr()
        return code

    @property
    def text(self) -> str:
        return (self.home / "config.yaml").read_text(encoding="utf-8")


@pytest.fixture
def config(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    for name in ("VISUAL", "EDITOR", "HERMES_HOME", "HERMES_AGENT_MAX_TURNS"):
        monkeypatch.delenv(name, raising=False)
    return Command(tmp_path / "home", capsys)


def test_set_then_get(config: Command) -> None:
    assert config("set", "agent.max_turns", "40") == 0
    assert config("get", "agent.max_turns") == 0
    assert config.out == "40\n"
    assert config.text == "agent:\n  max_turns: 40\n"
    assert stat.S_IMODE(config.home.stat().st_mode) == 0o700
    assert stat.S_IMODE((config.home / "config.yaml").stat().st_mode) == 0o600


def test_looking_makes_nothing(config: Command) -> None:
    for words in (["path"], ["env-path"], ["show"], ["check"], ["get", "model"], ["explain", "model"]):
        assert config(*words) == 0
    assert config("get", "agent.max_turn") == 1
    assert config("unset", "model") == 1
    assert config("unset", "MODEL_KEY") == 1
    assert config("migrate") == 0
    assert config("get", "model", profile="work") == 2
    assert not config.home.exists()


def test_get_prints_a_section(config: Command) -> None:
    assert config("get", "tool_loop_guardrails") == 0
    assert "warnings_enabled: true\nhard_stop_enabled: false\n" in config.out
    assert "warn_after:\n  exact_failure: 2\n" in config.out
    assert config("get", "--json", "tool_loop_guardrails.loop_caps") == 0
    assert config.out == '{"max_web_searches": 50, "max_subagents": 50}\n'
    assert config("get", "display.show_reasoning") == 0
    assert config.out == "true\n"


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("agent.max_turn", "agent.max_turn is not a setting. Did you mean agent.max_turns?"),
        ("modle", "modle is not a setting. Did you mean model?"),
        ("compression.threshold", "compression.threshold is not set."),
        ("providers.mine.base_url", "providers.mine.base_url is not set."),
        ("NO_SUCH_KEY", "NO_SUCH_KEY is not set."),
    ],
)
def test_get_of_what_is_not_there(config: Command, key: str, said: str) -> None:
    assert config("get", key) == 1
    assert config.err == f"{said}\n"
    assert config.out == ""


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        (
            "agent.max_turns",
            "many",
            "agent.max_turns must be a whole number of at least 0, not the text 'many'.",
        ),
        ("agent.max_turns", "-1", "agent.max_turns must be a whole number of at least 0, not the text '-1'."),
        ("agent.max_turn", "1", "agent.max_turn is not a setting. Did you mean agent.max_turns?"),
        (
            "approvals.mode",
            "maybe",
            "approvals.mode must be one of manual, smart, off, not the text 'maybe'.",
        ),
        ("terminal", "docker", "terminal must be keys and values"),
        ("terminal", "{timout: 3}", "terminal.timout is not a setting"),
        (
            "streaming.edit_intervall",
            "1",
            "streaming.edit_intervall is not a setting. Did you mean streaming.edit",
        ),
        ("agent..x", "1", "'agent..x' is no key"),
    ],
)
def test_set_refuses_what_would_not_work(config: Command, key: str, value: str, said: str) -> None:
    assert config("set", "--", key, value) == 2
    assert said in config.err
    assert not (config.home / "config.yaml").exists()


def test_set_takes_lists_sections_and_words(config: Command) -> None:
    for key, value in (
        ("approvals.deny", '["rm -rf *", "dd *"]'),
        ("command_allowlist", "git status, ls"),
        ("approvals.mode", "off"),
        ("display.show_reasoning", "no"),
        ("terminal", "{timeout: 5, cwd: /x}"),
        ("providers.mine", "{base_url: http://localhost:1/v1}"),
        ("fallback_providers", "[{provider: mine, model: a}]"),
        ("fallback_providers.0.model", "b"),
    ):
        assert config("set", key, value) == 0, config.err
    settings = load(config.home, environ={}).settings
    assert settings.approvals.deny == ("rm -rf *", "dd *")
    assert settings.command_allowlist == ("git status", "ls")
    assert settings.approvals.mode == "off"
    assert settings.display.show_reasoning is False
    assert (settings.terminal.timeout, settings.terminal.cwd) == (5, "/x")
    assert settings.providers["mine"].base_url == "http://localhost:1/v1"
    assert settings.fallback_providers[0].model == "b"


def test_the_short_form_of_model_grows_when_it_must(config: Command) -> None:
    config("set", "model", "gpt")
    assert config.text == "model: gpt\n"
    config("set", "model.default", "gpt-2")
    assert config.text == "model: gpt-2\n"
    config("set", "model.provider", "mine")
    assert config.text == "model:\n  default: gpt-2\n  provider: mine\n"
    config("set", "model", "gpt-3")
    assert config.text == "model:\n  default: gpt-3\n  provider: mine\n"
    config("unset", "model.default")
    assert config.text == "model:\n  provider: mine\n"


def test_a_key_of_a_later_feature_is_kept_with_a_note(config: Command) -> None:
    assert config("set", "compression.threshold", "0.7") == 0
    assert "does not use it yet" in config.err
    assert config("get", "compression.threshold") == 0
    assert config.out == "0.7\n"
    assert config("set", "my_plugin.colour", "red") == 2
    assert config("set", "--force", "my_plugin.colour", "red") == 0
    assert config("get", "my_plugin.colour") == 0
    assert config("check") == 1
    assert "config.yaml:3: my_plugin is not a setting" in config.out


def test_set_says_when_something_else_still_counts(config: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HERMES_AGENT_MAX_TURNS", "3")
    assert config("set", "agent.max_turns", "9") == 0
    assert config.err == "Note: HERMES_AGENT_MAX_TURNS still counts before it.\n"


def test_a_secret_goes_to_the_env_file_and_is_never_printed(config: Command) -> None:
    assert config("set", "model", "m") == 0
    assert config("set", "model.api_key", KEY) == 0
    assert config("set", "OTHER_TOKEN", SECRET) == 0
    env = config.home / ".env"
    assert stat.S_IMODE(env.stat().st_mode) == 0o600
    assert KEY not in config.text
    assert "api_key: ${HERMES_MODEL_API_KEY}" in config.text.replace('"', "")
    assert load(config.home, environ={}).settings.model.api_key == KEY
    assert load(config.home, environ={}).env["OTHER_TOKEN"] == SECRET
    printed = ""
    for words in (["show"], ["get", "model.api_key"], ["get", "model"], ["get", "OTHER_TOKEN"], ["check"]):
        assert config(*words) == 0
        printed += config.out + config.err
    config("explain", "model.api_key")
    printed += config.out + config.err
    assert KEY not in printed
    assert KEY[8:-4] not in printed
    assert SECRET not in printed
    assert "sk-…2345" in printed


def test_a_secret_written_into_the_file_is_masked_and_can_be_moved_out(config: Command) -> None:
    config.home.mkdir()
    (config.home / "config.yaml").write_text(
        f"model: {{default: m, api_key: {KEY}}}\nmcp_servers:\n  a: {{token: {KEY}}}\n"
    )
    config("show")
    assert KEY not in config.out
    config("get", "mcp_servers")
    assert KEY not in config.out
    config("explain", "model.api_key")
    assert KEY not in config.out
    assert config("set", "model.api_key", KEY) == 0
    assert config("set", "mcp_servers.a.token", KEY) == 0
    assert KEY not in config.text
    assert load(config.home, environ={}).raw("mcp_servers.a.token") == KEY


def test_a_reference_is_written_as_it_is(config: Command) -> None:
    assert config("set", "model.api_key", "${MY_KEY}") == 0
    assert stored(Home(config.home), ("model", "api_key")) == "${MY_KEY}"
    assert config("set", "agent.max_turns", "${TURNS}") == 0
    assert config("set", "MY_KEY", "k") == 0
    assert config("set", "TURNS", "7") == 0
    assert load(config.home, environ={}).settings.agent.max_turns == 7
    assert config("set", "agent.clarify_timeout", "5") == 0
    assert "${MY_KEY}" in config.text
    assert "${TURNS}" in config.text


def test_unset_takes_the_secret_along(config: Command) -> None:
    config("set", "model.api_key", KEY)
    assert config("unset", "model.api_key") == 0
    assert KEY not in (config.home / ".env").read_text()
    assert config("unset", "model.api_key") == 1
    config("set", "X_KEY", "1")
    assert config("unset", "X_KEY") == 0
    assert (config.home / ".env").read_text() == ""


def test_a_value_can_come_from_stdin(config: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{KEY}\n"))
    assert config("set", "MY_KEY") == 0
    assert load(config.home, environ={}).env["MY_KEY"] == KEY


def test_check_reports_everything_with_its_place(config: Command) -> None:
    config.home.mkdir()
    (config.home / "config.yaml").write_text(
        "agent:\n  max_turnss: 1\n  max_turns: x\ncron: {}\nmodel: ${NO_KEY}\n"
    )
    (config.home / ".env").write_text("what\n")
    (config.home / ".env").chmod(0o644)
    assert config("check") == 2
    assert config.out.splitlines() == [
        ".env:1: this line is not NAME=value; it may not mean what it says.",
        "config.yaml:5: model uses ${NO_KEY}, which is not set; "
        "put it into .env: hermes config set NO_KEY VALUE",
        "config.yaml:2: agent.max_turnss is not a setting; it has no effect. Did you mean agent.max_turns?",
        "config.yaml:3: agent.max_turns must be a whole number of at least 0, not the text 'x'.",
        "config.yaml:4: cron is understood and kept, but not used yet.",
        f".env: other users can read it; make it yours alone: chmod 600 {config.home}/.env",
    ]


def test_check_is_content_with_keys_of_later_features(config: Command) -> None:
    config("set", "cron.provider", "x")
    assert config("check") == 0
    assert "nothing to put right" in config.out


def test_a_broken_file_stops_edits_but_not_the_way_to_it(config: Command) -> None:
    config.home.mkdir()
    (config.home / "config.yaml").write_text("a: [\n")
    for words in (
        ["set", "model", "x"],
        ["set", "model.api_key", KEY],
        ["show"],
        ["get", "model"],
        ["check"],
        ["migrate"],
    ):
        assert config(*words) == 2, words
        assert config.err.startswith("config.yaml:2:1: not valid YAML")
    assert config.text == "a: [\n"
    assert not (config.home / ".env").exists()
    assert config("path") == 0
    assert config.out == f"{config.home}/config.yaml\n"
    assert config("env-path") == 0
    assert config.out == f"{config.home}/.env\n"


def test_explain_says_where_a_value_comes_from(config: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    config("set", "agent.max_turns", "40")
    monkeypatch.setenv("HERMES_AGENT_MAX_TURNS", "3")
    assert config("explain", "agent.max_turns") == 0
    assert config.out.splitlines() == [
        "agent.max_turns: The most model calls of one turn; 0 means no limit.",
        "  takes      a whole number of at least 0",
        "  default    90",
        "  variables  HERMES_AGENT_MAX_TURNS, HERMES_MAX_ITERATIONS",
        "  now        3",
        "  from       the environment: HERMES_AGENT_MAX_TURNS",
        "  overrides  40 from config.yaml:2",
    ]
    assert config("explain", "agent.max_turn") == 1
    assert config("explain", "cron.provider") == 0
    assert "does not use it yet" in config.out


def test_show_says_where_each_value_comes_from(config: Command) -> None:
    config("set", "terminal.timeout", "7")
    config("set", "cron.provider", "x")
    assert config("show") == 0
    assert (
        "  timeout: 7.0  # config.yaml:2\n" in config.out or "  timeout: 7  # config.yaml:2\n" in config.out
    )
    assert "  max_turns: 90\n" in config.out
    assert "cron: {provider: x}  # config.yaml:3, kept, not used yet\n" in config.out


def test_migrate_renames_and_keeps_the_former_version(config: Command) -> None:
    before = (
        "# mine\ntool_loop_guardrails:\n  exact_failure_warn_after: 4  # a\n  warnings_enabled: true # b\n"
        "fallback_model: {provider: p, model: m}\ncustom_providers:\n- name: mine\n  base_url: http://x\n"
    )
    config.home.mkdir()
    (config.home / "config.yaml").write_text(before)
    old = load(config.home, environ={}).settings
    assert config("migrate") == 0
    assert "tool_loop_guardrails.exact_failure_warn_after is gone" in config.out
    assert config.text == (
        "# mine\ntool_loop_guardrails:\n  warnings_enabled: true # b\n  warn_after:\n    exact_failure: 4\n"
        'fallback_providers: [{provider: p, model: m}]\nproviders:\n  mine: {base_url: "http://x"}\n'
    ).replace('"http://x"', "http://x")
    assert load(config.home, environ={}).settings == old
    assert load(config.home, environ={}).notice == ""
    assert (config.home / "config.yaml.bak-1").read_text() == before
    assert config("migrate") == 0
    assert "nothing has an old name" in config.out


def test_former_versions_can_be_brought_back(config: Command) -> None:
    assert config("restore") == 1
    for turns in range(1, 9):
        config("set", "agent.max_turns", str(turns))
    assert config("restore") == 0
    assert [line.split()[0] for line in config.out.splitlines()] == ["1", "2", "3", "4", "5"]
    assert config("restore", "3") == 0
    assert config.text == "agent:\n  max_turns: 5\n"
    assert config("restore", "1") == 0
    assert config.text == "agent:\n  max_turns: 8\n"
    assert config("restore", "9") == 2


def editor(tmp_path: Path, *bodies: str) -> str:
    """An editor that does one thing after another each time it is opened."""
    script = tmp_path / "editor.py"
    steps = tmp_path / "steps"
    steps.mkdir(exist_ok=True)
    for number, body in enumerate(bodies):
        (steps / f"{number}").write_text(body)
    script.write_text(
        "import pathlib, sys\n"
        f"step = min(pathlib.Path({str(steps)!r}).iterdir())\n"
        "draft = pathlib.Path(sys.argv[1])\n"
        "exec(step.read_text())\n"
        "step.unlink()\n"
    )
    return f"{sys.executable} {script}"


@pytest.fixture
def person(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """Somebody at a terminal."""
    answers = io.StringIO()
    monkeypatch.setattr(answers, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stdin", answers)
    return answers


def drafts(home: Path) -> list[Path]:
    return list(home.glob(".config-*.yaml"))


def test_edit_checks_before_it_saves(
    config: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, person: io.StringIO
) -> None:
    config("set", "model", "a")
    bad = "draft.write_text('model: [1]\\n')"
    worse = "draft.write_text('model: [1\\n')"
    good = "draft.write_text('model: b # mine\\n')"
    monkeypatch.setenv("EDITOR", editor(tmp_path, bad, worse, good))
    person.write("e\ne\n")
    person.seek(0)
    assert config("edit") == 0
    assert "config.yaml:1: model must be" in config.err
    assert "not valid YAML" in config.err
    assert config.text == "model: b # mine\n"
    assert (config.home / "config.yaml.bak-1").read_text() == "model: a\n"
    assert drafts(config.home) == []


def test_edit_can_be_discarded(
    config: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, person: io.StringIO
) -> None:
    config("set", "model", "a")
    monkeypatch.setenv("VISUAL", editor(tmp_path, "draft.write_text('model: [1\\n')"))
    person.write("d\n")
    person.seek(0)
    assert config("edit") == 2
    assert config.text == "model: a\n"
    assert drafts(config.home) == []


def test_edit_puts_a_broken_file_right(
    config: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config.home.mkdir()
    (config.home / "config.yaml").write_text("model: [\n")
    monkeypatch.setenv("EDITOR", editor(tmp_path, "draft.write_text('model: ok\\n')"))
    assert config("edit") == 0
    assert load(config.home, environ={}).settings.model.default == "ok"


def test_edit_loses_neither_side_of_a_conflict(
    config: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config("set", "model", "a")
    other = f"pathlib.Path({str(config.home / 'config.yaml')!r}).write_text('model: theirs\\n')\n"
    monkeypatch.setenv("EDITOR", editor(tmp_path, other + "draft.write_text('model: mine\\n')"))
    assert config("edit") == 1
    assert "changed meanwhile" in config.err
    assert config.text == "model: theirs\n"
    assert [draft.read_text() for draft in drafts(config.home)] == ["model: mine\n"]


def test_edit_without_a_change_or_an_editor(
    config: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config("set", "model", "a")
    monkeypatch.setenv("EDITOR", editor(tmp_path, "pass", "sys.exit(3)"))
    assert config("edit") == 0
    assert config.out == "Nothing was changed.\n"
    assert config("edit") == 1
    monkeypatch.setenv("EDITOR", "/no/such/editor")
    assert config("edit") == 2
    assert "cannot be started" in config.err
    assert drafts(config.home) == []


def test_a_profile_is_made_by_its_first_setting(config: Command) -> None:
    assert config("set", "model", "base") == 0
    assert config("get", "model.default", profile="work") == 2
    assert config("set", "model", "mine", profile="work") == 0
    assert config("get", "model.default", profile="work") == 0
    assert config.out == "mine\n"
    assert config("get", "model.default") == 0
    assert config.out == "base\n"
    assert config("path", profile="../x") == 2


def test_a_link_stays_a_link_and_rights_stay(config: Command, tmp_path: Path) -> None:
    config.home.mkdir()
    real = tmp_path / "dotfiles.yaml"
    real.write_text("model: a\n")
    real.chmod(0o640)
    (config.home / "config.yaml").symlink_to(real)
    assert config("set", "model", "b") == 0
    assert (config.home / "config.yaml").is_symlink()
    assert real.read_text() == "model: b\n"
    assert stat.S_IMODE(real.stat().st_mode) == 0o640


def test_a_full_disk_leaves_the_file_as_it_was(config: Command) -> None:
    """The file size limit of a process stands for the disk: the write fails half way."""
    config("set", "model", "a")
    script = (
        "import resource, signal, sys; from pathlib import Path\n"
        "from hermes.config import Home; from hermes.config.edit import change\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))\n"
        "change(Home(Path(sys.argv[1])), 'model', 'x' * 9000)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, config.home], capture_output=True, text=True, check=False
    )
    assert "could not be written: File too large. It is as it was." in done.stderr
    assert config.text == "model: a\n"
    assert sorted(path.name for path in config.home.iterdir()) == [
        ".config.lock",
        "config.yaml",
        "config.yaml.bak-1",
    ]


def test_an_unwritable_home_is_one_clear_message(config: Command) -> None:
    config.home.write_text("a file in the way")
    assert config("set", "model", "a") == 2
    assert config.err == f"{config.home} cannot be written: File exists. Check its owner and rights.\n"


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text().filter(lambda text: "${" not in text))
def test_any_text_set_is_the_text_got(tmp_path: Path, text: str) -> None:
    at = Home(tmp_path)
    change(at, "terminal.cwd", text)
    change(at, "SOME_TOKEN", text)
    config = load(tmp_path, environ={})
    assert config.raw("terminal.cwd") == text
    assert config.settings.terminal.cwd == text
    assert config.env["SOME_TOKEN"] == text


def test_many_changes_are_one_edit(tmp_path: Path) -> None:
    at = Home(tmp_path)
    put(at, {("agent", "max_turns"): 1})
    put(at, {("agent", "max_turns"): 2, ("model", "default"): "m"}, [("agent", "max_turns")])
    assert load(tmp_path, environ={}).settings.model.default == "m"
    assert load(tmp_path, environ={}).settings.agent.max_turns == 90
    with pytest.raises(ConfigError):
        put(at, {("agent", "max_turns"): 3, ("model", "x", "y"): "\udc80"})
    assert load(tmp_path, environ={}).settings.agent.max_turns == 90
    assert forget(at, "agent.max_turns") == []


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        ("OPENAI_API_KEY", True),
        ("model.api_key", True),
        ("MYSQL_PASS", True),
        ("PARTNER_DSN", True),
        ("botToken", True),
        ("headers.Authorization", True),
        ("basic_auth.password_hash", True),
        ("agent.max_tokens", False),
        ("model.max_tokens", False),
        ("providers.x.key_env", False),
        ("PAGE_KEY_COUNT", False),
        ("display.tool_progress", False),
        ("keyboard", False),
        ("command_allowlist", False),
    ],
)
def test_which_names_hold_secrets(name: str, secret: bool) -> None:
    assert is_secret(name) is secret


def test_what_is_shown_of_a_secret() -> None:
    assert masked(KEY) == "sk-…2345"
    assert masked("short") == "…"
    assert masked("a long pass phrase with spaces") == "…"
    assert shown("database.url", "postgres://svc:Tango4x@db/x") == "postgres://svc:…@db/x"
    assert shown("model.api_key", "${KEY}") == "${KEY}"
    assert shown("x", {"a": [{"token": KEY}], "n": 1}) == {"a": [{"token": "sk-…2345"}], "n": 1}


def test_the_reference_page_has_every_key_and_its_line() -> None:
    page = reference.markdown()
    assert "| `agent.max_turns` | a whole number of at least 0 | `90` | `HERMES_AGENT_MAX_TURNS`" in page
    assert "`providers.*.base_url`" in page
    assert "`mcp_servers`" in page
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    assert all(not row.endswith("|  |") for row in rows)
