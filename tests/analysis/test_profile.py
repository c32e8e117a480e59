"""The profile as a referee would check it: known answers, same settings, blanks with reasons."""

from __future__ import annotations

from itertools import product

import msgspec
import pytest

import sally
from sally.analysis.profile.baselines import _baseline_cache, best_mindless, mindless
from sally.analysis.profile.profile import ProfileRow
from sally.analysis.profile.selected_seats import studied_seats
from sally.cli.profile import sentences
from sally.core.log.events import Censored, Episode, Instance, PlayerSpec, Reported
from sally.core.match.player import Decision, Turn
from sally.core.registry import registry
from sally.core.registry.study import Cell, Study, grid, instance, player_spec
from sally.core.rules.probe import ProbeReport
from sally.frames.clusters import clusters_of
from sally.frames.measured_seat import MeasuredSeat, measure_episode
from sally.frames.replays import replay_for_measures as replay
from sally.games.toma.mg.game import frozen_scenarios as mg_scenarios
from sally.games.toma.po.game import frozen_scenarios as po_scenarios
from sally.runner.local import play_open
from tests.analysis.profiles import (
    FIELDS,
    TERMS,
    against_tit_for_tat,
    baselines,
    one_cell,
    played,
    profile_of,
    profiled,
    sums_of,
)
from tests.table import unlike_games

# --- knowing --------------------------------------------------------------------------------------


def test_profile_says_how_many_predictions_knowing_rests_on() -> None:
    lineup = {"agent": "random", "partner": "tit_for_tat"}
    episode = sally.play("ipd", lineup, 1, probes={"agent": ("their_odds",)}, rounds=6)
    events = [
        msgspec.structs.replace(event, value=None, odds=None)
        if isinstance(event, Reported) and event.turn % 2
        else event
        for event in episode.events
    ]
    (row,) = profiled([msgspec.structs.replace(episode, events=events)], "agent")
    assert "knowing counts 3 of 6 predictions (random)" in "\n".join(sentences([row]))
    (row,) = profiled([episode], "agent")
    assert "knowing counts" not in "\n".join(sentences([row]))


class Forecaster(msgspec.Struct, frozen=True):
    """Plays the first move and gives the other's first move three chances in four."""

    def decide(self, turn: Turn) -> Decision[int]:
        return Decision(0)

    def report(self, turn: Turn) -> ProbeReport:
        return ProbeReport(0, (0.75, 0.25))


def agent_row(episodes: list[Episode]) -> ProfileRow:
    """Return the profile of the seat `agent`."""
    (row,) = profile_of([m for e in episodes for m in measure_episode(e) if m.seat == "agent"])
    return row


def test_accuracy_brier_and_calibration_by_hand():
    """Tit for tat copies cooperation for ever, so all forecasts of it come true."""
    lineup = {"agent": Forecaster(), "partner": "tit_for_tat"}
    episodes = [
        sally.play("ipd", lineup, seed, probes={"agent": ["their_odds"]}, rounds=4)
        for seed in range(5)
    ]
    row = agent_row(episodes)
    assert row.accuracy.value == 100 and row.guess == 50 and row.unread == 0
    assert row.brier.value == pytest.approx(2 * 0.25**2) and row.even_brier == pytest.approx(0.5)
    (point,) = row.calibration
    assert (point.forecast, point.share.value, point.n) == (0.75, 1.0, 20)


def test_constant_defector_predicts_tit_for_tat_no_better_than_a_rule():
    class Sure(msgspec.Struct, frozen=True):
        def decide(self, turn: Turn) -> Decision[int]:
            return Decision(1)

        def report(self, turn: Turn) -> ProbeReport:
            return ProbeReport(1)

    lineup = {"agent": Sure(), "partner": "tit_for_tat"}
    episodes = [
        sally.play("ipd", lineup, seed, probes={"agent": ["their_move"]}, rounds=50)
        for seed in range(6)
    ]
    row = agent_row(episodes)
    assert row.accuracy.value == pytest.approx(98)
    assert row.skill.value == pytest.approx(0.96)  # of the half that a guess leaves
    assert row.predictor.accuracy >= 98
    assert row.beyond.value is None and "nothing is left to know" in row.why["beyond"]


