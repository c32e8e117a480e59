"""A plan says what a run then takes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from sally import store
from sally.cli import cli
from sally.core.errors import BadInput
from sally.core.prompt.model import Message, Settings
from sally.core.registry import registry
from sally.core.registry.study import Cell, Study, instance, player_spec
from sally.models.stub import Scripted, echo
from sally.runner.budget import CHARACTERS, Meter
from sally.runner.config import Config, Price, Prices
from sally.runner.local import orders
from sally.runner.pilot import MOVES, Count, _common, count_decisions, pilot_episode
from sally.runner.plan import CallRanges, plan
from sally.runner.run import run_study
from sally.runner.seating import resolve_setup
from tests.table import all_probes, every, table

LETTERS = ["Option: J", "Option: F"]
registry.add("models", "planned", lambda name: echo(LETTERS, count=len))


def study(strategy: str, model: str = "planned", rounds: int = 8) -> Study:
    lineups = tuple(
        {
            "agent": player_spec("language", model=model, strategy=strategy),
            "partner": player_spec(other_name),
        }
        for other_name in ("tit_for_tat", "random")
    )
    cell = Cell("ipd", (instance("ipd", rounds=rounds),), lineups, {"agent": ("their_move",)})
    return Study("s", "", (cell,))


@pytest.mark.parametrize("strategy", ["qa", "lm", "cot"])
def test_planned_calls_and_input_equal_those_of_the_run(strategy: str, tmp_path: Path) -> None:
    expected = plan(study(strategy))
    meter = Meter()
    contents = run_study(study(strategy), tmp_path / "o", meter=meter)
    (bill,) = expected.bills
    assert bill.count.calls == meter.calls
    calls = [
        c for e in contents.episodes.values() for ev in e.events for c in getattr(ev, "calls", ())
    ]
    shown = sum(call.usage["input"] for call in calls) / CHARACTERS
    assert bill.count.input == pytest.approx(shown, rel=0.05)
    assert expected.wanted == 2


def test_model_that_only_reads_is_in_the_plan_with_its_calls() -> None:
    reading = {
        "persuader": player_spec("hidden"),
        "reader": player_spec("model", model="lab/reader"),
    }
    alone = {"persuader": player_spec("hidden")}
    cell = Cell("talk", (instance("mindgames", number=1),), (reading, alone))
    actual_plan = plan(Study("s", "", (cell,)))
    (bill,) = actual_plan.bills
    assert (bill.model, bill.count.calls) == ("lab/reader", 16)  # two a message, eight messages


def test_stored_episodes_are_not_planned_again(tmp_path: Path) -> None:
    run_study(study("qa"), tmp_path / "o", limit=2)
    contents = run_study(study("qa"), tmp_path / "o", limit=2)
    repeated_plan = plan(study("qa"), stored=contents.episodes, finished=contents.finished_ids)
    assert (repeated_plan.there, repeated_plan.parts) == (2, ())


def test_growing_pages_share_most_of_their_input() -> None:
    (part,) = plan(study("qa", rounds=40)).parts
    assert part.each.shared > 0.9 * part.each.input
    assert part.each.calls == 80


def test_cost_comes_from_the_price_table_or_is_unknown() -> None:
    table = Prices(date(2026, 11, 1), {"lab/x": Price(10.0, 100.0, 1.0)})
    (bill,) = plan(study("qa", "lab/x"), config=Config(prices=table), reply_tokens=30).bills
    assert bill.count.output == 30 * bill.count.calls
    assert bill.cost is not None
    assert bill.cost == pytest.approx((bill.count.input * 10 + bill.count.output * 100) / 1e6)
    assert bill.cost_cached == pytest.approx(bill.cost - bill.count.shared * 9 / 1e6)
    (dark,) = plan(study("qa", "lab/x")).bills
    assert (dark.cost, dark.seconds) == (None, None)


def test_time_is_estimated_from_timed_calls(tmp_path: Path) -> None:
    contents = run_study(study("qa"), tmp_path / "o")
    slow = {
        id: msgspec.convert(_timed(msgspec.to_builtins(episode)), type(episode))
        for id, episode in contents.episodes.items()
    }
    (bill,) = plan(study("qa"), stored=slow).bills
    assert bill.seconds == pytest.approx(bill.count.calls * 2.0)  # in this process one at a time


def _timed(episode: dict) -> dict:  # type: ignore[type-arg]
    for event in episode["events"]:
        for call in event.get("calls", ()):
            call["usage"]["seconds"] = 2.0
    return episode


def test_model_that_cannot_score_is_refused_at_planning() -> None:
    with pytest.raises(BadInput, match="cannot score"):
        plan(study("lm", "lab/x"))


@pytest.mark.parametrize("name", every())
def test_every_game_can_be_piloted(name: str) -> None:
    """A pilot makes some legal move where nothing can be read, and comes to an end."""
    setup = table(name, arms=all_probes(name))
    everyone = {seat: player_spec("language", model="planned") for seat in setup.lineup}
    (count,) = pilot_episode(
        resolve_setup(msgspec.structs.replace(setup, lineup=everyone))
    ).values()
    assert count.calls > 0
    assert count.input > count.shared > 0


@pytest.mark.parametrize(
    ("game", "strategy", "calls_each"),
    [
        ("ipd", "tom_guide", 2),
        ("ipd", "social_qa", 2),
        ("toma_po", "social_qa", 3),  # two predictions
        ("repeated_games, unlike seats", "social_qa", 2),
    ],
)
def test_pilot_counts_every_call_of_a_strategy_that_predicts(
    game: str, strategy: str, calls_each: int
) -> None:
    setup = table(game)
    player = player_spec("language", model="planned", strategy=strategy)
    everyone = resolve_setup(
        msgspec.structs.replace(setup, lineup=dict.fromkeys(setup.lineup, player))
    )
    (count,) = pilot_episode(everyone).values()
    single_call = player_spec("language", model="planned", strategy="qa")
    plain = msgspec.structs.replace(setup, lineup=dict.fromkeys(setup.lineup, single_call))
    (plain_count,) = pilot_episode(resolve_setup(plain)).values()
    assert count.calls == calls_each * plain_count.calls


@pytest.mark.parametrize(("then", "calls"), [("run", 1), ("play", 1 + 8)])
def test_written_policy_is_planned_as_one_call(then: str, calls: int) -> None:
    lineup = {
        "agent": player_spec("policy_writer", model="planned", then=then),
        "partner": player_spec("tit_for_tat"),
    }
    cell = Cell("ipd", (instance("ipd", rounds=8),), (lineup,))
    (bill,) = plan(Study("s", "", (cell,))).bills
    assert bill.count.calls == calls


def test_range_is_given_where_the_number_of_calls_depends_on_the_moves() -> None:
    (bill,) = plan(study("qa")).bills
    assert bill.fewest == bill.count.calls == bill.most
    runner = player_spec("language", model="planned")
    lineup = {"player_1": runner, "player_2": player_spec("uniform"), "player_3": runner}
    cell = Cell("race", (instance("step_race"),), (lineup,), repeats=3)
    race = plan(Study("s", "", (cell,)))
    (bill,) = race.bills
    assert bill.fewest < bill.most and bill.fewest <= bill.count.calls <= bill.most
    (part,) = race.parts
    assert part.fewest * part.episodes == pytest.approx(bill.fewest)


def stammer(messages: Sequence[Message], settings: Settings) -> str:
    return "Option: J" if len(messages) > 1 else "Well."  # read only when asked again


def mumble(messages: Sequence[Message], settings: Settings) -> str:
    return "Hm."  # never read: forfeits end the episode


@pytest.mark.parametrize("write_reply", [stammer, mumble])
def test_plan_is_adjusted_to_what_stored_episodes_took(
    write_reply: Callable[[Sequence[Message], Settings], str], tmp_path: Path
) -> None:
    registry.add("models", "stammering", lambda name: Scripted(write_reply))
    long_study = study("qa", "stammering", rounds=20)
    contents = run_study(long_study, tmp_path / "o", limit=1)
    planned = plan(long_study, stored=contents.episodes, finished=contents.finished_ids)
    (part,), (bill,) = planned.parts, planned.bills
    both = run_study(long_study, tmp_path / "o")
    calls = [
        call
        for id, episode in both.episodes.items()
        if id not in contents.episodes
        for event in episode.events
        for call in event.calls
    ]
    (fresh,) = plan(long_study).bills
    assert fresh.adjusted is None and fresh.count.calls / 2 != pytest.approx(len(calls), rel=0.2)
    assert bill.count.calls == part.each.calls == pytest.approx(len(calls), rel=0.01)
    assert bill.adjusted == pytest.approx(2 * len(calls) / fresh.count.calls, rel=0.01)
    for kind, count in (("input", bill.count.input), ("output", bill.count.output)):
        assert count == pytest.approx(sum(call.usage[kind] for call in calls), rel=0.05)


def test_stored_episodes_of_another_cell_adjust_a_plan_that_has_none(tmp_path: Path) -> None:
    registry.add("models", "stammering", lambda name: Scripted(stammer))
    (cell,) = study("qa", "stammering").cells
    other = msgspec.structs.replace(cell, name="other", instances=(instance("ibs", rounds=6),))
    two_cells = Study("s", "", (cell, other))
    contents = run_study(Study("s", "", (cell,)), tmp_path / "o")
    planned = plan(two_cells, stored=contents.episodes, finished=contents.finished_ids)
    (part,), (fresh,) = planned.parts, plan(Study("s", "", (other,))).parts
    assert (part.cell, part.piloted) == ("other", fresh.each.calls)
    assert part.each.calls == 2 * fresh.each.calls


def test_numbers_of_decisions_belong_to_one_seed() -> None:
    lineup = {seat: player_spec("random") for seat in ("guide", "explorer", "eavesdropper")}
    lineup["guide"] = player_spec("language", model="planned")
    cell = Cell("treasure", (instance("toma_sw"),), (lineup,), repeats=6)
    ranges = CallRanges()
    counts = set()
    for _, _, setup in orders(Study("s", "", (cell,))):
        fresh = [count_decisions(setup, moves) for moves in MOVES]
        assert ranges.decisions(setup) == fresh
        counts.add(tuple(fresh))
    assert len(counts) > 1


def test_long_plan_is_printed_by_strategy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    command = ["plan", "kang2026", "--model", "planned"]
    text = CliRunner().invoke(cli, command, catch_exceptions=False).stdout
    parts = json.loads(CliRunner().invoke(cli, [*command, "--json"]).stdout)["parts"]
    assert f"{len(parts)} cells and strategies" in text
    calls = sum(p["each"]["calls"] * p["episodes"] for p in parts if p["who"] == "zero_shot")
    row = next(line for line in text.splitlines() if line.startswith(" zero_shot "))
    assert f" {calls:,.0f} " in row and len(text.splitlines()) <= 40


def test_common_prefix_is_measured_in_characters() -> None:
    assert _common("abcd", "abxd") == 2
    assert _common("abc", "abcdef") == 3
    assert _common("", "a") == _common("x", "y") == 0


def test_counts_add_up() -> None:
    assert Count(1, 2, 3, 4) + Count(1, 1, 1, 1).times(2) == Count(3, 4, 5, 6)


def test_limit_counts_the_episodes_of_a_cell_and_takes_models_first(tmp_path: Path) -> None:
    cell = Cell(
        "mixed",
        (instance("ipd", rounds=3),),
        tuple(
            {"agent": agent, "partner": player_spec("tit_for_tat")}
            for agent in (player_spec("random"), player_spec("language", model="planned"))
        ),
        repeats=2,
    )
    other_cell = msgspec.structs.replace(cell, name="twice", lineups=cell.lineups[:1])
    mixed = Study("s", "", (cell, other_cell))
    agents = [setup.lineup["agent"].player for _, _, setup in orders(mixed, 1)]
    assert agents == ["language", "random"]
    assert (plan(mixed, 1).wanted, plan(mixed, 3).wanted) == (2, 4)  # `twice` repeats two of them
    assert len(run_study(mixed, tmp_path / "o", limit=3).episodes) == 4


def test_run_prints_what_it_will_take_before_the_first_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    command = ["run", "quickstart_model", "--model", "planned", "--without", "lm", "--limit", "1"]
    done = CliRunner().invoke(cli, command, catch_exceptions=False)
    first, *_ = done.stderr.splitlines()
    played = re.fullmatch(
        r"To play: 3 episodes \(1 of each cell\); about ([\d,]+) calls, [\d,]+ input and [\d,]+ "
        r"output tokens, at no cost\.",
        first,
    )
    assert played is not None, first
    episodes = store.load(tmp_path / "out" / "quickstart_model").episodes.values()
    assert len(episodes) == 3
    calls = sum(len(event.calls) for episode in episodes for event in episode.events)
    assert int(played[1].replace(",", "")) == pytest.approx(calls, rel=0.2)
