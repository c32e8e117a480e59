"""Players of Cipher: encoders; listeners that use the keywords, earlier hints or Bayesian
inference; and mindless players."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from sally.core.errors import BadInput
from sally.core.match.partner import Answerer, Partner, Script, by_name, must_sit
from sally.core.match.player import Turn
from sally.core.rules.game import Seat
from sally.core.rules.probe import ProbeReport, Question
from sally.games.association.lexicon import cards, open_words, place
from sally.games.association.minds import MIND_PARAMS, Mind, hubness, mind_of, tie
from sally.games.association.partners import shares
from sally.games.cipher.interceptors import POOL, adaptive_hints, guess_odds, stage_of, weights_of
from sally.games.cipher.listeners import (
    DIGITS,
    LENGTH,
    LISTENERS,
    WAYS,
    WIDTH,
    Floats,
    Listener,
    Position,
    best_hints,
    decoder_odds,
    digits,
    keyword_odds,
    likeliest,
    listener_odds,
    nearest,
    read_way,
    unsaid,
)
from sally.games.cipher.rules import (
    DECODER,
    ENCODER,
    INTERCEPTOR,
    Action,
    Cipher,
    Hints,
    View,
    past_guesses,
    places_right,
)
from sally.games.cipher.spec import OTHER

CipherTurn = Turn[Action, View]
SOURCE = "ours, after Lupu, Willi and Foerster 2025"
DRAWN_FROM = 16  # nearest words among which `top16` draws
THEIR_MIND = {f"their_{name}": default for name, default in MIND_PARAMS.items()}
FEW = 0.02  # the assumed chance that a guess is a slip


def position(view: View) -> Position:
    """Return the encoder's information when it must give hints."""
    record = view.record
    return Position(view.keywords[-1], record.filed, record.remaining_codes, view.code)


# --- encoders that choose digit by digit ----------------------------------------------------------

Menu = Callable[[Mind, Position, int], Sequence[str]]  # the words drawn from, for a digit


def _decoy(mind: Mind, position: Position, digit: int) -> Sequence[str]:
    return unsaid(mind, position, digit % DIGITS + 1)[:1]


def _by_hubness(sign: int) -> Menu:
    def menu(mind: Mind, position: Position, digit: int) -> Sequence[str]:
        words = open_words(position.keywords)
        nearness = hubness()[[place(word) for word in words]]
        order = np.argsort(-sign * nearness, kind="stable")
        return [words[int(order[digit - 1])]]

    return menu


MENUS: Mapping[str, Menu] = {
    "nearest": lambda mind, position, digit: unsaid(mind, position, digit)[:1],
    "same": lambda mind, position, digit: nearest(mind, position.keywords, digit)[:1],
    "top16": lambda mind, position, digit: unsaid(mind, position, digit)[:DRAWN_FROM],
    "anything": lambda mind, position, digit: open_words(position.keywords),
    "decoy": _decoy,
    "hub": _by_hubness(1),
    "loner": _by_hubness(-1),
}


def likelihood(
    player: str, params: Mapping[str, Any], position: Position, hints: Sequence[str]
) -> float | None:
    """Return the probability that an encoder gives these hints for the code; None if the encoder is
    not a scripted player whose probabilities are known."""
    if player in MENUS:
        mind, chance = mind_of(params), 1.0
        for digit, hint in zip(digits(position.code), hints, strict=True):
            words = MENUS[player](mind, position, digit)
            chance *= (hint in words) / len(words)
        return chance
    if player != "crossing":
        return None
    return float(_cross_hints(params, position) == tuple(hints))


