"""Loading settings: precedence and origins, what is said about wrong, unknown, old and later keys."""

import os
from pathlib import Path

import pytest

from hermes.config import Config, Origin, load
from hermes.config.schema import HardStopAfter, LoopCaps, Settings, WarnAfter
from hermes.core.errors import ConfigError


def home(folder: Path, config: str = "", env: str = "", **profiles: str) -> Path:
    """A home with these files, and profiles with these settings."""
    folder.mkdir(parents=True, exist_ok=True)
    if config:
        (folder / "config.yaml").write_text(config, encoding="utf-8")
    if env:
        (folder / ".env").write_text(env, encoding="utf-8")
    for name, text in profiles.items():
        home(folder / "profiles" / name, text)
    return folder


def said(config: Config) -> list[tuple[str, int, str, str, str]]:
    """What is to be put right, and keys of later features that the schema does not have yet."""
    typed = Settings.__struct_fields__
    return [
        (p.file, p.line, p.key, p.kind, p.nearest)
        for p in config.problems
        if p.kind != "later" or p.key.split(".")[0] not in typed or p.key.startswith("providers.")
    ]


def test_an_empty_home_gives_the_documented_defaults_and_stays_unmade(tmp_path: Path) -> None:
    config = load(tmp_path / "none", environ={})
    guard = config.settings.tool_loop_guardrails
    assert guard.warn_after == WarnAfter(
        exact_failure=2,
        same_tool_failure=3,
        idempotent_no_progress=2,
        identical_call=3,
        cycle=3,
        no_progress=6,
    )
    assert guard.hard_stop_after == HardStopAfter(
        exact_failure=5,
        same_tool_failure=8,
        idempotent_no_progress=5,
        identical_call=5,
        cycle=5,
        no_progress=12,
    )
    assert guard.loop_caps == LoopCaps(max_web_searches=50, max_subagents=50)
    assert (guard.warnings_enabled, guard.hard_stop_enabled) == (True, False)
    assert guard.non_interactive_hard_stop_enabled
    assert config.settings.agent.max_turns == 90
    assert config.settings.terminal.timeout == 180
    assert config.settings.approvals.mode == "smart"
    assert config.origin("agent.max_turns") == Origin("default")
    assert not (tmp_path / "none").exists()


FILE, PROFILE, VARIABLE, FLAG = "11", "22", "33", "44"


@pytest.mark.parametrize(
    ("file", "profile", "variable", "flag", "value", "origin"),
    [
        (0, 0, 0, 0, 90, Origin("default")),
        (1, 0, 0, 0, 11, Origin("file", "config.yaml:2")),
        (1, 1, 0, 0, 22, Origin("profile", "profiles/work/config.yaml:3")),
        (0, 1, 0, 0, 22, Origin("profile", "profiles/work/config.yaml:3")),
        (1, 1, 1, 0, 33, Origin("environment", "HERMES_AGENT_MAX_TURNS")),
        (0, 0, 1, 0, 33, Origin("environment", "HERMES_AGENT_MAX_TURNS")),
        (1, 1, 1, 1, 44, Origin("flag", "command line")),
        (1, 0, 0, 1, 44, Origin("flag", "command line")),
        (0, 0, 0, 1, 44, Origin("flag", "command line")),
    ],
)
def test_precedence(
    tmp_path: Path, file: int, profile: int, variable: int, flag: int, value: int, origin: Origin
) -> None:
    at = home(
        tmp_path,
        "agent:\n  max_turns: 11\n" if file else "",
        work="# mine\nagent:\n  max_turns: 22\n" if profile else "# nothing\n",
    )
    config = load(
        at,
        "work",
        {"HERMES_AGENT_MAX_TURNS": "33"} if variable else {},
        {"agent.max_turns": 44 if flag else None},
    )
    assert config.settings.agent.max_turns == value
    assert config.origin("agent.max_turns") == origin
    assert config.home == tmp_path / "profiles" / "work"


def test_variables_of_env_files_lie_under_those_of_the_process(tmp_path: Path) -> None:
    at = home(tmp_path, env="A=home\nB=home\nC=home\n", work="")
    home(tmp_path / "profiles" / "work", env="B=profile\nC=profile\n")
    config = load(at, "work", {"C": "process"})
    assert dict(config.env) == {"A": "home", "B": "profile", "C": "process"}
    assert config.env.where("A") == "A in .env:1"
    assert config.env.where("B") == "B in profiles/work/.env:1"
    assert config.env.where("C") == "C"


