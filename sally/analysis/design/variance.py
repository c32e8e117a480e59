"""Sources of the variance of scores: the model, the prompting, the problem and chance.

The module also computes how much a score drops when the same game is reworded: such a drop suggests
that the score partly reflects training data that contained the original wording.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
import polars as pl

from sally.analysis.compare.contrast import OWN_WORDS, TWIN, wording
from sally.analysis.score import matches, require_known
from sally.core.log.events import PlayerSpec, label, model_and_strategy
from sally.core.prompt.page_layout import read_harness
from sally.core.prompt.skins import AWARE
from sally.frames.frame import Frame
from sally.frames.measured_seat import SeatKind
from sally.frames.profiles import SeatSums
from sally.stats.cluster_interval import lone_by_rule
from sally.stats.components import Shares, variance_components
from sally.stats.intervals import Estimate

SEED = 1
HARNESS = ("history", "question", "options", "answer", "retries")  # choices of a harness
FACTORS = ("model", "strategy", "wording", "setup", *HARNESS, "problem", "partner", "chance")


class Sources(msgspec.Struct, frozen=True):
    """The sources of the variance of one measure in one game."""

    game: str
    measure: str
    shares: Shares
    fresh: Estimate  # own words minus fresh ones, paired; above zero: better in known words
    best_known: float | None
    in_fresh: float | None


def factor_scores(frame: Frame) -> pl.DataFrame:
    """Return every score of the studied seats: `game`, `measure`, `value`, the levels of all
    factors that may explain it, and `pair`, the same for scores that differ in wording only."""
    sums = SeatSums(frame.profiles())
    rows = _kind_factors(sums.shared)[sums.kind].with_columns(
        value=sums.rows["least"], repeat=sums.rows["repeat"], row=np.arange(len(sums))
    )
    rows = rows.with_columns(
        chance=pl.format("{}/{}", pl.col("problem").cast(pl.String), "repeat").cast(pl.Categorical),
        pair=pl.struct("pair", "repeat").rank("dense"),
    )
    doing = rows.filter(pl.col("value").is_not_null())
    counts = sums.probe_counts().group_by("row").agg(pl.col("right", "answers").sum())
    knowing = rows.join(counts, on="row", maintain_order="left").with_columns(
        measure=pl.lit("knowing"), value=pl.col("right") / pl.col("answers")
    )
    columns = ("game", "measure", "value", *FACTORS, "pair")
    return pl.concat([part.select(columns) for part in (doing, knowing)])


def _kind_factors(kinds: Sequence[SeatKind]) -> pl.DataFrame:
    """Return the factors that all scores of a kind of seats share, one row per kind."""
    rows = []
    pairs: dict[tuple[str, ...], int] = {}
    for kind in kinds:
        setup, player = kind.setup, kind.player_spec
        model, strategy = model_and_strategy(player)
        hidden = {"model", "strategy", "pack", "harness"}
        other_params = {k: v for k, v in player.params.items() if k not in hidden}
        factors = {
            "model": model,
            "strategy": strategy,
            "setup": msgspec.json.encode(other_params, order="sorted").decode(),
            **_harness(player, setup.retries),
            "problem": setup.instance.id,
            "partner": ", ".join(
                label(spec) for seat, spec in setup.lineup.items() if seat != kind.seat
            ),
        }
        same = (kind.seat, *factors.values())
        rows.append(
            {
                "game": kind.game,
                "measure": kind.metric,
                **factors,
                "wording": wording(setup, kind.seat) or OWN_WORDS,
                "pair": pairs.setdefault(same, len(pairs)),
            }
        )
    names = {name: pl.Categorical() for name in FACTORS if name != "chance"}
    return pl.DataFrame(
        rows, {"game": pl.String(), "measure": pl.String(), **names, "pair": pl.Int64()}
    )


def variance(frame: Frame, games: Sequence[str] = ()) -> list[Sources]:
    """Return the sources of variance of each measure in each game, or in some games."""
    scores = factor_scores(frame)
    names = scores["game"].unique().to_list()
    require_known("game in these stores", games, names)
    fitting = [name for name in names if not games or any(matches(g, name) for g in games)]
    return sources(scores.filter(pl.col("game").is_in(fitting)))


def sources(scores: pl.DataFrame) -> list[Sources]:
    """Return the sources of variance of each measure in each game."""
    groups = scores.partition_by("game", "measure", as_dict=True)
    return [_sources(game, measure, groups[game, measure]) for game, measure in sorted(groups)]


def _sources(game: str, measure: str, scores: pl.DataFrame) -> Sources:
    factors = {name: scores[name].to_physical().to_numpy() for name in FACTORS}
    shares = variance_components(scores["value"].to_numpy(), factors, seed=SEED)
    drops, own_mean, fresh_mean = _drops(scores)
    return Sources(game, measure, shares, lone_by_rule(drops), own_mean, fresh_mean)


def _drops(scores: pl.DataFrame) -> tuple[list[float], float | None, float | None]:
    """Return the differences between the score in the game's own wording and the mean score in
    fresh wordings, one for each setting, and the mean of each of these two scores over the
    settings."""
    worded = pl.col("wording").cast(pl.String)
    is_own = worded == OWN_WORDS
    is_fresh = ~(is_own | worded.str.ends_with(TWIN) | worded.str.contains(AWARE, literal=True))
    own, fresh = (
        scores.filter(fits).group_by("pair", maintain_order=True).agg(pl.col("value").mean())
        for fits in (is_own, is_fresh)
    )
    pairs = own.join(fresh, on="pair", maintain_order="left")
    if pairs.is_empty():
        return [], None, None
    own_scores, fresh_scores = pairs["value"].to_numpy(), pairs["value_right"].to_numpy()
    drops = (own_scores - fresh_scores).tolist()
    return drops, float(own_scores.mean()), float(fresh_scores.mean())


def _harness(player: PlayerSpec, retries: int) -> dict[str, str]:
    """Return the harness settings that a player used."""
    chosen = read_harness(player.params.get("harness"))
    return {name: str(getattr(chosen, name, retries)) for name in HARNESS}
