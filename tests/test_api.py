"""What `import sally` offers, as a notebook uses it."""

from __future__ import annotations

import doctest
import inspect
import re
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import click
import msgspec
import pytest

import sally
from sally.cli import cli, group
from sally.core.errors import BadInput

COMMANDS = {"play", "run", "plan", "replay", "score", "profile", "compare", "audit",
            "reproduce", "report", "export", "pack", "fork", "evaluate"}  # fmt: skip
VIEWS = {"crossplay", "why", "reliability", "variance", "board", "atlas"}  # options of commands
TYPES = {"Game", "GameSpec", "Words", "Probe", "Question", "Partner", "Metric", "Strategy",
         "Study", "Cell", "Episode", "Model", "Card", "Board", "Paper", "Seat", "Turn"}  # fmt: skip


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("api") / "store"
    sally.run("quickstart", out, limit=12)
    return out


def test_library_exports_all_commands_and_author_types() -> None:
    assert set(cli.list_commands(click.Context(cli))) >= COMMANDS
    assert {key.strip("-") for keys in group.VIEWS.values() for key in keys} >= VIEWS
    assert set(dir(sally)) >= COMMANDS | VIEWS | TYPES | {"contrast", "load", "testing"}
    for name in sally.__all__:
        assert getattr(sally, name) is not None


def test_importing_sally_does_not_import_numpy() -> None:
    text = "import sys, sally; print(len(dir(sally)), 'numpy' in sys.modules)"
    process = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, check=True
    )
    assert process.stdout.split()[1] == "False"


def test_study_is_run_loaded_scored_and_replayed(held: Path) -> None:
    episodes = sally.load(held)
    assert episodes.title == f"{len(episodes)} episodes of rps, ibs, ipd"
    assert sally.score(held) == sally.score(episodes)
    assert {row["metric"] for row in sally.score(held, ["reward"])} == {"reward"}
    assert sally.replay(held).mismatches == []
    assert "mismatches" in repr(sally.replay(episodes[0]))
    assert len(repr(episodes[0])) < 200


def test_results_have_short_repr_and_convert_to_frames(held: Path) -> None:
    rows = sally.load(held).rows()
    assert repr(rows).splitlines()[0] == f"{len(rows)} rows"
    assert rows._repr_html_().count("<tr>") == 21
    frame = rows.pandas()
    assert {"model", "strategy", "settings", "player", "instance"} <= set(frame.columns)
    assert len(frame) == len(rows) == rows.polars().height


def test_decision_rows_name_player_and_move() -> None:
    lineup = {"agent": "random", "partner": "tit_for_tat"}
    episode = sally.play("ipd", lineup, rounds=2, probes={"agent": ["their_move"]})
    rows = sally.decisions([episode])
    for row in rows:
        assert {"player", "participant", "instance", "label", "probe", "seconds"} <= set(row)
        assert row["label"] == "JF"[int(row["value"])]
        assert row["player"] == lineup[row["seat"]]
    assert {row["probe"] for row in rows} == {None, "their_move"}


def test_episode_rows_contain_model_strategy_and_settings() -> None:
    episode = sally.play("ipd", {"agent": "random", "partner": "random"}, rounds=1)
    params = {"model": "lab/m", "strategy": "cot", "settings": {"temperature": 0.5}}
    lineup = {**episode.setup.lineup, "agent": sally.PlayerSpec("language", params)}
    setup = msgspec.structs.replace(episode.setup, lineup=lineup)
    own_episode, other_episode = sally.episodes([msgspec.structs.replace(episode, setup=setup)])
    said = (own_episode["model"], own_episode["strategy"], own_episode["settings"])
    assert said == ("lab/m", "cot", "temperature=0.5")
    assert (other_episode["model"], other_episode["strategy"], other_episode["settings"]) == (
        None,
        None,
        None,
    )


def test_export_and_pack_write_files(held: Path, tmp_path: Path) -> None:
    assert sally.export(held, tmp_path / "rows.csv").read_text().startswith("episode,")
    assert "label" in sally.export(held, tmp_path / "d.csv", "decisions").read_text().split("\n")[0]
    bundle = sally.pack(held, tmp_path / "store.sally.zip")
    assert len(sally.load(bundle)) == len(sally.load(held))


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"limit": 0}, "limit must be at least 1"),
        ({"model": "embedded"}, "has no open seat"),
        ({"temperature": 0}, "temperature is a model setting"),
        ({"without": ["ml"]}, "no strategy named 'ml'"),
    ],
)
def test_bad_input_gives_one_message_without_flags(wrong: dict[str, object], why: str) -> None:
    with pytest.raises(BadInput, match=why) as error:
        sally.run("quickstart", **wrong)  # type: ignore[arg-type]
    assert "--" not in str(error.value)


def test_open_seat_error_asks_for_a_model() -> None:
    with pytest.raises(BadInput, match="name the model that takes them") as error:
        sally.plan("quickstart_model")
    assert "--" not in str(error.value)


@pytest.mark.parametrize(
    ("lineup", "seed", "why"),
    [
        (["random", "random"], 1, "The lineup is a list; it must be a mapping"),
        ({"agent": "random", "partner": "random"}, "x", "The seed is 'x'; it must be a whole"),
        ({"agent": "random", "partner": "random"}, 1.5, "The seed is 1.5; it must be a whole"),
        ({"agent": int, "partner": "random"}, 1, "has the class int; give an instance"),
        ({"agent": "language", "partner": "random"}, 1, "language player without a model"),
        ({"agent": ("random",), "partner": "random"}, 1, r"a tuple must be \(name, parameters\)"),
        ({"agent": 3, "partner": "random"}, 1, "has 3; a player is a name"),
    ],
)
def test_wrong_lineup_or_seed_is_refused_with_one_message(lineup: Any, seed: Any, why: str) -> None:
    with pytest.raises(BadInput, match=why):
        sally.play("rps", lineup, seed)


