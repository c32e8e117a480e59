"""How well one did, on a scale from a mindless player to the optimum, by known answers."""

from __future__ import annotations

import msgspec
import pytest

import sally
from sally.core.log.events import PlayerSpec
from sally.core.match.player import Decision, Forfeit, Turn
from sally.core.registry import registry
from sally.core.registry.study import Cell, Study, grid, instance, player_spec
from sally.frames.measured_seat import measure_episode
from sally.games.bargaining.instances import frozen
from sally.games.toma.po.game import frozen_scenarios as po_scenarios
from sally.runner.seating import seat_player
from tests.analysis.profiles import against_tit_for_tat, one_cell, played, profiled


def test_random_player_is_the_zero_and_one_last_defection_the_optimum():
    def cooperates(turn: Turn) -> int:
        return 0

    def defects_last(turn: Turn) -> int:
        return int(turn.view.round == 10)

    kind, sly = (profiled(against_tit_for_tat(s), "agent")[0] for s in (cooperates, defects_last))
    assert kind.raw.value == pytest.approx(8.0) and sly.raw.value == pytest.approx(8.2)
    assert sly.doing.value == pytest.approx(1) and sly.regret.value == pytest.approx(0)
    chance = sly.random.value
    # Exact: 8 and 10 at first, then any of 8, 0, 10 and 5 by chance, in nine further rounds
    assert chance == pytest.approx((9 + 9 * 23 / 4) / 10)
    assert sly.random.player == "random" and sly.random.doing == 0
    assert kind.doing.value == pytest.approx((8 - chance) / (8.2 - chance))
    assert kind.regret.value == pytest.approx(0.2)
    # the best mindless player is a mark on the scale, high up, and not its zero
    assert (sly.mindless.player, sly.mindless.value) == ("constant 0", pytest.approx(8))
    assert sly.mindless.doing == pytest.approx(kind.doing.value)
    assert (sly.reference.player, sly.reference.standing) == ("optimum", "exact")
    assert sly.mindless.played == 6 and sly.mindless.stored == 0


def test_zero_does_not_depend_on_the_luck_of_one_random_player():
    rows = [
        profiled(against_tit_for_tat(lambda turn: 0, seeds=seeds), "agent")[0]
        for seeds in (range(3), range(3, 6))
    ]
    assert rows[0].doing.value == pytest.approx(rows[1].doing.value)


def test_doing_of_always_defect_stays_on_the_scale():
    row = profiled(against_tit_for_tat(lambda turn: 1, rounds=30), "agent")[0]
    assert -1 < row.doing.value < 0  # it was -147.5 with the best mindless player at zero


def test_doing_is_defined_where_a_constant_is_optimal():
    """Paper against rock for ever: `constant 1` gets all there is."""

    def paper_then_anything(turn: Turn) -> int:
        return 1 if turn.view.round <= 5 else 0

    lineup = {"agent": paper_then_anything, "partner": ("single_action", {"action": 0})}
    episodes = [sally.play("rps", lineup, seed, rounds=10) for seed in range(5)]
    (row,) = profiled(episodes, "agent")
    assert row.raw.value == pytest.approx(0.5) and row.mindless.doing == pytest.approx(1)
    chance = row.random.value
    assert row.doing.value == pytest.approx((0.5 - chance) / (1 - chance))


def test_mindless_baseline_is_one_player_per_game_not_per_partner():
    lineups = grid(
        agent=player_spec("tabular"),
        partner=tuple(player_spec("single_action", action=a) for a in range(3)),
    )
    (row,) = profiled(played(one_cell("rps", lineups, repeats=3, rounds=20)), "agent")
    # a reply to the last move beats all three after the first round; no fixed move does
    assert row.mindless.player == "simple_rule (rule last, first 0, reply True)"
    assert row.mindless.value == pytest.approx(0.95, abs=0.05)
    assert row.doing.value is not None and row.doing.low <= row.doing.value <= row.doing.high


