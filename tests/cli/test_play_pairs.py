"""`sally play GAME --pairs COUNT`: certified pairs at the keyboard."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import sally
from sally import store
from sally.api.pair_play import play_pairs, score_episodes
from sally.cli import cli
from sally.core.errors import BadInput
from sally.core.registry import registry


def type_answers(typed: str, *arguments: str) -> Result:
    return CliRunner().invoke(cli, ["play", *arguments], input=typed)


def test_key_that_is_always_pressed_scores_0(tmp_path: Path) -> None:
    place = tmp_path / "out"
    result = type_answers("1\n" * 12, "ibs", "--pairs", "3", "--out", str(place))
    assert result.exit_code == 0, result.output
    assert "3 pairs: you predicted 0 rightly in both positions (J 0.00)" in result.output
    episodes = store.load(place).episodes.values()
    positions = [episode.setup.instance.position for episode in episodes]
    assert {(position.pair, position.member) for position in positions} == {
        (pair, member) for pair in {position.pair for position in positions} for member in (0, 1)
    }


def test_positions_of_a_pair_are_far_apart() -> None:
    episodes = play_pairs("ibs", ("pair_reasoner", {"recipe": "ibs", "order": 2}), 4)
    pairs = [episode.setup.instance.position.pair for episode in episodes]
    assert pairs[:4] == pairs[4:] and len(set(pairs)) == 4
    score = score_episodes(episodes)
    assert (score.pairs, score.knowing.j.value, score.doing.j.value) == (4, 1.0, 1.0)


def test_leaving_ends_the_session() -> None:
    result = type_answers("1\n", "ibs", "--pairs", "2")
    assert result.exit_code == 0 and "No pair was finished" in result.output


def test_score_is_printed_as_json() -> None:
    result = type_answers("1\n" * 4, "ibs", "--pairs", "1", "--json")
    assert json.loads(result.stdout)["pairs"] == 1


@pytest.mark.parametrize(
    ("arguments", "why"),
    [(("ipd", "--pairs", "2"), "has no certified pairs"),
     (("ibs", "--pairs", "2", "--probe", "their_move"), "leave out --as")],
)  # fmt: skip
def test_wrong_request_is_refused(arguments: tuple[str, ...], why: str) -> None:
    result = type_answers("", *arguments)
    assert isinstance(result.exception, BadInput) and why in str(result.exception)


@pytest.mark.parametrize("game", ["ibs", "toma_mg", "toma_po", "battery"])
def test_reasoner_refuses_a_turn_that_is_no_position_of_a_pair(game: str) -> None:
    seats = [str(seat) for seat in registry.game(game).build({}).seats]
    lineup = {**dict.fromkeys(seats, "random"), seats[0]: "pair_reasoner"}
    with pytest.raises(BadInput, match="answers positions of certified pairs"):
        sally.play(game, lineup)
