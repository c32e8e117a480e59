"""One turn engine: bots at hand, answers in any order and a log give the same match."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from sally.core.errors import IllegalMove
from sally.core.log.events import (
    Event,
    Injection,
    Instance,
    Moved,
    PlayerSpec,
    Reported,
    Setup,
    Told,
    ToolUse,
)
from sally.core.match.drive import Driver
from sally.core.match.engine import Match
from sally.core.match.partner import Scripted
from sally.core.match.playback import mismatch
from sally.core.match.player import WAIT, Decision, Fault, Forfeit, NoAnswer, Turn, send_ask
from sally.core.registry import registry
from sally.core.rules.awareness import EVERYWHERE
from sally.core.rules.chance import Stream
from sally.core.rules.game import Tool
from sally.core.rules.probe import ProbeReport, StatedPrediction
from sally.runner.seating import players_of

Answers = dict[int, Any]  # by turn, what the agent answers; else it moves as it did


def match(game: str = "ipd", **params: Any) -> Match:
    lineup = {"agent": PlayerSpec("random"), "partner": PlayerSpec("tit_for_tat")}
    return Match(
        registry.game(game), Setup(Instance(game, game, {"rounds": 6, **params}), 3, lineup)
    )


class Agent:
    """Answers as told, counts its turns in its memory, and notes what it was asked."""

    def __init__(self, answers: Answers) -> None:
        self.answers, self.asked = answers, list[tuple[Any, Any]]()

    def decide(self, turn: Turn) -> Any:
        self.asked.append((turn.id, turn.memory))
        if isinstance(answer := self.answers.get(turn.number), Exception):
            raise answer
        return answer or Decision(turn.number % 2, memory=(turn.memory or 0) + 1)


def copies(turn: Turn) -> int:
    return 0 if turn.view.last is None else int(turn.view.last[1])


def in_any_order(game: Match, players: Any, order: int = 0) -> list[Event]:
    """Answer the open asks one by one: the first (0), the last (-1) or a drawn one (a seed)."""
    draws = Stream(order, "order")
    while asks := game.asks():
        turn = asks[order] if order in (0, -1) else draws.pick(asks)
        game.answer(turn.id, send_ask(turn, players[turn.seat]))
    return game.events


def one_by_one(game: Match, agent: Agent, order: int = 0) -> list[Event]:
    return in_any_order(game, {"agent": agent, "partner": Scripted(copies)}, order)


def played_on(game: Match, agent: Agent) -> list[Event]:
    Driver(game, {"agent": agent, "partner": Scripted(copies)}).run()
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
@pytest.mark.parametrize("order", [0, -1])
@pytest.mark.parametrize("params", [{}, {"stop_chance": 0.3, "rounds": 30}])
def test_moves_give_the_same_match_in_any_order(
    answers: Answers, params: dict[str, Any], order: int
):
    if order and any(isinstance(answer, Fault) for answer in answers.values()):
        return  # a fault ends the match, so the log depends on what was answered before it
    first, second = Agent(answers), Agent(answers)
    expected, actual_match = match(**params), match(**params)
    assert played_on(actual_match, second) == one_by_one(expected, first, order)
    assert second.asked == first.asked
    assert actual_match.over and actual_match.memory("agent") == expected.memory("agent")  # type: ignore[arg-type]
    assert actual_match.episode() == expected.episode()


def test_exception_in_player_leaves_the_match_at_its_turn():
    game = match()
    with pytest.raises(ZeroDivisionError):
        played_on(game, Agent({2: ZeroDivisionError()}))
    assert game.turn == 2
    assert [turn.id for turn in game.asks()] == [(2, "agent", "", ""), (2, "partner", "", "")]


def test_seats_without_a_player_stay_open():
    game = match()
    Driver(game, {"partner": Scripted(copies)}).run()
    assert [turn.id for turn in game.asks()] == [(0, "agent", "", "")]
    assert not game.over


def test_illegal_move_of_script_is_refused_and_changes_nothing():
    game = match()
    with pytest.raises(Exception, match="not among the options"):
        Driver(game, {"agent": Scripted(lambda turn: 9), "partner": Scripted(copies)}).run()
    assert game.turn == 0 and len(game.asks()) == 2 and not game.events


# --- two scripts ----------------------------------------------------------------------------------


def tells(answers: Answers, report: Any = None) -> Any:
    """A script that answers as told, and else alternates."""

    def script(turn: Turn) -> Any:
        if isinstance(answer := answers.get(turn.number), Exception):
            raise answer
        return turn.number % 2 if answer is None else answer

    return Scripted(script, report)


@pytest.mark.parametrize("params", [{}, {"stop_chance": 0.02, "rounds": 12}])
@pytest.mark.parametrize("swapped", [False, True])
def test_two_scripts_together_play_the_same_as_one_by_one(swapped: bool, params: dict[str, Any]):
    pair = [tells({}), Scripted(copies)]
    agent, partner = reversed(pair) if swapped else pair
    players = {"agent": agent, "partner": partner}
    expected, actual_match = match(**params), match(**params)
    in_any_order(expected, players, -1)
    Driver(actual_match, players).run()
    assert (
        actual_match.over and actual_match.turn > 5 and actual_match.episode() == expected.episode()
    )
    assert actual_match.replay.states == expected.replay.states
    assert actual_match.replay.moves == expected.replay.moves


def test_tool_use_is_logged_with_a_plain_number_move():
    tool = Tool("rounds", "The number of rounds so far.", {}, lambda view, given: len(view.past))
    spec = replace(registry.game("ipd"), tools=(tool,))

    class LooksUp:
        def decide(self, turn: Turn) -> Any:
            return int(turn.use("rounds", {})) % 2

    game = Match(spec, match().setup)
    Driver(game, {"agent": LooksUp(), "partner": Scripted(copies)}).run()
    looked = [e.looked for e in game.events if isinstance(e, Moved) and e.seat == "agent"]
    assert looked == [(ToolUse("rounds", {}, turn),) for turn in range(6)]


@pytest.mark.parametrize("wrong", [9, "J", ZeroDivisionError()])
@pytest.mark.parametrize("seat", ["agent", "partner"])
def test_wrong_answer_of_script_leaves_the_round_open(seat: str, wrong: Any):
    game, sound = match(), match()
    players = {"agent": tells({}), "partner": tells({})}
    with pytest.raises((IllegalMove, ZeroDivisionError)):
        Driver(game, players | {seat: tells({2: wrong})}).run()
    assert game.turn == 2 and len(game.events) == 4
    questions = [turn.id[1] for turn in game.asks()]
    assert questions == (["agent", "partner"] if seat == "agent" else ["partner"])
    Driver(game, players).run()
    Driver(sound, players).run()
    assert game.episode() == sound.episode()


# --- with questions aside -------------------------------------------------------------------------

ARMS = {
    "agent": ("their_move", "their_move_given_mine", "their_odds"),
    "partner": ("their_move_given_mine", "their_move"),
}


def asked_match(setup: dict[str, Any] | None = None, **params: Any) -> Match:
    lineup = {"agent": PlayerSpec("random"), "partner": PlayerSpec("tit_for_tat")}
    played = Instance("ipd", "ipd", {"rounds": 6, **params})
    return Match(registry.game("ipd"), Setup(played, 3, lineup, **{"arms": ARMS, **(setup or {})}))


class Seer(Agent):
    """An agent that answers questions, too: as told by turn and probe, or else with a move."""

    def report(self, turn: Turn) -> Any:
        assert turn.question is not None
        told = (turn.id, turn.memory, turn.pending, turn.question, tuple(turn.options))
        self.asked.append((turn.id, told))
        answer = self.answers.get((turn.number, turn.question.probe))  # type: ignore[call-overload]
        if isinstance(answer, Exception):
            raise answer
        return answer or ProbeReport(turn.number % 2, (0.25, 0.75))


WRONG = [
    {(2, "their_move"): ProbeReport(9)},
    {(2, "their_odds"): ProbeReport(1)},
    {(2, "their_move_given_mine"): Decision(0)},
    {(2, "their_move_given_mine"): ZeroDivisionError()},
    {2: ZeroDivisionError()},
    {2: Decision(9)},
]


@pytest.mark.parametrize(
    "answers",
    [
        {},
        {(1, "their_move"): NoAnswer("no"), (2, "their_odds"): ProbeReport(None)},
        {(3, "their_move"): Fault("fault", "gone")},
        {(3, "their_move_given_mine"): Fault("fault", "gone")},
        {2: Forfeit("unreadable")},
        {2: Decision(1, foreseen=(StatedPrediction("their_move", 1, "partner"),))},
        {2: Decision(1, reply="F, of course", memory=7)},
    ],
)
@pytest.mark.parametrize("order", [0, -1, 7])
@pytest.mark.parametrize("params", [{}, {"stop_chance": 0.3, "rounds": 30}])
def test_probes_give_the_same_match_in_any_order(answers: Any, params: dict[str, Any], order: int):
    if order and any(isinstance(answer, Fault) for answer in answers.values()):
        return  # a fault ends the match, so the log depends on what was answered before it
    first, second = Seer(answers), Seer(answers)
    expected, actual_match = asked_match(**params), asked_match(**params)
    assert played_on(actual_match, second) == one_by_one(expected, first, order)
    assert sorted(map(repr, second.asked)) == sorted(map(repr, first.asked))
    assert actual_match.over and actual_match.memory("agent") == expected.memory("agent")  # type: ignore[arg-type]
    assert actual_match.episode() == expected.episode() and actual_match.replay == expected.replay
    assert mismatch(actual_match.spec, actual_match.episode()) is None


@pytest.mark.parametrize("wrong", WRONG, ids=str)
def test_wrong_answer_leaves_same_state_as_answering_one_by_one(wrong: Any):
    expected, actual_match = asked_match(), asked_match()
    for game, play in ((expected, one_by_one), (actual_match, played_on)):
        with pytest.raises((IllegalMove, ZeroDivisionError)):
            play(game, Seer(wrong))
    assert actual_match.turn == 2 and actual_match.events == expected.events
    assert [turn.id for turn in actual_match.asks()] == [turn.id for turn in expected.asks()]
    assert [turn.memory for turn in actual_match.asks()] == [
        turn.memory for turn in expected.asks()
    ]
    for game in (expected, actual_match):
        played_on(game, Seer({}))
    assert actual_match.over and actual_match.episode() == expected.episode()


@pytest.mark.parametrize("order", [0, -1, 7])
@pytest.mark.parametrize("source", ["truth", "own"])
def test_injected_values_do_not_depend_on_order_of_answers(source: Any, order: int):
    fields = {"injections": (Injection("agent", "their_move", source),)}
    expected, actual_match = asked_match(fields), asked_match(fields)
    assert played_on(actual_match, Seer({})) == one_by_one(expected, Seer({}), order)
    assert actual_match.over and any(isinstance(event, Told) for event in actual_match.events)
    assert mismatch(actual_match.spec, actual_match.episode()) is None


def only_moves(script: Any) -> Any:
    return lambda turn: script(turn) if turn.question is None else WAIT


def test_available_moves_wait_for_later_reports():
    expected, actual_match = asked_match(), asked_match()
    players = {"agent": tells({}, Seer({}).report), "partner": Scripted(copies)}
    Driver(expected, players).run()
    while not actual_match.over:
        Driver(
            actual_match, {"agent": only_moves(tells({}).script), "partner": only_moves(copies)}
        ).run()
        asks = actual_match.asks()
        assert asks and all(turn.question is not None for turn in asks)
        for turn in reversed(asks):
            actual_match.answer(turn.id, send_ask(turn, players[turn.seat]))
    assert actual_match.episode() == expected.episode() and actual_match.replay == expected.replay


def test_probes_of_seats_without_a_player_stay_open():
    game = asked_match()
    Driver(game, {"partner": Scripted(copies)}).run()
    assert [turn.id[1:3] for turn in game.asks()] == [
        ("agent", "their_move"), ("agent", "their_odds"), ("agent", ""),
    ]  # fmt: skip


@pytest.mark.parametrize("order", [-1, 7])
@pytest.mark.parametrize("game", ["hanabi_mini", "level_k", "toma_mg", "toma_po"])
def test_every_kind_of_probe_gives_the_same_match_in_any_order(game: str, order: int):
    spec = registry.game(game)
    rules = spec.build({})
    probes = (*spec.probes, *EVERYWHERE.values())
    arms = {s: tuple(p.name for p in probes if s in (p.seats or rules.seats)) for s in rules.seats}
    everybody = {seat: PlayerSpec("random") for seat in (*rules.seats, *rules.helpers)}
    setup = Setup(Instance(game, game, {}), 5, everybody, spec.version, arms)
    expected, actual_match = Match(spec, setup), Match(spec, setup)
    players = players_of(actual_match)
    in_any_order(expected, players, order)
    Driver(actual_match, players).run()
    assert actual_match.over and actual_match.episode() == expected.episode()
    assert {e.probe for e in actual_match.events if isinstance(e, Reported)}
    assert actual_match.replay == expected.replay
    assert mismatch(spec, actual_match.episode()) is None
