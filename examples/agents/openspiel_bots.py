"""OpenSpiel: Sally's partners as OpenSpiel bots, and OpenSpiel bots as players in Sally.

    bots = [pyspiel.make_roshambo_bot(0, "greenberg"), PartnerBot(game, 1, "tit_for_tat")]
    sally.play("rps", {"agent": BotPlayer(roshambo("copybot")), "partner": "tit_for_tat"})

Both play repeated matrix games; player 0 chooses the row and has the seat `agent` in Sally.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

import pyspiel
from mirrored_seat import SEATS, MirroredSeat

from sally.core.errors import BadInput, unknown
from sally.core.match.player import Decision, Turn
from sally.core.match.seat_context import SeatContext
from sally.core.registry.objects import PlayerLike
from sally.games.repeated_games.rules import RepeatedGame

FEWEST_THROWS = 1000  # `greenberg` corrupts memory if it is made for fewer (OpenSpiel 2.0.2)
MakeBot = Callable[[Any, int], Any]  # (an OpenSpiel game, the player's number) -> a bot


def params_of(game: Any) -> dict[str, Any]:
    """Return the parameters of `repeated_games` for a repeated or single matrix game of OpenSpiel.

    Raises:
        BadInput: The game is not a matrix game of two players, repeated or not.
    """
    kind, start = game.get_type(), game.new_initial_state()
    repeated = kind.short_name == "repeated_game"
    if game.num_players() != 2 or not (repeated or isinstance(game, pyspiel.MatrixGame)):
        raise BadInput(f"{game} is not a matrix game of two players, repeated or not.")
    rows, columns = (range(len(start.legal_actions(player))) for player in (0, 1))

    def cell(row: int, column: int) -> tuple[float, float]:
        end = start.clone()
        end.apply_actions([row, column])
        first, second = end.returns()
        return first, second

    matrix = tuple(tuple(cell(row, column) for column in columns) for row in rows)
    return {"matrix": matrix, "rounds": game.max_game_length() if repeated else 1}


def game_of(rules: RepeatedGame) -> Any:
    """Return a repeated game of Sally as an OpenSpiel game."""
    if rules.stop_chance:
        raise BadInput("A game that may stop after any round has no counterpart in OpenSpiel.")
    first, second = ([[cell[n] for cell in row] for row in rules.matrix] for n in (0, 1))
    names = [list(rules.names_of(seat)) for seat in SEATS]
    stage = pyspiel.create_matrix_game("sally", "Sally", names[0], names[1], first, second)
    return pyspiel.create_repeated_game(stage, {"num_repetitions": rules.rounds})


class PartnerBot(pyspiel.Bot):  # type: ignore[misc]
    """A player or partner from Sally as a bot in a repeated game of OpenSpiel."""

    def __init__(self, game: Any, player_id: int, player: PlayerLike, seed: int = 1) -> None:
        pyspiel.Bot.__init__(self)
        self._id = player_id
        self._seat = MirroredSeat(params_of(game), SEATS[player_id], player, seed)

    def restart_at(self, state: Any) -> None:
        """Do nothing, because `step` reads all rounds from the state."""

    def step(self, state: Any) -> int:
        """Return the bot's action after the rounds in this state's history."""
        actions = state.history()
        own_moves, other_moves = actions[self._id :: 2], actions[1 - self._id :: 2]
        return self._seat.move(list(zip(own_moves, other_moves, strict=True)))


class BotPlayer:
    """An OpenSpiel bot as a player of Sally's repeated games.

    Each match has its own bot, which is asked once in every round. The bot does not learn of a void
    round, and its move is repeated in the next round. Some bots use their own random generator, so
    Sally's seed does not determine their moves.
    """

    def __init__(self, make: MakeBot) -> None:
        self._make = make
        self._playing: WeakKeyDictionary[SeatContext, tuple[Any, Any, list[int]]]
        self._playing = WeakKeyDictionary()

    def decide(self, turn: Turn[int, Any]) -> Decision[int]:
        """Return the bot's move."""
        rules = turn.context.game
        if not isinstance(rules, RepeatedGame):
            raise BadInput(f"Bots of OpenSpiel play repeated games, not {turn.context.spec.name}.")
        player = SEATS.index(turn.seat)
        if turn.context not in self._playing:
            game = game_of(rules)
            self._playing[turn.context] = self._make(game, player), game.new_initial_state(), []
        bot, state, moves = self._playing[turn.context]
        played = turn.view.played()
        while len(moves) <= len(played):
            if moves:
                own_move, other_move = played[len(moves) - 1]
                state.apply_actions(
                    [own_move, other_move] if player == 0 else [other_move, own_move]
                )
            moves.append(int(bot.step(state)))
        return Decision(moves[-1])


def roshambo(name: str) -> MakeBot:
    """Return a function that creates one of OpenSpiel's bots for Rock, Paper, Scissors, such as
    `greenberg`.

    Raises:
        BadInput: There is no such bot.
    """
    if name not in pyspiel.roshambo_bot_names():
        raise unknown("OpenSpiel bot", name, pyspiel.roshambo_bot_names())

    def make(game: Any, player: int) -> Any:
        return pyspiel.make_roshambo_bot(player, name, max(FEWEST_THROWS, game.max_game_length()))

    return make
