"""Rule agents (Walton-Rivers et al. 2017): each tries a list of rules until one applies.

A rule is a function from a `PreparedView` to probabilities of the seat's moves, or None. Card
identities are inferred slot by slot, as in the authors' framework, not jointly for the hand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property

from sally.games.hanabi.belief import unseen
from sally.games.hanabi.rules import Hanabi
from sally.games.hanabi.state import Card, Policy, View

Odds = Mapping[int, float]


class PreparedView:
    """A view prepared for rules: the possible cards of each slot, and what each seat knows from
    hints alone."""

    def __init__(self, game: Hanabi, view: View) -> None:
        self.game, self.view = game, view

    @cached_property
    def slots(self) -> list[dict[Card, int]]:
        """For each own slot, the cards that hints and counting allow, with their counts."""
        game, view = self.game, self.view
        cards_left = [(card, n) for card, n in enumerate(unseen(game, view, view.me)) if n > 0]
        own_marks = view.marks[view.me]
        return [
            {card: n for card, n in cards_left if game.allows(mark, card)} for mark in own_marks
        ]

    def others(self) -> Iterable[tuple[int, int]]:
        """Return the other seats in turn order, as (places ahead, seat number)."""
        n = self.game.players
        return ((ahead, (self.view.me + ahead) % n) for ahead in range(1, n))

    def is_next(self, card: Card) -> bool:
        """Return whether a card can be played now."""
        return self.game.is_next(self.view, card)

    def is_useless(self, card: Card) -> bool:
        """Return whether a card can no longer score."""
        return self.game.is_useless(self.view, card)

    def colour(self, mark: int) -> int | None:
        """Return the colour known by hints, or None."""
        return _only(mark & (1 << self.game.colours) - 1)

    def rank(self, mark: int) -> int | None:
        """Return the rank known by hints, or None."""
        return _only(mark >> self.game.colours)

    def chances(self, kind: Callable[[Card], bool]) -> list[float]:
        """Return, for each slot, the probability that its card satisfies the predicate `kind`."""
        return [
            sum(n for card, n in slot.items() if kind(card)) / sum(slot.values())
            for slot in self.slots
        ]


Rule = Callable[[PreparedView], Odds | None]


def _only(bits: int) -> int | None:
    return bits.bit_length() - 1 if bits and not bits & (bits - 1) else None


def _sure(action: int) -> Odds:
    return {action: 1.0}


def evenly(actions: Iterable[int]) -> Odds | None:
    """Return equal probabilities for all actions; None if the list is empty."""
    among = list(actions)
    return {action: 1 / len(among) for action in among} if among else None


# --- plays ----------------------------------------------------------------------------------------


def certain(sight: PreparedView) -> Odds | None:
    """Play the first card with a known colour and rank that is next on its pile."""
    game = sight.game
    for slot, mark in enumerate(sight.view.marks[sight.view.me]):
        colour, rank = sight.colour(mark), sight.rank(mark)
        if colour is not None and rank is not None and sight.is_next(colour * game.ranks + rank):
            return _sure(game.play(slot))
    return None


def safe(sight: PreparedView) -> Odds | None:
    """Play the first card that is certainly playable."""
    for slot, cards in enumerate(sight.slots):
        if all(map(sight.is_next, cards)):
            return _sure(sight.game.play(slot))
    return None


def probable(threshold: float) -> Rule:
    """Return a rule that plays the card that is most likely to be playable (the last one in a
    tie), if this probability is at least `threshold`."""

    def rule(sight: PreparedView) -> Odds | None:
        chances = sight.chances(sight.is_next)
        slot = max(range(len(chances)), key=lambda s: (chances[s], s))
        return _sure(sight.game.play(slot)) if chances[slot] >= threshold else None

    return rule


# --- hints ----------------------------------------------------------------------------------------


def _telling(rule: Rule) -> Rule:
    """Restrict a rule to turns in which a hint token is available."""
    return lambda sight: rule(sight) if sight.view.tokens else None


def _useful(seats: int | None) -> Rule:
    """Return a rule that gives a hint about the first playable card that its holder does not
    fully know: its rank, or its colour if the rank is known."""

    def rule(sight: PreparedView) -> Odds | None:
        game, view = sight.game, sight.view
        for ahead, seat in list(sight.others())[:seats]:
            for card, mark in zip(view.hands[seat], view.marks[seat], strict=True):
                if sight.is_next(card):
                    if sight.rank(mark) is None:
                        return _sure(game.hint(ahead, game.colours + card % game.ranks))
                    if sight.colour(mark) is None:
                        return _sure(game.hint(ahead, card // game.ranks))
        return None

    return _telling(rule)


def _tell_unknown(sight: PreparedView) -> Odds | None:
    """Give a hint about the first card that the next seat does not fully know: its colour, or
    its rank if the colour is known."""
    game, view = sight.game, sight.view
    seat = (view.me + 1) % game.players
    for card, mark in zip(view.hands[seat], view.marks[seat], strict=True):
        if sight.colour(mark) is None:
            return _sure(game.hint(1, card // game.ranks))
        if sight.rank(mark) is None:
            return _sure(game.hint(1, game.colours + card % game.ranks))
    return None


def _tell_most(sight: PreparedView) -> Odds | None:
    """Give the hint that is new information for the most cards of a hand."""
    game, view = sight.game, sight.view
    best, action_found = 0, None
    for ahead, seat in sight.others():
        for value in range(game.colours + game.ranks):
            known_part = sight.colour if value < game.colours else sight.rank
            cards_and_marks = zip(view.hands[seat], view.marks[seat], strict=True)
            new = sum(
                known_part(mark) is None
                for card, mark in cards_and_marks
                if game.bits[card] >> value & 1
            )
            if new > best:
                best, action_found = new, game.hint(ahead, value)
    return None if action_found is None else _sure(action_found)


def _tell_dispensable(sight: PreparedView) -> Odds | None:
    """Give a hint that shows another seat that one of its cards is useless. If several cards
    qualify, the first in turn order is hinted."""
    game, view = sight.game, sight.view
    for ahead, seat in sight.others():
        for card, mark in zip(view.hands[seat], view.marks[seat], strict=True):
            colour, rank = divmod(card, game.ranks)
            by_colour, by_rank = game.hint(ahead, colour), game.hint(ahead, game.colours + rank)
            knows_colour = sight.colour(mark) is not None
            knows_rank = sight.rank(mark) is not None
            if not knows_colour and view.piles[colour] == game.ranks:
                return _sure(by_colour)
            if not knows_rank and rank < min(view.piles):
                return _sure(by_rank)
            if rank < view.piles[colour] and knows_colour != knows_rank:
                return _sure(by_rank if knows_colour else by_colour)
    return None


def _random_hint(seats: int | None) -> Rule:
    """Return a rule that gives a random hint to one of the next `seats` seats (None: to any
    seat)."""

    def rule(sight: PreparedView) -> Odds | None:
        game, n_seats = sight.game, seats or sight.game.players
        first = 2 * game.hand_size
        legal = game.legal(sight.view, sight.view.me)
        return evenly(a for a in legal if a >= first and game.hint_of(a)[0] <= n_seats)

    return rule


# --- discards -------------------------------------------------------------------------------------


def _discarding(rule: Rule) -> Rule:
    """Restrict a rule to turns in which not all hint tokens are available, so that a discard is
    allowed."""
    return lambda sight: rule(sight) if sight.view.tokens < sight.game.hints else None


def _osawa(sight: PreparedView) -> Odds | None:
    """Discard the first card that is useless according to its hints."""
    game, view = sight.game, sight.view
    for slot, mark in enumerate(view.marks[view.me]):
        colour, rank = sight.colour(mark), sight.rank(mark)
        done = colour is not None and view.piles[colour] == game.ranks
        low = rank is not None and rank < min(view.piles)
        is_identified = colour is not None and rank is not None
        if (
            done
            or low
            or (is_identified and sight.is_useless((colour or 0) * game.ranks + (rank or 0)))
        ):
            return _sure(slot)
    return None


def _surely_useless(sight: PreparedView) -> Odds | None:
    for slot, cards in enumerate(sight.slots):
        if all(map(sight.is_useless, cards)):
            return _sure(slot)
    return None


def _probably_useless(sight: PreparedView) -> Odds | None:
    chances = sight.chances(sight.is_useless)
    return _sure(max(range(len(chances)), key=lambda s: (chances[s], s)))


def _any_discard(sight: PreparedView) -> Odds | None:
    return evenly(range(sight.view.slots))


def _oldest(sight: PreparedView) -> Odds | None:
    return _sure(0)


def _anything(sight: PreparedView) -> Odds | None:
    return evenly(sight.game.legal(sight.view, sight.view.me))


# --- agents ---------------------------------------------------------------------------------------


def _if(condition: Callable[[View], bool], rule: Rule, otherwise: Rule | None = None) -> Rule:
    def choose(sight: PreparedView) -> Odds | None:
        if condition(sight.view):
            return rule(sight)
        return otherwise(sight) if otherwise else None

    return choose


_useful_to_all, _useful_to_next = _useful(None), _useful(1)
_hint_anybody, _hint_next = _random_hint(None), _random_hint(1)
_any_way_out = (_hint_anybody, _discarding(_any_discard), _anything)

RULES: Mapping[str, tuple[Rule, ...]] = {
    "legal_random": (_anything,),
    "iggi": (certain, safe, _useful_to_all, _discarding(_osawa), _discarding(_oldest), _hint_next),
    "outer": (
        safe,
        _discarding(_osawa),
        _useful_to_next,
        _telling(_tell_unknown),
        _discarding(_any_discard),
    ),
    "piers": (
        _if(lambda view: view.lives > 1 and not view.left, probable(0.0)),
        safe,
        _if(lambda view: view.lives > 1, probable(0.6)),
        _useful_to_all,
        _if(lambda view: view.tokens < 4, _telling(_tell_dispensable)),
        _discarding(_osawa),
        _discarding(_oldest),
        _hint_anybody,
    ),
    "van_den_bergh": (
        _if(lambda view: view.lives > 1, probable(0.6), safe),
        _discarding(_surely_useless),
        _useful_to_all,
        _telling(_tell_most),
        _discarding(_probably_useless),
    ),
}


def knowing_rules(risk: float) -> tuple[Rule, ...]:
    """Return the rules of the players that use exact probabilities."""
    return (
        safe,
        probable(risk),
        _useful_to_all,
        _discarding(_surely_useless),
        _if(lambda view: view.tokens > 1, _telling(_tell_most)),
        _discarding(_probably_useless),
        *_any_way_out,
    )


def first_applicable(rules: Iterable[Rule], sight: PreparedView) -> Odds:
    """Return the move probabilities of the first rule that applies."""
    return next(odds for rule in rules if (odds := rule(sight)) is not None)


def rule_agent(name: str) -> Callable[[Hanabi], Policy]:
    """Return the constructor of the agent with this name."""
    rules = (*RULES[name], *_any_way_out)

    return lambda game: lambda view: first_applicable(rules, PreparedView(game, view))


def blind(game: Hanabi) -> Policy:
    """Play a card at random (Quuxplusone's BlindBot)."""
    return lambda view: evenly(game.play(slot) for slot in range(view.slots)) or {}
