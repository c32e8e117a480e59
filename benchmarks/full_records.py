"""Figures of the full published records, for the atlas and the pages of results.

    python -m benchmarks.full_records measure FOLDER OUT [NAME...]
    python -m benchmarks.full_records draw OUT docs/pictures
    python -m benchmarks.full_record_tables OUT

FOLDER holds one store per record, named after its importer (`sally import NAME CHECKOUT --out
FOLDER/NAME`). `measure` replays each store once and writes OUT/NAME.json: the dots of the atlas and
the figures that the pages give. `draw` writes atlas.html and atlas.svg from these files, with the
shipped samples of records with stated beliefs and the models of MODELS. `full_record_tables` prints
the tables of the pages. Stores are never shipped; the files in OUT hold aggregates only, and those
behind the pages are in docs/results/full_records.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from sally import store
from sally.analysis.episodes.atlas import by_column, recorded_dots
from sally.api.analyses import load
from sally.api.atlas import AtlasRows
from sally.core.log.events import Episode
from sally.frames.replays import replay_for_measures
from sally.parts.atlas import AtlasDot

Figures = dict[str, Any]
BUNDLES = Path(__file__).parent.parent / "docs/results/bundles"
MODELS = Path(__file__).parent / "atlas_models.json"  # whose stores were not kept


class MeasuredRecord(msgspec.Struct, frozen=True):
    """What one record contributes to the pages."""

    name: str
    episodes: int
    dots: list[AtlasDot]
    figures: Figures


def only_dots(episodes: Sequence[Episode]) -> tuple[list[AtlasDot], Figures]:
    """Return the dots of a record whose pages have no further figures."""
    return recorded_dots(episodes)[0], {}


def pact(episodes: Sequence[Episode]) -> tuple[list[AtlasDot], Figures]:
    """Return dots and findings of the bargaining games."""
    from sally.games.bargaining.rules import BUYER
    from sally.papers.pact.atlas import seat_dots, seat_games
    from sally.papers.pact.commands import findings_of
    from sally.papers.pact.findings import HABITS, SeatGame, doing, estimate, mindless

    seats: list[SeatGame] = []
    for episode in episodes:
        seats += seat_games([replay_for_measures(episode)])
    figures = findings_of(seats)
    models: dict[str, list[SeatGame]] = {}
    for seat in seats:
        models.setdefault(seat.model, []).append(seat)
    copied = figures["mindless: copy_last_capped"]["value"]
    scores = {
        name: estimate(group, doing).value for name, group in models.items() if len(group) >= 60
    }
    same_turns = {
        name: estimate(group, mindless(HABITS["copy_last_capped"])).value
        for name, group in models.items()
        if len(group) >= 60
    }
    for seat_name in ("buyer", "seller"):
        figures[f"models: {seat_name}s"] = sum(seat.seat == seat_name for seat in seats)
    figures |= {
        "games": len(episodes),
        "rounds": sum(len(seat.seat_episode.rounds) for seat in seats if seat.seat == BUYER),
        "trades": sum(
            round_.price is not None
            for seat in seats
            if seat.seat == BUYER
            for round_ in seat.seat_episode.rounds
        ),
        "models": len(models),
        "models with 60 seat-games": len(scores),
        "of these below copy_last_capped over all": sum(
            value < copied for value in scores.values()
        ),
        "of these below copy_last_capped in their own games": sum(
            scores[name] < same_turns[name] for name in scores
        ),
        "games by era": {
            era: len({seat.game for seat in seats if seat.era == era})
            for era in sorted({seat.era for seat in seats})
        },
        "models by era": {
            era: len({seat.model for seat in seats if seat.era == era})
            for era in sorted({seat.era for seat in seats})
        },
    }
    return seat_dots(seats), figures


def step_game(episodes: Sequence[Episode]) -> tuple[list[AtlasDot], Figures]:
    """Return dots and figures of the step race."""
    from sally.papers.step_game.atlas import seat_dots
    from sally.papers.step_game.commands import tables_of
    from sally.papers.step_game.figures import SeatGame, seat_games

    seats: list[SeatGame] = []
    for episode in episodes:
        seats += seat_games([replay_for_measures(episode)])
    ids = {episode.setup.instance.id: episode.id for episode in episodes}
    rated, models, rules, findings = tables_of(seats, 1)
    figures: Figures = {
        "models": models,
        "rules": rules,
        "findings": findings,
        "groups": rated.groups,
    }
    figures |= {
        "games": len(episodes),
        "turns": sum(len(seat.turns) for seat in seats if seat.seat == 0),
    }
    return seat_dots(seats, ids), msgspec.to_builtins(figures)


def hcss2025(episodes: Sequence[Episode]) -> tuple[list[AtlasDot], Figures]:
    """Return dots of the dilemma, first moves, and cooperation by replies that do not name it."""
    from sally.papers.hcss2025 import figures as measured
    from sally.papers.hcss2025.atlas import dots_of

    games = [replay_for_measures(episode) for episode in episodes]
    sides = [side for side in measured.side_matches(games) if side.replies]
    rows = []
    for model in sorted({side.model for side in sides}):
        for stop in sorted({side.stop for side in sides}):
            chosen = [side for side in sides if (side.model, side.stop) == (model, stop)]
            if chosen:
                opens, doing = measured.cooperation(chosen, ""), measured.doing(chosen)
                rows.append({"model": model, "stop": stop, "opens": opens, "doing": doing})
    scored = {}
    for model in sorted({side.model for side in sides}):
        chosen = [side for side in sides if side.model == model]
        readable = [move for side in chosen for _, move in side.own_decisions]
        scored[model] = {
            "moves": sum(side.moves for side in chosen),
            "cooperation as scored": sum(side.scored_cooperation for side in chosen),
            "readable": len(readable),
            "readable cooperation": sum(move == measured.COOPERATES for move in readable),
        }
    figures = msgspec.to_builtins({"rows": rows, "scored": scored})
    return dots_of(games), figures | {"matches": len(games)}


def zhu2024(episodes: Sequence[Episode]) -> tuple[list[AtlasDot], Figures]:
    """Return dots, levels and mixtures of people in one-shot games."""
    from sally.papers.zhu2024 import figures as measured
    from sally.papers.zhu2024.atlas import LEAST, dots_of
    from sally.papers.zhu2024.scale import PEOPLE, scale_players

    games = [replay_for_measures(episode) for episode in episodes]
    table = scale_players(games)[PEOPLE].table
    mixtures = [measured.mixture(table, measured.FIXED_ERROR), measured.fitted_mixture(table)]
    figures = {
        "summary": measured.summary(table, LEAST),
        "mixtures": mixtures,
        "choices": len(table.row),
    }
    return dots_of(games), msgspec.to_builtins(figures)


def eger2017(episodes: Sequence[Episode]) -> tuple[list[AtlasDot], Figures]:
    """Return dots and scores of people and AIs at Hanabi."""
    from sally.papers.eger2017 import figures as measured
    from sally.papers.eger2017.atlas import dots_of
    from sally.papers.eger2017.reader import AIS

    games = [replay_for_measures(episode) for episode in episodes]
    sides = measured.side_games(games)
    figures: Figures = {"games": len(games), "people": len({side.person for side in sides})}
    for ai in AIS:
        chosen = [side for side in sides if side.ai == ai]
        figures[f"{ai}: score, kept"] = measured.score(chosen)
        figures[f"{ai}: score, zero"] = measured.score(chosen, True)
        for is_human in (True, False):
            group = [side for side in chosen if side.human == is_human]
            name = f"{'people with' if is_human else 'AI'} {ai}: sure but idle"
            figures[name] = measured.measure(group, "sure but idle")
    return dots_of(games), msgspec.to_builtins(figures)


RECORDS: dict[str, Callable[[Sequence[Episode]], tuple[list[AtlasDot], Figures]]] = {
    "akata2025": only_dots,
    "alsobay2025": only_dots,
    "brockbank2024": only_dots,
    "eger2017": eger2017,
    "gamabench": only_dots,
    "hcss2025": hcss2025,
    "pact": pact,
    "step_game": step_game,
    "zhu2024": zhu2024,
}


def measure(folder: Path, to: Path, names: Sequence[str]) -> None:
    """Write the figures of the records in a folder of stores."""
    to.mkdir(parents=True, exist_ok=True)
    for name in names or RECORDS:
        if not (folder / name).is_dir():
            print(f"{name}: no store in {folder}")
            continue
        episodes = list(store.load(folder / name, quarantine=False).episodes.values())
        dots, figures = RECORDS[name](episodes)
        record = MeasuredRecord(name, len(episodes), dots, figures)
        text = msgspec.json.format(msgspec.json.encode(record), indent=1)
        (to / f"{name}.json").write_bytes(text + b"\n")
        print(f"{name}: {len(episodes)} episodes, {len(dots)} dots")


def measured_records(folder: Path) -> list[MeasuredRecord]:
    """Return what `measure` wrote."""
    decoder = msgspec.json.Decoder(MeasuredRecord)
    return [decoder.decode(path.read_bytes()) for path in sorted(folder.glob("*.json"))]


def draw(folder: Path, pictures: Path) -> None:
    """Draw the atlas of the measured records, of the shipped samples and of models as a page and as
    a figure."""
    dots = [
        msgspec.structs.replace(dot, store=f"out/{record.name}")
        for record in measured_records(folder)
        for dot in record.dots
    ]
    dots += msgspec.json.decode(MODELS.read_bytes(), type=list[AtlasDot])
    for bundle in sorted(BUNDLES.glob("beliefs_*.sally.zip")):
        samples, _ = recorded_dots(load(bundle))
        place = f"docs/results/bundles/{bundle.name}"
        dots += [
            msgspec.structs.replace(dot, store=place, note="a sample of the record")
            for dot in samples
        ]
    rows = AtlasRows(by_column(dots))
    for suffix in ("html", "svg"):
        print(rows.write(pictures / f"atlas.{suffix}"))


def main() -> int:
    """Run one of the two commands."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("command", choices=("measure", "draw"))
    parser.add_argument("paths", nargs="+")
    options = parser.parse_args()
    paths = [Path(path) for path in options.paths]
    if options.command == "measure":
        measure(paths[0], paths[1], options.paths[2:])
    else:
        draw(paths[0], paths[1])
    return 0


if __name__ == "__main__":
    sys.exit(main())
