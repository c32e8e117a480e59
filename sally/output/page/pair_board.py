"""The part of the board that shows evaluations on certified pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from sally.analysis.pairs.evaluation import PairEvaluation
from sally.output.html import Html, tag
from sally.output.page.evaluation import table
from sally.output.page.pair_evaluation import AXIS, LEGEND, games_table, picture
from sally.output.page.pair_figure import draw_knowing_and_doing
from sally.output.tables.console import estimate_cell
from sally.stats.intervals import Estimate


class PairEntry(msgspec.Struct, frozen=True):
    """One accepted bundle of an evaluation on pairs."""

    name: str
    bundle: str  # file name
    sha256: str
    size: str
    found: PairEvaluation
    page: str  # file name of its own page
    signed: str = ""  # fingerprint of the key that signed the bundle; "" if it is not signed
    readers: str = "-"  # the rule that read its replies, and where it was checked

    @property
    def played(self) -> int:
        """Number of positions that were answered."""
        return self.found.episodes

    @property
    def planned(self) -> int:
        """Number of positions that this size of the suite asks of the player."""
        return self.found.planned

    @property
    def is_whole(self) -> bool:
        """Whether every planned position was answered."""
        return self.played == self.planned


def pair_board_parts(entries: Sequence[PairEntry]) -> Iterator[Html]:
    """Yield the section of Sally-2: entries by their means, then the games of each."""
    yield tag("h2", "Sally-2: certified pairs", id="pairs")
    rows = []
    ordered = sorted(entries, key=lambda entry: -_value(entry.found.knowing))
    for entry in ordered:
        evaluation = entry.found
        played = f"{entry.played:,} of {entry.planned:,}"
        counts = (sum(game.tells_apart for game in evaluation.games),
                  sum(game.acts_apart for game in evaluation.games))  # fmt: skip
        rows.append(
            tag("tr", tag("th", tag("a", entry.name, href=entry.page), scope="row"),
                tag("td", entry.size), tag("td", played), _cell(evaluation.knowing),
                tag("td", f"{counts[0]} of {len(evaluation.games)}"), _cell(evaluation.doing),
                tag("td", f"{counts[1]} of {len(evaluation.games)}"), tag("td", entry.readers),
                tag("td", entry.signed or "-"), tag("td", tag("code", entry.sha256[:16])),
                data_n=entry.name)
        )  # fmt: skip
    top = ["entry", "size", "positions", "mean knowing", "games", "mean doing", "games",
           "replies read by", "signed", "SHA-256"]  # fmt: skip
    means = [(entry.name, entry.found.knowing, entry.found.doing) for entry in ordered]
    yield draw_knowing_and_doing("Mean knowing and doing of all entries", means, -0.5, AXIS)
    yield table(top, rows)
    for entry in entries:
        yield tag("details", tag("summary", f"{entry.name}: every game"), picture(entry.found),
                  games_table(entry.found.games))  # fmt: skip
    yield tag("p", LEGEND, class_="quiet")


def _value(estimate: Estimate | None) -> float:
    return -2.0 if estimate is None or estimate.value is None else estimate.value


def _cell(estimate: Estimate | None) -> Html:
    if estimate is None:
        return tag("td", "-")
    return tag("td", estimate_cell(estimate.value, estimate.interval, 2), data_v=estimate.value)
