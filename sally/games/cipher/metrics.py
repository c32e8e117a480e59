"""Metrics of Cipher: results, exact regret of hints and guesses, and predictions of listeners."""

from __future__ import annotations

from collections.abc import Callable
from math import log2
from typing import Any

import msgspec
import numpy as np

from sally.core.rules.game import Seat
from sally.core.rules.metric import Metric, Played, cache_by_seat
from sally.games.association.measures import learning, mean
from sally.games.association.minds import Mind, mind_of, tie
from sally.games.cipher.listeners import (
    BestHints,
    Floats,
    HintValue,
    Listener,
    Position,
    best_hints,
    bits,
    listener_odds,
    listener_of,
    read_way,
    value_hints,
)
from sally.games.cipher.partners import likelihood, position, read_beliefs
from sally.games.cipher.rules import (
    DECODER,
    ENCODER,
    INTERCEPTOR,
    TEAM,
    Cipher,
    Hints,
    Over,
    Revealed,
)
from sally.games.cipher.spec import OTHER, guess_after

Measure = Callable[[Played, Seat], float | None]


class Round(msgspec.Struct, frozen=True):
    """One round with hints: its turn and position, and both guesses."""

    turn: int
    game: int
    position: Position
    hints: tuple[str, ...]
    decoder: int | None
    interceptor: int | None

    @property
    def guess_turn(self) -> int:
        return self.turn + 1


@cache_by_seat
def _rounds(played: Played, seat: Seat) -> list[Round]:
    replay, hint_rounds = played.replay, []
    for turn, moves in enumerate(replay.moves):
        move = moves.get(ENCODER)
        if isinstance(move, Hints) and replay.states[turn + 1].hints:
            view = replay.view(turn, ENCODER)
            guesses = [guess_after(replay, turn, guesser) for guesser in (DECODER, INTERCEPTOR)]
            hint_rounds.append(Round(turn, view.game - 1, position(view), move.words, *guesses))
    return hint_rounds


def rounds(played: Played) -> list[Round]:
    """Return the rounds in which hints were given, in order."""
    return _rounds(played, ENCODER)


def _game(played: Played) -> Cipher:
    return played.replay.rules(Cipher)


# --- who is declared ------------------------------------------------------------------------------


def declared_decoder(played: Played) -> Mind | None:
    """Return how the decoder associates words if its player is `by_keywords`, else None."""
    player = played.episode.setup.lineup[DECODER]
    return mind_of(player.params) if player.player == "by_keywords" else None


def declared_interceptor(played: Played) -> Listener | None:
    """Return the listener that the interceptor's player declares: how it interprets hints, and its
    mind; None if the player declares none."""
    player = played.episode.setup.lineup[INTERCEPTOR]
    return listener_of(player.player, player.params)


def believed_pair(played: Played, turn: int) -> tuple[Mind, Listener] | None:
    """Return the listeners that the encoder assumes in a turn.

    They are taken from the encoder's answer to the probe `listener`, else from the statement in its
    prompt, else from its parameters; None if none of these specifies them.
    """
    report = played.replay.report(turn, ENCODER, "listener")
    listening = report.value if report is not None else _game(played).told
    if isinstance(listening, str) and listening:
        return declared_decoder(played) or Mind(), Listener(read_way(listening))
    player = played.episode.setup.lineup[ENCODER]
    return read_beliefs(player.params) if player.player == "crossing" else None


# --- hints ----------------------------------------------------------------------------------------


class HintScore(msgspec.Struct, frozen=True):
    """The hints of a round: their value and the highest possible value for the declared
    listeners."""

    round: Round
    hint_value: HintValue
    best: BestHints

    @property
    def regret(self) -> float:
        return self.best.hint_value.value - self.hint_value.value

    @property
    def clarity(self) -> float:
        """The part of the regret that arises because the decoder gives the true code too low a
        probability."""
        loss = self.best.hint_value.decoded - self.hint_value.decoded
        return loss * (2 - self.best.hint_value.intercepted - self.hint_value.intercepted) / 2

    @property
    def secrecy(self) -> float:
        """The part of the regret that arises because the interceptor gives the true code too
        high a probability."""
        loss = self.hint_value.intercepted - self.best.hint_value.intercepted
        return loss * (self.best.hint_value.decoded + self.hint_value.decoded) / 2


