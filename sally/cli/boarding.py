"""`sally board`: a static site of evaluations, recomputed from their bundles."""

from __future__ import annotations

import sys
from pathlib import Path

import click
import msgspec

from sally import store
from sally.analysis.evaluation import Evaluation, evaluate, name_of, per_problem
from sally.cli.evaluating import SIZES, reference_episodes
from sally.core.errors import BadInput, listed
from sally.core.log.events import Episode, Setup
from sally.core.registry.study import Study
from sally.core.terminal_text import echo
from sally.output.files.bundle import EPISODES
from sally.output.files.bundle_reader import is_bundle, opened
from sally.output.page.board import RECORDED, SUITE, Entry, RefusedBundle, write_board
from sally.output.page.evaluation import write_evaluation
from sally.output.page.page_data import PageData
from sally.output.page.write import PageOptions, write_page
from sally.output.tables.console import PATH, folded, json_option, print_json
from sally.players.language import LANGUAGE
from sally.runner.check import cells_of, check
from sally.studies import sally_1
from sally.studies.sally_1 import BOTS, BY_BOT, Size, size_of, suite


@click.command("board")
@click.argument("places", nargs=-1, required=True, metavar="BUNDLE|DIR...",
                type=PATH)  # fmt: skip
@click.option("--out", type=PATH, default=Path("out/board"),
              show_default=True, help="Folder of the site.")  # fmt: skip
@click.option("--check", "only_check", is_flag=True,
              help="Only replay the bundles; exit with 1 if one is refused.")  # fmt: skip
@click.option("--transcripts", default=1, show_default=True,
              help="Transcripts per cell and lineup of each entry; 0 for none.")  # fmt: skip
@json_option
def board(
    places: tuple[Path, ...], out: Path, only_check: bool, transcripts: int, as_json: bool
) -> None:
    """Replay evaluation bundles, recompute every figure, and write a static site.

    A folder means all bundles in it. A bundle that does not replay is refused, the offending line
    is named, and the command exits with 1.
    """
    entries: list[Entry] = []
    refused: list[RefusedBundle] = []
    for bundle in _bundles(places):
        try:
            made = checked_entries(bundle, out, None if only_check else transcripts)
            entries += made
            names = listed([one.name for one in made])
            many = sum(one.found.episodes for one in made)
            echo(f"{bundle.name}: {names}, {many:,} episodes replayed", err=True)
        except BadInput as why:
            refused.append(RefusedBundle(bundle.name, str(why)))
            echo(folded(f"{bundle.name}: refused. {why}"), err=True)
    if not only_check:
        path = write_board(entries, refused, out, sally_1.recorded_play())
        if not as_json:
            echo(f"{path}: {len(entries)} entries, {len(refused)} refused")
    if as_json:
        print_json({
            "entries": [{"name": e.name, "kind": e.kind, "bundle": e.bundle, "sha256": e.sha256,
                         **msgspec.to_builtins(e.found)} for e in entries],
            "refused": msgspec.to_builtins(refused),
        })  # fmt: skip
    if refused:
        sys.exit(1)


def _bundles(places: tuple[Path, ...]) -> list[Path]:
    found = []
    for place in places:
        inside = sorted(place.glob("*.sally.zip")) if place.is_dir() else [place]
        if not inside or not all(map(is_bundle, inside)):
            raise BadInput(
                f"{place} is neither a bundle nor a folder of bundles; `sally pack DIR` makes one."
            )
        found += inside
    return found


