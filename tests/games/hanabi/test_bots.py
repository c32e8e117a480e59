"""The bots: what they do move by move, and what they score."""

from __future__ import annotations

from collections.abc import Callable
from statistics import mean, stdev

import pytest

from sally.games.hanabi.bots.holmes import holmes
from sally.games.hanabi.bots.info import info
from sally.games.hanabi.bots.rule_agents import blind, rule_agent
from sally.games.hanabi.bots.simple import simple
from sally.games.hanabi.bots.smart import smart
from sally.games.hanabi.rules import Hanabi
from sally.games.hanabi.state import Policy, State
from tests.games.hanabi.sitting import VARIANTS, bot_states, deck_of, final_score, played

GAME = Hanabi(score="kept")
Make = Callable[[Hanabi], Policy]


def wants(make: Make, state: State, game: Hanabi = GAME) -> int:
    """The one move that a bot has in mind."""
    (action,) = make(game)(game.observe(state, game.seats[state.mover]))
    return action


def dealt(ann: str, bob: str, *rest: str) -> State:
    return GAME.dealt(deck_of(GAME, *ann.split(), *bob.split(), *rest))


# --- line of play -------------------------------------------------------------------------------

ONES = dealt("r3 y3 g3 b3 w3", "r5 r1 y1 g4 b4")
TELL_ONES = GAME.hint(1, GAME.colours)


@pytest.mark.parametrize("make", [simple, holmes])
def test_bot_hints_two_playable_ones_and_partner_plays_the_older_first(
    make: Make,
) -> None:
    assert wants(make, ONES) == TELL_ONES
    state = played(GAME, ONES, TELL_ONES)
    assert wants(make, state) == GAME.play(1)


def test_simple_forgets_a_hint_once_an_equal_card_is_played() -> None:
    """Both ones were told to go; the play of one makes SimpleBot forget the other."""
    state = played(GAME, ONES, TELL_ONES, GAME.play(1), GAME.hint(1, GAME.colours + 4))
    assert wants(simple, state) != GAME.play(1)  # the five now in slot 0 was told as well


def test_rank_hint_on_oldest_card_with_all_tokens_is_a_tempo_hint() -> None:
    state = dealt("r3 y3 g3 b3 w3", "r5 y4 g4 b4 w4")
    passing = GAME.hint(1, GAME.colours + 4)
    for make in (simple, holmes, smart):
        assert wants(make, state) == passing
        assert wants(make, played(GAME, state, passing)) != GAME.play(0)


def test_smart_hints_a_last_copy_and_the_next_seat_keeps_it() -> None:
    """A five is a last copy from the start; with three at the table it is no tempo hint."""
    game = Hanabi(players=3)
    hands = "r2 y2 g2 b2 w2 r5 y4 g4 b4 w4 r3 y3 g3 b3 w3"
    state = game.dealt(deck_of(game, *hands.split()))
    fives = game.hint(1, game.colours + 4)
    assert wants(smart, state, game) == fives
    warned = played(game, state, fives)
    assert wants(smart, warned, game) not in (0, game.play(0))


def test_smart_plays_the_newest_card_of_a_hint() -> None:
    state = dealt("r3 y3 g3 b3 w3", "y4 r4 g4 b4 r1")
    assert wants(smart, played(GAME, state, GAME.hint(1, 0))) == GAME.play(4)


def test_smart_discards_playable_card_that_partner_holds_as_newest() -> None:
    state = dealt("r1 y3 g3 b3 w3", "y4 b4 g4 b2 r1", "w2")
    fours, red = GAME.hint(1, GAME.colours + 3), GAME.hint(1, 0)
    # to pass the time, and so that ann knows the red one
    told_state = played(GAME, state, fours, red)
    assert wants(smart, told_state) == 0
    assert wants(smart, played(GAME, told_state, 0)) == GAME.play(4)


def test_iggi_hints_the_first_playable_card_and_plays_a_sure_one() -> None:
    iggi = rule_agent("iggi")
    assert wants(iggi, ONES) == TELL_ONES
    state = played(GAME, ONES, TELL_ONES)
    assert wants(iggi, state) == GAME.play(1)  # any one is playable on empty piles


