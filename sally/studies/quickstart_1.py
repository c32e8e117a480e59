"""The first version of the quickstart, ten rounds long, kept so that its figures can be
reproduced."""

from __future__ import annotations

from sally.core.registry.study import Study
from sally.studies.quickstart import cells

STUDY = Study(
    name="quickstart_1",
    about="the first quickstart: ten rounds, too few for a learner to use what it has learned",
    cells=cells(10),
)
