"""The scripted minds of Hanabi: bots with published means, exact ones of ours, mindless ones."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from sally.core import errors
from sally.core.match.player import Turn
from sally.core.rules.game import Seat
from sally.core.rules.partner import Partner, Script
from sally.core.rules.probe import Report
from sally.games.hanabi.answers import Odds, answerer, by_counting, publicly
from sally.games.hanabi.bots.every import BOTS, Make
from sally.games.hanabi.bots.knowing import bookkeeper, reader
from sally.games.hanabi.bots.memory import Policy
from sally.games.hanabi.bots.mindless import MINDLESS
from sally.games.hanabi.reading import read
from sally.games.hanabi.rules import Hanabi
from sally.games.hanabi.table import View

ODWYER = "Arthur O'Dwyer, Quuxplusone/Hanabi"
WALTON_RIVERS = "Walton-Rivers et al. 2017"
OURS = "ours"
SOURCES = {
    "blind": ODWYER,
    "simple": ODWYER,
    "holmes": ODWYER,
    "smart": ODWYER,
    "info": "after Cox et al. 2015 and Wu, hanabi.rs; built from a sketch",
    "legal_random": WALTON_RIVERS,
    "iggi": WALTON_RIVERS,
    "outer": WALTON_RIVERS,
    "piers": WALTON_RIVERS,
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
    """A policy as a player: what it leaves open is drawn."""

    def decide(turn: Turn[Any, Any]) -> int:
        odds = policy(turn.view)
        if len(odds) == 1:
            return next(iter(odds))
        return turn.draws.draw(odds)

    return decide


def _partner(name: str, make: Make) -> Partner:
    """A bot; asked aside, it knows what counting gives and expects others to play as it does."""

    def answers(game: Hanabi, seat: Seat) -> Callable[[Turn[Any, Any]], Report]:
        return answerer(game, by_counting(game), make(game))

    return Partner(
        name, ABOUTS[name], SOURCES[name], lambda game, seat: script(make(game)), answers=answers
    )


def _mindless(name: str, make: Make) -> Partner:
    """A rule of thumb; asked aside, it counts what lies on the table and sees no minds."""

    def answers(game: Hanabi, seat: Seat) -> Callable[[Turn[Any, Any]], Report]:
        return answerer(game, publicly(game), None, minds=False)

    about = " ".join((make.__doc__ or "").split()).rstrip(".")
    about = about[:1].lower() + about[1:]
    return Partner(name, about, OURS, lambda game, seat: script(make(game)), answers=answers)


# --- exact minds --------------------------------------------------------------------------------


def _bookkeeper(game: Hanabi, seat: Seat, risk: float = 0.9) -> Script:
    return script(bookkeeper(game, risk))


def _bookkeeper_answers(
    game: Hanabi, seat: Seat, risk: float = 0.9
) -> Callable[[Turn[Any, Any]], Report]:
    return answerer(game, by_counting(game), bookkeeper(game, risk))


def _declared(game: Hanabi, of: str) -> Make:
    if of not in BOTS:
        raise errors.unknown("policy that can be declared", of, BOTS)
    return BOTS[of]


def _reader(game: Hanabi, seat: Seat, of: str = "simple", risk: float = 0.9) -> Script:
    return script(reader(game, _declared(game, of), risk))


def _reader_answers(
    game: Hanabi, seat: Seat, of: str = "simple", risk: float = 0.9
) -> Callable[[Turn[Any, Any]], Report]:
    make = _declared(game, of)
    count = by_counting(game)

    @lru_cache(maxsize=4)  # every slot of a turn is asked about
    def own(view: View) -> Odds:
        others = {n: make(game) for n in range(game.players) if n != view.me}
        found = read(game, view, others)
        return count(view) if found is None else found.odds

    return answerer(game, own, make(game))


BOOKKEEPER = Partner(
    name="bookkeeper",
    about="knows exactly what hints and counting say of its cards, and reads nothing into them",
    source=OURS,
    make=_bookkeeper,
    params={"risk": 0.9},
    answers=_bookkeeper_answers,
)
READER = Partner(
    name="reader",
    about="knows its partners' policy (`of`), and exactly what their moves say of its cards",
    source=OURS,
    make=_reader,
    params={"of": "simple", "risk": 0.9},
    answers=_reader_answers,
)

PARTNERS = {
    partner.name: partner
    for partner in (
        *(_partner(name, make) for name, make in BOTS.items()),
        BOOKKEEPER,
        READER,
        *(_mindless(name, make) for name, make in MINDLESS.items()),
    )
}
