"""The scripted partners of the ambiguity game: listeners and speakers that use word vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import chain, islice

import numpy as np

from sally.core.errors import BadInput
from sally.core.match.partner import Answerer, Partner, Script, by_name, must_sit
from sally.core.match.player import Turn
from sally.core.rules.game import Seat
from sally.core.rules.probe import ProbeReport
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
ROWS = 128  # rows of the likeness matrix processed at a time; it has millions of entries
TRIED = 200  # legal clues for which the speaker predicts the guesses


# --- vectors --------------------------------------------------------------------------------------


def shipped_vector(text: str) -> Vectors:
    """Return the shipped vector of a known text; raise BadInput for any other text."""
    row = rows_by_text().get(text)
    if row is None:
        raise BadInput(
            f"A listener with vocabulary_only cannot interpret {text!r}: it knows only the "
            "vocabulary and the hints; without vocabulary_only it accepts any sentence."
        )
    vector: Vectors = table()[row]
    return vector


@cache
def encode_text(text: str) -> Vectors:
    """Return the vector of any text: the stored vector if there is one, else the vector computed by
    MiniLM."""
    if text in rows_by_text():
        return shipped_vector(text)
    vector: Vectors = minilm().vectors([text])[0]
    return vector


# --- listeners ------------------------------------------------------------------------------------


def heard_as(hint: str, clue: str, encode: Encode) -> str:
    """Return the word whose vector is nearest to hint and clue combined, among the words that
    occur in neither of them."""
    scores = _nearness(hint, encode) + _nearness(clue, encode)
    return _first_allowed(vocabulary(), scores, f"{hint} {clue}")


@lru_cache(maxsize=2048)
def _nearness(text: str, encode: Encode) -> Vectors:
    """Return the similarity of every word to a text; the similarities to two texts can be added
    up."""
    row = rows_by_text().get(text)
    if row is not None and row < len(vocabulary()):
        similarities: Vectors = likeness()[row]
    else:
        similarities = table()[: len(vocabulary())] @ encode(text)
    return similarities


def _first_allowed(words: Sequence[str], scores: Vectors, texts_given: str) -> str:
    """Return the word with the highest score among those that occur in neither the clue nor the
    hint."""
    best = words[int(scores.argmax())]  # nearly always allowed, which saves the sort
    for word in chain((best,), _rank_words(words, scores)):
        if objection(Item(word, "", ""), texts_given) is None:
            return word
    raise BadInput(f"Every word of the vocabulary is contained in {texts_given!r}.")


def _rank_words(words: Sequence[str], scores: Vectors) -> Iterator[str]:
    """Yield the words by descending score; ties stay in the order of `words`."""
    for place in np.argsort(-scores, kind="stable"):
        yield words[int(place)]


def heard_by_senses(hint: str, clue: str, encode: Encode, without: str = "") -> str:
    """Return the word that has a sense fitting hint and clue best, among the words that occur in
    neither of them."""
    by_hint = senses.fits(encode(hint).tobytes(), hint)
    by_clue = senses.fits(encode(clue).tobytes(), clue, without)
    names, _ = senses.candidates()
    return _first_allowed(names, senses.combine_fits(by_hint, by_clue), f"{hint} {clue}")


def _listener(name: str, hear: Callable[[str, str, Encode], str]) -> Callable[..., Script]:
    """Return a factory of listeners that guess from their hint and the clue."""

    def make(game: Ambiguity, seat: Seat, vocabulary_only: bool = False) -> Script:
        must_sit(seat, name, *LISTENERS)
        if not vocabulary_only:
            minilm()  # fails now if the weights are not available
        encode = shipped_vector if vocabulary_only else encode_text

        def act(turn: WordTurn) -> Action:
            view = turn.view
            return Guess(hear(view.b_hint or view.c_hint, view.clue or "", encode))

        return act

    return make


def _hint_only(game: Ambiguity, seat: Seat) -> Script:
    must_sit(seat, "hint_only", *LISTENERS)

    def act(turn: WordTurn) -> Action:
        hint = turn.view.b_hint or turn.view.c_hint
        return Guess(_first_allowed(vocabulary(), _nearness(hint, encode_text), hint))

    return act


# --- speakers -------------------------------------------------------------------------------------


def margins(item: Item) -> Vectors:
    """Return, for each clue, the smaller of two margins: that by which B prefers the secret word to
    every other word, and that by which C prefers some other word to the secret word.

    A clue with a margin above 0 wins, unless the clue contains one of these words, which a listener
    then cannot guess.
    """
    target = vocabulary().index(item.word)
    leads = []
    for hint, sign in ((item.b_hint, 1), (item.c_hint, -1)):
        hint_nearness, alike = _nearness(hint, encode_text), likeness()
        lead = np.empty(len(alike), np.result_type(alike, hint_nearness))
        for first in range(0, len(alike), ROWS):
            scores = alike[first : first + ROWS] + hint_nearness
            clues = np.arange(len(scores))
            target_scores = scores[:, target].copy()
            scores[:, target] = -np.inf
            scores[clues, first + clues] = -np.inf  # the clue itself is never guessed
            lead[first : first + ROWS] = target_scores - scores.max(axis=1)
        leads.append(sign * lead)
    lesser: Vectors = np.minimum(*leads)
    return lesser


@cache
def best_clue(item: Item) -> str:
    """Return the legal clue with the largest margin (see `margins`) among the clues that win, or
    among all legal clues if none wins."""
    if item.word not in vocabulary():
        raise BadInput(f"margin: the word {item.word!r} is not in the vocabulary")
    ranked = _rank_words(vocabulary(), margins(item))
    legal = list(islice((w for w in ranked if objection(item, w) is None), TRIED))
    return next((clue for clue in legal if predict_guesses(item, clue) == (True, False)), legal[0])


def predict_guesses(item: Item, clue: str) -> tuple[bool, bool]:
    """Return whether a listener that guesses by embeddings would find the word with B's hint,
    and whether it would with C's."""
    b, c = (
        is_right(item, heard_as(hint, clue, encode_text)) for hint in (item.b_hint, item.c_hint)
    )
    return b, c