def checked_entries(bundle: Path, out: Path, transcripts: int | None) -> list[Entry]:
    """Replay a bundle, recompute its figures and write its pages.

    An evaluation gives one entry; recorded play gives one for each of its players. No pages are
    written if `transcripts` is None.

    Raises:
        BadInput: If the bundle is changed, does not replay, or does not match its description.
    """
    with opened(bundle) as (place, packed):
        assert packed is not None  # only bundles are given
        held = store.load(place, quarantine=False, check=False)
        if held.bad:
            raise BadInput(f"{held.bad[0]}.")
        episodes = list(held.episodes.values())
        replayed = check(episodes, cells_of(place), held.changed)
        if replayed.mismatches:
            id, why = replayed.mismatches[0]
            more = len(replayed.mismatches) - 1
            others = f" ({more} more do not replay)" if more else ""
            line = _line_of(Path(str(place)) / EPISODES, id)
            raise BadInput(f"{EPISODES}, line {line}: episode {id} does not replay: {why}{others}")
        studies = store.studies(place)
        sizes = {size_of(s): s for s in studies.values()}
        largest = next((one for one in reversed(SIZES) if one in sizes), None)
        stem = bundle.name.removesuffix(".sally.zip")
        if largest is None:
            kind, size, made = RECORDED, "-", _recorded(episodes)
        else:
            size = largest
            refuse_other_problems(episodes, largest)
            kind, made = SUITE, [_evaluated(episodes, sizes[largest], largest)]
        pages = [stem if len(made) == 1 else f"{stem}-{n}" for n in range(1, len(made) + 1)]
        shown = ""
        if transcripts is not None:
            for found, page in zip(made, pages, strict=True):
                write_evaluation(found, out / f"{page}.html")
            if transcripts:
                shown = f"{stem}-episodes.html"
                write_page(PageData(place), out / shown, PageOptions(transcripts))
        scores = per_problem(episodes) if kind == SUITE else {}
        return [
            Entry(found.player, kind, bundle.name, packed.sha256, size, found, scores,
                  f"{page}.html", shown)
            for found, page in zip(made, pages, strict=True)
        ]  # fmt: skip


def _line_of(file: Path, id: str) -> int:
    with file.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if id.encode() in line[:200]:
                return number
    return 0


def _evaluated(episodes: list[Episode], study: Study, size: Size) -> Evaluation:
    bot = study.about.partition(BY_BOT)[2]
    if bot and bot not in BOTS:
        raise BadInput(f"The study says that it was played by the bot {bot!r}, which is unknown.")
    wanted = sum(1 for _ in (sally_1.bot_suite(bot, size) if bot else suite(size)).trials())
    return evaluate(episodes, player=bot or name_of(episodes),
                    suite=f"Sally-1, version {sally_1.VERSION}, size {size}", wanted=wanted,
                    references=reference_episodes(episodes),
                    reliability=sally_1.reliability(size),
                    recorded=sally_1.recorded_play())  # fmt: skip


def _recorded(episodes: list[Episode]) -> list[Evaluation]:
    """Evaluate each player of a set of recorded episodes; every episode with probes counts."""
    players: dict[str, list[Episode]] = {}
    for e in episodes:
        if any(e.setup.arms.values()):
            named = msgspec.structs.replace(e, cell=f"{e.setup.instance.game}: asked, test")
            players.setdefault(name_of([named]), []).append(named)
    if not players:
        raise BadInput("No player was asked anything, so knowing cannot be measured.")
    return [
        evaluate(mine, player=name, suite="recorded play, not the suite")
        for name, mine in players.items()
    ]


def refuse_other_problems(episodes: list[Episode], size: Size) -> None:
    """Raise BadInput if an episode's problem, seed, opponents or arm is not part of the suite."""
    asked = {_met(cell, setup, sally_1_seat(setup)) for cell, setup in suite(size).trials()}
    seats = {setup.instance.game: sally_1_seat(setup) for _, setup in suite(size).trials()}
    for episode in episodes:
        seat = seats.get(episode.setup.instance.game, "")
        if _met(episode.cell, episode.setup, seat) not in asked:
            raise BadInput(
                f"episode {episode.id} is not part of Sally-1, size {size}: its problem, seed, "
                f"opponents, questions or cell ({episode.cell!r}) differs."
            )


def sally_1_seat(setup: Setup) -> str:
    """Return the seat that the suite leaves open."""
    (seat,) = [seat for seat, who in setup.lineup.items() if who.player == LANGUAGE]
    return seat


def _met(cell: str, setup: Setup, seat: str) -> bytes:
    others = {s: (w.player, w.params) for s, w in setup.lineup.items() if s != seat}
    arms = {s: list(names) for s, names in setup.arms.items() if names}
    return msgspec.json.encode(
        (cell, setup.instance, setup.seed, setup.repeat, others, arms), order="sorted"
    )
