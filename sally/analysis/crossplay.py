"""Who scores what against whom: a table of two seats, and its picture."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from sally.analysis.ends import ends_in
from sally.analysis.rows import Row, mean_of
from sally.core import shelf
from sally.core.errors import BadInput
from sally.core.game import Seat
from sally.core.log import Episode, label
from sally.stats.rule import Bounds


class Pairing(msgspec.Struct, frozen=True):
    """What two players scored over the episodes in which they met."""

    episodes: int
    first: float  # the mean payoff of the first seat
    first_interval: list[float] | None
    second: float
    second_interval: list[float] | None
    both: float  # the share of episodes in which both were paid


def crossplay(episodes: Iterable[Episode]) -> dict[tuple[str, str], Pairing]:
    """Mean payoffs for each pair (first seat, second seat); censored episodes are left out."""
    paid: dict[tuple[str, str], list[Row]] = {}
    for episode in episodes:
        if episode.payoffs is None:
            continue
        if len(episode.payoffs) != 2:
            raise BadInput(f"Episode {episode.id} has {len(episode.payoffs)} seats, not two.")
        (one, first), (two, second) = episode.payoffs.items()
        lineup = episode.setup.lineup
        row: Row = {
            "instance": episode.setup.instance.id,
            "repeat": episode.setup.repeat,
            "first": first,
            "second": second,
            "ends": {"first": _ends(episode, one), "second": _ends(episode, two)},
        }
        paid.setdefault((label(lineup[one]), label(lineup[two])), []).append(row)
    return {pair: _pairing(found) for pair, found in paid.items()}


def _pairing(found: Sequence[Row]) -> Pairing:
    first, second = (mean_of(found, seat) for seat in ("first", "second"))
    both = sum(row["first"] > 0 and row["second"] > 0 for row in found) / len(found)
    assert first.value is not None and second.value is not None  # there is at least one episode
    return Pairing(len(found), first.value, first.interval, second.value, second.interval, both)


def _ends(episode: Episode, seat: str) -> Bounds | None:
    """The least and the most that the episode could pay a seat, if its game says so."""
    instance = episode.setup.instance
    spec = shelf.game(instance.game)
    if spec.pays is None:
        return None
    return ends_in("payoff", spec, spec.build(instance.params), Seat(seat))


Table = Mapping[tuple[str, str], Pairing]


def names_of(table: Table) -> list[str]:
    """Everybody in the table, in the order of appearance."""
    return list(dict.fromkeys([*(one for one, _ in table), *(two for _, two in table)]))


def sides(table: Table) -> tuple[list[str], list[str]]:
    """Who sat first and who sat second, each best first by the mean over those they met."""
    first, second = dict[str, list[float]](), dict[str, list[float]]()
    for (one, two), met in table.items():
        first.setdefault(one, []).append(met.first)
        second.setdefault(two, []).append(met.second)

    def best_first(paid: dict[str, list[float]]) -> list[str]:
        return sorted(paid, key=lambda name: (-sum(paid[name]) / len(paid[name]), name))

    return best_first(first), best_first(second)


def draw(table: Table, path: Path, title: str = "") -> None:
    """A picture of the table: the first seat's mean score by colour, both scores in figures."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise BadInput(
            "A picture needs matplotlib; `pip install 'sally-lab[figures]'` brings it."
        ) from None
    rows, columns = sides(table)
    if not rows:
        raise BadInput("There is nothing to draw: no episode has a result.")
    grid = [[_score(table, one, two) for two in columns] for one in rows]
    longest = 0.075 * max(map(len, rows))  # inches
    size = (2.2 + longest + 0.95 * len(columns), 1.6 + 0.32 * len(rows))
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots()
    lowest = min(met.first for met in table.values())
    image = axes.imshow(grid, cmap="viridis", aspect="auto", vmin=min(lowest, 0.0))
    axes.set_facecolor("#eeeeee")  # those who never met
    axes.set_xticks(range(len(columns)), columns, rotation=30, ha="right", fontsize=8)
    axes.set_yticks(range(len(rows)), rows, fontsize=8)
    axes.set_xlabel("second seat")
    axes.set_ylabel("first seat")
    axes.set_title(title or "mean score, first / second seat; best on top and to the left", size=10)
    box = {"facecolor": "white", "alpha": 0.75, "edgecolor": "none", "pad": 1.0}
    for row, one in enumerate(rows):
        for column, two in enumerate(columns):
            if (met := table.get((one, two))) is not None:
                said = f"{met.first:.2f} / {met.second:.2f}"
                axes.text(column, row, said, ha="center", va="center", fontsize=7, bbox=box)
    figure.colorbar(image, ax=axes, label="first seat's mean score")
    figure.savefig(path, dpi=150)


def _score(table: Table, one: str, two: str) -> float:
    met = table.get((one, two))
    return float("nan") if met is None else met.first
