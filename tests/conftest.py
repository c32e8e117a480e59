"""The fixture games join the shelf; Hypothesis takes the time it needs; long tests begin first."""

from __future__ import annotations

import gc
from typing import Any

import pytest
from hypothesis import settings

from sally.core import names, shelf
from tests.fixtures import cups, cups_partners, haggle, haggle_partners

settings.register_profile("lab", deadline=None, max_examples=15)
settings.load_profile("lab")

for game, minds in ((cups, cups_partners), (haggle, haggle_partners)):
    shelf.add("games", game.GAME.name, game.GAME)
    shelf.add("partners", game.GAME.name, minds.PARTNERS)

# A worker takes whole files, so that what a file sets up is set up once; but the tests of these
# share nothing and are long, and one worker alone would still be at them when the others are done.
WHOLE_STUDIES, DOCS = "tests/adapters/inspect/test_whole_studies.py", "tests/test_docs.py"
ONE_BY_ONE = (WHOLE_STUDIES, DOCS)
BY_GAME = "tests/test_every_game.py"  # its tests of one game share a table
EARLY = (
    WHOLE_STUDIES,
    BY_GAME,
    DOCS,
    "tests/analysis/test_adversary.py",
    "tests/analysis/test_recovery.py",
    "tests/adapters/test_ray_cluster.py",
    "tests/models/test_embedded.py",
    "tests/adapters/inspect",
    "tests/web",
    "tests/test_wheel.py",
    "tests/runner",
)


@pytest.fixture(scope="module", autouse=True)
def no_names_of_other_files() -> None:
    """A model is called by the end of its name that no store opened before shares."""
    names._known.clear()
    names._aliases.clear()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long files come first: a short one at the end leaves no core idle for long."""

    def place(item: pytest.Item) -> int:
        return next((n for n, name in enumerate(EARLY) if item.nodeid.startswith(name)), len(EARLY))

    items.sort(key=place)


def pytest_collection_finish() -> None:
    """What was loaded to gather the tests stays; nothing in it need be looked at for rubbish."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Whole files in our order, those of `ONE_BY_ONE` test by test, and one game by game."""
    from xdist.scheduler import LoadScopeScheduling

    class Files(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.split("::", 1)[0]
            if file == BY_GAME:  # test_x[ipd], test_y[3-ipd]
                return f"{file}::{nodeid.rpartition('[')[2].rpartition('-')[2]}"
            return nodeid if file in ONE_BY_ONE else file

    config.option.loadscopereorder = False
    return Files(config, log)
