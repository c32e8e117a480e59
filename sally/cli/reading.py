"""`sally score`, `sally replay`, `sally show`: what a store holds."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import click
import msgspec

from sally import store
from sally.analysis.rows import Row, episode_rows, summary
from sally.analysis.stores import each_once
from sally.cli.common import STORE
from sally.core import shelf
from sally.core.errors import BadInput, unknown
from sally.core.log import Episode
from sally.core.scenes import REFEREE
from sally.output.console import (
    estimate_cell,
    fitting,
    folded,
    json_option,
    print_json,
    print_table,
)
from sally.output.transcript import transcript
from sally.output.unpacked import is_bundle, opened
from sally.runner.check import Checked, check


@click.command()
@click.argument("folder", type=STORE)
@click.option("--metric", "metrics", multiple=True, help="Only these metrics.")
@click.option("--seat", default="", help="Only this seat.")
@click.option("--all", "every", is_flag=True, help="Every metric, not only the headline ones.")
@click.option("--rows", "as_rows", is_flag=True, help="JSON, one row per seat and episode.")
@json_option
def score(
    folder: Path | str,
    metrics: tuple[str, ...],
    seat: str,
    every: bool,
    as_rows: bool,
    as_json: bool,
) -> None:
    """Means with 95% intervals for every player in a store or a bundle."""
    bad: list[str] = []
    with opened(folder) as (place, _):
        if as_rows:
            print_json(list(episode_rows(each_once([place]))))
            return
        known: Instances = {}
        noted = noting(each_once([place], bad.append), known)
        found = score_rows(noted, metrics, seat, every or as_json)
    for id in sorted({id for (_, id), asked in known.items() if len(asked) > 1}):
        click.echo(
            f"mixed: instance {id!r} was changed between runs, and both count here", err=True
        )
    if as_json:
        print_json(found)
        return
    print_scores(found)
    for line in bad:
        click.echo(f"unreadable, kept in quarantine: {line}", err=True)


Instances = dict[tuple[str, str], set[str]]  # (cell, id) -> with which parameters


def noting(episodes: Iterable[Episode], known: Instances) -> Iterator[Episode]:
    """The episodes as they pass, their instances written down: one id should have one meaning."""
    for episode in episodes:
        instance = episode.setup.instance
        asked = msgspec.json.encode((instance.game, instance.params), order="sorted").decode()
        known.setdefault((episode.cell, instance.id), set()).add(asked)
        yield episode


def score_rows(
    episodes: Iterable[Episode], metrics: tuple[str, ...] = (), seat: str = "", every: bool = False
) -> list[Row]:
    """One row for each metric in each group of seats that were alike.

    Without names, the payoff and the headline metrics; with `every`, all that have a value.
    """
    every_seat = list(episode_rows(episodes))
    rows = [row for row in every_seat if not seat or row["seat"] == seat]
    if every_seat and not rows:
        raise unknown("seat in this store", seat, {row["seat"] for row in every_seat})
    by = ("cell", "game", "seat", "player", "others")
    known = shelf.shelf("metrics")
    if metrics:
        for name in metrics:
            if name not in known and name not in COUNTS:
                raise unknown("metric", name, (*known, *COUNTS))
        named = metrics
    else:
        named = (*(n for n, metric in known.items() if every or metric.headline), "payoff")
    found = [row for name in named for row in summary([r for r in rows if name in r], name, by)]
    return [row for row in found if row["value"] is not None]


COUNTS = ("payoff", "turns", "moves", "forfeited", "retried", "calls", "input_tokens",
          "output_tokens", "seconds")  # fmt: skip


def print_scores(found: list[Row]) -> None:
    """Who played whom, with a few metrics beside each other; means and 95% intervals."""
    if not found:
        click.echo("Nothing to score.")
        return
    groups: dict[tuple[str, ...], dict[str, str]] = {}
    keys = [k for k in ("cell", "game", "seat", "player", "others") if _varies(found, k)]
    most: dict[tuple[str, ...], int] = {}
    for row in found:
        who = tuple(str(row[k]) for k in keys)
        most[who] = max(most.get(who, 0), row["episodes"])
    for row in found:
        who = tuple(str(row[k]) for k in keys)
        group = groups.setdefault(who, {"n": str(most[who])})
        few = "" if row["episodes"] == most[who] else f" (n {row['episodes']})"
        group[heading(row["metric"])] = estimate_cell(row["value"], row["interval"]) + few
    rows = [dict(zip(keys, g, strict=True)) | cells for g, cells in groups.items()]
    metrics = list(dict.fromkeys(heading(row["metric"]) for row in found))
    said = [name for name in metrics if any(row.get(name) not in NOTHING for row in rows)]
    for names in fitting(rows, [*keys, "n"], said or metrics):
        kept = [row for row in rows if any(name in row for name in names)]
        print_table(kept, (*keys, *names, "n"))


NOTHING = (None, "-", "0.000", "0.000 ±0.000")  # columns of these alone are left out


def heading(metric: str) -> str:
    """The short name of a metric, for the head of a column."""
    entry = shelf.shelf("metrics").get(metric)
    return entry.label or metric if entry else metric


def _varies(rows: list[Row], key: str) -> bool:
    """Whether a column says anything: a cell that only repeats the game does not."""
    if key == "player":
        return True
    if key == "cell" and all(row["cell"] == row["game"] for row in rows):
        return False
    return len({row[key] for row in rows}) > 1


@click.command()
@click.argument("path", type=STORE)
@json_option
def replay(path: Path | str, as_json: bool) -> None:
    """Play every stored episode again from its log, and say where it differs.

    PATH is a store, a file of lines, or a bundle, whose hashes are checked first.
    """
    with opened(path) as (place, packed):
        if packed is not None and not as_json:
            click.echo(
                f"{path}: as packed, {len(packed.bundle.files)} files, sha256 {packed.sha256}"
            )
        found = check(_episodes(place).values())
    if as_json:
        sealed = {} if packed is None else {"sha256": packed.sha256}
        print_json({**found.as_json(), **sealed})
    else:
        _print_check(found)
    sys.exit(1 if found.mismatches else 0)


MOST_NAMED = 5  # episodes that are named for one reason; more are counted


def _print_check(found: Checked) -> None:
    for id, why in found.mismatches:
        click.echo(f"{id}: {why}")
    reasons: dict[str, list[str]] = {}
    for id, why in found.unchecked:
        reasons.setdefault(why, []).append(id)
    for why, ids in reasons.items():
        named = [f"{len(ids)} episodes"] if len(ids) > MOST_NAMED else ids
        for who in named:
            click.echo(f"{who} not checked: {why}")
    click.echo(
        f"{found.replayed} of {found.episodes} episodes replayed, "
        f"{len(found.mismatches)} mismatches, {len(found.unchecked)} not checked."
    )


@click.command()
@click.argument("episode", type=STORE)
@click.option("--eyes", default=REFEREE, show_default=True, help="A seat, or the referee.")
@json_option
def show(episode: Path | str, eyes: str, as_json: bool) -> None:
    """The transcript of EPISODE: STORE/ID (a beginning of the id will do) or STORE (its first).

    STORE may be a bundle.
    """
    found = find_episode(episode)
    lines = list(transcript(found, eyes))
    if as_json:
        print_json({"episode": found.id, "eyes": eyes, "lines": lines})
    else:
        click.echo(folded("\n".join(lines)))


def find_episode(path: Path | str) -> Episode:
    """The episode that STORE/ID or STORE names; a store may be a bundle."""
    folder, id = path, ""
    if isinstance(path, Path) and (is_bundle(path) or is_bundle(path.parent)):
        bundle, id = (path, "") if is_bundle(path) else (path.parent, path.name)
        with opened(bundle) as (place, _):
            return _named(place, id, bundle)
    if not store.place(path).exists():
        text = str(path)
        parent, _, id = text.rpartition("/")
        folder = parent if store.is_address(text) else Path(parent or ".")
        if not (store.place(folder).exists() and store.manifest_of(folder)):
            raise BadInput(f"There is neither a store nor an episode of one at {path}.")
    return _named(folder, id, folder)


def _named(folder: store.Where, id: str, said: store.Where) -> Episode:
    """The episode of a store whose id begins so; `said` is what the user calls the store."""
    episodes = store.load(folder).episodes
    found = [e for key, e in episodes.items() if key.startswith(id)]
    if not found:
        raise BadInput(
            f"The store {said} has no episode {id!r}; `sally score {said} --rows --json` "
            "lists those it has."
        )
    if id and len(found) > 1:
        raise BadInput(f"{len(found)} episodes of {said} begin with {id!r}; give more of the id.")
    return found[0]


def _episodes(path: store.Where) -> dict[str, Episode]:
    """The episodes of a store, or of one file of lines."""
    if isinstance(path, Path) and not path.is_dir():
        contents = store.load_file(path)
    else:
        contents = store.load(path)
    if contents.bad and not contents.episodes:
        raise BadInput(f"No line of {path} holds an episode; the first is bad: {contents.bad[0]}.")
    for line in contents.bad:
        click.echo(f"unreadable: {line}", err=True)
    return contents.episodes
