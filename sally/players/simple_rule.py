"""A player that moves by one of the simple rules, and answers probes by it."""

from __future__ import annotations

from typing import Any

import msgspec

from sally.core.errors import BadInput, unknown
from sally.core.match.partner import by_name
from sally.core.match.player import Decision, NoAnswer, PlayerKind, Turn
from sally.core.rules.game import Game, GameSpec, Seat
from sally.core.rules.probe import ProbeReport
from sally.parts.simple_rules import LAST, MOVES, PLAYER, RULES, WIN_STAY, PastRounds, move_after
from sally.players.mindless import question_of, ready, report_choice


class SimpleRule(msgspec.Struct, frozen=True):
    """A player that expects what a simple rule says, and makes that move or the best reply to it.

    Before the first round it makes the move at the place `first` of the menu; answers for which the
    rule has seen too little are drawn.
    """

    rule: str
    reply: bool = False
    first: int = 0

    def decide(self, turn: Turn) -> Decision[Any]:
        menu = ready(turn, PLAYER)
        moves = self._moves(turn, PastRounds(turn.view.played()), menu)
        return Decision(turn.draws.pick([move for move in menu if move in moves] or menu))

    def report(self, turn: Turn) -> ProbeReport | NoAnswer:
        question = question_of(turn)
        if question.kind == "values":
            return NoAnswer("a simple rule expects a move, not values")
        expected = PastRounds(turn.view.played()).expect(self.rule)
        choices = question.choices
        return report_choice(
            question, expected if expected in choices else turn.draws.pick(choices)
        )

    def _moves(self, turn: Turn, past: PastRounds, menu: tuple[Any, ...]) -> tuple[Any, ...]:
        move = move_after(
            past, self.rule, menu, lambda other_move: self._replies(turn, other_move, menu)
        )
        if move is None:
            return (menu[self.first % len(menu)],)
        is_replied_to = self.reply and self.rule != WIN_STAY
        return self._replies(turn, move, menu) if is_replied_to else (move,)

    def _replies(self, turn: Turn, their_move: Any, menu: tuple[Any, ...]) -> tuple[Any, ...]:
        context = turn.context
        (other_seat,) = (seat for seat in context.game.seats if seat != turn.seat)
        belief = {str(other_seat): their_move}
        return tuple(
            move
            for move in menu
            if context.spec.is_best_reply(context.game, turn.view, belief, move)
        )


def _simple_rule(
    spec: GameSpec,
    game: Game,
    seat: Seat,
    rule: str = LAST,
    reply: bool = False,
    first: int = 0,
) -> SimpleRule:
    if rule not in RULES and rule not in MOVES:
        raise unknown("simple rule", rule, {**RULES, **MOVES})
    if type(reply) is not bool:
        raise BadInput(f"reply must be true or false, not {reply!r}")
    if type(first) is not int:
        raise BadInput(f"first must be a whole number, not {first!r}")
    if len(game.seats) != 2 or not hasattr(game.observe(game.start(), seat), "played"):
        raise BadInput(
            f"`{PLAYER}` needs a game of repeated rounds between two players who choose from the "
            f"same kind of moves; {spec.name} is not one"
        )
    return SimpleRule(rule, reply, first)


PLAYERS = by_name(
    PlayerKind(
        PLAYER,
        "the move that a simple rule (`rule`) expects of the other, or the best reply to it "
        "(`reply`); its first move is at the place `first` of the menu",
        _simple_rule,
        {"rule": LAST, "reply": False, "first": 0},
    )
)
