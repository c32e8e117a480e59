"""Sources of the variance of scores: the model, the prompting, the problem and chance.

The module also computes how much a score drops when the same game is reworded: such a drop suggests
that the score partly reflects training data that contained the original wording.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from sally.analysis.compare.contrast import OWN_WORDS, TWIN, wording
from sally.analysis.design.reliability import probes_of
from sally.analysis.score import matches, require_known
from sally.core.grouping import group_by
from sally.core.log.events import PlayerSpec, label, model_and_strategy
from sally.core.prompt.page_layout import read_harness
from sally.core.prompt.skins import AWARE
from sally.frames.frame import Frame
from sally.frames.profiles import SeatSums
from sally.stats.cluster_interval import lone_by_rule
from sally.stats.components import Shares, variance_components
from sally.stats.intervals import Estimate

SEED = 1
HARNESS = ("history", "question", "options", "answer", "retries")  # choices of a harness
FACTORS = ("model", "strategy", "wording", "setup", *HARNESS, "problem", "partner", "chance")


class FactorScore(msgspec.Struct, frozen=True):
    """One score with the levels of all factors that may explain it."""

    game: str
    measure: str
    value: float
    factors: dict[str, str]
    pair: str  # all factors but the wording


class Sources(msgspec.Struct, frozen=True):
    """The sources of the variance of one measure in one game."""

    game: str
    measure: str
    shares: Shares
    fresh: Estimate  # own words minus fresh ones, paired; above zero: better in known words
    best_known: float | None
    in_fresh: float | None


def factor_scores(frame: Frame) -> Iterator[FactorScore]:
    """Yield every score of the studied seats with its factors."""
    for kind, row in SeatSums(frame.profiles()).rows_with_kinds("least", "probes", "repeat"):
        setup, seat, player = kind.setup, kind.seat, kind.player_spec
        model, strategy = model_and_strategy(player)
        others = [label(spec) for s, spec in setup.lineup.items() if s != seat]
        hidden = {"model", "strategy", "pack", "harness"}
        other_params = {k: v for k, v in player.params.items() if k not in hidden}
        factors = {
            "model": model,
            "strategy": strategy,
            "wording": wording(setup, seat) or OWN_WORDS,
            "setup": msgspec.json.encode(other_params, order="sorted").decode(),
            **_harness(player, setup.retries),
            "problem": setup.instance.id,
            "partner": ", ".join(others),
            "chance": f"{setup.instance.id}/{row['repeat']}",
        }
        pair = "|".join([seat, *(v for k, v in factors.items() if k != "wording")])
        if row["least"] is not None:
            yield FactorScore(kind.game, kind.metric, row["least"], factors, pair)
        if counts := probes_of(row["probes"]).values():
            right = sum(hits for hits, _ in counts) / sum(n for _, n in counts)
            yield FactorScore(kind.game, "knowing", right, factors, pair)


def variance(frame: Frame, games: Sequence[str] = ()) -> list[Sources]:
    """Return the sources of variance of each measure in each game, or in some games."""
    scores = list(factor_scores(frame))
    require_known("game in these stores", games, {score.game for score in scores})
    return sources(s for s in scores if not games or any(matches(g, s.game) for g in games))


def sources(scores: Iterable[FactorScore]) -> list[Sources]:
    """Return the sources of variance of each measure in each game."""
    groups = group_by(scores, lambda score: (score.game, score.measure))
    return [_sources(*key, group) for key, group in sorted(groups.items())]


def _sources(game: str, measure: str, scores: list[FactorScore]) -> Sources:
    factors = {name: [score.factors[name] for score in scores] for name in FACTORS}
    shares = variance_components([score.value for score in scores], factors, seed=SEED)
    drops, own_mean, fresh = _drops(scores)
    return Sources(game, measure, shares, lone_by_rule(drops), own_mean, fresh)


def _drops(scores: list[FactorScore]) -> tuple[list[float], float | None, float | None]:
    """Return the differences between the score in the game's own wording and the mean score in
    fresh wordings, one for each setting, and the mean of each of these two scores over the
    settings."""
    own_wording: dict[str, list[float]] = {}
    fresh: dict[str, list[float]] = {}
    for score in scores:
        worded = score.factors["wording"]
        if not worded.endswith(TWIN) and AWARE not in worded:
            by_pair = own_wording if worded == OWN_WORDS else fresh
            by_pair.setdefault(score.pair, []).append(score.value)
    shared = [pair for pair in own_wording if pair in fresh]
    means = [(_mean(own_wording[pair]), _mean(fresh[pair])) for pair in shared]
    if not means:
        return [], None, None
    return [k - f for k, f in means], _mean([k for k, _ in means]), _mean([f for _, f in means])


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


def _harness(player: PlayerSpec, retries: int) -> dict[str, str]:
    """Return the harness settings that a player used."""
    chosen = read_harness(player.params.get("harness"))
    return {name: str(getattr(chosen, name, retries)) for name in HARNESS}
