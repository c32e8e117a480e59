"""Who plays the ambiguity game: listeners that go by vectors, a speaker that foresees them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from itertools import chain, islice

import numpy as np

from sally.core.errors import BadInput, listed
from sally.core.match.player import Turn
from sally.core.rules.game import Seat
from sally.core.rules.partner import Answerer, Partner, Script
from sally.core.rules.probe import Report
from sally.games.association.english import vocabulary
from sally.games.association.minilm import minilm
from sally.games.association.vectors import Vectors, likeness
from sally.games.toma.ag import senses
from sally.games.toma.ag.game import (
    LISTENERS,
    SPEAKER,
    TEAMMATE,
    Action,
    Ambiguity,
    Clue,
    Guess,
    View,
)
from sally.games.toma.ag.rules import Item, is_right, objection
from sally.games.toma.ag.vectors import rows_by_text, table

WordTurn = Turn[Action, View]
Encode = Callable[[str], Vectors]
OURS = "ours, for kang2026's game"
ROWS = 128  # of the words' likeness, which has millions of numbers, are gone through at a time
TRIED = 200  # legal clues of which the speaker asks how they will be heard


# --- vectors --------------------------------------------------------------------------------------


def shipped(text: str) -> Vectors:
    """The vector of a known text; free text is refused."""
    row = rows_by_text().get(text)
    if row is None:
        raise BadInput(
            f"A listener with vocabulary_only cannot hear {text!r}: it knows single words of the "
            "vocabulary and the hints; leave vocabulary_only out to hear any sentence."
        )
    vector: Vectors = table()[row]
    return vector


@cache
def encoded(text: str) -> Vectors:
    """The vector of any text: as shipped where it is known, else by MiniLM."""
    if text in rows_by_text():
        return shipped(text)
    vector: Vectors = minilm().vectors([text])[0]
    return vector


# --- listeners ------------------------------------------------------------------------------------


def heard_as(hint: str, clue: str, encode: Encode) -> str:
    """The word nearest to hint and clue together that neither of them contains."""
    scores = _nearness(hint, encode) + _nearness(clue, encode)
    return _first_allowed(scores, f"{hint} {clue}")


@lru_cache(maxsize=2048)
def _nearness(text: str, encode: Encode) -> Vectors:
    """How near every word of the vocabulary is to a text; vectors sum, so nearness does too."""
    row = rows_by_text().get(text)
    if row is not None and row < len(vocabulary()):
        near: Vectors = likeness()[row]
    else:
        near = table()[: len(vocabulary())] @ encode(text)
    return near


def _first_allowed(scores: Vectors, said: str) -> str:
    """The best word that may be the secret one: no clue and no hint contains it."""
    best = vocabulary()[int(scores.argmax())]  # it nearly always may, and the others need no order
    for word in chain((best,), _ranked(scores)):
        if objection(Item(word, "", ""), said) is None:
            return word
    raise BadInput(f"Every word of the vocabulary is contained in {said!r}.")


def _ranked(scores: Vectors) -> Iterator[str]:
    """The vocabulary from the highest score down; ties in alphabetical order."""
    words = vocabulary()
    for place in np.argsort(-scores, kind="stable"):
        yield words[int(place)]


def _embedding(game: Ambiguity, seat: Seat, vocabulary_only: bool = False) -> Script:
    _check(seat, "embedding", LISTENERS)
    if not vocabulary_only:
        minilm()  # refuses the lineup now if the weights cannot be had
    encode = shipped if vocabulary_only else encoded

    def act(turn: WordTurn) -> Action:
        view = turn.view
        return Guess(heard_as(view.b_hint or view.c_hint, view.clue or "", encode))

    return act


def heard_by_senses(hint: str, clue: str, encode: Encode, without: str = "") -> str:
    """The word one of whose senses fits hint and clue best that neither of them contains."""
    by_hint = senses.fits(encode(hint).tobytes(), hint)
    by_clue = senses.fits(encode(clue).tobytes(), clue, without)
    names, _ = senses.candidates()
    for place in np.argsort(-senses.worth(by_hint, by_clue), kind="stable"):
        if objection(Item(names[int(place)], "", ""), f"{hint} {clue}") is None:
            return names[int(place)]
    raise BadInput(f"Every word of the vocabulary is contained in {hint + ' ' + clue!r}.")


def _senses(game: Ambiguity, seat: Seat, vocabulary_only: bool = False) -> Script:
    _check(seat, "senses", LISTENERS)
    if not vocabulary_only:
        minilm()  # refuses the lineup now if the weights cannot be had
    encode = shipped if vocabulary_only else encoded

    def act(turn: WordTurn) -> Action:
        view = turn.view
        return Guess(heard_by_senses(view.b_hint or view.c_hint, view.clue or "", encode))

    return act


def _hint_only(game: Ambiguity, seat: Seat) -> Script:
    _check(seat, "hint_only", LISTENERS)

    def act(turn: WordTurn) -> Action:
        hint = turn.view.b_hint or turn.view.c_hint
        return Guess(_first_allowed(_nearness(hint, encoded), hint))

    return act


# --- speakers -------------------------------------------------------------------------------------


def margins(item: Item) -> Vectors:
    """By clue: by how much B prefers the word to all others, or C another to it; the lesser.

    A clue wins where this is above 0, up to the words that a clue itself rules out.
    """
    target = vocabulary().index(item.word)
    found = []
    for hint, sign in ((item.b_hint, 1), (item.c_hint, -1)):
        near, alike = _nearness(hint, encoded), likeness()
        lead = np.empty(len(alike), np.result_type(alike, near))
        for first in range(0, len(alike), ROWS):
            scores = alike[first : first + ROWS] + near
            clues = np.arange(len(scores))
            own = scores[:, target].copy()
            scores[:, target] = -np.inf
            scores[clues, first + clues] = -np.inf  # nobody guesses the clue itself
            lead[first : first + ROWS] = own - scores.max(axis=1)
        found.append(sign * lead)
    lesser: Vectors = np.minimum(*found)
    return lesser


@cache
def best_clue(item: Item) -> str:
    """The legal word of the vocabulary with the best margin, one that wins if any does."""
    if item.word not in vocabulary():
        raise BadInput(f"margin: the word {item.word!r} is not in the vocabulary")
    margin = margins(item)
    legal = list(islice((w for w in _ranked(margin) if objection(item, w) is None), TRIED))
    return next((clue for clue in legal if foreseen(item, clue) == (True, False)), legal[0])


def foreseen(item: Item, clue: str) -> tuple[bool, bool]:
    """Whether embedding listeners with B's and with C's hint find the word."""
    b, c = (is_right(item, heard_as(hint, clue, encoded)) for hint in (item.b_hint, item.c_hint))
    return b, c


def natural(item: Item) -> str:
    """What a person might say; only our hundred words have such a clue."""
    if item.word not in senses.natural_clues():
        raise BadInput(f"natural: there is no clue for {item.word!r}")
    return senses.natural_clues()[item.word]


def synonym(item: Item) -> str:
    """The legal word of the vocabulary that is most like the secret one."""
    ranked = _ranked(_nearness(item.word, encoded))
    return next(word for word in ranked if objection(item, word) is None)


def stranger(item: Item) -> str:
    """The legal word of the vocabulary that is least like the secret one."""
    ranked = _ranked(-_nearness(item.word, encoded))
    return next(word for word in ranked if objection(item, word) is None)


def _foresees(game: Ambiguity, seat: Seat) -> Answerer:
    """Listens to its own clue with the listeners' hints."""

    def report(turn: WordTurn) -> Report:
        assert turn.question is not None
        if turn.question.probe == "has_hint":
            return _own_hint(turn.question.about)
        assert isinstance(turn.pending, Clue)
        right = foreseen(game.problem, turn.pending.text)
        found = right[0 if turn.question.about == TEAMMATE else 1]
        return Report("right" if found else "wrong")

    return report


