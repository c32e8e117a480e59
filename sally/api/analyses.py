"""Analyses of episodes: scores, profiles, comparisons, replays and reproduced figures."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Literal, overload

from sally import store
from sally.analysis.columns.measured import measured, seats_under_study
from sally.analysis.columns.rows import decision_rows, episode_rows, seat_rows, summary
from sally.analysis.columns.rows import played as replayed
from sally.analysis.columns.seat_table import seats_in
from sally.analysis.compare.compare import By, indexed_store
from sally.analysis.compare.compare import compare as compared
from sally.analysis.compare.crossplay import Pairing, Players, stored_crossplay
from sally.analysis.compare.crossplay import crossplay as crossplay_table
from sally.analysis.design import audit as audits
from sally.analysis.profile.baselines import baselines
from sally.analysis.profile.profile import profile_of
from sally.analysis.profile.selected_seats import select_seats
from sally.api.results import (
    Comparisons,
    CrossplayRows,
    Episodes,
    ProfileRows,
    StoredEpisodes,
    flat,
)
from sally.api.rows import Rows
from sally.core.errors import BadInput, needs_extra, unknown
from sally.core.log.events import Episode
from sally.core.registry import registry
from sally.core.registry.register import metric_names
from sally.core.rules.metric import Metric
from sally.output.files.bundle_reader import is_bundle, opened
from sally.output.tables.reproduce import Effort
from sally.output.tables.reproduce import reproduce as reproduced
from sally.runner.check import ReplayCheck, cells_of, check
from sally.store import Where
from sally.store.places import Folder, Remote

EpisodeSource = str | Path | Iterable[Episode]
"""A store or bundle by its path or address, or episodes themselves."""
BY = ("cell", "game", "seat", "player", "others")


@overload
def load(place: Where, *, lazy: Literal[False] = False) -> Episodes: ...
@overload
def load(place: Where, *, lazy: Literal[True]) -> StoredEpisodes: ...
def load(place: Where, *, lazy: bool = False) -> Episodes | StoredEpisodes:
    """Load the episodes of a store or a bundle.

    Lines that cannot be read are copied to the store's quarantine and reported.

    Args:
        place: Folder or address of a store, or a bundle (`.sally.zip`).
        lazy: Read each episode of a store from disk when it is accessed.

    Raises:
        BadInput: If there is no store at that place, or a bundle is loaded lazily.

    >>> import sally, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> _ = sally.run("quickstart", folder, limit=1)
    >>> sally.load(folder).title
    '18 episodes of rps, ibs, ipd'
    """
    if lazy:
        if is_bundle(Path(place) if isinstance(place, str) else place):
            raise BadInput(f"{place} is a bundle; only stores can be loaded lazily.")
        return StoredEpisodes(place)
    with opened(place) as (folder, _):
        return Episodes(store.load(folder).episodes.values())


def episodes_in(source: EpisodeSource) -> Episodes:
    """Return the episodes of a store, a bundle or an iterable."""
    if isinstance(source, str | Path):
        return load(source)
    return source if isinstance(source, Episodes) else Episodes(source)


def episodes(source: EpisodeSource) -> Rows:
    """Return one row per seat of each episode, with every metric of its game.

    Args:
        source: A store, a bundle, or episodes.

    >>> import sally
    >>> lineup = {"agent": "random", "partner": "tit_for_tat"}
    >>> sally.episodes([sally.play("ipd", lineup, rounds=4)]).polars()["player"].to_list()
    ['random', 'tit_for_tat']
    """
    return Rows(episode_rows(episodes_in(source)))


def decisions(source: EpisodeSource) -> Rows:
    """Return one row per move, forfeit and report, with the truth where it is known.

    Args:
        source: A store, a bundle, or episodes.

    >>> import sally
    >>> lineup = {"agent": "random", "partner": "tit_for_tat"}
    >>> len(sally.decisions([sally.play("ipd", lineup, rounds=4)]))
    8
    """
    return Rows(decision_rows(episodes_in(source)))


def score(source: EpisodeSource, metrics: Sequence[str | Metric] = (), *, seat: str = "") -> Rows:
    """Return the mean of each metric with a 95% interval, one row per player and metric.

    Args:
        source: A store, a bundle, or episodes.
        metrics: Names of metrics, or `Metric` objects, which are registered; by default the payoff
            and each game's headline metrics.
        seat: Only players in this seat.

    Raises:
        BadInput: If no episode has such a seat or metric.

    >>> import sally
    >>> lineup = {"agent": ("constant", {"place": 0}), "partner": "tit_for_tat"}
    >>> played = [sally.play("ipd", lineup, seed=seed, rounds=4) for seed in range(5)]
    >>> [row["value"] for row in sally.score(played, ["payoff"], seat="agent")]
    [32.0]
    """
    wanted = metric_names(metrics)
    every = Rows(row for episode in episodes_in(source) for row in seat_rows(replayed(episode)))
    kept = [row for row in every if not seat or row["seat"] == seat]
    if every and not kept:
        raise unknown("seat in these episodes", seat, {row["seat"] for row in every})
    known = registry.entries("metrics")
    for name in wanted:
        if not any(name in row for row in kept):
            raise unknown("metric in these episodes", name, {*known} & {*every.columns})
    headline = [name for name, metric in known.items() if metric.headline]
    named = wanted or (*headline, "payoff")
    found = [row for name in named for row in summary([r for r in kept if name in r], name, BY)]
    return Rows(row for row in found if row["value"] is not None)


def profile(
    source: EpisodeSource,
    *,
    games: Sequence[str] = (),
    players: Sequence[str] = (),
    seat: str = "",
    by_cell: bool = False,
) -> ProfileRows:
    """Return the knowing-doing profile: what each player knew of others and how it acted on it.

    Args:
        source: A store, a bundle, or episodes.
        games: Only these games.
        players: Only these players or models.
        seat: The seat to profile; by default the seat that each study probes.
        by_cell: One row per cell of the study instead of one per game.

    Returns:
        Rows with a `plot()` method.

    Raises:
        BadInput: If a game, player or seat is not among the episodes.

    >>> import sally
    >>> lineup, probes = {"agent": "random", "partner": "tit_for_tat"}, {"agent": ["their_move"]}
    >>> played = [sally.play("rps", lineup, seed, probes=probes, rounds=5) for seed in range(6)]
    >>> [row["player"] for row in sally.profile(played)]
    ['random']
    """
    seats = [
        one
        for episode in episodes_in(source)
        for one in measured(episode, (seat,) if seat else seats_under_study(episode.setup))
    ]
    studied = select_seats(seats, games, players, seat)
    return ProfileRows(profile_of(studied, baselines(studied, by_cell), by_cell=by_cell))


def compare(
    source: EpisodeSource,
    first: str,
    second: str,
    *,
    metrics: Sequence[str] = (),
    by: By = "game",
    margin: float | None = None,
) -> Comparisons:
    """Compare two players on the settings that both played.

    Args:
        source: A store, a bundle, or episodes.
        first: Label of a player, or a model's name.
        second: The player it is compared with.
        metrics: Names of metrics; by default each game's headline metrics.
        by: Compare separately by `game`, `cell`, `others` (the other players) or `strategy`.
        margin: Also test whether the difference lies within this margin (equivalence).

    Raises:
        BadInput: If a player or metric is not among the episodes.
    """
    options = {"metrics": metrics, "by": by, "margin": margin}
    if isinstance(source, str | Path):
        with opened(source) as (folder, _):
            found = compared(indexed_store(folder), first, second, **options)  # type: ignore[arg-type]
    else:
        found = compared(source, first, second, **options)  # type: ignore[arg-type]
    return Comparisons(found, first, second)


def compare_logs(
    *logs: str | Path,
    scorers: Sequence[str] = (),
    cluster: str | Callable[[Any], Hashable] | None = None,
    margin: float | None = None,
    ids_only: bool = False,
) -> Rows:
    """Compare Inspect logs of the same samples, each pair of logs by each scorer.

    Args:
        *logs: At least two `.eval` or `.json` logs.
        scorers: Only these scorers; `SCORER.KEY` names one value of a scorer that has several.
        cluster: A metadata column, or a function of Inspect's sample; by default the epochs of
            one sample form a cluster.
        margin: Differences within it count as equivalence; by default .2 standard deviations.
        ids_only: Pair samples by id even if their inputs differ.

    Returns:
        One row per pair of logs and scorer: means, paired difference with a 95% interval, adjusted
        p values, verdict, and the number of clusters that would decide an undecided comparison.

    Raises:
        BadInput: If Inspect is not installed, a log cannot be read, or two logs share no sample
            or scorer.

    >>> import sally
    >>> sally.compare_logs("one.eval")
    Traceback (most recent call last):
        ...
    sally.core.errors.BadInput: A comparison needs at least two logs.
    """
    with needs_extra("inspect"):
        from sally.adapters.inspect import compare_logs as inspect_logs
    options: dict[str, Any] = {"cluster": cluster, "margin": margin, "ids_only": ids_only}
    return Rows(flat(c) for c in inspect_logs.compare_logs(logs, scorers=scorers, **options))


def crossplay(source: EpisodeSource, game: str = "") -> CrossplayRows:
    """Return the mean payoffs of every player against every other in two-player games.

    Args:
        source: A store, a bundle, or episodes.
        game: Only this game.

    Returns:
        One row per pairing; `plot()` draws one game as a heat map.

    >>> import sally
    >>> lineup = {"agent": "random", "partner": "tit_for_tat"}
    >>> played = [sally.play("ipd", lineup, seed, rounds=5) for seed in range(3)]
    >>> sally.crossplay(played)[0]["episodes"]
    3
    """
    tables: dict[str, dict[Players, Pairing]] = {}
    if isinstance(source, str | Path):
        with opened(source) as (folder, _):
            tables = stored_crossplay(seats_in(folder, ["payoff"]), game or None)
    else:
        games: dict[str, list[Episode]] = {}
        for episode in source:
            name = episode.setup.instance.game
            if game in ("", name) and len(episode.setup.lineup) >= 2:
                games.setdefault(name, []).append(episode)
        tables = {name: crossplay_table(found) for name, found in games.items()}
    return CrossplayRows(tables)


def audit(game: str, episodes: int = 100, *, seed: int = 1) -> Rows:
    """Play the conditions on a game's card with random players, rules of thumb and their inverses.

    Args:
        game: Name of a game that has a card.
        episodes: Episodes per condition and player.
        seed: Seed of the episodes.

    Returns:
        One row per condition, player and metric, with an interval. Where no interval can be
        computed, `method` ends with the reason.

    Raises:
        BadInput: If the game is unknown or has no card.

    >>> import sally
    >>> {row["condition"] for row in sally.audit("ibs", episodes=2)} != set()
    True
    """
    return Rows(audits.audit(game, episodes, seed))


def replay(*places: Where | Episode | Iterable[Episode]) -> ReplayCheck:
    """Replay stored episodes from their logs, without a model, and report every difference.

    Args:
        *places: Stores, bundles, episodes, or lists of episodes.

    Returns:
        The number of episodes replayed, and the id and reason of each mismatch.

    Raises:
        BadInput: If there is no store at a place.

    >>> import sally
    >>> episode = sally.play("ipd", {"agent": "random", "partner": "tit_for_tat"}, rounds=3)
    >>> sally.replay([episode])
    <1 of 1 episodes replayed, 0 mismatches, 0 not checked>
    """
    with ExitStack() as open_ones:
        found: list[Episode] = []
        cells: dict[str, set[str]] = {}
        changed: set[str] = set()
        for place in places:
            if isinstance(place, Episode):
                found.append(place)
                continue
            if not isinstance(place, str | Path | Folder | Remote):
                found += _only_episodes(place)
                continue
            folder = open_ones.enter_context(opened(place))[0]
            file = isinstance(folder, Path) and not folder.is_dir()
            held = (  # checksums are compared by the replay, which reports what is wrong
                store.load_file(Path(str(folder)), check=False)
                if file
                else store.load(folder, check=False)
            )
            found += held.episodes.values()
            changed |= held.changed
            cells |= {} if file else cells_of(folder)
        return check(found, cells, changed)


def _only_episodes(given: object) -> list[Episode]:
    """Return the episodes of an iterable; raises BadInput if it holds anything else."""
    if not isinstance(given, Iterable):
        raise BadInput(f"{given!r} is not a store, a bundle or an episode.")
    found = list(given)
    for one in found:
        if not isinstance(one, Episode):
            raise BadInput(f"The list to replay contains {one!r}; it must contain only episodes.")
    return found


def reproduce(
    paper: str,
    table: str | None = None,
    *,
    episodes: Where | None = None,
    model: str | None = None,
    repeats: int = 2000,
    seed: int = 1,
) -> Rows:
    """Return the published figures of a paper's tables with ours, one row per figure.

    Args:
        paper: Name of a paper, such as `riemer2025`.
        table: Only this table.
        episodes: A store whose episodes fill the tables; without it, only computed figures.
        model: Only this model's episodes.
        repeats: Number of simulated episodes per cell.
        seed: Seed of the simulations.

    Raises:
        BadInput: If the paper, table or model is unknown.

    >>> import sally
    >>> rows = sally.reproduce("level_k")
    >>> {"published", "ours"} <= set(rows.columns)
    True
    """
    found = reproduced(paper, table, episodes, model, Effort(repeats, seed))
    return Rows(flat(row) for row in found)