def test_skill_is_near_zero_for_chance_and_near_one_for_a_learner():
    lineups = grid(
        agent=(player_spec("random"), player_spec("tabular")), partner=player_spec("single_action")
    )
    arms = {"agent": ("their_move",)}
    chance, learner = profiled(
        played(one_cell("rps", lineups, arms, repeats=12, rounds=60)), "agent"
    )
    assert chance.skill.low < 0 < chance.skill.high
    assert learner.skill.value > 0.8 and learner.skill.high <= 1


def test_knowing_is_blank_with_a_reason_if_no_probe_was_asked():
    row = profiled(against_tit_for_tat(lambda turn: 0), "agent")[0]
    assert row.accuracy.value is None and row.guess is None
    assert row.why["accuracy"] == "nothing was asked about another's mind"


# --- terms ----------------------------------------------------------------------------------------


def test_inference_translation_and_luck_add_up_to_the_regret():
    """Tit for tat is no lottery, so what single moves miss by the plan is all that is missed."""
    lineups = grid(
        agent=(player_spec("random"), player_spec("tabular")), partner=player_spec("tit_for_tat")
    )
    for game in ("rps", "ibs", "ipd"):
        arms = {"agent": ("their_move",)}
        for episode in played(one_cell(game, lineups, arms, repeats=3, rounds=12)):
            (m,) = measure_episode(episode, ("agent",))
            total = m.terms.inference + m.terms.translation + m.terms.luck
            assert m.terms.translation >= 0
            assert total == pytest.approx(m.optimum - m.doing)


@pytest.mark.parametrize("game, scenarios", [("toma_po", po_scenarios), ("toma_mg", mg_scenarios)])
def test_best_replies_to_the_truth_are_the_paid_choices(game, scenarios):
    """On every frozen scenario: what the truth asks for is what the game pays for."""
    probes = [probe.name for probe in registry.game(game).probes]
    for scenario, player in product(list(scenarios().values())[::4], ("solver", "random")):
        setup = one_cell(
            game, grid(player=player_spec(player)), {"player": tuple(probes)},
            scenario=scenario.id, level=scenario.level,
        )  # fmt: skip
        (m,) = measure_episode(played(setup)[0])
        if m.terms.inference is not None:
            parts = m.terms.inference + m.terms.translation + m.terms.luck
            assert parts == pytest.approx(1 - m.doing)
            if player == "solver":
                assert m.terms.inference == m.terms.translation == 0


def test_acting_on_own_prediction_has_zero_translation_loss():
    """Whatever was predicted, right or wrong, and however many replies to it are best."""
    several_count = 0
    for scenario, seed in product(list(mg_scenarios().values())[::9], range(4)):
        probes = {"player": [probe.name for probe in registry.game("toma_mg").probes]}
        params = {"scenario": scenario.id, "level": scenario.level}
        episode = sally.play("toma_mg", {"player": "random"}, seed, probes=probes, **params)
        (m,) = measure_episode(episode)
        consistent = registry.entries("metrics")["action_consistency"].measure
        if consistent(replay(episode), "player") == 1:
            several_count += m.terms.inference == 0 or m.terms.inference == 1
            assert m.terms.translation == 0
    assert several_count  # some did


# --- the ends of the scale ------------------------------------------------------------------------


def test_baselines_reuse_episodes_of_the_store():
    lineups = grid(
        agent=(player_spec("random"), player_spec("tabular")), partner=player_spec("tit_for_tat")
    )
    episodes = played(one_cell("rps", lineups, repeats=5, rounds=10))
    studied = [m for e in episodes for m in measure_episode(e, ("agent",))]
    ends = baselines(studied)
    assert not any(k.player_spec.player == "random" for b in ends for k in b.played.shared)
    pairs = [(b.played, n) for b in ends for n in range(len(b.played))]
    pairs += [(b.table, n) for b in ends for n in b.rows.tolist()]
    assert {sums.settings[n].hex() for sums, n in pairs} == {m.setting for m in studied}
    assert {sums.setting(n).setup.seed for sums, n in pairs} <= {m.setup.seed for m in studied}


def test_played_baselines_are_kept_until_the_registry_changes(monkeypatch):
    lineups = grid(agent=player_spec("tabular"), partner=player_spec("tit_for_tat"))
    (episode,) = played(one_cell("rps", lineups, repeats=1, rounds=3))
    studied = measure_episode(episode, ("agent",))
    first = [b.played.rows.rows() for b in baselines(studied)]
    kept_measured_seats = dict(_baseline_cache())
    repeated_rows = [b.played.rows.rows() for b in baselines(studied)]
    assert repeated_rows == first and _baseline_cache() == kept_measured_seats != {}
    monkeypatch.setattr(registry, "_added", {k: dict(v) for k, v in registry._added.items()})
    registry.add("strategies", "new", object())
    assert _baseline_cache() == {}
    assert [b.played.rows.rows() for b in baselines(studied)] == first


