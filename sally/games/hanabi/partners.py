"""The scripted partners of Hanabi: published bots, exact players of our own, and mindless
players."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from sally.core import errors
from sally.core.match.partner import Partner, Script, by_name, describe_rule
from sally.core.match.player import Turn
from sally.core.rules.game import Seat
from sally.core.rules.probe import ProbeReport, Question
from sally.games.hanabi.belief import (
    Odds,
    Posterior,
    count_own_hand,
    hidden,
    is_known_playable,
    movers_view,
    public_counts,
    read,
    their_odds,
    their_posteriors,
)
from sally.games.hanabi.bots import BOTS, Make
from sally.games.hanabi.bots.exact import bookkeeper, reader
from sally.games.hanabi.bots.mindless import MINDLESS
from sally.games.hanabi.probes import PERCENT, move_name, place_of
from sally.games.hanabi.rules import Hanabi
from sally.games.hanabi.state import Policy, View

# --- answers to probes ----------------------------------------------------------------------------


SUPPOSED = 12  # own hands sampled to predict another's move


def answerer(
    game: Hanabi, own_odds: Callable[[View], Odds], others: Policy | None, minds: bool = True
) -> Callable[[Turn], ProbeReport]:
    """Return a function that answers probes for a bot.

    Questions about the bot's own hand are answered from the card probabilities that `own_odds`
    computes.
    Questions about another seat's next move are answered by the policy `others`, or by a uniform
    guess if `others` is None. Without `minds`, the knowledge of another seat is computed from the
    public counts only.
    """

    def report(turn: Turn) -> ProbeReport:
        question, view = turn.question, turn.view
        assert question is not None
        match question.probe:
            case "own_card" | "own_card_odds":
                odds = own_odds(view)[int(question.about) - 1]
                best = max(range(len(odds)), key=odds.__getitem__)
                return ProbeReport(best, tuple(p / sum(odds) for p in odds))
            case "own_playable":
                nexts, slots = game.next_cards(view), enumerate(own_odds(view), 1)
                chances = {str(n): sum(odds[card] for card in nexts) for n, odds in slots}
                return ProbeReport({n: min(PERCENT, PERCENT * p) for n, p in chances.items()})
            case "their_belief" | "their_known":
                return _their_mind(game, turn, question, minds)
            case _:
                return _their_move(game, turn, question, others)

    return report


def by_counting(game: Hanabi) -> Callable[[View], Odds]:
    """Return a function that gives the probabilities of the seat's own cards from hints and
    counting."""
    return lambda view: count_own_hand(game, view).all_odds


def _their_mind(game: Hanabi, turn: Turn, question: Question, minds: bool) -> ProbeReport:
    view = turn.view
    seat, slot = place_of(game, question.about)
    if question.probe == "their_belief":
        if minds:
            odds = their_odds(game, view, seat, slot, turn.draws)
        else:
            odds = list(public_counts(game, view, seat).odds(slot))
        return ProbeReport({str(card): min(PERCENT, PERCENT * p) for card, p in enumerate(odds)})
    posteriors: list[tuple[Posterior, Any]] = [(public_counts(game, view, seat), 1)]
    if minds:
        posteriors = their_posteriors(game, view, seat, turn.draws)
    sure = sum(
        chance for posterior, chance in posteriors if is_known_playable(game, view, posterior, slot)
    )
    return ProbeReport("yes" if sure > 0.5 else "no", (float(sure), 1 - float(sure)))


def _their_move(game: Hanabi, turn: Turn, question: Question, policy: Policy | None) -> ProbeReport:
    """Return the mover's most likely move, averaged over sampled hands that the viewer may hold."""
    view, odds = turn.view, dict.fromkeys(question.choices, 0.0)
    if policy is None:
        even = 1 / len(odds)
        return ProbeReport(turn.draws.pick(question.choices), (even,) * len(odds))
    own_hand, draws = hidden(game, view), turn.draws
    for _ in range(SUPPOSED):
        for action, p in policy(movers_view(view, own_hand.draw(draws))).items():
            odds[move_name(game, view.mover, action)] += p / SUPPOSED
    total = sum(odds.values())
    return ProbeReport(
        max(odds, key=lambda move: odds[move]), tuple(p / total for p in odds.values())
    )


def by_public_counts(game: Hanabi) -> Callable[[View], Odds]:
    """Return a function that gives the probabilities of the seat's own cards from hints and face-up
    cards only."""
    return lambda view: public_counts(game, view, view.me).all_odds


# --- partners -------------------------------------------------------------------------------------


