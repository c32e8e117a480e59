"""Metrics of Codenames: points, exact regret of a turn, and learning."""

from __future__ import annotations

import msgspec

from sally.core.rules.game import Seat
from sally.core.rules.metric import Metric, Played, cache_by_seat
from sally.games.association.lexicon import plain
from sally.games.association.measures import declared_mind, learning, losses, mean
from sally.games.association.minds import Mind
from sally.games.codenames.partners import ALL
from sally.games.codenames.rules import (
    GIVER,
    GUESSER,
    Clue,
    Codenames,
    GivenClue,
    Guess,
    Over,
    Stop,
    Turned,
    View,
)
from sally.games.codenames.solver import best_clue, best_worth, clue_value, own_sets, shares

SMALL = 16  # maximum cards of a board on which a guesser's posterior is enumerated


class DecisionScore(msgspec.Struct, frozen=True):
    """One scored decision: its board, its value, and the highest possible value."""

    board: int
    value: float
    best: float
    hoped: float | None = None  # its value by the giver's own prediction
    moves: tuple[Clue | Guess | Stop, ...] = ()  # the best ones; of several clues one is named


@cache_by_seat
def decisions(played: Played, seat: Seat) -> list[DecisionScore]:
    """Return the scored clues of a giver, or the scored guesses of a guesser on small boards."""
    return [score for _, score in scored_at(played, seat)]


def scored_at(played: Played, seat: Seat) -> list[tuple[int, DecisionScore]]:
    """Return the scored decisions as pairs (turn, decision)."""
    scores: list[tuple[int, DecisionScore | None]] = []
    for turn, moves in enumerate(played.replay.moves):
        move = moves.get(seat)
        if seat == GIVER and isinstance(move, Clue):
            scores.append((turn, _clue(played, turn, move)))
        elif seat == GUESSER and isinstance(move, Guess | Stop):
            scores.append((turn, _card(played, turn, move)))
    return [(turn, score) for turn, score in scores if score is not None]


def _clue(played: Played, turn: int, clue: Clue) -> DecisionScore | None:
    """Return a clue compared with the best one for this guesser; None if it is unknown how the
    guesser associates words."""
    replay = played.replay
    if replay.states[turn + 1].clue is None:  # rejected by the rules
        return None
    view: View = replay.view(turn, GIVER)
    mind = declared_mind(played, GUESSER, len(view.boards) - 1)
    if mind is None:
        return None
    opened = sum(colour == "own" for colour in view.turned_colours.values())
    given_value = clue_value(mind, clue, view.colours, view.covered_words, opened)
    report = replay.report(turn, GIVER, "their_run")
    hoped = None if report is None or not isinstance(report.value, int) else float(report.value)
    best = best_worth(mind, view.colours, view.covered_words)
    own_words = tuple(word for word in view.covered_words if view.colours[word] == "own")
    best_named = best_clue(mind, view.covered_words, own_words)
    return DecisionScore(len(view.boards) - 1, given_value, best, hoped, (best_named,))


def _card(played: Played, turn: int, move: Guess | Stop) -> DecisionScore | None:
    """Return a guess compared with the best one under the exact posterior over which cards are
    the team's own."""
    replay, game = played.replay, played.replay.rules(Codenames)
    view: View = replay.view(turn, GUESSER)
    board = len(view.boards) - 1
    mind = declared_mind(played, GIVER, board)
    if mind is None or view.clue is None or len(view.boards[-1]) > SMALL:
        return None
    clue_limit = int(played.episode.setup.lineup[GIVER].params.get("most", ALL))
    sets = _sets(game, view, mind, clue_limit)
    if not sets:
        return None
    values = _values(game, view, shares(sets, view.covered_words))
    card_value = values[move.word] if isinstance(move, Guess) else 0.0
    may_stop = Stop() in game.options(replay.state(turn), GUESSER)
    top = max([*values.values(), *([0.0] if may_stop else [])])
    cards: list[Guess | Stop] = [Guess(word) for word, v in values.items() if v >= top - 1e-9]
    cards += [Stop()] if may_stop and top <= 1e-9 else []
    return DecisionScore(board, card_value, top, moves=tuple(cards))


