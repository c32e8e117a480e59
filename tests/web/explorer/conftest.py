"""A store, a visitor of its server, and the experimenter."""

from __future__ import annotations

from pathlib import Path

import pytest

from sally.runner.run import run_study
from sally.web.app import Settings, make_app
from tests.web.client import Client
from tests.web.explorer.small_store import SECRET, STUDY


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("stores") / "small"
    run_study(STUDY, out)
    return out


@pytest.fixture
def visitor(folder, tmp_path):
    app = make_app(
        Settings(
            database=str(tmp_path / "database.sqlite"), out=None, stores=(folder,), secret=SECRET
        )
    )
    with Client(app) as client:
        yield client


@pytest.fixture
def experimenter(visitor):
    visitor.post("/experimenter/login", data={"secret": SECRET})
    return visitor