def _digit_by_digit(name: str, about: str, mindless: bool = False) -> Partner:
    menu = MENUS[name]

    def make(game: Cipher, seat: Seat, **params: Any) -> Script:
        must_sit(seat, name, ENCODER)
        mind = mind_of(params)

        def act(turn: CipherTurn) -> Action:
            known_position, draws = position(turn.view), turn.draws
            return Hints(
                *(
                    draws.pick(tuple(menu(mind, known_position, d)))
                    for d in digits(known_position.code)
                )
            )

        return act

    def answers(game: Cipher, seat: Seat, **params: Any) -> Answerer:
        mind = mind_of(params)
        return lambda turn: encoder_report(turn, mind, Listener("blind"))

    params = {} if mindless else MIND_PARAMS
    return Partner(name, about, SOURCE, make, params=params, answers=answers)


# --- encoders that model both listeners -----------------------------------------------------------


def read_beliefs(params: Mapping[str, Any]) -> tuple[Mind, Listener]:
    """Return the decoder's mind and the interceptor that the parameters of `crossing` declare."""
    their_params = {name: params.get(f"their_{name}", old) for name, old in MIND_PARAMS.items()}
    return mind_of(params), Listener(
        read_way(str(params.get("against", "history"))), mind_of(their_params)
    )


def _cross_hints(params: Mapping[str, Any], position: Position) -> tuple[str, ...]:
    decoder, listener = read_beliefs(params)
    return best_hints(decoder, listener, position, int(params.get("width", WIDTH))).hints


def _crossing(game: Cipher, seat: Seat, **params: Any) -> Script:
    must_sit(seat, "crossing", ENCODER)
    read_beliefs(params)
    width = params.get("width", WIDTH)
    if not isinstance(width, int | float) or width < 1:
        raise BadInput(f"width of crossing must be at least 1, not {width!r}")
    return lambda turn: Hints(*_cross_hints(params, position(turn.view)))


def _crossing_answers(game: Cipher, seat: Seat, **params: Any) -> Answerer:
    decoder, listener = read_beliefs(params)
    return lambda turn: encoder_report(turn, decoder, listener)


def listener_belief(view: View) -> Floats:
    """Return the posterior probability of each type of listener, given the past guesses."""
    weights = np.zeros(len(WAYS))
    for record, hints, guess in past_guesses(view):
        weights = weights + _evidence(record.filed, hints, record.remaining_codes, guess)
    return shares(weights)


@lru_cache(maxsize=4096)
def _evidence(
    filed: tuple[tuple[str, ...], ...],
    hints: tuple[str, ...],
    codes_left: tuple[int, ...],
    guess: int,
) -> Floats:
    """Return the log probability of a guess for each type of listener, allowing for random
    errors."""
    log_odds = []
    for listening in WAYS:
        odds = listener_odds(Listener(listening), filed, hints, codes_left)
        best = np.round(odds, 12) == np.round(odds, 12).max()
        guess_place = codes_left.index(guess)
        log_odds.append(
            np.log(FEW / len(codes_left) + (1 - FEW) * float(best[guess_place]) / int(best.sum()))
        )
    return np.array(log_odds)


def likeliest_listener(view: View) -> Listener:
    """Return the listener best supported by the past guesses; without past guesses, a listener that
    compares hints with those of earlier rounds."""
    return Listener(WAYS[int(np.argmax(listener_belief(view)))])


def _adapts(game: Cipher, seat: Seat) -> Script:
    must_sit(seat, "adapts", ENCODER)

    def act(turn: CipherTurn) -> Action:
        view = turn.view
        return Hints(*best_hints(Mind(), likeliest_listener(view), position(view)).hints)

    return act


def _adapts_answers(game: Cipher, seat: Seat) -> Answerer:
    return lambda turn: encoder_report(turn, Mind(), likeliest_listener(turn.view))


def _bayes_adaptive(game: Cipher, seat: Seat) -> Script:
    must_sit(seat, "bayes_adaptive", ENCODER)

    def act(turn: CipherTurn) -> Action:
        view = turn.view
        stage = stage_of(view.record)
        return Hints(*adaptive_hints(game, position(view), stage, weights_of(view)))

    return act


