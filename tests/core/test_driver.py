"""The driver of a match: fast and slow players, bare answers, illegal answers and replay."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace
from inspect import CORO_CLOSED, getcoroutinestate
from typing import Any

import pytest

from sally.core.errors import IllegalMove
from sally.core.log.events import (
    Censored,
    Forfeited,
    Instance,
    Moved,
    PlayerSpec,
    Reported,
    Setup,
    Skipped,
)
from sally.core.match.drive import Driver
from sally.core.match.engine import Match
from sally.core.match.player import Decision, Fault, NoAnswer, Turn
from sally.core.registry import registry
from sally.core.rules.game import NATURE
from sally.games.repeated_games.rules import RepeatedGame
from sally.players.mindless import Inverse, Noisy
from sally.runner.seating import players_of

LINEUP = {"agent": PlayerSpec("random"), "partner": PlayerSpec("tit_for_tat")}


def match_of(arms: dict[str, tuple[str, ...]] | None = None, **params: Any) -> Match:
    instance = Instance("ipd", "ipd", {"rounds": 4, **params})
    return Match(registry.game("ipd"), Setup(instance, 3, LINEUP, arms=arms or {}))


def defects(turn: Turn) -> Any:
    return 1


class Prophet:
    """Defects, and answers probes with a value of its own."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def decide(self, turn: Turn) -> Any:
        return 1

    def report(self, turn: Turn) -> Any:
        return self.value


def slow(player: Any) -> Any:
    """Return the player with coroutines instead of functions."""

    class Slow:
        async def decide(self, turn: Turn) -> Any:
            await asyncio.sleep(0)
            return player.decide(turn)

        async def report(self, turn: Turn) -> Any:
            await asyncio.sleep(0)
            return player.report(turn)

    return Slow()


# --- bare answers -----------------------------------------------------------------------------


def test_bare_actions_and_values_of_synchronous_and_asynchronous_players_are_accepted() -> None:
    records = []
    for player in (Prophet(0), slow(Prophet(0))):
        match = match_of({"agent": ("their_move", "their_move_given_mine")})
        Driver(match, {"agent": player, "partner": defects}).run()
        records.append(match.episode())
    assert records[0] == records[1]
    assert [e.value for e in records[0].events if isinstance(e, Reported)] == [0] * 8


def test_bare_odds_name_the_likeliest_choice() -> None:
    for odds in ([0.25, 0.75], {1: 0.75, 0: 0.25}, {"F": 0.75, "j": 0.25}):
        match = match_of({"agent": ("their_odds",)})
        Driver(match, {"agent": Prophet(odds), "partner": defects}).run()
        reports = {(e.value, e.odds) for e in match.events if isinstance(e, Reported)}
        assert reports == {(1, (0.25, 0.75))}


@pytest.mark.parametrize("wrong", [None, 7, "Q", [0.5, 0.6], ["a", "b"], {"Q": 1}])
@pytest.mark.parametrize("probe", ["their_move", "their_odds"])
def test_bare_value_that_answers_no_probe_is_illegal(probe: str, wrong: Any) -> None:
    match = match_of({"agent": (probe,)})
    with pytest.raises(IllegalMove):
        Driver(match, {"agent": Prophet(wrong), "partner": defects}).run()
    assert match.asks()[0].question is not None and not match.events


# --- running ----------------------------------------------------------------------------------


def test_function_is_a_source_of_moves_and_reports() -> None:
    match = match_of({"agent": ("their_move",)})
    Driver(match, {"agent": lambda turn: 0 if turn.question else 1, "partner": defects}).run()
    assert match.over and {e.value for e in match.events if isinstance(e, Reported)} == {0}


def test_arun_ends_when_only_seats_without_a_source_are_asked() -> None:
    match = match_of()
    asyncio.run(asyncio.wait_for(Driver(match, {"agent": slow(Prophet(0))}).arun(), 60))
    assert [turn.seat for turn in match.asks()] == ["partner"]


