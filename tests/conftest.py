"""The fixture games join the shelf; Hypothesis takes the time it needs; long tests begin first."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest
from hypothesis import settings

from sally.analysis.profile import baselines
from sally.core.registry import registry
from sally.runner.config import use_config
from tests.fixtures import cups, cups_partners, haggle, haggle_partners
from tests.fixtures.warm import INSPECT, SALLY, load, warm
from tests.order import place

MANY = 5000  # so many tests need most of what there is to load, each fork for itself
MORE = ("sally.games.repeated_games.partners.axelrod:library", "pandas", "matplotlib.pyplot")
gc.disable()  # until the tests are gathered
settings.register_profile("lab", deadline=None, max_examples=15)
settings.load_profile("lab")

for game, minds in ((cups, cups_partners), (haggle, haggle_partners)):
    registry.add("games", game.GAME.name, game.GAME)
    registry.add("partners", game.GAME.name, minds.PARTNERS)


TRIALS = {"TRIALS": 6, "FIRST_TRIALS": 3, "DRAWS": 40}  # of the baselines of a profile


@pytest.fixture(scope="session", autouse=True)
def few_trials() -> Iterator[dict[str, int]]:
    """Make the baselines of a profile cheap, where it is not they that are tested."""
    usual = {name: getattr(baselines, name) for name in TRIALS}
    with pytest.MonkeyPatch.context() as patch:
        for name, count in TRIALS.items():
            patch.setattr(baselines, name, count)
        yield usual


@pytest.fixture
def full_trials(few_trials: dict[str, int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the baselines of a profile their usual size."""
    for name, count in few_trials.items():
        monkeypatch.setattr(baselines, name, count)


@pytest.fixture(scope="module", autouse=True)
def nothing_of_other_files() -> None:
    """Start every file without a config file."""
    use_config(None)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long tests come first."""
    items.sort(key=lambda item: place(item.nodeid))


def pytest_collection_finish(session: pytest.Session) -> None:
    """What was loaded to gather the tests stays; nothing in it need be looked at for rubbish."""
    if session.config.getoption("forks", 0):
        warm(*SALLY)  # one for all
        if len(session.items) > MANY:
            load((*INSPECT, *SALLY, *MORE))
    gc.enable()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)