def _observer(game: Cipher, seat: Seat) -> Answerer:
    """Return a function that answers probes with the ideal observer's forecast."""

    def answer(turn: CipherTurn) -> ProbeReport:
        question, view = turn.question, turn.view
        assert question is not None
        weights = np.array(weights_of(view))
        if question.probe == "listener":
            return ProbeReport(LISTENERS[POOL[int(np.argmax(weights))]])
        if question.about == DECODER:
            return encoder_report(turn, Mind(), Listener("blind"))
        assert isinstance(turn.pending, Hints)
        known_position = position(view)
        return odds_report(
            question,
            weights
            @ guess_odds(known_position.filed, turn.pending.words, known_position.codes_left),
        )

    return answer


def encoder_report(turn: CipherTurn, decoder: Mind, listener: Listener) -> ProbeReport:
    """Return the answers of an encoder that assumes these two listeners."""
    question, view = turn.question, turn.view
    assert question is not None
    if question.probe == "listener":
        return ProbeReport(listener.way)
    assert isinstance(turn.pending, Hints)
    known_position, hints = position(view), turn.pending.words
    if question.about == DECODER:
        return odds_report(
            question,
            decoder_odds(decoder, known_position.keywords, hints, known_position.codes_left),
        )
    return odds_report(
        question, listener_odds(listener, known_position.filed, hints, known_position.codes_left)
    )


def odds_report(question: Question, odds: Floats) -> ProbeReport:
    """Return a report with probabilities of codes that names the most probable code."""
    total = float(odds.sum())
    exact = tuple(float(p) / total for p in odds)
    codes = [code for code in question.choices if isinstance(code, int)]
    return ProbeReport(likeliest(odds, codes), exact)


# --- listeners ------------------------------------------------------------------------------------

Hears = Callable[[Mind, View], Floats]  # the odds of the codes left


def _keywords_odds(mind: Mind, view: View) -> Floats:
    return decoder_odds(mind, view.keywords[-1], view.hints, view.record.remaining_codes)


def _way_odds(listening: str) -> Hears:
    def hears(mind: Mind, view: View) -> Floats:
        record = view.record
        return listener_odds(
            Listener(read_way(listening), mind), record.filed, view.hints, record.remaining_codes
        )

    return hears


def _listens(name: str, about: str, hears: Hears, *fits: Seat) -> Partner:
    def make(game: Cipher, seat: Seat, **params: Any) -> Script:
        must_sit(seat, name, *fits)
        mind = mind_of(params)
        return lambda turn: likeliest(hears(mind, turn.view), turn.view.record.remaining_codes)

    def answers(game: Cipher, seat: Seat, **params: Any) -> Answerer:
        return lambda turn: listener_report(turn, mind_of(params), hears)

    return Partner(name, about, SOURCE, make, params=MIND_PARAMS, answers=answers)


def listener_report(turn: CipherTurn, mind: Mind, hears: Hears) -> ProbeReport:
    """Return the answers of a listener that assumes that other minds are like its own."""
    question, view = turn.question, turn.view
    assert question is not None
    if question.probe.startswith("keyword"):
        past = view.record.filed[int(question.about.split()[0]) - 1]
        likeliest_card = cards()[int(np.argmax(keyword_odds(mind, past)))]
        return ProbeReport(likeliest_card if likeliest_card in question.choices else OTHER)
    if question.probe == "rival_guess" and question.about == INTERCEPTOR:
        return odds_report(question, _way_odds("history")(mind, view))
    return odds_report(question, hears(mind, view))


def _greedy(order: tuple[int, ...]) -> Callable[[CipherTurn], Action]:
    """Return a guesser that takes the hints in a given order and assigns each to the nearest
    keyword that is still free."""

    def act(turn: CipherTurn) -> Action:
        view, digits_guessed = turn.view, [0] * LENGTH
        for place_ in order:
            free = [d for d in range(1, DIGITS + 1) if d not in digits_guessed]
            words = view.keywords[-1]
            digits_guessed[place_] = max(
                free, key=lambda d: tie(Mind(), view.hints[place_], words[d - 1])
            )
        code = int("".join(map(str, digits_guessed)))
        return code if code in turn.options else turn.view.record.remaining_codes[0]

    return act