def test_a_setting_may_stand_in_the_env_file(tmp_path: Path) -> None:
    config = load(home(tmp_path, env="\nTERMINAL_TIMEOUT=7\n"), environ={})
    assert config.settings.terminal.timeout == 7
    assert config.origin("terminal.timeout") == Origin("environment", "TERMINAL_TIMEOUT in .env:2")


def test_the_generated_name_of_a_variable_wins_over_the_others(tmp_path: Path) -> None:
    names = {"HERMES_MAX_ITERATIONS": "1", "HERMES_AGENT_MAX_TURNS": "2", "HERMES_MODEL": "m"}
    config = load(tmp_path, environ=names)
    assert config.settings.agent.max_turns == 2
    assert config.settings.model.default == "m"


def test_lists_and_switches_from_variables(tmp_path: Path) -> None:
    names = {
        "HERMES_APPROVALS_DENY": "rm *, dd *",
        "HERMES_COMMAND_ALLOWLIST": '["ls", "git log, x"]',
        "HERMES_DISPLAY_SHOW_REASONING": "off",
        "HERMES_APPROVALS_MODE": "off",
    }
    settings = load(tmp_path, environ=names).settings
    assert settings.approvals.deny == ("rm *", "dd *")
    assert settings.command_allowlist == ("ls", "git log, x")
    assert settings.display.show_reasoning is False
    assert settings.approvals.mode == "off"


def test_a_wrong_variable_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"HERMES_AGENT_MAX_TURNS: agent.max_turns must be a whole number"):
        load(tmp_path, environ={"HERMES_AGENT_MAX_TURNS": "many"})


def test_words_that_older_yaml_takes_for_switches_are_what_they_say(tmp_path: Path) -> None:
    text = (
        "approvals: {mode: off}\ntool_loop_guardrails:\n  hard_stop_enabled: yes\n  warnings_enabled: 'no'\n"
    )
    settings = load(home(tmp_path, text), environ={}).settings
    assert settings.approvals.mode == "off"
    assert settings.tool_loop_guardrails.hard_stop_enabled is True
    assert settings.tool_loop_guardrails.warnings_enabled is False


def test_a_key_without_a_value_is_not_set(tmp_path: Path) -> None:
    config = load(home(tmp_path, "agent:\n  max_turns:\nterminal:\n"), environ={"HERMES_MODEL": ""})
    assert config.settings.agent.max_turns == 90
    assert config.origin("agent.max_turns").kind == "default"
    assert config.problems == ()


def test_a_model_may_be_one_word_or_a_section(tmp_path: Path) -> None:
    short = load(home(tmp_path / "a", "model: gpt\n"), environ={})
    long = load(home(tmp_path / "b", "model:\n  default: gpt\n"), environ={})
    assert short.settings.model == long.settings.model
    assert short.origin("model.default").where == "config.yaml:1"
    assert long.origin("model.default").where == "config.yaml:2"


def test_a_profile_changes_one_value_of_a_section(tmp_path: Path) -> None:
    at = home(tmp_path, "model: {default: a, provider: p}\n", work="model: b\n")
    model = load(at, "work", {}).settings.model
    assert (model.default, model.provider) == ("b", "p")


UNKNOWN = """\
# comment
model: gpt
agent:
  max_turnss: 4
terminal: {backend: local, cmd: x}
tool_loop_guardrails:

  warn_after:
    exact_failur: 3
approvls: {mode: off}
compression: {enabled: true}
platforms:
  telegram: {anything: 1}
providers:
  mine: {base_url: http://x, bas_url: y, models: {}}
"""


def test_unknown_keys_are_reported_with_line_and_nearest_key(tmp_path: Path) -> None:
    config = load(home(tmp_path, UNKNOWN), environ={})
    assert said(config) == [
        ("config.yaml", 4, "agent.max_turnss", "unknown", "agent.max_turns"),
        ("config.yaml", 5, "terminal.cmd", "unknown", "terminal.cwd"),
        (
            "config.yaml",
            9,
            "tool_loop_guardrails.warn_after.exact_failur",
            "unknown",
            "tool_loop_guardrails.warn_after.exact_failure",
        ),
        ("config.yaml", 10, "approvls", "unknown", "approvals"),
        ("config.yaml", 11, "compression", "later", ""),
        ("config.yaml", 12, "platforms", "later", ""),
        ("config.yaml", 15, "providers.mine.bas_url", "unknown", "providers.mine.base_url"),
        ("config.yaml", 15, "providers.mine.models", "later", ""),
    ]
    assert config.raw("platforms.telegram") == {"anything": 1}


def test_a_key_given_twice_is_reported(tmp_path: Path) -> None:
    config = load(home(tmp_path, "agent:\n  max_turns: 1\n  max_turns: 2\n"), environ={})
    assert config.settings.agent.max_turns == 2
    assert said(config) == [("config.yaml", 3, "agent.max_turns", "repeated", "")]


