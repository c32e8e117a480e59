"""`sally compare DIR --twin`: paired comparison of the same players under two conditions."""

from __future__ import annotations

import click

from sally.analysis.compare.compare import ALPHA
from sally.analysis.compare.contrast import Contrast, Of, said_of
from sally.api.analyses import contrast
from sally.cli.common import STORE, open_frame, say_bad
from sally.cli.compare import plain
from sally.cli.score import heading
from sally.core.errors import BadInput
from sally.frames import Row
from sally.output.tables.console import (
    estimate_cell,
    fitting,
    json_option,
    p_cell,
    print_json,
    print_table,
    print_text,
)
from sally.stats.intervals import blank_intervals
from sally.stats.paired_tests import SMALL
from sally.store import Where


@click.command("contrast")
@click.argument("folder", metavar="DIR", type=STORE)
@click.option(
    "--asked", is_flag=True, help="Probed episodes against unprobed ones: does asking change play?"
)
@click.option(
    "--twin",
    is_flag=True,
    help="Partners described as minds against partners described as mechanisms.",
)
@click.option("--packs", is_flag=True, help="Other words packs against the game's own words.")
@click.option("--aware", is_flag=True, help="Compare by the answer to the awareness probe.")
@click.option("--metric", "metrics", multiple=True, help="Compare by this metric; may be repeated.")
@click.option("--by", type=click.Choice(["player"]), help="One row per player.")
@click.option(
    "--margin",
    type=float,
    help=f"Smallest difference that matters [{SMALL} standard deviations].",
)
@json_option
def contrast_(
    folder: Where,
    asked: bool,
    twin: bool,
    packs: bool,
    aware: bool,
    metrics: tuple[str, ...],
    by: str | None,
    margin: float | None,
    as_json: bool,
) -> None:
    """Compare the same players in the store DIR under two conditions, with equivalence tests."""
    ways: dict[Of, bool] = {"asked": asked, "twin": twin, "packs": packs, "aware": aware}
    chosen = [name for name, is_chosen in ways.items() if is_chosen]
    if len(chosen) != 1:
        raise BadInput("Choose exactly one of --asked, --twin, --packs and --aware.")
    with open_frame(folder) as frame:
        result = contrast(
            frame, chosen[0], metrics=metrics, by_player=by == "player", margin=margin
        )
    say_bad(result.bad)
    if as_json:
        rows = [
            {"condition": c.condition, "base": c.base, **plain(c.comparison)}
            for c in result.contrasts
        ]
        print_json({"contrast": chosen[0], "conclusion": result.conclusion, "rows": rows})
        return
    say(result.contrasts, margin)
    print_text(*result.conclusion)


def say(contrasts: list[Contrast], margin: float | None) -> None:
    """Print a table and a sentence for each condition."""
    for condition in dict.fromkeys(c.condition for c in contrasts):
        rows = [_row(c) for c in contrasts if c.condition == condition]
        keys = ["game", *(["player"] if any(r["player"] for r in rows) else []), "metric"]
        columns = [name for name in rows[0] if name not in ("player", *keys)]
        title = f"{condition} minus {contrasts[0].base}"
        for n, group in enumerate(fitting(rows, keys, columns)):
            print_table(rows, [*keys, *group], title="" if n else title)
    wide = f"{margin:g}" if margin else f"{SMALL} standard deviations of the scores"
    print_text(
        "base and here: mean scores in the conditions named after and before `minus`; "
        "difference: over pairs with the same player, instance, random draws and other "
        "players, 95% intervals from a bootstrap over clusters; p: sign flips, adjusted by "
        f"Holm over {len(contrasts)} comparisons (significance level {ALPHA}); equivalent: two "
        f"one-sided tests within {wide}, adjusted likewise; identical: no pair differs; too "
        "few for a claim: not shown to be equivalent, and too few clusters for a significant "
        "difference."
    )
    print_text(*blank_intervals((_about(c), c.comparison.difference) for c in contrasts))


def _about(contrast: Contrast) -> str:
    """Return the subject of a difference: player, game, metric and condition."""
    c = contrast.comparison
    return f"{c.where or 'all players'} in {c.game}: {heading(c.metric)}, {contrast.condition}"


def _row(contrast: Contrast) -> Row:
    c = contrast.comparison
    return {
        "game": c.game,
        "player": c.where,
        "metric": heading(c.metric),
        "base": estimate_cell(c.second, None),
        "here": estimate_cell(c.first, None),
        "difference": estimate_cell(c.difference.value, c.difference.interval),
        "p": p_cell(c.p_holm),
        "is": said_of(c),
        "pairs": c.pairs,
    }
