"""A two-player game of TextArena as a game of Sally.

TextArena keeps the rules: it shows the texts, reads the moves and names the winner. A state is the
deal and the texts sent so far, so that an episode replays from its log. Nature draws the deal, from
which all randomness of the game follows; episodes with the same seed have the same deal, whoever
plays.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from sally.adapters.textarena.environment import (
    Message,
    Position,
    check_name,
    position_after,
    release,
)
from sally.adapters.textarena.partners import PARTNERS as PARTNERS
from sally.adapters.textarena.submission import LONGEST, SEATS, Submission, View
from sally.core.errors import BadInput
from sally.core.rules.game import NATURE, Game, Seat
from sally.core.rules.menu import Form, Options, Text

Action = int | Submission
NOT_LISTED = ("I do not know which moves are legal.",)  # what a random player sends then


class State(msgspec.Struct, frozen=True):
    """The deal, the texts that were sent, and what TextArena makes of them."""

    deal: int | None = None
    texts: tuple[str, ...] = ()
    senders: tuple[Seat, ...] = ()  # of the texts
    position: Position = Position(0, ())
    forfeited: tuple[Seat, ...] = ()  # seats whose forfeit ended the game


@dataclass(frozen=True)
class TextArenaGame(Game[State, Action, View]):
    """The game `env` of TextArena, with one of `deals` deals."""

    env: str
    textarena: str = ""  # version that episodes are played with; "": the installed one
    deals: int = 1000

    seats = SEATS
    helpers = (NATURE,)

    def __post_init__(self) -> None:
        if self.deals < 1:
            raise BadInput(f"deals must be at least 1, not {self.deals}")

    def start(self) -> State:
        check_name(self.env)
        if self.textarena and self.textarena != release():
            raise BadInput(
                f"These episodes of {self.env} are of TextArena {self.textarena}; the installed "
                f"version is {release()}."
            )
        return State()

    def to_move(self, state: State) -> tuple[Seat, ...]:
        if state.deal is None:
            return (NATURE,)
        if state.forfeited or state.position.rewards is not None:
            return ()
        return (SEATS[state.position.mover],)

    def odds(self, state: State) -> Mapping[Action, float]:
        return dict.fromkeys(range(self.deals), 1 / self.deals)

    def options(self, state: State, seat: Seat) -> Options[Action]:
        if seat == NATURE:
            return tuple(range(self.deals))
        samples = state.position.moves or NOT_LISTED
        return (Form(Submission, (("text", Text(LONGEST, samples=samples)),)),)

    def step(self, state: State, moves: Mapping[Seat, Action]) -> State:
        (move,) = moves.values()
        if isinstance(move, int):
            return State(move, position=position_after(self.env, move, ()))
        assert state.deal is not None
        texts, senders = (*state.texts, move.text), (*state.senders, *moves)
        return State(state.deal, texts, senders, position_after(self.env, state.deal, texts))

    def forfeit(
        self, state: State, moves: Mapping[Seat, Action], forfeited: tuple[Seat, ...]
    ) -> State:
        """End the game: the seat that sent no legal move loses, as in TextArena."""
        return msgspec.structs.replace(state, forfeited=forfeited)

    def rejections(self, state: State, seat: Seat) -> int:
        is_mover = bool(state.position.messages) and seat == SEATS[state.position.mover]
        return state.position.rejections if is_mover else 0

    def begins_turn(self, state: State) -> bool:
        return state.deal is not None and not state.position.rejections

    def observe(self, state: State, seat: Seat) -> View:
        messages: tuple[Message, ...] = ()
        if state.position.messages:
            messages = state.position.messages[SEATS.index(seat)]
        pairs = zip(state.senders, state.texts, strict=True)
        sent = tuple(text for sender, text in pairs if sender == seat)
        return View(seat, messages, sent, not self.to_move(state), state.forfeited)

    def payoffs(self, state: State) -> Mapping[Seat, float]:
        """Return TextArena's rewards: 1 for the winner, -1 for the loser, 0 for a draw."""
        if state.forfeited:
            return {seat: -1.0 if seat in state.forfeited else 1.0 for seat in SEATS}
        return dict(zip(SEATS, state.position.rewards or (0.0, 0.0), strict=True))