def test_variables_that_look_like_settings_are_reported(tmp_path: Path) -> None:
    names = {"HERMES_TERMINAL_TIMOUT": "1", "HERMES_TERMINAL_DOCKER_IMAGE": "x", "TERMINAL_EMULATOR": "y"}
    config = load(home(tmp_path, env="X=1\nHERMES_AGENT_MAXTURNS=1\n"), environ=names)
    assert sorted(said(config)) == [
        (".env", 2, "HERMES_AGENT_MAXTURNS", "unknown", "HERMES_AGENT_MAX_TURNS"),
        ("environment", 0, "HERMES_TERMINAL_DOCKER_IMAGE", "later", ""),
        ("environment", 0, "HERMES_TERMINAL_TIMOUT", "unknown", "HERMES_TERMINAL_TIMEOUT"),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("agent:\n  max_turns: many\n", "config.yaml:2: agent.max_turns must be a whole number"),
        ("agent:\n  max_turns: -1\n", "config.yaml:2: agent.max_turns must be a whole number of at least 0"),
        ("agent: 3\n", "config.yaml:1: agent must be keys and values, not the number 3"),
        ("model:\n- a\n", "config.yaml:1: model must be"),
        (
            "terminal: {backend: docker}\n",
            "config.yaml:1: terminal.backend must be local, not the text 'docker'",
        ),
        ("approvals:\n  mode: maybe\n", "config.yaml:2: approvals.mode must be one of manual, smart, off"),
        ("approvals:\n  deny:\n    - 1\n", "config.yaml:2: approvals.deny must be a list of texts"),
        ("model: 4\n", "config.yaml:1: model must be"),
        ("model:\n  api_key: 12345\n", "config.yaml:2: model.api_key must be text.*put it in quotes"),
        ("fallback_providers: [{model: a}, {model: 3}]\n", "fallback_providers.1.model must be text"),
    ],
)
def test_a_value_of_the_wrong_type_stops_everything(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load(home(tmp_path, text), environ={})


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a: [1\n", "config.yaml:2:1"),
        ("a:\n\tb: 1\n", "config.yaml:2:1"),
        ("a: 1\n b: 2\n", "config.yaml:2:3"),
        ("x: 1\na: \x07\n", "config.yaml:2:4"),
        ("- a\n", "config.yaml:1"),
        ("a: !foo 1\n", "config.yaml:1:4"),
        ("a: &x [*x]\n", "config.yaml:1"),
        ("a: 1\n---\nb: 1\n", "config.yaml:2"),
    ],
)
def test_broken_yaml_is_one_clear_message(tmp_path: Path, text: str, place: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(home(tmp_path, text), environ={})
    assert str(caught.value).startswith(f"{place}:")
    assert "hermes config edit" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_text_is_named_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_bytes(b"model: a\nx: \xff\n")
    with pytest.raises(ConfigError, match=r"config.yaml:2: not UTF-8"):
        load(tmp_path, environ={})


def test_an_unreadable_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").mkdir()
    with pytest.raises(ConfigError, match=r"config.yaml cannot be read: Is a directory"):
        load(tmp_path, environ={})


def test_an_alias_bomb_is_refused(tmp_path: Path) -> None:
    text = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 9))
    with pytest.raises(ConfigError, match="alias"):
        load(home(tmp_path, text), environ={})


def test_aliases_and_merges_are_read(tmp_path: Path) -> None:
    text = "x: &x {timeout: 9, cwd: /a}\nterminal:\n  <<: *x\n  cwd: /b\n"
    terminal = load(home(tmp_path, text), environ={}).settings.terminal
    assert (terminal.timeout, terminal.cwd) == (9, "/b")


def test_references_are_filled_in_and_missing_ones_reported(tmp_path: Path) -> None:
    text = (
        "model:\n  base_url: ${HOST}/v1\n  api_key: ${env:KEY}\n"
        "agent:\n  max_turns: ${TURNS}\ndatabase: {url: '${NOPE}'}\n"
    )
    config = load(home(tmp_path, text, "HOST=http://h\nTURNS=5\n"), environ={"KEY": "k"})
    assert config.settings.model.base_url == "http://h/v1"
    assert config.settings.model.api_key == "k"
    assert config.settings.agent.max_turns == 5
    assert config.settings.database.url == "${NOPE}"
    assert said(config) == [("config.yaml", 6, "database.url", "unset", "")]


