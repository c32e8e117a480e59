"""Result types: lists with a short repr, HTML tables for notebooks, frames and figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Self

import msgspec

from sally.analysis.score import Query, Scores, score
from sally.api.result_list import ResultList, rows_figure
from sally.api.rows import Rows, is_chosen
from sally.core.errors import BadInput, join_names, unknown
from sally.core.log.events import Episode, label
from sally.frames import Row
from sally.frames.frame import as_frame
from sally.frames.schema import EXPORTED_DECISION, EXPORTED_SEAT
from sally.stats.intervals import Estimate
from sally.store import BadLine

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    from matplotlib.figure import Figure

    from sally.analysis.compare.compare import Comparison, PlayerComparison
    from sally.analysis.compare.contrast import Contrast
    from sally.analysis.compare.crossplay import Pairing, Players
    from sally.analysis.design.reliability import Matrix, Reliability
    from sally.analysis.design.variance import Sources
    from sally.analysis.profile.profile import ProfileRow
    from sally.runner.plan import Plan

BadLines = Sequence[BadLine]


class ScoreRows(Rows):
    """Means of metrics, one row per game, seat, player and metric.

    `scores` says what was pooled and left out, and why episodes have no result; `bad` has the
    lines of the store that hold no episode.
    """

    def __init__(self, scores: Scores, bad: BadLines = ()) -> None:
        super().__init__(scores.rows)
        self.scores, self.bad = scores, bad


class ProfileRows(Rows):
    """A knowing-doing profile: one row per player and game, with a plot."""

    parallel = ("estimates",)

    def __init__(self, rows: Iterable[ProfileRow], bad: BadLines = ()) -> None:
        self.estimates, self.bad = list(rows), bad
        super().__init__(flat(row) for row in self.estimates)

    def plot(self, kind: Literal["profile", "calibration"] = "profile") -> Figure:  # type: ignore[override]
        """Draw the profile, or the calibration of stated odds.

        Args:
            kind: `profile` for knowing and doing, `calibration` for stated odds.

        Returns:
            A Matplotlib figure; `figure.savefig("profile.png")` writes it.

        Raises:
            BadInput: If there is nothing to draw or Matplotlib is not installed.
        """
        from sally.output.figures.profile import calibration_figure, profile_figure

        draw = {"profile": profile_figure, "calibration": calibration_figure}
        if kind not in draw:
            raise unknown("kind of plot", kind, draw)
        return draw[kind](self.estimates)


class CrossplayRows(Rows):
    """Mean payoffs of every pair of players, one row per pairing."""

    def select(self, places: Iterable[int]) -> Self:
        """Return the pairings at these places."""
        result = super().select(places)
        chosen = {(row["game"], row["first_player"], row["second_player"]) for row in result}
        result.tables = {
            game: {pair: value for pair, value in table.items() if (game, *pair) in chosen}
            for game, table in self.tables.items()
            if any(row["game"] == game for row in result)
        }
        return result

    def __init__(self, tables: Mapping[str, Mapping[Players, Pairing]], bad: BadLines = ()) -> None:
        self.tables, self.bad = tables, bad
        super().__init__(
            {"game": game, "first_player": first, "second_player": second, **flat(pairing)}
            for game, table in tables.items()
            for (first, second), pairing in table.items()
        )

    def plot(self, game: str | None = None) -> Figure:
        """Draw the table of one game as a heat map.

        Args:
            game: Name of the game; may be left out if there is only one.

        Raises:
            BadInput: If the game is not among the rows, or several are and none is named.
        """
        from sally.output.figures.heat_maps import crossplay_figure

        if game is None and len(self.tables) != 1:
            raise BadInput(f"Name the game to draw: {join_names(self.tables, 'or')}.")
        game = game or next(iter(self.tables))
        if game not in self.tables:
            raise unknown("game in these rows", game, self.tables)
        return crossplay_figure(self.tables[game])


class Episodes(ResultList[Episode]):
    """Episodes: a list that converts to rows and frames.

    `filter` takes the columns `game`, `instance`, `cell`, `seed` and `repeat`, and the label of the
    player in a seat, such as `agent="random"`.
    """

    def rows(self, metrics: bool = True) -> Rows:
        """Return one row per seat of each episode; with `metrics`, every metric of the game."""
        frame = as_frame(self)
        return Rows((frame.export_rows() if metrics else frame.seats(*EXPORTED_SEAT)).to_dicts())

    def decisions(self) -> Rows:
        """Return one row per move, forfeit and report."""
        return Rows(as_frame(self).decisions().select(EXPORTED_DECISION).to_dicts())

    def pandas(self) -> pd.DataFrame:
        """Return the rows as a pandas frame."""
        return self.rows().pandas()

    def polars(self) -> pl.DataFrame:
        """Return the rows as a polars frame."""
        return self.rows().polars()

    def plot(self) -> Figure:
        """Draw the mean payoff of each player with its 95% interval.

        Raises:
            BadInput: If no episode has a result, or Matplotlib is not installed.
        """
        return Rows(score(as_frame(self), Query(("payoff",), seats=("*",))).rows).plot("value")

    @property
    def heading(self) -> str:
        """The number of episodes, and their games."""
        games = ", ".join(dict.fromkeys(episode.setup.instance.game for episode in self))
        cut = sum(episode.payoffs is None for episode in self)
        suffix = f", {cut} without a result" if cut else ""
        count = f"{len(self):,} episode{'' if len(self) == 1 else 's'}"
        return f"{count}{f' of {games}' if games else ''}{suffix}"

    def table(self) -> list[Row]:
        """Return the mean payoff of each player in each seat, without intervals."""
        payoffs: dict[tuple[str, str, str], list[float]] = {}
        for episode in self:
            game, lineup = episode.setup.instance.game, episode.setup.lineup
            for seat, payoff in (episode.payoffs or {}).items():
                player = label(lineup[seat]) if seat in lineup else ""
                payoffs.setdefault((game, seat, player), []).append(payoff)
        return [
            {"game": game, "seat": seat, "player": player}
            | {"mean payoff": sum(values) / len(values), "episodes": len(values)}
            for (game, seat, player), values in payoffs.items()
        ]

    def _has(self, item: Episode, columns: Mapping[str, Any]) -> bool:
        setup = item.setup
        facts = {
            "game": setup.instance.game,
            "instance": setup.instance.id,
            "cell": item.cell,
            "seed": setup.seed,
            "repeat": setup.repeat,
            **{seat: label(spec) for seat, spec in setup.lineup.items()},
        }
        for name in columns:
            if name not in facts:
                raise unknown("column of episodes", name, facts)
        return all(is_chosen(facts[name], value) for name, value in columns.items())


class Comparisons(ResultList["Comparison"]):
    """Comparisons of two players; `conclusion` summarises them in one sentence.

    `by_strategy` has those of two models strategy by strategy.
    """

    def __init__(
        self, result: PlayerComparison, first: str, second: str, bad: BadLines = ()
    ) -> None:
        from sally.analysis.compare.compare import conclusion

        super().__init__(result.comparisons)
        self.by_strategy, self.bad = result.by_strategy, bad
        self.conclusion = conclusion(self, first, second)

    def rows(self) -> Rows:
        """Return one row per comparison."""
        return Rows(flat(comparison) for comparison in self)

    def pandas(self) -> pd.DataFrame:
        """Return the comparisons as a pandas frame."""
        return self.rows().pandas()

    def polars(self) -> pl.DataFrame:
        """Return the comparisons as a polars frame."""
        return self.rows().polars()

    def plot(self) -> Figure:
        """Draw the differences with their 95% intervals, one panel per metric.

        Raises:
            BadInput: If there is nothing to draw, or Matplotlib is not installed.
        """
        differences = [
            {name: row[name] for name in ("game", "seat", "where", "metric")}
            | {"value": row["difference"], "interval": row["difference_interval"]}
            for row in self.rows()
        ]
        return rows_figure(differences, "value", self.conclusion)

    @property
    def heading(self) -> str:
        """The conclusion."""
        return self.conclusion

    def table(self) -> Rows:
        """Return one row per comparison."""
        return self.rows()

    def _has(self, item: Comparison, columns: Mapping[str, Any]) -> bool:
        return bool(Rows([flat(item)]).filter(**columns))


class Contrasts(Rows):
    """Contrasts of two conditions, one row per condition, game and metric."""

    def __init__(self, contrasts: Sequence[Contrast], bad: BadLines = ()) -> None:
        from sally.analysis.compare.contrast import conclusion

        self.contrasts, self.bad = list(contrasts), bad
        self.conclusion = conclusion(self.contrasts)
        super().__init__(
            {"condition": contrast.condition, "base": contrast.base, **flat(contrast.comparison)}
            for contrast in self.contrasts
        )


class ReliabilityRows(Rows):
    """Reliabilities, one row per measure; `matrix` has the correlations of all measures."""

    def __init__(self, measures: Sequence[Reliability], matrix: Matrix, bad: BadLines = ()) -> None:
        self.measures, self.matrix, self.bad = list(measures), matrix, bad
        super().__init__(flat(row) for row in self.measures)


class VarianceRows(Rows):
    """Shares of variance, one row per measure."""

    def __init__(self, sources: Sequence[Sources], bad: BadLines = ()) -> None:
        self.sources, self.bad = list(sources), bad
        super().__init__(flat(row) for row in self.sources)


class Planned(Rows):
    """The resources that a study needs: one row per cell and strategy; `plan` has the totals."""

    def __init__(self, plan: Plan) -> None:
        super().__init__(flat(part) for part in plan.parts)
        self.plan = plan

    @property
    def heading(self) -> str:
        """The episodes planned and stored, and the calls and cost of each model."""
        bills = "; ".join(
            f"{bill.model}: {bill.count.calls:,.0f} calls, "
            + ("cost unknown" if bill.cost is None else f"cost {bill.cost:,.2f}")
            for bill in self.plan.bills
        )
        have = f"{self.plan.wanted} episodes planned, {self.plan.there} stored"
        return f"{have}; {bills or 'no call of a model'}"


def flat(value: Any) -> Row:
    """Return a struct as a row; an estimate becomes a value and an interval column."""
    row: Row = {}
    for name in value.__struct_fields__:
        field_value = getattr(value, name)
        if isinstance(field_value, Estimate):
            row |= {name: field_value.value, f"{name}_interval": field_value.interval}
        elif isinstance(field_value, msgspec.Struct):
            row |= {f"{name}_{key}": part for key, part in flat(field_value).items()}
        elif name == "estimates":
            for field, estimate in field_value.items():
                row |= {field: estimate.value, f"{field}_interval": estimate.interval}
        else:
            row[name] = field_value
    return row
