"""Probes: who is asked when, what may be answered, and how it is judged."""

from __future__ import annotations

from math import inf, log
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sally.core.errors import IllegalMove
from sally.core.log.events import Reported, Skipped, from_line, to_line
from sally.core.match.engine import Match
from sally.core.match.playback import mismatch, replay_episode
from sally.core.match.player import Decision, Forfeit, NoAnswer
from sally.core.rules.probe import At, ProbeReport, Question, StatedPrediction, problem, score
from tests.fixtures.haggle_rules import ADA, BO, CY, READER, Offer, Reading, Say
from tests.table import all_probes, match_of, play_episode, spec_of, table


def probes_asked(match: Match) -> set[tuple[str, str, str]]:
    return {turn.id[1:] for turn in match.asks() if turn.question is not None}


def to_the_offers(arms: dict[str, tuple[str, ...]], secret_turns: int = 0) -> Match:
    setup = table("haggle", arms=arms)
    problem = msgspec.structs.replace(setup.instance, params={"secret_turns": secret_turns})
    match = match_of(msgspec.structs.replace(setup, instance=problem))
    for seat in (ADA, BO, CY):
        match.answer((match.turn, seat, "", ""), Decision(Say("Hello.")))
        match.answer((match.turn, READER, "", ""), Decision(Reading("nothing", 0)))
    return match


# --- when ---------------------------------------------------------------------------------------


def test_start_of_turn_probe_may_ask_any_seat() -> None:
    match = to_the_offers(dict.fromkeys((ADA, BO, CY), ("own_values",)))
    assert probes_asked(match) == {(s, "own_values", s) for s in (ADA, BO, CY)}
    assert (match.turn, ADA, "", "") in [t.id for t in match.asks()]  # and the mover moves


def test_probe_before_move_asks_only_moving_seats() -> None:
    match = match_of(table("cups", arms={"hider": ("false_belief",)}))
    assert probes_asked(match) == {("hider", "false_belief", "seeker")}


def test_probe_after_move_carries_pending_move_and_memory() -> None:
    match = to_the_offers({ADA: ("will_accept",)})
    assert probes_asked(match) == set()
    offer = Offer(BO, (), ())
    match.answer((match.turn, ADA, "", ""), Decision(offer, memory="keep calm"))
    (turn,) = match.asks()
    assert turn.question is not None and turn.question.probe == "will_accept"
    assert (turn.pending, turn.memory) == (offer, "keep calm")
    assert match.state.offer is None  # not yet revealed
    match.answer(turn.id, ProbeReport("accept", (0.9, 0.1)))
    assert match.state.offer == offer


def test_probe_after_forfeited_move_is_logged_as_skipped() -> None:
    match = to_the_offers({ADA: ("will_accept",)})
    match.answer((match.turn, ADA, "", ""), Forfeit("unreadable"))
    skipped = [e for e in match.events if isinstance(e, Skipped)]
    assert [(e.seat, e.probe, e.reason) for e in skipped] == [
        (ADA, "will_accept", "the move was forfeited")
    ]


def test_probes_of_a_move_forfeited_by_rejection_are_dropped() -> None:
    """`their_move` stands before the move, `their_move_given_mine` after it; neither is asked."""
    from sally.games.repeated_games.rules import RepeatedGame

    class Strict(RepeatedGame):
        def rejections(self, state: Any, seat: Any) -> int:
            return 9 if seat == "agent" else 0

    from dataclasses import replace

    arms = {"agent": ("their_move", "their_move_given_mine")}
    setup = table("ipd", arms=arms)
    match: Match = Match(replace(spec_of("ipd"), game=Strict), setup)
    assert probes_asked(match) == set()
    match.answer((0, "partner", "", ""), Decision(0))
    first = [e for e in match.events if e.turn == 0]
    assert [type(e).__name__ for e in first] == ["Skipped", "Forfeited", "Moved", "Skipped"]


def test_probe_that_cannot_be_asked_is_logged_with_the_reason() -> None:
    match = match_of(table("cups", arms={"hider": ("false_belief",)}))
    probe = next(t for t in match.asks() if t.question)
    match.answer(probe.id, NoAnswer("deaf"))
    match.answer((2, "hider", "", ""), Decision("keep"))
    assert Skipped(2, "hider", "false_belief", "deaf", "seeker") in match.events


