"""Figures of andreozzi2020: odds of the partner's moves, first moves, and what both have to do with
the person's own plan."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from sally.papers.andreozzi2020.importer import NAMES, POINTS
from sally.papers.belief_records import (
    BeliefRecord,
    Figures,
    acting_figures,
    columns_of,
    contest_figures,
    count,
    mean,
    plain,
    slope,
)
from sally.stats import belief_measures as measures
from sally.stats.columns import Codes, Floats

STEPS = np.array([float(POINTS[name]) for name in NAMES])
ASKS = ("first move", "reply to L", "reply to M", "reply to H")
HIGH, LOW = 75.0, 25.0  # points that a random first move loses
DRAWS = 2000  # of new pairings


class Dilemma(msgspec.Struct, frozen=True):
    """The periods of all people as arrays."""

    table: measures.BeliefColumns
    session: Codes
    odds: Floats  # (row, question, option)
    truth: Floats  # (row, question, option): 1 for what the partner planned
    replies: Floats  # (row, first move): points of the own reply
    partner_replies: Floats
    first: Floats  # points of the own first move
    partner_first: Floats
    is_first: np.ndarray
    treatment: np.ndarray

    @property
    def expected_first(self) -> Floats:
        """The expected points of the partner's first move."""
        return np.asarray(self.odds[:, 0] @ STEPS)


def dilemma_of(records: Sequence[BeliefRecord]) -> Dilemma:
    """Return records as arrays."""
    rows = [record.row for record in records]
    facts = [record.facts["dilemma"] for record in records]
    odds = np.array([[belief.value for belief in row.beliefs] for row in rows], np.float64)
    truth = np.array(
        [[[float(name == b.truth) for name in NAMES] for b in row.beliefs] for row in rows]
    )
    sessions = np.unique([str(row.cluster) for row in rows], return_inverse=True)[1]
    return Dilemma(
        columns_of(records),
        sessions.astype(np.intp),
        odds,
        truth,
        np.array(
            [[POINTS[name] for name in record_facts["replies"]] for record_facts in facts],
            np.float64,
        ),
        np.asarray(truth[:, 1:] @ STEPS),
        np.array([POINTS[str(row.action)] for row in rows], np.float64),
        np.asarray(truth[:, 0] @ STEPS),
        np.array([record_facts["is_first"] for record_facts in facts]),
        np.array([row.cell.partition(":")[0] for row in rows]),
    )


def figures(records: Sequence[BeliefRecord]) -> Figures:
    """Return all figures of the record."""
    data = dilemma_of(records)
    return {
        **_knowing(data),
        **_acting(data),
        **_stakes(data),
        **_doing(data),
        **_projection(data),
        **_periods(data),
        **_plans(data),
    }


def _knowing(data: Dilemma) -> Figures:
    n, person = len(data.table), data.table.person
    result: Figures = {"periods that replay": count(n)}
    true, believed = data.truth[:, 0].mean(axis=0), data.odds[:, 0].mean(axis=0)
    own_shares = np.array([(data.first == step).mean() for step in STEPS])
    for place, name in enumerate(NAMES):
        result[f"first move {name}: true"] = plain(float(own_shares[place]), n)
        result[f"first move {name}: believed"] = plain(float(believed[place]), n)
    score = measures.brier(data.odds[:, 0], data.truth[:, 0])
    result |= {
        "Brier, first move": mean(score, person),
        "Brier, first move: base": plain(float(1 - (true**2).sum()), n),
        "Brier, first move: equal odds": plain(1 - 1 / len(NAMES), n),
        "Brier, first move: people's mean belief": plain(
            float(measures.brier(np.tile(believed, (n, 1)), data.truth[:, 0]).mean()), n
        ),
    }
    for place, ask in enumerate(ASKS[1:], 1):
        shares = data.truth[:, place].mean(axis=0)
        scores = measures.brier(data.odds[:, place], data.truth[:, place])
        result[f"Brier, {ask}"] = mean(scores, person)
        result[f"Brier, {ask}: base"] = plain(float(1 - (shares**2).sum()), n)
    stated = measures.calibration(data.odds.ravel(), data.truth.ravel())
    result |= {
        "calibration slope": plain(stated.slope, data.odds.size),
        "stated 0: happened": plain(stated.never, stated.never_count),
        "stated 0: options": count(stated.never_count),
        "stated 1: happened": plain(stated.certain, stated.certain_count),
        "stated 1: options": count(stated.certain_count),
    }
    return result