def natural(item: Item) -> str:
    """Return a clue that a person might give; raise BadInput if no such clue is stored for the
    word."""
    if item.word not in senses.natural_clues():
        raise BadInput(f"natural: there is no clue for {item.word!r}")
    return senses.natural_clues()[item.word]


def by_likeness(item: Item, sign: int) -> str:
    """Return the legal word most similar (sign 1) or least similar (sign -1) to the secret word."""
    ranked = _rank_words(vocabulary(), sign * _nearness(item.word, encode_text))
    return next(word for word in ranked if objection(item, word) is None)


def _answers(predict: Callable[[WordTurn], tuple[bool, bool]]) -> Answerer:
    """Return a function that answers probes with the prediction of `predict`: whether teammate and
    opponent find the word."""

    def report(turn: WordTurn) -> ProbeReport:
        assert turn.question is not None
        teammate = turn.question.about == TEAMMATE
        if turn.question.probe == "has_hint":
            return ProbeReport("b" if teammate else "c")
        is_found = predict(turn)[0 if teammate else 1]
        return ProbeReport("right" if is_found else "wrong")

    return report


def _predicts(game: Ambiguity, seat: Seat) -> Answerer:
    """Return a function that answers probes with the predicted guesses of listeners that use
    embeddings."""

    def predict(turn: WordTurn) -> tuple[bool, bool]:
        assert isinstance(turn.pending, Clue)
        return predict_guesses(game.problem, turn.pending.text)

    return _answers(predict)


def _hopes(game: Ambiguity, seat: Seat) -> Answerer:
    """Return a function that answers probes with the prediction that the clue works as intended."""
    return _answers(lambda turn: (True, False))


def _speaker(
    name: str,
    about: str,
    say: Callable[[Item], str],
    answers: Callable[[Ambiguity, Seat], Answerer] = _hopes,
) -> Partner:
    def make(game: Ambiguity, seat: Seat) -> Script:
        must_sit(seat, name, SPEAKER)
        clue = Clue(say(game.problem))
        return lambda turn: clue

    return Partner(name, about, OURS, make, answers=answers)


PARTNERS = by_name(
    Partner(
        "embedding",
        "guesses the word nearest to its hint and the clue together, by MiniLM vectors",
        OURS,
        _listener("embedding", heard_as),
        params={"vocabulary_only": False},
    ),
    Partner(
        "senses",
        "guesses the word one of whose senses fits hint and clue together, by word "
        "associations of ours and MiniLM vectors",
        OURS,
        _listener("senses", heard_by_senses),
        params={"vocabulary_only": False},
    ),
    Partner(
        "hint_only", "guesses the word nearest to its hint, ignoring the clue", OURS, _hint_only
    ),
    _speaker(
        "margin",
        "the word of the vocabulary with the best margin between embedding listeners",
        best_clue,
        _predicts,
    ),
    _speaker("natural", "a clue that a person might give, one a word, ours", natural),
    _speaker("hint_b", "repeats the teammate's hint", lambda item: item.b_hint),
    _speaker("hint_c", "repeats the opponent's hint", lambda item: item.c_hint),
    _speaker(
        "synonym",
        "the word most like the secret one, whatever the hints",
        lambda item: by_likeness(item, 1),
    ),
    _speaker(
        "stranger",
        "the word least like the secret one, whatever the hints",
        lambda item: by_likeness(item, -1),
    ),
)