def test_unreadable_answer_is_missing_not_wrong() -> None:
    match = match_of(table("cups", arms={"hider": ("false_belief",)}))
    probe = next(t for t in match.asks() if t.question)
    match.answer(probe.id, ProbeReport(None, reply="Hm.", tries=3))
    match.answer((2, "hider", "", ""), Decision("keep"))
    (event,) = [e for e in match.events if isinstance(e, Reported)]
    assert (event.value, event.reply, event.tries) == (None, "Hm.", 3)
    assert score(Question("p", "choice", ("left", "right")), ProbeReport(None), "left") == {}


# --- truth --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("peek", "truth"), [("peek", "right"), ("miss", "left")])
def test_truth_of_false_belief_depends_on_peek(peek: str, truth: str) -> None:
    match = Match(
        spec_of("cups"), table("cups", arms={"hider": ("false_belief",)}), ask_nature=True
    )
    for move in ("left", peek):
        match.answer((match.turn, "nature", "", ""), Decision(move))
    probe = spec_of("cups").probe("false_belief")
    assert probe.truth(match.replay, At(2, "hider", "false_belief", "seeker")) == truth  # type: ignore[arg-type]


def test_belief_about_values_is_judged_by_the_owners_report() -> None:
    match = to_the_offers({ADA: ("their_values",), BO: ("own_values",), CY: ()})
    turn = match.turn
    for ask in match.asks():
        if ask.question is None:
            continue
        value = {"wood": 9.0, "wool": 4.0} if ask.seat == BO else {"wood": 7.0}
        match.answer(ask.id, ProbeReport(value))
    probe = spec_of("haggle").probe("their_values")
    about_bo = probe.truth(match.replay, At(turn, ADA, "their_values", BO))
    assert about_bo == {"wood": 9.0, "wool": 4.0}  # bo's word, not bo's true values
    assert probe.truth(match.replay, At(turn, ADA, "their_values", CY)) is None  # cy said nothing
    marks = score(Question("p", "values", ("wood", "wool")), ProbeReport({"wood": 7.0}), about_bo)
    assert marks == {"absolute_error": 2.0, "answered": 0.5}


def test_truth_of_will_accept_is_known_one_turn_later() -> None:
    spec = spec_of("haggle")
    episode = play_episode(table("haggle", 4, arms=all_probes("haggle")))
    replay = replay_episode(spec, episode)
    for event in (e for e in episode.events if isinstance(e, Reported)):
        if event.probe != "will_accept":
            continue
        truth = spec.probe("will_accept").truth(replay, At(event.turn, event.seat, event.probe))  # type: ignore[arg-type]
        offered = isinstance(replay.move(event.turn, event.seat), Offer)  # type: ignore[arg-type]
        assert (truth is not None) == offered


# --- predictions inside a decision --------------------------------------------------------------


@pytest.mark.parametrize("arms", [{}, {"partner": ("their_move",)}])
def test_prediction_inside_a_decision_is_a_report(arms: dict[str, tuple[str, ...]]) -> None:
    match = match_of(table("ipd", arms=arms))
    foreseen = (StatedPrediction("their_move", 1, "partner"),)
    match.answer((0, "agent", "", ""), Decision(0, foreseen=foreseen))
    match.answer((0, "partner", "", ""), Decision(0))
    for turn in match.asks():
        if turn.number == 0:
            match.answer(turn.id, ProbeReport(0))
    report = Reported(0, "agent", "their_move", 1, "partner", source="decision")
    assert report in match.events
    assert match.replay.report(0, "agent", "their_move", "partner") == report  # type: ignore[arg-type]
    match.censor("limit")
    assert mismatch(spec_of("ipd"), from_line(to_line(match.episode()))) is None


@pytest.mark.parametrize(
    ("foreseen", "why"),
    [
        ((StatedPrediction("their_moves", 1, "partner"),), "did you mean"),
        ((StatedPrediction("their_move", 7, "partner"),), "7 is not one of"),
        ((StatedPrediction("their_move", 1),), "their_move about '', which this seat is not asked"),
        ((StatedPrediction("their_move", 1, "partner"),) * 2, "twice"),
        ((StatedPrediction("their_odds", 1, "partner"),), "odds over the choices are missing"),
    ],
)
def test_invalid_prediction_is_refused_and_changes_nothing(
    foreseen: tuple[StatedPrediction, ...], why: str
) -> None:
    match = match_of(table("ipd"))
    with pytest.raises(IllegalMove, match=why):
        match.answer((0, "agent", "", ""), Decision(0, "notes", foreseen=foreseen))
    assert {t.seat for t in match.asks()} == {"agent", "partner"}
    assert match.memory("agent") is None  # type: ignore[arg-type]
    match.answer((0, "agent", "", ""), Decision(1))
    match.answer((0, "partner", "", ""), Decision(0))
    assert match.turn == 1


