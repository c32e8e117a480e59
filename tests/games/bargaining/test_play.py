"""Partners, yardsticks and measures, on games whose numbers can be worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from sally.core.log.events import Instance, PlayerSpec, Setup
from sally.core.match.drive import Driver
from sally.core.match.engine import Match
from sally.core.match.player import Decision
from sally.core.registry import registry
from sally.core.rules.metric import Played
from sally.core.rules.replay import Trajectory
from sally.games.bargaining.decisions import COSTS, EXACT, LOSSES
from sally.games.bargaining.instances import frozen
from sally.games.bargaining.metrics import (
    METRICS,
    SeatEpisode,
    hindsight,
    random_worth,
    round_gain,
    solve_table,
    split_loss,
)
from sally.games.bargaining.rules import BUYER, SEATS, SELLER, Say
from sally.games.bargaining.spec import best_replies
from sally.games.bargaining.talk import read_message
from sally.runner.seating import players_of, resolve_setup

SPEC = registry.game("bargaining")
MEASURES = {metric.name: metric.measure for metric in METRICS}


def table_of(buyer: PlayerSpec, seller: PlayerSpec, seed: int = 1, **params: Any) -> Played:
    setup = resolve_setup(
        Setup(Instance("b", "bargaining", params), seed, {"buyer": buyer, "seller": seller})
    )
    match: Match = Match(SPEC, setup)
    Driver(match, players_of(match)).run()
    return Played(SPEC, match.episode(), match.replay)


def spoken(rounds: list[tuple[str, str, int, int]], **params: Any) -> Played:
    """A game with these messages and quotes of buyer and seller; halves go up."""
    lineup = {"buyer": PlayerSpec("random"), "seller": PlayerSpec("random")}
    actual_params = {"value": 70, "cost": 30, "rounds": len(rounds), **params}
    setup = Setup(Instance("b", "bargaining", actual_params), 1, lineup)
    match: Match = Match(SPEC, setup, ask_nature=True)
    for first, two, bid, ask in rounds:
        for moves in ({"buyer": Say(first), "seller": Say(two)}, {"buyer": bid, "seller": ask}):
            turn = match.turn
            for seat, action in moves.items():
                match.answer((turn, seat, "", ""), Decision(action))
        if not match.over and any(turn.seat == "nature" for turn in match.asks()):
            match.answer((match.turn, "nature", "", ""), Decision(1))
    return Played(SPEC, match.episode(), match.replay)


def measure_metric(played: Played, name: str, seat: Any = BUYER) -> float | None:
    return MEASURES[name](played, seat)


# --- partners -------------------------------------------------------------------------------------

QUIET: dict[str, Any] = {"talk": "none", "value": 70, "cost": 30, "rounds": 6}


@pytest.mark.parametrize(
    ("seller", "params", "buyer", "asks"),
    [
        ("constant", {"q": 44}, 20, [44] * 6),
        ("truthful", {}, 20, [30] * 6),
        ("clock", {"start": 50, "step": 8, "margin": 4}, 99, [50, 42, 34, 34, 34, 34]),
        ("responsive", {"start": 50, "down": 8, "up": 3, "margin": 1}, 40,
         [50, 42, 34, 37, 40, 43]),
        ("splitter", {"start": 90, "margin": 2}, 21, [90, 56, 39, 32, 32, 32]),
        ("grim", {"q": 40}, 39, [40, 100, 100, 100, 100, 100]),
        ("liar", {"shade": 12}, 10, [42] * 6),
    ],
)  # fmt: skip
def test_declared_partners_quote_as_declared_in_both_seats(
    seller: str, params: dict[str, int], buyer: int, asks: list[int]
) -> None:
    across = PlayerSpec("constant", {"q": 100 - buyer})  # a buyer's constant is mirrored
    played = table_of(across, PlayerSpec(seller, params), **QUIET)
    assert [turn.ask for turn in played.replay.present.past] == asks
    assert {turn.bid for turn in played.replay.present.past} == {buyer}
    mirror = {**QUIET, "value": 70, "cost": 30}
    turned = table_of(
        PlayerSpec(seller, params), PlayerSpec("constant", {"q": 100 - buyer}), **mirror
    )
    assert [100 - turn.bid for turn in turned.replay.present.past] == asks


def test_messages_of_talkers_are_read_back() -> None:
    lineup = PlayerSpec("announcer", {"q": 45, "keep": 0.5}), PlayerSpec("liar", {"shade": 10})
    played = table_of(*lineup, value=70, cost=30)
    for turn in played.replay.present.past:
        said = dict(turn.said)
        assert read_message(said[BUYER], BUYER).announced == 55
        assert read_message(said[SELLER], SELLER).claimed == 40
        assert turn.bid in (55, 45) and turn.ask == 40
    kept_value = measure_metric(played, "promises_kept")
    assert kept_value is not None and 0 < kept_value < 1
    assert measure_metric(played, "broken_own_favour") == pytest.approx(1 - kept_value)
    assert measure_metric(played, "claims_bluff", SELLER) == 1


def test_planner_earns_the_optimum_where_the_limit_does_not_matter() -> None:
    for partner, params in (("grim", {"q": 50}), ("constant", {"q": 50})):
        across = PlayerSpec(partner, params)
        plan = PlayerSpec("planner", {"against": partner, "params": params})
        played = table_of(plan, across, value=70, cost=30, talk="none")
        assert measure_metric(played, "doing_optimum") == pytest.approx(1)


def test_planner_beats_habits_on_average_against_its_assumed_partner() -> None:
    across = PlayerSpec("responsive")
    plan = PlayerSpec("planner", {"against": "responsive", "params": {}})
    habits = ("truthful", "half", "copy_last_capped", "split_own_and_last", "concede_1")

    def mean(spec: PlayerSpec) -> float:
        earned = [
            table_of(spec, across, value=60, cost=cost, talk="none").episode.payoffs
            for cost in range(0, 58, 3)
        ]
        return sum(paid["buyer"] for paid in earned if paid is not None)

    best = mean(plan)
    assert all(best > mean(PlayerSpec(habit)) for habit in habits)


# --- yardsticks -----------------------------------------------------------------------------------


def test_random_value_is_the_mean_over_all_quotes() -> None:
    for seat, limit, theirs in (
        (BUYER, 70, 40),
        (BUYER, 20, 60),
        (SELLER, 30, 55),
        (SELLER, 90, 10),
    ):
        plain = sum(round_gain(seat, limit, x, theirs) for x in range(101)) / 101
        assert random_worth(seat, limit, theirs) == pytest.approx(plain)


def test_hindsight_regret_is_the_sum_of_its_parts() -> None:
    for seed in range(30):
        played = table_of(PlayerSpec("random"), PlayerSpec("random"), seed, talk="none")
        for seat in SEATS:
            regret = measure_metric(played, "hindsight_regret", seat)
            parts = [
                measure_metric(played, f"lost_{part}", seat)
                for part in ("missed", "overpaid", "beyond")
            ]
            assert regret == pytest.approx(sum(part or 0.0 for part in parts))
            assert all((part or 0.0) >= 0 for part in parts)


def test_hindsight_and_optimum_differ_only_against_reactive_partners() -> None:
    gap = {}
    for name in ("constant", "truthful", "clock", "liar", "responsive", "splitter"):
        played = table_of(PlayerSpec("random"), PlayerSpec(name), talk="none", value=80, cost=20)
        solution = solve_table(played, BUYER)
        assert solution is not None
        state = played.replay.present
        rounds = SeatEpisode(80, 20, tuple(_quoted(state)))
        gap[name] = solution.optimum - hindsight(BUYER, rounds)
    assert all(gap[name] == pytest.approx(0) for name in ("constant", "truthful", "clock", "liar"))
    assert abs(gap["responsive"]) > 1 and abs(gap["splitter"]) > 1


def _quoted(state: Any) -> list[Any]:
    from sally.games.bargaining.metrics import Quoted

    return [Quoted(n, e.bid, e.ask, e.price, "", "") for n, e in enumerate(state.past)]


@pytest.mark.parametrize("number", range(0, 120, 9))
def test_costs_of_a_certified_problem_add_up_to_the_regret(number: int) -> None:
    problem = frozen().problems[number]
    lineup = {problem.seat: PlayerSpec("random"), **problem.across}
    played = table_of(lineup["buyer"], lineup["seller"], **problem.instance().params)
    seat = BUYER if problem.seat == "buyer" else SELLER
    solution, regret = solve_table(played, seat), measure_metric(played, "optimum_regret", seat)
    assert solution is not None and regret is not None
    assert (solution.optimum, solution.random_worth) == pytest.approx(
        (problem.optimum, problem.random)
    )
    costs = COSTS(played, seat)
    assert sum(cost.loss for cost in costs) == pytest.approx(regret * problem.rounds)
    assert all(cost.how == EXACT and cost.best for cost in costs)


def test_best_quotes_by_the_costs_earn_the_optimum() -> None:
    """Following the best move that `sally show --why` names leaves no regret."""
    for problem in frozen().problems[5::30]:
        seat = BUYER if problem.seat == "buyer" else SELLER
        script: list[int] = []
        for _ in range(problem.rounds):
            played = _scripted(problem, seat, script)
            best = COSTS(played, seat)[len(script)].best[0]
            script.append(best)
        final = _scripted(problem, seat, script)
        assert measure_metric(final, "doing_optimum", seat) == pytest.approx(1)


def _scripted(problem: Any, seat: Any, script: list[int]) -> Played:
    from sally.core.match.partner import Scripted

    lineup = {problem.seat: PlayerSpec("random"), **problem.across}
    setup = resolve_setup(Setup(problem.instance(), 1, lineup))
    match: Match = Match(SPEC, setup)
    players = players_of(match)

    def plays(turn: Any) -> int:
        n = len(turn.view.past)
        return script[n] if n < len(script) else 50

    players[seat] = Scripted(plays)
    Driver(match, players).run()
    return Played(SPEC, match.episode(), match.replay)


def test_loss_parts_of_one_round() -> None:
    assert split_loss(BUYER, 70, 30, 40).missed == 30
    assert split_loss(BUYER, 70, 50, 40).overpaid == 5
    assert split_loss(BUYER, 70, 90, 80).beyond == 15
    assert split_loss(SELLER, 30, 20, 26).beyond == 7
    assert split_loss(SELLER, 30, 40, 40) == split_loss(BUYER, 70, 20, 80)


# --- word and deed --------------------------------------------------------------------------------


def test_metrics_of_promises_and_claims() -> None:
    played = spoken(
        [
            ("I will bid 40.", "My cost is 30.", 40, 50),  # kept, a true claim
            ("I will bid 40.", "I will ask 50.", 50, 50),  # broken in the other's favour; kept
            ("I will bid 60.", "I will ask 45.", 45, 45),  # broken in the own favour; kept
            ("My value is 55.", "My cost is 40.", 50, 50),  # a bluff each
        ]
    )
    assert measure_metric(played, "announced_share") == 0.75
    assert measure_metric(played, "promises_kept") == pytest.approx(1 / 3)
    assert measure_metric(played, "broken_other_favour") == pytest.approx(1 / 3)
    assert measure_metric(played, "broken_own_favour") == pytest.approx(1 / 3)
    assert (
        measure_metric(played, "claims_bluff") == 1 and measure_metric(played, "claims_true") == 0
    )
    assert measure_metric(played, "claims_true", SELLER) == 0.5
    assert measure_metric(played, "share_from_truthful") == pytest.approx((0 + 20 + 25) / (3 * 40))
    assert measure_metric(played, "kept_word_met") == 1
    assert measure_metric(played, "surplus_share") == pytest.approx((20 + 25 + 20) / (4 * 40))


def test_quotes_beyond_the_limit_are_counted() -> None:
    played = spoken([("", "", 80, 20), ("", "", 70, 30)])
    assert measure_metric(played, "irrational_quotes") == 0.5
    assert measure_metric(played, "irrational_quotes", SELLER) == 0.5


def test_best_replies_match_a_profitable_quote_and_avoid_a_losing_one() -> None:
    played = spoken([("", "", 40, 60)])
    replay: Trajectory = played.replay
    game, view = replay.game, replay.view(1, BUYER)
    assert best_replies(game, view, 45) == (45,)  # type: ignore[arg-type]
    assert best_replies(game, view, 80) == tuple(range(80))  # type: ignore[arg-type]
    assert set(best_replies(game, view, {"seller": 70}) or ()) == set(range(71))  # type: ignore[arg-type]
    seller = replay.view(1, SELLER)
    assert best_replies(game, seller, 20) == tuple(range(21, 101))  # type: ignore[arg-type]


def test_losses_without_predictions_are_blank() -> None:
    terms = LOSSES(spoken([("", "", 40, 60)]), BUYER)
    assert terms.inference is None and terms.translation is None and terms.format == 0.0
