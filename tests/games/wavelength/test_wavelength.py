"""Wavelength at the table: a target that one sees, a dial that the other turns."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from benchmarks.problem_sets.wavelength import make
from sally.core.errors import BadInput
from sally.core.match.player import Forfeit
from sally.games.wavelength.dials import (
    Dial,
    best_clue,
    best_points,
    clues_by_target,
    places_on,
    reading,
    set_for,
    targets_behind,
)
from sally.games.wavelength.instances import frozen
from sally.games.wavelength.rules import Clue, Wavelength, legal
from sally.games.wavelength.spectra import spectra
from tests.games.association.tables import match_at, measured, page_of, played, say

ICE = {"left": "cold", "right": "hot", "target": 5}
FIRE = {"left": "cold", "right": "hot", "target": 95}
ASKED = {"psychic": ("their_dial", "their_side", "placing"), "guesser": ("placing", "target")}
SHIFTED = ("own_dial", {"shift": 20.0})


def one_round(**problem: Any) -> dict[str, Any]:
    return {"rounds": 1, "problems": [problem]}


@pytest.mark.parametrize(
    ("dial", "points"), [(5, 4), (7, 4), (8, 3), (11, 3), (12, 2), (15, 2), (16, 0), (90, 0)]
)
def test_points_grow_as_the_dial_nears_the_target(dial: int, points: int) -> None:
    match = match_at("wavelength", one_round(**ICE))
    say(match, "psychic", Clue("snow"))
    say(match, "guesser", dial)
    assert match.episode().payoffs == {"psychic": points, "guesser": points}


@pytest.mark.parametrize(
    ("clue", "why"),
    [
        ("hot", "too close"),
        ("colder", "too close"),
        ("five", "names a place"),
        ("a b", "letters"),
    ],
)
def test_illegal_clue_is_returned_to_psychic_with_its_reason(clue: str, why: str) -> None:
    match = match_at("wavelength", one_round(**ICE))
    say(match, "psychic", Clue(clue))
    assert [turn.seat for turn in match.asks()] == ["psychic"]
    assert why in page_of(match, "psychic")
    assert why not in page_of(match, "guesser")


def test_guesser_cannot_see_the_target_before_the_dial_is_set() -> None:
    pages = []
    for problem in (ICE, FIRE):
        match = match_at("wavelength", one_round(**problem))
        say(match, "psychic", Clue("snow"))
        pages.append((page_of(match, "psychic"), page_of(match, "guesser")))
    assert pages[0][0] != pages[1][0]
    assert pages[0][1] == pages[1][1]


def test_psychic_page_does_not_depend_on_guesser_before_a_dial() -> None:
    pages = [
        page_of(match_at("wavelength", {}, guesser=("own_dial", {"shift": shift})), "psychic")
        for shift in (0.0, 20.0)
    ]
    assert pages[0] == pages[1]


def test_round_without_a_clue_is_void_and_the_guesser_is_not_asked() -> None:
    match = match_at("wavelength", {"rounds": 2})
    match.answer((0, "psychic", "", ""), Forfeit("unreadable"))
    assert [turn.seat for turn in match.asks()] == ["psychic"]
    assert "no clue was given" in page_of(match, "guesser")


# --- dials ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dial", "word", "at"),
    [
        (Dial(), "snow", 0),
        (Dial(), "stove", 100),
        (Dial(stretch=-1.0), "snow", 100),
        (Dial(shift=20.0), "snow", 20),
        (Dial(shift=20.0), "stove", 100),
        (Dial(stretch=0.5), "snow", 25),
        (Dial(stretch=0.5), "stove", 75),
    ],
)
def test_dial_places_words_at_declared_positions(dial: Dial, word: str, at: int) -> None:
    assert set_for(dial, word, "cold", "hot") == at


def test_reversed_spectrum_mirrors_every_position() -> None:
    assert np.allclose(places_on("cold", "hot") + places_on("hot", "cold"), 100, atol=0.1)


@pytest.mark.parametrize("target", range(0, 101, 7))
def test_no_other_word_earns_more_than_the_best_clue(target: int) -> None:
    game, dial = Wavelength(), Dial(shift=20.0, stretch=0.8)
    best = best_points(game, dial, "sad", "happy", target)
    all_sets = [set_for(dial, word, "sad", "happy") for word in legal("sad", "happy")]
    assert best == max(game.points(target, at) for at in all_sets)


def test_targets_behind_a_clue_are_those_for_which_it_is_said() -> None:
    dial = Dial(stretch=0.5)
    clue = best_clue(dial, "quiet", "loud", 10)
    numbers = targets_behind(dial, "quiet", "loud", clue)
    assert 10 in numbers
    assert all(clues_by_target(dial, "quiet", "loud")[target] == clue for target in numbers)
    assert reading(dial, "quiet", "loud").min() == pytest.approx(25)


# --- partners and measures ------------------------------------------------------------------------


def test_psychic_with_same_dial_as_guesser_has_no_loss() -> None:
    match = played("wavelength", {"number": 3}, ASKED, psychic=SHIFTED, guesser=SHIFTED)
    for name in ("regret", "inference", "translation", "association", "calibration"):
        assert measured(match, "psychic", f"wavelength_{name}") == 0


def test_adaptive_psychic_learns_a_shifted_dial_and_plain_one_does_not() -> None:
    plain, learner = (
        played("wavelength", {"number": 3}, ASKED, psychic=(player_name, {}), guesser=SHIFTED)
        for player_name in ("own_dial", "adapts")
    )
    first, last = (
        measured(learner, "psychic", f"wavelength_regret_{n}") for n in ("first", "last")
    )
    assert first is not None and last is not None and last == 0 < first
    assert (measured(plain, "psychic", "wavelength_regret") or 0) > 2
    assert (measured(plain, "psychic", "wavelength_calibration") or 0) > 10
    assert measured(plain, "psychic", "wavelength_association") == 0


def test_swapped_partner_shows_as_a_jump_in_regret() -> None:
    turned = {"shift": 20.0, "until": 5, "then_shift": -20.0}
    match = played(
        "wavelength", {"number": 3}, psychic=("adapts", {}), guesser=("own_dial", turned)
    )
    dials = [turn.points for turn in match.replay.view(len(match.replay), "psychic").past]  # type: ignore[arg-type]
    assert dials[4] >= 3 > dials[5]


def test_regret_is_blank_if_the_partner_declares_no_dial() -> None:
    match = played("wavelength", {"number": 3}, psychic=("own_dial", {}))
    assert measured(match, "psychic", "wavelength_regret") is None
    assert measured(match, "guesser", "wavelength_regret") is not None


def test_play_of_a_mirrored_dial() -> None:
    match = match_at("wavelength", {"rounds": 2, "problems": [ICE, FIRE]})
    game = match.game
    assert isinstance(game, Wavelength)
    plays = [set_for(Dial(stretch=-1.0), word, "cold", "hot") for word in ("snow", "ice", "stove")]
    assert plays == [100, 100, 0]


# --- the frozen set -------------------------------------------------------------------------------


def test_frozen_set_equals_generator_output() -> None:
    assert frozen("balanced") == make()


def test_targets_and_sides_are_balanced_in_every_round() -> None:
    rows = frozen("balanced").rows
    for number in range(10):
        tenths = Counter(min(row[number].target // 10, 9) for row in rows)
        assert all(7 <= tenths[tenth] <= 13 for tenth in range(10))
    lefts = {spectrum.left for spectrum in spectra()}
    share = np.mean([problem.left in lefts for row in rows for problem in row])
    assert 0.45 < share < 0.55


@pytest.mark.parametrize(
    "params",
    [{"rounds": 0}, {"rounds": 11}, {"number": 100}, {"set": "?"}, {"bands": [[6, 3], [2, 4]]}],
)
def test_invalid_parameters_are_refused(params: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        match_at("wavelength", params)
