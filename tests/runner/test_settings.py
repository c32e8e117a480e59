"""Model settings: one rule of precedence, names that are checked wherever they are given."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner

from sally import store
from sally.api.studies import RunRequest, prepared_study
from sally.cli import cli
from sally.core.errors import BadInput
from sally.core.match.drive import Driver
from sally.core.match.engine import Match
from sally.core.match.strategy import Strategy, StrategyResult
from sally.core.prompt.model import Reply, Settings, read_settings
from sally.core.registry import registry
from sally.core.registry.study import Cell, Study, grid, instance, player_spec
from sally.models.stub import Scripted, always
from sally.runner.config import Config, ModelEntry, read_config
from sally.runner.local import orders
from sally.runner.models import SettingUsed
from sally.runner.run import run_study
from sally.runner.seating import players_of

STUB = "settings_stub"
CONFIG = Config(models={"lab": ModelEntry(STUB, settings={"temperature": 0.5, "top_p": 0.9})})


def study(*settings: Mapping[str, object], model: str = "model", strategy: str = "qa") -> Study:
    asked_players = tuple(
        player_spec("language", model=model, strategy=strategy, settings=setting)
        for setting in settings
    )
    lineups = grid(agent=asked_players, partner=player_spec("random"))
    return Study("t", "t", (Cell("one", (instance("ipd", rounds=1),), lineups),))


@pytest.fixture(autouse=True)
def stub() -> None:
    registry.add("models", STUB, lambda name: always("Option: J"))


def chosen(given: Study, config: Config = CONFIG, **asked: object) -> dict[str, object]:
    """The settings of the first lineup of the study as it will be run."""
    model = "lab" if given.cells[0].lineups[0]["agent"].params["model"] == "model" else None
    expected, _ = prepared_study(given, RunRequest(model=model, given=asked), config)
    return dict(expected.cells[0].lineups[0]["agent"].params["settings"])


def test_command_overrides_config_file_and_file_overrides_study() -> None:
    request_fields = {"temperature": 0.7, "top_p": 0.95, "max_tokens": 24}
    assert chosen(study(request_fields), Config(models={"lab": ModelEntry(STUB)})) == request_fields
    assert chosen(study(request_fields)) == {"temperature": 0.5, "top_p": 0.9, "max_tokens": 24}
    assert chosen(study(request_fields), top_p=1.0) == {
        "temperature": 0.5,
        "top_p": 1.0,
        "max_tokens": 24,
    }


def test_precedence_also_holds_for_a_model_named_by_the_study() -> None:
    named_study = study({"temperature": 0.7}, model=STUB)
    assert chosen(named_study, temperature=0)["temperature"] == 0
    assert chosen(named_study)["temperature"] == 0.5


def test_settings_come_from_the_alias_that_was_named() -> None:
    cold = ModelEntry(STUB, settings={"temperature": 0.0})
    both_config = Config(models={"cold": cold, **CONFIG.models})
    assert chosen(study({}), both_config)["temperature"] == 0.5


def test_plan_and_store_record_the_source_of_each_setting(tmp_path: Path) -> None:
    expected, used = prepared_study(
        study({"temperature": 0.7}), RunRequest(model="lab", given={"seed": 3}), CONFIG
    )
    assert used == (
        SettingUsed(STUB, "seed", "3", "--set"),
        SettingUsed(STUB, "temperature", "0.5", "sally.toml", ("0.7 (study)",)),
        SettingUsed(STUB, "top_p", "0.9", "sally.toml"),
    )
    run_study(expected, tmp_path / "out", settings=used)
    (file,) = (tmp_path / "out" / "settings").iterdir()
    kept_data = json.loads(file.read_text())
    assert kept_data["precedence"] == ["--set", "sally.toml", "study", "strategy"]
    assert kept_data["settings"][1]["instead_of"] == ["0.7 (study)"]
    (episode,) = store.load(tmp_path / "out").episodes.values()
    sent = [call.settings for event in episode.events for call in event.calls]
    assert sent and all((s["temperature"], s["seed"]) == (0.5, 3) for s in sent)


def test_plan_prints_the_settings_and_their_precedence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("sally.toml").write_text('[models.lab]\nname = "embedded"\nsettings = {temperature = 0}\n')
    arguments = ["plan", "quickstart_model", "--model", "lab", "--limit", "1", "--game", "ipd"]
    done = CliRunner().invoke(cli, [*arguments, "--without", "lm"], catch_exceptions=False)
    text = " ".join(done.stdout.split())
    assert "temperature = 0 (sally.toml), instead of 0.7 (study)" in text
    assert "--set over sally.toml over study over strategy" in text


def test_setting_that_makes_two_lineups_equal_is_refused() -> None:
    with pytest.raises(
        BadInput, match=r"differ only in a setting that was overridden.*sally\.toml"
    ):
        prepared_study(
            study({"temperature": 0.7}, {"temperature": 0.1}), RunRequest(model="lab"), CONFIG
        )


def test_misspelt_setting_is_an_error_in_every_source(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="did you mean temperature"):
        prepared_study(study({}), RunRequest(model="lab", given={"temprature": 1}), CONFIG)
    file = tmp_path / "sally.toml"
    file.write_text('[models.lab]\nname = "x"\nsettings = {temprature = 1}\n')
    with pytest.raises(BadInput, match="did you mean temperature"):
        read_config(file)
    with pytest.raises(BadInput, match="did you mean temperature"):
        orders(study({"temprature": 1}, model=STUB))


def test_wrong_value_error_contains_no_python_type_names() -> None:
    for fields, reason in (
        ({"temperature": "hot"}, "temperature must be a number, not 'hot'"),
        ({"max_tokens": 1.5}, "max_tokens must be a whole number, not 1.5"),
        ({"temperature": -1}, "temperature must be a finite number of at least 0, not -1.0"),
    ):
        with pytest.raises(BadInput) as refused:
            read_settings(fields, "--set")
        assert str(refused.value) == f"Model settings in --set: {reason}."


def test_strategy_settings_have_the_lowest_precedence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen_settings: list[Settings] = []
    kept_entries = {folder: dict(entries) for folder, entries in registry._added.items()}
    monkeypatch.setattr(registry, "_added", kept_entries)  # the strategy is gone after the test

    def script(messages: object, settings: Settings) -> Reply:
        seen_settings.append(settings)
        return Reply("Option: J")

    def making(**own_params: object) -> Strategy:
        async def run(prompt: object, speaker: object) -> StrategyResult:
            reply = await speaker.say("move", prompt.user(), **own_params)  # type: ignore[attr-defined]
            return StrategyResult(reply.text)

        return Strategy("own", "sets a setting", "", lambda: (run, run), "1")

    model = Scripted(script)
    monkeypatch.setitem(registry._added["models"], STUB, lambda name: model)
    expected_study = study({"temperature": 0.7}, model=STUB, strategy="own")

    def played(**own_params: object) -> None:
        registry.add("strategies", "own", making(**own_params))
        (_, _, setup) = orders(expected_study)[0]
        match = Match(registry.game("ipd"), setup)
        Driver(match, players_of(match)).run()

    played(temperature=0.2, max_tokens=5)
    assert {(s.temperature, s.max_tokens) for s in seen_settings} == {(0.7, 5)}
    with pytest.raises(BadInput, match="did you mean temperature"):
        played(temprature=1)
    registry._results.clear()  # lists with the strategy end here
