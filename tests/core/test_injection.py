"""Injection: the truth, a corrupted truth, or one's own prediction, told before the move."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from sally.core.errors import BadInput
from sally.core.log.events import Injection, Moved, Reported, Told, from_line, to_line
from sally.core.match.engine import Match
from sally.core.match.playback import mismatch
from sally.core.match.player import Decision, Forfeit
from sally.core.rules.chance import Stream
from sally.core.rules.probe import ProbeReport, Question, corrupt
from tests.fixtures.haggle_rules import ADA, BO, CY, PASS, Put
from tests.table import all_probes, asked_in_turn, match_of, play_episode, seat, spec_of, table

AGENT = seat("agent")


def told(events: Any) -> list[Told]:
    return [e for e in events if isinstance(e, Told)]


def to_the_secret_turns(injection: Injection) -> Match:
    match = match_of(table("haggle", arms=all_probes("haggle"), injections=(injection,)))
    for turn, _ in asked_in_turn(match):
        if turn.view.phase == "hide":
            return match
    raise AssertionError("the secret turns never came")


# --- the truth ----------------------------------------------------------------------------------


def test_injected_seat_is_asked_last_and_told_moves_of_same_turn() -> None:
    match = to_the_secret_turns(Injection(ADA, "their_put"))
    turn, moves = match.turn, {BO: Put("wool"), CY: PASS}
    for ask in match.asks():
        assert ask.id != (turn, ADA, "", "")
        if ask.question is not None:
            match.answer(ask.id, ProbeReport("nothing"))
    for other_seat, action in moves.items():
        assert (turn, ADA, "", "") not in [t.id for t in match.asks()]
        match.answer((turn, other_seat, "", ""), Decision(action))
    (ask,) = match.asks()
    assert {t.about: t.value for t in ask.told} == {BO: "wool", CY: "nothing"}
    match.answer(ask.id, Decision(PASS))
    order = [type(e).__name__ for e in match.events if e.turn == turn]
    assert order == ["Reported"] * 6 + ["Told"] * 2 + ["Moved"] * 3


def test_forfeit_of_other_seat_is_logged_as_empty_injection() -> None:
    match = match_of(table("ipd", injections=(Injection(AGENT, "their_move"),)))
    match.answer((0, "partner", "", ""), Forfeit("unreadable"))
    (ask,) = match.asks()
    assert ask.told == ()
    match.answer(ask.id, Decision(0))
    assert [t.value for t in told(match.events)] == [None]


def test_injection_waits_for_truth_from_another_seats_report() -> None:
    """ada is to be told bo's own word, which bo gives in the same turn."""
    injection = Injection(ADA, "their_values")
    setup = table("haggle", 2, arms=all_probes("haggle"), injections=(injection,))
    episode = play_episode(setup)
    reports = {
        (e.turn, e.seat): e.value
        for e in episode.events
        if isinstance(e, Reported) and e.probe == "own_values"
    }
    assert told(episode.events)
    for event in told(episode.events):
        assert event.value == reports[event.turn, event.about] is not None


def test_injected_seat_is_probed_before_it_is_told() -> None:
    arms = {"agent": ("their_move",)}
    injections = (Injection(AGENT, "their_move", keep=True),)
    match = match_of(table("ipd", arms=arms, injections=injections))
    match.answer((0, "partner", "", ""), Decision(1))
    (probe,) = match.asks()  # the move is not yet asked: the page of the probe must be clean
    assert "will pick" not in probe.context.opening(probe.view, "agent_first")
    match.answer(probe.id, ProbeReport(0))
    (move,) = match.asks()
    assert [t.value for t in move.told] == [1]


# --- corruption ---------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [0.0, 0.3, 1.0])
def test_error_rate_matches_setting_and_wrong_values_are_uniform(error: float) -> None:
    question = Question("p", "choice", (0, 1, 2, 3))
    replies = [corrupt(question, 2, error, Stream("error", str(error), n)) for n in range(4000)]
    wrong = [value for value in replies if value != 2]
    assert len(wrong) / 4000 == pytest.approx(error, abs=0.025)
    for value in (0, 1, 3):
        assert wrong.count(value) / 4000 == pytest.approx(error / 3, abs=0.025)


