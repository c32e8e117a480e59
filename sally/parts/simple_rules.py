"""Simple rules: what a player without a model of the other expects of the other's next move.

This is the one list of mindless rules that look at past rounds. Some of them learn a little: they
keep a table of what followed. Cards, the suites, *beyond learning rules* and the checklist for
claims all use it. A player that moves by a rule either makes the expected move (`last` is imitation
and tit for tat) or the best reply to it (in the request game, the reply to `last` asks for one
less).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

from sally.core.errors import unknown
from sally.core.rules.card import Shortcut, both_ways

PLAYER = "simple_rule"  # the player that moves by a rule of this list
LAST, OWN_LAST, MOST_FREQUENT = "last", "own_last", "most_frequent"
AFTER_LAST, AFTER_OWN, AFTER_PAIR = "after_last", "after_own", "after_pair"
WIN_STAY = "win_stay"
RULES: Mapping[str, str] = {
    LAST: "the other's last move",
    OWN_LAST: "the player's own last move",
    MOST_FREQUENT: "the other's most frequent move, the latest of several",
    AFTER_LAST: "what followed the other's last move the last time, else its last move",
    AFTER_OWN: "what followed the player's own last move the last time, else the other's last move",
    AFTER_PAIR: "what followed the last pair of moves the last time, else as `after_last`",
}
MOVES: Mapping[str, str] = {  # a rule of moves; it expects the other's last move
    WIN_STAY: "the own last move if it was a best reply, else the next option of the menu",
}


class PastRounds:
    """The past rounds as simple rules see them: the last pair of moves, counts and what followed.

    >>> past = PastRounds([(0, 1), (1, 0), (0, 1)])
    >>> past.expect("after_last"), past.expect("most_frequent"), past.expect("own_last")
    (0, 1, 0)
    """

    def __init__(self, rounds: Iterable[tuple[Hashable, Hashable]] = ()) -> None:
        self._last: tuple[Hashable, Hashable] | None = None
        self._counts: dict[Hashable, int] = {}
        self._after_own: dict[Hashable, Hashable] = {}
        self._after_last: dict[Hashable, Hashable] = {}
        self._after_pair: dict[Hashable, Hashable] = {}
        for own_move, their_move in rounds:
            self.add(own_move, their_move)

    def add(self, own_move: Hashable, their_move: Hashable) -> None:
        """Add a round; a move is None where it is not known."""
        if self._last is not None:
            own_before, their_before = self._last
            self._after_own[own_before] = their_move
            self._after_last[their_before] = their_move
            self._after_pair[self._last] = their_move
        self._last = (own_move, their_move)
        self._counts[their_move] = self._counts.pop(their_move, 0) + 1  # the latest move comes last

    def expect(self, rule: str) -> Any | None:
        """Return the other's next move by a rule; None if the rule has seen too little.

        Raises:
            BadInput: If there is no such rule.
        """
        if rule not in RULES and rule not in MOVES:
            raise unknown("simple rule", rule, {**RULES, **MOVES})
        if self._last is None:
            return None
        own_move, their_move = self._last
        if rule == OWN_LAST:
            return own_move
        if rule == MOST_FREQUENT:
            return max(reversed(self._counts), key=self._counts.__getitem__)
        after_last = self._after_last.get(their_move, their_move)
        if rule == AFTER_LAST:
            return after_last
        if rule == AFTER_OWN:
            return self._after_own.get(own_move, their_move)
        if rule == AFTER_PAIR:
            return self._after_pair.get(self._last, after_last)
        return their_move

    @property
    def last(self) -> tuple[Any, Any] | None:
        """The last pair of moves, own and other's; None before the first round."""
        return self._last


def rule_shortcuts(first: int = 0) -> tuple[Shortcut, ...]:
    """Return the players of a card that move by the rules of this list, with their inverses.

    `first` is the place of their first move on the menu, such as cooperation in the prisoner's
    dilemma, so that `last` is tit for tat.
    """
    played = [both_ways(PLAYER, rule=rule, first=first) for rule in (*RULES, *MOVES)]
    replied = [both_ways(PLAYER, rule=rule, first=first, reply=True) for rule in RULES]
    return (both_ways("copy_last"), both_ways("majority"), *played, *replied)
