"""`sally replay`, `sally replay --reread` and `sally show`: check and print the episodes of a
store."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from sally import store
from sally.cli.common import STORE
from sally.cli.group import WithViews
from sally.core.display.scenes import REFEREE
from sally.core.errors import BadInput
from sally.core.log.events import Episode
from sally.core.reply.reading import VERSION
from sally.core.terminal_text import echo
from sally.output.files.transcript import transcript
from sally.output.tables.console import (
    SCREEN,
    folded,
    json_option,
    print_json,
    print_table,
    print_text,
)
from sally.runner.check import PROVES, ReplayCheck, cells_of, check
from sally.runner.reread import STORED, RereadReply, readings, sensitivity
from sally.store.bundles import is_bundle, open_store


@click.command(cls=WithViews)
@click.argument("path", type=STORE)
@json_option
def replay(path: Path | str, as_json: bool) -> None:
    """Replay stored episodes from their logs, and report differences.

    PATH is a store, a file of episode lines, or a bundle, whose hashes are checked first.
    """
    with open_store(path) as (place, packed):
        if packed is not None and not as_json:
            echo(f"{path}: hashes match, {len(packed.bundle.files)} files, sha256 {packed.sha256}")
        lines = isinstance(place, Path) and not place.is_dir()
        held = _contents(place)
        cells = None if lines else cells_of(place)
        found = check(held.episodes.values(), cells, held.changed)
    if as_json:
        sealed = {} if packed is None else {"sha256": packed.sha256}
        print_json({**found.as_json(), **sealed})
    else:
        _print_check(found)
    sys.exit(1 if found.mismatches else 0)


MOST_NAMED = 5  # episodes listed for one reason; beyond that only their number is printed


def _print_check(found: ReplayCheck) -> None:
    for id, why in found.mismatches:
        echo(f"{id}: {why}")
    reasons: dict[str, list[str]] = {}
    for id, why in found.unchecked:
        reasons.setdefault(why, []).append(id)
    for why, ids in reasons.items():
        named = [f"{len(ids)} episodes"] if len(ids) > MOST_NAMED else ids
        for who in named:
            echo(f"{who} not checked: {why}")
    for version, count in sorted(found.readers.items()):
        installed = "installed" if version == VERSION else f"{VERSION} is installed"
        echo(f"Replies of {count} episodes were read by reply rule {version} ({installed}).")
    echo(
        f"{found.replayed} of {found.episodes} episodes replayed, "
        f"{len(found.mismatches)} mismatches, {len(found.unchecked)} not checked.",
        colour="red" if found.unchecked else "",
    )
    echo(folded(PROVES))


LONG = 60  # lines of a transcript that is printed whole
END = 8  # lines of the end of a long transcript that are printed


@click.command(cls=WithViews)
@click.argument("episode", type=STORE)
@click.option(
    "--eyes",
    default=REFEREE,
    show_default=True,
    help="Show what this seat saw; the referee sees everything.",
)
@click.option("--all", "whole", is_flag=True, help="Print every line of a long transcript.")
@json_option
def show(episode: Path | str, eyes: str, whole: bool, as_json: bool) -> None:
    """Print the transcript of an episode.

    EPISODE is STORE or STORE/ID (or a prefix of the id). STORE, which may be a bundle, shows its
    first episode. Of a long transcript, only the beginning and the end are printed; --all prints
    every line.
    """
    found = find_episode(episode)
    lines = [part for line in transcript(found, eyes) for part in line.split("\n")]
    if as_json:
        print_json({"episode": found.id, "eyes": eyes, "lines": list(transcript(found, eyes))})
        return
    if whole or len(lines) <= LONG:
        print_text("\n".join(lines))
        return
    left = len(lines) - SCREEN
    middle = f"... {left} of {len(lines)} lines are left out; --all prints them ..."
    print_text("\n".join([*lines[: SCREEN - END], middle, *lines[-END:]]))


def find_episode(path: Path | str) -> Episode:
    """Return the episode that STORE/ID or STORE names; STORE may be a bundle.

    Raises:
        BadInput: There is no such store or episode, or the id is ambiguous.
    """
    folder, id = path, ""
    if isinstance(path, Path) and (is_bundle(path) or is_bundle(path.parent)):
        bundle, id = (path, "") if is_bundle(path) else (path.parent, path.name)
        with open_store(bundle) as (place, _):
            return _named(place, id, bundle)
    if not store.place(path).exists():
        text = str(path)
        parent, _, id = text.rpartition("/")
        folder = parent if store.is_address(text) else Path(parent or ".")
        if not (store.place(folder).exists() and store.manifest_of(folder)):
            raise BadInput(f"{path} is neither a store nor STORE/ID of an episode.")
    return _named(folder, id, folder)


def _named(folder: store.Where, id: str, said: store.Where) -> Episode:
    """Return the episode whose id starts with `id`.

    `said` is the store's address as the user typed it, for error messages.
    """
    episodes = store.load(folder).episodes
    found = [e for key, e in episodes.items() if key.startswith(id)]
    if not found:
        raise BadInput(
            f"The store {said} has no episode {id!r}; `sally score {said} --rows --json` "
            "lists its episodes."
        )
    if id and len(found) > 1:
        raise BadInput(f"{len(found)} ids in {said} start with {id!r}; give more of the id.")
    return found[0]


def _contents(path: store.Where) -> store.Contents:
    """Load the episodes of a store, or of one file with an episode on each line."""
    if isinstance(path, Path) and not path.is_dir():
        contents = store.load_file(path, check=False)
    else:
        contents = store.load(path, check=False)  # the replay itself reports what is wrong
    if contents.bad and not contents.episodes:
        raise BadInput(
            f"No line of {path} holds a valid episode; the first error: {contents.bad[0]}."
        )
    for line in contents.bad:
        echo(f"unreadable: {line}", err=True)
    return contents


@click.command()
@click.argument("path", type=STORE)
@json_option
def reread(path: Path | str, as_json: bool) -> None:
    """Parse stored replies again with the installed reply rule, and list every difference.

    PATH is a store, a file of episode lines, or a bundle. Stored episodes are not changed; the
    output shows which replies are now understood differently, and how far the results depend on the
    rule.
    """
    found, skipped = list[RereadReply](), list[str]()
    with open_store(path) as (place, _):
        for episode in _contents(place).episodes.values():
            try:
                found += readings(episode)
            except (BadInput, LookupError) as why:
                skipped.append(f"{episode.id}: {why}")
    rule = f"rule {VERSION}"
    differ = [each for each in found if each.by_rule[rule] != each.by_rule[STORED]]
    table = sensitivity(found)
    if as_json:
        listed = [_difference(each, rule) for each in differ]
        print_json(
            {
                "rule": VERSION,
                "read": len(found),
                "differ": listed,
                "figures": table,
                "skipped": skipped,
            }
        )
        return
    for each in differ:
        was, now = (_named_or(each.by_rule[name]) for name in (STORED, rule))
        where = f"{each.episode} turn {each.turn + 1}, {each.seat}, {each.kind}"
        echo(f"{where}: {was} then, {now} now: {each.reply[-80:]!r}")
    for line in skipped:
        echo(f"not read again: {line}")
    if table:
        shown = [{**row, **{k: _percent(row[k]) for k in ("read", "figure")}} for row in table]
        print_table(shown, list(table[0]), "Figures by rule")
        echo(
            "figure: of the replies read, the share of the menu's first option (moves) "
            "or of right answers (probes)."
        )
    echo(f"{len(found)} replies read by {rule}; {len(differ)} differ.")


def _difference(each: RereadReply, rule: str) -> dict[str, Any]:
    named = {"episode": each.episode, "turn": each.turn, "seat": each.seat, "kind": each.kind}
    return {**named, "was": each.by_rule[STORED], "now": each.by_rule[rule], "reply": each.reply}


def _percent(share: float | None) -> str:
    return "" if share is None else f"{share:.1%}"


def _named_or(value: object) -> str:
    return "unreadable" if value is None else str(value)