def _deaf(name: str, about: str, act: Callable[[CipherTurn], Action], *fits: Seat) -> Partner:
    def make(game: Cipher, seat: Seat) -> Script:
        must_sit(seat, name, *fits)
        if name == "channel" and not game.channel:
            raise BadInput("the player `channel` needs a game whose parameter `channel` is set")
        return act

    return Partner(name, about, SOURCE, make)


def _like_last(sign: int) -> Callable[[CipherTurn], Action]:
    """Return a guesser that takes the code most like the last one or, with `sign` -1, least like
    it."""

    def act(turn: CipherTurn) -> Action:
        record = turn.view.record
        if not record.used:
            return record.remaining_codes[0]
        return max(
            record.remaining_codes, key=lambda code: sign * places_right(code, record.used[-1])
        )

    return act


LISTENING = (DECODER, INTERCEPTOR)
PARTNERS = by_name(
    _digit_by_digit("nearest", "the nearest word that is not yet filed under the digit"),
    _digit_by_digit("same", "always the word nearest to the keyword"),
    _digit_by_digit("top16", "any of the 16 nearest words not yet filed under the digit"),
    _digit_by_digit("anything", "any word of the list", mindless=True),
    _digit_by_digit("decoy", "the nearest word to the keyword of the next digit"),
    _digit_by_digit("hub", "for each digit one of the words near to most others", mindless=True),
    _digit_by_digit(
        "loner", "for each digit one of the words near to fewest others", mindless=True
    ),
    Partner(
        "crossing",
        "the best hints for a decoder of its own mind and an interceptor that listens by "
        "`against` (history, bayes, blind), among the `width` nearest words a digit",
        SOURCE,
        _crossing,
        params={**MIND_PARAMS, "against": "history", "width": WIDTH, **THEIR_MIND},
        answers=_crossing_answers,
    ),
    Partner(
        "adapts",
        "an encoder that infers from the interceptor's guesses how it listens, and gives the "
        "best hints for that",
        SOURCE,
        _adapts,
        answers=_adapts_answers,
    ),
    Partner(
        "bayes_adaptive",
        "an encoder that maximises its expected payoff against an interceptor drawn from a "
        "declared pool (by_history, by_bayes, random) with the decoder by_keywords",
        SOURCE,
        _bayes_adaptive,
        answers=_observer,
    ),
    _listens("by_keywords", "the likeliest code by ties to keywords", _keywords_odds, DECODER),
    _listens(
        "by_history",
        "the likeliest code by mean ties to the hints filed under each digit",
        _way_odds("history"),
        *LISTENING,
    ),
    _listens(
        "by_bayes",
        "the likeliest code by the posterior of each digit's keyword over all cards",
        _way_odds("bayes"),
        *LISTENING,
    ),
    _deaf(
        "channel",
        "says what the faulty line shows, in a game with a `channel`",
        lambda turn: turn.view.reading,
        INTERCEPTOR,
    ),
    _deaf(
        "first_left", "the first code left", lambda t: t.view.record.remaining_codes[0], *LISTENING
    ),
    _deaf(
        "last_left", "the last code left", lambda t: t.view.record.remaining_codes[-1], *LISTENING
    ),
    _deaf(
        "greedy_first",
        "each hint from the first on to its nearest free keyword",
        _greedy((0, 1, 2)),
        DECODER,
    ),
    _deaf(
        "greedy_last",
        "each hint from the last on to its nearest free keyword",
        _greedy((2, 1, 0)),
        DECODER,
    ),
    _deaf(
        "like_last_code",
        "the code left that is most like the last one",
        _like_last(1),
        *LISTENING,
    ),
    _deaf(
        "unlike_last_code",
        "the code left that is least like the last one",
        _like_last(-1),
        *LISTENING,
    ),
)