def test_exception_in_one_of_two_slow_players_leaves_both_asks_open() -> None:
    class Breaks:
        async def decide(self, turn: Turn) -> Any:
            if turn.number == 1:
                raise ZeroDivisionError
            return 0

    class Waits:
        async def decide(self, turn: Turn) -> Any:
            await asyncio.sleep(60 * turn.number)
            return 0

    match = match_of()
    driver = Driver(match, {"agent": Breaks(), "partner": Waits()})
    with pytest.raises(ZeroDivisionError):
        driver.run()
    assert [turn.id for turn in match.asks()] == [(1, "agent", "", ""), (1, "partner", "", "")]
    Driver(match, {"agent": defects, "partner": slow(Prophet(0))}).run()
    assert match.over


def breaks(turn: Turn) -> Any:
    raise ZeroDivisionError


@pytest.mark.parametrize("partner", [breaks, lambda turn: Fault("fault", "gone")])
def test_answers_that_nobody_awaits_are_closed(partner: Any) -> None:
    sent: list[Any] = []

    def agent(turn: Turn) -> Any:
        sent.append(slow(Prophet(0)).decide(turn))
        return sent[-1]

    with suppress(ZeroDivisionError):
        Driver(match_of(), {"agent": agent, "partner": partner}).run()
    assert [getcoroutinestate(answer) for answer in sent] == [CORO_CLOSED]


def test_number_of_a_move_clears_the_memory() -> None:
    match, seen = match_of(), []
    match.answer((0, "agent", "", ""), Decision(0, memory="notes"))
    match.answer((0, "partner", "", ""), Decision(0))

    def agent(turn: Turn) -> int:
        seen.append(turn.memory)
        return 0

    Driver(match, {"agent": agent, "partner": defects}).run()
    assert seen == ["notes", None, None]


@pytest.mark.parametrize("moves", [(0, 0), (Decision(0), Decision(0))])
def test_rules_that_censor_without_a_forfeit_are_asked_after_every_turn(moves: Any) -> None:
    class Short(RepeatedGame):
        censors_forfeits = False

        def censored(self, state: Any) -> str | None:
            return "two rounds are enough" if len(state.past) == 2 else None

    setup = Setup(Instance("ipd", "ipd", {"rounds": 4}), 3, LINEUP)
    match = Match(replace(registry.game("ipd"), game=Short), setup)
    agent, partner = ((lambda turn, move=move: move) for move in moves)
    Driver(match, {"agent": agent, "partner": partner}).run()
    assert isinstance(match.events[-1], Censored) and match.turn == 2


def test_nature_draws_as_the_match_does_if_it_is_asked() -> None:
    lineup = {"ann": PlayerSpec("random"), "bob": PlayerSpec("random")}
    setup = Setup(Instance("hanabi_mini", "hanabi_mini", {}), 3, lineup, 1)
    spec = registry.game("hanabi_mini")
    setup = Setup(setup.instance, 3, lineup, spec.version)
    draws, asked_match = Match(spec, setup), Match(spec, setup, ask_nature=True)
    for match in (draws, asked_match):
        Driver(match, players_of(match)).run()
    assert any(e.seat == NATURE for e in draws.events) and draws.episode() == asked_match.episode()


def test_every_recorded_answer_is_observed() -> None:
    pairs: list[tuple[Any, Any]] = []
    match = match_of({"agent": ("their_move",)})
    Driver(
        match,
        {"agent": Prophet(0), "partner": defects},
        on_answer=lambda turn, answer: pairs.append((turn.id[:3], answer)),
    ).run()
    assert pairs[:3] == [
        ((0, "agent", "their_move"), 0),
        ((0, "agent", ""), 1),
        ((0, "partner", ""), 1),
    ]
    assert len(pairs) == 12


# --- illegal answers --------------------------------------------------------------------------


