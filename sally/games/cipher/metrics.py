"""Metrics of Cipher: results, exact regret of hints and guesses, and predictions of listeners."""

from __future__ import annotations

from collections.abc import Callable
from math import log2
from typing import Any

import msgspec
import numpy as np

from sally.core.rules.game import Seat
from sally.core.rules.metric import Metric, Played, shared
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
    worth,
)
from sally.games.cipher.partners import believed, likelihood, position
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
    at: Position
    hints: tuple[str, ...]
    decoder: int | None
    interceptor: int | None

    @property
    def guess_turn(self) -> int:
        return self.turn + 1


@shared
def _rounds(played: Played, seat: Seat) -> list[Round]:
    replay, found = played.replay, []
    for turn, moves in enumerate(replay.moves):
        move = moves.get(ENCODER)
        if isinstance(move, Hints) and replay.states[turn + 1].hints:
            view = replay.view(turn, ENCODER)
            guesses = [guess_after(replay, turn, each) for each in (DECODER, INTERCEPTOR)]
            found.append(Round(turn, view.game - 1, position(view), move.words, *guesses))
    return found


def rounds(played: Played) -> list[Round]:
    """Return the rounds in which hints were given, in order."""
    return _rounds(played, ENCODER)


def _game(played: Played) -> Cipher:
    return played.replay.rules(Cipher)


# --- who is declared ------------------------------------------------------------------------------


def declared_decoder(played: Played) -> Mind | None:
    """Return how the decoder associates words if its player is `by_keywords`, else None."""
    who = played.episode.setup.lineup[DECODER]
    return mind_of(who.params) if who.player == "by_keywords" else None


def declared_interceptor(played: Played) -> Listener | None:
    """Return the listener that the interceptor's player declares: how it interprets hints, and its
    mind; None if the player declares none."""
    who = played.episode.setup.lineup[INTERCEPTOR]
    return listener_of(who.player, who.params)


def believed_pair(played: Played, turn: int) -> tuple[Mind, Listener] | None:
    """Return the listeners that the encoder assumes in a turn.

    They are taken from the encoder's answer to the probe `listener`, else from the statement in its
    prompt, else from its parameters; None if none of these specifies them.
    """
    said = played.replay.report(turn, ENCODER, "listener")
    way = said.value if said is not None else _game(played).told
    if isinstance(way, str) and way:
        return declared_decoder(played) or Mind(), Listener(read_way(way))
    who = played.episode.setup.lineup[ENCODER]
    return believed(who.params) if who.player == "crossing" else None


# --- hints ----------------------------------------------------------------------------------------


class HintScore(msgspec.Struct, frozen=True):
    """The hints of a round: their value and the highest possible value for the declared
    listeners."""

    round: Round
    said: HintValue
    best: BestHints

    @property
    def regret(self) -> float:
        return self.best.worth.value - self.said.value

    @property
    def clarity(self) -> float:
        """The part of the regret that arises because the decoder gives the true code too low a
        probability."""
        lost = self.best.worth.decoded - self.said.decoded
        return lost * (2 - self.best.worth.intercepted - self.said.intercepted) / 2

    @property
    def secrecy(self) -> float:
        """The part of the regret that arises because the interceptor gives the true code too
        high a probability."""
        lost = self.said.intercepted - self.best.worth.intercepted
        return lost * (self.best.worth.decoded + self.said.decoded) / 2


@shared
def scored_hints(played: Played, seat: Seat) -> list[HintScore]:
    """Return the hints of each round, compared with the best hints. The list is empty unless both
    listeners are scripted, because only then their guesses can be computed."""
    decoder, listener = declared_decoder(played), declared_interceptor(played)
    if seat != ENCODER or decoder is None or listener is None:
        return []
    return [_scored(decoder, listener, each) for each in rounds(played)]


def _scored(decoder: Mind, listener: Listener, each: Round) -> HintScore:
    said = worth(decoder, listener, each.at, each.hints)
    best = best_hints(decoder, listener, each.at)
    if said.value > best.worth.value:  # words from outside the searched set
        best = BestHints(each.hints, said)
    return HintScore(each, said, best)


