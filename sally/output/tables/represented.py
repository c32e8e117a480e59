"""Tables that compare what a local model represents with what it said and did."""

from __future__ import annotations

from collections.abc import Sequence

from sally.core.grouping import group_by
from sally.frames import Row
from sally.output.tables.console import estimate_cell, fitting, print_table, print_text
from sally.represent.results import Arms, RepresentationResult

COLUMNS = {
    "right": "accuracy",
    "Brier": "brier",
    "surface": "surface",
    "beyond rules": "beyond",
    "selectivity": "selectivity",
    "untrained": "untrained",
    "beyond untrained": "beyond_untrained",
    "twins": "twin",
    "twins less minds": "twin_gap",
    "said": "said",
}
LEGEND = (
    "right: held-out predictions of the linear probe that are right, in the layer that inner folds "
    "choose; surface: the better of two learners on surface features of the same pages (last "
    "moves, frequencies, rules, places of names); beyond rules: right less surface, on the same "
    "decisions; selectivity: right less the accuracy on labels that are drawn at random for each "
    "instance; untrained: a network of the same shape before training; twins: the same probes "
    "on pages about a mechanism; said: the player's own forecasts. Three arms: shares of decisions "
    "in which the probe, the forecast and the move (against optimal play) are right; blind: "
    "optimal moves of a random pick; loss: payoff given up a decision; combinations in percent, "
    "in brackets if the arms were independent with each partner. After ±: 95% intervals over "
    "instances, not corrected for the number of rows."
)


def say(found: Sequence[RepresentationResult]) -> None:
    """Print the probe results of each group, and the table of what is represented, said and
    done."""
    rows = [probe_row(one) for one in found]
    keys = ["game", "player", "n"]
    there = [name for name in COLUMNS if any(row[name] != "-" for row in rows)]
    for names in fitting(rows, keys, there):
        print_table(rows, [*keys, *names], title=heading(found[0]))
    for one in found:
        print_text(conditions(one))
    for one in found:
        if one.arms:
            say_arms(one)
    print_text(LEGEND)


def probe_row(one: RepresentationResult) -> Row:
    """Return the scores of one group as cells of a table."""
    row: Row = {"game": one.game, "player": one.player, "n": one.decisions}
    for heading, field in COLUMNS.items():
        estimate = getattr(one, field)
        row[heading] = "-" if estimate is None else estimate_cell(estimate.value, estimate.interval)
    return row


def conditions(one: RepresentationResult) -> str:
    """Return a sentence on the data held out, the layers chosen, and the detectable difference."""
    layers = sorted(set(one.chosen_layers))
    found = (
        f"{one.game}, {one.player}: {one.instances} instances, {len(one.partners)} partners, "
        f"{one.folds} folds; unseen in a test: {', '.join(one.held_out)}; layers chosen: "
        f"{', '.join(map(str, layers))} of {one.layers[-1].layer}; commonest class right in "
        f"{100 * (one.majority.value or 0):.0f} %; surface by {one.surface_learner}"
    )
    if "partner" not in one.held_out:
        found += "; one partner only, so no partner is held out"
    if one.detects is not None:
        found += f"; a difference of {one.detects:.2f} beyond rules is found with a power of .8"
    return found + "."


ARMS = {
    "represented, not said": ("represented", "represented and done"),
    "said, not done": ("said", "represented and said"),
    "done without either": ("done",),
    "all three": ("represented and said and done",),
    "none": ("none",),
}


def heading(one: RepresentationResult) -> str:
    """Return the heading of a table: the model and the question that was probed."""
    return f"{one.model}: {one.about}, as {one.kind}, read at the {one.at}"


def by_question(found: Sequence[RepresentationResult]) -> list[list[RepresentationResult]]:
    """Return results in groups that answer the same question."""
    return list(group_by(found, heading).values())


def say_arms(one: RepresentationResult) -> None:
    """Print, for one group, how often the model's activations, statements and moves are right
    (represented, said, done)."""
    rows = [arms_row(each) for each in one.arms]
    keys = ["partner", "n"]
    for names in fitting(rows, keys, [name for name in rows[0] if name not in keys]):
        print_table(rows, [*keys, *names], title=f"{one.game}, {one.player}: three arms")


def arms_row(each: Arms) -> Row:
    """Return one table row on how often the model's activations, statements and moves are right
    (represented, said, done).

    Shares of the combinations of right and wrong are in percent, followed in brackets by the shares
    expected if the three were independent.
    """
    row: Row = {"partner": each.partner, "n": each.n}
    for name in ("represented", "said", "done"):
        estimate = getattr(each, name)
        row[name] = estimate_cell(estimate.value, estimate.interval)
    row["blind"] = f"{each.blind:.2f}"
    row["loss"] = "-" if each.loss is None else f"{each.loss:.2f}"
    for heading, parts in ARMS.items():
        share = sum(each.joint[part].value or 0.0 for part in parts)
        chance = sum(each.independent[part] for part in parts)
        row[heading] = f"{100 * share:.0f} ({100 * chance:.0f})"
    return row
