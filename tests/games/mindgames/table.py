"""Setting a MindGames table for tests: who persuades, what is said, and what came of it."""

from __future__ import annotations

from typing import Any

from sally.core.log.events import Episode, Instance, PlayerSpec, Setup
from sally.core.match.drive import Driver
from sally.core.match.engine import Match
from sally.core.match.playback import replay_episode
from sally.core.match.player import Decision
from sally.core.match.seat_context import SeatContext
from sally.core.rules.metric import Played
from sally.games.mindgames import GAME
from sally.games.mindgames.claims import Asked, Claims, Disclosure, claims
from sally.games.mindgames.puzzles import Puzzle
from sally.games.mindgames.rules import PERSUADER, READER, TARGET, MindGame, Say
from sally.runner.seating import players_of, resolve_setup

# Goal A, trap B, initial C. The target dislikes x, likes y and does not care for z. At first A and
# B are worth nothing to it and C one; A's y brings A level, C's y then takes C's lead away.
PUZZLE = Puzzle(
    utilities=((1, 1, 0), (-1, 0, 0), (-1, -1, -1)),
    hidden=((0, 0), (0, 1), (1, 0), (2, 1)),
    target_values=(-1, 1, 0),
    persuader_values=(1, 1, 1),
    goal=0,
    trap=1,
    initial=2,
    winning=((0, 1), (2, 1)),
)
X, Y, Z = "safety and control", "development speed", "public trust"
NOTHING = Claims()
EVERYTHING = claims((), (X, Y, Z), [Asked(p, a) for p in "ABC" for a in (X, Y, Z)], ("A", "B", "C"))


def setup(persuader: str = "hidden", seed: int = 1, retries: int = 2, **params: Any) -> Setup:
    """A table with a persuader by name."""
    problem = Instance("test", "mindgames", params)
    return resolve_setup(
        Setup(problem, seed, {"persuader": PlayerSpec(persuader)}, retries=retries)
    )


def played(persuader: str, seed: int = 1, **params: Any) -> Episode:
    """A game of scripted players."""
    match: Match = Match(GAME, setup(persuader, seed, **params))
    Driver(match, players_of(match)).run()
    return match.episode()


def laid_open(episode: Episode) -> Played:
    return Played(GAME, episode, replay_episode(GAME, episode))


class Talk:
    """A match in which the test speaks for the persuader and, if it likes, for the reader."""

    def __init__(self, retries: int = 2, **params: Any) -> None:
        self.match: Match = Match(GAME, setup("silent", retries=retries, **params))
        self.helpers = players_of(self.match)

    @property
    def game(self) -> MindGame:
        assert isinstance(self.match.game, MindGame)
        return self.match.game

    def say(self, text: str, found_claims: Claims | None = None) -> Talk:
        """A message; read as `found_claims`, or by the rules reader."""
        self._move(PERSUADER, Say(text))
        if self._to_move() == READER:
            turn = self.match.asks()[0]
            read = (
                self.helpers["reader"].decide(turn).action if found_claims is None else found_claims
            )  # type: ignore[union-attr]
            self._move(READER, read)
        if self._to_move() == TARGET:
            self._move(TARGET, self.match.asks()[0].options[0])
        return self

    def tell(self, *cells: tuple[str, str, int]) -> Talk:
        return self.say("(told)", claims(Disclosure(*cell) for cell in cells))

    def _move(self, seat: str, action: Any) -> None:
        self.match.answer((self.match.turn, seat, "", ""), Decision(action))

    def _to_move(self) -> str:
        movers = self.game.to_move(self.match.state)
        return str(movers[0]) if movers else ""

    @property
    def choice(self) -> str:
        """What the target would choose now."""
        return "ABC"[self.match.state.story[-1].chosen]

    def page(self, seat: Any = PERSUADER) -> str:
        """All that a seat can read now."""
        view = self.game.observe(self.match.state, seat)
        context = SeatContext(GAME, self.game, seat, 1)
        return f"{context.opening(view, 'agent_first')}{context.words.now(view)}"

    @property
    def reply(self) -> str:
        """The last line of the persuader's page: the target's answer."""
        view = self.game.observe(self.match.state, PERSUADER)
        lines = list(SeatContext(GAME, self.game, PERSUADER, 1).words.lines(view, 0, "agent_first"))
        return lines[-1].partition(": ")[2]


def run(match: Match, players: Any) -> Episode:
    """A match with players that answer in their own time."""
    Driver(match, players).run()
    return match.episode()