def test_old_names_still_count_and_are_reported(tmp_path: Path) -> None:
    text = (
        "tool_loop_guardrails:\n  exact_failure_warn_after: 4\n  no_progress_block_after: 9\n"
        "  warn_after: {same_tool_failure: 7}\n  same_tool_failure_warn_after: 1\n"
        "fallback_model: {provider: p, model: m}\n"
        "custom_providers:\n- {name: mine, base_url: http://x}\n"
    )
    config = load(home(tmp_path, text), environ={})
    guard = config.settings.tool_loop_guardrails
    assert (guard.warn_after.exact_failure, guard.hard_stop_after.idempotent_no_progress) == (4, 9)
    assert guard.warn_after.same_tool_failure == 7  # the new name wins
    assert config.settings.fallback_providers[0].model == "m"
    assert config.settings.providers["mine"].base_url == "http://x"
    assert config.origin("tool_loop_guardrails.warn_after.exact_failure").where == "config.yaml:2"
    assert {(line, kind) for _, line, _, kind, _ in said(config)} == {(n, "old") for n in (2, 3, 5, 6, 7)}


def test_two_homes_in_one_process_never_mix(tmp_path: Path) -> None:
    one = home(tmp_path / "1", "model: one\nproviders: {p: {base_url: http://1}}\n", "KEY=1\n")
    two = home(tmp_path / "2", "agent: {max_turns: 2}\n", "OTHER=2\n")
    first, second, again = load(one, environ={}), load(two, environ={}), load(one, environ={})
    assert (first.settings.model.default, second.settings.model.default) == ("one", "")
    assert (first.settings.agent.max_turns, second.settings.agent.max_turns) == (90, 2)
    assert (dict(first.env), dict(second.env)) == ({"KEY": "1"}, {"OTHER": "2"})
    assert second.settings.providers == {}
    assert again.settings == first.settings
    assert os.environ.get("KEY") is None


def test_a_value_nothing_uses_yet_is_checked_and_reported(tmp_path: Path) -> None:
    config = load(home(tmp_path, "streaming:\n  edit_interval: 2\n"), environ={})
    assert config.settings.streaming.edit_interval == 2
    assert [(p.line, p.key, p.kind) for p in config.problems] == [(1, "streaming", "later")]
    assert config.notice == ""
    with pytest.raises(ConfigError, match=r"config.yaml:1: streaming.edit_interval must be a number"):
        load(home(tmp_path, "streaming: {edit_interval: fast}\n"), environ={})


def test_one_line_says_at_a_start_that_something_is_to_be_put_right(tmp_path: Path) -> None:
    config = load(home(tmp_path, "cron: {}\nagent:\n  max_turnss: 1\nfoo: 1\n"), environ={})
    assert config.notice == (
        "config.yaml:3: agent.max_turnss is not a setting; it has no effect. "
        "Did you mean agent.max_turns? (1 more: hermes config check)"
    )


@pytest.mark.parametrize("name", ["../x", "a/b", ".hidden", "a b", "x" * 65, "-p", "ü"])
def test_a_profile_cannot_lead_elsewhere(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError, match="cannot be a profile's name"):
        load(tmp_path, name, {})


def test_a_profile_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    at = home(tmp_path, work="model: a\n", home="model: b\n")
    with pytest.raises(ConfigError, match=r"no profile 'wrok'.*There are: home, work"):
        load(at, "wrok", {})
    assert not (tmp_path / "profiles" / "wrok").exists()


@pytest.mark.parametrize(
    ("names", "place"),
    [
        ({"HOME": "/u"}, "/u/.hermes"),
        ({"HOME": "/u", "HERMES_HOME": "/elsewhere"}, "/elsewhere"),
        ({"HOME": "/u", "HERMES_HOME": "~/h"}, "/u/h"),
        ({"HOME": "/u", "HERMES_HOME": ""}, "/u/.hermes"),
    ],
)
def test_where_the_home_is(names: dict[str, str], place: str) -> None:
    assert load(environ=names).home == Path(place)


def test_no_repr_shows_a_secret(tmp_path: Path) -> None:
    secret = "sk-very-secret-value"
    text = (
        f"model: {{api_key: {secret}}}\n"
        f"providers: {{a: {{api_key: {secret}, headers: {{X-Api-Key: {secret}}}}}}}\n"
    )
    config = load(home(tmp_path, text, f"API_KEY={secret}\n"), environ={"TOKEN": secret})
    shown = f"{config!r} {config.settings!r} {config.env!r} {config.layers!r} {config.problems!r}"
    assert secret not in shown
    assert config.settings.model.api_key == secret


def test_a_wrong_secret_is_not_repeated_in_the_message(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load(home(tmp_path, "model:\n  api_key: [sk-very-secret-value]\n"), environ={})
    assert "sk-very" not in str(caught.value)
