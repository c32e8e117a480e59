"""Pairs: positions play and replay, certificates hold, and dialled players are recovered."""

from __future__ import annotations

import msgspec
import pytest
from click.testing import CliRunner

from sally.analysis.pairs.audit import audit_pairs
from sally.analysis.pairs.certificate import certify
from sally.analysis.pairs.learners import LEARNERS, attack_pairs
from sally.analysis.pairs.positions import open_position, position_setup, right_answers
from sally.analysis.pairs.score import join_pairs, read_position, score_player
from sally.cli import cli
from sally.core.errors import BadInput
from sally.core.log.events import Episode, PlayerSpec, from_line, to_line
from sally.core.match.drive import Driver
from sally.core.match.engine import Match
from sally.core.match.playback import mismatch
from sally.core.match.player import Decision, Turn
from sally.core.registry import registry
from sally.core.registry.recipes import recipes_of
from sally.core.rules.chance import Stream
from sally.core.rules.pair import Pair, PairRecipe, draw_pair
from sally.core.rules.probe import ProbeReport
from sally.games.repeated_games.pairs import PAIRS
from sally.runner.seating import players_of, resolve_setup

RECIPES = [
    (recipe, order)
    for name in registry.entries("games")
    for recipe in recipes_of(name)
    for order in recipe.orders
]


def answer_pair(
    recipe: PairRecipe, pair: Pair, knows: float, acts: float, seed: int
) -> list[Episode]:
    """Return both members as a dialled player answers them."""
    spec = registry.game(pair.game)
    episodes = []
    for member in (0, 1):
        position = open_position(recipe, pair, member)
        right = right_answers(recipe, position)
        chance = Stream(seed, pair.id, member)
        question = position.asks["know"].question
        assert question is not None
        knows_it = chance() < knows
        predicted = right["know"][0] if knows_it else chance.pick(tuple(question.choices))
        called_for = recipe.best_moves(position.game, position.view, predicted)
        menu = tuple(position.asks["do"].options)
        move = called_for[0] if called_for and chance() < acts else chance.pick(menu)

        class Player:
            def decide(self, turn: Turn[object, object], move: object = move) -> Decision[object]:
                return Decision(move)

            def report(
                self, turn: Turn[object, object], predicted: object = predicted
            ) -> ProbeReport:
                return ProbeReport(predicted)  # type: ignore[arg-type]

        setup = resolve_setup(position_setup(recipe, pair, member, PlayerSpec("random")))
        match: Match[object, object, object] = Match(spec, setup)
        players = players_of(match)
        players[recipe.seat] = Player()  # type: ignore[assignment]
        Driver(match, players).run()
        episodes.append(match.episode())
    return episodes


@pytest.mark.parametrize(("recipe", "order"), RECIPES, ids=lambda x: getattr(x, "name", x))
def test_certificate_holds(recipe: PairRecipe, order: int) -> None:
    for number in range(2):
        pair = draw_pair(recipe, order, 5, number)
        assert certify(pair).problems == ()


@pytest.mark.parametrize(("recipe", "order"), RECIPES, ids=lambda x: getattr(x, "name", x))
def test_positions_replay_from_disk(recipe: PairRecipe, order: int) -> None:
    pair = draw_pair(recipe, order, 6, 0)
    for episode in answer_pair(recipe, pair, 1.0, 1.0, 1):
        stored = from_line(to_line(episode))
        assert stored.id == episode.id
        assert mismatch(registry.game(pair.game), stored) is None
        read = read_position(stored)
        assert read is not None and set(read.answers) == {"know", "do"}


@pytest.mark.parametrize(("recipe", "order"), RECIPES, ids=lambda x: getattr(x, "name", x))
def test_perfect_player_scores_one(recipe: PairRecipe, order: int) -> None:
    episodes = [
        episode
        for number in range(3)
        for episode in answer_pair(recipe, draw_pair(recipe, order, 7, number), 1.0, 1.0, 1)
    ]
    score = score_player(join_pairs(filter(None, map(read_position, episodes))))
    for part in (score.knowing, score.doing, score.acting):
        assert part is not None
        assert part.j.value == part.d.value == 1
    assert (score.known_not_done, score.done_not_known) == (0, 0)


def test_dialled_player_is_recovered() -> None:
    recipe = PAIRS[0]
    episodes = [
        episode
        for number in range(80)
        for episode in answer_pair(recipe, draw_pair(recipe, 1, 8, number), 0.9, 0.3, 1)
    ]
    score = score_player(join_pairs(filter(None, map(read_position, episodes))))
    assert score.knowing is not None and score.doing is not None and score.acting is not None
    for estimate, expected in (
        (score.knowing.j, 0.9),
        (score.doing.j, 0.27),
        (score.acting.j, 0.3),
        (score.gap, 0.63),
    ):
        assert estimate is not None and estimate.low is not None and estimate.high is not None
        assert estimate.low - 0.02 <= expected <= estimate.high + 0.02


def test_tampered_pair_has_no_certificate() -> None:
    recipe = PAIRS[0]
    pair = draw_pair(recipe, 2, 5, 0)
    first, second = pair.members
    past = ({"agent": (first.past[0]["agent"] + 1) % 3, "partner": first.past[0]["partner"]},)
    changed = msgspec.structs.replace(first, past=past + first.past[1:])
    problems = certify(msgspec.structs.replace(pair, members=(changed, second))).problems
    assert "C1: the own moves differ" in problems


def test_past_that_the_rules_forbid_is_refused() -> None:
    recipe = PAIRS[0]
    pair = draw_pair(recipe, 0, 5, 0)
    wrong = msgspec.structs.replace(pair.members[0], past=({"agent": 7, "partner": 0},))
    pair = msgspec.structs.replace(pair, members=(wrong, pair.members[1]))
    with pytest.raises(BadInput, match="illegal move of agent"):
        open_position(recipe, pair, 0)


def test_audit_finds_nothing_to_object_to() -> None:
    for audit in audit_pairs("rps", pairs=8):
        assert audit.certified == audit.pairs and audit.problems == {}
        for score in audit.reasoners:
            expected = float(score.answerer.endswith(str(audit.order)))
            assert score.j.value == expected
        assert {score.j.value for score in audit.rules if score.answerer != "random"} == {0.0}


def test_learner_finds_an_answer_planted_on_the_page() -> None:
    def plant(page: str, is_right: bool) -> str:
        return page.replace("This is round", "THIS is the round" if is_right else "It is the round")

    scores = attack_pairs(PAIRS[1], 2, train=30, test=20, plant=plant)
    assert {score.learner for score in scores} == set(LEARNERS)
    for score in scores:
        assert score.score.j.value == 1


def test_command_prints_one_line_for_each_order() -> None:
    result = CliRunner().invoke(cli, ["audit", "ibs", "--pairs", "--count", "5"])
    assert result.exit_code == 0, result.output
    assert "battle" in result.output and "away from 0" not in result.output
