"""Registry entry of Cipher: the game, its probes, and their true values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from sally.core.rules.game import Doing, GameSpec, LearnerSpec, MeasureSpec, PeopleSpec, Seat
from sally.core.rules.probe import At, Probe, Question
from sally.core.rules.replay import Trajectory
from sally.games.association.lexicon import cards
from sally.games.association.minds import Mind
from sally.games.cipher.listeners import (
    CODES,
    DIGITS,
    LENGTH,
    WAYS,
    by_history,
    by_keywords,
    digits,
    keyword_odds,
    listener_of,
)
from sally.games.cipher.rules import (
    DECODER,
    ENCODER,
    INTERCEPTOR,
    TEAM,
    Action,
    Cipher,
    State,
    View,
)
from sally.games.cipher.words import TEXTS, CipherWords

Past = Trajectory[State, Action, View]
Asks = Callable[[Cipher, View, Seat], tuple[Question, ...]]
OTHER = ""  # a word that is not among the choices
LIKELY = 15  # cards among the choices of a keyword


# --- guesses --------------------------------------------------------------------------------------


def _codes(probe: str, view: View, *about: str) -> tuple[Question, ...]:
    codes_left = view.record.remaining_codes
    return tuple(Question(probe, "odds", codes_left, about=subject) for subject in about)


def _their_guess(game: Cipher, view: View, seat: Seat) -> tuple[Question, ...]:
    return () if view.over else _codes("their_guess", view, DECODER, INTERCEPTOR)


def guess_after(replay: Past, turn: int, seat: Seat) -> int | None:
    """Return a seat's guess after the hints of a turn; None if the hints were rejected or no
    guess was made."""
    move = replay.move(turn + 1, seat) if turn + 1 < len(replay) else None
    return move if isinstance(move, int) else None


def true_guess(replay: Past, place: At) -> int | None:
    """Return the actual guess of the seat that the question is about."""
    return guess_after(replay, place.turn, Seat(place.about))


def _rival_guess(game: Cipher, view: View, seat: Seat) -> tuple[Question, ...]:
    if view.over or not view.hints:
        return ()
    return _codes("rival_guess", view, INTERCEPTOR if seat == DECODER else DECODER)


def true_rival_guess(replay: Past, place: At) -> int | None:
    """Return the simultaneous guess of the other listener."""
    move = replay.move(place.turn, Seat(place.about))
    return move if isinstance(move, int) else None


def _own_code(probe: str) -> Asks:
    """Return a function that asks for odds of the codes left, once hints are given."""
    return lambda game, view, seat: _codes(probe, view, "") if view.hints and not view.over else ()


def true_code(replay: Past, place: At) -> int:
    """Return the true code of the round."""
    return int(replay.state(place.turn).code)


def true_expected_guess(replay: Past, place: At) -> int | None:
    """Return the guess that the encoder predicted for this seat, given the hints; None if the
    encoder was not asked."""
    report = replay.report(place.turn - 1, ENCODER, "their_guess", str(place.seat))
    return report.value if report is not None and isinstance(report.value, int) else None


# --- the interceptor ------------------------------------------------------------------------------


def _listener(game: Cipher, view: View, seat: Seat) -> tuple[Question, ...]:
    return () if view.over else (Question("listener", "choice", WAYS),)


def true_listener(replay: Past, place: At) -> str | None:
    """Return how the interceptor interprets hints; None if its player does not declare it."""
    player = replay.lineup.get(INTERCEPTOR)
    listener = None if player is None else listener_of(player.player, player.params)
    return None if listener is None else listener.way


def likely_cards(past: tuple[str, ...]) -> tuple[str, ...]:
    """Return the most probable keywords given hints, for a Bayesian listener that associates
    words by meaning only."""
    order = np.argsort(-keyword_odds(Mind(), past), kind="stable")[:LIKELY]
    return tuple(cards()[int(n)] for n in order)


def _keywords(probe: str, shows_keywords: bool) -> Asks:
    """Return a function that asks one question for every digit that has hints from earlier rounds.

    The choices are the likeliest cards given the hints filed under the digit, which are public; if
    the question itself shows the keywords, the true one is among them.
    """

    def asks(game: Cipher, view: View, seat: Seat) -> tuple[Question, ...]:
        if view.over or not view.hints:
            return ()
        words = game.row[view.game - 1].keywords
        questions = []
        for digit, past in enumerate(view.record.filed, 1):
            if past:
                choices = {*likely_cards(past), *([words[digit - 1]] if shows_keywords else [])}
                about = " ".join([str(digit), *words]) if shows_keywords else str(digit)
                questions.append(Question(probe, "choice", (*sorted(choices), OTHER), about=about))
        return tuple(questions)

    return asks


def true_keyword(replay: Past, place: At) -> str:
    """Return the true keyword of the digit that the probe asks about, or OTHER if the keyword is
    not among the answer choices."""
    game: Any = replay.game
    state, digit = replay.state(place.turn), int(place.about) - 1
    word: str = game.row[state.game].keywords[digit]
    return word if word in likely_cards(game.record(state).filed[digit]) else OTHER


def true_belief(replay: Past, place: At) -> str | None:
    """Return the seat's answer to the probe `keyword` in the same turn, given before the keywords
    were shown."""
    report = replay.report(place.turn, place.seat, "keyword", place.about.split()[0])
    return report.value if report is not None and isinstance(report.value, str) else None


PROBES = (
    Probe(
        "their_guess",
        "which code the decoder and the interceptor will guess, as odds, asked after the hints",
        "after",
        "odds",
        (ENCODER,),
        _their_guess,
        true_guess,
    ),
    Probe(
        "listener",
        "how the interceptor comes to its guesses; judged where its kind is declared",
        "before",
        "choice",
        (ENCODER,),
        _listener,
        true_listener,
    ),
    Probe(
        "rival_guess",
        "which code the other listener will guess, as odds (second order for the decoder: what "
        "the interceptor makes of hints that were not meant for it)",
        "before",
        "odds",
        (DECODER, INTERCEPTOR),
        _rival_guess,
        true_rival_guess,
    ),
    Probe(
        "code",
        "which code it is, as odds",
        "before",
        "odds",
        (DECODER, INTERCEPTOR),
        _own_code("code"),
        true_code,
        of_mind=False,
    ),
    Probe(
        "expected_guess",
        "which guess the encoder expects of this seat, as odds; judged by what the encoder said",
        "before",
        "odds",
        (DECODER, INTERCEPTOR),
        _own_code("expected_guess"),
        true_expected_guess,
    ),
    Probe(
        "keyword",
        "the keyword of each digit that has hints, among the likeliest cards or another word",
        "before",
        "choice",
        (INTERCEPTOR,),
        _keywords("keyword", shows_keywords=False),
        true_keyword,
        of_mind=False,
    ),
    Probe(
        "keyword_before",
        "what one thought each keyword was before the keywords were shown, asked in a context of "
        "its own that shows them; judged by one's own answer to `keyword`",
        "before",
        "choice",
        (INTERCEPTOR,),
        _keywords("keyword_before", shows_keywords=True),
        true_belief,
    ),
    Probe(
        "keyword_of_another",
        "what another interceptor thinks each keyword is, asked like `keyword_before`",
        "before",
        "choice",
        (INTERCEPTOR,),
        _keywords("keyword_of_another", shows_keywords=True),
        true_belief,
    ),
)


def best_replies(game: Cipher, view: View, belief: Mapping[str, Any]) -> Any:
    """Return a predicate that accepts hints for which the decoder is predicted to be right and the
    interceptor wrong.

    No other hints can be expected to do better. Hints that are expected to fail are never best
    replies, because better ones exist in every position. The result is None for a seat that
    guesses, and if a prediction is missing.
    """
    if view.seat != ENCODER or not {DECODER, INTERCEPTOR} <= belief.keys():
        return None
    hoped = belief[DECODER] == view.code != belief[INTERCEPTOR]
    return lambda move: hoped


def numbers(game: Cipher, view: View) -> tuple[float, ...]:
    """Return numbers that describe a view: a table by hint and digit, whether each code remains,
    and the tokens and rounds.

    For a guesser, the table holds association strengths by meaning, divided by ten: between the
    hint and the digit's keyword for the decoder, and between the hint and the digit's earlier hints
    for the interceptor. For the encoder, the table holds the code.
    """
    record = view.record
    table = [[0.0] * DIGITS] * LENGTH
    if view.hints and view.seat != ENCODER:
        rows = (
            by_keywords(Mind(), view.keywords[-1], view.hints)
            if view.seat in TEAM
            else by_history(Mind(), record.filed, view.hints)
        )
        table = (rows / 20).tolist()  # weights are ties divided by a temperature of one half
    elif view.code:
        table = [[float(d == n) for n in range(1, DIGITS + 1)] for d in digits(view.code)]
    codes_left = record.remaining_codes
    return (
        *(x for row in table for x in row),
        *(float(code in codes_left) for code in CODES),
        record.miscommunications / game.tokens,
        record.interceptions / game.tokens,
        1 - record.played / game.rounds,
    )


GAME: GameSpec[State, Action, View] = GameSpec(
    name="cipher",
    about="hints to a secret code that the decoder must read and the interceptor must not, game "
    "after game with the same company (after Lupu, Willi and Foerster 2025)",
    game=Cipher,
    words=CipherWords,
    texts=TEXTS,
    action=Action,
    probes=PROBES,
    people=PeopleSpec.read(
        __package__,
        fresh=lambda draws, name: {"number": draws.below(100)},
        settings={"games": (1, 4), "rounds": (1, 8)},
    ),
    measured=MeasureSpec(
        best_replies=best_replies,
        acts_on=("their_guess",),
        reference="adapts",
        doing=Doing("cipher_won"),
        pays=lambda game, seat: (-float(game.games), float(game.games)),
    ),
    learners=LearnerSpec(numbers=numbers),
)
