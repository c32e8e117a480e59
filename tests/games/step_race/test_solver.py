"""Every vector of the protocol, certified tables, and partners that play as they are declared."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.problem_sets.step_race import certify
from sally.core.errors import BadInput
from sally.core.rules.chance import Stream
from sally.games.step_race import solver
from sally.games.step_race.certified_tables import read_certified
from sally.games.step_race.rules import MOVES, gains, prize, triple
from sally.games.step_race.solver import Mind, always, best, solve_race, uniform, value
from tests.games.step_race.second_rules import play

VECTORS = json.loads((Path(__file__).parent / "vectors.json").read_text("utf-8"))
MINDS = {
    "always_5": lambda: always(5),
    "always_3": lambda: always(3),
    "uniform": uniform,
    "stage_equilibrium": solver.mixed_equilibrium,
    "finisher": solver.finisher,
    "blocker": solver.blocker,
}


def test_there_are_twenty_vectors() -> None:
    assert len(VECTORS) == 20


@pytest.mark.parametrize("vector", [v for v in VECTORS if v["kind"] == "value_all_uniform"])
def test_values_under_uniform_play(vector: dict[str, Any]) -> None:
    assert value(triple(vector["missing"])) == pytest.approx(vector["value"], abs=1e-11)


@pytest.mark.parametrize("vector", [v for v in VECTORS if v["kind"] == "best_reply"])
def test_best_replies(vector: dict[str, Any]) -> None:
    mind, two = (MINDS[name]() for name in vector["others"])
    missing = triple(vector["missing"])
    target = max(missing)
    race = solve_race(target, 0, (mind, two))
    assert race.value(missing) == pytest.approx(vector["optimum"], abs=1e-10)
    assert list(best(race.worths(missing))) == vector["first_moves"]
    even = solve_race(target, 0, (mind, two), uniform()).value(missing)
    assert even == pytest.approx(vector["uniform"], abs=1e-10)
    if "always_5" in vector:
        greedy = solve_race(target, 0, (mind, two), always(5)).value(missing)
        assert greedy == pytest.approx(vector["always_5"], abs=1e-10)


def test_equilibria_of_one_turn() -> None:
    (vector,) = [v for v in VECTORS if v["kind"] == "stage_equilibria"]
    odds, value = solver.stage_equilibrium()
    assert odds == pytest.approx(tuple(vector["symmetric_mixed"]["p"].values()), abs=1e-8)
    assert value == pytest.approx(vector["symmetric_mixed"]["value"], abs=1e-8)


def test_value_of_a_seat_does_not_depend_on_its_number() -> None:
    assert value((4, 9, 12)) == pytest.approx(value((9, 4, 12), 1))
    assert sum(value((4, 9, 12), n) for n in range(3)) == pytest.approx(1.0)


# --- simulation: what is solved is what is played -------------------------------------------------


def simulate(minds: tuple[Mind, Mind, Mind], target: int, games: int) -> list[float]:
    """The mean points of three minds, by the second implementation of the rules."""
    totals = [0.0, 0.0, 0.0]
    for n in range(games):
        draws, standing, turn = Stream("simulated", n), (0, 0, 0), 1
        points = None
        while points is None and turn < 500:
            missing = triple(target - p for p in standing)
            said = [None, None, None]
            for number, mind in enumerate(minds):
                said[number] = draws.draw(dict(mind.announces))  # type: ignore[call-overload]
            chosen = triple(
                draws.draw(dict(zip(MOVES, mind.moves(missing, k, turn, tuple(said)), strict=True)))  # type: ignore[arg-type]
                for k, mind in enumerate(minds)
            )
            (standing,), points = play([chosen], target, standing)
            turn += 1
        totals = [t + p for t, p in zip(totals, points or [0.0] * 3, strict=True)]
    return [t / games for t in totals]


@pytest.mark.parametrize(
    "others",
    [
        ("stage_equilibrium", "blocker"),
        ("finisher", "uniform"),
        ("rotator", "keeper"),
    ],
)
def test_solved_values_equal_simulated_means(others: tuple[str, str]) -> None:
    mind, two = (solver.MINDS[name]() for name in others)
    own_mind = uniform()
    exact = solve_race(12, 0, (mind, two), own_mind).value((12, 12, 12))
    mean = simulate((own_mind, mind, two), 12, 1500)[0]
    assert mean == pytest.approx(exact, abs=0.05)  # four standard errors at most


def test_solved_reply_earns_its_stated_value() -> None:
    """Play the solved best reply to a keeper and an always-5 with the second rules."""
    minds = (always(5), solver.keeper(0.8))
    race = solve_race(12, 0, minds)

    def reply(missing: Any, number: int, turn: int, said: Any) -> Any:
        return solver.sure(max(best(race.worths(missing, turn, said))))

    mean = simulate((Mind(reply), *minds), 12, 1500)[0]
    assert mean == pytest.approx(race.value((12, 12, 12)), abs=0.05)


def test_partner_that_reacts_to_messages_is_not_solved() -> None:
    with pytest.raises(BadInput, match="announcements"):
        solve_race(12, 0, (solver.follower(), uniform()))
    assert solver.solved_against(20, 0, [("follower", {}), ("uniform", {})]) is None
    assert solver.solved_against(20, 0, [("language", {}), ("uniform", {})]) is None


# --- certified tables -----------------------------------------------------------------------------


def test_problem_that_cannot_be_won_is_refused() -> None:
    others = {"player_2": ("always", {"move": 5}), "player_3": ("always", {"move": 3})}
    with pytest.raises(BadInput, match="cannot win"):
        certify({"target": 20, "talks": 0}, "player_1", others)


def test_problem_solved_by_a_mute_player_is_refused() -> None:
    others = {"player_2": ("uniform", {}), "player_3": ("uniform", {})}
    with pytest.raises(BadInput, match="no scale can be defined between them"):
        certify({"target": 12, "talks": 0}, "player_1", others)


def test_partner_that_is_not_solved_is_refused() -> None:
    others = {"player_2": ("follower", {}), "player_3": ("uniform", {})}
    with pytest.raises(BadInput, match="no best reply can be computed"):
        certify({"target": 20}, "player_1", others)


def test_certified_optimum_exceeds_every_mute_player() -> None:
    assert len(read_certified()) >= 20
    assert len({certified_problem.id for certified_problem in read_certified()}) == len(
        read_certified()
    )
    for certified_problem in read_certified():
        assert certified_problem.optimum >= 0.05 + max(
            certified_problem.uniform, *certified_problem.mindless.values()
        )


@pytest.mark.parametrize("number", (0, 15))
def test_certificates_are_reproduced(number: int) -> None:
    certified_problem = read_certified()[number]
    others = {
        seat: (player.player, player.params) for seat, player in certified_problem.others.items()
    }
    repeated_certified_problem = certify(certified_problem.params, certified_problem.seat, others)
    assert repeated_certified_problem.optimum == pytest.approx(certified_problem.optimum, abs=1e-12)
    assert repeated_certified_problem.mindless == pytest.approx(
        certified_problem.mindless, abs=1e-12
    )
    assert (repeated_certified_problem.id, repeated_certified_problem.first_moves) == (
        certified_problem.id,
        certified_problem.first_moves,
    )


def test_gains_and_prize_equal_those_of_the_solver() -> None:
    assert solver.missing_after((6, 6, 6), 1, 5, 5, 3) == triple(6 - g for g in gains((5, 5, 3)))
    assert solver.standing((0, 3, 4), 0) == (prize((20, 17, 16), 20) or (0.0,))[0] == 1.0
