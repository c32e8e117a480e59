"""Knowing on a fixed scale: 0 is an even guess or the best simple rule, 1 is all correct."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec
import numpy as np

from sally.analysis.profile.estimates import Means, or_missing, total
from sally.analysis.profile.halves import halves_of, other_players
from sally.frames.knowing import AGAIN, MIRROR
from sally.frames.profiles import Codes, Floats, SeatSums
from sally.parts.simple_rules import RULES
from sally.stats.intervals import Estimate, without_interval

SAME = "always the same"  # the third mindless predictor; the other two are in `knowing`
LEAST = 0.05  # of all answers: if a mindless rule leaves less than this to know, there is no scale


class Predictor(msgspec.Struct, frozen=True):
    """The rule that predicts most answers of a row correctly."""

    rule: str
    accuracy: float  # in percent
    skill: float | None  # with an even guess at 0


class Skills(msgspec.Struct, frozen=True):
    """Skill scores of a row: accuracy and Brier score, each relative to two baselines."""

    skill: Estimate
    predictor: Predictor | None  # the best of all simple rules
    fixed_rule: Predictor | None  # the best of the three fixed rules
    beyond: Estimate  # 0: this fixed rule
    beyond_learning: Estimate  # 0: the best of all simple rules, chosen in other clusters
    unbeaten: Predictor | None  # a rule beyond which the player is not shown to know; None: none
    brier_skill: Estimate
    brier_beyond: Estimate


def skills(means: Means) -> Skills:
    """Return the skill scores of a row: gains over a baseline as shares of the possible gain."""
    table = means.group
    hits = _hits(table)
    floor = hits[_best_rule(hits)] if hits else np.zeros(len(table))
    halves = halves_of(means.cluster_codes, other_players(table))
    every_rule = hits | _simple_rules(table)
    gains = {name: _beyond_baseline(means, of, LEAST) for name, of in every_rule.items()}
    chosen = _beyond_baseline(means, chosen_elsewhere(every_rule, halves), LEAST)
    return Skills(
        skill=_beyond_baseline(means, table.of("guess")),
        predictor=_best_predictor(table, every_rule),
        fixed_rule=_best_predictor(table, hits),
        beyond=_beyond_baseline(means, floor, LEAST),
        beyond_learning=_with_choice(chosen, every_rule, gains),
        unbeaten=_unbeaten(means, every_rule, gains),
        brier_skill=_brier(means, table.of("even_brier")),
        brier_beyond=_brier(means, _frequencies(table)),
    )


def _hits(table: SeatSums) -> dict[str, Floats]:
    """Return, for each mindless rule, how many answers it would predict correctly in each row."""
    scored = table.of("scored")
    if not scored.any():
        return {}
    codes, truths = table.encode_json("truths")
    guess, players = table.of("guess"), other_players(table)
    alike = _alike_rows(codes, players, guess, scored)
    constant = constant_hits(
        [truths[code] for code in codes[alike.first].tolist()],
        guess[alike.first].tolist(),
        scored[alike.first].tolist(),
        players[alike.first].tolist(),
        alike.counts.tolist(),
    )
    followed = {AGAIN: table.of("as_last_time"), MIRROR: table.of("as_own_move")}
    return followed | {SAME: np.array(constant)[alike.codes]}


class _AlikeRows(NamedTuple):
    """Rows with the same values: the first row and the number of rows of each combination of
    values, and the combination of each row."""

    first: Codes
    counts: Codes
    codes: Codes


def _alike_rows(*columns: Codes | Floats) -> _AlikeRows:
    """Return which rows have the same values in all columns."""
    codes = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        values, numbers = np.unique(column, return_inverse=True)
        codes = np.unique(codes * len(values) + numbers, return_inverse=True)[1]
    first, counts = np.unique(codes, return_index=True, return_counts=True)[1:]
    return _AlikeRows(first, counts, codes)


def _simple_rules(table: SeatSums) -> dict[str, Floats]:
    """Return, for each simple rule, how many answers it would predict correctly in each row."""
    if not table.of("scored").any():
        return {}
    codes, hits_by_rule = table.encode_json("rules")
    guess, rules = table.of("guess"), dict[str, Floats]()
    for rule, about in RULES.items():
        hits = np.array([hits.get(rule, np.nan) for hits in hits_by_rule])[codes]
        rules[about] = np.where(np.isnan(hits), guess, hits)
    return rules


def chosen_elsewhere(hits: Mapping[str, Floats], halves: Codes) -> Floats:
    """Return, by row, the hits of the rule that is best in the other half of the rows.

    >>> hits = {"a": np.array([1.0, 0.0]), "b": np.array([0.0, 3.0])}
    >>> chosen_elsewhere(hits, np.array([0, 1])).tolist()
    [0.0, 0.0]
    """
    if not hits:
        return np.zeros(len(halves))
    table = np.stack(list(hits.values()))  # (rule, row)
    sums = np.stack([np.bincount(halves, row, 2) for row in table])  # (rule, half)
    are_both = len(np.unique(halves)) == 2  # else rules are chosen where they are scored
    best = np.argmax(np.round(sums, 9), axis=0)[[1, 0] if are_both else [0, 1]]
    floor: Floats = table[best[halves], np.arange(len(halves))]
    return floor


def _with_choice(
    chosen: Estimate, hits: Mapping[str, Floats], gains: Mapping[str, Estimate]
) -> Estimate:
    """Return the gain over a rule that was chosen elsewhere, with the interval of the gain over the
    rule that is best in all rows: a rule chosen in half of them may not be the best, so the
    interval of the gain over it lies too high.
    """
    if not hits or chosen.value is None:
        return chosen
    best = gains[_best_rule(hits)]
    if best.value is None or best.low is None or best.high is None:
        return best if best.value is None else chosen
    low, high = min(best.low, chosen.value), max(best.high, chosen.value)
    method = f"{best.method}, over the best rule of all"
    return msgspec.structs.replace(chosen, low=low, high=high, method=method)


def _unbeaten(
    means: Means, hits: Mapping[str, Floats], gains: Mapping[str, Estimate]
) -> Predictor | None:
    """Return the rule that predicts most among those that the player is not shown to exceed.

    A player that is itself a rule of the list never exceeds that rule, whichever rule is best.
    """
    unbeaten = {
        rule: floor for rule, floor in hits.items() if (low := gains[rule].low) is None or low <= 0
    }
    return _best_predictor(means.group, unbeaten)


def _frequencies(table: SeatSums) -> Floats:
    """Return the Brier score of predicting the answer frequencies, by row."""
    if not table.of("with_odds").any():
        return np.zeros(len(table))
    codes, truths = table.encode_json("sure_truths")
    players = other_players(table)
    alike = _alike_rows(codes, players)
    scores = frequency_brier(
        [truths[code] for code in codes[alike.first].tolist()],
        players[alike.first].tolist(),
        alike.counts.tolist(),
    )
    return np.array(scores)[alike.codes]


def _beyond_baseline(means: Means, floor: Floats, smallest_share: float = 0.0) -> Estimate:
    """Return the correct answers in excess of a baseline's, as a share of the possible excess."""
    table = means.group
    scored, right = table.of("scored"), table.of("right")
    answers, expected = total(scored), total(floor)
    room = answers - expected
    if not answers or room <= smallest_share * answers:
        return without_interval(None, 0, "t", "nothing is left to know")
    possible = or_missing(scored)
    return means.ratio(np.where(scored == 0, np.nan, right - floor), possible - floor,
                       (-expected / room, 1.0))  # fmt: skip