ODWYER = "Arthur O'Dwyer, Quuxplusone/Hanabi"
WALTON_RIVERS = "Walton-Rivers et al. 2017"
OURS = "ours"
SOURCES = {
    **dict.fromkeys(("blind", "simple", "holmes", "smart"), ODWYER),
    "info": "after Cox et al. 2015 and Wu, hanabi.rs; built from a sketch",
    **dict.fromkeys(("legal_random", "iggi", "outer", "piers"), WALTON_RIVERS),
    "van_den_bergh": "van den Bergh et al. 2016, as in Walton-Rivers et al. 2017",
}
ABOUTS = {
    "blind": "plays a card at random",
    "simple": "hints at playable cards only, and plays what it is told of",
    "holmes": "as simple, with negative information and warnings about last copies",
    "smart": "takes the newest card of a hint to be playable, and silence to mean no danger",
    "info": "hat guessing: every hint is a number that tells all others something at once",
    "legal_random": "any legal move, each as likely as any other",
    "iggi": "plays what is certain, tells of playable cards, discards what is useless or oldest",
    "outer": "plays what is certain, discards what is useless, tells the next seat what it lacks",
    "piers": "as iggi, with plays at a chance of 0.6, and all risks at the end",
    "van_den_bergh": "plays at a chance of 0.6, tells of playable cards, discards by chance",
}


def script(policy: Policy) -> Script:
    """Return a script that draws its moves from a policy."""

    def decide(turn: Turn) -> int:
        odds = policy(turn.view)
        if len(odds) == 1:
            return next(iter(odds))
        return turn.draws.draw(odds)

    return decide


def _bot(name: str, make: Make) -> Partner:
    """Return a partner that answers probes by counting and predicts that the others play by the
    same policy."""
    return Partner(
        name,
        ABOUTS[name],
        SOURCES[name],
        lambda game, seat: script(make(game)),
        answers=lambda game, seat: answerer(game, by_counting(game), make(game)),
    )


def _mindless(name: str, make: Make) -> Partner:
    """Return a rule-of-thumb partner that answers probes from the face-up cards only."""
    return Partner(
        name,
        describe_rule(make),
        OURS,
        lambda game, seat: script(make(game)),
        answers=lambda game, seat: answerer(game, by_public_counts(game), None, minds=False),
    )


# --- exact beliefs --------------------------------------------------------------------------------


def _find_policy(of: str) -> Make:
    if of not in BOTS:
        raise errors.unknown("policy", of, BOTS)
    return BOTS[of]


def _reader_answers(
    game: Hanabi, seat: Seat, of: str = "simple", risk: float = 0.9
) -> Callable[[Turn], ProbeReport]:
    make, count = _find_policy(of), by_counting(game)

    @lru_cache(maxsize=4)  # each slot is asked about in one turn
    def read_own_odds(view: View) -> Odds:
        others = {n: make(game) for n in range(game.players) if n != view.me}
        reading = read(game, view, others)
        return count(view) if reading is None else reading.odds

    return answerer(game, read_own_odds, make(game))


def _observer_answers(game: Hanabi, seat: Seat, of: str = "smart") -> Callable[[Turn], ProbeReport]:
    from sally.games.hanabi.ideal import PoolObserver, is_observable  # loads numpy

    if not is_observable(game):
        raise errors.BadInput(
            "the ideal observer enumerates all hands of two players; use hanabi_mini, "
            "hanabi_small or hanabi_very_small"
        )
    answer_other = answerer(game, by_counting(game), _find_policy(of)(game))

    def answer(turn: Turn) -> ProbeReport:
        assert turn.question is not None
        if turn.question.probe != "their_move":
            return answer_other(turn)
        odds = PoolObserver(game).forecast(turn.view)
        if odds is None:  # no bot of the pool explains the past
            return answer_other(turn)
        return ProbeReport(max(odds, key=odds.__getitem__), tuple(odds.values()))

    return answer


BOOKKEEPER = Partner(
    name="bookkeeper",
    about="knows exactly what hints and counting say of its cards, and reads nothing into them",
    source=OURS,
    make=lambda game, seat, risk=0.9: script(bookkeeper(game, risk)),
    params={"risk": 0.9},
    answers=lambda game, seat, risk=0.9: answerer(game, by_counting(game), bookkeeper(game, risk)),
)
READER = Partner(
    name="reader",
    about="knows its partners' policy (`of`), and exactly what their moves say of its cards",
    source=OURS,
    make=lambda game, seat, of="simple", risk=0.9: script(reader(game, _find_policy(of), risk)),
    params={"of": "simple", "risk": 0.9},
    answers=_reader_answers,
)
OBSERVER = Partner(
    name="observer",
    about="plays as the bot `of`, and predicts its partner's moves as the ideal observer does",
    source=OURS,
    make=lambda game, seat, of="smart": script(_find_policy(of)(game)),
    params={"of": "smart"},
    answers=_observer_answers,
)

PARTNERS = by_name(
    *(_bot(name, make) for name, make in BOTS.items()),
    BOOKKEEPER,
    READER,
    OBSERVER,
    *(_mindless(name, make) for name, make in MINDLESS.items()),
)
