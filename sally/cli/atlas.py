"""`sally atlas`: people, models, learners and bots of several stores in one figure."""

from __future__ import annotations

from pathlib import Path

import click
import msgspec

from sally import store
from sally.analysis.episodes.atlas import by_column, recorded_dots
from sally.cli.common import STORE
from sally.cli.profiling import profile_rows_of
from sally.core.errors import BadInput
from sally.core.log.events import Episode
from sally.core.rules.atlas import FEW_IDS, AtlasColumn, AtlasDot, AtlasKind
from sally.core.terminal_text import echo
from sally.output.figures.atlas import atlas_page, atlas_svg, told
from sally.output.files.bundle_reader import opened
from sally.output.files.new_file import new_file
from sally.output.tables.console import PATH, json_option, print_json
from sally.store import Where

LEARNERS = ("tabular", "bayes_adaptive", "fictitious_play")


@click.command()
@click.argument("folders", nargs=-1, required=True, metavar="STORE...", type=STORE)
@click.option("--to", type=PATH, help="Page to write [atlas.html], or an .svg file.")
@json_option
def atlas(folders: tuple[Where, ...], to: Path | None, as_json: bool) -> None:
    """Draw how well people, models and bots did in each game, from records and studies.

    Each game, setting and measure has its own panel. Episodes of a paper are scored by the measure
    that the paper declares. All others are scored as in `sally profile`: by how much a player
    gained (doing) and, where it was asked, by how well it predicted the others (knowing).
    """
    dots: list[AtlasDot] = []
    for folder in folders:
        with opened(folder) as (place, _):
            found, rest = recorded_dots(store.load(place).episodes.values())
            if rest and not found:
                found = _profiled(folder, rest)
            dots += [msgspec.structs.replace(dot, store=str(folder)) for dot in found]
    if not dots:
        raise BadInput("The stores hold no episode with a score for how much a player gained.")
    columns = by_column(dots)
    if as_json:
        print_json(msgspec.to_builtins([dot for of in columns.values() for dot in of]))
        return
    to = to or Path("atlas.html")
    if to.suffix not in (".html", ".svg"):
        raise BadInput(f"{to} should end in .html or .svg.")
    page = to.with_suffix(".html").name
    text = atlas_svg(columns, page) if to.suffix == ".svg" else atlas_page(columns)
    with new_file(to, "atlas") as unfinished:
        unfinished.write_text(text, "utf-8")
    for column, of in columns.items():
        echo(f"{column.game}, {column.setting} ({column.measure})")
        for dot in of:
            echo(f"  {told(dot)}")
    echo(f"Written: {to}")


def _profiled(folder: Where, episodes: list[Episode]) -> list[AtlasDot]:
    """Return the scores of a study's players, from its profile, as dots of the atlas figure."""
    kinds: dict[str, AtlasKind] = {}
    ids: dict[str, list[str]] = {}
    for episode in episodes:
        for who in episode.setup.lineup.values():
            name = str(who.params.get("model", who.player))
            kind: AtlasKind = "learner" if who.player in LEARNERS else "bot"
            kinds[name] = "model" if who.player == "language" else kind
            if len(ids.setdefault(name, [])) < FEW_IDS:
                ids[name].append(episode.id)
    found = []
    for row in profile_rows_of((folder,)):
        if row.doing.value is None:
            continue
        top = row.reference.player if row.reference is not None else "the optimum"
        column = AtlasColumn(row.game, f"seat {row.seat}", "doing", "the random player", str(top))
        name = next((n for n in kinds if row.player.startswith(n.rpartition("/")[2])), row.player)
        found.append(
            AtlasDot(
                column,
                row.player,
                kinds.get(name, "bot"),
                None,
                row.doing.value,
                row.doing.low,
                row.doing.high,
                row.episodes,
                "episodes",
                row.cluster_count,
                str(folder),
                tuple(ids.get(name, ())),
                knowing=row.skill.value,
            )
        )
    return found