def test_van_den_bergh_takes_a_risk_while_it_has_a_life_to_spare() -> None:
    state = dealt("r3 y3 g3 b3 w3", "r5 r1 y1 g4 b4")
    told_state = played(GAME, state, TELL_ONES, GAME.play(1), GAME.hint(1, GAME.colours + 4))
    # four of five ones are next
    assert wants(rule_agent("van_den_bergh"), told_state) == GAME.play(1)
    assert wants(rule_agent("outer"), told_state) != GAME.play(1)


def test_blind_plays_any_card() -> None:
    odds = blind(GAME)(GAME.observe(ONES, GAME.seats[0]))
    assert odds == {GAME.play(slot): 0.2 for slot in range(5)}


# --- conduct ------------------------------------------------------------------------------------

BOTS: dict[str, Make] = {
    "simple": simple,
    "holmes": holmes,
    "smart": smart,
    "info": info,
    "blind": blind,
    **{n: rule_agent(n) for n in ("legal_random", "iggi", "outer", "piers", "van_den_bergh")},
}


@pytest.mark.parametrize("name", sorted(BOTS))
@pytest.mark.parametrize("variant", sorted(VARIANTS))
def test_bots_play_every_variant_by_the_rules(name: str, variant: str) -> None:
    for players in (2, 3):
        game = Hanabi(players=players, **VARIANTS[variant])
        for deal in range(4):
            *_, end = bot_states(game, BOTS[name], deal)
            assert game.is_over(end)


@pytest.mark.parametrize("name", sorted(BOTS))
def test_bot_is_a_function_of_its_view(name: str) -> None:
    """Whether it has watched from the start or sees the view for the first time."""
    for game in (Hanabi(players=2), Hanabi(players=4)):
        watching = [BOTS[name](game) for _ in game.seats]
        for state in list(bot_states(game, BOTS[name], 5))[:-1]:
            view = game.observe(state, game.seats[state.mover])
            assert watching[state.mover](view) == BOTS[name](game)(view)


@pytest.mark.parametrize("name", ["simple", "holmes", "smart", "info"])
def test_one_bot_can_play_two_games_at_once(name: str) -> None:
    bot = BOTS[name](GAME)
    games = [list(bot_states(GAME, BOTS[name], deal))[:-1] for deal in (1, 2)]
    for pair in zip(*games, strict=False):
        for state in pair:
            view = GAME.observe(state, GAME.seats[state.mover])
            assert bot(view) == BOTS[name](GAME)(view)


@pytest.mark.parametrize("first", ["simple", "holmes", "smart", "info"])
def test_bots_play_with_partners_of_other_conventions(first: str) -> None:
    for second in ("legal_random", "simple", "smart", "outer"):
        for deal in range(3):
            policies = [BOTS[first](GAME), BOTS[second](GAME)]
            state = GAME.dealt(Hanabi(deal=deal).start().deck)
            while not GAME.is_over(state):
                seat = GAME.seats[state.mover]
                odds = policies[state.mover](GAME.observe(state, seat))
                action = min(odds)
                assert action in GAME.options(state, seat)
                state = GAME.step(state, {seat: action})


# --- published means ----------------------------------------------------------------------------
# Quuxplusone/Hanabi's README, piles counted whatever happened; the README prints no errors.

PUBLISHED: dict[tuple[str, int], tuple[float, int]] = {
    ("blind", 2): (1.25, 400),
    ("simple", 2): (16.92, 80),
    ("simple", 3): (18.48, 80),
    ("simple", 4): (19.32, 60),
    ("simple", 5): (18.50, 60),
    ("holmes", 2): (20.75, 30),
    ("holmes", 3): (20.86, 30),
    ("holmes", 4): (20.46, 24),
    ("holmes", 5): (18.40, 24),
    ("smart", 2): (23.09, 30),
    ("smart", 3): (23.30, 30),
    ("smart", 4): (22.44, 24),
    ("smart", 5): (20.69, 24),
}


@pytest.mark.parametrize(("name", "players"), sorted(PUBLISHED))
def test_bot_scores_match_published_means(name: str, players: int) -> None:
    """Within three standard errors of these deals; `sally reproduce hanabi_bots` plays more."""
    published, deals = PUBLISHED[name, players]
    game = Hanabi(players=players, score="kept")
    scores = [final_score(game, BOTS[name], deal) for deal in range(deals)]
    error = stdev(scores) / len(scores) ** 0.5
    assert abs(mean(scores) - published) < 3 * error + 0.005
    assert error < 0.6  # enough deals to tell the bots apart
