"""The end of every game with everything open: who got what, what was hidden, and why."""

from __future__ import annotations

import re

import msgspec
import pytest

from sally.core.display.reveal import Ending, ending_of, ending_text
from sally.core.match.engine import Match
from sally.core.match.seat_context import SeatContext
from sally.core.registry import registry
from sally.core.rules.game import Seat
from sally.games.hanabi.state import Played
from sally.games.toma.po.game import frozen_scenarios
from sally.games.toma.po.rules import AGENTS, FAILURE, answer, predictions
from sally.web.live.screen_text import words_of
from tests.table import asked_in_turn, match_of, table

OURS = {family for family, home in registry.packages().items() if home.startswith("sally.")}
GAMES = sorted(registry.games())


def ended(game: str, seed: int = 3, **params: object) -> Match:
    setup = table(game, seed)
    instance = msgspec.structs.replace(setup.instance, params={**setup.instance.params, **params})
    match = match_of(msgspec.structs.replace(setup, instance=instance))
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
    told_ending = ending(ended("battery", practice=True, length=4), "reader")
    right = round(told_ending.scores[0].points)
    assert told_ending.why.startswith(
        f"{right} of 4 answers were right (the practice does not count)"
    )


def test_end_of_toma_po_names_the_rule_and_only_what_could_be_predicted() -> None:
    reasons = {}
    for name, scenario in frozen_scenarios().items():
        right = answer(scenario)
        if (kind := (scenario.level, right == FAILURE)) in reasons:
            continue
        told_ending = ending(ended("toma_po", scenario=name), "player")
        reasons[kind] = told_ending.why
        predicted = predictions(scenario)
        named = {
            agent for agent, letter in enumerate(AGENTS) if f"{letter} takes " in told_ending.why
        }
        assert named == set(predicted)
        captions = [part.caption for part in told_ending.board.parts]
        assert captions[1:] == ["Who knows whose costs", "How they decide"]
        ticks = [
            sum("✔" in cell.text for cell in row.cells) for row in told_ending.board.parts[0].rows
        ]
        assert all(
            ticks[agent] == (agent in predicted) for agent in range(4) if agent != scenario.player
        )
    assert "two take the same one" in reasons[1, True]
    assert "two take the same one" not in reasons[1, False]
    assert "you could not know" in reasons[0, False]
    assert "sum of the four costs is lowest" in reasons[4, False]


@pytest.mark.parametrize("seed", range(1, 9))
def test_end_of_mindgames_says_why_the_other_player_chose(seed: int) -> None:
    match = ended("mindgames", seed)
    why = ending(match, "persuader").why
    stated = re.search(r"dislike: (\w) (−?\d), (\w) (−?\d)\)\.$", why)
    assert stated is not None, why
    chosen, worth, other, other_worth = stated.groups()
    letters = match.game.names.proposals
    assert chosen == letters[match.game.current_choice(match.state)] and other != chosen
    is_better = int(worth.replace("−", "-")) > int(other_worth.replace("−", "-"))
    assert is_better == ("suited them better" in why) != ("suited them no better" in why)


@pytest.mark.parametrize("seat", ["buyer", "seller"])
def test_end_of_bargaining_says_what_a_trade_paid(seat: str) -> None:
    match = ended("bargaining", 3, rounds=5)
    stated = re.search(
        r"(\d+) units?,.*: (-?[\d.]+) points a unit for you", ending(match, seat).why
    )
    assert stated is not None
    paid = match.game.payoffs(match.state)[Seat(seat)]
    assert int(stated[1]) * float(stated[2]) == pytest.approx(paid, rel=0.01)


@pytest.mark.parametrize("seed", range(1, 5))
def test_end_of_elicitation_says_how_the_points_came_about(seed: int) -> None:
    match = ended("elicitation", seed)
    why = ending(match, "player").why
    kept, factor, back, total = map(
        float,
        re.search(r"kept (\d+)\. .* you (\d+) times (\d+): (\d+) points in all", why).groups(),
    )
    assert kept + factor * back == total == match.game.payoffs(match.state)[Seat("player")]
    best = max(match.game.true_values)
    assert ("No choice paid more" in why) == (best == total)
    assert (f"would have paid {best:.4g}, because the other answers" in why) == (best > total)