@cache_by_seat
def scored_hints(played: Played, seat: Seat) -> list[HintScore]:
    """Return the hints of each round, compared with the best hints. The list is empty unless both
    listeners are scripted, because only then their guesses can be computed."""
    decoder, listener = declared_decoder(played), declared_interceptor(played)
    if seat != ENCODER or decoder is None or listener is None:
        return []
    return [_score_round(decoder, listener, hint_round) for hint_round in rounds(played)]


def _score_round(decoder: Mind, listener: Listener, hint_round: Round) -> HintScore:
    value = value_hints(decoder, listener, hint_round.position, hint_round.hints)
    best = best_hints(decoder, listener, hint_round.position)
    if value.value > best.hint_value.value:  # words from outside the searched set
        best = BestHints(hint_round.hints, value)
    return HintScore(hint_round, value, best)


class Split(msgspec.Struct, frozen=True):
    """The regret of a round's hints by cause."""

    modelling: float  # the best hints for the assumed listeners, evaluated with the true ones
    play: float  # what the hints gave up by the encoder's own model
    regret: float


@cache_by_seat
def splits(played: Played, seat: Seat) -> list[Split]:
    """Return the encoder's regret in each round, split by cause. Rounds are left out if it is
    unknown which listeners the encoder assumed."""
    decoder, listener = declared_decoder(played), declared_interceptor(played)
    regret_splits = []
    for hint_score in scored_hints(played, seat):
        model = believed_pair(played, hint_score.round.turn)
        if model is None or decoder is None or listener is None:
            continue
        position, hints = hint_score.round.position, hint_score.round.hints
        planned = best_hints(*model, position)
        value = value_hints(decoder, listener, position, planned.hints).value
        given_up = planned.hint_value.value - value_hints(*model, position, hints).value
        regret_splits.append(
            Split(hint_score.best.hint_value.value - value, max(given_up, 0.0), hint_score.regret)
        )
    return regret_splits


def by_game(played: Played, seat: Seat) -> list[float]:
    """Return the mean regret of the hints in each game, for games with hints that can be scored."""
    regrets_by_game: dict[int, list[float]] = {}
    for hint_score in scored_hints(played, seat):
        regrets_by_game.setdefault(hint_score.round.game, []).append(hint_score.regret)
    return [sum(regrets) / len(regrets) for _, regrets in sorted(regrets_by_game.items())]


def yardstick(played: Played) -> Listener:
    """Return how the interceptor interprets hints, if it is scripted; else return a Bayesian
    listener that associates words by meaning alone."""
    return declared_interceptor(played) or Listener("bayes")


@cache_by_seat
def _entropies(played: Played, seat: Seat) -> list[tuple[Round, float]]:
    """Return, for each round of an encoder, the entropy in bits of the interceptor's belief about
    the code after the hints."""
    listener = yardstick(played)
    return [
        (
            hint_round,
            bits(
                listener_odds(
                    listener,
                    hint_round.position.filed,
                    hint_round.hints,
                    hint_round.position.codes_left,
                )
            ),
        )
        for hint_round in (rounds(played) if seat == ENCODER else ())
    ]


# --- guesses --------------------------------------------------------------------------------------


def posterior(played: Played, seat: Seat, hint_round: Round) -> Floats | None:
    """Return the remaining codes' probabilities for a guesser with this seat's information.

    For the decoder, they are inferred from the declared encoder; None if no encoder is declared or
    the declared one would never give these hints. For the interceptor, they are those of a Bayesian
    listener that associates words by meaning alone.
    """
    position = hint_round.position
    if seat == INTERCEPTOR:
        return listener_odds(
            Listener("bayes"), position.filed, hint_round.hints, position.codes_left
        )
    encoder = played.episode.setup.lineup[ENCODER]
    chances = []
    for code in position.codes_left:
        position_if = msgspec.structs.replace(position, code=code)
        chance = likelihood(encoder.player, encoder.params, position_if, hint_round.hints)
        if chance is None:
            return None
        chances.append(chance)
    odds = np.array(chances)
    return odds / odds.sum() if odds.sum() > 0 else None