def test_tracker_is_exact_reference_of_locker_and_true_box_is_not_counted():
    games = tuple(
        instance("pick_the_right_stuff", f"g{n}", users=4, number=n, mode="finite",
                 generator="balanced", generator_seed=7)
        for n in range(6)
    )  # fmt: skip
    arms = {"manager": ("state_last_seen", "true_box")}
    cell = Cell("c", games, grid(manager=(player_spec("tracker"), player_spec("random"))), arms)
    tracker, chance = profiled(played(Study("s", "s", (cell,))), "manager")
    assert tracker.doing.value == pytest.approx(1) and tracker.accuracy.value == 100
    assert tracker.reference == chance.reference and chance.reference.standing == "exact"
    assert chance.reference.stored == 6 and chance.reference.played == 0
    assert [
        m.knowing.asked for e in played(Study("s", "s", (cell,)))[:1] for m in measure_episode(e)
    ] == [4]


def test_reference_that_does_not_always_win_is_the_best_known():
    lineups = grid(
        guide=player_spec("turn_taker"),
        explorer=(player_spec("turn_taker"), player_spec("random")),
        eavesdropper=player_spec("worlds"),
    )
    rows = profiled(played(one_cell("toma_sw", lineups, repeats=5)), "explorer")
    assert {row.reference.standing for row in rows} == {"best known"}


def test_doing_is_blank_if_the_scale_has_no_clear_room():
    lineups = grid(agent=player_spec("random"), partner=player_spec("random"))
    (row,) = profiled(played(one_cell("rps", lineups, repeats=6, rounds=10)), "agent")
    assert row.doing.value is None and "room" in row.why["doing"]
    assert row.regret.value is not None  # only the regret is left


class Silent(msgspec.Struct, frozen=True):
    """Knows the right choice and speaks only if asked to by its seed: else it forfeits."""

    right: bool

    def decide(self, turn: Turn):
        return Decision(self.solved(turn)) if self.right else Forfeit("no answer")

    def solved(self, turn: Turn) -> int:
        return (
            seat_player(turn.context.spec, turn.context.game, turn.seat, PlayerSpec("solver"))
            .decide(turn)
            .action
        )


def test_forfeiting_wrong_moves_does_not_give_a_perfect_profile():
    """It did in the partially observable game: what was not answered was not counted."""
    scenarios = list(po_scenarios().values())[10:90:8]
    episodes = [
        sally.play("toma_po", {"player": Silent(n % 2 == 0)}, n, scenario=s.id, level=s.level)
        for n, s in enumerate(scenarios)
    ]
    (row,) = profiled(episodes, "player")
    assert row.forfeits == 5 and row.raw.value == pytest.approx(0.5)
    assert row.doing.value < 0.6 and row.doing_most.value == pytest.approx(1)


def test_void_round_earns_nothing_by_the_rules_and_the_best_reply_at_most():
    class FallsSilent(msgspec.Struct, frozen=True):
        def decide(self, turn: Turn):
            return Forfeit("no answer") if turn.view.round == 3 else Decision(0)

    lineup = {"agent": FallsSilent(), "partner": ("single_action", {"action": 2})}
    (m,) = measure_episode(sally.play("rps", lineup, rounds=4), ("agent",))  # rock beats scissors
    assert (m.doing, m.least, m.most, m.optimum) == (1.0, 0.75, 1.0, 1.0)


def test_partner_without_automaton_does_not_blank_other_partners_row():
    lineups = grid(
        agent=player_spec("tabular"), partner=(player_spec("tit_for_tat"), player_spec("tabular"))
    )
    known_profile_row, unknown = profiled(
        played(one_cell("rps", lineups, repeats=5, rounds=8)), "agent"
    )
    assert (known_profile_row.part, unknown.part) == (
        "with a known optimum",
        "without a known optimum",
    )
    assert known_profile_row.doing.value is not None and unknown.doing.value is None
    assert unknown.raw.value is not None and "neither an optimum" in unknown.why["doing"]


def test_zero_of_doing_is_exact_in_one_choice_and_against_a_declared_bargainer():
    metrics = registry.entries("metrics")
    for game, params, chance in (
        ("toma_mg", {"level": 1}, 1 / 4),
        ("toma_po", {"level": 2}, 1 / 5),
    ):
        setup = sally.play(game, {"player": "random"}, 0, **params).setup
        assert metrics["task_success"].at_random(setup, "player") == pytest.approx(chance)
    for problem in frozen().problems[::17]:
        lineup = {problem.seat: "random", **problem.across}
        setup = sally.play("bargaining", lineup, 0, **problem.instance().params).setup
        expected = metrics["payoff_per_round"].at_random(setup, problem.seat)
        assert expected == pytest.approx(problem.random / problem.rounds)
