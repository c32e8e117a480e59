"""The end of every game with everything open: who got what, what was hidden, and why."""

from __future__ import annotations

import msgspec
import pytest

from sally.core.display.reveal import Ending, ending_of, ending_text
from sally.core.match.engine import Match
from sally.core.match.seat_context import SeatContext
from sally.core.registry import registry
from sally.core.rules.game import Seat
from sally.games.hanabi.state import Played
from sally.web.live.screen_text import words_of
from tests.table import asked_in_turn, match_of, table

OURS = {family for family, home in registry.packages().items() if home.startswith("sally.")}
GAMES = sorted(registry.games())


def ended(game: str, seed: int = 3) -> Match:
    match = match_of(table(game, seed))
    for _ in asked_in_turn(match):
        pass
    return match


def ending(match: Match, seat: str) -> Ending:
    texts = words_of(match.spec)
    return ending_of(SeatContext(match.spec, match.game, Seat(seat), 1, texts), match.replay)


@pytest.mark.parametrize("game", GAMES)
def test_end_of_every_game_says_who_got_what_and_why(game: str) -> None:
    match = ended(game)
    paid = match.game.payoffs(match.state)
    for seat in match.game.seats:
        told_ending = ending(match, seat)
        assert told_ending.scores[0].seat == seat
        assert {score.seat: score.points for score in told_ending.scores} == paid
        assert told_ending.why and told_ending.board is not None and told_ending.board.parts
        assert msgspec.json.decode(msgspec.json.encode(told_ending), type=dict)["why"]
        assert told_ending.why in ending_text(told_ending)
    if registry.family(game).name in OURS:
        assert registry.part(game, "reveal") is not None


def test_game_without_a_reveal_shows_the_moves_of_all_seats() -> None:
    match = ended("haggle")
    table_of_moves = ending(match, "ada").board.parts[-1]
    assert table_of_moves.caption == "What everyone did"
    assert table_of_moves.columns == ("ada", "bo", "cy")
    assert any(cell.text != "–" for row in table_of_moves.rows for cell in row.cells)


def test_end_opens_what_a_seat_could_not_see() -> None:
    haggling = ended("bargaining")
    buyer, seller = ending(haggling, "buyer"), ending(haggling, "seller")
    assert [note.text for note in buyer.hidden] == [str(haggling.state.cost)]
    assert [note.text for note in seller.hidden] == [str(haggling.state.value)]

    fireworks = ended("hanabi_mini")
    cards = ending(fireworks, "ann").board.parts[0].rows[1:]
    assert [len(row.cards) for row in cards] == [len(hand) for hand in fireworks.state.hands]
    assert all(card.text != "?" for row in cards for card in row.cards)

    small = ended("hanabi_very_small")
    mistake = [event for event in small.state.past if isinstance(event, Played)][-1]
    assert not small.state.lives and not mistake.scored
    lost = f"played red {mistake.card + 1}, which was not the next of its colour, and lost the last"
    assert f"{('you', 'Bob')[mistake.by]} {lost}" in ending(small, "ann").why
    assert f"{('Ann', 'you')[mistake.by]} {lost}" in ending(small, "bob").why

    radio = ended("toma_sw")
    notes = {note.label: note.text for note in ending(radio, "eavesdropper").hidden}
    assert notes["Password"] == radio.state.world.password
    row, column = radio.state.world.treasure
    assert notes["Treasure"] == f"row {row}, column {column}"

    words = ended("codenames")
    marks = [square.mark for square in ending(words, "guesser").board.parts[0].squares]
    assert marks.count("goal") == 1 and "good" in marks and "bad" in marks  # the whole key


def test_end_of_the_battery_leaves_out_the_practice_question() -> None:
    setup = table("battery", 3)
    params = {**setup.instance.params, "practice": True, "length": 4}
    instance = msgspec.structs.replace(setup.instance, params=params)
    match = match_of(msgspec.structs.replace(setup, instance=instance))
    for _ in asked_in_turn(match):
        pass
    told_ending = ending(match, "reader")
    right = round(told_ending.scores[0].points)
    assert told_ending.why.startswith(
        f"{right} of 4 answers were right (the practice does not count)"
    )
