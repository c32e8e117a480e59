"""How long a thousand bot games of each level-k game take, and our k-ToM beside tomsup's.

tomsup (benchmarks/peers.txt) is the differential peer: with it installed, the largest difference
between the choice probabilities of the two is printed with the ratio of their times.
"""

from __future__ import annotations

import time
from typing import Any

import msgspec
from common import interleaved

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


def play(game: str, params: dict[str, Any], who: tuple[PlayerSpec, ...]) -> None:
    """A thousand games, each with its log."""
    spec = registry.game(game)
    seats = spec.build(params).seats
    lineup = {str(seat): who[n % len(who)] for n, seat in enumerate(seats)}
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
    for own, other in rounds:
        mind = thinks.update_mind(mind, own, other)
        chances.append(thinks.chance(mind))
    return chances


def theirs(rounds: list[tuple[int, int]], k: int) -> list[float]:
    """The same from tomsup."""
    from tomsup.ktom_functions import init_k_tom, k_tom
    from tomsup.payoffmatrix import PayoffMatrix

    settings, pays = {"volatility": -2, "b_temp": -1}, PayoffMatrix("penny_competitive")
    mind, chances = init_k_tom(settings, k), []
    for own, other in [(None, None), *rounds]:
        _, mind = k_tom(mind, settings, own, other, k, 0, pays)
        chances.append(float(mind["own_states"]["p_self"]))
    return chances


def main() -> None:
    """Print the seconds, and the peer's ratio where it is installed."""
    for game, params, who in TABLES:
        wall, cpu = time.perf_counter(), time.process_time()
        play(game, params, who)
        took = time.perf_counter() - wall, time.process_time() - cpu
        names = " v ".join(f"{w.player}{w.params.get('k', '')}" for w in who)
        print(
            f"{game}, {names}: {took[0]:.1f} s by the clock, {took[1]:.1f} by the CPU (aim {AIM})"
        )
    draws = Stream("benchmark")
    rounds = [(draws.below(2), draws.below(2)) for _ in range(60)]
    try:
        far = max(abs(a - b) for a, b in zip(ours(rounds, 2), theirs(rounds, 2), strict=True))
    except ImportError:
        print("tomsup is not installed; `pip install -r benchmarks/peers.txt` brings it")
        return
    jobs = {"sally": lambda: ours(rounds, 2), "tomsup": lambda: theirs(rounds, 2)}
    seconds = interleaved(jobs)
    print(
        f"2-ToM, 60 rounds: tomsup takes {seconds['tomsup'] / seconds['sally']:.0f} times as long"
    )
    print(f"largest difference of a chance: {far:.0e}")


if __name__ == "__main__":
    main()
