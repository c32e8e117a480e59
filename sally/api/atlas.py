"""The atlas: people, models, learners and bots of several stores in one figure."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from sally import store
from sally.analysis.episodes.atlas import by_column, recorded_dots
from sally.api.analyses import profile
from sally.api.result_list import rows_figure
from sally.api.rows import Rows
from sally.core.errors import BadInput
from sally.core.log.events import Episode
from sally.output.figures.atlas import atlas_page, atlas_svg
from sally.output.files.new_file import new_file
from sally.parts.atlas import FEW_IDS, AtlasColumn, AtlasDot, AtlasKind, estimate_dots
from sally.store import Where, to_run_again
from sally.store.bundles import open_store

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LEARNERS = ("tabular", "bayes_adaptive", "fictitious_play")


class AtlasRows(Rows):
    """The scores of an atlas: one row per player, game, setting and measure."""

    def __init__(self, columns: dict[AtlasColumn, list[AtlasDot]]) -> None:
        self.by_column = columns
        super().__init__(
            {"game": column.game, "setting": column.setting, "measure": column.measure}
            | {"player": dot.who, "kind": dot.kind, "year": dot.year, "value": dot.value}
            | {"interval": None if dot.low is None or dot.high is None else [dot.low, dot.high]}
            | {"n": dot.n, "unit": dot.unit, "knowing": dot.knowing, "source": dot.source}
            for column, dots in columns.items()
            for dot in dots
        )

    def plot(self, column: str = "value") -> Figure:
        """Draw every score with its 95% interval, one panel per game, setting and measure.

        Args:
            column: Column of the numbers.

        Raises:
            BadInput: If Matplotlib is not installed.
        """
        rows = [{**row, "year": None, "source": "", "kind": "", "unit": ""} for row in self]
        return rows_figure(rows, column, "Atlas", ("game", "setting", "measure"))

    def write(self, to: str | Path) -> Path:
        """Write the atlas as a page (`.html`) with a ranked list, or as a figure (`.svg`).

        Raises:
            BadInput: If the file has another suffix or cannot be written.
        """
        path = Path(to)
        if path.suffix not in (".html", ".svg"):
            raise BadInput(f"{path} should end in .html or .svg.")
        page = path.with_suffix(".html").name
        is_figure = path.suffix == ".svg"
        text = atlas_svg(self.by_column, page) if is_figure else atlas_page(self.by_column)
        with new_file(path, "atlas") as unfinished:
            unfinished.write_text(text, "utf-8")
        return path


def atlas(*stores: Where) -> AtlasRows:
    """Return how well people, models, learners and bots did in each game.

    Episodes of a paper are scored by the measure that the paper declares. All others are scored as
    in `profile`: by how much a player gained (doing) and, where it was asked, by how well it
    predicted the others (knowing).

    Args:
        *stores: Stores or bundles.

    Returns:
        One row per score; `plot()` draws them, and `write(FILE)` writes a page or a figure.

    Raises:
        BadInput: If there is no store at a place, or no episode has such a score.
    """
    dots: list[AtlasDot] = []
    for place in stores:
        with open_store(place) as (folder, _):
            recorded, others = recorded_dots(_episodes(folder))
        if others and not recorded:
            recorded = _profile_dots(str(place), others)
        dots += [msgspec.structs.replace(dot, store=str(place)) for dot in recorded]
    if not dots:
        raise BadInput("The stores hold no episode with a score for how much a player gained.")
    return AtlasRows(by_column(dots))


def _episodes(folder: Where) -> Iterator[Episode]:
    """Yield the episodes of a store as `load` returns them, holding one in memory at a time."""
    finished, interrupted = set[str](), dict[str, Episode]()
    for line in store.read(folder):
        if not isinstance(line, Episode) or line.id in finished:
            continue
        if to_run_again(line):
            interrupted[line.id] = line
        else:
            finished.add(line.id)
            yield line
    yield from (episode for id, episode in interrupted.items() if id not in finished)


def _profile_dots(source: str, episodes: list[Episode]) -> list[AtlasDot]:
    """Return the scores of a study's players, from its profile, as dots of the atlas."""
    kinds: dict[str, AtlasKind] = {}
    ids: dict[str, list[str]] = {}
    for episode in episodes:
        for spec in episode.setup.lineup.values():
            name = str(spec.params.get("model", spec.player))
            kind: AtlasKind = "learner" if spec.player in LEARNERS else "bot"
            kinds[name] = "model" if spec.player == "language" else kind
            if len(ids.setdefault(name, [])) < FEW_IDS:
                ids[name].append(episode.id)
    dots: list[AtlasDot] = []
    for row in profile(episodes).estimates:
        top = row.reference.player if row.reference is not None else "the optimum"
        column = AtlasColumn(row.game, f"seat {row.seat}", "doing", "the random player", str(top))
        name = next((n for n in kinds if row.player.startswith(n.rpartition("/")[2])), row.player)
        facts = (row.episodes, "episodes", row.cluster_count, source, ids.get(name, ()))
        kind = kinds.get(name, "bot")
        dots += estimate_dots(column, row.player, kind, None, row.doing, *facts, row.skill.value)
    return dots
