"""Players beside the ideal observer: python -m benchmarks.ideal.

Each player meets every partner of the declared pool of ipd and rps (20 rounds) and of
eleven_twenty (10 rounds); printed are knowing on the scale of the ideal observer and the parts of
the regret per round. No player may earn more than the Bayes-adaptive one expects.
"""

from __future__ import annotations

import click

import sally
from sally.analysis.profile.ideal_scale import IdealRow, ideal_rows
from sally.core.log.events import Episode, PlayerSpec
from sally.core.registry import registry
from sally.games.repeated_games.ideal import declared_pool
from sally.games.repeated_games.rules import RepeatedGame

PLAYERS = ("bayes_adaptive", "tit_for_tat", "win_stay_lose_shift", "random")
ROUNDS, SEEDS = 20, 4


def repeated(game: str, who: str) -> list[Episode]:
    """Play a repeated game against the pool."""
    rules = registry.game(game).build({"rounds": ROUNDS})
    assert isinstance(rules, RepeatedGame)
    probes = {"agent": ["their_odds"]} if who == "bayes_adaptive" else None
    return [
        sally.play(
            game, {"agent": who, "partner": partner}, seed=seed, rounds=ROUNDS, probes=probes
        )
        for partner in declared_pool(rules, rules.seats[0])
        for seed in range(SEEDS)
    ]


def levels(k: int) -> list[Episode]:
    """Play the request game at one level against levels 0 to 3."""
    return [
        sally.play(
            "eleven_twenty",
            {"player_1": PlayerSpec("level", {"k": k}), "player_2": PlayerSpec("level", {"k": n})},
            rounds=10,
        )
        for n in range(4)
    ]


def line(row: IdealRow) -> str:
    """Return a row in words."""
    parts = {n: getattr(row, n).value for n in ("pool_regret", "price", "by_moves", "pool_luck")}
    told = "  ".join(f"{name} {value:+.3f}" for name, value in parts.items())
    known = row.knowing_of_ideal.value
    of_ideal = "-" if known is None else f"{known:.2f}"
    return (
        f"{row.game:14} {row.player:20} earned {row.earned.value:.3f} of {row.adaptive:.3f}  "
        f"{told}  knowing of ideal {of_ideal}"
    )


@click.command()
def main() -> None:
    """Print every player beside the ideal."""
    for game in ("ipd", "rps"):
        for who in PLAYERS:
            for row in ideal_rows(repeated(game, who)):
                if row.seat == "agent":
                    click.echo(line(row))
    for k in range(4):
        for row in ideal_rows(levels(k)):
            if row.seat == "player_1":
                click.echo(line(row))


if __name__ == "__main__":
    main()
