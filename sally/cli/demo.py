"""`sally demo`: a small study, played, scored and shown."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from importlib.resources import as_file, files
from pathlib import Path
from shutil import which
from textwrap import fill
from typing import Any

import click
import msgspec

from sally import store
from sally.analysis.columns.measured import measured
from sally.analysis.columns.rows import Row, episode_rows, summary
from sally.analysis.design.claims import ACTS_ON, KNOWS, verdicts
from sally.analysis.profile.profile import ProfileRow, profile_of
from sally.cli.pages import report
from sally.cli.running import counts, play_with_progress
from sally.core.errors import BadInput, listed
from sally.core.log.events import Episode
from sally.core.registry import registry
from sally.core.terminal_text import echo
from sally.output.files.bundle_reader import opened
from sally.output.tables.console import estimate_cell, json_option, print_json, print_table
from sally.studies.demo import BOTS, GAMES, STUDY

RECORD = "quickstart_model-qwen-1.5b.sally.zip"
WIDTH = 79  # columns of text in a terminal of 80
COLUMNS = {  # heading -> metric
    "ToM %": "tom_percent",
    "regret": "functional_regret",
    "ToM regret": "tom_regret",
    "transl.": "translation_loss",
    "forfeits": "forfeits",
}


@click.command()
@click.option("--out", type=click.Path(path_type=Path), default=Path("out/demo"), show_default=True)
@click.option("--bots", is_flag=True, help="Play without the embedded model.")
@json_option
def demo(out: Path, bots: bool, as_json: bool) -> None:
    """Play three games with four kinds of player and compare what each knew with what it did."""
    if not as_json:
        _show_the_record()  # first: it takes a second or two, the embedded model minutes
    missing = "left out by --bots" if bots else embedded_is_missing()
    study = msgspec.structs.replace(STUDY, cells=BOTS) if missing else STUDY
    play_with_progress(study, out, None)
    contents = store.load(out)
    tables = knowing_and_doing(contents.episodes.values())
    if as_json:
        print_json(
            {"out": str(out), **counts(store.survey(out)), "missing": missing, "tables": tables}
        )
        return
    model = "" if missing else ", the model over ten"
    for game, lines in tables.items():
        title = f"{game} against tit_for_tat: bots over forty rounds{model}"
        print_table(lines, ["player", *COLUMNS], title=title)
    _explain(missing)
    echo(what_it_shows(contents.episodes.values()))
    if cut := sum(episode.payoffs is None for episode in contents.episodes.values()):
        echo(
            f"Episodes without a result (-): {cut}. Three unreadable moves in a row end an\n"
            "episode; an unreadable move is a forfeit, never replaced by a guess."
        )
    page = out.parent / f"{out.name}.html"
    click.get_current_context().invoke(report, store=out, out=page, transcripts="1", profile=True)
    last = list(contents.episodes)[-1]
    echo(f"\nThe log is in {out}; open {page} in a browser to read it. Try next:")
    sally = "sally" if which("sally") else os.path.relpath(sys.argv[0])  # as `make demo` runs it
    echo(f"  {sally} show {out}/{last[:8]} --eyes agent")
    echo(f"  {sally} replay {out}")
    echo(f"  {sally} play rps --seat partner=tit_for_tat --set rounds=5")


def _show_the_record() -> None:
    """Print what a larger model's stored episodes show, beside mindless rules and habits."""
    with as_file(files("sally.studies.records") / RECORD) as path, opened(path) as (place, _):
        episodes = list(store.load(place, quarantine=False).episodes.values())
    seats = [seat for episode in episodes for seat in measured(episode)]
    rows = profile_of([one for one in seats if one.seat == "agent" and one.game in GAMES])
    lines = record_lines(rows)
    title = "Replayed: Qwen2.5-Coder 1.5B, ten rounds, two episodes per row"
    print_table(lines, list(lines[0]), title=title)
    echo(record_sentence(rows))


def record_lines(rows: Sequence[ProfileRow]) -> list[Row]:
    """Return what a model predicted and acted on in each game, compared with mindless rules."""
    return [
        {
            "game": row.game,
            "asked by": strategy_of(row),
            "foresaw": _percent(row.accuracy.value),
            "a rule foresees": _percent(row.predictor.accuracy if row.predictor else None),
            "acted on it": _percent(row.consistency.value),
            "a habit fits": _percent(row.habit.fits if row.habit else None),
        }
        for row in rows
    ]


