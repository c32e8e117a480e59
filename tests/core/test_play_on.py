"""Playing on without keeping asks: the same match as one that is asked and answered one by one."""

from __future__ import annotations

from typing import Any

import pytest

from sally.core.errors import IllegalMove
from sally.core.log.events import Event, Instance, Moved, PlayerSpec, Reported, Setup
from sally.core.match.drive import let_answer, play_bots
from sally.core.match.engine import Match
from sally.core.match.playback import mismatch
from sally.core.match.player import Decision, Fault, Forfeit, Silence, Turn, put
from sally.core.registry import registry
from sally.core.rules.awareness import EVERYWHERE
from sally.core.rules.partner import Scripted
from sally.core.rules.probe import Foreseen, Injection, Report
from sally.runner.seating import players_of

Answers = dict[int, Any]  # by turn, what the agent answers; else it moves as it did


def match(game: str = "ipd", **params: Any) -> Match[Any, Any, Any]:
    lineup = {"agent": PlayerSpec("random"), "partner": PlayerSpec("tit_for_tat")}
    return Match(
        registry.game(game), Setup(Instance(game, game, {"rounds": 6, **params}), 3, lineup)
    )


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


# --- two scripts ----------------------------------------------------------------------------------


def tells(answers: Answers) -> Any:
    """A script that answers as told, and else alternates."""

    def script(turn: Turn[Any, Any]) -> Any:
        if isinstance(given := answers.get(turn.number), Exception):
            raise given
        return turn.number % 2 if given is None else given

    return Scripted(script)


@pytest.mark.parametrize("params", [{}, {"stop_chance": 0.02, "rounds": 12}])
@pytest.mark.parametrize("swapped", [False, True])
def test_two_scripts_play_what_they_play_one_by_one(swapped: bool, params: dict[str, Any]):
    pair = [tells({}), Scripted(copies)]
    agent, partner = reversed(pair) if swapped else pair
    players = {"agent": agent, "partner": partner}
    expected, found = match(**params), match(**params)
    let_answer(expected, players, says=lambda turn: put(turn, players[turn.seat]))
    play_bots(found, players)
    assert found.over and found.turn > 5 and found.episode() == expected.episode()
    assert found.replay.states == expected.replay.states
    assert found.replay.moves == expected.replay.moves


@pytest.mark.parametrize("wrong", [9, "J", ZeroDivisionError()])
@pytest.mark.parametrize("seat", ["agent", "partner"])
def test_a_scripts_wrong_answer_leaves_the_round_as_it_was_asked(seat: str, wrong: Any):
    game, sound = match(), match()
    players = {"agent": tells({}), "partner": tells({})}
    with pytest.raises((IllegalMove, ZeroDivisionError)):
        play_bots(game, players | {seat: tells({2: wrong})})
    assert game.turn == 2 and len(game.events) == 4
    asked = [turn.id[1] for turn in game.asks()]
    assert asked == (["agent", "partner"] if seat == "agent" else ["partner"])
    play_bots(game, players)
    play_bots(sound, players)
    assert game.episode() == sound.episode()


# --- one turn with moves from outside -------------------------------------------------------------


def test_a_turn_taken_at_once_is_the_turn_that_is_answered_one_by_one():
    expected, found = match(stop_chance=0.02, rounds=9), match(stop_chance=0.02, rounds=9)
    while not expected.over:
        number, move = expected.turn, expected.turn % 2
        expected.answer((number, "agent", "", ""), Decision(move))
        ask = expected.asked("partner")
        assert ask is not None
        expected.answer(ask.id, Decision(copies(ask)))
        assert found.play_turn({"agent": Moved(number, "agent", move)}, {"partner": copies})
        assert [turn.id for turn in found.asks()] == [turn.id for turn in expected.asks()]
    assert found.turn > 5 and found.episode() == expected.episode()
    assert found.replay.states == expected.replay.states


def test_a_turn_that_needs_more_is_left_alone():
    game, mine = match(), {"agent": Moved(0, "agent", 1)}
    for others in (None, {}, {"partner": lambda turn: 9}, {"partner": lambda turn: Decision(0)}):
        assert not game.play_turn(mine, others)  # type: ignore[arg-type]
        assert game.turn == 0 and not game.events and len(game.asks()) == 2
    game.answer((0, "partner", "", ""), Decision(0))
    assert not game.play_turn(mine)  # somebody has answered already
    assert game.turn == 0 and not game.events


# --- with questions aside -------------------------------------------------------------------------

ARMS = {
    "agent": ("their_move", "their_move_given_mine", "their_odds"),
    "partner": ("their_move_given_mine", "their_move"),
}


