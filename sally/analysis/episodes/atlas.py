"""The atlas: scores of players from several records, each with its game, setting and measure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import overload

from sally.core.grouping import group_by
from sally.core.log.events import Episode
from sally.core.registry import registry
from sally.core.rules.metric import Played
from sally.frames.replays import replay_for_measures
from sally.parts.atlas import KINDS, AtlasColumn, AtlasDot, AtlasSource
from sally.parts.importers import RECORDED, EpisodeSpool


def sources() -> dict[str, AtlasSource]:
    """Return the papers whose imported episodes appear in the atlas, by the prefix of their
    instances' ids."""
    declared = [registry.paper_part(name, "atlas") for name in registry.entries("papers")]
    return {
        prefix: source
        for source in declared
        if source is not None
        for prefix in ((source.prefix,) if isinstance(source.prefix, str) else source.prefix)
    }


class ReplayedGames(Sequence[Played]):
    """Episodes of a record, each read from disk and replayed when it is accessed."""

    def __init__(self) -> None:
        self._episodes = EpisodeSpool()

    def append(self, episode: Episode) -> None:
        """Add an episode at the end."""
        self._episodes.append(episode)

    def __len__(self) -> int:
        return len(self._episodes)

    @overload
    def __getitem__(self, index: int) -> Played: ...
    @overload
    def __getitem__(self, index: slice) -> list[Played]: ...
    def __getitem__(self, index: int | slice) -> Played | list[Played]:
        if isinstance(index, slice):
            return [replay_for_measures(episode) for episode in self._episodes[index]]
        return replay_for_measures(self._episodes[index])


def recorded_dots(episodes: Iterable[Episode]) -> tuple[list[AtlasDot], list[Episode]]:
    """Return the scores (dots of the atlas) of imported episodes, and the episodes that belong to
    no paper. Only the latter are held in memory."""
    by_prefix = sources()
    records: dict[int, tuple[AtlasSource, ReplayedGames]] = {}  # a record may have several prefixes
    others = []
    for episode in episodes:
        source = by_prefix.get(_prefix(episode))
        if source is None:
            others.append(episode)
        else:
            records.setdefault(id(source), (source, ReplayedGames()))[1].append(episode)
    return [dot for source, games in records.values() for dot in source.dots(games)], others


def _prefix(episode: Episode) -> str:
    """Return the prefix of an instance's id that assigns the episode to a paper.

    Some published records use the instances of their paper's study, such as `akata2025-8`. For an
    id without a colon, only recorded play is assigned to the paper.
    """
    id = episode.setup.instance.id
    recorded = any(player.player == RECORDED for player in episode.setup.lineup.values())
    return id.partition("-" if recorded and ":" not in id else ":")[0]


def by_column(dots: Sequence[AtlasDot]) -> dict[AtlasColumn, list[AtlasDot]]:
    """Return the scores by column; in each column, people come first, then models (latest year
    first), learners, bots and rules."""
    dots_by_column = group_by(dots, lambda dot: dot.column)
    return {
        column: sorted(
            dots_by_column[column],
            key=lambda d: (KINDS.index(d.kind), -(d.year or 0), -d.value, d.who),
        )
        for column in sorted(dots_by_column, key=lambda c: (c.game, c.setting, c.measure))
    }
