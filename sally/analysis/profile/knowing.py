"""What a seat knew of others: sums over its answers, beside what no mind would have had right.

Two things need no mind for the other: an even guess, and the best mindless predictor of this
partner, which says what came last, what one did last oneself, or always the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from sally.core.errors import listed
from sally.core.registry import registry
from sally.core.rules.game import Seat
from sally.core.rules.metric import Judged, Played

BINS = 10  # of equal width, in a calibration curve
Scored = tuple[Judged, Mapping[str, float]]
AGAIN, MIRROR, SAME = "as last time", "as one did last oneself", "always the same"


class Knowing(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Sums over the reports of one seat on other minds; unread ones are in no score."""

    asked: int = 0
    unread: int = 0
    scored: int = 0  # choices and odds with a truth
    right: float = 0.0
    guess: float = 0.0  # what an even guess would have right
    with_odds: int = 0
    brier: float = 0.0
    even_brier: float = 0.0  # what even odds would score
    valued: int = 0  # value reports with a truth
    value_error: float = 0.0
    # by bin of the odds of the likeliest choice: how many, sum of odds, sum of right ones
    bins: tuple[tuple[int, float, float], ...] = ()
    mindless: dict[str, float] = {}  # by predictor without a mind, what it would have right
    truths: dict[str, int] = {}  # by probe and truth, how often it was so
    sure_truths: dict[str, int] = {}  # the same where odds were stated


NOTHING = Knowing(mindless={AGAIN: 0.0, MIRROR: 0.0})  # of a seat that answered nothing


def knowing(played: Played, seat: Seat, answers: Sequence[Scored]) -> Knowing:
    """The sums of some answers of a seat."""
    if not answers:
        return NOTHING
    picked = [(a, s) for a, s in answers if "right" in s]
    sure = [(a, s) for a, s in picked if a.report.odds is not None]
    valued = [s["absolute_error"] for _, s in answers if "absolute_error" in s]
    questions = [a for a, _ in picked]
    return Knowing(
        asked=len(answers),
        unread=sum(a.report.value is None for a, _ in answers),
        scored=len(picked),
        right=sum(s["right"] for _, s in picked),
        guess=sum(map(_even, questions)),
        with_odds=len(sure),
        brier=sum(s["brier"] for _, s in sure),
        even_brier=sum(1 - _even(a) for a, _ in sure),
        valued=len(valued),
        value_error=sum(valued),
        bins=binned([a for a, _ in sure]),
        mindless={
            AGAIN: sum(_again(questions)),
            MIRROR: sum(_mirror(played, seat, a) for a in questions),
        },
        truths=Counter(map(_key, questions)),
        sure_truths=Counter(_key(a) for a, _ in sure),
    )


def _even(answer: Judged) -> float:
    return 1 / len(answer.question.choices)


def _key(answer: Judged) -> str:
    return f"{answer.question.probe}\t{answer.truth}"


def _again(answers: Sequence[Judged]) -> list[float]:
    """Whether the truth was what it was the last time the same was asked; at first, a guess."""
    last: dict[tuple[str, str], object] = {}
    found = []
    for answer in answers:
        key = (answer.question.probe, answer.question.about)
        known = last.get(key)
        there = known is not None and known in answer.question.choices
        found.append(float(known == answer.truth) if there else _even(answer))
        last[key] = answer.truth
    return found


def _mirror(played: Played, seat: Seat, answer: Judged) -> float:
    """Whether the truth was the seat's own last move; a guess where that could not be named."""
    before = (played.replay.move(turn, seat) for turn in range(answer.turn - 1, -1, -1))
    mine = next((move for move in before if move is not None), None)
    return float(mine == answer.truth) if mine in answer.question.choices else _even(answer)


def binned(answers: Sequence[Judged]) -> tuple[tuple[int, float, float], ...]:
    """The odds of the likeliest choice and whether it was true, by bin; ties share the point."""
    if not answers:
        return ()
    found = [(0, 0.0, 0.0)] * BINS
    for answer in answers:
        odds = answer.report.odds or ()
        sure = max(odds)
        top = [c for c, p in zip(answer.question.choices, odds, strict=True) if p >= sure - 1e-9]
        place = min(int(sure * BINS + 1e-9), BINS - 1)  # the last bin includes 1
        n, forecasts, came_true = found[place]
        right = 1 / len(top) if answer.truth in top else 0.0
        found[place] = (n + 1, forecasts + sure, came_true + right)
    return tuple(found)


# --- over many episodes ---------------------------------------------------------------------------


Truths = Sequence[Mapping[str, int]]  # by episode; by probe and truth, how often it was so


def constant_hits(
    truths: Truths, guess: Sequence[float], scored: Sequence[float], company: Sequence[str]
) -> list[float]:
    """By episode, what the answer that was most often true in the others would have right.

    Only episodes with the same company count, and the episode itself never does; without
    another, it is an even guess.
    """
    totals = _totals(truths, company)
    found = []
    for known, even, many, who in zip(truths, guess, scored, company, strict=True):
        elsewhere = totals[who] - Counter(known)
        hits = 0.0
        for probe in {key.partition("\t")[0] for key in known}:
            here = {k: n for k, n in known.items() if k.partition("\t")[0] == probe}
            there = {k: n for k, n in elsewhere.items() if k.partition("\t")[0] == probe}
            if there:
                hits += here.get(max(there, key=lambda k: (there[k], k)), 0)
            else:
                hits += even * sum(here.values()) / many
        found.append(hits)
    return found


def frequency_brier(truths: Truths, company: Sequence[str]) -> list[float]:
    """By episode, the Brier score of always stating how often each answer is true here."""
    totals = _totals(truths, company)
    found = []
    for known, who in zip(truths, company, strict=True):
        score = 0.0
        for key, n in known.items():
            probe = key.partition("\t")[0]
            rivals = [m for k, m in totals[who].items() if k.partition("\t")[0] == probe]
            whole = sum(rivals)
            squares = sum((m / whole) ** 2 for m in rivals)
            score += n * (1 - 2 * totals[who][key] / whole + squares)
        found.append(score)
    return found


def _totals(truths: Truths, company: Sequence[str]) -> dict[str, Counter[str]]:
    totals: dict[str, Counter[str]] = {}
    for known, who in zip(truths, company, strict=True):
        totals.setdefault(who, Counter()).update(known)
    return totals


def literal_note(game: str) -> str:
    """Which questions of a game are literal, so no part of knowing; empty where none is."""
    probes = registry.game(game).probes
    minds, literal = ([p.name for p in probes if p.of_mind is of] for of in (True, False))
    if not minds or not literal:
        return ""
    verb = "is" if len(literal) == 1 else "are"
    return (
        f"Knowing is functional: {listed(minds)}, of minds; {listed(literal)}, of the world, "
        f"{verb} literal and not counted."
    )