class GuessScore(msgspec.Struct, frozen=True):
    """One guess: its regret, and the best codes."""

    turn: int
    regret: float
    best: tuple[int, ...]


@cache_by_seat
def scored_guesses(played: Played, seat: Seat) -> list[GuessScore]:
    """Return each guess compared with the most probable code under the posterior."""
    if seat == ENCODER:
        return []
    scores = []
    for hint_round in rounds(played):
        guess = hint_round.decoder if seat == DECODER else hint_round.interceptor
        odds = None if guess is None else posterior(played, seat, hint_round)
        if guess is None or odds is None:
            continue
        top, codes_left = float(odds.max()), hint_round.position.codes_left
        best = tuple(c for c, p in zip(codes_left, odds, strict=True) if p >= top - 1e-9)
        scores.append(
            GuessScore(hint_round.guess_turn, top - float(odds[codes_left.index(guess)]), best)
        )
    return scores


# --- predictions ----------------------------------------------------------------------------------


def _predictions(played: Played, seat: Seat) -> list[tuple[Any, Round]]:
    """Return the encoder's predictions of the interceptor's guess, with their rounds; other seats
    have none."""
    predictions = []
    for hint_round in rounds(played) if seat == ENCODER else ():
        report = played.replay.report(hint_round.turn, ENCODER, "their_guess", INTERCEPTOR)
        if report is not None and report.value is not None and hint_round.interceptor is not None:
            predictions.append((report.value, hint_round))
    return predictions


def _expects(played: Played, seat: Seat) -> float | None:
    return mean(
        [
            float(prediction == hint_round.position.code)
            for prediction, hint_round in _predictions(played, seat)
        ]
    )


def _foreseen(played: Played, seat: Seat) -> float | None:
    return mean(
        [
            float(prediction == hint_round.interceptor)
            for prediction, hint_round in _predictions(played, seat)
        ]
    )


def _foreseen_caught(played: Played, seat: Seat) -> float | None:
    predictions = _predictions(played, seat)
    caught = [
        (prediction, hint_round)
        for prediction, hint_round in predictions
        if hint_round.interceptor == hint_round.position.code
    ]
    return mean([float(prediction == hint_round.interceptor) for prediction, hint_round in caught])


class InterceptorAnswers(msgspec.Struct, frozen=True):
    """The interceptor's answers in one round about the keyword of each digit."""

    true: tuple[str, ...]
    first: tuple[str, ...]
    belief_before: tuple[str | None, ...]  # None: not asked, or no answer
    another: tuple[str | None, ...]


@cache_by_seat
def asked_keywords(played: Played, seat: Seat) -> list[InterceptorAnswers]:
    """Return the interceptor's answers for the rounds in which it was asked for the keywords."""
    if seat != INTERCEPTOR:
        return []
    rows = []
    for hint_round in rounds(played):
        words, turn = hint_round.position.keywords, hint_round.guess_turn
        first = {
            n: _named_keyword(played, turn, "keyword", str(n)) for n in range(1, len(words) + 1)
        }
        first_answers = {n: answer for n, answer in first.items() if answer is not None}
        if first_answers:
            subjects = [" ".join([str(n), *words]) for n in first_answers]
            before_answers, another = (
                tuple(_named_keyword(played, turn, probe, about) for about in subjects)
                for probe in ("keyword_before", "keyword_of_another")
            )
            true = tuple(words[n - 1] for n in first_answers)
            rows.append(
                InterceptorAnswers(true, tuple(first_answers.values()), before_answers, another)
            )
    return rows


def _named_keyword(played: Played, turn: int, probe: str, about: str) -> str | None:
    report = played.replay.report(turn, INTERCEPTOR, probe, about)
    return report.value if report is not None and isinstance(report.value, str) else None


def _keyword_right(played: Played, seat: Seat) -> float | None:
    return mean([
        float(answer == true)
        for row in asked_keywords(played, seat)
        for answer, true in zip(row.first, row.true, strict=True)
    ])  # fmt: skip


def _keyword_tie(played: Played, seat: Seat) -> float | None:
    return mean([
        tie(Mind(), answer, true)
        for row in asked_keywords(played, seat)
        for answer, true in zip(row.first, row.true, strict=True)
        if answer != OTHER
    ])  # fmt: skip


