"""Observation and action spaces, shared by PettingZoo and Gymnasium."""

from __future__ import annotations

import string
from functools import lru_cache
from typing import Any

import numpy as np
from gymnasium import spaces

from sally.adapters.rl.table import Table
from sally.core.errors import BadInput
from sally.core.log.events import Ended
from sally.core.match.player import Turn
from sally.core.rules.chance import derived_seed
from sally.core.rules.game import Game, GameSpec, Seat
from sally.core.rules.menu import menu_schema
from sally.output.files.transcript import transcript

PAGE_BYTES = 16_384  # size of a prompt, for games without numeric observations
TEXT_LIMIT = 2000  # maximum characters of a form filled in as JSON


def action_space(game: Game) -> spaces.Space[Any]:
    """Return the action space: option numbers, or JSON text if moves have free fields (forms)."""
    widest = game.widest_menu()
    if widest is None:
        return spaces.Text(TEXT_LIMIT, charset=string.printable)
    return spaces.Discrete(widest)


def observation_space(
    spec: GameSpec,
    game: Game,
    seat: Seat,
    page_bytes: int = PAGE_BYTES,
) -> Any:
    """Return the observation space: a vector of numbers if the game defines one, else the prompt as
    bytes."""
    if spec.learners.numbers is not None:
        size = len(spec.learners.numbers(game, game.observe(game.start(), seat)))
        view_space: spaces.Space[Any] = spaces.Box(-np.inf, np.inf, (size,), np.float32)
    else:
        view_space = spaces.Box(0, 255, (page_bytes,), np.uint8)
    widest = game.widest_menu()
    if widest is None:
        return spaces.Dict({"observation": view_space})
    return spaces.Dict(
        {"observation": view_space, "action_mask": spaces.Box(0, 1, (widest,), np.int8)}
    )


def page(table: Table, seat: Seat) -> str:
    """Return the prompt of a seat: rules, history, situation and question."""
    match, turn, context = table.match, table.match.ask_for(seat), table.match.context(seat)
    view = match.game.observe(match.state, seat) if turn is None else turn.view
    words = context.words
    prompt = context.opening(view, words.forms[0]) + words.now(view)
    if turn is None:
        return prompt
    question = words.question(view, turn.options)
    return f"{prompt}\n{question}\n{words.format(view, turn.options)}"


def observation_of(table: Table, seat: Seat, page_bytes: int = PAGE_BYTES) -> dict[str, Any]:
    """Return the current observation of a seat."""
    turn = table.match.ask_for(seat)
    spec, match = table.spec, table.match
    game = match.game
    if spec.learners.numbers is not None:
        view = game.observe(match.state, seat) if turn is None else turn.view
        observation: Any = np.array(spec.learners.numbers(game, view), np.float32)
    else:
        page_text = page(table, seat).encode()
        if len(page_text) > page_bytes:
            raise BadInput(
                f"An observed text of {spec.name} has {len(page_text)} bytes, but page_bytes is "
                f"{page_bytes}; create the environment with a larger value."
            )
        observation = np.frombuffer(page_text.ljust(page_bytes, b"\0"), np.uint8)
    widest = game.widest_menu()
    if widest is None:
        return {"observation": observation}
    return {"observation": observation, "action_mask": mask(table, turn, widest)}


def mask(table: Table, turn: Turn | None, widest: int) -> Any:
    """Return a mask of the legal options; all 0 if the seat is not asked."""
    places = 0 if turn is None else len(turn.options)
    if places > widest:  # the width was estimated by sampling
        raise BadInput(
            f"{table.spec.name} has a menu of {places} options, but at most "
            f"{widest} were expected; let the game define widest_menu()."
        )
    return _places(places, widest).copy()


@lru_cache(maxsize=1024)
def _places(n: int, widest: int) -> Any:
    places = np.zeros(widest, np.int8)
    places[:n] = 1
    return places


def info(table: Table, seat: Seat, pages: bool = True) -> dict[str, Any]:
    """Return the legal actions (names and mask, or the schema of a form) and the prompt.

    Rendering the prompt takes about half of a step's time; `pages=False` omits it.
    """
    turn = table.match.ask_for(seat)
    if turn is None:
        return {}
    facts: dict[str, Any] = {"page": page(table, seat)} if pages else {}
    widest = table.match.game.widest_menu()
    if widest is None:
        return facts | {"schema": menu_schema(turn.options)}
    facts["names"] = list(turn.context.words.menu(turn.options))
    facts["action_mask"] = mask(table, turn, widest)
    return facts


def check_action(action: Any) -> int | str:
    """Return an action as the number of an option, or unchanged if it is a form as JSON text.

    Raises:
        BadInput: It is neither.
    """
    if isinstance(action, str):
        return action
    try:
        return int(action)
    except (TypeError, ValueError, OverflowError):
        raise BadInput(f"An action is the number of an option, not {action!r}.") from None


def render_text(table: Table) -> str:
    """Return the prompts of the learning seats or, after the end, the transcript."""
    if table.match.over:
        return "\n".join(transcript(table.match.episode()))
    return "\n\n".join(page(table, Seat(seat)) for seat in table.waiting())


class Seeds:
    """Seeds of resets: the seed given at a reset, or the next one derived from the last given
    seed."""

    def __init__(self) -> None:
        self._root: int = np.random.SeedSequence().entropy  # type: ignore[assignment]
        self._drawn = 0

    def next(self, seed: int | None) -> int:
        """Return the seed to use for this reset."""
        if seed is not None:
            self._root, self._drawn = seed, 0
            return seed
        self._drawn += 1
        return derived_seed(self._root, "reset", self._drawn)


class RewardTracker:
    """The rewards that seats have received since the last step."""

    def __init__(self, table: Table) -> None:
        self._table, self._had = table, dict.fromkeys(table.match.game.seats, 0.0)

    def take(self) -> dict[Seat, float]:
        """Return the reward of every seat since the last call."""
        game, match = self._table.match.game, self._table.match
        if not match.over and not game.pays_as_it_goes:
            return dict.fromkeys(game.seats, 0.0)
        had, paid = self._had, game.payoffs(match.state)
        gained: dict[Seat, float] = {}
        self._had = has = {}
        for seat in game.seats:
            has[seat] = float(paid[seat])
            gained[seat] = has[seat] - had[seat]
        return gained


def end_flags(table: Table) -> tuple[bool, bool]:
    """Return (terminated, truncated); a censored match is truncated."""
    match = table.match
    if not match.over:
        return False, False
    finished = isinstance(match.events[-1], Ended)
    return finished, not finished
