"""Dots of the atlas figure: how well models do against declared bots in the dilemma, by stopping
probability."""

from __future__ import annotations

from collections.abc import Sequence

from sally.core.rules.metric import Played
from sally.papers.hcss2025 import figures
from sally.parts.atlas import AtlasColumn, AtlasDot, AtlasKind, AtlasSource, estimate_dots

SOURCE = "hcss2025"
YEARS = {
    "GPT5mini": 2025,
    "GPT5nano": 2025,
    "GPT4.1mini": 2025,
    "Claude4-Sonnet": 2025,
    "Mistral-Medium": 2025,
    "Gemini20Flash": 2025,
}
UNREADABLE = ("GPT5nano", "Mistral-Medium")
LEAST = 5  # decisions


def dots_of(games: Sequence[Played]) -> list[AtlasDot]:
    """Return the dots of the atlas figure for models with published replies and for scripted
    players in the agent's seat."""
    sides = [s for s in figures.side_matches(games) if s.replies]
    dots: list[AtlasDot] = []
    for stop in sorted({s.stop for s in sides}):
        column = AtlasColumn(
            "prisoner's dilemma, repeated",
            f"chance to stop {stop:g} after each round, seven declared bots",
            "doing of single decisions",
            "even odds at the same states",
            "optimal play",
        )
        for model, year in YEARS.items():
            model_sides = [s for s in sides if s.model == model and s.stop == stop]
            value, n = figures.doing(model_sides)
            if n < LEAST:
                continue
            scored_sides = [s for s in model_sides if s.regret is not None and s.regret.decisions]
            note = "few replies are readable, and not at random" if model in UNREADABLE else ""
            facts = (n, "readable decisions", len(scored_sides), SOURCE)
            ids = [s.episode for s in scored_sides]
            dots += estimate_dots(column, model, "model", year, value, *facts, ids, note=note)
        dots += _scripted_dots(games, column, stop)
    return dots


def _scripted_dots(games: Sequence[Played], column: AtlasColumn, stop: float) -> list[AtlasDot]:
    """Return the dots of the atlas figure for recorded scripted players and learners against the
    same bots."""
    losses_by_name = figures.scripted_losses(games, stop)
    dots: list[AtlasDot] = []
    for name, losses in sorted(losses_by_name.items()):
        value, n = figures.pool_regrets([regret for _, regret in losses])
        if n >= LEAST:
            kind: AtlasKind = "learner" if name in figures.LEARNERS else "bot"
            facts = (n, "decisions", len(losses), SOURCE)
            dots += estimate_dots(column, name, kind, None, value, *facts, [id for id, _ in losses])
    return dots


ATLAS = AtlasSource("hcss2025", dots_of)
