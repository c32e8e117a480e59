"""k-ToM gives the choice probabilities of the public package tomsup 1.4.1, digit by digit."""

from __future__ import annotations

from typing import Any

import pytest

from sally.core.errors import BadInput
from sally.core.rules.game import Seat
from sally.games.level_k.k_tom import KTom, KTomState
from sally.games.level_k.minds import gains_of, k_tom
from sally.games.level_k.payoffs import Pennies, Request
from sally.games.level_k.rules import LevelGame

GAME = LevelGame(pays=Pennies(), rounds=60)
SEATS = (Seat("player_1"), Seat("player_2"))
ROUNDS_TOLD = ("11", "01", "11", "10", "00", "10", "01", "11", "00", "11", "01", "10")
ROUNDS = tuple((int(a), int(b)) for a, b in ROUNDS_TOLD)

# tomsup 1.4.1, penny_competitive, volatility -2, temperature -1, no bias, no dilution: the chance
# of playing 1 before each round, then after the last.
CHANCES = {
    (0, 0): ".5 .2623 .147129 .092532 .261128 .512108 .713389 .473365 .282861 .516856 .31511 "
    ".190281 .403224",
    (0, 1): ".5 .7377 .852871 .907468 .738872 .487892 .286611 .526635 .717139 .483144 .68489 "
    ".809719 .596776",
    (1, 0): ".5 .205874 .712445 .249573 .164408 .5255 .304639 .611112 .341421 .606667 .383784 "
    ".612024 .370542",
    (1, 1): ".5 .205874 .621082 .281372 .136088 .621042 .208586 .63971 .282466 .700878 .247001 "
    ".688544 .326479",
    (2, 0): ".5 .48961 .769314 .401338 .257876 .452944 .275646 .578384 .44564 .547901 .490893 "
    ".673191 .413666",
    (2, 1): ".5 .212752 .412551 .222887 .233888 .689228 .358529 .571972 .233924 .687886 .276593 "
    ".518886 .391941",
    (3, 0): ".5 .594713 .735478 .52851 .424724 .457199 .399165 .523541 .555201 .476067 .585675 "
    ".575213 .517028",
    (3, 1): ".5 .292034 .350801 .279639 .363766 .673125 .48255 .50563 .297958 .616595 .364525 "
    ".439185 .515599",
}
WEIGHTS = {
    (2, 0): (0.477955, 0.522045),
    (2, 1): (0.471544, 0.528456),
    (3, 0): (0.266907, 0.297429, 0.435664),
    (3, 1): (0.315337, 0.355844, 0.328819),
}


@pytest.mark.parametrize(("k", "seat"), CHANCES)
def test_probabilities_equal_those_of_the_public_package(k: int, seat: int) -> None:
    thinks = KTom(gains_of(GAME, SEATS[seat]), k)
    mind, results = thinks.start, []
    results.append(thinks.chance(mind))
    for own, counterpart in ROUNDS:
        mind = thinks.update_mind(mind, own, counterpart)
        results.append(thinks.chance(mind))
    assert results == pytest.approx([float(p) for p in CHANCES[k, seat].split()], abs=1e-6)
    if (k, seat) in WEIGHTS:
        assert isinstance(mind, KTomState)
        assert [g.weight for g in mind.guesses] == pytest.approx(WEIGHTS[k, seat], abs=1e-6)


@pytest.mark.parametrize("k", [0, 1, 2])
def test_k_tom_depends_only_on_the_view_not_on_query_order(k: int) -> None:
    mind = k_tom(GAME, SEATS[0], k)
    states = [GAME.start()]
    for own, counterpart in ROUNDS:
        states.append(GAME.step(states[-1], {SEATS[0]: own, SEATS[1]: counterpart}))
    expected_values = [float(p) for p in CHANCES[k, 0].split()]
    for n in (12, 0, 5, 6, 3, 12):  # back and forth: what it remembers must not matter
        view = GAME.observe(states[n], SEATS[0])
        assert mind.does(view)[1] == pytest.approx(expected_values[n], abs=1e-6)


def test_void_round_does_not_change_k_tom() -> None:
    played = GAME.step(GAME.start(), {SEATS[0]: 1, SEATS[1]: 1})
    void = GAME.forfeit(played, {}, (SEATS[1],))
    mind = k_tom(GAME, SEATS[0], 2)
    assert mind.does(GAME.observe(void, SEATS[0])) == mind.does(GAME.observe(played, SEATS[0]))


# the same package, with (volatility, temperature, bias, dilution): the last three chances
WITH_MORE = {
    (1, 0, -2.0, -1.0, 0.4, None): (0.383372, 0.505555, 0.385426),
    (1, 1, -1.0, -0.5, -0.3, 0.7): (0.407494, 0.719002, 0.464124),
    (2, 0, -2.0, -1.0, None, -1.5): (0.500877, 0.678233, 0.412447),
    (2, 1, -2.0, -1.0, 0.4, None): (0.526215, 0.823435, 0.652899),
    (3, 0, -1.0, -0.5, -0.3, 0.7): (0.325816, 0.411036, 0.290852),
    (3, 1, -2.0, -1.0, None, -1.5): (0.38602, 0.382576, 0.520548),
}


@pytest.mark.parametrize(("settings", "wanted"), WITH_MORE.items())
def test_probabilities_equal_public_package_with_bias_and_dilution(
    settings: tuple[Any, ...], wanted: tuple[float, ...]
) -> None:
    k, seat, *parameters = settings
    thinks = KTom(gains_of(GAME, SEATS[seat]), k, *parameters)
    mind, results = thinks.start, []
    for own, counterpart in ROUNDS:
        mind = thinks.update_mind(mind, own, counterpart)
        results.append(thinks.chance(mind))
    assert results[-3:] == pytest.approx(wanted, abs=1e-6)


def test_bias_leans_towards_one_side() -> None:
    gains = gains_of(GAME, SEATS[0])
    assert KTom(gains, 1, bias=1.0).chance(KTom(gains, 1, bias=1.0).start) > 0.7


@pytest.mark.parametrize("settings", [{"k": -1}, {"k": 6}, {"k": 1.5}])
def test_invalid_settings_are_refused(settings: dict[str, float]) -> None:
    with pytest.raises(BadInput):
        k_tom(GAME, SEATS[0], **settings)  # type: ignore[arg-type]


def test_k_tom_requires_a_game_of_two_moves() -> None:
    with pytest.raises(BadInput, match="two moves"):
        k_tom(LevelGame(pays=Request()), SEATS[0])
