"""Figures of vanbaar2022: predictions of scripted players, first inspections, and thresholds.

The price of later inspections follows the person's own choices: it goes up after "inspect" and down
after "not inspect". Shares of best replies over all trials are a product of this rule, so none is
computed here; the price to which it leads is a threshold, and thresholds are compared instead.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from sally.games.elicitation.recorded_decisions import CHOSEN
from sally.papers.belief_records import (
    BeliefRecord,
    Figures,
    acting_figures,
    columns_of,
    count,
    mean,
    plain,
    slope,
)
from sally.stats import belief_measures as measures
from sally.stats.cluster_interval import ratio_by_rule
from sally.stats.columns import Floats
from sally.stats.intervals import Estimate

EARLY, LATE = 4, 12  # trials before the first and from the second number on
LAST = 10  # trials from this number on give the threshold
RANGE = 30.0  # prices lie from 0 to this
FIXED = (15.0, 16.0)
SHUFFLES = 2000
NATURAL, REVERSED = "natural", "reversed"


def figures(records: Sequence[BeliefRecord]) -> Figures:
    """Return all figures of the record."""
    result: Figures = {}
    for study in (1, 2, 3, 4):
        name = f"vanbaar2022_study{study}"
        part = [record for record in records if record.row.source == name]
        if part:
            result |= _predictions(study, part)
    inspections = [record for record in records if record.row.source == "vanbaar2022"]
    if inspections:
        result |= _first_inspections(inspections)
        result |= _thresholds(inspections, records)
    return result


# --- predictions ----------------------------------------------------------------------------------


def _predictions(study: int, records: Sequence[BeliefRecord]) -> Figures:
    name, n = f"study {study}", len(records)
    rows = [record.row for record in records]
    facts = [record.facts["prediction"] for record in records]
    beliefs = [row.beliefs[0] for row in rows]
    person = np.array([row.person for row in rows])
    right = np.array([float(belief.value == belief.truth) for belief in beliefs])
    trial = np.array([row.period for row in rows])
    result: Figures = {
        f"{name}: predictions": count(n),
        f"{name}: knowing": mean(right, person),
        f"{name}: last answer in the game type": plain(
            float(repeats_last_answer(records).mean()), n
        ),
        f"{name}: trials 1 to 4": mean(np.where(trial < EARLY, right, np.nan), person),
        f"{name}: trials 13 to 16": mean(np.where(trial >= LATE, right, np.nan), person),
    }
    stated = np.array([np.nan if b.confidence is None else b.confidence for b in beliefs], float)
    odds = 0.5 + stated / 2  # of the predicted answer, as the authors take it
    result[f"{name}: Brier"] = mean((odds - right) ** 2, person)
    share = float(right.mean())
    result[f"{name}: Brier of the mean accuracy"] = plain(share * (1 - share), n)
    if study in (1, 2):
        is_reversed = np.array([row.cell.endswith("_inv") for row in rows])
        for kind, chosen in ((NATURAL, ~is_reversed), (REVERSED, is_reversed)):
            result[f"{name}: {kind} players"] = mean(np.where(chosen, right, np.nan), person)
    surveyed = np.array([bool(fact.get("is_surveyed")) for fact in facts])
    if surveyed.any():
        result[f"{name}: knowing, surveyed"] = mean(np.where(surveyed, right, np.nan), person)
    if study == 4:
        result |= _own_answers(records, right, person)
    return result


def repeats_last_answer(records: Sequence[BeliefRecord]) -> Floats:
    """Return how often a player's last answer in a type of game is its next; a coin the first
    time."""
    last: dict[tuple[str, int, str], object] = {}
    hits = np.full(len(records), 0.5)
    order = sorted(
        range(len(records)),
        key=lambda n: (records[n].row.person, records[n].facts["prediction"]["block"],
                       records[n].row.period or 0),
    )  # fmt: skip
    for n in order:
        row, facts = records[n].row, records[n].facts["prediction"]
        key = (row.person, facts["block"], facts["game"])
        if key in last:
            hits[n] = float(last[key] == row.beliefs[0].truth)
        last[key] = row.beliefs[0].truth
    return hits


def _own_answers(records: Sequence[BeliefRecord], right: Floats, person: np.ndarray) -> Figures:
    """Return how predictions go with what people would do themselves, in new and seen games."""
    first: dict[tuple[str, int, str], int] = {}
    for record in records:
        facts = record.facts["prediction"]
        key = (record.row.person, facts["block"], facts["game"])
        trial = record.row.period or 0
        first[key] = min(first.get(key, trial), trial)
    own_answers, own_right, is_new = (np.full(len(records), np.nan) for _ in range(3))
    for n, record in enumerate(records):
        facts, belief = record.facts["prediction"], record.row.beliefs[0]
        key = (record.row.person, facts["block"], facts["game"])
        is_new[n] = first[key] == record.row.period
        if "own_answer" in facts:
            own_answers[n] = belief.value == facts["own_answer"]
            own_right[n] = belief.truth == facts["own_answer"]
    new = is_new == 1
    return {
        "study 4: prediction is the own answer, new game": mean(
            np.where(new, own_answers, np.nan), person
        ),
        "study 4: right, new game": mean(np.where(new, right, np.nan), person),
        "study 4: prediction is the own answer, seen game": mean(
            np.where(new, np.nan, own_answers), person
        ),
        "study 4: right, seen game": mean(np.where(new, np.nan, right), person),
        "study 4: own answer right": mean(own_right, person),
    }


# --- inspections ----------------------------------------------------------------------------------


def _first_inspections(records: Sequence[BeliefRecord]) -> Figures:
    """Return the decisions at the first price, which is the same for all."""
    chosen = [record for record in records if record.row.status == CHOSEN]
    table = measures.keep_judged(columns_of(chosen))
    acts, person = measures.acts(table), table.person
    figures_of_table = acting_figures(table)
    names = ("rows", "acts", "random", "acting", "constant", "swap person", "swap person, gain")
    result = {f"first price: {name}": figures_of_table[name] for name in names}
    partner = measures.constant(table, by_cell=True)
    against = partner == 0
    result |= {
        "first price: one choice a partner": measures.share(partner, person),
        "first price: acts - one choice a partner": mean(acts - partner, person),
        "first price: beliefs against that choice, rows": count(int(against.sum())),
        "first price: own belief on the other player": figures_of_table["swap period"],
        "first price: own belief on the other player, gain": figures_of_table["swap period, gain"],
    }
    if against.any():
        result["first price: beliefs against that choice, acts"] = measures.share(
            acts[against], person[against]
        )
    return result


class Thresholds(msgspec.Struct, frozen=True):
    """One row per person and inspected player."""

    person: np.ndarray
    player: np.ndarray
    works: Floats  # stated probability
    is_worker: Floats
    threshold: Floats  # mean price of the last five trials
    earned: Floats

    @property
    def by_belief(self) -> Floats:
        """The price below which inspecting pays by the stated belief."""
        return np.asarray(RANGE * (1 - self.works))

    @property
    def true(self) -> Floats:
        """The price below which inspecting pays in truth."""
        return np.asarray(RANGE * (1 - self.is_worker))


def thresholds_of(records: Sequence[BeliefRecord]) -> Thresholds:
    """Return the thresholds of all people."""
    trials: dict[tuple[str, str], list[BeliefRecord]] = {}
    for record in records:
        trials.setdefault((record.row.person, record.row.cell), []).append(record)
    rows = []
    for (person, player), group in trials.items():
        late = [r.row.params["cost"] for r in group if (r.row.period or 0) >= LAST and r.row.params]
        if late:
            belief = group[0].row.beliefs[0]
            assert isinstance(belief.value, tuple)
            earned = sum(float(record.row.earned or 0) for record in group)
            is_worker = float(belief.truth == "work")
            rows.append((person, player, belief.value[0], is_worker, np.mean(late), earned))
    people, players, works, workers, late_prices, earnings = zip(*rows, strict=True)
    return Thresholds(
        np.array(people),
        np.array(players),
        np.array(works, float),
        np.array(workers, float),
        np.array(late_prices, float),
        np.array(earnings, float),
    )


def _thresholds(inspections: Sequence[BeliefRecord], records: Sequence[BeliefRecord]) -> Figures:
    data = thresholds_of(inspections)
    n, person = len(data.person), data.person
    result: Figures = {"beliefs about workers": count(n)}
    for player in ("pess", "opt"):
        chosen = data.player == player
        result[f"believed that {player} works"] = mean(data.works[chosen], person[chosen])
    is_right = np.where(data.works > 0.5, 1.0, 0.0) == data.is_worker
    side = np.where(data.works == 0.5, 0.5, is_right.astype(float))
    result |= {
        "right side": mean(side, person),
        "Brier": mean((data.works - data.is_worker) ** 2, person),
        "says 50": plain(float((data.works == 0.5).mean()), n),
    }
    result |= _within_person(data)
    stakes, doing = (
        payoff_below(data.by_belief, data.threshold),
        payoff_below(data.true, data.threshold),
    )
    others = _others_threshold(data)
    result |= {
        "acting in stakes": scale_payoffs(stakes, data.by_belief, person),
        "acting in stakes, another's threshold": plain(
            scale_payoffs(others, data.by_belief, person).value, n
        ),
        "acting in stakes, 16 always": plain(
            scale_payoffs(
                payoff_below(data.by_belief, np.full(n, FIXED[1])), data.by_belief, person
            ).value,
            n,
        ),
        "doing": scale_payoffs(doing, data.true, person),
        "doing if best-replied": plain(
            scale_payoffs(payoff_below(data.true, data.by_belief), data.true, person).value, n
        ),
        "doing, 15 always": plain(
            scale_payoffs(payoff_below(data.true, np.full(n, FIXED[0])), data.true, person).value, n
        ),
    }
    for player in ("pess", "opt"):
        chosen = data.player == player
        part = scale_payoffs(doing[chosen], data.true[chosen], person[chosen])
        result[f"doing, {player}"] = plain(part.value, int(chosen.sum()))
    return result | _people(data, records)


def payoff_below(values: Floats, threshold: Floats) -> Floats:
    """Return the expected gain of inspecting below a threshold, if prices are even from 0 to 30 and
    an inspection is worth `values`."""
    return np.asarray((values * threshold - threshold**2 / 2) / RANGE)


def scale_payoffs(payoff: Floats, values: Floats, person: np.ndarray) -> Estimate:
    random = (values - RANGE / 2) / 2
    best = payoff_below(values, values)
    return ratio_by_rule(payoff - random, best - random, person.tolist())


def _others_threshold(data: Thresholds) -> Floats:
    """Return, by row, the mean payoff with the thresholds of all other people for the player."""
    payoffs = np.full(len(data.person), np.nan)
    for row in range(len(data.person)):
        others = (data.player == data.player[row]) & (data.person != data.person[row])
        if others.any():
            values = np.full(int(others.sum()), data.by_belief[row])
            payoffs[row] = payoff_below(values, data.threshold[others]).mean()
    return payoffs


def _within_person(data: Thresholds) -> Figures:
    """Return how thresholds follow beliefs within people, and the same for shuffled beliefs."""
    codes = np.unique(data.person, return_inverse=True)[1]

    def centre(values: Floats) -> Floats:
        return np.asarray(values - (np.bincount(codes, values) / np.bincount(codes))[codes])

    threshold, belief = centre(data.threshold), centre(data.by_belief)
    n, rng = len(codes), np.random.default_rng(0)
    shuffled = [
        float(np.corrcoef(threshold, centre(rng.permutation(data.by_belief)))[0, 1])
        for _ in range(SHUFFLES)
    ]
    return {
        "threshold and belief within person, r": plain(
            float(np.corrcoef(threshold, belief)[0, 1]), n
        ),
        "threshold and belief within person, shuffled: high": plain(
            float(np.quantile(shuffled, 0.975)), SHUFFLES
        ),
        "threshold on belief within person, slope": slope(belief, threshold, data.person),
    }


def _people(data: Thresholds, records: Sequence[BeliefRecord]) -> Figures:
    """Return the authors' t of thresholds, and its correlation with the accuracy of
    predictions."""
    by_person: dict[str, dict[str, float]] = {}
    for person, player, price in zip(data.person, data.player, data.threshold, strict=True):
        by_person.setdefault(str(person), {})[str(player)] = float(price)
    prices_by_person = {person: prices for person, prices in by_person.items() if len(prices) == 2}
    gap = np.array([prices["opt"] - prices["pess"] for prices in prices_by_person.values()])
    n = len(gap)
    deviation = float(gap.std(ddof=1)) if n > 1 else 0.0
    result: Figures = {}
    if deviation:
        result["t of thresholds"] = plain(float(gap.mean()) / (deviation / n**0.5), n)
    right: dict[str, list[float]] = {}
    for record in records:
        if record.row.source == "vanbaar2022_study4":
            belief = record.row.beliefs[0]
            right.setdefault(record.row.person, []).append(float(belief.value == belief.truth))
    if all(person in right for person in prices_by_person) and deviation:
        accuracy = np.array([np.mean(right[person]) for person in prices_by_person])
        if accuracy.std():
            r = float(np.corrcoef(gap, accuracy)[0, 1])
            result["r of prediction accuracy and thresholds"] = plain(r, n)
    return result
