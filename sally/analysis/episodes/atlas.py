"""The atlas: scores of players from several records, each with its game, setting and measure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sally.analysis.columns.rows import played
from sally.core.grouping import grouped
from sally.core.log.events import Episode
from sally.core.registry import registry
from sally.core.rules.metric import Played
from sally.parts.atlas import KINDS, AtlasColumn, AtlasDot, AtlasSource
from sally.parts.imported import RECORDED


def sources() -> dict[str, AtlasSource]:
    """Return the papers whose imported episodes appear in the atlas, by the prefix of their
    instances' ids."""
    found = [registry.paper_part(name, "atlas") for name in registry.entries("papers")]
    return {
        prefix: source
        for source in found
        if source is not None
        for prefix in ((source.prefix,) if isinstance(source.prefix, str) else source.prefix)
    }


def recorded_dots(episodes: Iterable[Episode]) -> tuple[list[AtlasDot], list[Episode]]:
    """Return the scores (dots of the atlas) of imported episodes, and the episodes that belong to
    no paper."""
    known = sources()
    claimed: dict[str, list[Played]] = {}
    rest = []
    for episode in episodes:
        prefix = _prefix(episode)
        if prefix in known:
            claimed.setdefault(prefix, []).append(played(episode))
        else:
            rest.append(episode)
    together: dict[int, tuple[AtlasSource, list[Played]]] = {}  # a record may have several prefixes
    for prefix, games in claimed.items():
        together.setdefault(id(known[prefix]), (known[prefix], []))[1].extend(games)
    return [dot for source, games in together.values() for dot in source.dots(games)], rest


def _prefix(episode: Episode) -> str:
    """Return the prefix of an instance's id that assigns the episode to a paper.

    Some published records use the instances of their paper's study, such as `akata2025-8`. For an
    id without a colon, only recorded play is assigned to the paper.
    """
    id = episode.setup.instance.id
    recorded = any(who.player == RECORDED for who in episode.setup.lineup.values())
    return id.partition("-" if recorded and ":" not in id else ":")[0]


def by_column(dots: Sequence[AtlasDot]) -> dict[AtlasColumn, list[AtlasDot]]:
    """Return the scores by column; in each column, people come first, then models (latest year
    first), learners, bots and rules."""
    found = grouped(dots, lambda dot: dot.column)
    return {
        column: sorted(
            found[column],
            key=lambda d: (KINDS.index(d.kind), -(d.year or 0), -d.value, d.who),
        )
        for column in sorted(found, key=lambda c: (c.game, c.setting, c.measure))
    }