def _brier(means: Means, floor: Floats) -> Estimate:
    """Return the Brier skill score: 1 minus the Brier score divided by that of the baseline."""
    table = means.group
    odds = table.of("with_odds")
    if not odds.any() or total(floor) <= 1e-9:
        return without_interval(None, 0, "t", "nothing to compare with")
    stated = np.where(odds == 0, np.nan, floor)
    return means.ratio(stated - table.of("brier"), stated)


def _best_rule(hits: Mapping[str, Floats]) -> str:
    """Return the rule that predicts most answers of all rows correctly."""
    return max(hits, key=lambda name: total(hits[name]))


def _best_predictor(table: SeatSums, hits: Mapping[str, Floats]) -> Predictor | None:
    """Return the rule that predicts most answers of a table, with its score; None without rules."""
    if not hits:
        return None
    rule = _best_rule(hits)
    scored, guess, right = (
        total(column) for column in (table.of("scored"), table.of("guess"), hits[rule])
    )
    skill = (right - guess) / (scored - guess) if scored > guess else None
    return Predictor(rule, 100 * right / scored, skill)


Truths = Sequence[Mapping[str, int]]  # how often each truth of a probe occurred


def constant_hits(
    truths: Truths,
    guess: Sequence[float],
    scored: Sequence[float],
    company: Sequence[int],
    times: Sequence[int],
) -> list[float]:
    """Return, for each kind of episode, how often the most common true answer of other episodes is
    right.

    Only episodes with the same players in the other seats are used; where there are none, the
    prediction is an even guess.

    Args:
        truths: The true answers in one episode.
        guess: The answers that an even guess would get right.
        scored: The number of answers.
        company: The players in the other seats.
        times: The number of episodes of each kind.
    """
    totals = _totals(truths, company, times)
    hits_by_episode = []
    for counts, even, answers, players in zip(truths, guess, scored, company, strict=True):
        elsewhere = totals[players] - Counter(counts)
        hits = 0.0
        for probe in {key.partition("\t")[0] for key in counts}:
            own_counts = {k: n for k, n in counts.items() if k.partition("\t")[0] == probe}
            other_counts = {k: n for k, n in elsewhere.items() if k.partition("\t")[0] == probe}
            if other_counts:
                hits += own_counts.get(max(other_counts, key=lambda k: (other_counts[k], k)), 0)
            else:
                hits += even * sum(own_counts.values()) / answers
        hits_by_episode.append(hits)
    return hits_by_episode


def frequency_brier(truths: Truths, company: Sequence[int], times: Sequence[int]) -> list[float]:
    """Return the Brier score, in each kind of episode, of always stating the frequencies of the
    answers."""
    totals = _totals(truths, company, times)
    scores = []
    for counts, players in zip(truths, company, strict=True):
        score = 0.0
        for key, n in counts.items():
            probe = key.partition("\t")[0]
            rivals = [m for k, m in totals[players].items() if k.partition("\t")[0] == probe]
            answers = sum(rivals)
            squares = sum((m / answers) ** 2 for m in rivals)
            score += n * (1 - 2 * totals[players][key] / answers + squares)
        scores.append(score)
    return scores


def _totals(
    truths: Truths, company: Sequence[int], times: Sequence[int]
) -> dict[int, Counter[str]]:
    totals: dict[int, Counter[str]] = {}
    for counts, players, n in zip(truths, company, times, strict=True):
        totals.setdefault(players, Counter()).update({key: n * k for key, k in counts.items()})
    return totals
