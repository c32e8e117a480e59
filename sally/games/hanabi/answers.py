"""What scripted minds say to probes: all that can be known, or what a mindless count gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from sally.core.match.player import Turn
from sally.core.rules.probe import Question, Report
from sally.games.hanabi.belief import Posterior, counted, hidden
from sally.games.hanabi.bots.memory import Policy
from sally.games.hanabi.probes import PERCENT, move_name, place_of
from sally.games.hanabi.rules import Hanabi
from sally.games.hanabi.second_order import (
    is_known_playable,
    next_cards,
    public_counts,
    their_odds,
    their_posteriors,
    with_hand,
)
from sally.games.hanabi.table import View

Odds = tuple[tuple[float, ...], ...]  # of every card in every own slot
SUPPOSED = 12  # so many hands of one's own are supposed to foresee another's move


def answerer(
    game: Hanabi, own: Callable[[View], Odds], others: Policy | None, minds: bool = True
) -> Callable[[Turn[Any, Any]], Report]:
    """Answers by these odds of one's own cards, and others that move by a policy (None: guess).

    Without `minds`, what another knows is taken from the public counts alone.
    """

    def report(turn: Turn[Any, Any]) -> Report:
        question, view = turn.question, turn.view
        assert question is not None
        match question.probe:
            case "own_card" | "own_card_odds":
                odds = own(view)[int(question.about) - 1]
                best = max(range(len(odds)), key=odds.__getitem__)
                return Report(best, tuple(p / sum(odds) for p in odds))
            case "own_playable":
                nexts = next_cards(game, view.piles)
                slots = enumerate(own(view), 1)
                chances = {str(n): sum(odds[card] for card in nexts) for n, odds in slots}
                return Report({n: min(PERCENT, PERCENT * p) for n, p in chances.items()})
            case "their_belief" | "their_known":
                return _their_mind(game, turn, question, minds)
            case _:
                return _their_move(game, turn, question, others)

    return report


def by_counting(game: Hanabi) -> Callable[[View], Odds]:
    """One's own cards by hints and counting."""

    def odds(view: View) -> Odds:
        known = counted(game, view)
        return tuple(known.odds(slot) for slot in range(view.slots))

    return odds


def _their_mind(game: Hanabi, turn: Turn[Any, Any], question: Question, minds: bool) -> Report:
    view = turn.view
    seat, slot = place_of(game, question.about)
    if question.probe == "their_belief":
        if minds:
            odds = their_odds(game, view, seat, slot, turn.draws)
        else:
            odds = list(public_counts(game, view, seat).odds(slot))
        return Report({str(card): min(PERCENT, PERCENT * p) for card, p in enumerate(odds)})
    known: list[tuple[Posterior, Any]] = [(public_counts(game, view, seat), 1)]
    if minds:
        known = their_posteriors(game, view, seat, turn.draws)
    sure = sum(chance for each, chance in known if is_known_playable(game, view.piles, each, slot))
    return Report("yes" if sure > 0.5 else "no", (float(sure), 1 - float(sure)))


def _their_move(
    game: Hanabi, turn: Turn[Any, Any], question: Question, policy: Policy | None
) -> Report:
    """The mover's most likely move, over some hands that one may hold."""
    view, odds = turn.view, dict.fromkeys(question.choices, 0.0)
    if policy is None:
        even = 1 / len(odds)
        return Report(turn.draws.pick(question.choices), (even,) * len(odds))
    own, draws = hidden(game, view), turn.draws
    for _ in range(SUPPOSED):
        for action, p in policy(_seen_by(game, view, own.draw(draws))).items():
            odds[move_name(game, view.mover, action)] += p / SUPPOSED
    total = sum(odds.values())
    return Report(max(odds, key=lambda move: odds[move]), tuple(p / total for p in odds.values()))


def _seen_by(game: Hanabi, view: View, hand: tuple[int, ...]) -> View:
    """The mover's view, if one's own hand is this."""
    hands = with_hand(view, hand).hands
    shown = (*hands[: view.mover], (), *hands[view.mover + 1 :])
    return msgspec.structs.replace(view, me=view.mover, hands=shown)


def publicly(game: Hanabi) -> Callable[[View], Odds]:
    """One's own cards by hints and the face-up cards alone, as if one saw no other hand."""

    def odds(view: View) -> Odds:
        known = public_counts(game, view, view.me)
        return tuple(known.odds(slot) for slot in range(view.slots))

    return odds


def evenly(game: Hanabi) -> Callable[[View], Odds]:
    """Every card alike in every slot."""
    even = (1 / game.highest,) * game.highest
    return lambda view: (even,) * view.slots
