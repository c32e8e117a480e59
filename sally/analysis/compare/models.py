"""Is one model better than another, over all the ways in which both were asked?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from sally.analysis.compare.compare import SEED, Comparison, check, family
from sally.analysis.compare.scores import By, Scores, Seen, Source, scores_of
from sally.core.errors import BadInput, unknown
from sally.core.log.events import PlayerSpec, label, model_and_strategy


def compare_models(
    episodes: Source,
    first: str,
    second: str,
    *,
    metrics: Sequence[str] = (),
    by: By = "game",
    margin: float | None = None,
    seed: int = SEED,
) -> tuple[list[Comparison], list[Comparison]]:
    """Two models over all strategies that both were asked by, and then strategy by strategy.

    A pair is one setting met by one strategy with one and the other model. Each list is adjusted
    as a family of its own; the second is empty where there is one strategy, or `by` is not game.
    """
    check(first, second, metrics, margin)
    lines = by if by != "game" else "strategy"
    scores = scores_of(episodes, (first, second), metrics, lines, model_and_way)
    if by != "game":
        return family(scores, first, second, margin, seed), []
    pooled: Scores = {}
    for group, both in scores.items():
        whole = pooled.setdefault(msgspec.structs.replace(group, where=""), {})
        for player, found in both.items():
            whole.setdefault(player, []).extend(found)
    several = len({group.where for group in scores}) > 1
    apart = family(scores, first, second, margin, seed) if several else []
    return family(pooled, first, second, margin, seed), apart


def are_models(source: Source, first: str, second: str) -> bool:
    """Whether two names are models, not players; players go first, unknown names are refused."""
    players, models = set[str](), set[str]()
    for lineup in _lineups(source):
        for who in lineup.values():
            players.add(label(who))
            models.add(model_and_strategy(who)[0])
    for name in (first, second):
        if name not in players | models:
            raise unknown("player in this store", name, players | models)
    if {first, second} <= players:
        return False
    if {first, second} <= models:
        return True
    model = first if first not in players else second
    raise BadInput(
        f"{model!r} is a model with all its strategies; name two models, or two players."
    )


def _lineups(source: Source) -> Iterator[Mapping[str, PlayerSpec]]:
    if isinstance(source, Seen):
        yield from (kind.lineup for kind in source.kinds)
    else:
        yield from (episode.setup.lineup for episode in source)


def model_and_way(who: PlayerSpec) -> tuple[str, str]:
    """A model, and apart from it how it is asked."""
    model = model_and_strategy(who)[0]
    return model, label(who).removeprefix(model).strip()
