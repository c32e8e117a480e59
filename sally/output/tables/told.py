"""Tables of how moves follow the stated forecasts of an informant."""

from __future__ import annotations

from collections.abc import Sequence

from sally.analysis.pairs.told import ToldDifference, ToldResult, ToldSlope
from sally.frames import Row
from sally.output.tables.console import estimate_cell
from sally.stats.intervals import Estimate

LEGEND = (
    "told: an informant, whose reliability the page states (right in), states a forecast of the "
    "other's move; irrelevant: it says the same sentence about a game between other people; twin: "
    "a mechanism is in the other's place. slope: share of moves that are best replies to a "
    "forecast where it is stated, less the same share where another forecast is stated in the "
    "same position; 0 for a player that ignores the statement, q for one that follows it with "
    "probability q. ideal: the slope that earns most if the stated reliability is believed. "
    "forecast: the same difference for the prediction that the player reports after the statement, "
    "in a conversation of its own (does it take in the statement?). same label, other label: the "
    "slope where the best reply has the label of the forecast, and where it has another; a player "
    "that repeats the label it has read has 1 and -1. repeats: the same difference for moves that "
    "have the label of the forecast. if true, if false: the slope where the statements are true, "
    "and where they are false; they differ if the player knows more than the statement. After ±: "
    "95% intervals; positions are the clusters."
)
KEYS = ("player", "arm", "right in")


def slope_row(slope: ToldSlope) -> Row:
    """Return the table row of one player, arm and reliability."""
    return {
        **_key(slope.player, slope.arm, slope.reliability),
        "n": slope.positions,
        "slope": _cell(slope.slope),
        "ideal": "-" if slope.ideal is None else f"{slope.ideal:.2f}",
        "forecast": _cell(slope.forecast),
        "same label": _cell(slope.same_label),
        "other label": _cell(slope.other_label),
        "repeats": _cell(slope.repeats),
        "if true": _cell(slope.if_true),
        "if false": _cell(slope.if_false),
        "unread": f"{slope.unreadable_moves} of {slope.moves}, "
        f"{slope.unreadable_forecasts} of {slope.forecasts}",
    }


def difference_row(difference: ToldDifference) -> Row:
    """Return the table row of a difference between two arms."""
    base = f"{difference.base_arm}, {difference.base_reliability:.0%}"
    return {
        **_key(difference.player, difference.arm, difference.reliability),
        "less": base,
        "n": difference.positions,
        "slope": _cell(difference.slope),
        "forecast": _cell(difference.forecast),
    }


def told_tables(result: ToldResult) -> list[tuple[str, Sequence[str], list[Row]]]:
    """Return each table with its title and the columns that say what a row is about."""
    tables: list[tuple[str, Sequence[str], list[Row]]] = [
        ("slopes of moves on stated forecasts", KEYS, list(map(slope_row, result.slopes)))
    ]
    if result.differences:
        rows = list(map(difference_row, result.differences))
        tables.append(("differences over the same positions", (*KEYS, "less"), rows))
    return tables


def _key(player: str, arm: str, reliability: float) -> Row:
    return {"player": player, "arm": arm, "right in": f"{reliability:.0%}"}


def _cell(estimate: Estimate | None) -> str:
    if estimate is None or estimate.value is None:
        return "-"
    return estimate_cell(estimate.value, estimate.interval, 2)
