"""A void round hides the other's move, never one's own; bots take it as their setting says."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from sally.core.errors import BadInput
from sally.core.rules.game import Seat
from sally.games.repeated_games.partners.basis import UNSEEN, Drawn, Odds, with_void
from sally.games.repeated_games.rules import AGENT, PARTNER, RepeatedGame, State, View
from tests.games.repeated_games.sitting import partner, rules

R, P, S = 0, 1, 2
Past = Sequence[tuple[int | None, int | None]]  # (agent's, partner's); None: no move


def state_after(game: RepeatedGame, past: Past) -> State:
    state = game.start()
    for agent, counterpart in past:
        moves = {seat: m for seat, m in ((AGENT, agent), (PARTNER, counterpart)) if m is not None}
        lost_seats = tuple(seat for seat in game.seats if seat not in moves)
        state = game.forfeit(state, moves, lost_seats) if lost_seats else game.step(state, moves)
    return state


def view(game: RepeatedGame, past: Past, seat: Seat = PARTNER) -> View:
    return game.observe(state_after(game, past), seat)


def odds(name: str, past: Past, void: str = "published") -> Odds:
    """What a bot plays next; the agent is the person."""
    game = rules("rps", rounds=50, void_limit=50)
    script = partner(name).make(game, PARTNER, void=void)
    assert isinstance(script, Drawn)
    return script.odds(view(game, past))


# --- who knows what of a void round ---------------------------------------------------------------


@pytest.mark.parametrize("hidden", [R, P, S])
def test_move_of_the_other_seat_in_a_void_round_is_hidden(hidden: int) -> None:
    game = rules("rps", rounds=9)
    single_view, two = (view(game, [(R, P), (None, move)], AGENT) for move in (R, hidden))
    assert single_view == two


def test_seat_remembers_its_own_move_of_a_void_round() -> None:
    game = rules("rps", rounds=9)
    past = [(R, P), (None, S), (P, P), (None, None)]
    assert list(with_void(view(game, past))) == [(P, R), (S, UNSEEN), (P, P)]
    assert list(with_void(view(game, past, AGENT))) == [(R, P), (P, P)]
    assert view(game, past).played() == [(P, R), (P, P)]


# --- adaptive bots --------------------------------------------------------------------------------


def test_skip_joins_rounds_around_a_void_round_and_published_does_not() -> None:
    # after rock the person once played paper, if the void round between them is left out
    past = [(R, R), (None, R), (P, R), (R, R)]
    assert odds("adaptive_opponent_previous", past, "skip") == {S: 1.0}
    assert odds("adaptive_opponent_previous", past) == {R: 1 / 3, P: 1 / 3, S: 1 / 3}


def test_published_bot_draws_uniformly_if_the_needed_move_is_missing() -> None:
    past = [(R, R), (R, R), (None, R)]
    assert odds("adaptive_opponent_previous", past, "skip") == {P: 1.0}
    assert len(odds("adaptive_opponent_previous", past)) == 3


def test_published_bot_uses_its_own_move_of_the_void_round() -> None:
    # after its rock the person played paper, after its scissors rock
    past = [(R, R), (P, S), (R, R), (None, S)]
    assert odds("adaptive_bot_previous", past, "skip") == {S: 1.0}
    assert odds("adaptive_bot_previous", past) == {P: 1.0}


def test_published_bot_needs_both_of_the_last_two_moves() -> None:
    past = [(R, R), (R, R), (R, R), (None, R), (R, R)]
    assert odds("adaptive_opponent_previous_two", past, "skip") == {P: 1.0}
    assert len(odds("adaptive_opponent_previous_two", past)) == 3


# --- stable bots ----------------------------------------------------------------------------------


def likeliest(chances: Odds) -> int:
    return max(chances, key=lambda move: chances[move])


def test_missing_move_counts_as_loss_for_outcome_based_bot() -> None:
    past = [(P, R), (None, S)]  # it lost with rock, then nobody moved against its scissors
    assert likeliest(odds("win_plus_lose_minus", past, "skip")) == S  # down from rock
    assert likeliest(odds("win_plus_lose_minus", past)) == R  # up from scissors, a win


def test_copying_bot_draws_uniformly_if_there_is_no_move_to_copy() -> None:
    past = [(P, R), (None, S)]
    assert likeliest(odds("opponent_previous_nil", past, "skip")) == P
    assert set(odds("opponent_previous_nil", past).values()) == {1 / 3}


def test_unknown_void_round_setting_is_refused_with_a_suggestion() -> None:
    with pytest.raises(BadInput, match="did you mean published"):
        odds("adaptive_transition", [], "publishd")
