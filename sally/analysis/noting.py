"""What a run notes of the lines that it has written, so that the first question is quick."""

from __future__ import annotations

from collections.abc import Sequence

from sally import store
from sally.analysis.compare_scores import KNOWING
from sally.analysis.laid_open import laid_open
from sally.analysis.measured_table import MeasuredColumn, column
from sally.analysis.scores import Wanted
from sally.analysis.seat_table import SEATS, SEEDS, SeatColumns
from sally.core.code import fingerprint
from sally.store.index import Columns, Line
from sally.store.surveying import COLUMN, Noting


def note(where: store.Where, file: str) -> None:
    """Put into the index what is mostly asked of a file of lines that is whole.

    The lines are read back, checked and replayed as if a stranger had written them. What cannot
    be worked out is left to the command that asks for it, which then says why.
    """
    metrics = dict.fromkeys([*Wanted().named, *KNOWING])
    names = [COLUMN, SEATS, SEEDS, *metrics, column()]
    try:
        store.fill(where, file, names, fingerprint(), _worked)
    except Exception:  # a metric of a user's may break on anything
        return


def _worked(lines: Sequence[Line], names: Sequence[str]) -> Columns:
    seats = [name for name in names if name not in (COLUMN, column())]
    return laid_open(lines, [Noting(), SeatColumns(seats), MeasuredColumn()])
