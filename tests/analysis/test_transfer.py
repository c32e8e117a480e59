"""A transfer matrix: what was trained on, what was tested, knowing and doing apart."""

from __future__ import annotations

import json

import msgspec
import pytest
from click.testing import CliRunner

from sally import store
from sally.adapters.trainers.text import TextEnv
from sally.analysis.compare.transfer import UNTRAINED, read_trained_seats, transfer
from sally.cli import cli
from sally.cli.transfer import say, say_seeds
from sally.core.errors import BadInput
from sally.core.log.events import Instance, PlayerSpec, Setup
from sally.frames.frame import as_frame
from sally.output.files.bundle import pack
from sally.parts.training import Task
from sally.runner.local import play
from sally.runner.seating import resolve_setup

PARTNERS = {
    "met": (PlayerSpec("single_action", {"action": 1}), PlayerSpec("tit_for_tat")),
    "new": (PlayerSpec("grim_trigger"), PlayerSpec("win_stay_lose_shift")),
}


def episode(cell: str, partner: PlayerSpec, trained_on: dict, foresees: bool, seed: int):
    """One that plays optimally if it was trained, and foresees the other if it may."""
    env = TextEnv("ipd", strategy="lm", probes=["their_move"], trained_on=trained_on)
    env.begin(Task(Instance("ipd", "ipd", {"rounds": 4}), "agent", {"partner": partner}), seed)
    while env.asked is not None:
        worths = env.worths
        if env.asked.kind == "move" and trained_on:
            env.step([-50.0 * (max(worths) - w) for w in worths[:-1]])
        elif env.asked.kind == "their_move" and foresees:
            env.step([0.0, -9.0] if partner.player == "tit_for_tat" else [-9.0, 0.0])
        else:
            env.step([-0.1, -2.0])
    return env.episode(cell)


@pytest.fixture(scope="module")
def episodes():
    results = []
    for cell, partners in PARTNERS.items():
        for partner in partners:
            for seed in range(3):
                results.append(episode(cell, partner, {}, False, seed))
                trained = {"name": "ipd, doing", "seed": seed % 2}
                results.append(episode(cell, partner, trained, False, seed))
    return results


@pytest.fixture(scope="module")
def matrix(episodes):
    return transfer(read_trained_seats(as_frame(episodes)))


def test_doing_at_the_optimum_is_one_and_change_is_the_difference(matrix):
    cells = {(c.trained_on, c.tested_on): c for c in matrix}
    assert set(cells) == {(r, c) for r in (UNTRAINED, "ipd, doing") for c in PARTNERS}
    cell_before, cell_after = cells[UNTRAINED, "met"], cells["ipd, doing", "met"]
    assert cell_after.doing.value == pytest.approx(1.0)
    assert cell_after.doing_change.value == pytest.approx(1.0 - cell_before.doing.value)
    assert cell_before.doing_change.value is None and "untrained" in cell_before.doing_change.method


def test_untrained_trait_has_zero_change(matrix):
    cells = [c for c in matrix if c.trained_on != UNTRAINED]
    assert [c.knowing_change.value for c in cells if c.tested_on == "met"] == [0.0]
    assert all(set(c.by_seed) == {"0", "1"} for c in cells)


def test_stores_without_the_tag_are_refused():
    lineup = {"agent": PlayerSpec("random"), "partner": PlayerSpec("random")}
    bare = play(resolve_setup(Setup(Instance("ipd", "ipd", {"rounds": 2}), 1, lineup)))
    with pytest.raises(BadInput, match="trained_on"):
        read_trained_seats(as_frame([bare]))


def test_table_shows_training_row_and_value(matrix, capsys):
    say(matrix, "doing", "doing")
    assert "ipd, doing" in (output := capsys.readouterr().out) and "1.00" in output


def test_each_training_seed_has_its_own_column(matrix, capsys):
    say_seeds(matrix)
    output = capsys.readouterr().out
    for of in ("doing", "knowing"):
        table = output.partition(f"{of} by training seed: ipd, doing\n")[2].partition(
            "by training"
        )[0]
        (head,) = (line.split() for line in table.splitlines() if "seed 0" in line)
        assert head == ["tested", "on", "seed", "0", "seed", "1", "all"]
        rows = [line.split() for line in table.splitlines() if "1.00" in line]
        # two trainings: a mean, and no interval over seeds
        assert rows and all(row[-3:] == ["1.00"] * 3 for row in rows)


def test_five_trainings_have_an_interval_over_seeds(matrix):
    five = {str(seed): (0.2 + seed / 100, None) for seed in range(5)}
    doing, knowing = msgspec.structs.replace(matrix[-1], by_seed=five).over_seeds()
    assert doing.value == pytest.approx(0.22) and doing.interval is not None
    assert doing.interval[0] < 0.22 < doing.interval[1]
    assert knowing.value is None


def test_command_draws_the_matrix_of_a_bundle(episodes, tmp_path):
    (tmp_path / "store").mkdir()
    with store.Writer(tmp_path / "store") as writer:
        for current_episode in episodes[:4]:
            writer.add(current_episode)
    picture, bundle = tmp_path / "x.svg", tmp_path / "x.sally.zip"
    pack(tmp_path / "store", bundle)
    ran = CliRunner().invoke(
        cli, ["compare", "--transfer", str(bundle), "--json", "--figure", str(picture)]
    )
    assert {c["trained_on"] for c in json.loads(ran.output)} == {UNTRAINED, "ipd, doing"}
    assert "<svg" in picture.read_text()