def test_mindless_players_over_levels_exclude_solutions_of_any_level():
    def met(level: int):
        scenario = next(s for s in mg_scenarios().values() if s.level == level)
        study = one_cell(
            "toma_mg", grid(player=player_spec("solver")), scenario=scenario.id, level=level
        )
        return measure_episode(played(study)[0])[0]

    first, third = met(1), met(3)
    alone, both_players = mindless([first]), mindless([first, third])
    assert PlayerSpec("random") in both_players and set(map(str, both_players)) < set(
        map(str, [*alone, *mindless([third])])
    )
    # half of the solution stands on the card too, and is not mindless
    assert not any("anchors" in player.player for player in mindless([third]))


def test_mindless_players_of_scenario_do_not_depend_on_level_parameter():
    scenario = next(s for s in po_scenarios().values() if s.level == 3)

    def met(**params):
        study = one_cell(
            "toma_po", grid(player=player_spec("solver")), scenario=scenario.id, **params
        )
        return measure_episode(played(study)[0])

    assert mindless(met()) == mindless(met(level=3))
    # half of the solution
    assert not any(player.player == "spare_task" for player in mindless(met()))


def test_game_without_card_uses_random_as_mindless_player():
    study = one_cell("cups", grid(hider=player_spec("random"), seeker=player_spec("random")))
    measured_seats = [m for e in played(study) for m in measure_episode(e)]
    assert mindless(measured_seats) == [PlayerSpec("random")]


def test_best_mindless_player_is_selected_and_scored_on_different_seeds():
    lineups = grid(agent=player_spec("tabular"), partner=player_spec("tit_for_tat"))
    studied = [
        m
        for e in played(one_cell("rps", lineups, repeats=3, rounds=10))
        for m in measure_episode(e, ("agent",))
    ]
    tried = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "sally.analysis.profile.baselines.play_open",
            lambda setup, cell="": tried.append(setup.seed) or play_open(setup, cell),
        )
        best_mindless(studied)
    assert tried and not set(tried) & {m.setup.seed for m in studied}


def test_baselines_are_not_played_against_a_model_partner():
    lineup = {
        "agent": PlayerSpec("random"),
        "partner": PlayerSpec("language", {"model": "nobody/here"}),
    }
    (m,) = measure_episode(
        sally.play("rps", {"agent": "random", "partner": "random"}, rounds=3), ("agent",)
    )
    told = msgspec.structs.replace(m, setup=msgspec.structs.replace(m.setup, lineup=lineup))
    assert not len(baselines([told]))
    assert "a model or a person sits across" in profile_of([told])[0].why["doing"]


# --- rows -----------------------------------------------------------------------------------------


def unit_of(seats: list[MeasuredSeat]) -> str:
    """Return the unit by which measured seats are clustered."""
    return clusters_of(sums_of(seats).rows)[1]


def test_people_are_resampled_before_instances_and_instances_before_repeats():
    both_records = grid(agent=player_spec("random"), partner=player_spec("random"))
    episodes = played(one_cell("rps", both_records,
                               repeats=6, rounds=2))  # fmt: skip
    group = [m for e in episodes for m in measure_episode(e, ("agent",))]
    assert unit_of(group) == "repeats of instances"
    named = [_on(m, f"i{n}") for n, m in enumerate(group)]
    assert unit_of(named) == "instances"
    people = [_by(m, f"p{n}") for n, m in enumerate(named)]
    assert unit_of(people) == "participants"
    assert unit_of(group[:2]) == "episodes"


def _on(m, name):
    problem = Instance(name, m.setup.instance.game, m.setup.instance.params)
    return msgspec.structs.replace(m, setup=msgspec.structs.replace(m.setup, instance=problem))


def _by(m, person):
    lineup = {**m.setup.lineup, "agent": PlayerSpec("person", {"participant": person})}
    return msgspec.structs.replace(m, setup=msgspec.structs.replace(m.setup, lineup=lineup))


