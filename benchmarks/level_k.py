"""How long a thousand bot games of each level-k game take, and our k-ToM beside tomsup's.

tomsup (benchmarks/peers.txt) is the differential peer: with it installed, the largest difference
between the choice probabilities of the two is printed with the ratio of their times.
"""

from __future__ import annotations

import time
from typing import Any

import msgspec

from benchmarks.common import time_in_turns
from sally.core.log.events import PlayerSpec, Setup
from sally.core.match.drive import Driver
from sally.core.match.engine import Match
from sally.core.registry import registry
from sally.core.registry.study import instance, player_spec
from sally.core.rules.chance import Stream
from sally.games.level_k.k_tom import KTom
from sally.runner.seating import players_of, resolve_setup

GAMES, AIM = 1000, 30  # so many games in so many seconds on two cores (issue 25)
TABLES: tuple[tuple[str, dict[str, Any], tuple[PlayerSpec, ...]], ...] = (
    ("eleven_twenty", {}, (player_spec("level", k=1), player_spec("people"))),
    (
        "beauty_contest",
        {"pays": {"kind": "contest", "players": 15}},
        (player_spec("level", k=1), player_spec("cognitive_hierarchy"), player_spec("random")),
    ),
    ("hide_and_seek", {}, (player_spec("level", k=1), player_spec("equilibrium"))),
    ("matching_pennies", {}, (player_spec("k_tom", k=0), player_spec("k_tom", k=1))),
    ("matching_pennies", {}, (player_spec("k_tom", k=2), player_spec("k_tom", k=1))),
)
GAINS = ((2.0, -2.0), (-2.0, 2.0))  # of the first player at matching pennies, and of the second


def play(game: str, params: dict[str, Any], specs: tuple[PlayerSpec, ...]) -> None:
    """A thousand games, each with its log."""
    spec = registry.game(game)
    seats = spec.build(params).seats
    lineup = {str(seat): specs[n % len(specs)] for n, seat in enumerate(seats)}
    setup = resolve_setup(Setup(instance(game, **params), 0, lineup))
    players = players_of(Match(spec, setup))
    for seed in range(GAMES):
        match = Match(spec, msgspec.structs.replace(setup, seed=seed))
        Driver(match, players).run()
        match.episode()


def ours(rounds: list[tuple[int, int]], k: int) -> list[float]:
    """The chances of a k-ToM before and after each of these rounds."""
    thinks = KTom(GAINS, k)
    mind = thinks.start
    chances = [thinks.chance(mind)]
    for own_move, other_move in rounds:
        mind = thinks.update_mind(mind, own_move, other_move)
        chances.append(thinks.chance(mind))
    return chances


def tomsup_chances(rounds: list[tuple[int, int]], k: int) -> list[float]:
    """The same from tomsup."""
    from tomsup.ktom_functions import init_k_tom, k_tom
    from tomsup.payoffmatrix import PayoffMatrix

    settings, pays = {"volatility": -2, "b_temp": -1}, PayoffMatrix("penny_competitive")
    mind, chances = init_k_tom(settings, k), []
    for own_move, other_move in [(None, None), *rounds]:
        _, mind = k_tom(mind, settings, own_move, other_move, k, 0, pays)
        chances.append(float(mind["own_states"]["p_self"]))
    return chances


def main() -> None:
    """Print the seconds, and the peer's ratio where it is installed."""
    for game, params, specs in TABLES:
        wall, cpu = time.perf_counter(), time.process_time()
        play(game, params, specs)
        took = time.perf_counter() - wall, time.process_time() - cpu
        names = " v ".join(f"{w.player}{w.params.get('k', '')}" for w in specs)
        print(
            f"{game}, {names}: {took[0]:.1f} s by the clock, {took[1]:.1f} by the CPU (aim {AIM})"
        )
    draws = Stream("benchmark")
    rounds = [(draws.below(2), draws.below(2)) for _ in range(60)]
    try:
        largest_difference = max(
            abs(a - b) for a, b in zip(ours(rounds, 2), tomsup_chances(rounds, 2), strict=True)
        )
    except ImportError:
        print("tomsup is not installed; `pip install -r benchmarks/peers.txt` brings it")
        return
    jobs = {"sally": lambda: ours(rounds, 2), "tomsup": lambda: tomsup_chances(rounds, 2)}
    seconds = time_in_turns(jobs)
    print(
        f"2-ToM, 60 rounds: tomsup takes {seconds['tomsup'] / seconds['sally']:.0f} times as long"
    )
    print(f"largest difference of a chance: {largest_difference:.0e}")


if __name__ == "__main__":
    main()
