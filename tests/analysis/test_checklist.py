"""A study is held to what a reader must be told."""

from __future__ import annotations

import msgspec

import sally
from sally.analysis.design.checklist import checklist
from sally.api.studies import find_study
from sally.core.log.events import PlayerSpec
from sally.core.registry.study import Cell, Study, instance
from sally.studies.arms import with_unasked


def points(study):
    return {item.point: item for item in checklist(study)}


def study(lineup, arms=None, **options):
    cells = (Cell("one", (instance("ipd", rounds=3),), (lineup,), arms or {}, **options),)
    return Study("mine", "who trusts whom", cells)


def test_checklist_has_every_point_and_reports_gaps():
    actual_points = points(find_study("quickstart"))
    assert list(actual_points) == [
        "construct", "population", "sampling", "scoring", "baselines", "uncertainty",
        "human baseline", "contamination", "does asking change play",
    ]  # fmt: skip
    assert actual_points["human baseline"].missing and not actual_points["scoring"].missing
    assert len(sally.checklist("quickstart")) == 9


def test_study_without_probes_measures_only_doing():
    bots = {"agent": PlayerSpec("random"), "partner": PlayerSpec("tit_for_tat")}
    actual_points = points(study(bots))
    assert "only doing is measured" in actual_points["construct"].missing[0]
    assert actual_points["sampling"].missing[0] == "cell 'one' is one problem, played once"
    asked_points = points(study(bots, {"agent": ("their_move",)}))
    assert not asked_points["construct"].missing and asked_points["does asking change play"].missing


def test_gaps_close_when_missing_parts_are_added():
    full_study = with_unasked(find_study("quickstart"))
    assert not points(full_study)["does asking change play"].missing
    model = PlayerSpec("language", {"model": "embedded"})
    reads = study({"agent": model, "partner": PlayerSpec("tit_for_tat")})
    assert len(points(reads)["contamination"].missing) == 2
    packs = [PlayerSpec("language", {"model": "embedded", "pack": p}) for p in ("a", "a_twin")]
    lineups = tuple(
        {"agent": player, "partner": PlayerSpec("tit_for_tat")} for player in (model, *packs)
    )
    worded = msgspec.structs.replace(reads.cells[0], lineups=lineups)
    assert not points(msgspec.structs.replace(reads, cells=(worded,)))["contamination"].missing
    person = {"agent": PlayerSpec("person"), "partner": model}
    assert not points(study(person))["human baseline"].missing
