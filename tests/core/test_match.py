"""A match: who is asked when, what is logged, and what failure does."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest

from sally.core.errors import BadInput, IllegalMove, NotAsked
from sally.core.log.events import (
    Call,
    Censored,
    Ended,
    Forfeited,
    Moved,
    Setup,
    ToolUse,
    episode_id,
    from_line,
    to_line,
)
from sally.core.match.drive import Driver
from sally.core.match.engine import Match
from sally.core.match.partner import Scripted
from sally.core.match.playback import mismatch
from sally.core.match.player import Decision, Fault, Forfeit, Turn
from sally.core.rules.game import NATURE
from tests.fixtures.haggle_rules import ADA, BO, CY, PASS, READER, Haggle, Offer, Put, Reading, Say
from tests.table import match_of, play_episode, spec_of, table


def answer(match: Match, seat: str, action: Any, **options: Any) -> None:
    """A seat's move in the present turn."""
    match.answer((match.turn, seat, "", ""), Decision(action, **options))


def open_seats(match: Match) -> list[str]:
    return [turn.seat for turn in match.asks()]


def haggling(seed: int = 0, **params: Any) -> Match:
    setup = table("haggle", seed)
    problem = msgspec.structs.replace(setup.instance, params=params)
    return match_of(msgspec.structs.replace(setup, instance=problem))


def all_spoken(match: Match) -> Match:
    for seat in (ADA, BO, CY):
        answer(match, seat, Say("Good morning."))
        answer(match, READER, Reading("nothing", 0))
    return match


# --- turn order, nature -------------------------------------------------------------------------


def test_nature_moves_before_any_seat_is_asked() -> None:
    match = match_of(table("cups"))
    assert [e.seat for e in match.events if isinstance(e, Moved)] == [NATURE, NATURE]
    assert open_seats(match) == ["hider"]


def test_driver_may_supply_natures_moves() -> None:
    match = Match(spec_of("cups"), table("cups"), ask_nature=True)
    for move in ("right", "peek"):
        assert open_seats(match) == [NATURE]
        answer(match, NATURE, move)
    with pytest.raises(IllegalMove):
        answer(match, "hider", "peek")
    answer(match, "hider", "keep")
    answer(match, "seeker", "right")
    assert match.events[-1] == Ended(4, {"hider": 0.0, "seeker": 1.0})


def test_simultaneous_moves_are_hidden_until_all_are_made() -> None:
    match = all_spoken(haggling())
    assert open_seats(match) == [ADA, BO, CY]
    logged = list(match.events)
    answer(match, CY, Put("wood"))
    answer(match, ADA, PASS)
    assert match.events == logged
    assert open_seats(match) == [BO]
    answer(match, BO, Put("wool"))
    new = match.events[len(logged) :]
    assert [e.seat for e in new if isinstance(e, Moved)] == [ADA, BO, CY]  # not as they came


def test_hidden_phase_is_revealed_at_its_end() -> None:
    match = all_spoken(haggling(secret_turns=2))
    first = {ADA: Put("wood"), BO: Put("wool"), CY: PASS}
    second = {ADA: PASS, BO: Put("wool"), CY: Put("wood")}
    for moves in (first, second):
        for turn in match.asks():
            assert {e.seat for e in turn.view.story if e.key == "put"} <= {turn.seat}
            assert not any(e.key == "revealed" for e in turn.view.story)
        for seat, action in moves.items():
            answer(match, seat, action)
    (turn,) = match.asks()
    texts = {e.seat: e.text for e in turn.view.story if e.key == "revealed"}
    assert {s: t.split() for s, t in texts.items()} == {
        ADA: ["wood"],
        BO: ["wool", "wool"],
        CY: ["wood"],
    }


# --- free text, a reader, rejection -------------------------------------------------------------


def test_rejected_message_is_asked_again_without_costing_a_turn() -> None:
    match = haggling()
    hand = dict(match.asks()[0].view.hand)
    answer(match, ADA, Say("I have 9 wood."))
    assert open_seats(match) == [READER]
    answer(match, READER, Reading("wood", 9))
    assert open_seats(match) == [ADA]
    assert match.state.refused == 1 and match.state.spoken == 0
    assert match.asks()[0].view.story[-1].key == "refused"
    answer(match, ADA, Say("The truth."))
    answer(match, READER, Reading("wood", int(hand["wood"])))
    assert open_seats(match) == [BO]
    assert match.state.refused == 0
    assert [e.key for e in match.asks()[0].view.story] == ["said"]  # bo heard only the true one