def _hopes(game: Ambiguity, seat: Seat) -> Answerer:
    """Expects the clue to do what it should."""

    def report(turn: WordTurn) -> Report:
        assert turn.question is not None
        if turn.question.probe == "has_hint":
            return _own_hint(turn.question.about)
        return Report("right" if turn.question.about == TEAMMATE else "wrong")

    return report


def _own_hint(listener: str) -> Report:
    return Report("b" if listener == TEAMMATE else "c")


def _speaker(
    name: str,
    about: str,
    say: Callable[[Item], str],
    answers: Callable[[Ambiguity, Seat], Answerer] = _hopes,
) -> Partner:
    def make(game: Ambiguity, seat: Seat) -> Script:
        _check(seat, name, (SPEAKER,))
        clue = Clue(say(game.problem))
        return lambda turn: clue

    return Partner(name, about, OURS, make, answers=answers)


def _check(seat: Seat, name: str, fits: tuple[Seat, ...]) -> None:
    if seat not in fits:
        raise BadInput(f"{name} sits as {listed(fits, 'or')}, not as {seat}")


PARTNERS = {
    partner.name: partner
    for partner in (
        Partner(
            "embedding",
            "guesses the word nearest to its hint and the clue together, by MiniLM vectors",
            OURS,
            _embedding,
            params={"vocabulary_only": False},
        ),
        Partner(
            "senses",
            "guesses the word one of whose senses fits hint and clue together, by word "
            "associations of ours and MiniLM vectors",
            OURS,
            _senses,
            params={"vocabulary_only": False},
        ),
        Partner("hint_only", "guesses the word nearest to its hint; deaf", OURS, _hint_only),
        _speaker(
            "margin",
            "the word of the vocabulary with the best margin between embedding listeners",
            best_clue,
            _foresees,
        ),
        _speaker("natural", "a clue that a person might give, one a word, ours", natural),
        _speaker("hint_b", "repeats the teammate's hint", lambda item: item.b_hint),
        _speaker("hint_c", "repeats the opponent's hint", lambda item: item.c_hint),
        _speaker("synonym", "the word most like the secret one, whatever the hints", synonym),
        _speaker("stranger", "the word least like the secret one, whatever the hints", stranger),
    )
}