def _acting(data: Dilemma) -> Figures:
    table, person = data.table, data.table.person
    acts, n = measures.acts(table), len(table)
    result = acting_figures(table)
    for name, fits in zip(NAMES, measures.always(table), strict=True):
        result[f"constant {name}"] = plain(float(fits), n)
    own_best = measures.largest(100 - STEPS + 3 * data.replies)
    best = measures.largest(table.stated_worth)
    result["own replies projected"] = measures.share(
        np.asarray((own_best & best).sum(axis=1) / own_best.sum(axis=1)), person
    )
    last = measures.last_move(table)
    has_last = ~np.isnan(last)
    result |= {
        "last move": measures.share(last, person),
        "last move: rows": count(int(has_last.sum())),
        "acts where there is a last move": measures.share(acts[has_last], person[has_last]),
    }
    for treatment in ("NoCondInfo", "CondInfo"):
        rows = data.treatment == treatment
        if rows.any():
            result[f"acts, {treatment}"] = measures.share(acts[rows], person[rows])
    selfish = (data.replies == 0).all(axis=1)
    if selfish.any():
        alone = table.select(selfish)
        result |= {
            "replies all L: rows": count(int(selfish.sum())),
            "replies all L: acts": measures.share(acts[selfish], person[selfish]),
            "replies all L: constant": plain(float(measures.always(alone).max()), len(alone)),
        }
        result |= contest_figures("replies all L, contest", measures.contest(table, selfish))
    return result


def _stakes(data: Dilemma) -> Figures:
    table, person = data.table, data.table.person
    acts, n = measures.acts(table), len(table)
    best_values = table.stated_worth.max(axis=1)
    stake = (
        best_values - table.stated_worth.mean(axis=1) + measures.TIE
    )  # a random move loses this much
    result = contest_figures("contest from 25 points", measures.contest(table, stake >= LOW))
    for name, rows in (
        ("below 25", stake < LOW),
        ("from 25 to below 75", (stake >= LOW) & (stake < HIGH)),
        ("from 75", stake >= HIGH),
    ):
        if rows.any():
            part = table.select(rows)
            result[f"acts, stakes {name}"] = measures.share(acts[rows], person[rows])
            best = float(measures.always(part).max())
            result[f"acts, stakes {name}: best constant"] = plain(best, len(part))
    result |= {
        "loss": mean(measures.loss(table), person),
        "loss, random": plain(float((best_values - table.stated_worth.mean(axis=1)).mean()), n),
        "loss, M always": plain(float((best_values - table.stated_worth[:, 1]).mean()), n),
    }
    return result


def _doing(data: Dilemma) -> Figures:
    """Return payoffs by the partner's replies, and by those of the others in session and period."""
    table, person = data.table, data.table.person
    groups = np.unique(np.stack([data.session, table.period.astype(np.intp)]), axis=1,
                       return_inverse=True)[1].reshape(-1)  # fmt: skip
    sums = np.zeros((groups.max() + 1, len(STEPS)))
    np.add.at(sums, groups, data.replies)
    others = np.maximum(np.bincount(groups)[groups] - 1, 1)[:, None]
    crowd = 100 - STEPS + 3 * (sums[groups] - data.replies) / others
    crowd_table = msgspec.structs.replace(table, true_worth=np.asarray(crowd))
    middle = np.full(len(table), 1, dtype=np.intp)
    always = msgspec.structs.replace(crowd_table, move=middle)
    return {
        "doing, partner": measures.doing(table),
        "doing, crowd": measures.doing(crowd_table),
        "doing, crowd: M always": plain(measures.doing(always).value, len(person)),
        "doing if best-replied, partner": measures.doing_if_best_replied(table),
        "doing if best-replied, crowd": measures.doing_if_best_replied(crowd_table),
    }