def test_probed_report_takes_precedence_over_prediction_in_decision() -> None:
    arms = {"agent": ("their_move",)}
    for probe_first in (True, False):
        match = match_of(table("ipd", arms=arms))
        asks: list[tuple[Any, Any]] = [
            ((0, "agent", "their_move", "partner"), ProbeReport(0)),
            (
                (0, "agent", "", ""),
                Decision(0, foreseen=(StatedPrediction("their_move", 1, "partner"),)),
            ),
        ]
        for id, answer in asks if probe_first else asks[::-1]:
            match.answer(id, answer)
        match.answer((0, "partner", "", ""), Decision(0))
        said = match.replay.report(0, "agent", "their_move", "partner")  # type: ignore[arg-type]
        assert said is not None and said.value == 0
        sources = [e.source for e in match.events if isinstance(e, Reported)]
        assert sources == ["probe", "decision"]


# --- what may be answered, and what it is worth -------------------------------------------------

CHOICE = Question("p", "choice", (0, 1, 2))
ODDS = Question("p", "odds", ("a", "b"))
VALUES = Question("p", "values", ("wood", "wool"), low=-2, high=5)


@pytest.mark.parametrize(
    ("question", "report"),
    [
        (CHOICE, ProbeReport(3)),
        (CHOICE, ProbeReport(True)),
        (CHOICE, ProbeReport(1.0)),  # type: ignore[arg-type]
        (CHOICE, ProbeReport("1")),
        (CHOICE, ProbeReport({"0": 1.0})),
        (CHOICE, ProbeReport([0])),  # type: ignore[arg-type]
        (ODDS, ProbeReport("a")),
        (ODDS, ProbeReport("a", (0.5,))),
        (ODDS, ProbeReport("a", (0.5, 0.6))),
        (ODDS, ProbeReport("a", (1.5, -0.5))),
        (ODDS, ProbeReport("a", (inf, 0.0))),
        (ODDS, ProbeReport("a", ("1", "0"))),  # type: ignore[arg-type]
        (VALUES, ProbeReport({"gold": 1.0})),
        (VALUES, ProbeReport({"wood": 6.0})),
        (VALUES, ProbeReport({"wood": inf})),
        (VALUES, ProbeReport({"wood": "4"})),  # type: ignore[dict-item]
        (VALUES, ProbeReport({"wood": True})),
        (VALUES, ProbeReport("wood")),
    ],
)
def test_invalid_report_is_refused(question: Question, report: ProbeReport) -> None:
    assert problem(question, report) is not None


@pytest.mark.parametrize(
    ("question", "report"),
    [
        (CHOICE, ProbeReport(2)),
        (CHOICE, ProbeReport(None)),
        (ODDS, ProbeReport("b", (0.25, 0.75))),
        (VALUES, ProbeReport({"wood": -2, "wool": 5.0})),
        (VALUES, ProbeReport({})),
        (Question("p", "values", (1, 2)), ProbeReport({"1": 3.0})),
    ],
)
def test_valid_report_is_accepted(question: Question, report: ProbeReport) -> None:
    assert problem(question, report) is None


def test_scores_of_known_answers() -> None:
    assert score(CHOICE, ProbeReport(1), 1) == {"right": 1.0, "brier": 0.0, "log": 0.0}
    assert score(CHOICE, ProbeReport(1), 2) == {"right": 0.0, "brier": 2.0, "log": inf}
    given_odds = score(ODDS, ProbeReport("b", (0.25, 0.75)), "a")
    assert given_odds == {"right": 0.0, "brier": 1.125, "log": -log(0.25)}
    assert score(VALUES, ProbeReport({"wood": 1.0}), {"wood": 4.0, "wool": 0.0}) == {
        "absolute_error": 3.0,
        "answered": 0.5,
    }
    assert score(VALUES, ProbeReport({}), {"wood": 4.0}) == {}
    assert score(CHOICE, ProbeReport(1), None) == {}


@given(st.floats(0.01, 0.99), st.floats(0.01, 0.99))
def test_scores_are_proper(believed: float, said: float) -> None:
    """Nobody expects a better score from odds that it does not believe."""

    def expected(measure: str, p: float) -> float:
        value = {t: score(ODDS, ProbeReport("a", (p, 1 - p)), t)[measure] for t in ("a", "b")}
        return believed * value["a"] + (1 - believed) * value["b"]

    for measure in ("brier", "log"):
        assert expected(measure, believed) <= expected(measure, said) + 1e-9