def _kept_metric(
    name: str, about: str, answers: Callable[[InterceptorAnswers], tuple[str | None, ...]]
) -> Metric:
    """Return the metric: among the keywords that the interceptor first named wrongly, the share for
    which a later answer (selected by `answers`) repeats the first one."""

    def measure(played: Played, seat: Seat) -> float | None:
        return mean([
            float(later == first)
            for row in asked_keywords(played, seat)
            for first, true, later in zip(row.first, row.true, answers(row), strict=True)
            if later is not None and first != true
        ])  # fmt: skip

    return Metric(name, about, measure, better="higher", unit="share")


def _published_metric(
    name: str, about: str, passes: Callable[[InterceptorAnswers], bool]
) -> Metric:
    """Return a metric of the paper: among the rounds in which the first list of keywords was wrong
    and all later answers exist, the share that passes the test `passes`."""

    def measure(played: Played, seat: Seat) -> float | None:
        complete_rows = [
            row
            for row in asked_keywords(played, seat)
            if None not in (*row.belief_before, *row.another) and row.first != row.true
        ]
        return mean([float(passes(row)) for row in complete_rows])

    return Metric(name, about, measure, better="higher", unit="share", published=True)


# --- results --------------------------------------------------------------------------------------


def _ends(played: Played) -> list[str]:
    return [event.how for event in played.replay.states[-1].log if isinstance(event, Over)]


def _share_won(played: Played, seat: Seat) -> float | None:
    return mean([float((end == "survived") == (seat in TEAM)) for end in _ends(played)])


def _rounds_a_game(played: Played, seat: Seat) -> float | None:
    count, round_counts = 0, []
    for event in played.replay.states[-1].log:
        count += isinstance(event, Revealed)
        if isinstance(event, Over):
            round_counts.append(float(count))
            count = 0
    return mean(round_counts)


def _reveals(played: Played) -> list[Revealed]:
    return [event for event in played.replay.states[-1].log if isinstance(event, Revealed)]


def _share_miscommunicated(played: Played, seat: Seat) -> float | None:
    return mean([float(e.decoder != e.code) for e in _reveals(played) if e.decoder])


def _share_intercepted(played: Played, seat: Seat) -> float | None:
    return mean([float(e.interceptor == e.code) for e in _reveals(played) if e.interceptor])


def _bits_given(played: Played, seat: Seat) -> float | None:
    return mean(
        [
            log2(len(hint_round.position.codes_left)) - entropy
            for hint_round, entropy in _entropies(played, seat)
        ]
    )


def _bits_left(played: Played, seat: Seat) -> float | None:
    return mean(
        [
            entropy
            for hint_round, entropy in _entropies(played, seat)
            if any(hint_round.position.filed)
        ]
    )


def _hints(part: Callable[[HintScore], float]) -> Measure:
    return lambda played, seat: mean(
        [part(hint_score) for hint_score in scored_hints(played, seat)]
    )


def _cause(part: Callable[[Split], float]) -> Measure:
    return lambda played, seat: mean([part(split) for split in splits(played, seat)])


def _guess_regret(played: Played, seat: Seat) -> float | None:
    return mean([guess_score.regret for guess_score in scored_guesses(played, seat)])


CHANCE = "chance per round"
SIDE = "the seat's side"


def _loss_metric(
    name: str, about: str, measure: Measure, low: float = 0.0, **fields: Any
) -> Metric:
    bounds = (low, 1.0)
    return Metric(name, about, measure, better="lower", unit=CHANCE, bounds=bounds, **fields)