def _projection(data: Dilemma) -> Figures:
    n = len(data.table)
    first = measures.projection(data.expected_first, data.first, data.partner_first)
    replies = np.asarray(data.odds[:, 1:] @ STEPS)
    centred = [
        (points - points.mean(axis=0)).ravel()
        for points in (replies, data.replies, data.partner_replies)
    ]
    planned = measures.projection(*centred)
    groups = list(zip(data.session.tolist(), data.table.period.tolist(), strict=True))
    null = measures.pairing_null(
        data.expected_first, data.first, data.partner_first, groups, draws=DRAWS
    )
    return {
        "r of belief and own first move": plain(first.own, n),
        "r of belief and partner's first move": plain(first.others, n),
        "r of belief and own first move, partial": plain(first.own_partial, n),
        "r of belief and partner's first move, partial": plain(first.others_partial, n),
        "r of belief and own replies": plain(planned.own, n),
        "r of belief and partner's replies": plain(planned.others, n),
        "r within session and period": plain(null.r, n),
        "r within session and period: null": plain(null.null, DRAWS),
        "r within session and period: null, low": plain(null.low, DRAWS),
        "r within session and period: null, high": plain(null.high, DRAWS),
        "r within session and period: p": plain(null.p, DRAWS),
    }


def _periods(data: Dilemma) -> Figures:
    table, person = data.table, data.table.person
    acts, period = measures.acts(table), table.period
    score = measures.brier(data.odds[:, 0], data.truth[:, 0])
    result: Figures = {}
    for number in (1, 10):
        rows = period == number
        if rows.any():
            result[f"acts, period {number}"] = measures.share(acts[rows], person[rows])
    result["acts by period, slope"] = slope(period, acts, person)
    result["Brier by period, slope"] = slope(period, score, person)
    # A second mover sees the partner's first move; the belief of the next period may follow it.
    expected = data.expected_first
    order = np.lexsort((period, person))
    now, next_rows = order[:-1], order[1:]
    is_seen = (person[now] == person[next_rows]) & (period[next_rows] == period[now] + 1)
    is_seen &= ~data.is_first[now]
    now, next_rows = now[is_seen], next_rows[is_seen]
    result["update to a first move seen: rows"] = count(len(now))
    if len(now) > 2:
        surprise = data.partner_first[now] - expected[now]
        change = expected[next_rows] - expected[now]
        result["update to a first move seen"] = slope(surprise, change, person[now])
    return result


def _plans(data: Dilemma) -> Figures:
    """Return how far first moves are from the own reply plan at the stated belief, in points."""
    table, person, odds = data.table, data.table.person, data.odds[:, 0]
    n = len(table)
    own_plan = (odds * data.replies).sum(axis=1)
    periods, plans = np.full(n, np.nan), np.full(n, np.nan)
    for row in range(n):
        is_same_person = (person == person[row]) & (np.arange(n) != row)
        if is_same_person.any():
            planned = odds[is_same_person] @ data.replies[row]
            periods[row] = np.abs(data.first[row] - planned).mean()
        others = (table.cell == table.cell[row]) & (person != person[row])
        if others.any():
            planned = data.replies[others] @ odds[row]
            plans[row] = np.abs(data.first[row] - planned).mean()
    return {
        "gap to the own plan": mean(np.abs(data.first - own_plan), person),
        "gap to the own plan at another period's belief": mean(periods, person),
        "gap to another's plan": mean(plans, person),
        "gap to the own plan, M always": mean(np.abs(STEPS[1] - own_plan), person),
    }
