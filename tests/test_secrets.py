"""One test per secret: two states that differ only in X look the same to seat Y, to the letter."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from sally.core.match.engine import Match
from sally.core.match.player import Decision
from sally.core.match.seat_context import SeatContext
from sally.core.rules.game import Seat
from sally.games.repeated_games.rules import AGENT, PARTNER
from tests.fixtures import cups
from tests.fixtures.haggle_rules import ADA, BO, CY, DEALS, PASS, READER, Put, Reading, Say
from tests.table import match_of, spec_of, table


def page(match: Match, seat: Seat) -> str:
    """All that a seat can read in the present state."""
    view = match.game.observe(match.state, seat)
    context = SeatContext(match.spec, match.game, seat, 1)
    options = match.game.options(match.state, seat) if seat in {*_movers(match)} else ()
    past = "".join(str(context.opening(view, form)) for form in context.words.forms)
    return f"{past}{context.words.now(view)}{options}{view}"


def _movers(match: Match) -> tuple[Seat, ...]:
    return match.game.to_move(match.state)


def match_at(name: str, *moves: tuple[str, Any]) -> Match:
    """A match after these moves, nature's included."""
    match: Match = Match(spec_of(name), table(name), ask_nature=True)
    for seat, action in moves:
        match.answer((match.turn, seat, "", ""), Decision(action))
    return match


# --- cups ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("first", cups.CUPS)
def test_seeker_that_did_not_peek_cannot_see_the_swap(first: str) -> None:
    swapped, kept_match = (
        match_at("cups", ("nature", first), ("nature", "miss"), ("hider", hid))
        for hid in ("swap", "keep")
    )
    assert page(swapped, cups.SEEKER) == page(kept_match, cups.SEEKER)
    assert page(swapped, cups.HIDER) != page(kept_match, cups.HIDER)


def test_seeker_that_peeked_can_see_the_swap() -> None:
    swapped, kept_match = (
        match_at("cups", ("nature", "left"), ("nature", "peek"), ("hider", hid))
        for hid in ("swap", "keep")
    )
    assert page(swapped, cups.SEEKER) != page(kept_match, cups.SEEKER)


# --- haggle -------------------------------------------------------------------------------------

SPOKEN = [
    pair for seat in (ADA, BO, CY) for pair in ((seat, Say("Hi.")), (READER, Reading("nothing", 0)))
]


def test_hands_and_values_are_hidden_from_other_seats() -> None:
    """Deals 0 and 1 differ in what ada and bo hold and value, and not in cy."""
    assert DEALS[0][2] == DEALS[1][2] and DEALS[0][:2] != DEALS[1][:2]
    match, two = (match_at("haggle", ("nature", deal), *SPOKEN) for deal in (0, 1))
    assert page(match, CY) == page(two, CY)
    assert page(match, READER) == page(two, READER)
    assert page(match, ADA) != page(two, ADA)


def test_hidden_moves_are_unseen_until_the_phase_ends() -> None:
    def after(bo: Any) -> Match:
        return match_at("haggle", ("nature", 0), *SPOKEN, (ADA, PASS), (BO, bo), (CY, PASS))

    single_match, two = after(Put("wood")), after(Put("wool"))
    for seat in (ADA, CY, READER):
        assert page(single_match, seat) == page(two, seat)
    assert page(single_match, BO) != page(two, BO)
    for match in (single_match, two):
        for seat in (ADA, BO, CY):
            match.answer((match.turn, seat, "", ""), Decision(PASS))
    assert page(single_match, ADA) != page(two, ADA)


def test_rejected_message_is_hidden_from_other_seats() -> None:
    said = ((ADA, Say("Hi.")), (READER, Reading("nothing", 0)))
    lied = ((ADA, Say("I have 9 wood.")), (READER, Reading("wood", 9)))
    match, two = (
        match_at("haggle", ("nature", 0), *said),
        match_at("haggle", ("nature", 0), *lied, *said),
    )
    for seat in (BO, CY):
        assert page(match, seat) == page(two, seat)
    assert page(match, ADA) != page(two, ADA)


def test_message_being_read_is_hidden_from_other_seats() -> None:
    quiet, reading = (
        match_at("haggle", ("nature", 0)),
        match_at("haggle", ("nature", 0), (ADA, Say("Hi."))),
    )
    for seat in (BO, CY):
        assert page(quiet, seat) == page(reading, seat)


def test_reader_sees_the_words_and_not_the_hand() -> None:
    match, two = (match_at("haggle", ("nature", deal), (ADA, Say("Hi."))) for deal in (0, 1))
    assert page(match, READER) == page(two, READER)


# --- repeated games -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["rps", "ibs", "ipd"])
def test_move_is_unseen_until_both_have_moved(name: str) -> None:
    match = match_of(table(name))
    page_before = page(match, AGENT)
    match.answer((0, "partner", "", ""), Decision(1))
    assert page(match, AGENT) == page_before


@pytest.mark.parametrize("name", ["rps", "ibs", "ipd"])
def test_void_round_reveals_no_move(name: str) -> None:
    game = spec_of(name).build()
    shown = set()
    for action in (0, 1):
        state = game.forfeit(game.start(), {PARTNER: action}, (AGENT,))
        context = SeatContext(spec_of(name), game, AGENT, 1)
        view = game.observe(state, AGENT)
        shown.add(str(context.opening(view, "agent_first")) + str(view))
    assert len(shown) == 1


# --- the match itself ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["cups", "haggle", "ipd"])
def test_turn_gives_no_access_to_the_state(name: str) -> None:
    """Whatever a player can reach through public names is its own."""
    match = match_of(table(name))
    secret = match.state
    for turn in match.asks():
        reached = [getattr(turn, field) for field in turn.__struct_fields__]
        reached += [v for k, v in vars(turn.context).items() if not k.startswith("_")]
        assert not any(thing is secret or thing is match for thing in reached)


def test_report_is_hidden_from_other_seats() -> None:
    arms = {"agent": ("their_move",)}
    pages = set()
    for value in (0, 1):
        match = match_of(table("ipd", arms=arms))
        from sally.core.rules.probe import ProbeReport

        match.answer((0, "agent", "their_move", "partner"), ProbeReport(value))
        for seat in (AGENT, PARTNER):
            match.answer((0, seat, "", ""), Decision(0))
        turn = next(t for t in match.asks() if t.seat == PARTNER)
        pages.add(page(match, PARTNER) + str(msgspec.structs.replace(turn, context=None)))
        assert page(match, AGENT).count("predict") == 0  # nor by itself, without injection
    assert len(pages) == 1
