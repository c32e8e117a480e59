"""Engines that say what an episode is by how it was set up look at nothing else."""

from __future__ import annotations

from itertools import islice
from types import SimpleNamespace
from typing import Any

import pytest

from sally.analysis.compare.published_figures import papers
from sally.core.log.events import Setup
from sally.core.registry import registry
from sally.core.rules.metric import Played
from sally.output.tables.reproduce import engine_of

BY_SETUP = [name for name in papers() if engine_of(name).of_setup]


def bare(setup: Setup, cell: str, used: dict[str, Any]) -> Played:
    """An episode of which only the setup can be looked at; anything else is an error."""
    spec = registry.game(setup.instance.game)
    episode, replay = SimpleNamespace(setup=setup, cell=cell, used=used), SimpleNamespace()
    replay.game = spec.build(setup.instance.params)
    return Played(spec, episode, replay)  # type: ignore[arg-type]


def test_papers_with_facts_by_setup_are_listed() -> None:
    assert "riemer2025" in BY_SETUP and "moore2025" not in BY_SETUP


@pytest.mark.parametrize("paper", BY_SETUP)
def test_facts_depend_only_on_the_setup(paper: str) -> None:
    facts = engine_of(paper).facts
    studies = registry.paper_part(paper, "study") or ()
    setups = [
        (setup, cell)
        for study in studies
        for part in study.cells
        for cell, setup in islice(type(study)("one", "cell", (part,)).trials(), 2)
    ]
    for setup, cell in setups[:: max(1, len(setups) // 40)]:
        facts(bare(setup, cell, {}))
        facts(bare(setup, cell, {"source": {"source": paper}}))
    assert setups or paper == "akata2025"