def test_error_rate_holds_in_play() -> None:
    injection = Injection(AGENT, "their_move", error=0.4)
    wrong, rounds = [], 0
    for seed in range(100):
        episode = play_episode(table("rps", seed, injections=(injection,)))
        done = {
            e.turn: e.action for e in episode.events if isinstance(e, Moved) and e.seat != AGENT
        }
        for event in told(episode.events):
            rounds += 1
            if event.value != done[event.turn]:
                wrong.append((event.value - done[event.turn]) % 3)
    assert rounds == 600
    assert len(wrong) / rounds == pytest.approx(0.4, abs=0.06)
    assert wrong.count(1) / len(wrong) == pytest.approx(0.5, abs=0.1)


def test_corrupted_truth_replays_and_changed_value_is_a_mismatch() -> None:
    episode = play_episode(table("rps", 3, injections=(Injection(AGENT, "their_move", error=0.5),)))
    assert mismatch(spec_of("rps"), from_line(to_line(episode))) is None
    lied = [
        msgspec.structs.replace(e, value=(e.value + 1) % 3) if isinstance(e, Told) else e  # type: ignore[operator]
        for e in episode.events
    ]
    assert mismatch(spec_of("rps"), msgspec.structs.replace(episode, events=lied)) is not None


def test_corruption_does_not_change_other_random_draws() -> None:
    exact, wrong = (
        play_episode(table("rps", 3, injections=(Injection(AGENT, "their_move", error=e),)))
        for e in (0.0, 1.0)
    )
    assert [e for e in exact.events if isinstance(e, Moved)] == [
        e for e in wrong.events if isinstance(e, Moved)
    ]  # random players do not listen


# --- one's own prediction -----------------------------------------------------------------------


@pytest.mark.parametrize("keep", [True, False])
def test_own_prediction_is_told_back_and_kept_only_with_keep(keep: bool) -> None:
    injection = Injection(AGENT, "their_move", "own", keep=keep)
    match = match_of(table("ipd", arms={"agent": ("their_move",)}, injections=(injection,)))
    openings = []
    for turn, given in asked_in_turn(match):
        if turn.seat == AGENT and turn.question is None:
            assert [t.source for t in turn.told] == ["own"]
            openings.append(str(turn.context.opening(turn.view, "agent_first")))
        if turn.question is not None:
            assert turn.told == ()
            predicted = given.value
        elif turn.seat == AGENT:
            assert turn.told[0].value == predicted
    assert ["You have predicted" in page for page in openings] == [keep] * 6
    assert openings[-1].count("You have predicted") == (6 if keep else 0)


def test_seat_that_gave_no_readable_answer_is_told_nothing() -> None:
    injection = Injection(AGENT, "their_move", "own")
    match = match_of(table("ipd", arms={"agent": ("their_move",)}, injections=(injection,)))
    match.answer((0, "agent", "their_move", "partner"), ProbeReport(None))
    (ask,) = [t for t in match.asks() if t.seat == AGENT]
    assert ask.told == ()


# --- what cannot be -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("game", "injections", "why"),
    [
        ("ipd", (Injection(AGENT, "their_mov"),), "did you mean"),
        ("ipd", (Injection(seat("agnet"), "their_move"),), "did you mean agent"),
        ("ipd", (Injection(AGENT, "their_move", "own"),), "its arm does not ask that probe"),
        (
            "ipd",
            (Injection(AGENT, "their_move"), Injection(seat("partner"), "their_move")),
            "cannot both be told the truth",
        ),
        ("cups", (Injection(seat("seeker"), "false_belief"),), "not for seat 'seeker'"),
        (
            "haggle",
            (Injection(ADA, "their_values", error=0.1),),
            "A wrong answer to .* cannot be injected",
        ),
    ],
)
def test_invalid_injection_is_refused_before_play(
    game: str, injections: tuple[Injection, ...], why: str
) -> None:
    setup = msgspec.structs.replace(table(game), injections=injections)
    with pytest.raises(BadInput, match=why):
        match_of(setup)


def test_own_answer_after_move_cannot_be_injected_before_it() -> None:
    probe = "their_move_given_mine"
    injection = Injection(AGENT, probe, "own")
    with pytest.raises(BadInput, match="asked after the move"):
        match_of(table("ipd", arms={"agent": (probe,)}, injections=(injection,)))


@pytest.mark.parametrize("error", [-0.1, 1.1, float("nan")])
def test_error_rate_must_be_a_probability(error: float) -> None:
    with pytest.raises(ValueError, match="from 0 to 1"):
        Injection(AGENT, "their_move", error=error)
    with pytest.raises(ValueError, match="not allowed with source 'own'"):
        Injection(AGENT, "their_move", "own", error=0.5)
