"""Replaying what is stored: the same events, or the place where they differ."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from sally.core import shelf
from sally.core.errors import BadInput
from sally.core.log import Episode
from sally.core.playback import mismatch, require_version


@dataclass
class Checked:
    """What a replay found."""

    episodes: int = 0
    replayed: int = 0
    mismatches: list[tuple[str, str]] = field(default_factory=list)
    unchecked: list[tuple[str, str]] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        return {
            "episodes": self.episodes,
            "replayed": self.replayed,
            "mismatches": [{"episode": id, "why": why} for id, why in self.mismatches],
            "unchecked": [{"episode": id, "why": why} for id, why in self.unchecked],
        }


def check(episodes: Iterable[Episode]) -> Checked:
    """Run every log through a match again; other versions are listed, not failed."""
    found = Checked()
    for episode in episodes:
        found.episodes += 1
        try:
            spec = shelf.game(episode.setup.instance.game)
            require_version(spec, episode)
        except BadInput as why:
            found.unchecked.append((episode.id, str(why)))
            continue
        wrong = mismatch(spec, episode)
        if wrong is None:
            found.replayed += 1
        else:
            found.mismatches.append((episode.id, wrong))
    return found