METRICS = (
    Metric(
        "cipher_won",
        f"share of games that {SIDE} won",
        _share_won,
        better="higher",
        unit="share",
        label="won",
        headline=True,
    ),
    Metric("cipher_rounds", "rounds of a game that count", _rounds_a_game, unit="turns"),
    Metric(
        "cipher_miscommunicated",
        "share of rounds in which the decoder's guess was wrong; forfeited guesses do not count",
        _share_miscommunicated,
        unit="share",
        label="miscommunicated",
    ),
    Metric(
        "cipher_intercepted",
        "share of rounds in which the interceptor's guess was right",
        _share_intercepted,
        unit="share",
        label="intercepted",
        headline=True,
    ),
    Metric(
        "cipher_bits_given",
        "bits about the code that hints gave to the interceptor: its entropy before less after; "
        "for the declared interceptor, else for a listener by Bayes",
        _bits_given,
        better="lower",
        unit="bits per round",
    ),
    Metric(
        "cipher_bits_left",
        "the interceptor's entropy after the hints, from the second round on",
        _bits_left,
        better="higher",
        unit="bits per round",
        bounds=(0.0, log2(24)),
    ),
    _loss_metric(
        "cipher_hint_regret",
        "chance that the decoder alone is right with the best hints (of the 25 nearest words a "
        "digit) less with those given, for declared listeners",
        _hints(lambda hint_score: hint_score.regret),
        label="hint regret",
        headline=True,
    ),
    _loss_metric(
        "cipher_clarity_lost",
        "the part of hint regret that is due to the decoder",
        _hints(lambda hint_score: hint_score.clarity),
        low=-1.0,
    ),
    _loss_metric(
        "cipher_secrecy_lost",
        "the part of hint regret that is due to the interceptor",
        _hints(lambda hint_score: hint_score.secrecy),
        low=-1.0,
    ),
    _loss_metric(
        "cipher_modelling_lost",
        "what the best hints for the listeners that the encoder expected lose with the true ones",
        _cause(lambda split: split.modelling),
        low=-1.0,
    ),
    _loss_metric(
        "cipher_play_lost",
        "what the hints lose by the encoder's own model of the listeners",
        _cause(lambda split: split.play),
    ),
    _loss_metric(
        "cipher_guess_regret",
        "chance of the likeliest code less of the code guessed: for the decoder by the posterior "
        "under the declared encoder, for the interceptor by a listener by Bayes",
        _guess_regret,
        label="guess regret",
        headline=True,
    ),
    Metric(
        "cipher_expects_interception",
        "share of rounds in which the encoder expects the interceptor to guess the code itself; "
        "compare cipher_intercepted",
        _expects,
        unit="share",
    ),
    Metric(
        "cipher_foreseen_published",
        "share of rounds in which the encoder's prediction of the interceptor's guess is right",
        _foreseen,
        better="higher",
        unit="share",
        published=True,
    ),
    Metric(
        "cipher_foreseen_intercepted_published",
        "the same over rounds that were intercepted",
        _foreseen_caught,
        better="higher",
        unit="share",
        published=True,
    ),
    Metric(
        "cipher_keyword_right",
        "share of keywords that the interceptor names exactly",
        _keyword_right,
        better="higher",
        unit="share",
    ),
    Metric(
        "cipher_keyword_tie",
        "mean tie of the words it names to the keywords, by plain sense",
        _keyword_tie,
        better="higher",
        unit="standard units",
    ),
    _kept_metric(
        "cipher_belief_kept",
        "by word whose first answer was wrong: share in which the interceptor, shown the "
        "keywords, names its own first answer as what it thought before",
        lambda answers: answers.belief_before,
    ),
    _kept_metric(
        "cipher_belief_of_another",
        "the same for what another interceptor thinks",
        lambda answers: answers.another,
    ),
    _published_metric(
        "cipher_weak_published",
        "rounds with a wrong first list: share in which the list named as one's belief before is "
        "not the true one",
        lambda answers: answers.belief_before != answers.true,
    ),
    _published_metric(
        "cipher_strong_published",
        "the same, share in which it is the first list, word for word",
        lambda answers: answers.belief_before == answers.first,
    ),
    _published_metric(
        "cipher_weak_of_another_published",
        "the weak test for what another interceptor thinks",
        lambda answers: answers.another != answers.true,
    ),
    _published_metric(
        "cipher_strong_of_another_published",
        "the strong test for what another interceptor thinks",
        lambda answers: answers.another == answers.first,
    ),
    _published_metric(
        "cipher_consistent_published",
        "the same, share in which the player's own earlier list and the other's are equal",
        lambda answers: answers.belief_before == answers.another,
    ),
    *learning("cipher", by_game, "game", CHANCE),
)
