"""`sally replay`, `sally replay --reread` and `sally show`: check and print the episodes of a
store."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from sally import store
from sally.cli.common import STORE
from sally.cli.group import WithViews
from sally.core.display.scenes import REFEREE
from sally.core.errors import BadInput
from sally.core.log.events import Episode
from sally.core.reply.reader import VERSION
from sally.core.terminal_text import echo
from sally.output.files.transcript import transcript
from sally.output.tables.console import (
    SCREEN,
    fold_text,
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
        cells = None if isinstance(place, Path) and not place.is_dir() else cells_of(place)
        dropped = store.Contents()  # the replay itself reports what is wrong
        result = check(store.each_episode(place, dropped), cells, dropped)
        _report_bad_lines(place, dropped.bad, result.episodes)
    if not result.episodes:
        raise BadInput(f"{path} holds no episodes.")
    if as_json:
        sealed = {} if packed is None else {"sha256": packed.sha256}
        print_json({**result.as_json(), **sealed})
    else:
        _print_check(result)
    sys.exit(0 if result.is_sound else 1)


MOST_NAMED = 5  # episodes listed for one reason; beyond that only their number is printed


def _print_check(result: ReplayCheck) -> None:
    for id, reason in result.mismatches:
        echo(f"{id}: {reason}")
    reasons: dict[str, list[str]] = {}
    for id, reason in result.unchecked:
        reasons.setdefault(reason, []).append(id)
    for reason, ids in reasons.items():
        is_long = len(ids) > MOST_NAMED or (len(ids) > 1 and len(result.unchecked) > SCREEN)
        labels = [f"{len(ids)} episodes"] if is_long else ids
        for label in labels:
            echo(f"{label} not checked: {reason}")
    for version, count in sorted(result.readers.items()):
        installed = "installed" if version == VERSION else f"{VERSION} is installed"
        echo(f"Replies of {count} episodes were read by reply rule {version} ({installed}).")
    echo(
        f"{result.replayed} of {result.episodes} episodes replayed, "
        f"{len(result.mismatches)} mismatches, {len(result.unchecked)} not checked.",
        colour="red" if result.unchecked else "",
    )
    if result.missing:
        verb = "is" if result.missing == 1 else "are"
        echo(
            f"{result.missing:,} of the {result.planned:,} episodes that the store's study plans "
            f"{verb} not in it."
        )
    if result.doubled:
        lines = "1 line repeats" if result.doubled == 1 else f"{result.doubled:,} lines repeat"
        echo(f"{lines} an episode and did not count again.")
    echo(fold_text(PROVES))


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
    stored = find_episode(episode)
    lines = [part for line in transcript(stored, eyes) for part in line.split("\n")]
    if as_json:
        print_json({"episode": stored.id, "eyes": eyes, "lines": list(transcript(stored, eyes))})
        return
    if whole or len(lines) <= LONG:
        print_text("\n".join(lines))
        return
    omitted = len(lines) - SCREEN
    middle = f"... {omitted} of {len(lines)} lines are left out; --all prints them ..."
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
            return _episode_by_id(place, id, bundle)
    if not store.place(path).exists():
        text = str(path)
        parent, _, id = text.rpartition("/")
        folder = parent if store.is_address(text) else Path(parent or ".")
        if not (store.place(folder).exists() and store.manifest_of(folder)):
            raise BadInput(f"{path} is neither a store nor STORE/ID of an episode.")
    return _episode_by_id(folder, id, folder)


def _episode_by_id(folder: store.Where, id: str, address: store.Where) -> Episode:
    """Return the episode whose id starts with `id`.

    `address` is the store's address as the user typed it, for error messages.
    """
    episodes = store.load(folder).episodes
    matches = [e for key, e in episodes.items() if key.startswith(id)]
    if not matches and not id:
        raise BadInput(
            f"No line of the store {address} holds a valid episode; `sally replay {address}` says "
            "why."
        )
    if not matches:
        raise BadInput(
            f"The store {address} has no episode {id!r}; `sally score {address} --rows --json` "
            "lists its episodes."
        )
    if id and len(matches) > 1:
        raise BadInput(f"{len(matches)} ids in {address} start with {id!r}; give more of the id.")
    return matches[0]


def _contents(path: store.Where) -> store.Contents:
    """Load the episodes of a store, or of one file with an episode on each line."""
    if isinstance(path, Path) and not path.is_dir():
        contents = store.load_file(path, check=False)
    else:
        contents = store.load(path, check=False)
    _report_bad_lines(path, contents.bad, len(contents.episodes))
    return contents


def _report_bad_lines(path: store.Where, bad: Sequence[store.BadLine], episodes: int) -> None:
    """Print bad lines; raises BadInput if there is nothing else."""
    if bad and not episodes:
        raise BadInput(f"No line of {path} holds a valid episode; the first error: {bad[0]}.")
    for line in bad:
        echo(f"unreadable: {line}", err=True)


@click.command()
@click.argument("path", type=STORE)
@json_option
def reread(path: Path | str, as_json: bool) -> None:
    """Parse stored replies again with the installed reply rule, and list every difference.

    PATH is a store, a file of episode lines, or a bundle. Stored episodes are not changed; the
    output shows which replies are now understood differently, and how far the results depend on the
    rule.
    """
    replies, skipped = list[RereadReply](), list[str]()
    with open_store(path) as (place, _):
        for episode in _contents(place).episodes.values():
            try:
                replies += readings(episode)
            except (BadInput, LookupError) as error:
                skipped.append(f"{episode.id}: {error}")
    rule = f"rule {VERSION}"
    differ = [reply for reply in replies if reply.by_rule[rule] != reply.by_rule[STORED]]
    table = sensitivity(replies)
    if as_json:
        listed = [_difference(reply, rule) for reply in differ]
        print_json(
            {
                "rule": VERSION,
                "read": len(replies),
                "differ": listed,
                "figures": table,
                "skipped": skipped,
            }
        )
        return
    for reply in differ:
        was, now = (_named_or(reply.by_rule[name]) for name in (STORED, rule))
        location = f"{reply.episode} turn {reply.turn + 1}, {reply.seat}, {reply.kind}"
        echo(f"{location}: {was} then, {now} now: {reply.reply[-80:]!r}")
    for line in skipped:
        echo(f"not read again: {line}")
    if table:
        lines = [{**row, **{k: _percent(row[k]) for k in ("read", "figure")}} for row in table]
        print_table(lines, list(table[0]), "Figures by rule")
        echo(
            "figure: of the replies read, the share of the menu's first option (moves) "
            "or of right answers (probes)."
        )
    echo(f"{len(replies)} replies read by {rule}; {len(differ)} differ.")


def _difference(reply: RereadReply, rule: str) -> dict[str, Any]:
    fields = {"episode": reply.episode, "turn": reply.turn, "seat": reply.seat, "kind": reply.kind}
    return {
        **fields,
        "was": reply.by_rule[STORED],
        "now": reply.by_rule[rule],
        "reply": reply.reply,
    }


def _percent(share: float | None) -> str:
    return "" if share is None else f"{share:.1%}"


def _named_or(value: object) -> str:
    return "unreadable" if value is None else str(value)
