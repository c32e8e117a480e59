"""What each mind does and expects: lines of play by hand, and declared = behaved."""

from __future__ import annotations

from typing import Any

import pytest

from sally.core.errors import BadInput
from sally.core.log.events import PlayerSpec
from sally.core.match.playback import replay_episode
from sally.core.match.player import Turn
from sally.core.match.seat_context import SeatContext
from sally.core.registry import registry
from sally.core.rules.game import Seat
from sally.games.level_k.minds import MINDS, NOTHING, cognitive_hierarchy, level, mind_of, people
from sally.games.level_k.payoffs import Boxes, Contest, Pennies, Request
from sally.games.level_k.rules import LevelGame
from tests.table import play_episode, table

ONE, TWO = Seat("player_1"), Seat("player_2")
ELEVEN_TWENTY, BOXES = LevelGame(), LevelGame(pays=Boxes())


def numbers(game: LevelGame, depths: range = range(5), **settings: Any) -> list[int]:
    """What levels name, where each names one number."""
    return [min(level(game, ONE, k, **settings).does(NOTHING)) for k in depths]


def test_each_level_asks_for_one_less() -> None:
    assert numbers(ELEVEN_TWENTY) == [20, 19, 18, 17, 16]
    assert numbers(ELEVEN_TWENTY, range(8, 11)) == [12, 11, 20]  # below 11 there is nothing


def test_level_steps_equal_the_gap() -> None:
    game = LevelGame(pays=Request(low=1, high=30, gap=3))
    assert numbers(game) == [30, 27, 24, 21, 18]


def test_levels_of_a_contest_multiply_by_the_share() -> None:
    assert numbers(LevelGame(pays=Contest())) == [50, 33, 22, 15, 10]
    assert numbers(LevelGame(pays=Contest(share="1/2"))) == [50, 25, 13, 6, 3]
    assert numbers(LevelGame(pays=Contest(share="4/3"))) == [50, 67, 89, 100, 100]


def test_salient_box_attracts_seekers_and_repels_hiders() -> None:
    third, rest = {2: 1.0}, dict.fromkeys((0, 1, 3), 1 / 3)
    assert [level(BOXES, ONE, k).does(NOTHING) for k in range(4)] == [third, rest, rest, third]
    assert [level(BOXES, TWO, k).does(NOTHING) for k in range(4)] == [third, third, rest, rest]


def test_level_expects_the_level_below() -> None:
    assert level(ELEVEN_TWENTY, ONE, 0).expects is None
    for k in range(1, 5):
        expects = level(ELEVEN_TWENTY, ONE, k).expects
        assert expects is not None
        assert expects(NOTHING) == level(ELEVEN_TWENTY, TWO, k - 1).does(NOTHING)


def test_level_zero_may_draw_from_any_odds() -> None:
    uniform = level(ELEVEN_TWENTY, ONE, 1, base="uniform")
    assert uniform.does(NOTHING) == {19: 1.0}  # 19 + 2 beats 18 + 2 and 20
    values = [0.0] * 9 + [1.0]
    assert numbers(ELEVEN_TWENTY, base=values) == numbers(ELEVEN_TWENTY)


def test_hierarchy_replies_to_a_mixture() -> None:
    """Level 2 with tau 1.5 meets level 0 (20) with chance 0.4 and level 1 (19) with 0.6."""
    second = cognitive_hierarchy(ELEVEN_TWENTY, ONE, 2, 1.5)
    assert second.expects is not None
    assert second.expects(NOTHING) == pytest.approx({19: 0.6, 20: 0.4})
    assert second.does(NOTHING) == {18: 1.0}  # 18 + 12 beats 19 + 8
    shallow = cognitive_hierarchy(ELEVEN_TWENTY, ONE, 2, 0.5)
    assert shallow.does(NOTHING) == {19: 1.0}  # most are level 0 then
    contest = cognitive_hierarchy(LevelGame(pays=Contest()), ONE, 2, 1.5)
    assert contest.does(NOTHING) == {27: 1.0}  # 2/3 of (0.4 x 50 + 0.6 x 33)