class Split(msgspec.Struct, frozen=True):
    """The regret of a round's hints by cause."""

    modelling: float  # the best hints for the assumed listeners, evaluated with the true ones
    play: float  # what the hints gave up by the encoder's own model
    regret: float


@shared
def splits(played: Played, seat: Seat) -> list[Split]:
    """Return the encoder's regret in each round, split by cause. Rounds are left out if it is
    unknown which listeners the encoder assumed."""
    decoder, listener = declared_decoder(played), declared_interceptor(played)
    found = []
    for each in scored_hints(played, seat):
        model = believed_pair(played, each.round.turn)
        if model is None or decoder is None or listener is None:
            continue
        at, hints = each.round.at, each.round.hints
        planned = best_hints(*model, at)
        value = worth(decoder, listener, at, planned.hints).value
        given_up = planned.worth.value - worth(*model, at, hints).value
        found.append(Split(each.best.worth.value - value, max(given_up, 0.0), each.regret))
    return found


def by_game(played: Played, seat: Seat) -> list[float]:
    """Return the mean regret of the hints in each game, for games with hints that can be scored."""
    found: dict[int, list[float]] = {}
    for each in scored_hints(played, seat):
        found.setdefault(each.round.game, []).append(each.regret)
    return [sum(lost) / len(lost) for _, lost in sorted(found.items())]


def yardstick(played: Played) -> Listener:
    """Return how the interceptor interprets hints, if it is scripted; else return a Bayesian
    listener that associates words by meaning alone."""
    return declared_interceptor(played) or Listener("bayes")


@shared
def _entropies(played: Played, seat: Seat) -> list[tuple[Round, float]]:
    """Return, for each round of an encoder, the entropy in bits of the interceptor's belief about
    the code after the hints."""
    listener = yardstick(played)
    return [
        (each, bits(listener_odds(listener, each.at.filed, each.hints, each.at.left)))
        for each in (rounds(played) if seat == ENCODER else ())
    ]


# --- guesses --------------------------------------------------------------------------------------


def posterior(played: Played, seat: Seat, each: Round) -> Floats | None:
    """Return the remaining codes' probabilities for a guesser with this seat's information.

    For the decoder, they are inferred from the declared encoder; None if no encoder is declared or
    the declared one would never give these hints. For the interceptor, they are those of a Bayesian
    listener that associates words by meaning alone.
    """
    at = each.at
    if seat == INTERCEPTOR:
        return listener_odds(Listener("bayes"), at.filed, each.hints, at.left)
    who = played.episode.setup.lineup[ENCODER]
    chances = []
    for code in at.left:
        here = msgspec.structs.replace(at, code=code)
        chance = likelihood(who.player, who.params, here, each.hints)
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


@shared
def scored_guesses(played: Played, seat: Seat) -> list[GuessScore]:
    """Return each guess compared with the most probable code under the posterior."""
    if seat == ENCODER:
        return []
    found = []
    for each in rounds(played):
        guess = each.decoder if seat == DECODER else each.interceptor
        odds = None if guess is None else posterior(played, seat, each)
        if guess is None or odds is None:
            continue
        top, left = float(odds.max()), each.at.left
        best = tuple(c for c, p in zip(left, odds, strict=True) if p >= top - 1e-9)
        found.append(GuessScore(each.guess_turn, top - float(odds[left.index(guess)]), best))
    return found


# --- predictions ----------------------------------------------------------------------------------


def _predictions(played: Played, seat: Seat) -> list[tuple[Any, Round]]:
    """Return the encoder's predictions of the interceptor's guess, with their rounds; other seats
    have none."""
    found = []
    for each in rounds(played) if seat == ENCODER else ():
        said = played.replay.report(each.turn, ENCODER, "their_guess", INTERCEPTOR)
        if said is not None and said.value is not None and each.interceptor is not None:
            found.append((said.value, each))
    return found


def _expects(played: Played, seat: Seat) -> float | None:
    return mean([float(said == each.at.code) for said, each in _predictions(played, seat)])


def _foreseen(played: Played, seat: Seat) -> float | None:
    return mean([float(said == each.interceptor) for said, each in _predictions(played, seat)])