@pytest.mark.parametrize("wrap", [lambda player: player, slow])
def test_illegal_move_is_raised_forfeited_or_a_fault(wrap: Any) -> None:
    class Wrong(Prophet):
        def decide(self, turn: Turn) -> Any:
            return Decision(9) if turn.number == 2 else 1

    ends = {}
    for on_illegal in ("raise", "forfeit", "fault"):
        match = match_of()
        driver = Driver(match, {"agent": wrap(Wrong(0)), "partner": defects}, on_illegal)  # type: ignore[arg-type]
        if on_illegal == "raise":
            with pytest.raises(IllegalMove, match="not among the options"):
                driver.run()
            assert match.turn == 2 and match.ask_for("agent") is not None
            continue
        driver.run()
        ends[on_illegal] = match.events
    (forfeit,) = [e for e in ends["forfeit"] if isinstance(e, Forfeited)]
    assert (forfeit.turn, forfeit.seat, forfeit.reason) == (2, "agent", "illegal")
    assert "not among the options" in forfeit.reply
    assert ends["forfeit"][-1].turn == 4  # the match went on
    stop = ends["fault"][-1]
    assert isinstance(stop, Censored) and (stop.cause, stop.seat) == ("fault", "agent")
    assert "the player in seat 'agent'" in stop.detail and "not among the options" in stop.detail


def test_illegal_report_has_no_value_where_illegal_moves_are_forfeited() -> None:
    match = match_of({"agent": ("their_move",)})
    Driver(match, {"agent": Prophet(9), "partner": defects}, "forfeit").run()
    assert {e.value for e in match.events if isinstance(e, Reported)} == {None}
    assert len([e for e in match.events if isinstance(e, Moved)]) == 8


# --- replay -----------------------------------------------------------------------------------


def play_games() -> Any:
    match = match_of({"agent": ("their_move",), "partner": ("their_move_given_mine",)})
    Driver(match, {"agent": Prophet(0), "partner": players_of(match)["partner"]}).run()
    return match


@pytest.mark.parametrize("turn", range(4))
def test_replay_up_to_a_turn_leaves_its_asks_open(turn: int) -> None:
    was, match = play_games(), Match(registry.game("ipd"), play_games().setup, ask_nature=True)
    asked = Driver(match).replay(was.episode(), upto=turn)
    assert [ask.id[:3] for ask in asked] == [
        (turn, "agent", "their_move"), (turn, "agent", ""), (turn, "partner", "")
    ]  # fmt: skip
    assert match.turn == turn and match.replay.states == was.replay.states[: turn + 1]
    assert match.events == was.events[: len(match.events)]
    Driver(match).replay(was.episode())
    assert match.episode() == was.episode()


def test_replay_asks_again_and_takes_another_answer() -> None:
    was, match = play_games(), Match(registry.game("ipd"), play_games().setup, ask_nature=True)
    recorded = []

    def again(turn: Turn, event: Any) -> Any:
        recorded.append((turn.id[:3], type(event)))
        return NoAnswer("not now") if turn.question else None

    assert Driver(match).replay(was.episode(), ask_again=again) == []
    assert len(recorded) == 16 and recorded[-1] == (
        (3, "partner", "their_move_given_mine"),
        Skipped,
    )
    assert {e.reason for e in match.events if isinstance(e, Skipped)} == {"not now"}
    assert match.replay.moves == was.replay.moves


def test_replay_stops_as_logged_or_says_what_is_missing() -> None:
    first = match_of()
    Driver(first, {"partner": defects}).run()
    first.censor("left", "gone", "agent")
    match = Match(registry.game("ipd"), first.setup, ask_nature=True)
    assert [ask.id[:2] for ask in Driver(match).replay(first.episode())] == [(0, "agent")]
    assert match.episode() == first.episode()
    for upto in (None, 3):
        cut = play_games().episode()
        cut.events[:] = [e for e in cut.events if e.turn < 2]
        with pytest.raises(LookupError, match=r"no answer to \[\(2, 'agent'"):
            Driver(match_of({"agent": ("their_move",)})).replay(cut, upto)


class Bare:
    """A player whose move and report are bare values."""

    def decide(self, turn: Turn) -> Any:
        return 0

    def report(self, turn: Turn) -> Any:
        return 0


def test_players_made_from_a_player_with_bare_answers_change_them() -> None:
    for player in (Inverse(Bare()), Noisy(Bare(), 1.0)):  # type: ignore[arg-type]
        match = match_of({"agent": ("their_move",)}, rounds=20)
        Driver(match, {"agent": player, "partner": defects}).run()
        actions = {e.action for e in match.events if isinstance(e, Moved) and e.seat == "agent"}
        assert 1 in actions and 1 in {e.value for e in match.events if isinstance(e, Reported)}