def test_lists_of_episodes_replay_and_convert_to_frames(held: Path) -> None:
    episodes = sally.load(held)
    assert sally.replay(list(episodes)).replayed == len(episodes)
    with pytest.raises(BadInput, match="must contain only episodes"):
        sally.replay([1])  # type: ignore[list-item]
    assert sally.to_polars(episodes).columns == list(episodes.rows().columns)


@pytest.mark.parametrize("convert", [sally.to_polars, sally.to_pandas])
def test_rows_of_every_analysis_convert_to_frames(
    held: Path, convert: Callable[[Any], Any]
) -> None:
    first, second = {row["player"] for row in sally.score(held)[:9]} & {"random", "constant"}
    for rows in (
        sally.score(held),
        sally.profile(held),
        sally.reliability(held),
        sally.variance(held),
        sally.crossplay(held),
        sally.compare(held, first, second),
    ):
        frame = convert(rows)
        assert frame.shape[0] == len(rows) > 0 and "game" in frame.columns


def test_intervals_of_whole_and_other_numbers_convert_to_frames() -> None:
    rows = [{"value": 1, "interval": (0.6, 1)}, {"value": 0.5, "interval": None}]
    assert sally.to_polars(rows)["interval"].to_list() == [[0.6, 1.0], None]
    assert sally.to_pandas(rows)["interval"][0] == [0.6, 1.0]


def test_one_name_may_stand_for_a_list_of_names(held: Path) -> None:
    lists = sally.score(held, ["payoff"], games=["rps"], players=["random"], seat=["agent"])
    names = sally.score(held, "payoff", games="rps", players="random", seat="agent")
    assert list(names) == list(lists) and len(names) == 1
    assert [row["game"] for row in sally.profile(held, games="rps", players="random")] == ["rps"]
    assert {row["game"] for row in sally.evaluate(bot="random", games="ibs")} == {"ibs"}
    with pytest.raises(BadInput, match="no metric named 'payof'"):
        sally.score(held, "payof")


def test_metric_that_returns_a_text_is_refused_with_its_value(held: Path) -> None:
    metric = sally.Metric("worded", "a text", lambda played, seat: "high")  # type: ignore[arg-type, return-value]
    with pytest.raises(BadInput, match="worded is 'high'; a metric must be a finite number"):
        sally.score(held, metric)
    sally.register(sally.Metric("worded", "nothing", lambda played, seat: None))  # for later tests


def test_parameter_of_a_wrong_type_is_refused_in_words() -> None:
    with pytest.raises(BadInput, match="rounds: the value must be a whole number, not a text"):
        sally.play("rps", {"agent": "random", "partner": "random"}, rounds="ten")


def test_catalog_lists_registered_names() -> None:
    assert {"rps", "hanabi"} <= {row["name"] for row in sally.list_games()}
    assert "tit_for_tat" in {row["name"] for row in sally.list_partners("ipd")}
    assert "tit_for_tat" not in {row["name"] for row in sally.list_partners("hanabi")}
    with pytest.raises(BadInput, match="no game named 'rsp'"):
        sally.list_metrics("rsp")


def test_results_with_a_figure_can_be_drawn(held: Path) -> None:
    profile = sally.profile(held)
    assert profile.plot().axes
    with pytest.raises(BadInput, match="Name the game to draw"):
        sally.crossplay(held).plot()
    assert sally.crossplay(held).plot("ipd").axes
    with pytest.raises(BadInput, match="no game in these rows named 'go'"):
        sally.crossplay(held).plot("go")


@pytest.mark.parametrize(
    "module", ["analyses", "catalog", "controls", "files", "play", "results", "rows", "studies"]
)
def test_examples_of_the_api_run(module: str) -> None:
    import_result = doctest.testmod(import_module(f"sally.api.{module}"))
    assert import_result.failed == 0


def test_type_checker_and_the_interpreter_import_the_same_names() -> None:
    source = Path(sally.__file__ or "").read_text(encoding="utf-8")
    typed = re.findall(r"^    from sally\.([\w.]+) import (\w+) as \2$", source, re.M)
    assert {name: place for place, name in typed} == sally._WHERE


def test_every_public_function_is_documented_with_its_arguments() -> None:
    for name in sally.__all__:
        what = getattr(sally, name)
        if not inspect.isfunction(what):
            continue
        doc = inspect.getdoc(what) or ""
        for argument in inspect.signature(what).parameters.values():
            several = len(inspect.signature(what).parameters) > 1
            if several and name not in ("both_ways", "span", "summary"):
                assert f"{argument.name}:" in doc, f"{name} does not explain {argument.name}"


def test_import_names_what_would_do(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no importer named 'clembnech'; did you mean clembench"):
        sally.import_record("clembnech", tmp_path)
    with pytest.raises(BadInput, match="no option of clembench named 'gam'; did you mean game"):
        sally.import_record("clembench", tmp_path, gam="ipd")
    with pytest.raises(BadInput, match="hitom writes a file; name it, as in out="):
        sally.import_record("hitom", tmp_path)


def test_game_prints_seats_parameters_and_probes() -> None:
    text = repr(sally.game("ipd"))
    assert text.startswith("ipd: prisoner's dilemma")
    assert "rounds=100" in text and "seats: agent, partner" in text and "their_move" in text
    with pytest.raises(BadInput, match="did you mean ipd"):
        sally.game("idp")
