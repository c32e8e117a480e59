"""Players made from plain functions of a turn."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from inspect import iscoroutinefunction
from typing import Any

from msgspec.structs import replace

from sally.core.match.player import NoAnswer, Turn

LOG = logging.getLogger("sally.players")
Function = Callable[[Turn], Any]
SILENT = NoAnswer("this function answers no probes")


class FunctionPlayer:
    """A player whose moves are returned by a function, and whose reports by a second one.

    The function may also return a pair of a move and the answer to the probe. For a probe it is
    then called with the same turn as for the move, so it must not keep a state of its own.
    """

    def __init__(self, function: Function, report_function: Function | None = None) -> None:
        self.function, self.report_function = function, report_function
        self._has_warned = False

    @property
    def name(self) -> str:
        """The name of the function."""
        return function_name(self.function)

    def decide(self, turn: Turn) -> Any:
        """Return the move for a turn."""
        return _move(self.function(turn))

    def report(self, turn: Turn) -> Any:
        """Return the answer to a probe; a function without an answer warns once."""
        if self.report_function is not None:
            return as_report(turn, self.report_function(turn))
        if not turn.options:  # the seat does not move now, so there is no move to call it for
            return self._stay_silent(turn)
        return self._answer_of(turn, self.function(as_move(turn)))

    def _answer_of(self, turn: Turn, value: Any) -> Any:
        """Return the answer that a function states together with its move."""
        return as_report(turn, value[1]) if is_pair(value) else self._stay_silent(turn)

    def _stay_silent(self, turn: Turn) -> NoAnswer:
        assert turn.question is not None  # only a probe is answered
        if not self._has_warned:
            self._has_warned = True
            LOG.warning(
                "The function %s in seat %r does not answer the probe %r; return (move, answer), "
                "or give the seat two functions: (%s, report).",
                self.name,
                turn.seat,
                turn.question.probe,
                self.name,
            )
        return SILENT

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FunctionPlayer):
            return NotImplemented
        functions = (self.function, self.report_function)
        return functions == (other.function, other.report_function)

    def __hash__(self) -> int:
        return hash((self.function, self.report_function))


class AsyncFunctionPlayer(FunctionPlayer):
    """A player whose moves are returned by a coroutine function."""

    async def decide(self, turn: Turn) -> Any:
        """Return the move for a turn."""
        return _move(await _result(self.function, turn))

    async def report(self, turn: Turn) -> Any:
        """Return the answer to a probe; a function without an answer warns once."""
        if self.report_function is not None:
            return as_report(turn, await _result(self.report_function, turn))
        if not turn.options:
            return self._stay_silent(turn)
        return self._answer_of(turn, await _result(self.function, as_move(turn)))


async def _result(function: Function, turn: Turn) -> Any:
    return await function(turn) if is_asynchronous(function) else function(turn)


def function_player(function: Function, report_function: Function | None = None) -> FunctionPlayer:
    """Return the player made from a function or a coroutine function, and one for reports."""
    functions = (function,) if report_function is None else (function, report_function)
    kind = AsyncFunctionPlayer if any(map(is_asynchronous, functions)) else FunctionPlayer
    return kind(function, report_function)


def is_asynchronous(function: Function) -> bool:
    """Return whether a call of this function, or of this callable object, must be awaited."""
    return iscoroutinefunction(function) or iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004  # of an object, not of a function
    )


def function_name(function: Any) -> str:
    """Return the name of a function, or of the class of a callable object."""
    inner = getattr(function, "func", function)  # of a partial
    return str(getattr(inner, "__name__", type(inner).__name__))


def is_pair(value: Any) -> bool:
    """Return whether a function returned a move together with an answer; no action is a tuple."""
    return type(value) is tuple and len(value) == 2


def _move(value: Any) -> Any:
    return value[0] if is_pair(value) else value


def as_move(turn: Turn) -> Turn:
    """Return the ask for the move that belongs to a probe, with the random stream of the move."""
    return replace(turn, id=(turn.number, turn.seat, "", ""), question=None, pending=None)


def as_report(turn: Turn, value: Any) -> Any:
    """Return the answer to a probe that a function's value holds.

    A mapping from probes to values holds the answers to several probes; None is no answer.
    """
    assert turn.question is not None  # only a probe is answered
    if isinstance(value, Mapping) and turn.question.probe in value:
        value = value[turn.question.probe]
    return NoAnswer("the function returned no answer") if value is None else value
