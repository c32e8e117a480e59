"""Factors of cells and tags of studies, as fields and in the texts of older stores."""

from __future__ import annotations

from pathlib import Path

import pytest

from sally import store
from sally.core.errors import BadInput
from sally.core.registry.study import Cell, Study, grid, instance, player_spec, without_labels
from sally.frames.frame import as_frame
from sally.frames.labels import factors_in_name, tags_of
from sally.runner.local import manifest, orders, play
from sally.runner.run import play_missing
from sally.store.bundles import open_store
from sally.studies import sally_1, sally_2

BOARD = Path(__file__).parents[2] / "docs/board"


def one_cell(**factors: str) -> Study:
    lineups = grid(agent=player_spec("random"), partner=player_spec("random"))
    cell = Cell("plain", (instance("rps", rounds=2),), lineups, factors=factors)
    return Study(name="one_cell", about="one cell", cells=(cell,))


def test_names_and_descriptions_of_the_suites_say_what_their_fields_say() -> None:
    studies = [sally_1.suite("M"), sally_2.suite("M"), sally_1.bot_suite("random")]
    for study in (*studies, sally_2.bot_suite("reasoner", "S", ["ibs"])):
        assert tags_of(without_labels(study)) == study.tags
        for cell in study.cells:
            assert factors_in_name(cell.name) == cell.factors


def test_name_without_an_arm_has_no_factors() -> None:
    assert factors_in_name("toma_po, asked") == factors_in_name("bots") == {}


def test_hash_of_a_suite_is_the_one_stored_before_it_had_factors() -> None:
    study = sally_1.in_one_store(sally_1.bot_suite("random"))
    assert study.tags["size"] == "S" and study.cells[0].factors
    with open_store(BOARD / "random.sally.zip") as (place, _):
        assert store.studies(place) == {manifest(study).asks: without_labels(study)}


def test_frame_reads_factors_from_the_study_of_its_store(tmp_path: Path) -> None:
    study = one_cell(wording="formal")
    _, cell, setup = orders(study)[0]
    episode = play(setup, cell)
    assert as_frame([episode]).factors("plain") == {}
    assert as_frame([episode], studies=[study]).factors("plain") == {"wording": "formal"}
    for labelled in (one_cell(), study):  # a later run declares more
        play_missing(labelled, tmp_path)
    frame = as_frame(tmp_path)
    assert frame.factors("plain") == {"wording": "formal"}
    assert frame.factors("other: asked, test") == {"arm": "asked", "part": "test"}


def test_different_factors_of_one_cell_are_refused() -> None:
    frame = as_frame([], studies=[one_cell(arm="asked"), one_cell(arm="twin")])
    with pytest.raises(BadInput, match="different factors for the cell 'plain'"):
        frame.factors("plain")