@pytest.mark.parametrize("retries", [0, 1, 3])
def test_rejections_beyond_retries_forfeit_the_turn(retries: int) -> None:
    setup = msgspec.structs.replace(table("haggle"), retries=retries)
    match = match_of(setup)
    for _ in range(retries + 1):
        assert open_seats(match) == [ADA]
        answer(match, ADA, Say("I have 9 wood."))
        answer(match, READER, Reading("wood", 9))
    assert open_seats(match) == [BO]
    lost_events = [e for e in match.events if isinstance(e, Forfeited)]
    assert [(e.seat, e.reason) for e in lost_events] == [(ADA, "rejected")]
    assert match.asks()[0].view.story[-1].key == "pass"


def test_failing_helper_censors_without_forfeit() -> None:
    for failing in (Forfeit("unreadable", "?"), Fault("fault", "no line")):
        match = haggling()
        answer(match, ADA, Say("Hello."))
        match.answer(match.asks()[0].id, failing)
        end = match.events[-1]
        assert isinstance(end, Censored) and end.seat == READER
        assert end.cause == ("helper" if isinstance(failing, Forfeit) else "fault")
        assert mismatch(spec_of("haggle"), from_line(to_line(match.episode()))) is None


# --- forfeits -----------------------------------------------------------------------------------


def test_forfeit_in_hidden_turn_passes_only_that_seat() -> None:
    match = all_spoken(haggling())
    answer(match, CY, Put("wood"))
    for seat in (BO, ADA):  # in the wrong order: the rules hear of it in seat order
        match.answer((match.turn, seat, "", ""), Forfeit("unreadable", "Hm."))
    assert match.state.hidden == (("", "", "wood"),)
    assert match.replay.forfeited == {match.turn - 1: (ADA, BO)}


def test_forfeit_event_records_reply_and_tries() -> None:
    match = haggling()
    call = Call("move", "abc", "Hm.")
    match.answer(match.asks()[0].id, Forfeit("length", "Hm.", 3, (call,)))
    assert Forfeited(1, ADA, "length", "Hm.", 3, (call,)) in match.events


# --- what a decision carries --------------------------------------------------------------------


def test_memory_is_returned_only_to_its_seat() -> None:
    match = match_of(table("ipd"))
    for seat in ("agent", "partner"):
        answer(match, seat, 0, memory=f"{seat}'s plan")
    assert {t.seat: t.memory for t in match.asks()} == {
        "agent": "agent's plan",
        "partner": "partner's plan",
    }


def test_notes_survive_a_forfeit_and_stay_with_their_seat() -> None:
    match = match_of(table("ipd"))
    answer(match, "partner", 0, memory="partner's plan")
    match.answer((0, "agent", "", ""), Forfeit("unreadable", memory="agent's plan"))
    plans = {"agent": "agent's plan", "partner": "partner's plan"}
    assert {t.seat: t.memory for t in match.asks()} == plans
    for seat in ("agent", "partner"):
        match.answer((1, seat, "", ""), Forfeit("unreadable"))
    assert {t.seat: t.memory for t in match.asks()} == plans


def test_only_language_players_notes_are_logged() -> None:
    match = match_of(table("ipd"))
    answer(match, "agent", 0, memory={"table": 1})
    answer(match, "partner", 0, memory="a note", calls=(Call("move", "abc"),))
    assert [e.memory for e in match.events if isinstance(e, Moved)] == [None, "a note"]


def test_tool_sees_the_view_and_is_logged_with_the_decision() -> None:
    episode = play_episode(table("haggle", player="plain_dealer"))
    used = [(e.seat, e.looked) for e in episode.events if isinstance(e, Moved) and e.looked]
    assert [seat for seat, _ in used] == [ADA, BO, CY]
    assert used[0][1] == (ToolUse("worth", {"wood": "1", "wool": "1/2"}, "7/2"),)
    assert mismatch(spec_of("haggle"), from_line(to_line(episode))) is None


def test_unknown_tool_is_refused_by_name() -> None:
    (turn,) = haggling().asks()
    with pytest.raises(BadInput, match="did you mean worth"):
        turn.use("wroth", {})


def test_tool_use_is_not_shared_between_turns() -> None:
    first, second = haggling().asks()[0], haggling().asks()[0]
    first.use("worth", {"wood": "1"})
    assert second.looked == ()


# --- the end ------------------------------------------------------------------------------------


def test_unfinished_match_has_no_episode() -> None:
    with pytest.raises(BadInput, match="not over"):
        haggling().episode()


def test_moves_before_censoring_are_kept() -> None:
    match = match_of(table("ipd"))
    answer(match, "partner", 1)
    match.censor("budget", "1 of 1 spent")
    assert match.events == [Moved(0, "partner", 1), Censored(0, "budget", "1 of 1 spent")]
    assert match.asks() == []
    with pytest.raises(NotAsked):
        match.censor("budget")


