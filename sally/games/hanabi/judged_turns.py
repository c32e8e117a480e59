"""Single turns of Hanabi judged by the mover's knowledge from hints and card counting.

No report from the mover is needed, so recorded play of people and bots can be judged as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import msgspec

from sally.core.rules.game import Seat
from sally.core.rules.metric import Played
from sally.games.hanabi.belief import Hidden, unseen
from sally.games.hanabi.rules import Hanabi
from sally.games.hanabi.state import State

Kind = Literal["hint", "play", "discard"]


class JudgedTurn(msgspec.Struct, frozen=True):
    """An assessment of one move; fields that do not apply to this kind of move are False."""

    turn: int
    state_before: State
    action: int
    kind: Kind
    sure: bool  # some card of its own was certainly playable
    scored: bool = False  # a play that went onto a pile
    certain: bool = False  # a play that could not fail, as the mover could know
    hopeless: bool = False  # a play that could not succeed, as the mover could know
    dead: bool = False  # a discard of a card that can never be played any more
    last_copy: bool = False  # a discard of the last copy of a card that could still be played
    touches_playable: bool = False  # a hint at a card that can be played now, perhaps among others
    only_playable: bool = False  # a hint at such cards only
    nothing_new: bool = False  # a hint that rules nothing out

    @property
    def idle(self) -> bool:
        """Whether a card was certainly playable but the mover did not play."""
        return self.sure and self.kind != "play"


def judge_turns(played: Played, seat: Seat) -> Iterator[JudgedTurn]:
    """Yield an assessment of every move of a seat; forfeited turns are left out."""
    game = played.replay.rules(Hanabi)
    for step in played.replay.steps():
        if seat in step.moves:
            yield judge(game, step.turn, step.before, step.moves[seat])


def judge(game: Hanabi, turn: int, state: State, action: int) -> JudgedTurn:
    """Return the assessment of one move made in a state."""
    me = state.mover
    hand = Hidden(game, state.marks[me], unseen(game, state, me))
    playable = set(game.next_cards(state))
    sure = any(hand.cards(slot) <= playable for slot in range(len(state.hands[me])))
    if action >= 2 * game.hand_size:
        ahead, value = game.hint_of(action)
        to = (me + ahead) % game.players
        touched = [card for card in state.hands[to] if game.bits[card] >> value & 1]
        fits = [game.is_next(state, card) for card in touched]
        state_after = game.step(state, {game.seats[me]: action})
        return JudgedTurn(
            turn,
            state,
            action,
            "hint",
            sure,
            touches_playable=any(fits),
            only_playable=all(fits),
            nothing_new=state_after.marks == state.marks,
        )
    slot = action % game.hand_size
    card = state.hands[me][slot]
    if action >= game.hand_size:
        scored, cards = game.is_next(state, card), hand.cards(slot)
        certain, hopeless = cards <= playable, not cards & playable
        return JudgedTurn(turn, state, action, "play", sure, scored, certain, hopeless)
    dead = game.is_useless(state, card)
    copies_left = game.copies_of[card % game.ranks] - state.gone[card]
    last = not dead and copies_left == 1
    return JudgedTurn(turn, state, action, "discard", sure, dead=dead, last_copy=last)
