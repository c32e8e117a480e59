"""Importer of people's public goods games: one episode per complete group.

The game in Sally has no punishment, reward or chat stage. Games with such stages are imported on
request; they are marked and have no payoffs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from sally.core.log.events import Episode, Instance, Setup
from sally.core.match.engine import Match
from sally.core.registry import registry
from sally.core.registry.paper import Importer, ImportOption, ImportResult
from sally.papers.alsobay2025.reader import (
    GROUPS,
    PEOPLE,
    Person,
    complete_rounds,
    read,
)
from sally.parts.importers import HUMAN, ImportRun, Oddity, Source, recorded_player


def as_episode(source: Source, group: list[Person]) -> Episode | None:
    """Return the game of a group; None if not all of its members are in the file."""
    rules, rounds = group[0].rules, complete_rounds(group)
    if not rounds:
        return None
    longest = max(len(person.rounds) for person in group)
    is_complete = len(rounds) == longest and not rules.extra
    params: dict[str, Any] = {
        "players": rules.players,
        "tokens": rules.tokens,
        "ratio": rules.ratio,
        "rounds": longest if is_complete else longest + 1,  # a game without a result is not over
        "unit": rules.tokens if rules.all_or_nothing else 1,
    }
    spec = registry.game("public_goods")
    seats = [str(seat) for seat in spec.build(params).seats]
    lineup = {seat: recorded_player(HUMAN) for seat in seats}
    name = f"alsobay2025:{group[0].group}:0"
    match: Match[Any, int, Any] = Match(
        spec, Setup(Instance(name, "public_goods", params), 0, lineup)
    )
    for contributions in rounds:
        for seat, contribution in zip(match.game.seats, contributions, strict=True):
            match.move(seat, contribution)
    if not is_complete:
        stages = "stages of the record that the game does not have: " + ", ".join(rules.extra)
        reason = stages if rules.extra else f"a player left after round {len(rounds)}"
        match.censor("left", reason)
    used = {
        "source": msgspec.to_builtins(source),
        "people": {s: {"participant": p.id} for s, p in zip(seats, group, strict=True)},
        "extra stages": list(rules.extra),
    }
    extra = f", {' and '.join(rules.extra)}" if rules.extra else ""
    return match.episode(f"return {rules.back:.2f}{extra}", used)


def import_groups(path: Path, extra_stages: bool = False) -> ImportResult:
    """Import every complete group under a path.

    Args:
        path: A file or a checkout.
        extra_stages: Also import games with chat, punishment or reward; they have no payoffs.
    """
    record = read(path)
    groups = record.groups()
    counts = {
        "people": len(record.people),
        "people in the full record": PEOPLE,
        "groups": len(groups),
        "groups in the full record": GROUPS,
        "contributions": sum(len(person.rounds) for person in record.people),
    }
    run = ImportRun(record.oddities, counts)
    for name, group in groups.items():
        complete = len(group) == group[0].rules.players
        run.counts["groups with all members"] += complete
        if complete:
            run.counts["rounds that sum to the stated total"] += len(complete_rounds(group))
        if not complete:
            reason = f"{len(group)} of its {group[0].rules.players} members are in the file"
            run.oddities.append(Oddity(name, "group left out", reason))
        elif group[0].rules.extra and not extra_stages:
            run.counts["groups with chat, punishment or reward that were left out"] += 1
        elif episode := as_episode(record.source, group):
            run.add(episode)
    return run.result()


IMPORTER = Importer(
    "alsobay2025",
    "people in public goods games (Alsobay et al. 2025)",
    import_groups,
    options=(
        ImportOption(
            "extra_stages", "Also import games with chat, punishment or reward, without a result."
        ),
    ),
)
