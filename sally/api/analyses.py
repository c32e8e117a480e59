"""What episodes say: scores, profiles, comparisons, replays, published figures beside ours."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Literal, overload

from sally import store
from sally.analysis.columns.measured import in_question, measured
from sally.analysis.columns.rows import decision_rows, episode_rows, seat_rows, summary
from sally.analysis.columns.rows import played as laid_open
from sally.analysis.columns.seat_table import seats_in
from sally.analysis.compare.compare import compare as compared
from sally.analysis.compare.crossplay import Met, Pairing, stored_crossplay
from sally.analysis.compare.crossplay import crossplay as met
from sally.analysis.compare.scores import By, seen
from sally.analysis.design import audit as audits
from sally.analysis.profile.baselines import baselines
from sally.analysis.profile.profile import profile_of
from sally.analysis.profile.selected_seats import chosen
from sally.api.results import Comparisons, Episodes, Rows, StoredEpisodes, flat
from sally.core.errors import BadInput, unknown
from sally.core.log.events import Episode
from sally.core.registry import registry
from sally.output.files.bundle_reader import is_bundle, opened
from sally.output.tables.reproduce import Effort
from sally.output.tables.reproduce import reproduce as reproduced
from sally.runner.check import Checked, cells_of, check
from sally.store import Where

Played = str | Path | Iterable[Episode]
"""A store or a bundle by its place, or episodes themselves."""


@overload
def load(place: Where, *, lazy: Literal[False] = False) -> Episodes: ...
@overload
def load(place: Where, *, lazy: Literal[True]) -> StoredEpisodes: ...
def load(place: Where, *, lazy: bool = False) -> Episodes | StoredEpisodes:
    """All episodes of a store or a bundle; lines that cannot be read are set aside, not lost.

    With `lazy`, those of a store are read one by one when they are asked for.
    """
    if lazy:
        if is_bundle(Path(place) if isinstance(place, str) else place):
            raise BadInput(f"{place} is a bundle, which is unpacked to be read: load it whole.")
        return StoredEpisodes(place)
    with opened(place) as (folder, _):
        return Episodes(store.load(folder).episodes.values())


def episodes_in(what: Played) -> Episodes:
    """The episodes that are meant."""
    if isinstance(what, str | Path):
        return load(what)
    return what if isinstance(what, Episodes) else Episodes(what)


def episodes(played: Played) -> Rows:
    """One row for each seat of each episode."""
    return Rows(episode_rows(episodes_in(played)))


def decisions(played: Played) -> Rows:
    """One row for each move, forfeit and report."""
    return Rows(decision_rows(episodes_in(played)))


BY = ("cell", "game", "seat", "player", "others")


def score(played: Played, metrics: Sequence[str] = (), *, seat: str = "") -> Rows:
    """Means with 95% intervals for every player; without names, the payoff and headline metrics."""
    every = Rows(row for episode in episodes_in(played) for row in seat_rows(laid_open(episode)))
    kept = [row for row in every if not seat or row["seat"] == seat]
    if every and not kept:
        raise unknown("seat among these episodes", seat, {row["seat"] for row in every})
    known = registry.entries("metrics")
    for name in metrics:
        if not any(name in row for row in kept):
            raise unknown("metric of these episodes", name, {*known} & {*every.columns})
    headline = [name for name, metric in known.items() if metric.headline]
    named = metrics or (*headline, "payoff")
    found = [row for name in named for row in summary([r for r in kept if name in r], name, BY)]
    return Rows(row for row in found if row["value"] is not None)


def profile(
    played: Played,
    *,
    games: Sequence[str] = (),
    players: Sequence[str] = (),
    seat: str = "",
    by_cell: bool = False,
) -> Rows:
    """What each player knew of the others and what it did with it, one row a player."""
    seats = [
        one
        for episode in episodes_in(played)
        for one in measured(episode, (seat,) if seat else in_question(episode.setup))
    ]
    studied = chosen(seats, games, players, seat)
    found = profile_of(studied, baselines(studied, by_cell), by_cell=by_cell)
    return Rows(flat(row) for row in found)


def compare(
    played: Played,
    first: str,
    second: str,
    *,
    metrics: Sequence[str] = (),
    by: By = "game",
    margin: float | None = None,
) -> Comparisons:
    """Is the first player better than the second: where, and how sure?"""
    given = (first, second)
    if isinstance(played, str | Path):
        with opened(played) as (folder, _):
            found = compared(seen(folder), *given, metrics=metrics, by=by, margin=margin)
    else:
        found = compared(played, *given, metrics=metrics, by=by, margin=margin)
    return Comparisons(found, first, second)


def crossplay(played: Played, game: str = "") -> Rows:
    """Mean payoffs of everybody against everybody in games for two, one row a pairing."""
    tables: dict[str, dict[Met, Pairing]] = {}
    if isinstance(played, str | Path):
        with opened(played) as (folder, _):
            tables = stored_crossplay(seats_in(folder, ["payoff"]), game or None)
    else:
        games: dict[str, list[Episode]] = {}
        for episode in played:
            name = episode.setup.instance.game
            if game in ("", name) and len(episode.setup.lineup) >= 2:
                games.setdefault(name, []).append(episode)
        tables = {name: met(found) for name, found in games.items()}
    return Rows(
        {"game": name, "first_player": one, "second_player": two, **flat(pairing)}
        for name, found in tables.items()
        for (one, two), pairing in found.items()
    )


def audit(game: str, episodes: int = 100, *, seed: int = 1) -> Rows:
    """What players without a mind score in a game, rules of thumb and their inverses alike."""
    return Rows(audits.audit(game, episodes, seed))


def replay(*places: Where | Episode) -> Checked:
    """Play stored episodes again from their logs, and say where they differ."""
    with ExitStack() as open_ones:
        found: list[Episode] = []
        cells: dict[str, set[str]] = {}
        changed: set[str] = set()
        for place in places:
            if isinstance(place, Episode):
                found.append(place)
                continue
            folder = open_ones.enter_context(opened(place))[0]
            file = isinstance(folder, Path) and not folder.is_dir()
            held = (  # unchecked: to say what is wrong is what a replay is for
                store.load_file(Path(str(folder)), check=False)
                if file
                else store.load(folder, check=False)
            )
            found += held.episodes.values()
            changed |= held.changed
            cells |= {} if file else cells_of(folder)
        return check(found, cells, changed)


def reproduce(
    paper: str,
    table: str | None = None,
    *,
    episodes: Where | None = None,
    model: str | None = None,
    repeats: int = 2000,
    seed: int = 1,
) -> Rows:
    """The figures of a paper's tables with ours beside them, one row a figure."""
    found = reproduced(paper, table, episodes, model, Effort(repeats, seed))
    return Rows(flat(row) for row in found)
