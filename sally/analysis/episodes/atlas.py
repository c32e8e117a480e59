"""The atlas: players of several records, each with its game, setting and measure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sally.core.log.events import Episode
from sally.core.match.playback import replayed
from sally.core.registry import registry
from sally.core.rules.atlas import KINDS, AtlasColumn, AtlasDot, AtlasSource
from sally.core.rules.metric import Played


def sources() -> dict[str, AtlasSource]:
    """Return the papers that declare dots, by the prefix of their instances."""
    found = [registry.paper_part(name, "atlas") for name in registry.entries("papers")]
    return {source.prefix: source for source in found if source is not None}


def recorded_dots(episodes: Iterable[Episode]) -> tuple[list[AtlasDot], list[Episode]]:
    """Return the dots of imported episodes, and the episodes that no paper claims."""
    known = sources()
    claimed: dict[str, list[Played]] = {}
    rest = []
    for episode in episodes:
        prefix = episode.setup.instance.id.partition(":")[0]
        if prefix in known:
            spec = registry.game(episode.setup.instance.game)
            claimed.setdefault(prefix, []).append(Played(spec, episode, replayed(spec, episode)))
        else:
            rest.append(episode)
    dots = [dot for prefix, games in claimed.items() for dot in known[prefix].dots(games)]
    return dots, rest


def by_column(dots: Sequence[AtlasDot]) -> dict[AtlasColumn, list[AtlasDot]]:
    """Return dots by column: people first, then models by year, learners, bots and rules."""
    found: dict[AtlasColumn, list[AtlasDot]] = {}
    for dot in dots:
        found.setdefault(dot.column, []).append(dot)
    return {
        column: sorted(
            found[column],
            key=lambda d: (KINDS.index(d.kind), -(d.year or 0), -d.value, d.who),
        )
        for column in sorted(found, key=lambda c: (c.game, c.setting, c.measure))
    }
