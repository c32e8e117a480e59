"""Analyses of episodes: scores, profiles, comparisons, replays and reproduced figures.

Each function imports its analysis when it is called: `sally score` needs no other.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sally import store
from sally.analysis import score as scores
from sally.api.results import (
    Comparisons,
    Contrasts,
    CrossplayRows,
    Episodes,
    ProfileRows,
    ReliabilityRows,
    ScoreRows,
    VarianceRows,
    flat,
)
from sally.api.rows import Rows, list_names
from sally.core.errors import BadInput, needs_extra
from sally.core.log.events import Episode
from sally.core.registry.register import metric_names
from sally.core.rules.metric import Metric
from sally.frames.frame import Frame, Source, Watch
from sally.frames.frame import as_frame as frame_of
from sally.frames.profiles import SeatSums
from sally.frames.schema import EXPORTED_DECISION
from sally.store import Where
from sally.store.bundles import open_store
from sally.store.places import Folder, Remote

if TYPE_CHECKING:
    import polars as pl

    from sally.analysis.compare import compare as comparisons
    from sally.analysis.compare import contrast as contrasts
    from sally.runner.check import ReplayCheck


def load(place: Where) -> Episodes:
    """Load the episodes of a store or a bundle.

    Lines that cannot be read are copied to the store's quarantine and reported.

    Args:
        place: Folder or address of a store, or a bundle (`.sally.zip`).

    Raises:
        BadInput: If there is no store at that place.

    >>> import sally, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> _ = sally.run("quickstart", folder, limit=6)
    >>> sally.load(folder).title
    '18 episodes of rps, ibs, ipd'
    """
    with open_store(place) as (folder, _):
        return Episodes(store.load(folder).episodes.values())


def as_frame(source: Source, *, watch: Watch | None = None) -> Frame:
    """Return episodes as tables; a store of a million episodes fits into memory.

    `episodes` has one row per episode; `seats(...)`, `decisions()` and `calls()` return further
    tables as polars frames. Every analysis takes a frame, so several analyses of one store read it
    once. Single episodes are read by number (`episode(0)`) or by id (`episode_by_id`).

    Args:
        source: A frame, a store or bundle, an episode, or a list of these.
        watch: Called with the number of files whose tables are ready, and of all files.

    Raises:
        BadInput: If there is no store at a place.

    >>> import sally
    >>> lineup = {"agent": "random", "partner": "tit_for_tat"}
    >>> frame = sally.as_frame(sally.play("ipd", lineup, rounds=4))
    >>> frame.seats("seat", "player", "payoff")["seat"].to_list()
    ['agent', 'partner']
    """
    return frame_of(source, watch=watch)


def episodes(source: Source) -> Rows:
    """Return one row per seat of each episode, with every metric of its game.

    Args:
        source: A store, a bundle, episodes, or a frame.

    >>> import sally
    >>> lineup = {"agent": "random", "partner": "tit_for_tat"}
    >>> sally.episodes([sally.play("ipd", lineup, rounds=4)]).polars()["player"].to_list()
    ['random', 'tit_for_tat']
    """
    return Rows(frame_of(source).export_rows().to_dicts())


def decisions(source: Source) -> Rows:
    """Return one row per move, forfeit and report, with the truth where it is known.

    Moves and answers are texts.

    Args:
        source: A store, a bundle, episodes, or a frame.

    >>> import sally
    >>> lineup = {"agent": "random", "partner": "tit_for_tat"}
    >>> len(sally.decisions([sally.play("ipd", lineup, rounds=4)]))
    8
    """
    return Rows(frame_of(source).decisions().select(EXPORTED_DECISION).to_dicts())


def score(
    source: Source,
    metrics: str | Metric | Sequence[str | Metric] = (),
    *,
    games: str | Sequence[str] = (),
    cells: str | Sequence[str] = (),
    players: str | Sequence[str] = (),
    seat: str | Sequence[str] = (),
    by: scores.By | Sequence[scores.By] = (),
    every: bool = False,
) -> ScoreRows:
    """Return the mean of each metric with a 95% interval, one row per game, seat, player and
    metric.

    Cells and other players are pooled unless `by` separates them. Without `seat` and `players`,
    only studied seats are scored: those that were probed, or that a model or a person took.

    Args:
        source: A store, a bundle, episodes, or a frame.
        metrics: Names of metrics, or `Metric` objects, which are registered; by default the payoff
            and each game's headline metrics.
        games: Only these games; `*` stands for anything, here and in the next three.
        cells: Only these cells.
        players: Only these players or models.
        seat: Only this seat, or these, studied or not.
        by: Also divide by `cell`, `others`, `model` or `strategy`; the last two replace the player.
        every: All metrics that have a value.

    Raises:
        BadInput: If no episode has such a game, cell, player, seat or metric.

    >>> import sally
    >>> lineup = {"agent": ("constant", {"place": 0}), "partner": "tit_for_tat"}
    >>> played = [sally.play("ipd", lineup, seed=seed, rounds=4) for seed in range(5)]
    >>> [row["value"] for row in sally.score(played, ["payoff"], seat="agent")]
    [32.0]
    """
    names = (list_names(part) for part in (games, cells, seat, players))
    query = scores.Query(metric_names(list_names(metrics)), every, *names)
    frame = frame_of(source)
    return ScoreRows(scores.score(frame, query, list_names(by)), frame.bad)


def profile(
    source: Source,
    *,
    games: str | Sequence[str] = (),
    players: str | Sequence[str] = (),
    seat: str = "",
    cells: str | Sequence[str] = (),
    by_cell: bool = False,
    watch: Watch | None = None,
) -> ProfileRows:
    """Return the knowing-doing profile: what each player knew of others and how it acted on it.

    Args:
        source: A store, a bundle, episodes, or a frame.
        games: Only these games; `*` stands for anything, here and in the next three.
        players: Only these players or models.
        seat: The seat to profile; by default the seat that each study probes.
        cells: Only these cells of the study.
        by_cell: One row per cell of the study instead of one per game.
        watch: Called with the number of groups whose baseline players have played, and of all.

    Returns:
        Rows with a `plot()` method.

    Raises:
        BadInput: If a game, player, seat or cell is not among the episodes.

    >>> import sally
    >>> lineup, probes = {"agent": "random", "partner": "tit_for_tat"}, {"agent": ["their_move"]}
    >>> played = [sally.play("rps", lineup, seed, probes=probes, rounds=5) for seed in range(6)]
    >>> [row["player"] for row in sally.profile(played)]
    ['random']
    """
    from sally.analysis.profile.baselines import baselines
    from sally.analysis.profile.profile import profile_of
    from sally.analysis.profile.selected_seats import select_kinds

    frame = frame_of(source)
    games, players, cells = map(list_names, (games, players, cells))
    if seat:
        scores.require_known("seat", [seat], set(frame.seats("seat")["seat"]))

    def select(columns: pl.DataFrame) -> list[str]:
        seats = SeatSums(columns)
        return seats.kind_texts(select_kinds(seats, games, players, seat, cells))

    studied = SeatSums(frame.profiles(seat, select))
    rows = profile_of(studied, baselines(studied, by_cell, watch), by_cell=by_cell)
    return ProfileRows(rows, frame.bad)


def compare(
    source: Source,
    first: str,
    second: str,
    *,
    metrics: str | Sequence[str] = (),
    by: comparisons.By = "game",
    margin: float | None = None,
) -> Comparisons:
    """Compare two players, or two models, on the settings that both played.

    Models are pooled over the strategies that they share; `by_strategy` of the result has the
    differences strategy by strategy.

    Args:
        source: A store, a bundle, episodes, or a frame.
        first: Label of a player, or a model's name.
        second: The player or model it is compared with.
        metrics: Names of metrics; by default each game's headline metrics.
        by: Compare separately by `game`, `cell`, `others` (the other players) or `strategy`.
        margin: Also test whether the difference lies within this margin (equivalence).

    Raises:
        BadInput: If a player or metric is not among the episodes.
    """
    from sally.analysis.compare import compare as comparisons

    frame = frame_of(source)
    result = comparisons.compare(
        frame, first, second, metrics=list_names(metrics), by=by, margin=margin
    )
    return Comparisons(result, first, second, frame.bad)


def contrast(
    source: Source,
    of: contrasts.Of,
    *,
    metrics: str | Sequence[str] = (),
    by_player: bool = False,
    margin: float | None = None,
) -> Contrasts:
    """Compare the same players under two conditions.

    Args:
        source: A store, a bundle, episodes, or a frame.
        of: The condition: `asked` (probed or not), `twin` (the other player described as a
            mechanism or as a mind), `packs` (wording), `aware` (answer to the awareness probe).
        metrics: Names of metrics; by default each game's headline metrics.
        by_player: One row per player instead of one over all players.
        margin: Also test whether the difference lies within this margin (equivalence).

    Raises:
        BadInput: If the episodes lack one of the two conditions.
    """
    if margin is not None and not margin > 0:
        raise BadInput(f"The margin must be above 0, not {margin:g}.")
    from sally.analysis.compare import contrast as contrasts

    frame = frame_of(source)
    result = contrasts.contrast(
        frame, of, metrics=list_names(metrics), by_player=by_player, margin=margin
    )
    return Contrasts(result, frame.bad)


def crossplay(source: Source, game: str = "") -> CrossplayRows:
    """Return the mean payoffs of every player against every other in two-player games.

    Args:
        source: A store, a bundle, episodes, or a frame.
        game: Only this game.

    Returns:
        One row per pairing; `plot()` draws one game as a heat map.

    Raises:
        BadInput: If no episode is of this game, or a game has more than two seats.

    >>> import sally
    >>> lineup = {"agent": "random", "partner": "tit_for_tat"}
    >>> played = [sally.play("ipd", lineup, seed, rounds=5) for seed in range(3)]
    >>> sally.crossplay(played)[0]["episodes"]
    3
    """
    from sally.analysis.compare import crossplay as crossplays

    frame = frame_of(source)
    return CrossplayRows(crossplays.crossplay(frame, game), frame.bad)


def reliability(
    source: Source,
    *,
    games: str | Sequence[str] = (),
    players: str | Sequence[str] = (),
    target: float = 0.8,
) -> ReliabilityRows:
    """Return how reliably each measure distinguishes players; `matrix` has their correlations.

    Args:
        source: A store, a bundle, episodes, or a frame.
        games: Only these games; `*` stands for anything, here and in the next.
        players: Only these players.
        target: The reliability for which the number of episodes needed is computed.

    Raises:
        BadInput: If a game or player is not among the episodes, or the target is out of range.
    """
    if not 0 < target < 1:
        raise BadInput(f"The target must be between 0 and 1 (exclusive), not {target:g}.")
    from sally.analysis.design import reliability as reliable

    frame = frame_of(source)
    scores = reliable.select(reliable.scores_of(frame), list_names(games), list_names(players))
    rows = reliable.reliability(scores, target)
    return ReliabilityRows(rows, reliable.matrix(scores), frame.bad)


def variance(source: Source, *, games: str | Sequence[str] = ()) -> VarianceRows:
    """Return the share of each measure's variance that is due to the model, the wording and chance.

    Args:
        source: A store, a bundle, episodes, or a frame.
        games: Only these games; `*` stands for anything.

    Raises:
        BadInput: If a game is not among the episodes.
    """
    from sally.analysis.design import variance as variances

    frame = frame_of(source)
    return VarianceRows(variances.variance(frame, list_names(games)), frame.bad)


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
    from sally.analysis.design import audit as audits

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
    from sally.runner.check import cells_of, check

    with ExitStack() as open_ones:
        episodes_to_check: list[Iterable[Episode]] = []
        cells: dict[str, set[str]] = {}
        dropped = store.Contents()  # the replay compares checksums and says what is wrong
        for place in places:
            if isinstance(place, Episode):
                episodes_to_check.append([place])
                continue
            if not isinstance(place, str | Path | Folder | Remote):
                episodes_to_check.append(_only_episodes(place))
                continue
            folder = open_ones.enter_context(open_store(place))[0]
            episodes_to_check.append(store.each_episode(folder, dropped))
            if not isinstance(folder, Path) or folder.is_dir():
                cells |= cells_of(folder)
        return check(chain.from_iterable(episodes_to_check), cells, dropped)


def _only_episodes(items: object) -> list[Episode]:
    """Return the episodes of an iterable; raises BadInput if it holds anything else."""
    if not isinstance(items, Iterable):
        raise BadInput(f"{items!r} is not a store, a bundle or an episode.")
    episodes_listed = list(items)
    for item in episodes_listed:
        if not isinstance(item, Episode):
            raise BadInput(f"The list to replay contains {item!r}; it must contain only episodes.")
    return episodes_listed


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
    >>> rows = sally.reproduce("kang2026", "1")
    >>> {"published", "ours"} <= set(rows.columns)
    True
    """
    from sally.output.tables.reproduce import Effort
    from sally.output.tables.reproduce import reproduce as reproduced

    figures = reproduced(paper, table, episodes, model, Effort(repeats, seed))
    return Rows(flat(row) for row in figures)
