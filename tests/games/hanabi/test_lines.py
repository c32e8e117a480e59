"""Lines of play of the bots that conventions do not bind, and of the hat-guessing one."""

from __future__ import annotations

from collections.abc import Callable
from statistics import mean

import pytest

from sally.games.hanabi.bots import BOTS
from sally.games.hanabi.bots.exact import bookkeeper, reader
from sally.games.hanabi.bots.info import InfoMemory, info
from sally.games.hanabi.bots.mindless import MINDLESS
from sally.games.hanabi.bots.rule_agents import rule_agent
from sally.games.hanabi.bots.simple import simple
from sally.games.hanabi.rules import Hanabi
from sally.games.hanabi.state import Policy, State, revealed_faces
from tests.games.hanabi.sitting import VARIANTS, bot_states, deck_of, final_score, played

GAME = Hanabi(score="kept")
COLOURS = GAME.colours
FIVES, REDS, ONES = (GAME.hint(1, value) for value in (COLOURS + 4, 0, COLOURS))


def dealt(ann: str, bob: str, *rest: str) -> State:
    return GAME.dealt(deck_of(GAME, *ann.split(), *bob.split(), *rest))


def odds(make: Callable[[Hanabi], Policy], state: State, game: Hanabi = GAME) -> dict[int, float]:
    return dict(make(game)(game.observe(state, game.seats[state.mover])))


START = dealt("r5 y3 g3 b3 w3", "r1 y4 g4 b4 w4")


def test_legal_random_draws_from_the_whole_menu() -> None:
    menu = GAME.options(START, GAME.seats[0])
    assert odds(rule_agent("legal_random"), START) == dict.fromkeys(menu, 1 / len(menu))


def test_outer_hints_colour_first_and_discards_at_random_without_tokens() -> None:
    nothing_playable = dealt("r5 y3 g3 b3 w3", "r2 y4 g4 b4 w4")
    assert odds(rule_agent("outer"), nothing_playable) == {REDS: 1.0}
    spent = dealt("r5 y3 g3 b3 w3", "r2 y4 g4 b4 w4")
    for _ in range(4):
        spent = played(GAME, spent, REDS, FIVES)  # no token is left
    assert odds(rule_agent("outer"), spent) == dict.fromkeys(range(5), 0.2)


def test_piers_plays_an_uncertain_card_where_iggi_does_not() -> None:
    """Four of the five colours of a one are still open when red was played."""
    state = dealt("r3 y3 g3 b3 w3", "r1 y1 g4 b4 w4")
    told_state = played(GAME, state, ONES, GAME.play(0), GAME.hint(1, COLOURS + 3))
    assert odds(rule_agent("piers"), told_state) == {GAME.play(0): 1.0}
    assert GAME.play(0) not in odds(rule_agent("iggi"), told_state)


def test_mindless_bots_follow_the_rule_in_their_name() -> None:
    state = played(GAME, START, ONES, GAME.hint(1, COLOURS + 4))  # each was told of slot 0
    hints = [a for a in GAME.options(state, GAME.seats[0]) if a >= 2 * GAME.hand_size]
    even = dict.fromkeys(hints, 1 / len(hints))
    lines = {
        "hint_always": even,
        "play_oldest": {GAME.play(0): 1.0},
        "play_newest": {GAME.play(4): 1.0},
        "discard_oldest": {0: 1.0},
        "discard_newest": {4: 1.0},
        "play_hinted": {GAME.play(0): 1.0},
        "shun_hinted": {GAME.play(1): 1.0},
    }
    assert set(lines) == set(MINDLESS)
    for name, line in lines.items():
        assert odds(MINDLESS[name], state) == line, name


def test_bookkeeper_plays_by_counting_and_reader_by_hint_meaning() -> None:
    """Told its reds, SimpleBot's partner may play; by counting alone a red card may be anything."""
    mini = Hanabi(**VARIANTS["mini"])
    state = mini.dealt(deck_of(mini, "r3", "y3", "g3", "r1", "y2", "g2"))
    reds = mini.hint(1, 0)
    told_state = played(mini, state, reds)
    assert odds(lambda game: reader(game, simple), told_state, mini) == {mini.play(0): 1.0}
    assert mini.play(0) not in odds(bookkeeper, told_state, mini)
    ones = played(mini, state, mini.hint(1, mini.colours))
    assert odds(bookkeeper, ones, mini) == {mini.play(0): 1.0}


# --- hat guessing -------------------------------------------------------------------------------


def test_one_hint_of_info_informs_both_partners_of_a_playable_card() -> None:
    game = Hanabi(players=3, score="kept")
    hands = "r5 y5 g5 b5 w5 r4 y1 g4 b4 w4 g1 y4 r3 b3 w3"
    state = game.dealt(deck_of(game, *hands.split()))
    (hint,) = odds(info, state, game)
    assert hint >= 2 * game.hand_size
    first = played(game, state, hint)
    assert odds(info, first, game) == {game.play(1): 1.0}
    second = played(game, first, game.play(1))
    assert odds(info, second, game) == {game.play(0): 1.0}


def test_info_bots_in_all_seats_hold_the_same_table() -> None:
    """Whatever each of them sees, all take every card to be the same things."""
    game = Hanabi(players=4)
    for state in list(bot_states(game, info, 3))[::6]:
        tables = []
        for seat in game.seats:
            view = game.observe(state, seat)
            memory = InfoMemory(game, view.me)
            memory.faces = revealed_faces(view)
            for event in view.past:
                memory.see(event)
            tables.append(memory.may_be)
        assert all(table == tables[0] for table in tables)
        faces = dict(zip(sum(state.ids, ()), sum(state.hands, ()), strict=True))
        assert all(cards >> faces[id] & 1 for id, cards in tables[0].items())  # and are right


@pytest.mark.parametrize(("players", "least"), [(2, 21.0), (3, 24.0), (4, 23.8), (5, 24.0)])
def test_info_scores_above_the_expected_minimum(players: int, least: float) -> None:
    """Twelve deals; `sally reproduce hanabi_bots` plays more, beside the published means."""
    game = Hanabi(players=players, score="kept")
    assert mean(final_score(game, BOTS["info"], deal) for deal in range(12)) > least