def record_sentence(rows: Sequence[ProfileRow]) -> str:
    """Return what the record shows beyond rules and habits, and which claims it supports."""
    keys = [f"{row.game} under {strategy_of(row)}" for row in rows if "one key" in row.called]
    told = f"In {listed(keys)} it always presses one key. " if keys else ""
    refused = [word for word in (KNOWS, ACTS_ON) if all(v.refused[word] for v in verdicts(rows))]
    words = (
        f"So `sally checklist` refuses the words {listed(map(repr, refused))}" if refused else ""
    )
    return fill(
        "A rule foresees: how often the best of three simple rules, such as repeating the last "
        "move, predicts the partner. A habit fits: how often always pressing the favourite key, or "
        "the label just predicted, would have been the best reply. "
        f"{told}{words}: two episodes per row are too few for any claim. docs/results has the "
        "registered study.",
        WIDTH,
    )


def strategy_of(row: ProfileRow) -> str:
    """Return the strategy in the label of a model's row."""
    return next(word for word in row.player.split() if word in registry.entries("strategies"))


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{value:.0f}%"


def embedded_is_missing() -> str:
    """Return why the embedded model cannot play here; empty if it can."""
    echo("downloading and testing the embedded model (first run only)", err=True)
    try:
        registry.model("embedded")
    except BadInput as why:
        return str(why)
    return ""


def knowing_and_doing(episodes: Iterable[Episode]) -> dict[str, list[Row]]:
    """Return, for each game, one row per player: what it knew, what it did and what that cost."""
    rows = [row for row in episode_rows(episodes, COLUMNS.values()) if row["seat"] == "agent"]
    tables: dict[str, dict[str, Row]] = {}
    for column, metric in COLUMNS.items():
        for found in summary(rows, metric, ("game", "player")):
            lines = tables.setdefault(found["game"], {})
            line = lines.setdefault(found["player"], {"player": found["player"]})
            line[column] = _cell(column, found)
    return {game: list(lines.values()) for game, lines in tables.items()}


def _cell(column: str, found: Row) -> Any:
    value = found["value"]
    if column == "forfeits":
        return None if value is None else f"{value:,.0f}"
    places = 0 if column == "ToM %" else 2
    return estimate_cell(value, found["interval"], places)


def what_it_shows(episodes: Iterable[Episode]) -> str:
    """Return one sentence per game on which player knew most and which did best."""
    known, done = "tom_percent", "functional_regret"
    rows = [row for row in episode_rows(episodes, (known, done)) if row["seat"] == "agent"]
    knew = summary(rows, known, ("game", "player"))
    did = summary(rows, done, ("game", "player"))
    parts, apart = [], 0
    for game in dict.fromkeys(row["game"] for row in knew):
        most = max(row["value"] for row in _known(knew, game))
        least = min(row["value"] for row in _known(did, game))
        first = [row["player"] for row in _known(knew, game) if row["value"] == most]
        best = [row["player"] for row in _known(did, game) if row["value"] == least]
        apart += not set(first) <= set(best)  # every player that knew most, if several are tied
        others = "" if first == best else f"{listed(best)} "
        parts.append(
            f"in {game} {listed(first)} predicted best ({most:.0f} %) and "
            f"{others}lost least ({least:.2f} per round)"
        )
    close = f"In {apart} of {len(parts)} games, knowing most was not enough to do best."
    if not apart:
        close = "In every game, those that knew most also did best."
    return fill(f"Here {'; '.join(parts)}. {close}", WIDTH)


def _known(rows: list[Row], game: str) -> list[Row]:
    return [row for row in rows if row["game"] == game and row["value"] is not None]


def _explain(missing: str) -> None:
    model = "" if missing else "; the model: one episode, too few for an interval"
    echo(
        fill(
            "ToM % is how often a player predicted its partner's move; regret is its loss per "
            "round against optimal play; ToM regret is the loss that best replies to its own "
            "predictions would have had; transl. (translation loss) is the loss from not playing "
            f"them. Bots: means of 20 episodes with 95% intervals{model}.",
            WIDTH,
        )
    )
    if missing:
        echo(fill(f"The embedded model did not play: {missing}", WIDTH))