def test_human_odds_exist_only_for_the_published_game() -> None:
    odds = people(ELEVEN_TWENTY, ONE).does(NOTHING)
    assert max(odds, key=odds.__getitem__) == 17
    for game in (BOXES, LevelGame(pays=Request(bonus=10)), LevelGame(pays=Contest())):
        with pytest.raises(BadInput, match="only known for"):
            people(game, ONE)


@pytest.mark.parametrize(
    ("game", "settings"),
    [
        (ELEVEN_TWENTY, {"k": -1}),
        (ELEVEN_TWENTY, {"k": 21}),
        (ELEVEN_TWENTY, {"base": "loud"}),
        (ELEVEN_TWENTY, {"base": [1.0]}),
        (LevelGame(pays=Pennies()), {"base": "salient"}),
    ],
)
def test_invalid_settings_are_refused(game: LevelGame, settings: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        level(game, ONE, **settings)


DECLARED = [
    ("eleven_twenty", "level", {"k": 2}),
    ("eleven_twenty", "cognitive_hierarchy", {"k": 3}),
    ("eleven_twenty", "people", {}),
    ("eleven_twenty", "equilibrium", {}),
    ("beauty_contest", "level", {"k": 1}),
    ("hide_and_seek", "level", {"k": 2}),
    ("matching_pennies", "k_tom", {"k": 2}),
    ("matching_pennies", "equilibrium", {}),
    ("hide_and_seek", "constant", {"place": 1}),
]


@pytest.mark.parametrize(("game", "name", "params"), DECLARED)
def test_partner_moves_match_declared_odds(game: str, name: str, params: Any) -> None:
    """Every move has a chance above 0, and over many games the chances are met."""
    expected = value = variance = 0.0
    for seed in range(60):
        episode = play_episode(table(game, seed, player_2=PlayerSpec(name, params)))
        replay = replay_episode(registry.game(game), episode)
        assert isinstance(replay.game, LevelGame)
        mind = mind_of(replay.game, TWO, replay.lineup["player_2"])
        assert mind is not None
        for step in replay.steps():
            odds = mind.does(replay.view(step.turn, TWO))
            move = step.moves[TWO]
            assert odds.get(move, 0) > 0
            top = max(odds, key=odds.__getitem__)
            expected, value = expected + odds[top], value + (move == top)
            variance += odds[top] * (1 - odds[top])
    assert abs(value - expected) <= 4 * variance**0.5 + 1e-9


def test_every_declared_mind_has_a_partner_with_its_settings() -> None:
    partners = registry.partners("level_k")
    assert set(MINDS) - {"random", "constant"} <= set(partners)
    for name, declared in MINDS.items():
        if name in partners:
            assert partners[name].params == declared.settings


HABITS = [
    ("repeater", "0000"),
    ("switcher", "0101"),
    ("win_stay_lose_shift", "0001"),
    ("win_shift_lose_stay", "0110"),
]


@pytest.mark.parametrize(("name", "plays"), HABITS)
def test_habits_play_their_declared_sequence(name: str, plays: str) -> None:
    """Against 1, 1, 0 in matching pennies; the first player wins where the coins differ."""
    game = LevelGame(pays=Pennies(), rounds=9)
    spec = registry.game("matching_pennies")
    script = registry.partners("level_k")[name].make(game, ONE)
    state = game.start()
    state = game.step(state, {ONE: 0, TWO: 1})  # it plays 0 first, and wins
    text = "0"
    for against in (1, 0, 1):
        turn: Turn[int, Any] = Turn(
            (len(text), ONE, "", ""),
            SeatContext(spec, game, ONE, 1),
            game.observe(state, ONE),
            game.menu(ONE),
        )
        move = script(turn)
        text += str(move)
        state = game.step(state, {ONE: move, TWO: against})
    assert text == plays
