"""Players of Codenames: minds with their own associations, a learner, and mindless players."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from sally.core.match.partner import Partner, by_name
from sally.core.match.player import Turn
from sally.core.rules.probe import ProbeReport
from sally.games.association.lexicon import open_rows, open_words, place
from sally.games.association.minds import Mind, closeness, clue_strengths, hubness, ties
from sally.games.association.partners import (
    GRID,
    Floats,
    declaring,
    for_seat,
    likeliest,
    log_share,
    shares,
)
from sally.games.codenames.rules import (
    GIVER,
    GUESSER,
    Action,
    Clue,
    GivenClue,
    Guess,
    Over,
    Stop,
    Turned,
    View,
)
from sally.games.codenames.solver import best_clue, ranked_cards

CardTurn = Turn[Action, View]
ALL = 99  # no bound on the number of a clue


def own_covered(view: View) -> tuple[str, ...]:
    """Return the team's own covered cards, for the giver."""
    colours = view.colours
    return tuple(word for word in view.covered_words if colours[word] == "own")


# --- minds ----------------------------------------------------------------------------------------


def _associates(turn: CardTurn, mind: Mind, most: int) -> Action:
    view = turn.view
    if view.seat == GIVER:
        return best_clue(mind, view.covered_words, own_covered(view), most)
    assert view.clue is not None
    return Guess(ranked_cards(mind, view.clue.word, view.covered_words)[0])


def _by_mind(turn: CardTurn, mind: Mind) -> ProbeReport:
    """Return the answers of a player that has this mind or attributes it to the guesser."""
    question, view = turn.question, turn.view
    assert question is not None
    if question.probe == "closeness":
        return ProbeReport(closeness(mind, *question.about.split()))
    if question.probe == "own_cards":
        return ProbeReport(_by_rank(view, mind))
    clue = turn.pending
    assert isinstance(clue, Clue)
    order = ranked_cards(mind, clue.word, view.covered_words)
    if question.probe == "their_pick":
        return ProbeReport(order[0], tuple(float(c == order[0]) for c in question.choices))
    return ProbeReport(_run(view, order[: clue.number]))


def _run(view: View, order: tuple[str, ...]) -> int:
    run = 0
    for word in order:
        if view.colours[word] != "own":
            break
        run += 1
    return run


def _by_rank(view: View, mind: Mind) -> dict[str, float]:
    """Return a probability in percent for each covered card: 100 if this mind takes the clue to
    refer to it, else 25."""
    assert view.clue is not None
    meant = ranked_cards(mind, view.clue.word, view.covered_words)[: view.left]
    return {word: 100.0 if word in meant else 25.0 for word in view.covered_words}


# --- one who learns -------------------------------------------------------------------------------


def belief(view: View) -> Floats:
    """Return the posterior over the minds in `GRID`, given the cards turned over so far."""
    weights, board, covered, clue = np.zeros(len(GRID)), 0, list(view.boards[0]), None
    for event in view.log:
        if isinstance(event, GivenClue):
            clue = event.word
        elif isinstance(event, Over) and board + 1 < len(view.boards):
            board, clue = board + 1, None
            covered = list(view.boards[board])
        elif isinstance(event, Turned):
            if clue is not None and not event.rival:
                weights = weights + _evidence(clue, tuple(covered), event.word)
            covered.remove(event.word)
    return shares(weights)


@lru_cache(maxsize=4096)
def _evidence(clue: str, covered: tuple[str, ...], turned: str) -> Floats:
    """Return, for each mind in `GRID`, the log probability that the clue makes a guesser with this
    mind turn over this card."""
    rows = [place(word) for word in covered]
    return np.array(
        [log_share(clue_strengths(mind, clue)[rows], covered.index(turned)) for mind in GRID]
    )


def _adapts(turn: CardTurn) -> Action:
    view = turn.view
    return best_clue(likeliest(belief(view)), view.covered_words, own_covered(view))


def _adapts_answer(turn: CardTurn) -> ProbeReport:
    return _by_mind(turn, likeliest(belief(turn.view)))


# --- mindless -------------------------------------------------------------------------------------

Wanted = Callable[[CardTurn], npt.NDArray[np.float32]]  # by word of the vocabulary, its score


def _giver(name: str, about: str, score_words: Wanted, number: int = 1) -> Partner:
    def act(turn: CardTurn) -> Action:
        covered = turn.view.covered_words
        best = int(np.argmax(score_words(turn)[open_rows(covered)]))
        return Clue(open_words(covered)[best], min(number, len(own_covered(turn.view))))

    return for_seat(name, about, GIVER, act)


def _to_one(turn: CardTurn) -> npt.NDArray[np.float32]:
    """Return how strongly every word is associated with one of the team's cards, drawn at
    random."""
    card = turn.draws.pick(own_covered(turn.view))
    strengths: npt.NDArray[np.float32] = ties(Mind())[:, place(card)]
    return strengths


def _to_all(turn: CardTurn, colour: str) -> npt.NDArray[np.float32]:
    """Return the mean association of every word with the covered cards of a colour."""
    view = turn.view
    rows = [place(word) for word in view.covered_words if view.colours[word] == colour]
    strengths: npt.NDArray[np.float32] = ties(Mind())[:, rows].mean(axis=1)
    return strengths


def _guesser(name: str, about: str, pick: Callable[[tuple[str, ...]], str]) -> Partner:
    def act(turn: CardTurn) -> Action:
        return Stop() if Stop() in turn.options else Guess(pick(turn.view.covered_words))

    return for_seat(name, about, GUESSER, act)


def _hubness_of(word: str) -> float:
    return float(hubness()[place(word)])


PARTNERS = by_name(
    declaring(
        "associates",
        "turns over the cards that the clue brings to its own mind; as giver it says the clue "
        "with the longest run on itself, for at most `most` cards",
        Mind,
        lambda view: len(view.boards) - 1,
        _associates,
        _by_mind,
        most=ALL,
    ),
    for_seat(
        "adapts",
        "a giver who learns the guesser's mind from its cards, by Bayes over four minds",
        GIVER,
        _adapts,
        _adapts_answer,
    ),
    _giver("to_one", "the word nearest to one own card, for 1", _to_one),
    _giver("from_one", "the word farthest from one own card, for 1", lambda t: -_to_one(t)),
    _giver("to_all", "the word nearest to own cards, for 2", lambda t: _to_all(t, "own"), 2),
    _giver("to_rival", "the word nearest to rival cards", lambda t: _to_all(t, "other"), 2),
    _giver("hub", "the word that is near to most, for 1", lambda t: hubness()),
    _giver("hub_all", "the same for all own cards", lambda t: hubness(), ALL),
    _giver("loner", "the word that is near to fewest, for 1", lambda t: -hubness()),
    _guesser("first_card", "the first covered card, ignoring the clue", lambda covered: covered[0]),
    _guesser("last_card", "the last covered card, ignoring the clue", lambda covered: covered[-1]),
    _guesser("hub_card", "the card that is near to most", lambda c: max(c, key=_hubness_of)),
    _guesser("loner_card", "the card that is near to fewest", lambda c: min(c, key=_hubness_of)),
    _guesser("a_to_z", "the first card of the alphabet", min),
    _guesser("z_to_a", "the last card of the alphabet", max),
)