def test_rules_may_stop_an_episode_without_a_result() -> None:
    match = match_of(table("ipd"))
    for _ in range(3):
        answer(match, "agent", 0)
        match.answer((match.turn, "partner", "", ""), Forfeit("unreadable"))
    assert match.over
    assert match.events[-1] == Censored(3, "forfeits", "3 rounds in a row were void")
    assert match.episode().payoffs is None


def test_payoff_that_is_not_finite_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Haggle, "payoffs", lambda self, state: {ADA: float("inf")})
    with pytest.raises(BadInput, match="must be finite"):
        play_episode(table("haggle"))


# --- ids ----------------------------------------------------------------------------------------


def test_episode_id_is_hash_of_setup_and_survives_serialization() -> None:
    setup = table("haggle", 5, arms={"ada": ("own_values",)})
    episode = from_line(to_line(play_episode(setup)))
    assert episode.id == episode_id(setup) == episode_id(episode.setup)
    others = [
        msgspec.structs.replace(setup, seed=6),
        msgspec.structs.replace(setup, arms={}),
        msgspec.structs.replace(setup, retries=3),
        msgspec.structs.replace(setup, repeat=1),
        msgspec.structs.replace(setup, version=2),
        table("haggle", 5, arms={"ada": ("own_values",)}, player="plain_dealer"),
    ]
    assert len({episode_id(s) for s in (setup, *others)}) == 7


# --- drivers ------------------------------------------------------------------------------------


def test_open_asks_are_sent_concurrently() -> None:
    out: list[str] = []

    class Meets:
        """Answers only when the other has been asked, too."""

        async def decide(self, turn: Turn) -> Any:
            out.append(turn.seat)
            while len(out) % 2:
                await asyncio.sleep(0)
            return Decision(0)

    match = match_of(table("ipd"))
    asyncio.run(asyncio.wait_for(Driver(match, {"agent": Meets(), "partner": Meets()}).arun(), 60))
    assert match.over and len(out) == 12


def test_error_in_a_player_leaves_no_task_behind() -> None:
    class Breaks:
        async def decide(self, turn: Turn) -> Any:
            await asyncio.sleep(0)
            raise RuntimeError("broken")

    class Waits:
        async def decide(self, turn: Turn) -> Any:
            await asyncio.sleep(60)

    async def run() -> None:
        match = match_of(table("ipd"))
        with pytest.raises(RuntimeError, match="broken"):
            await Driver(match, {"agent": Breaks(), "partner": Waits()}).arun()
        await asyncio.sleep(0)
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(run())


def test_probe_of_player_without_report_is_skipped_with_reason() -> None:
    match = match_of(table("cups", arms={"hider": ("false_belief",)}))
    players: dict[str, Any] = {
        "hider": Scripted(lambda turn: "swap"),
        "seeker": Scripted(lambda turn: "left"),
    }
    Driver(match, players).run()
    skipped = [e for e in match.events if type(e).__name__ == "Skipped"]
    assert [e.reason for e in skipped] == ["this player takes no questions"]  # type: ignore[union-attr]


# --- a setup that cannot be ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"retries": -1}, "retries must be at least 0"),
        ({"version": 9}, "rules version 1; this setup asks for 9"),
        ({"arms": {"adda": ()}}, "did you mean ada"),
        ({"arms": {"ada": ("own_value",)}}, "did you mean own_values"),
        ({"arms": {"reader": ("own_values",)}}, "not for seat 'reader'"),
        ({"arms": {"ada": ("own_values", "own_values")}}, "names a probe twice"),
    ],
)
def test_invalid_setup_is_refused(change: dict[str, Any], why: str) -> None:
    setup: Setup = msgspec.structs.replace(table("haggle"), **change)
    with pytest.raises(BadInput, match=why):
        match_of(setup)


def test_offer_is_a_form_with_exact_amounts() -> None:
    match = all_spoken(haggling(secret_turns=0))
    hand = dict(match.asks()[0].view.hand)
    for want, reason in (((("wool", "7"),), "at most 6"), ((("gold", "1"),), "gold")):
        with pytest.raises(IllegalMove, match=reason):
            answer(match, ADA, Offer(BO, (), want))
    with pytest.raises(IllegalMove, match="'ada' is not one of bo or cy"):
        answer(match, ADA, Offer(ADA, (), ()))
    answer(match, ADA, Offer(BO, (("wood", "1/3"),), (("wool", "2/3"),)))
    assert open_seats(match) == [BO]
    answer(match, BO, match.asks()[0].options[-1])
    remaining_hand = dict(match.state.hands[0])
    assert float(hand["wood"]) - 1 / 3 == pytest.approx(eval(remaining_hand["wood"]))
