"""Playing on without keeping asks: the same match as one that is asked and answered one by one."""

from __future__ import annotations

from typing import Any

import pytest

from sally.core import shelf
from sally.core.drive import let_answer, play_bots
from sally.core.log import Event, Instance, Setup, Sitter
from sally.core.match import Match
from sally.core.partner import Scripted
from sally.core.player import Decision, Fault, Forfeit, Turn, put

Answers = dict[int, Any]  # by turn, what the agent answers; else it moves as it did


def match(game: str = "ipd", **params: Any) -> Match[Any, Any, Any]:
    lineup = {"agent": Sitter("random"), "partner": Sitter("tit_for_tat")}
    return Match(shelf.game(game), Setup(Instance(game, game, {"rounds": 6, **params}), 3, lineup))


class Agent:
    """Answers as told, counts its turns in its memory, and notes what it was asked."""

    def __init__(self, answers: Answers) -> None:
        self.answers, self.asked = answers, list[tuple[Any, Any]]()

    def decide(self, turn: Turn[Any, Any]) -> Any:
        self.asked.append((turn.id, turn.memory))
        if isinstance(given := self.answers.get(turn.number), Exception):
            raise given
        return given or Decision(turn.number % 2, memory=(turn.memory or 0) + 1)


def copies(turn: Turn[Any, Any]) -> int:
    return 0 if turn.view.last is None else int(turn.view.last[1])


def one_by_one(game: Match[Any, Any, Any], agent: Agent) -> list[Event]:
    let_answer(game, {"agent": agent, "partner": Scripted(copies)}, says=lambda t: put(
        t, agent if t.seat == "agent" else Scripted(copies)))  # fmt: skip
    return game.events


def played_on(game: Match[Any, Any, Any], agent: Agent) -> list[Event]:
    play_bots(game, {"agent": agent, "partner": Scripted(copies)})
    return game.events


@pytest.mark.parametrize(
    "answers",
    [
        {},
        {2: Forfeit("unreadable")},
        {0: Decision(1, reply="F, of course", memory=7)},
        {1: Decision(True)},  # equal to an option, and not one
        {3: Fault("fault", "gone")},
        {2: Forfeit("unreadable"), 3: Forfeit("unreadable"), 4: Forfeit("unreadable")},
    ],
)
@pytest.mark.parametrize("params", [{}, {"stop_chance": 0.3, "rounds": 30}])
def test_the_events_are_those_of_asking_one_by_one(answers: Answers, params: dict[str, Any]):
    first, second = Agent(answers), Agent(answers)
    expected, found = match(**params), match(**params)
    assert played_on(found, second) == one_by_one(expected, first)
    assert second.asked == first.asked
    assert found.over and found.memory("agent") == expected.memory("agent")  # type: ignore[arg-type]
    assert found.episode() == expected.episode()


def test_a_player_that_breaks_down_leaves_the_match_where_it_was():
    game = match()
    with pytest.raises(ZeroDivisionError):
        played_on(game, Agent({2: ZeroDivisionError()}))
    assert game.turn == 2
    assert [turn.id for turn in game.asks()] == [(2, "agent", "", ""), (2, "partner", "", "")]


def test_somebody_elses_turn_is_left_to_them():
    game = match()
    let_answer(game, {"partner": Scripted(copies)})
    assert [turn.id for turn in game.asks()] == [(0, "agent", "", "")]
    assert not game.over


def test_an_illegal_move_of_a_script_is_refused_and_nothing_moves():
    game = match()
    with pytest.raises(Exception, match="not among the options"):
        play_bots(game, {"agent": Scripted(lambda turn: 9), "partner": Scripted(copies)})
    assert game.turn == 0 and len(game.asks()) == 2 and not game.events
