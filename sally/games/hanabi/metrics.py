"""Metrics of Hanabi: the score (the cards on the piles, with and without a score of 0 for losing
all lives), beliefs, and moves given beliefs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache, partial

from sally.core.log.events import Reported
from sally.core.rules.game import Seat
from sally.core.rules.metric import Metric, Played
from sally.games.hanabi.belief import Odds, count_own_hand, counted_by, read
from sally.games.hanabi.bots import BOTS
from sally.games.hanabi.decisions import turns_of
from sally.games.hanabi.probes import PERCENT, place_of
from sally.games.hanabi.rules import Hanabi
from sally.games.hanabi.state import State, View

SURE, UNLIKELY = 0.95, 0.2
REFERENCES = {2: "smart", 3: "info", 4: "info", 5: "info"}  # best of the bots here, by players
MOST_HANDS = 1_000  # the variants in which every hand can be enumerated


def _mean(numbers: Iterable[float]) -> float | None:
    values = list(numbers)
    return sum(values) / len(values) if values else None


# --- the score ------------------------------------------------------------------------------------


def _end(played: Played) -> State | None:
    """Return the final state; None if the episode was censored."""
    state: State = played.replay.states[-1]
    return None if played.episode.payoffs is None else state


def _cards_on_piles(played: Played, seat: Seat) -> float | None:
    end = _end(played)
    return None if end is None else float(sum(end.piles))


def _zero(played: Played, seat: Seat) -> float | None:
    end = _end(played)
    return None if end is None else float(sum(end.piles) if end.lives else 0)


def _perfect(played: Played, seat: Seat) -> float | None:
    score = _cards_on_piles(played, seat)
    return None if score is None else PERCENT * (score == played.replay.rules(Hanabi).highest)


def _lives_lost(played: Played, seat: Seat) -> float | None:
    end = _end(played)
    return None if end is None else float(played.replay.rules(Hanabi).lives - end.lives)


def _regret(played: Played, seat: Seat) -> float | None:
    end = _end(played)
    if end is None:
        return None
    return float(reference_score(played.replay.rules(Hanabi), end.deck) - sum(end.piles))


@lru_cache(maxsize=1024)
def reference_score(game: Hanabi, deck: tuple[int, ...]) -> int:
    """Return the reference bot's self-play score on the same deal, even if all lives are lost."""
    policies = [BOTS[REFERENCES[game.players]](game) for _ in game.seats]
    state = game.dealt(deck)
    while not game.is_over(state):
        seat = game.seats[state.mover]
        (action,) = policies[state.mover](game.observe(state, seat))
        state = game.step(state, {seat: action})
    return sum(state.piles)


# --- beliefs --------------------------------------------------------------------------------------


def _own_card_odds(
    played: Played, seat: Seat
) -> Iterator[tuple[View, int, tuple[float, ...], int]]:
    """Yield (view, slot, reported probabilities, true card) for each report about one of the seat's
    own cards."""
    game = played.replay.rules(Hanabi)
    me = game.seats.index(seat)
    for report in _reports(played, seat, "own_card_odds"):
        if report.odds is not None:
            state, slot = played.replay.state(report.turn), int(report.about) - 1
            yield game.observe(state, seat), slot, report.odds, state.hands[me][slot]


def brier(odds: tuple[float, ...], truth: int) -> float:
    """Return the Brier score of probabilities: 0 for certainty in the true card, 2 for certainty
    in a wrong one."""
    return sum((p - (card == truth)) ** 2 for card, p in enumerate(odds))


_counted = lru_cache(maxsize=4096)(count_own_hand)


def _odds_by_reading(played: Played, view: View, slot: int) -> tuple[float, ...] | None:
    """Return the probabilities of a card if the player also draws inferences from the others'
    moves. None if another seat is not a bot with a known policy, or if there are too many possible
    hands to enumerate."""
    game, lineup = played.replay.rules(Hanabi), played.episode.setup.lineup
    others = {n: lineup[s].player for n, s in enumerate(game.seats) if n != view.me}
    small = game.highest**game.hand_size <= MOST_HANDS
    if not small or any(name not in BOTS for name in others.values()):
        return None
    reading = _read(game, view, tuple(sorted(others.items())))
    return None if reading is None else reading[slot]


@lru_cache(maxsize=4096)
def _read(game: Hanabi, view: View, others: tuple[tuple[int, str], ...]) -> Odds | None:
    reading = read(game, view, {seat: BOTS[name](game) for seat, name in others})
    return None if reading is None else reading.odds


def _own_card_brier(played: Played, seat: Seat) -> float | None:
    return _mean(brier(odds, truth) for _, _, odds, truth in _own_card_odds(played, seat))


