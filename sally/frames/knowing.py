"""What a seat knows about others: sums over its answers, and scores of mindless predictors.

Baselines need no model of the other player: an even guess, three fixed rules (repeat the last true
answer, name the seat's own last move, always give the same answer), and the simple rules of
`sally.parts.simple_rules`, some of which learn from past rounds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence, Set

import msgspec

from sally.core.errors import join_names
from sally.core.registry import registry
from sally.core.rules.game import Seat
from sally.core.rules.metric import JudgedReport, Played
from sally.parts.simple_rules import RULES, PastRounds

BINS = 10  # of equal width, in a calibration curve
Scored = tuple[JudgedReport, Mapping[str, float]]
AGAIN, MIRROR = "as last time", "as one did last oneself"  # mindless predictors


class Knowing(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Sums over the reports of one seat about other minds; unreadable reports are not scored."""

    asked: int = 0
    unread: int = 0
    scored: int = 0  # choices and odds with a truth
    right: float = 0.0
    guess: float = 0.0  # expected correct answers of an even guess
    with_odds: int = 0
    brier: float = 0.0
    even_brier: float = 0.0  # what even odds would score
    valued: int = 0  # value reports with a truth
    value_error: float = 0.0
    # by bin of the odds of the likeliest choice: count, sum of the odds, sum of correct answers
    bins: tuple[tuple[int, float, float], ...] = ()
    mindless: dict[str, float] = {}  # correct answers of each mindless predictor
    rules: dict[str, float] = {}  # correct answers of each simple rule, where ours is scored
    truths: dict[str, int] = {}  # occurrences of each truth of each probe
    sure_truths: dict[str, int] = {}  # the same for answers with stated odds
    # by probe: correct answers, and answers with a truth; unreadable ones are wrong
    probes: dict[str, tuple[float, int]] = {}


NOTHING = Knowing(mindless={AGAIN: 0.0, MIRROR: 0.0})  # a seat that answered nothing


def knowing(played: Played, seat: Seat, answers: Sequence[Scored]) -> Knowing:
    """Return a seat's knowledge statistics, summed over the given answers."""
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
        bins=bin_answers([a for a, _ in sure]),
        mindless={
            AGAIN: sum(_score_repetition(questions)),
            MIRROR: sum(_mirror(played, seat, a) for a in questions),
        },
        rules=rule_hits(played, seat, [a for a, _ in answers], {id(a) for a in questions}),
        truths=Counter(map(_key, questions)),
        sure_truths=Counter(_key(a) for a, _ in sure),
        probes=_by_probe(answers),
    )


def _by_probe(answers: Sequence[Scored]) -> dict[str, tuple[float, int]]:
    """Return the correct and the counted answers of each probe; an unreadable one is wrong."""
    counts: dict[str, tuple[float, int]] = {}
    for answer, scores in answers:
        if "right" in scores or (answer.truth is not None and answer.report.value is None):
            right, n = counts.get(answer.question.probe, (0.0, 0))
            counts[answer.question.probe] = (right + scores.get("right", 0.0), n + 1)
    return counts


def _even(answer: JudgedReport) -> float:
    return 1 / len(answer.question.choices)


def _key(answer: JudgedReport) -> str:
    return f"{answer.question.probe}\t{answer.truth}"


def _score_repetition(answers: Sequence[JudgedReport]) -> list[float]:
    """Return the scores of a predictor that repeats the previous true answer.

    Its first prediction is an even guess.
    """
    last: dict[tuple[str, str], object] = {}
    scores = []
    for answer in answers:
        key = (answer.question.probe, answer.question.about)
        previous = last.get(key)
        is_offered = previous is not None and previous in answer.question.choices
        scores.append(float(previous == answer.truth) if is_offered else _even(answer))
        last[key] = answer.truth
    return scores


def _mirror(played: Played, seat: Seat, answer: JudgedReport) -> float:
    """Return the score of predicting that the other player repeats the seat's own last move; the
    score of an even guess if that move is not among the choices."""
    earlier_moves = (played.replay.move(turn, seat) for turn in range(answer.turn - 1, -1, -1))
    last_move = next((move for move in earlier_moves if move is not None), None)
    return (
        float(last_move == answer.truth) if last_move in answer.question.choices else _even(answer)
    )


def rule_hits(
    played: Played, seat: Seat, answers: Sequence[JudgedReport], scored_ids: Set[int]
) -> dict[str, float]:
    """Return the correct answers of each simple rule to the scored questions.

    A rule sees the truth of every earlier question, also where the seat's own answer could not be
    read. Where it expects nothing that is among the choices, it guesses evenly.
    """
    hits = dict.fromkeys(RULES, 0.0)
    pasts: dict[tuple[str, str], PastRounds] = {}
    for answer in answers:
        if answer.truth is None or answer.question.kind == "values":
            continue
        past = pasts.setdefault((answer.question.probe, answer.question.about), PastRounds())
        if id(answer) in scored_ids:
            even = _even(answer)
            for rule in RULES:
                expected_move = past.expect(rule)
                is_choice = expected_move is not None and expected_move in answer.question.choices
                hits[rule] += float(expected_move == answer.truth) if is_choice else even
        past.add(_hashable(played.replay.move(answer.turn, seat)), _hashable(answer.truth))
    return hits


def _hashable(move: object) -> Hashable:
    """Return a move, or its text if it cannot be a key of a table."""
    try:
        hash(move)
    except TypeError:
        return repr(move)
    return move


def bin_answers(answers: Sequence[JudgedReport]) -> tuple[tuple[int, float, float], ...]:
    """Return, for each bin of the odds given to the likeliest choice, the number of answers, the
    sum of these odds, and the number that came true; ties are split."""
    if not answers:
        return ()
    bins = [(0, 0.0, 0.0)] * BINS
    for answer in answers:
        odds = answer.report.odds or ()
        sure = max(odds)
        top = [c for c, p in zip(answer.question.choices, odds, strict=True) if p >= sure - 1e-9]
        place = min(int(sure * BINS + 1e-9), BINS - 1)  # the last bin includes 1
        n, forecasts, came_true = bins[place]
        right = 1 / len(top) if answer.truth in top else 0.0
        bins[place] = (n + 1, forecasts + sure, came_true + right)
    return tuple(bins)


def uncounted_probes_note(game: str) -> str:
    """Return a note that names the probes of a game that do not count towards its score for
    predicting others, because they ask about the world; return "" if no note is needed."""
    probes = registry.game(game).probes
    minds, world = ([p.name for p in probes if p.of_mind is of] for of in (True, False))
    if not minds or not world:
        return ""
    verb = "is" if len(world) == 1 else "are"
    return (
        f"Knowing counts questions about a mind: {join_names(minds)}; {join_names(world)} {verb} "
        f"about "
        f"the world and not counted."
    )
