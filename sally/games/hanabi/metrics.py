"""What Hanabi measures: the score by both conventions, what was known, what was done with it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Literal

from sally.core.log.events import Reported
from sally.core.rules.game import Seat
from sally.core.rules.metric import Metric, Played
from sally.games.hanabi.belief import counted_by
from sally.games.hanabi.probes import PERCENT, place_of
from sally.games.hanabi.table import State
from sally.games.hanabi.turns import (
    brier,
    by_counting,
    by_reading,
    decided,
    reference_score,
    rules_of,
    said_odds,
)

SURE, UNLIKELY = 0.95, 0.2


def _mean(numbers: Iterable[float]) -> float | None:
    found = list(numbers)
    return sum(found) / len(found) if found else None


# --- the score ----------------------------------------------------------------------------------


def _end(played: Played) -> State | None:
    """The final state; None where the episode was censored."""
    state: State = played.replay.states[-1]
    return None if played.episode.payoffs is None else state


def _kept(played: Played, seat: Seat) -> float | None:
    end = _end(played)
    return None if end is None else float(sum(end.piles))


def _zero(played: Played, seat: Seat) -> float | None:
    end = _end(played)
    return None if end is None else float(sum(end.piles) if end.lives else 0)


def _perfect(played: Played, seat: Seat) -> float | None:
    score = _kept(played, seat)
    return None if score is None else PERCENT * (score == rules_of(played).highest)


def _lives_lost(played: Played, seat: Seat) -> float | None:
    end = _end(played)
    return None if end is None else float(rules_of(played).lives - end.lives)


def _regret(played: Played, seat: Seat) -> float | None:
    end = _end(played)
    if end is None:
        return None
    return float(reference_score(rules_of(played), end.deck) - sum(end.piles))


# --- what was known -----------------------------------------------------------------------------


def _own_card_brier(played: Played, seat: Seat) -> float | None:
    return _mean(brier(odds, truth) for _, _, odds, truth in said_odds(played, seat))


def _excess(played: Played, seat: Seat) -> float | None:
    game = rules_of(played)
    return _mean(
        brier(odds, truth) - brier(by_counting(game, view, slot), truth)
        for view, slot, odds, truth in said_odds(played, seat)
    )


def _excess_read(played: Played, seat: Seat) -> float | None:
    return _mean(
        brier(odds, truth) - brier(best, truth)
        for view, slot, odds, truth in said_odds(played, seat)
        if (best := by_reading(played, view, slot)) is not None
    )


def _their_beliefs(played: Played, seat: Seat) -> Iterator[float]:
    """The squared distance of every report to what the other could know."""
    game = rules_of(played)
    for report in _reports(played, seat, "their_belief"):
        if isinstance(report.value, dict) and sum(report.value.values()) > 0:
            other, slot = place_of(game, report.about)
            known = counted_by(game, played.replay.state(report.turn), other).odds(slot)
            total = sum(report.value.values())
            said = [report.value.get(str(card), 0.0) / total for card in range(game.highest)]
            yield sum((p - q) ** 2 for p, q in zip(said, known, strict=True))


def _reports(played: Played, seat: Seat, probe: str) -> Iterator[Reported]:
    mine = played.replay.reports.values()
    return (r for r in mine if r.seat == seat and r.probe == probe)


def _their_belief_distance(played: Played, seat: Seat) -> float | None:
    return _mean(_their_beliefs(played, seat))


# --- from knowing to doing ----------------------------------------------------------------------


def _sure_but_idle(played: Played, seat: Seat) -> float | None:
    return _mean(
        PERCENT * (each.plays is None)
        for each in decided(played, seat)
        if each.believed and max(each.believed.values()) >= SURE and each.action is not None
    )


def _against_better_knowledge(played: Played, seat: Seat) -> float | None:
    return _mean(
        PERCENT * (each.believed[each.plays] <= UNLIKELY)
        for each in decided(played, seat)
        if each.believed and each.plays is not None and each.plays in each.believed
    )


def _misplays(played: Played, seat: Seat) -> float:
    turns = decided(played, seat)
    return float(sum(each.plays is not None and not each.scores for each in turns))


def _metric(
    name: str,
    about: str,
    measure: Callable[[Played, Seat], float | None],
    better: Literal["higher", "lower"],
    unit: str = "",
    bounds: tuple[float, float] | None = None,
) -> Metric:
    return Metric(name=name, about=about, measure=measure, better=better, unit=unit, bounds=bounds)


PILES = (0.0, 25.0)  # of the largest game

METRICS = (
    _metric("score_kept", "cards on the piles, whatever happened", _kept, "higher", "cards", PILES),
    _metric(
        "score_zero", "cards on the piles, 0 if all lives are lost", _zero, "higher", "cards", PILES
    ),
    _metric("perfect", "whether every pile was completed", _perfect, "higher", "%", (0.0, PERCENT)),
    _metric("lives_lost", "lives lost by the whole table", _lives_lost, "lower", "lives"),
    _metric("misplays", "cards this seat played that did not fit", _misplays, "lower", "cards"),
    _metric(
        "score_regret",
        "what `smart` (two players) or `info` (more) in every seat scores on the same deal, minus "
        "the cards on the piles; best known, not optimal, so it may be negative",
        _regret,
        "lower",
        "cards",
        (-PILES[1], PILES[1]),
    ),
    _metric(
        "own_card_brier",
        "Brier score of the odds given to one's own cards",
        _own_card_brier,
        "lower",
        "",
        (0.0, 2.0),
    ),
    _metric(
        "own_card_excess",
        "that Brier score minus the one of exact counting: above 0 information was missed, below "
        "0 a partner's intention was read",
        _excess,
        "lower",
        "",
        (-2.0, 2.0),
    ),
    _metric(
        "own_card_excess_read",
        "the same against exact reading of partners that are bots, in the small variants",
        _excess_read,
        "lower",
        "",
        (-2.0, 2.0),
    ),
    _metric(
        "their_belief_distance",
        "squared distance between what the next seat was said to know and what it could know",
        _their_belief_distance,
        "lower",
        "",
        (0.0, 2.0),
    ),
    _metric(
        "sure_but_idle",
        "turns without a play, among those with a card it called at least 95 % playable",
        _sure_but_idle,
        "lower",
        "%",
        (0.0, PERCENT),
    ),
    _metric(
        "against_better_knowledge",
        "plays of a card it called at most 20 % playable, among its plays",
        _against_better_knowledge,
        "lower",
        "%",
        (0.0, PERCENT),
    ),
)
