"""TextArena's environments as functions: from a deal and the texts sent so far to a position.

An environment changes with every step and draws from Python's global random numbers. Here each has
random numbers of its own, so that the same deal and texts always lead to the same position, and
nothing else in the process is affected.
"""

from __future__ import annotations

import random
from collections import OrderedDict
from threading import RLock
from typing import Any

import msgspec

from sally.adapters.textarena.moves import listed_moves
from sally.core.errors import BadInput, install_command, unknown

PLAYERS = 2
KEPT = 256  # environments in use; another position is reached by sending its texts again
UNLIMITED = 10**9  # errors that TextArena allows: the bound is the study's number of retries

_environments: OrderedDict[tuple[str, int, tuple[str, ...]], _Environment] = OrderedDict()
_lock = RLock()  # Python's global random numbers are shared by all threads


class Message(msgspec.Struct, frozen=True):
    """A text that the game shows to a player, with the sender's name."""

    sender: str
    text: str


class Position(msgspec.Struct, frozen=True):
    """What is known after a number of texts: who moves, what each player has read, the result."""

    mover: int
    messages: tuple[tuple[Message, ...], ...]  # by player, in order
    moves: tuple[str, ...] = ()  # legal moves of the mover, if the game lists them
    needs_move: bool = False  # whether a text without one of `moves` is refused
    rejections: int = 0  # texts in a row that the game refused
    rewards: tuple[float, ...] | None = None  # by player, at the end


def textarena() -> Any:
    """Return the package; raises BadInput if it is not installed."""
    try:
        import textarena
    except ImportError as error:
        raise BadInput(
            f"TextArena is not installed ({error.name}); `{install_command('textarena')}` "
            "installs it."
        ) from None
    return textarena


def release() -> str:
    """Return the version of the installed TextArena."""
    return str(textarena().__version__)


def check_name(name: str) -> None:
    """Raise BadInput unless the installed TextArena has an environment of this name."""
    registered = textarena().envs.registration.ENV_REGISTRY
    if name not in registered:
        raise unknown("environment of TextArena", name, registered)


def position_after(name: str, deal: int, texts: tuple[str, ...]) -> Position:
    """Return the position of an environment after texts; `deal` is its random seed."""
    with _lock:
        environment = _environments.pop((name, deal, texts), None)
        if environment is None and texts:
            environment = _environments.pop((name, deal, texts[:-1]), None)
            if environment is not None:
                environment.send(texts[-1])
        if environment is None:
            environment = _Environment(name, deal)
            for text in texts:
                environment.send(text)
        _environments[name, deal, texts] = environment
        while len(_environments) > KEPT:
            _environments.popitem(last=False)
        return environment.position


class _Environment:
    """A running environment of TextArena, with its own random numbers."""

    def __init__(self, name: str, deal: int) -> None:
        self._random = random.Random(deal).getstate()
        self._messages: tuple[tuple[Message, ...], ...] = ((),) * PLAYERS
        self._rejections, self._is_over = 0, False
        self._env = _make(name)
        self._in_own_random(lambda: self._env.reset(num_players=PLAYERS, seed=deal))
        if not isinstance(self._env.state, textarena().TwoPlayerState):
            raise BadInput(f"{name} is not a game for two players.")
        self._env.state.error_allowance = UNLIMITED
        self.position = self._read_position()

    def send(self, text: str) -> None:
        """Send the mover's text to the game."""
        position = self.position
        if position.needs_move and not _names_a_move(text, position.moves):
            self._refuse(position.mover, position.moves)
        else:
            self._is_over = bool(self._in_own_random(lambda: self._env.step(action=text))[0])
            is_refused = self._env.state.error_count > 0
            self._rejections = position.rejections + 1 if is_refused else 0
        self.position = self._read_position()

    def _refuse(self, mover: int, moves: tuple[str, ...]) -> None:
        """Refuse a text that the game would silently take for a move."""
        problem = f"The text names none of {', '.join(moves)}."
        self._messages = _append_messages(self._messages, mover, (Message("GAME", problem),))
        self._rejections += 1

    def _read_position(self) -> Position:
        state = self._env.state
        mover = int(state.current_player_id)
        for player in range(PLAYERS):
            self._messages = _append_messages(self._messages, player, self._unread_messages(player))
        if self._is_over:
            rewards = tuple(float(state.rewards[player]) for player in range(PLAYERS))
            return Position(mover, self._messages, rewards=rewards)
        moves, needs_move = self._in_own_random(lambda: listed_moves(_innermost(self._env)))
        return Position(mover, self._messages, moves, needs_move, self._rejections)

    def _unread_messages(self, player: int) -> tuple[Message, ...]:
        state = self._env.state
        if player == state.current_player_id:
            _, unread = self._in_own_random(_innermost(self._env).get_observation)
        else:
            unread, state.observations[player] = state.observations[player], []
        return tuple(
            Message(str(state.role_mapping.get(sender, f"Player {sender}")), str(text))
            for sender, text, _ in unread
        )

    def _in_own_random(self, call: Any) -> Any:
        """Return the result of a call that draws from this environment's random numbers."""
        outside = random.getstate()
        random.setstate(self._random)
        try:
            return call()
        finally:
            self._random = random.getstate()
            random.setstate(outside)


def _make(name: str) -> Any:
    check_name(name)
    try:
        return textarena().make(name)
    except (ImportError, SyntaxError, TypeError) as error:
        # some environments need a newer Python, another package or an argument
        raise BadInput(f"TextArena cannot make {name}: {error}.") from error


def _innermost(env: Any) -> Any:
    """Return an environment without its wrappers."""
    while isinstance(env, textarena().Wrapper):
        env = env.env
    return env


def _append_messages(
    messages: tuple[tuple[Message, ...], ...], player: int, new: tuple[Message, ...]
) -> tuple[tuple[Message, ...], ...]:
    return tuple(old + new if n == player else old for n, old in enumerate(messages))


def _names_a_move(text: str, moves: tuple[str, ...]) -> bool:
    return any(move.casefold() in text.casefold() for move in moves)
