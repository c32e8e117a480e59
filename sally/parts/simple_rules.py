"""Simple rules: what a player without a model of the other expects of the other's next move.

This is the one list of mindless rules that look at past rounds. Some of them learn a little: they
keep a table of what followed. Cards, the suites, *beyond learning rules*, *beyond habits* and the
checklist for claims all use it. A player that moves by a rule either makes the expected move
(`last` is imitation and tit for tat) or the best reply to it (in the request game, the reply to
`last` asks for one less).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any

from sally.core.errors import unknown
from sally.core.rules.card import Shortcut, both_ways

PastRound = tuple[Hashable, Hashable]  # the own move and the other's
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

    def __init__(self, rounds: Iterable[PastRound] = ()) -> None:
        self._rounds = list(rounds)
        self._counts: dict[Hashable, int] = {}
        self._counted = 0  # rounds that are in the counts

    def add(self, own_move: Hashable, their_move: Hashable) -> None:
        """Add a round; a move is None where it is not known."""
        self._rounds.append((own_move, their_move))

    def expect(self, rule: str) -> Any | None:
        """Return the other's next move by a rule; None if the rule has seen too little.

        Raises:
            BadInput: If there is no such rule.
        """
        if rule not in RULES and rule not in MOVES:
            raise unknown("simple rule", rule, {**RULES, **MOVES})
        if not self._rounds:
            return None
        own_move, their_move = self._rounds[-1]
        if rule == OWN_LAST:
            return own_move
        if rule == MOST_FREQUENT:
            return self._most_frequent()
        next_round = None
        if rule == AFTER_OWN:
            next_round = self._round_after(lambda earlier: earlier[0] == own_move)
        if rule == AFTER_PAIR:
            next_round = self._round_after(lambda earlier: earlier == self._rounds[-1])
        if rule == AFTER_LAST or (rule == AFTER_PAIR and next_round is None):
            next_round = self._round_after(lambda earlier: earlier[1] == their_move)
        return next_round[1] if next_round else their_move

    def _round_after(self, is_alike: Callable[[PastRound], bool]) -> PastRound | None:
        """Return the round that followed the latest earlier round of a kind, if there is one."""
        for number in range(len(self._rounds) - 2, -1, -1):
            if is_alike(self._rounds[number]):
                return self._rounds[number + 1]
        return None

    def _most_frequent(self) -> Hashable:
        for _, their_move in self._rounds[self._counted :]:
            count = self._counts.pop(their_move, 0) + 1
            self._counts[their_move] = count  # the latest move comes last
        self._counted = len(self._rounds)
        return max(reversed(self._counts), key=self._counts.__getitem__)

    @property
    def last(self) -> tuple[Any, Any] | None:
        """The last pair of moves, own and other's; None before the first round."""
        return self._rounds[-1] if self._rounds else None


def move_after(
    past: PastRounds, rule: str, menu: Sequence[Any], replies: Callable[[Any], Sequence[Any]]
) -> Any | None:
    """Return the move that a rule makes; None if the rule has seen too little.

    Args:
        past: The past rounds.
        rule: A rule of `RULES`, which makes the expected move, or of `MOVES`.
        menu: The moves that can be made.
        replies: Returns the best replies to a move of the other.

    >>> past = PastRounds([(0, 1)])
    >>> move_after(past, "last", (0, 1), lambda move: [move])
    1
    >>> move_after(past, "win_stay", (0, 1), lambda move: [move])
    1
    """
    expected = past.expect(rule)
    if rule != WIN_STAY or past.last is None:
        return expected
    own_move, their_move = past.last
    if own_move not in menu or their_move is None:
        return None
    if own_move in replies(their_move):
        return own_move
    return menu[(menu.index(own_move) + 1) % len(menu)]


def rule_shortcuts(first: int = 0) -> tuple[Shortcut, ...]:
    """Return the players of a card that move by the rules of this list, with their inverses.

    `first` is the place of their first move on the menu, such as cooperation in the prisoner's
    dilemma, so that `last` is tit for tat.
    """
    played = [both_ways(PLAYER, rule=rule, first=first) for rule in (*RULES, *MOVES)]
    replied = [both_ways(PLAYER, rule=rule, first=first, reply=True) for rule in RULES]
    return (both_ways("copy_last"), both_ways("majority"), *played, *replied)
