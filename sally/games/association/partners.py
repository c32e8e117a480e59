"""Shared parts of the word games' partners: minds that change during an episode, and partners for
one seat."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any

import msgspec
import numpy as np
import numpy.typing as npt

from sally.core.errors import BadInput
from sally.core.match.partner import Answerer, Partner, Script, must_sit
from sally.core.rules.game import Seat
from sally.core.rules.probe import ProbeReport
from sally.games.association.minds import Mind, T, read_declared

Floats = npt.NDArray[np.float64]
OURS = "ours, for appendix A of riemer2025"
GRID = (
    Mind(),
    Mind("form", 0.25),
    Mind("form", 0.5),
    Mind("cosine"),
)  # minds that a learner considers
HEAT = 0.3  # temperature: the smaller, the more an unlikely answer counts against a mind
LEAST = -10.0  # lower bound of the log-odds of a single answer


def declared_at(kind: type[T], params: Mapping[str, Any], number: int) -> T:
    """Return the value of a class, such as `Mind`, that a partner's parameters declare for round
    `number`.

    Raises: BadInput if the parameters are invalid for the class.
    """
    until = int(params.get("until", 0))
    return (
        read_declared(kind, params)
        if not until or number < until
        else _read_later_value(kind, params)
    )


def _read_later_value(kind: type[T], params: Mapping[str, Any]) -> T:
    """Return the value that replaces the first one after `until` rounds."""
    later_params = {name: value for name, value in params.items() if name.startswith("then_")}
    return read_declared(
        kind, {name.removeprefix("then_"): value for name, value in later_params.items()}
    )


def _read_whole(params: Mapping[str, Any], name: str, default: int) -> int:
    """Return a parameter that is a whole number, 0 or more; raise BadInput if it is not."""
    value = params.get(name, default)
    try:
        number: int = msgspec.convert(value, Annotated[int, msgspec.Meta(ge=0)], strict=False)
    except msgspec.ValidationError:
        raise BadInput(f"{name} must be a whole number, 0 or more, not {value!r}") from None
    return number


def declaring(
    name: str,
    about: str,
    kind: type[T],
    round_of: Callable[[Any], int],
    act: Callable[..., Any],
    answer: Callable[[Any, T], ProbeReport],
    **further_params: int,
) -> Partner:
    """Return a partner whose parameters declare a value of a class, such as its mind, and another
    value that replaces it, unannounced, after `until` rounds.

    `round_of` returns the number of the round from a view; `act` and `answer` get the turn and the
    value for its round, and `act` also the whole numbers `further_params`, given here with their
    defaults.
    """
    own_defaults = msgspec.structs.asdict(kind())
    later_defaults = {f"then_{field}": default for field, default in own_defaults.items()}

    def make(game: Any, seat: Seat, **params: Any) -> Script:
        further_values = {
            field: _read_whole(params, field, default) for field, default in further_params.items()
        }
        _read_whole(params, "until", 0)
        read_declared(kind, params)
        _read_later_value(kind, params)  # checked even if `until` is 0
        return lambda turn: act(
            turn, declared_at(kind, params, round_of(turn.view)), **further_values
        )

    def answers(game: Any, seat: Seat, **params: Any) -> Answerer:
        return lambda turn: answer(turn, declared_at(kind, params, round_of(turn.view)))

    params = {**own_defaults, **further_params, "until": 0, **later_defaults}
    return Partner(name, about, OURS, make, params=params, answers=answers)


def for_seat(
    name: str, about: str, fits: Seat, act: Script, answers: Answerer | None = None
) -> Partner:
    """Return a partner without parameters that can play only in the seat `fits`."""

    def make(game: Any, seat: Seat) -> Script:
        must_sit(seat, name, fits)
        return act

    return Partner(name, about, OURS, make, answers=answers and (lambda game, seat: answers))


def likeliest(odds: Floats) -> Mind:
    """Return the most probable mind in `GRID`; the first of them, which associates by meaning
    alone, in a tie."""
    return GRID[int(np.argmax(odds))]


def shares(weights: Floats) -> Floats:
    """Return probabilities that sum to 1 from unnormalised log weights."""
    odds = np.exp(weights - weights.max())
    probabilities: Floats = odds / odds.sum()
    return probabilities


def log_share(strength: npt.NDArray[np.float32], index: int) -> float:
    """Return the log probability of saying the word at index `index`, given the strength of each
    word."""
    heat = strength / HEAT
    heat = heat - heat.max()
    return max(float(heat[index] - np.log(np.exp(heat).sum())), LEAST)
