"""Audit of a game's card: the scores of mindless players on each of its conditions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sally.core.errors import BadInput
from sally.core.log.events import Setup, label
from sally.core.registry import registry
from sally.core.registry.study import study_of
from sally.core.rules.card import Card, Condition
from sally.core.rules.game import Seat
from sally.core.rules.metric import Metric, Played
from sally.frames.clusters import table_clusters
from sally.runner.local import play_open
from sally.runner.seating import resolve_setup
from sally.stats.cluster_interval import mean_by_rule
from sally.stats.intervals import Estimate, blank_intervals

Row = dict[str, Any]
MOST_EPISODES = 10_000_000  # of a player in a condition
Watcher = Callable[[int, int], None]  # episodes played, episodes in all


def audit(game: str, episodes: int = 30, seed: int = 1, watch: Watcher | None = None) -> list[Row]:
    """Return one row for each condition, player and metric of a game's card.

    Args:
        game: A game or family with a card.
        episodes: Episodes of each player on each condition.
        seed: Seed of the problems and of chance.
        watch: Called after each episode with the number of episodes played so far and the total.
    """
    return audit_of(conditions_of(game), episodes, seed, watch)


def audit_of(
    conditions: Sequence[Condition], episodes: int, seed: int, watch: Watcher | None = None
) -> list[Row]:
    """Return one row for each player and metric of the given conditions."""
    if not 1 <= episodes <= MOST_EPISODES:
        raise BadInput(f"episodes must be from 1 to {MOST_EPISODES:,}.")
    metrics = {c.name: metrics_of(c) for c in conditions}
    by_name = {c.name: c for c in conditions}
    values: dict[tuple[str, str, str], list[tuple[float, str]]] = {
        (c.name, label(player), metric): []
        for c in conditions
        for player in c.players
        for metric in c.metrics
    }
    study = study_of("audit", conditions, episodes, seed)
    counts = Counter[tuple[str, str]]()
    trials = []
    for cell, setup in study.trials():
        cell_player = cell, label(setup.lineup[by_name[cell].seat])
        counts[cell_player] += 1
        if counts[cell_player] <= episodes:
            trials.append((cell, resolve_setup(setup)))
    for n, (cell, setup) in enumerate(trials, 1):
        seat = by_name[cell].seat
        player = label(setup.lineup[seat])
        for metric, value in play_and_measure(setup, Seat(seat), metrics[cell]).items():
            if value is not None:
                values[cell, player, metric].append((value, setup.instance.id))
        if watch:
            watch(n, len(trials))
    return [_row(*key, scores, metrics[key[0]][key[2]]) for key, scores in values.items()]


def card_of(game: str) -> Card:
    """Return the card of the family that a game belongs to.

    Raises:
        BadInput: If the family has no card.
    """
    card = registry.card(game)
    if card is None:
        home = registry.family(game).game.__module__
        raise BadInput(
            f"{game} has no card yet: define CARD in {home}, or in card.py beside it if the game "
            "is a folder."
        )
    return card


def conditions_of(game: str) -> tuple[Condition, ...]:
    """Return the conditions under which a game is audited.

    Raises:
        BadInput: If its card has no condition for the game.
    """
    card = card_of(game)
    conditions = card.of(game)
    if not conditions:
        raise BadInput(f"The card of {card.family} has no condition for {game}.")
    return conditions


def metrics_of(condition: Condition) -> Mapping[str, Metric]:
    """Return the metrics that a condition names."""
    spec = registry.game(condition.instances[0].game)
    metrics = registry.metrics(spec.family or spec.name)
    return {
        name: registry.pick(f"metric of {spec.name}", name, metrics) for name in condition.metrics
    }


def play_and_measure(
    setup: Setup, seat: Seat, metrics: Mapping[str, Metric]
) -> dict[str, float | None]:
    """Play one episode and measure a seat."""
    played = Played(registry.game(setup.instance.game), *play_open(setup))
    return {name: metric.measure(played, seat) for name, metric in metrics.items()}


def _row(
    condition: str, player: str, metric: str, scores: Sequence[tuple[float, str]], of: Metric
) -> Row:
    clusters = table_clusters([instance for _, instance in scores], range(len(scores)))
    estimate = mean_by_rule([value for value, _ in scores], clusters, of.ends)
    return {
        "condition": condition,
        "player": player,
        "metric": metric,
        "value": estimate.value,
        "interval": estimate.interval,
        "episodes": estimate.n,
        "method": estimate.method,  # of the interval, or why there is none
    }


def without_intervals(rows: Sequence[Row]) -> list[str]:
    """Return one line for each reason why values of an audit have no interval."""
    estimates = []
    for row in rows:
        low, high = row["interval"] or (None, None)
        estimate = Estimate(row["value"], low, high, row["episodes"], row["method"])
        estimates.append((f"{row['metric']} of {row['player']} in {row['condition']}", estimate))
    return blank_intervals(estimates)


def off_chance(game: str, rows: Sequence[Row], slack: float = 1.0) -> list[Row]:
    """Return the rows whose interval, widened `slack` times, excludes the declared chance level.

    Players that do better than chance come first, starting with the best. With a slack of 1,
    one row in twenty is returned by chance alone.
    """
    chances = {c.name: c.chance for c in conditions_of(game)}
    metrics = registry.metrics(game)
    deviating: list[tuple[float, Row]] = []
    for row in rows:
        chance = chances[row["condition"]].get(row["metric"])
        if chance is None or row["interval"] is None:
            continue
        low, high = row["interval"]
        if abs(chance - row["value"]) > slack * (high - low) / 2 + 1e-9:
            lower = row["metric"] in metrics and metrics[row["metric"]].better == "lower"
            deviating.append((chance - row["value"] if not lower else row["value"] - chance, row))
    return [row for _, row in sorted(deviating, key=lambda pair: pair[0])]