def _sets(game: Codenames, view: View, mind: Mind, clue_limit: int) -> tuple[frozenset[str], ...]:
    """Return the possible sets of the team's covered cards: those consistent with all clues and all
    cards turned over.

    A set is consistent if a giver with this mind would have given each clue for the team's cards
    that were covered at that moment, including cards that have been turned over since.
    """
    covered, possible = set(view.covered_words), None
    for number, clue in enumerate(view.log):
        if number < view.began or not isinstance(clue, GivenClue):
            continue
        turned = [e for e in view.log[number:] if isinstance(e, Turned)]
        own_turned = {e.word for e in turned if e.colour == "own"}
        others = {e.word for e in turned} - own_turned
        laid = tuple(word for word in view.boards[-1] if word in covered | own_turned | others)
        events_before = view.log[view.began : number]
        opened = sum(isinstance(e, Turned) and e.colour == "own" for e in events_before)
        n_own_left = game.row[len(view.boards) - 1].key.count("own") - opened
        candidate_sets = own_sets(mind, laid, n_own_left, plain(clue.word), clue.number, clue_limit)
        consistent = {
            candidate - own_turned
            for candidate in candidate_sets
            if own_turned <= candidate and not others & candidate
        }
        possible = consistent if possible is None else possible & consistent
    return tuple(sorted(possible or (), key=sorted))


def _values(game: Codenames, view: View, odds: dict[str, float]) -> dict[str, float]:
    """Return each card's expected value: a card of the team counts 1, and any other card counts
    minus the average cost of the covered cards that are not the team's."""
    turned = list(view.turned_colours.values())
    key = game.row[len(view.boards) - 1].key
    cards_left = {c: key.count(c) - turned.count(c) for c in ("other", "neutral", "assassin")}
    others = sum(cards_left.values())
    opened = turned.count("own")
    cost = (cards_left["other"] + cards_left["assassin"] * opened) / others if others else 0.0
    return {word: p - (1 - p) * cost for word, p in odds.items()}


def by_board(played: Played, seat: Seat) -> list[float]:
    """Return the mean regret of each board that has scored decisions."""
    regrets_by_board: dict[int, list[float]] = {}
    for score in decisions(played, seat):
        regrets_by_board.setdefault(score.board, []).append(score.best - score.value)
    return [sum(regrets) / len(regrets) for _, regrets in sorted(regrets_by_board.items())]


def _points(played: Played, seat: Seat) -> float | None:
    log = played.replay.states[-1].log
    return mean([event.paid for event in log if isinstance(event, Over)])


def _share_won(played: Played, seat: Seat) -> float | None:
    log = played.replay.states[-1].log
    return mean([float(event.how == "won") for event in log if isinstance(event, Over)])


def _regret(played: Played, seat: Seat) -> float | None:
    return mean([score.best - score.value for score in decisions(played, seat)])


def split(played: Played, seat: Seat) -> list[tuple[float, float]]:
    """Return (inference loss, translation loss) for each clue with a prediction; they sum to the
    regret.

    The translation loss is the highest value of any clue minus the value that the giver predicted,
    but at least 0; the inference loss is the rest of the regret.
    """
    losses = []
    for score in decisions(played, seat):
        if score.hoped is not None:
            hoped = min(score.hoped, score.best)
            losses.append((hoped - score.value, score.best - hoped))
    return losses


PER_TURN = "cards per decision"
METRICS = (
    Metric(
        "codenames_points",
        "mean points of a board",
        _points,
        better="higher",
        unit="points per board",
        within=lambda game, seat: (0.0, game.best_score),
        label="points",
        headline=True,
    ),
    Metric(
        "codenames_won", "share of boards that were won", _share_won, better="higher", unit="share"
    ),
    Metric(
        "codenames_regret",
        "worth of the best clue for this guesser, over the whole list, less the clue's; for a "
        "guesser, of the best card by the exact posterior less the card's",
        _regret,
        better="lower",
        unit=PER_TURN,
        label="regret per decision",
        headline=True,
    ),
    *learning("codenames", by_board, "board", PER_TURN),
    *losses(
        "codenames",
        split,
        "what the clue was expected to bring, minus what it brought",
        "the best minus what the clue was expected to bring: not acting on the prediction",
        PER_TURN,
    ),
)