def asked_match(setup: dict[str, Any] | None = None, **params: Any) -> Match[Any, Any, Any]:
    lineup = {"agent": PlayerSpec("random"), "partner": PlayerSpec("tit_for_tat")}
    played = Instance("ipd", "ipd", {"rounds": 6, **params})
    return Match(registry.game("ipd"), Setup(played, 3, lineup, **{"arms": ARMS, **(setup or {})}))


class Seer(Agent):
    """An agent that answers questions, too: as told by turn and probe, or else with a move."""

    def report(self, turn: Turn[Any, Any]) -> Any:
        assert turn.question is not None
        told = (turn.id, turn.memory, turn.pending, turn.question, tuple(turn.options))
        self.asked.append((turn.id, told))
        given = self.answers.get((turn.number, turn.question.probe))  # type: ignore[call-overload]
        if isinstance(given, Exception):
            raise given
        return given or Report(turn.number % 2, (0.25, 0.75))


WRONG = [
    {(2, "their_move"): Report(9)},
    {(2, "their_odds"): Report(1)},
    {(2, "their_move_given_mine"): Decision(0)},
    {(2, "their_move_given_mine"): ZeroDivisionError()},
    {2: ZeroDivisionError()},
    {2: Decision(9)},
]


def seat_by_seat(game: Match[Any, Any, Any], agent: Seer) -> list[Event]:
    players = {"agent": agent, "partner": Scripted(copies)}
    let_answer(game, players, says=lambda turn: put(turn, players[turn.seat]))
    return game.events


@pytest.mark.parametrize(
    "answers",
    [
        {},
        {(1, "their_move"): Silence("no"), (2, "their_odds"): Report(None)},
        {(3, "their_move"): Fault("fault", "gone")},
        {(3, "their_move_given_mine"): Fault("fault", "gone")},
        {2: Forfeit("unreadable")},
        {2: Decision(1, foreseen=(Foreseen("their_move", 1, "partner"),))},
        {2: Decision(1, reply="F, of course", memory=7)},
    ],
)
@pytest.mark.parametrize("params", [{}, {"stop_chance": 0.3, "rounds": 30}])
def test_questions_aside_are_put_as_they_are_one_by_one(answers: Any, params: dict[str, Any]):
    first, second = Seer(answers), Seer(answers)
    expected, found = asked_match(**params), asked_match(**params)
    assert played_on(found, second) == seat_by_seat(expected, first)
    assert second.asked == first.asked
    assert found.over and found.memory("agent") == expected.memory("agent")  # type: ignore[arg-type]
    assert found.episode() == expected.episode() and found.replay == expected.replay
    assert list(found.replay.reports) == list(expected.replay.reports)


@pytest.mark.parametrize("wrong", WRONG, ids=str)
def test_a_wrong_answer_leaves_the_turn_as_it_stood_one_by_one(wrong: Any):
    expected, found = asked_match(), asked_match()
    for game, play in ((expected, seat_by_seat), (found, played_on)):
        with pytest.raises((IllegalMove, ZeroDivisionError)):
            play(game, Seer(wrong))
    assert found.turn == 2 and found.events == expected.events
    assert [turn.id for turn in found.asks()] == [turn.id for turn in expected.asks()]
    assert [turn.memory for turn in found.asks()] == [turn.memory for turn in expected.asks()]
    for game in (expected, found):
        played_on(game, Seer({}))
    assert found.over and found.episode() == expected.episode()


def test_who_is_told_something_is_asked_one_by_one():
    told = {"injections": (Injection("agent", "their_move"),)}
    expected, found = asked_match(told), asked_match(told)
    assert played_on(found, Seer({})) == seat_by_seat(expected, Seer({}))
    assert found.over


def test_questions_to_somebody_else_are_left_to_them():
    game = asked_match()
    let_answer(game, {"partner": Scripted(copies)})
    assert [turn.id[1:3] for turn in game.asks()] == [
        ("agent", "their_move"), ("agent", "their_odds"), ("agent", ""),
    ]  # fmt: skip


@pytest.mark.parametrize("game", ["hanabi_mini", "level_k", "toma_mg", "toma_po"])
def test_every_kind_of_question_is_put_at_once_as_one_by_one(game: str):
    spec = registry.game(game)
    rules = spec.build({})
    probes = (*spec.probes, *EVERYWHERE.values())
    arms = {s: tuple(p.name for p in probes if s in (p.seats or rules.seats)) for s in rules.seats}
    everybody = {seat: PlayerSpec("random") for seat in (*rules.seats, *rules.helpers)}
    setup = Setup(Instance(game, game, {}), 5, everybody, spec.version, arms)
    expected, found = Match(spec, setup), Match(spec, setup)
    players = players_of(found)
    let_answer(expected, players, says=lambda turn: put(turn, players[turn.seat]))
    play_bots(found, players)
    assert found.over and found.episode() == expected.episode()
    assert {e.probe for e in found.events if isinstance(e, Reported)}
    assert found.replay == expected.replay
    assert mismatch(spec, found.episode()) is None
