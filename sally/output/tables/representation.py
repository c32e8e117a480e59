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


def say(results: Sequence[RepresentationResult]) -> None:
    """Print the probe results of each group, and the table of what is represented, said and
    done."""
    rows = [probe_row(result) for result in results]
    keys = ["game", "player", "n"]
    columns = [name for name in COLUMNS if any(row[name] != "-" for row in rows)]
    for names in fitting(rows, keys, columns):
        print_table(rows, [*keys, *names], title=heading(results[0]))
    for result in results:
        print_text(conditions(result))
    for result in results:
        if result.arms:
            say_arms(result)
    print_text(LEGEND)


def probe_row(result: RepresentationResult) -> Row:
    """Return the scores of one group as cells of a table."""
    row: Row = {"game": result.game, "player": result.player, "n": result.decisions}
    for heading, field in COLUMNS.items():
        estimate = getattr(result, field)
        row[heading] = "-" if estimate is None else estimate_cell(estimate.value, estimate.interval)
    return row


def conditions(result: RepresentationResult) -> str:
    """Return a sentence on the data held out, the layers chosen, and the detectable difference."""
    layers = sorted(set(result.chosen_layers))
    sentence = (
        f"{result.game}, {result.player}: {result.instances} instances, {len(result.partners)} "
        f"partners, "
        f"{result.folds} folds; unseen in a test: {', '.join(result.held_out)}; layers chosen: "
        f"{', '.join(map(str, layers))} of {result.layers[-1].layer}; commonest class right in "
        f"{100 * (result.majority.value or 0):.0f} %; surface by {result.surface_learner}"
    )
    if "partner" not in result.held_out:
        sentence += "; one partner only, so no partner is held out"
    if result.detects is not None:
        sentence += (
            f"; a difference of {result.detects:.2f} beyond rules is found with a power of .8"
        )
    return sentence + "."


ARMS = {
    "represented, not said": ("represented", "represented and done"),
    "said, not done": ("said", "represented and said"),
    "done without either": ("done",),
    "all three": ("represented and said and done",),
    "none": ("none",),
}


def heading(result: RepresentationResult) -> str:
    """Return the heading of a table: the model and the question that was probed."""
    return f"{result.model}: {result.about}, as {result.kind}, read at the {result.at}"


def by_question(results: Sequence[RepresentationResult]) -> list[list[RepresentationResult]]:
    """Return results in groups that answer the same question."""
    return list(group_by(results, heading).values())


def say_arms(result: RepresentationResult) -> None:
    """Print, for one group, how often the model's activations, statements and moves are right
    (represented, said, done)."""
    rows = [arms_row(arm) for arm in result.arms]
    keys = ["partner", "n"]
    for names in fitting(rows, keys, [name for name in rows[0] if name not in keys]):
        print_table(rows, [*keys, *names], title=f"{result.game}, {result.player}: three arms")


def arms_row(arm: Arms) -> Row:
    """Return one table row on how often the model's activations, statements and moves are right
    (represented, said, done).

    Shares of the combinations of right and wrong are in percent, followed in brackets by the shares
    expected if the three were independent.
    """
    row: Row = {"partner": arm.partner, "n": arm.n}
    for name in ("represented", "said", "done"):
        estimate = getattr(arm, name)
        row[name] = estimate_cell(estimate.value, estimate.interval)
    row["blind"] = f"{arm.blind:.2f}"
    row["loss"] = "-" if arm.loss is None else f"{arm.loss:.2f}"
    for heading, parts in ARMS.items():
        share = sum(arm.joint[part].value or 0.0 for part in parts)
        chance = sum(arm.independent[part] for part in parts)
        row[heading] = f"{100 * share:.0f} ({100 * chance:.0f})"
    return row