def _excess(played: Played, seat: Seat) -> float | None:
    game = played.replay.rules(Hanabi)
    return _mean(
        brier(odds, truth) - brier(_counted(game, view).odds(slot), truth)
        for view, slot, odds, truth in _own_card_odds(played, seat)
    )


def _excess_read(played: Played, seat: Seat) -> float | None:
    return _mean(
        brier(odds, truth) - brier(best, truth)
        for view, slot, odds, truth in _own_card_odds(played, seat)
        if (best := _odds_by_reading(played, view, slot)) is not None
    )


def _their_beliefs(played: Played, seat: Seat) -> Iterator[float]:
    """Yield, for each report about the other seat's beliefs, its squared distance from that seat's
    actual posterior."""
    game = played.replay.rules(Hanabi)
    for report in _reports(played, seat, "their_belief"):
        if isinstance(report.value, dict) and sum(report.value.values()) > 0:
            other_seat, slot = place_of(game, report.about)
            actual_odds = counted_by(game, played.replay.state(report.turn), other_seat).odds(slot)
            total = sum(report.value.values())
            stated = [report.value.get(str(card), 0.0) / total for card in range(game.highest)]
            yield sum((p - q) ** 2 for p, q in zip(stated, actual_odds, strict=True))


def _reports(played: Played, seat: Seat, probe: str) -> Iterator[Reported]:
    all_reports = played.replay.reports.values()
    return (r for r in all_reports if r.seat == seat and r.probe == probe)


# --- moves given beliefs --------------------------------------------------------------------------


def _sure_but_idle(played: Played, seat: Seat) -> float | None:
    return _mean(
        PERCENT * (own_turn.plays is None)
        for own_turn in turns_of(played, seat)
        if own_turn.believed
        and max(own_turn.believed.values()) >= SURE
        and own_turn.action is not None
    )


def _against_better_knowledge(played: Played, seat: Seat) -> float | None:
    return _mean(
        PERCENT * (own_turn.believed[own_turn.plays] <= UNLIKELY)
        for own_turn in turns_of(played, seat)
        if own_turn.believed and own_turn.plays is not None and own_turn.plays in own_turn.believed
    )


def _misplays(played: Played, seat: Seat) -> float:
    turns = turns_of(played, seat)
    return float(sum(own_turn.plays is not None and not own_turn.scores for own_turn in turns))


_lower = partial(Metric, better="lower")
_higher = partial(Metric, better="higher")
PILES, PERCENTAGE = (0.0, 25.0), (0.0, PERCENT)  # piles of the largest game

METRICS = (
    _higher(
        "score_kept",
        "cards on the piles, whatever happened",
        _cards_on_piles,
        unit="cards",
        bounds=PILES,
    ),
    _higher(
        "score_zero",
        "cards on the piles, 0 if all lives are lost",
        _zero,
        unit="cards",
        bounds=PILES,
    ),
    _higher("perfect", "whether every pile was completed", _perfect, unit="%", bounds=PERCENTAGE),
    _lower("lives_lost", "lives lost by the whole table", _lives_lost, unit="lives"),
    _lower("misplays", "cards this seat played that did not fit", _misplays, unit="cards"),
    _lower(
        "score_regret",
        "what `smart` (two players) or `info` (more) in every seat scores on the same deal, minus "
        "the cards on the piles; best known, not optimal, so it may be negative",
        _regret,
        unit="cards",
        bounds=(-PILES[1], PILES[1]),
    ),
    _lower(
        "own_card_brier",
        "Brier score of the odds given to one's own cards",
        _own_card_brier,
        bounds=(0.0, 2.0),
    ),
    _lower(
        "own_card_excess",
        "that Brier score minus the one of exact counting: above 0 information was missed, below "
        "0 a partner's intention was read",
        _excess,
        bounds=(-2.0, 2.0),
    ),
    _lower(
        "own_card_excess_read",
        "the same against exact reading of partners that are bots, in the small variants",
        _excess_read,
        bounds=(-2.0, 2.0),
    ),
    _lower(
        "their_belief_distance",
        "squared distance between what the next seat was said to know and what it could know",
        lambda played, seat: _mean(_their_beliefs(played, seat)),
        bounds=(0.0, 2.0),
    ),
    _lower(
        "sure_but_idle",
        "turns without a play, among those with a card it called at least 95 % playable",
        _sure_but_idle,
        unit="%",
        bounds=PERCENTAGE,
    ),
    _lower(
        "against_better_knowledge",
        "plays of a card it called at most 20 % playable, among its plays",
        _against_better_knowledge,
        unit="%",
        bounds=PERCENTAGE,
    ),
)
