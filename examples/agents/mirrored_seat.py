"""One seat of a repeated game that another program referees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sally.adapters.rl.table import OUTSIDE, opponents
from sally.core.errors import BadInput, RunFailed
from sally.core.log.events import Instance, PlayerSpec, Setup
from sally.core.match.answers import as_answer
from sally.core.match.drive import Driver
from sally.core.match.engine import Match
from sally.core.match.player import Decision
from sally.core.registry import registry
from sally.core.registry.objects import ObjectNames, PlayerLike
from sally.core.rules.game import Seat
from sally.games.repeated_games.rules import AGENT, PARTNER, Joint, other_seat
from sally.runner.local import is_bot
from sally.runner.seating import seat_player

SEATS = (AGENT, PARTNER)  # by the number of a player in programs that number them: row, column


class MirroredSeat:
    """A player from Sally whose game is run by another program.

    Every round of that game is repeated in a match in Sally, in which the player is asked for its
    move.

    Args:
        params: parameters of `repeated_games`, such as `matrix` and `rounds`.
        seat: the player's seat; the agent chooses the row of the matrix.
        player: a player or partner, given as in `sally.play`.
        seed: seed of the player's own randomness.

    >>> seat = MirroredSeat({"rounds": 3}, PARTNER, "tit_for_tat")
    >>> seat.move([]), seat.move([(0, 1)])
    (0, 1)
    """

    def __init__(
        self, params: Mapping[str, Any], seat: Seat, player: PlayerLike, seed: int = 1
    ) -> None:
        spec = registry.game("repeated_games")
        self._seat, self._other = seat, other_seat(seat)
        names = ObjectNames()
        own_lineup = names.lineup(opponents(spec, {str(seat): player}))
        lineup = own_lineup | {str(self._other): PlayerSpec(OUTSIDE)}
        instance = Instance(spec.name, spec.name, dict(params))
        self._setup = Setup(instance, seed, lineup, version=spec.version)
        self._first: Match[Any, int, Any] = Match(spec, self._setup)
        with names.bound():
            self._player = seat_player(spec, self._first.game, seat, lineup[str(seat)])
        self._start()

    def move(self, rounds: Sequence[Joint]) -> int:
        """Return the player's move after these rounds, each given as (its own move, the other's).

        Raises:
            BadInput: the game is over after these rounds, or a move is not in the matrix.
            RunFailed: the player gave no move.
        """
        if list(rounds[: len(self._fed)]) != self._fed:
            self._start()
        for joint in rounds[len(self._fed) :]:
            self._feed(joint)
        return self._decide().action

    def _start(self) -> None:
        self._match = Match(self._first.spec, self._setup, like=self._first)
        self._fed: list[Joint] = []
        self._decision: Decision[int] | None = None

    def _feed(self, joint: Joint) -> None:
        if self._decision is None and is_bot(self._player):
            self._decide()  # a bot keeps its memory in its decisions
        memory = None if self._decision is None else self._decision.memory
        number = self._match.turn
        self._match.answer((number, self._seat, "", ""), Decision(joint[0], memory))
        self._match.answer((number, self._other, "", ""), Decision(joint[1]))
        self._fed.append(joint)
        self._decision = None

    def _decide(self) -> Decision[int]:
        """Return the player's decision in this round, which is made in a copy of the match."""
        if self._decision is None:
            turn = self._match.ask_for(self._seat)
            if turn is None:
                raise BadInput(f"The game is over after {len(self._fed)} rounds.")
            answers: list[Any] = []
            copy, player = self._match.copy(), {str(self._seat): self._player}
            Driver(copy, player, on_answer=lambda turn, answer: answers.append(answer)).run()
            answer = as_answer(turn, answers[0])
            if not isinstance(answer, Decision):
                raise RunFailed(f"The player in seat {self._seat!r} gave no move: {answer}.")
            self._decision = answer
        return self._decision