def _foreseen_caught(played: Played, seat: Seat) -> float | None:
    made = _predictions(played, seat)
    caught = [(said, each) for said, each in made if each.interceptor == each.at.code]
    return mean([float(said == each.interceptor) for said, each in caught])


class InterceptorAnswers(msgspec.Struct, frozen=True):
    """The interceptor's answers in one round about the keyword of each digit."""

    true: tuple[str, ...]
    first: tuple[str, ...]
    before: tuple[str | None, ...]  # None: not asked, or no answer
    another: tuple[str | None, ...]


@shared
def asked_keywords(played: Played, seat: Seat) -> list[InterceptorAnswers]:
    """Return the interceptor's answers for the rounds in which it was asked for the keywords."""
    if seat != INTERCEPTOR:
        return []
    found = []
    for each in rounds(played):
        words, turn = each.at.keywords, each.guess_turn
        first = {n: _named(played, turn, "keyword", str(n)) for n in range(1, len(words) + 1)}
        asked = {n: said for n, said in first.items() if said is not None}
        if asked:
            shown = [" ".join([str(n), *words]) for n in asked]
            before, another = (
                tuple(_named(played, turn, probe, about) for about in shown)
                for probe in ("keyword_before", "keyword_of_another")
            )
            true = tuple(words[n - 1] for n in asked)
            found.append(InterceptorAnswers(true, tuple(asked.values()), before, another))
    return found


def _named(played: Played, turn: int, probe: str, about: str) -> str | None:
    said = played.replay.report(turn, INTERCEPTOR, probe, about)
    return said.value if said is not None and isinstance(said.value, str) else None


def _keyword_right(played: Played, seat: Seat) -> float | None:
    return mean([
        float(said == true)
        for each in asked_keywords(played, seat)
        for said, true in zip(each.first, each.true, strict=True)
    ])  # fmt: skip


def _keyword_tie(played: Played, seat: Seat) -> float | None:
    return mean([
        tie(Mind(), said, true)
        for each in asked_keywords(played, seat)
        for said, true in zip(each.first, each.true, strict=True)
        if said != OTHER
    ])  # fmt: skip


def _kept(
    name: str, about: str, answers: Callable[[InterceptorAnswers], tuple[str | None, ...]]
) -> Metric:
    """Return the metric: among the keywords that the interceptor first named wrongly, the share for
    which a later answer (selected by `answers`) repeats the first one."""

    def measure(played: Played, seat: Seat) -> float | None:
        return mean([
            float(later == first)
            for each in asked_keywords(played, seat)
            for first, true, later in zip(each.first, each.true, answers(each), strict=True)
            if later is not None and first != true
        ])  # fmt: skip

    return Metric(name, about, measure, better="higher", unit="share")


def _published(name: str, about: str, passes: Callable[[InterceptorAnswers], bool]) -> Metric:
    """Return a metric of the paper: among the rounds in which the first list of keywords was wrong
    and all later answers exist, the share that passes the test `passes`."""

    def measure(played: Played, seat: Seat) -> float | None:
        whole = [
            each
            for each in asked_keywords(played, seat)
            if None not in (*each.before, *each.another) and each.first != each.true
        ]
        return mean([float(passes(each)) for each in whole])

    return Metric(name, about, measure, better="higher", unit="share", published=True)


# --- results --------------------------------------------------------------------------------------


def _ends(played: Played) -> list[str]:
    return [event.how for event in played.replay.states[-1].log if isinstance(event, Over)]


def _won(played: Played, seat: Seat) -> float | None:
    return mean([float((how == "survived") == (seat in TEAM)) for how in _ends(played)])


def _rounds_a_game(played: Played, seat: Seat) -> float | None:
    count, found = 0, []
    for event in played.replay.states[-1].log:
        count += isinstance(event, Revealed)
        if isinstance(event, Over):
            found.append(float(count))
            count = 0
    return mean(found)


def _revealed(played: Played) -> list[Revealed]:
    return [event for event in played.replay.states[-1].log if isinstance(event, Revealed)]


