"""Figures of records with stated beliefs: what the five papers' figures share."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import msgspec
import numpy as np

from sally.analysis.beliefs.decisions import belief_columns
from sally.analysis.episodes.paper_store import Conditions, Known
from sally.core.log.events import Episode
from sally.core.rules.metric import Played
from sally.frames.replays import replay_for_measures
from sally.games.elicitation.decisions import decision_of_row
from sally.games.elicitation.recorded_decisions import GAME, BeliefRow, row_of
from sally.games.elicitation.rules import PLAYER
from sally.output.tables.reproduce import Engine
from sally.parts.atlas import FEW_IDS, AtlasColumn, AtlasDot, AtlasKind, estimate_dots
from sally.parts.beliefs import PEOPLE
from sally.stats import belief_measures as measures
from sally.stats.belief_measures import BeliefColumns
from sally.stats.cluster_interval import mean_by_rule
from sally.stats.columns import Floats
from sally.stats.intervals import Estimate, exact, t_estimate, without_interval

Figures = dict[str, Estimate]


class BeliefRecord(msgspec.Struct, frozen=True):
    """An imported decision, and the further facts of its source."""

    row: BeliefRow
    facts: Mapping[str, Any]
    episode: str  # its id


def records_of(games: Iterable[Played]) -> list[BeliefRecord]:
    """Return imported episodes as records."""
    return [
        BeliefRecord(row_of(game.episode), game.episode.used, game.episode.id) for game in games
    ]


def records_of_episodes(episodes: Iterable[Episode]) -> list[BeliefRecord]:
    """Return imported episodes as records, without a store."""
    return records_of(map(replay_for_measures, episodes))


def columns_of(records: Sequence[BeliefRecord]) -> BeliefColumns:
    """Return the decisions of records as columns, in the same order.

    Raises:
        ValueError: A record is not a decision that the player chose.
    """
    decisions = [decision_of_row(record.row) for record in records]
    chosen = [decision for decision in decisions if decision is not None]
    if len(chosen) < len(records):
        raise ValueError("Every record must be a decision that the player chose.")
    return belief_columns(chosen)


# --- figures --------------------------------------------------------------------------------------


def count(number: float) -> Estimate:
    """Return a count as a figure."""
    return exact(number, max(1, int(number)), "count")


def plain(value: float | None, n: int) -> Estimate:
    """Return a value without an interval."""
    return without_interval(value, n, "value", "none is computed")


def mean(values: Floats, clusters: Sequence[Hashable] | Any) -> Estimate:
    """Return a mean over rows with its interval over clusters; NaN is left out."""
    is_known = ~np.isnan(values)
    if not is_known.any():
        return without_interval(None, 0, "t", "no rows")
    return mean_by_rule(values[is_known], np.asarray(clusters)[is_known])


def slope(x: Floats, y: Floats, clusters: Any) -> Estimate:
    """Return the least-squares slope of y on x, with a cluster-robust interval."""
    codes = np.unique(np.asarray(clusters), return_inverse=True)[1]
    groups, away = int(codes.max()) + 1, x - x.mean()
    squares = float((away**2).sum())
    value = float((away * y).sum()) / squares
    errors = y - y.mean() - value * away
    scores = np.bincount(codes, away * errors, groups)
    error = float(np.sqrt(groups / (groups - 1) * (scores**2).sum())) / squares
    return t_estimate(value, error, groups - 1, len(x), 0.95, f"slope over {groups} clusters")


def acting_figures(table: BeliefColumns, prefix: str = "") -> Figures:
    """Return acts, habits, swaps, contests and payoffs of decisions with a defined best reply."""
    acts, person = measures.acts(table), table.person
    constant, usual = measures.constant(table), measures.usual(table)
    contest = measures.contest(table)
    others, periods = measures.swap_person(table), measures.swap_period(table)
    figures = {
        "rows": count(len(table)),
        "acts": measures.share(acts, person),
        "random": plain(float(measures.chance(table).mean()), len(table)),
        "acting": measures.acting(table),
        "constant": measures.share(constant, person),
        "usual": measures.share(usual, person),
        "acts - constant": mean(acts - constant, person),
        "acts - usual": mean(acts - usual, person),
        "swap person": measures.share(others, person),
        "swap person, gain": mean(acts - others, person),
        "swap period": measures.share(periods, person),
        "swap period, gain": mean(acts - periods, person),
        "stakes": measures.stakes(table),
        "stakes of the constant": measures.stakes(table, _constant_worth(table)),
        "doing": measures.doing(table),
        "doing if best-replied": measures.doing_if_best_replied(table),
    }
    figures |= contest_figures("contest", contest)
    return {f"{prefix}{name}": value for name, value in figures.items()}


def contest_figures(name: str, contest: measures.Contest) -> Figures:
    """Return the figures of contests."""
    return {
        f"{name}: rows": count(contest.rows),
        f"{name}: best reply": contest.best,
        f"{name}: best reply, null": contest.best_null,
        f"{name}: believed": contest.expected,
        f"{name}: believed, null": contest.expected_null,
    }


def _constant_worth(table: BeliefColumns) -> Floats:
    """Return, by row, the expected payoff of the action that pays most in its game overall."""
    sums = np.zeros((int(table.game.max(initial=0)) + 1, table.stated_worth.shape[1]))
    np.add.at(sums, table.game, np.where(np.isnan(table.stated_worth), -np.inf, table.stated_worth))
    actions = sums.argmax(axis=1)[table.game]
    values: Floats = table.stated_worth[np.arange(len(table)), actions]
    return values


# --- dots of the atlas ----------------------------------------------------------------------------


def belief_dot(
    column: AtlasColumn,
    player: str,
    value: Estimate,
    records: Sequence[BeliefRecord],
    source: str,
    knowing: float | None = None,
) -> list[AtlasDot]:
    """Return the dot of people, or of a rule on the same decisions; none without a value.

    Args:
        column: Game, setting and measure.
        player: `people`, or the name of a rule.
        value: The score.
        records: The decisions.
        source: Name of the paper, and year of publication as its last four characters.
        knowing: Accuracy of the stated beliefs, from 0 (guessing) to 1 (as good as possible).
    """
    kind: AtlasKind = "people" if player == PEOPLE else "rule"
    year = int(source[-4:]) if player == PEOPLE else None
    facts = (len(records), "decisions", len({record.row.person for record in records}), source)
    ids = [record.episode for record in records[:FEW_IDS]]
    return estimate_dots(column, player, kind, year, value, *facts, ids, knowing)


def constant_dots(
    column: AtlasColumn, table: BeliefColumns, records: Sequence[BeliefRecord], source: str
) -> list[AtlasDot]:
    """Return the dots of the rules that always take one action, for actions on every menu."""
    names = dict.fromkeys(name for record in records for name in record.row.menu or ())
    dots = []
    for place, name in enumerate(names):
        if table.on_menu[:, place].all():
            moves = np.full(len(table), place, dtype=np.intp)
            doing = measures.doing(msgspec.structs.replace(table, move=moves))
            dots += belief_dot(column, f"always {name}", doing, records, source)
    return dots


def knowing_of_most(stated: Floats, true: Floats) -> float:
    """Return how well the option stated as likeliest predicts, from 0 (guessing) to 1 (always the
    option that is truly likeliest); tied options count by their mean.

    Args:
        stated: Stated odds or shares, by decision and option; NaN if an option is not available.
        true: What happened, as odds or shares.
    """
    likeliest = measures.largest(stated)
    named_share = (np.nan_to_num(true) * likeliest).sum(axis=1) / likeliest.sum(axis=1)
    mean_share, largest_share = np.nanmean(true, axis=1), np.nanmax(true, axis=1)
    return float((named_share - mean_share).sum() / (largest_share - mean_share).sum())


# --- the engine of `sally reproduce` --------------------------------------------------------------


def belief_engine(
    paper: str,
    figures: Callable[[Sequence[BeliefRecord]], Figures],
    cannot: Mapping[str, str] | None = None,
) -> Engine:
    """Return the engine that computes a paper's figures from its imported episodes.

    Args:
        paper: Name of the paper and of its importer.
        figures: Computes all figures by name.
        cannot: Reasons why a figure is not computed, by its name.
    """
    reasons = cannot or {}

    def facts(game: Played) -> Conditions | None:
        record = game.episode.used.get("record")
        if game.spec.name != GAME or not isinstance(record, Mapping):
            return None
        is_own = str(record.get("source", "")).startswith(paper)
        return {"source": paper} if is_own else None

    @lru_cache(maxsize=1)
    def compute_figures(games: Known) -> Figures:
        return figures(records_of(game for _, game in games))

    def tabulates(row: Conditions, metric: str, games: Known, model: str | None) -> Estimate | None:
        return compute_figures(games).get(str(row["figure"]))

    return Engine(
        None,
        {},
        PLAYER,
        facts,
        tabulates,
        cannot=lambda row, metric: reasons.get(str(row["figure"])),
        brings=lambda table, row: f"sally import {paper} CHECKOUT",
    )
