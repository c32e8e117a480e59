"""Studies: what is asked for, as a value or as a file."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from sally.core.errors import BadInput
from sally.core.log.events import episode_id
from sally.core.registry.study import Cell, Study, grid, instance, player_spec, read_study
from sally.runner.local import orders

GOOD = """
name = "mine"
about = "two bots"
seed = 7

[[cells]]
name = "all"
repeats = 2
arms = {agent = ["their_move"]}
injections = [{seat = "agent", probe = "their_move", error = 0.25}]
instances = [{id = "short", game = "ipd", params = {rounds = 5}}]
lineups = [{agent = {player = "random"}, partner = {player = "tit_for_tat", params = {first = 1}}}]
"""


def write_files(folder: Path, text: str) -> Path:
    path = folder / "study.toml"
    path.write_text(text)
    return path


def test_study_file_is_read_into_trials(tmp_path: Path) -> None:
    study = read_study(write_files(tmp_path, GOOD))
    ((cell, first), (_, second)) = study.trials()
    assert cell == "all"
    assert first.instance.params == {"rounds": 5}
    assert first.lineup["partner"] == player_spec("tit_for_tat", first=1)
    assert first.injections[0].error == 0.25
    assert (first.repeat, second.repeat) == (0, 1)
    assert first.seed != second.seed
    assert len(orders(study)) == 2


@pytest.mark.parametrize(
    ("was", "becomes", "why"),
    [
        ('name = "mine"', "", "the key `name` is missing"),
        ('about = "two bots"', 'abuot = "two bots"', "unknown field|is missing"),
        ("repeats = 2", "repeats = 0", "repeats must be from 1 to 10,000,000, not 0"),
        (
            "repeats = 2",
            'repeats = "two"',
            r"cells\[0\].repeats must be a whole number, not a text in quotes\.$",
        ),
        ("params = {rounds = 5}", "parms = {rounds = 5}", "unknown field `parms`"),
        ("params = {first = 1}", "prams = {first = 1}", "unknown field `prams`"),
        ("error = 0.25", "eror = 0.25", "unknown field `eror`"),
        ("error = 0.25", "error = 25", "error must be from 0 to 1"),
        ("lineups = [{", "lineups = [] #", "at least one instance and one lineup"),
        ("seed = 7", "seed = 7\nretries = -1", "retries must be at least 0"),
        ("[[cells]]", "[[cells]", "is not TOML"),
        ("seed = 7", "seed = ", "is not TOML"),
    ],
)
def test_error_in_study_file_gives_one_clear_message(
    tmp_path: Path, was: str, becomes: str, why: str
) -> None:
    assert was in GOOD
    path = write_files(tmp_path, GOOD.replace(was, becomes, 1))
    with pytest.raises(BadInput, match=why) as refused:
        read_study(path)
    assert str(path) in str(refused.value)
    assert "\n" not in str(refused.value)


def test_study_without_cells_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="at least one cell"):
        read_study(write_files(tmp_path, 'name = "a"\nabout = "b"\ncells = []\n'))


def test_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"\xff\xfe\x00")
    for path in (tmp_path, tmp_path / "missing.toml", binary):
        with pytest.raises(BadInput, match=str(path)):
            read_study(path)


def test_seeds_depend_on_instance_and_repeat_and_never_on_the_lineup() -> None:
    players = (player_spec("random"), player_spec("tit_for_tat"), player_spec("single_action"))
    cell = Cell(
        "c",
        (instance("ipd", "a"), instance("ipd", "b")),
        grid(agent=players, partner=player_spec("random")),
        repeats=3,
    )
    study = Study("s", "", (cell,), seed=1)
    seeds: dict[tuple[str, int], set[int]] = {}
    for _, setup in study.trials():
        seeds.setdefault((setup.instance.id, setup.repeat), set()).add(setup.seed)
    assert all(len(found) == 1 for found in seeds.values())
    used = {seed for found in seeds.values() for seed in found}
    assert len(used) == 6
    other_study = msgspec.structs.replace(study, seed=2)
    assert not {s.seed for _, s in other_study.trials()} & used
    assert len({episode_id(s) for _, s in study.trials()}) == 18


def test_grid_has_every_combination_once() -> None:
    records = grid(
        agent=(player_spec("a"), player_spec("b")), partner=(player_spec("c"), player_spec("d"))
    )
    assert len(records) == 4 and len({str(f) for f in records}) == 4
    assert all(set(f) == {"agent", "partner"} for f in records)
