"""A preregistration: frozen once, and every deviation from it is named."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from sally.analysis.design.registration import (
    Registration,
    as_text,
    deviations,
    freeze,
    freeze_people,
    people_deviations,
    read_intent,
)
from sally.core.errors import BadInput
from sally.core.log.events import Episode, PlayerSpec, Setup
from sally.core.registry.study import Cell, Study, instance
from sally.runner.run import run_study
from sally.store import PeoplePlan

INTENT = """
hypotheses = ["Tit for tat earns more than chance."]
measures = ["reward_per_round"]
exclusion = ["None."]
"""
BOTS = {"agent": PlayerSpec("tit_for_tat"), "partner": PlayerSpec("random")}
STUDY = Study(
    "small", "two games", (Cell("ipd", (instance("ipd", rounds=3),), (BOTS,), repeats=2),)
)


@pytest.fixture
def frozen(tmp_path: Path) -> Registration:
    file = tmp_path / "intent.toml"
    file.write_text(INTENT)
    return freeze(STUDY, read_intent(file), [], "0", "2026-01-01")


def test_run_as_registered_has_no_deviations(frozen: Registration, tmp_path: Path) -> None:
    episodes = list(run_study(STUDY, tmp_path / "out").episodes.values())
    assert deviations(frozen, STUDY, episodes, "0") == []
    assert "Tit for tat earns more" in as_text(frozen) and frozen.seal in as_text(frozen)


def test_every_change_is_named(frozen: Registration, tmp_path: Path) -> None:
    other_study = msgspec.structs.replace(STUDY, seed=2)
    text = " ".join(deviations(frozen, other_study, [], "1"))
    assert "differs from the registered one" in text and "0 episodes; 2 were registered" in text
    assert "registered with Sally 0 and reported with 1" in text


def test_unknown_measure_and_a_misspelt_key_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "intent.toml"
    file.write_text(INTENT.replace("reward_per_round", "reward_per_rond"))
    with pytest.raises(BadInput, match="did you mean"):
        freeze(STUDY, read_intent(file), [], "0", "2026-01-01")
    file.write_text(INTENT.replace("hypotheses", "hypothesis"))
    with pytest.raises(BadInput, match="not a registration"):
        read_intent(file)


PEOPLE = PeoplePlan("ours", "Two games", "asks", 2, {"asked": 1, "not asked": 1}, ("ipd",))


def of_a_person(name: str, cell: str) -> Episode:
    lineup = {
        "agent": PlayerSpec("person", {"participant": name}),
        "partner": PlayerSpec("tit_for_tat"),
    }
    setup = Setup(instance("ipd", rounds=1), 1, lineup)
    return Episode(name, setup, [], cell)


def test_participants_as_registered_have_no_deviations(tmp_path: Path) -> None:
    (tmp_path / "intent.toml").write_text(INTENT)
    frozen = freeze_people(
        PEOPLE, "about", read_intent(tmp_path / "intent.toml"), [], "0", "2026-01-01"
    )
    came = [of_a_person("ann", "asked"), of_a_person("bob", "not asked")]
    assert people_deviations(frozen, PEOPLE, came, "0") == []
    assert "2 participants." in as_text(frozen) and "drawn as people come" in as_text(frozen)
    other_people = msgspec.structs.replace(PEOPLE, asks="changed")
    text = " ".join(people_deviations(frozen, other_people, came[:1], "1"))
    for part in ("not the registered one", "'not asked' has 0", "1 people played", "Sally 0"):
        assert part in text
    assert "no plan of a study with people" in people_deviations(frozen, None, came, "0")[0]


def test_registration_without_people_omits_the_people_field(frozen: Registration) -> None:
    assert "people" not in msgspec.to_builtins(frozen)
