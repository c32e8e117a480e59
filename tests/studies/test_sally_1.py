"""The suite Sally-1: frozen, nested, balanced, paired."""

from __future__ import annotations

from collections import Counter
from hashlib import blake2b

import msgspec
import pytest

from sally.analysis.evaluation import measured_of
from sally.core.errors import BadInput
from sally.core.log.events import episode_id
from sally.core.registry import registry
from sally.core.registry.study import Cell, instance, player_spec
from sally.frames.frame import as_frame
from sally.players.language import LANGUAGE
from sally.runner.local import orders, play
from sally.studies.sally_1 import (
    ARMS,
    ASKED,
    BOTS,
    GAMES,
    NOT_ASKED,
    POOL,
    TEST_ONLY,
    bot_suite,
    pool_rows,
    suite,
    tasks,
    with_bot,
)

FROZEN = {"S": "3267eaa8efccaeea", "M": "69479a5bf3b8e113", "L": "cbb4c7b2ec7fd28f"}


def _ids(size):
    return [episode_id(setup) for _, setup in suite(size).trials()]


@pytest.mark.parametrize("size", ["S", "M", "L"])
def test_episode_ids_of_the_suite_are_frozen(size):
    digest = blake2b("".join(sorted(_ids(size))).encode(), digest_size=8).hexdigest()
    assert digest == FROZEN[size], "Sally-1 is frozen: a changed episode belongs to a new suite"


def test_larger_size_contains_the_smaller_one():
    small, middle, large = ({*_ids(size)} for size in "SML")
    assert small < middle < large


def test_every_game_has_four_arms_in_every_size():
    for size in "SML":
        fields = {}
        for cell in suite(size).cells:
            fields.setdefault(cell.instances[0].game, set()).add(cell.factors["arm"])
        assert fields == {game: {*ARMS} for game in GAMES}


def _with_arms(study):
    arms = {cell.name: cell.factors["arm"] for cell in study.cells}
    return [(arms[cell], setup) for cell, setup in study.trials()]


def test_every_arm_is_paired_with_the_asked_arm():
    asked, others = set(), []
    for arm, setup in _with_arms(suite("M")):
        across = {s: w for s, w in setup.lineup.items() if w.player != LANGUAGE}
        met = (setup.instance.id, setup.seed, msgspec.json.encode(across))
        if arm == ASKED:
            asked.add(met)
        else:
            others.append(met)
    assert {*others} <= asked
    assert len(others) == len({*others}) == len(asked)


@pytest.mark.parametrize("game", ["rps", "ipd", "ibs"])
def test_opponents_labels_and_arms_are_balanced(game):
    counts, other_counts, first = Counter(), Counter(), Counter()
    for arm, setup in _with_arms(suite("M", [game])):
        spec = msgspec.json.encode(setup.lineup["partner"])
        if arm == ASKED:
            counts[spec] += 1
            params = setup.instance.params
            first[params["names"][params["order"][0]]] += 1
        else:
            other_counts[arm, spec] += 1
    assert set(counts.values()) == {10}
    assert len(other_counts) == 18 and max(other_counts.values()) - min(other_counts.values()) <= 1
    if game == "rps":
        assert max(first.values()) - min(first.values()) <= 4


def test_battery_questions_are_balanced_over_arms():
    counts = Counter()
    for arm, setup in _with_arms(suite("M", ["battery"])):
        params = setup.instance.params
        counts[params["generator"], params.get("order"), arm] += 1
    assert len(counts) == 6 * len(ARMS)
    for generator, order, arm in counts:
        many = 15 if generator == "nested" else 30
        assert counts[generator, order, arm] == (many if arm == ASKED else many // 3)


@pytest.mark.parametrize("game", ["bargaining", "step_race"])
def test_best_bot_predicts_opponents_and_is_near_the_optimum(game):
    study = with_bot(BOTS["best_bot"], "S")
    cells = tuple(c for c in study.cells if c.name.startswith(f"{game}: {ASKED}"))
    wanted_orders = list(orders(msgspec.structs.replace(study, cells=cells)))[::2]
    sums = measured_of(as_frame([play(setup, cell) for _, cell, setup in wanted_orders]))
    total, max_total = (sums.of(name).sum() for name in ("least", "optimum"))
    assert total > 0.8 * max_total


def test_no_opponent_is_in_both_parts():
    parts = {}
    for row in pool_rows():
        parts.setdefault((row["game"], row["hash"]), set()).add(row["part"])
    for (game, _), part in parts.items():
        if game in POOL:
            assert len(part) == 1
    for game, held in TEST_ONLY.items():
        for task in tasks(game):
            names = {player.player for player in task.others.values()}
            assert (task.part == "test") == bool(names & {*held})


def test_different_opponents_have_different_hashes():
    level = {row["name"]: row["hash"] for row in pool_rows() if row["game"] == "eleven_twenty"}
    assert len({*level.values()}) == 4


def test_sizes_are_studies():
    for name, size in (("sally_1", "S"), ("sally_1_m", "M"), ("sally_1_l", "L")):
        assert registry.study(name) == suite(size)
    with pytest.raises(BadInput, match="S, M and L"):
        suite("XL")
    with pytest.raises(BadInput, match="chess"):
        suite("S", ["chess"])


def test_bots_play_the_model_seats_without_words():
    study = bot_suite("tabular")
    assert {cell.instances[0].game for cell in study.cells} == {"rps", "ipd", "ibs"}
    assert {cell.factors["arm"] for cell in study.cells} == {ASKED, NOT_ASKED}
    assert {cell.factors["part"] for cell in study.cells} == {"practice", "test"}
    _, cell, setup = orders(study)[0]
    assert play(setup, cell).payoffs is not None


def test_noisy_player_errs_at_its_stated_rate():
    (expected,) = [c for c in bot_suite("noisy_25", "M").cells if c.name == "toma_po: asked, test"]
    study = msgspec.structs.replace(bot_suite("noisy_25", "M"), cells=(expected,))
    won = [play(setup, cell).payoffs["player"] for _, cell, setup in orders(study)]
    # right unless it errs (1 in 4) and then misses the one right option of five (4 in 5)
    assert abs(sum(won) / len(won) - 0.8) < 0.1


def test_error_of_noisy_player_must_be_a_share():
    from sally import play as play_game

    with pytest.raises(BadInput, match="from 0 to 1"):
        play_game("rps", {"agent": ("noisy", {"error": 2}), "partner": "tit_for_tat"}, rounds=2)


def test_paired_cell_zips_instances_with_lineups():
    single_instance, two = instance("rps", "a", rounds=2), instance("rps", "b", rounds=2)
    lines = tuple({"agent": player_spec("random"), "partner": player_spec(p)}
                  for p in ("tit_for_tat", "random"))  # fmt: skip
    cell = Cell("x", (single_instance, two), lines, paired=True)
    assert [(i.id, line["partner"].player) for i, line in cell.matchups()] == [
        ("a", "tit_for_tat"),
        ("b", "random"),
    ]
    with pytest.raises(BadInput, match="as many lineups as instances"):
        Cell("x", (single_instance,), lines, paired=True)