def test_fewer_than_five_clusters_give_value_without_interval():
    row = profiled(against_tit_for_tat(lambda turn: turn.view.round % 2, seeds=range(4)), "agent")[
        0
    ]
    assert row.raw.value is not None and row.raw.interval is None
    assert "fewer than 5 clusters" in row.raw.method
    assert row.doing.value is not None and row.doing.interval is None
    assert "fewer than 5 clusters" in row.doing.method


def test_perfect_score_has_a_wilson_interval():
    scenarios = list(po_scenarios().values())[10:90:4]
    cell = Cell(
        "c",
        tuple(instance("toma_po", s.id, scenario=s.id, level=s.level) for s in scenarios),
        grid(player=player_spec("solver")),
    )
    (row,) = profiled(played(Study("s", "s", (cell,))), "player")
    assert row.raw.value == 1 and 0.75 < row.raw.low < 0.9 and row.raw.high == 1
    assert row.raw.method == "Wilson over 20 clusters"
    assert row.doing.value == pytest.approx(1)


def test_people_are_pooled_as_one_player_and_their_seats_are_studied():
    episodes = [
        sally.play("rps", {"agent": "random", "partner": "tit_for_tat"}, seed, rounds=4)
        for seed in range(6)
    ]
    people = [
        _by(m, f"p{n % 5}")
        for n, m in enumerate(measure_episode(e, ("agent",))[0] for e in episodes)
    ]
    every = [*people, *(measure_episode(e, ("partner",))[0] for e in episodes)]
    assert studied_seats(sums_of(every)) == {"rps": {"agent"}}
    (row,) = profile_of(people, baselines(people))
    assert (row.player, row.episodes, row.clusters) == ("person", 6, "participants")
    assert row.doing.value is not None  # against a bot, mindless players can be played too


def test_censored_episode_counts_with_payoff_so_far():
    episode = against_tit_for_tat(lambda turn: 0, seeds=[1])[0]
    cut = msgspec.structs.replace(
        episode, events=[*episode.events[:-1], Censored(turn=9, cause="budget")]
    )
    (row,) = profile_of(measure_episode(cut, ("agent",)))
    assert (row.episodes, row.censored) == (1, 1)
    assert row.raw.value == pytest.approx(7.2)  # nine rounds of 8; the tenth was not played
    assert row.raw.interval is None


def test_cells_can_be_profiled_separately():
    lineups = grid(agent=player_spec("random"), partner=player_spec("tit_for_tat"))
    cells = tuple(
        Cell(name, (instance("rps", name, rounds=3),), lineups, repeats=2) for name in "ab"
    )
    measured_seats = [
        m for e in played(Study("s", "s", cells)) for m in measure_episode(e, ("agent",))
    ]
    assert [row.cell for row in profile_of(measured_seats, by_cell=True)] == ["a", "b"]
    assert [row.cell for row in profile_of(measured_seats)] == [""]


@pytest.mark.parametrize("game", sorted(unlike_games()))
def test_every_game_has_a_profile_and_every_missing_number_a_reason(game, monkeypatch):
    for name in ("TRIALS", "DRAWS", "LEAST_DRAWS"):
        monkeypatch.setattr(f"sally.analysis.profile.baselines.{name}", 2)
    spec = registry.game(game)
    rules = spec.build(spec.defaults)
    lineup = {seat: PlayerSpec("random") for seat in rules.seats}
    if spec.measured.reference:
        lineup |= _company(game)
    arms = {s: tuple(p.name for p in spec.probes if s in p.seats) for s in rules.seats}
    params = {"rounds": 4} if spec.family == "repeated_games" else {}
    cell = Cell("c", (Instance(game, game, params),), (lineup,), arms, repeats=2)
    measured_seats = [m for e in played(Study("s", "s", (cell,))) for m in measure_episode(e)]
    studied = [m for m in measured_seats if m.seat in studied_seats(sums_of(measured_seats))[game]]
    rows = profile_of(studied, baselines(studied))
    assert rows
    for row, name in product(rows, (*FIELDS, *TERMS)):
        assert (getattr(row, name).value is None) == bool(row.why.get(name)), (row.player, name)


def _company(game: str) -> dict[str, PlayerSpec]:
    if game == "toma_ag":
        listens = PlayerSpec("embedding", {"vocabulary_only": True})
        return {"teammate": listens, "opponent": listens}
    return {}