def _miscommunicated(played: Played, seat: Seat) -> float | None:
    return mean([float(e.decoder != e.code) for e in _revealed(played) if e.decoder])


def _intercepted(played: Played, seat: Seat) -> float | None:
    return mean([float(e.interceptor == e.code) for e in _revealed(played) if e.interceptor])


def _bits_given(played: Played, seat: Seat) -> float | None:
    return mean([log2(len(each.at.left)) - after for each, after in _entropies(played, seat)])


def _bits_left(played: Played, seat: Seat) -> float | None:
    return mean([after for each, after in _entropies(played, seat) if any(each.at.filed)])


def _hints(part: Callable[[HintScore], float]) -> Measure:
    return lambda played, seat: mean([part(each) for each in scored_hints(played, seat)])


def _cause(part: Callable[[Split], float]) -> Measure:
    return lambda played, seat: mean([part(each) for each in splits(played, seat)])


def _guess_regret(played: Played, seat: Seat) -> float | None:
    return mean([each.regret for each in scored_guesses(played, seat)])


CHANCE = "chance per round"
SIDE = "the seat's side"


def _lost(name: str, about: str, measure: Measure, low: float = 0.0, **more: Any) -> Metric:
    bounds = (low, 1.0)
    return Metric(name, about, measure, better="lower", unit=CHANCE, bounds=bounds, **more)


METRICS = (
    Metric(
        "cipher_won",
        f"share of games that {SIDE} won",
        _won,
        better="higher",
        unit="share",
        label="won",
        headline=True,
    ),
    Metric("cipher_rounds", "rounds of a game that count", _rounds_a_game, unit="turns"),
    Metric(
        "cipher_miscommunicated",
        "share of rounds in which the decoder's guess was wrong; forfeited guesses do not count",
        _miscommunicated,
        unit="share",
        label="miscommunicated",
    ),
    Metric(
        "cipher_intercepted",
        "share of rounds in which the interceptor's guess was right",
        _intercepted,
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
    _lost(
        "cipher_hint_regret",
        "chance that the decoder alone is right with the best hints (of the 25 nearest words a "
        "digit) less with those given, for declared listeners",
        _hints(lambda each: each.regret),
        label="hint regret",
        headline=True,
    ),
    _lost(
        "cipher_clarity_lost",
        "the part of hint regret that is due to the decoder",
        _hints(lambda each: each.clarity),
        low=-1.0,
    ),
    _lost(
        "cipher_secrecy_lost",
        "the part of hint regret that is due to the interceptor",
        _hints(lambda each: each.secrecy),
        low=-1.0,
    ),
    _lost(
        "cipher_modelling_lost",
        "what the best hints for the listeners that the encoder expected lose with the true ones",
        _cause(lambda each: each.modelling),
        low=-1.0,
    ),
    _lost(
        "cipher_play_lost",
        "what the hints lose by the encoder's own model of the listeners",
        _cause(lambda each: each.play),
    ),
    _lost(
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
    _kept(
        "cipher_belief_kept",
        "by word whose first answer was wrong: share in which the interceptor, shown the "
        "keywords, names its own first answer as what it thought before",
        lambda each: each.before,
    ),
    _kept(
        "cipher_belief_of_another",
        "the same for what another interceptor thinks",
        lambda each: each.another,
    ),
    _published(
        "cipher_weak_published",
        "rounds with a wrong first list: share in which the list named as one's belief before is "
        "not the true one",
        lambda each: each.before != each.true,
    ),
    _published(
        "cipher_strong_published",
        "the same, share in which it is the first list, word for word",
        lambda each: each.before == each.first,
    ),
    _published(
        "cipher_weak_of_another_published",
        "the weak test for what another interceptor thinks",
        lambda each: each.another != each.true,
    ),
    _published(
        "cipher_strong_of_another_published",
        "the strong test for what another interceptor thinks",
        lambda each: each.another == each.first,
    ),
    _published(
        "cipher_consistent_published",
        "the same, share in which the player's own earlier list and the other's are equal",
        lambda each: each.before == each.another,
    ),
    *learning("cipher", by_game, "game", CHANCE),
)
