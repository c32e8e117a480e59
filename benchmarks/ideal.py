"""Players beside the ideal observer: python -m benchmarks.ideal.

Each player meets every partner of the declared pool of ipd and rps (20 rounds), of eleven_twenty
(10 rounds), of bargaining (5 rounds, as the buyer with a value of 70, every cost of the prior), of
public goods (20 rounds, three others of one rule) and every pair of opponents of the pool of the
step race (targets 6 and 20), and as the encoder of Cipher every interceptor of its pool (matches of
four games; `--only cipher --matches N`). Printed are knowing on the scale of the ideal observer and
the parts of the regret per round, in the step race per race and in Cipher per match, where the
games won against each interceptor are added. No player may earn more than the Bayes-adaptive one
expects, apart from chance in Cipher, where codes and one interceptor are random.
In the small variants of Hanabi each player moves first in ten deals with every bot of the pool, and
only predictions are compared.
"""

from __future__ import annotations

import click

import sally
from sally.analysis.profile.ideal_scale import IdealRow, ideal_rows
from sally.core.log.events import Episode, PlayerSpec
from sally.core.registry import registry
from sally.games.bargaining.ideal import POOL as RULES
from sally.games.bargaining.values import cost_odds
from sally.games.cipher.interceptors import POOL as INTERCEPTORS
from sally.games.hanabi.ideal import POOL as BOTS
from sally.games.public_goods.ideal import POOL as GIVERS
from sally.games.repeated_games.ideal import declared_pool
from sally.games.repeated_games.rules import RepeatedGame
from sally.games.step_race.ideal import POOL as RACERS

PLAYERS = ("bayes_adaptive", "tit_for_tat", "win_stay_lose_shift", "random")
ROUNDS, SEEDS = 20, 4
BARGAINERS = ("half", "planner", "random")
VALUE, QUOTES = 70, 5
CONTRIBUTORS = ("free_rider", "giver", "matcher")
OTHERS = ("player_2", "player_3", "player_4")
HABITS = ("free_of_last", "random")
TARGETS = (6, 20)
HANABI = ("hanabi_very_small", "hanabi_small", "hanabi_mini")
OBSERVERS = ("observer", "smart", "iggi", "play_hinted")
DEALS = 10
ENCODERS = ("adapts", "crossing", "nearest")


def play_repeated(game: str, player: str) -> list[Episode]:
    """Play a repeated game against the pool."""
    rules = registry.game(game).build({"rounds": ROUNDS})
    assert isinstance(rules, RepeatedGame)
    probes = {"agent": ["their_odds"]} if player == "bayes_adaptive" else None
    return [
        sally.play(
            game, {"agent": player, "partner": partner}, seed=seed, rounds=ROUNDS, probes=probes
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


def play_bargaining(player: str) -> list[Episode]:
    """Play bargaining as the buyer against every rule and every cost of the uniform family.

    Given a value all these costs are equally likely, so that a plain mean is the expectation.
    """
    return [
        sally.play(
            "bargaining",
            {"buyer": player, "seller": partner},
            value=VALUE,
            cost=cost,
            rounds=QUOTES,
            talk="none",
        )
        for partner in RULES
        for cost in cost_odds("uniform", VALUE)
    ]


def play_public_goods(player: str) -> list[Episode]:
    """Play public goods against three others of each rule."""
    return [
        sally.play(
            "public_goods", {"player_1": player, **dict.fromkeys(OTHERS, name)}, rounds=ROUNDS
        )
        for name in GIVERS
    ]


def play_step_race(player: str, target: int) -> list[Episode]:
    """Play the step race against every pair of the pool."""
    return [
        sally.play(
            "step_race",
            {"player_1": player, "player_2": second, "player_3": third},
            target=target,
            talks=0,
        )
        for second in RACERS
        for third in RACERS
    ]


def play_hanabi(game: str, player: str) -> list[Episode]:
    """Play Hanabi with every bot of the pool and predict its moves."""
    return [
        sally.play(game, {"ann": player, "bob": bot}, deal=deal, probes={"ann": ["their_move"]})
        for bot in BOTS
        for deal in range(DEALS)
    ]


def play_cipher(player: str, matches: int) -> list[Episode]:
    """Play Cipher as the encoder against every interceptor of the pool."""
    return [
        sally.play(
            "cipher",
            {"encoder": player, "decoder": "by_keywords", "interceptor": name},
            seed=number,
            number=number,
            probes={"encoder": ["their_guess"]},
        )
        for name in INTERCEPTORS
        for number in range(matches)
    ]


def games_won(episodes: list[Episode]) -> str:
    """Return the games of Cipher that the encoder's team won against each interceptor."""
    texts = []
    for name in INTERCEPTORS:
        matches = [e for e in episodes if e.setup.lineup["interceptor"].player == name]
        paid = sum(e.payoffs["encoder"] for e in matches if e.payoffs is not None)
        texts.append(f"{name} {(4 * len(matches) + paid) / 2:.0f} of {4 * len(matches)}")
    return ", ".join(texts)


def line(row: IdealRow) -> str:
    """Return a row in words."""
    if row.adaptive is None:  # only predictions are compared
        right, ideal, share = row.pool_accuracy, row.ideal_accuracy, row.knowing_of_ideal
        return (
            f"{row.game:18} {row.player:14} right {right.value:.1f} %  ideal {ideal.value:.1f} %  "
            f"knowing of ideal {share.value:.2f}"
        )
    parts = {n: getattr(row, n).value for n in ("pool_regret", "price", "by_moves", "pool_luck")}
    parts_text = "  ".join(f"{name} {value:+.3f}" for name, value in parts.items())
    knowing = row.knowing_of_ideal.value
    of_ideal = "-" if knowing is None else f"{knowing:.2f}"
    return (
        f"{row.game:14} {row.player:20} earned {row.earned.value:.3f} of {row.adaptive:.3f}  "
        f"{parts_text}  knowing of ideal {of_ideal}"
    )


@click.command()
@click.option("--only", type=click.Choice(["cipher"]), help="play this game alone")
@click.option("--matches", default=15, show_default=True, help="matches of Cipher per interceptor")
def main(only: str | None, matches: int) -> None:
    """Print every player beside the ideal."""
    if only is None:
        others()
    for player in ("bayes_adaptive", *ENCODERS):
        episodes = play_cipher(player, matches)
        for row in ideal_rows(episodes):
            click.echo(f"{line(row)}  won: {games_won(episodes)}")


def others() -> None:
    """Print the rows of all games but Cipher."""
    for game in ("ipd", "rps"):
        for player in PLAYERS:
            for row in ideal_rows(play_repeated(game, player)):
                if row.seat == "agent":
                    click.echo(line(row))
    for k in range(4):
        for row in ideal_rows(levels(k)):
            if row.seat == "player_1":
                click.echo(line(row))
    for player in ("bayes_adaptive", *BARGAINERS):
        for row in ideal_rows(play_bargaining(player)):
            if row.seat == "buyer":
                click.echo(line(row))
    for player in ("bayes_adaptive", *CONTRIBUTORS):
        for row in ideal_rows(play_public_goods(player)):
            if row.seat == "player_1":
                click.echo(line(row))
    for target in TARGETS:
        for player in ("bayes_adaptive", *HABITS):
            for row in ideal_rows(play_step_race(player, target)):
                if row.seat == "player_1":
                    click.echo(f"target {target}: {line(row)}")
    for game in HANABI:
        for player in OBSERVERS:
            for row in ideal_rows(play_hanabi(game, player)):
                if row.seat == "ann":
                    click.echo(line(row))


if __name__ == "__main__":
    main()
