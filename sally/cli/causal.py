"""`sally represent --causal`: the effect of a changed residual stream on answers and moves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from sally.core.errors import BadInput
from sally.core.log.events import Episode
from sally.core.terminal_text import echo
from sally.frames import Row
from sally.output.figures.panels import write
from sally.output.tables.console import (
    estimate_cell,
    fitting,
    print_json,
    print_table,
    print_text,
    progress,
)
from sally.represent.activations import activations, folder_of
from sally.represent.causal import Causal, Patched, Steered, by_player, cases, causal, spaced_layers
from sally.represent.prompts import Place
from sally.represent.run import plain_name
from sally.represent.surface import As

PAGES: tuple[Place, ...] = ("probe", "move")
LEGEND = (
    "slope: change of the log-odds of the options that go with a class, for a dose of 1, which "
    "has the length of the typical distance of a decision's stream from the mean of its layer; on "
    "the page of the probe the options are those that name the class, on the page of the move the "
    "best replies to it. beyond: the probe's slope less that of random directions, and of a probe "
    "fitted to exchanged labels, paired. changed: share of decisions whose likeliest option is "
    "another one at the largest dose; mass: probability that any option follows, as a share of "
    "that before. patched: shift towards the move of a paired episode, in which another partner "
    "does otherwise in the same round, or does the same; natural: the shift on the paired page "
    "itself. After ±: 95% intervals over instances, not corrected for the number of rows."
)


def causal_check(
    episodes: Sequence[Episode],
    *,
    model: str,
    about: str,
    kind: As,
    layers: Callable[[int], Sequence[int]] | None,
    limit: int | None,
    seed: int,
    out: Path,
    figure: Path | None,
    as_json: bool,
) -> None:
    """Steer and patch the decisions of every player and game; write and print the results.

    `layers` returns the layers to change, given their number; without it, four layers are changed.

    Raises:
        BadInput: No stored decision has scored options.
    """
    from sally.models.hf.intervention import EditedPrompt, edited_scores
    from sally.models.hf.residual_stream import ResidualStream

    groups = {page: by_player(cases(episodes, about, page)) for page in PAGES}
    if not any(groups.values()):
        raise BadInput(
            "The store has no decision whose options were scored, which a causal check needs; the "
            "strategy lm scores options."
        )
    network = ResidualStream(model)
    results: list[Causal] = []
    games = "-".join(sorted({episode.setup.instance.game for episode in episodes}))
    name = plain_name(model.removeprefix("hf:"))
    target = out / f"{name}-{plain_name(about or 'others')}-{kind}-causal-{games}.json"
    target.parent.mkdir(parents=True, exist_ok=True)
    for page in PAGES:
        for key, rows in groups[page].items():
            streams = activations(
                [case.decision for case in rows], network, folder_of(out, network)
            )
            with progress() as bar:
                task = bar.add_task(f"{key[0]}, {page}", total=None, note="")

                def score(prompts: Sequence[EditedPrompt], bar: Any = bar, task: Any = task) -> Any:
                    scores = edited_scores(network, prompts)
                    bar.advance(task, len(prompts))
                    return scores

                results.append(
                    causal(
                        rows,
                        streams,
                        score,
                        model=model.removeprefix("hf:"),
                        about=about or "what the others will do",
                        place=page,
                        kind=kind,
                        layers=(layers or spaced_layers)(network.layers),
                        limit=limit,
                        seed=seed,
                    )
                )
            target.write_bytes(msgspec.json.encode(results) + b"\n")
    if figure:
        from sally.output.figures.causal import dose_figure

        write(dose_figure(results), figure)
    if as_json:
        print_json([msgspec.to_builtins(result) for result in results])
        return
    say(results)
    for path in filter(None, (target, figure)):
        echo(f"Written: {path}")


def say(results: Sequence[Causal]) -> None:
    """Print how steering and patching change the move probabilities in every group."""
    for result in results:
        title = (
            f"{result.model}: {result.game}, {result.player}, as {result.kind}, "
            f"page of the {result.at}"
        )
        _print([_steered_row(steered) for steered in result.steered], ["layer", "direction"], title)
        if result.patched:
            _print(
                [_patched_row(patched) for patched in result.patched],
                ["layer"],
                f"{title}, patched",
            )
        print_text(
            f"{result.decisions} held-out decisions of {result.instances} instances; directions "
            f"fitted to {result.trained} others a fold, {result.partners} partners, {result.folds} "
            "folds; length of a dose of 1 by layer: "
            f"{', '.join(f'{n}: {length:.1f}' for n, length in result.lengths.items())}."
        )
    print_text(LEGEND)


def _print(rows: list[Row], keys: list[str], title: str) -> None:
    for names in fitting(rows, keys, [name for name in rows[0] if name not in keys]):
        print_table(rows, [*keys, *names], title=title)


def _cell(estimate: Any) -> str:
    if estimate is None or estimate.value is None:
        return "-"
    return str(estimate_cell(estimate.value, estimate.interval))


def _steered_row(steered: Steered) -> Row:
    last = steered.doses[-1]
    return {
        "layer": steered.layer,
        "direction": steered.kind,
        "slope": _cell(steered.slope),
        "beyond": _cell(steered.beyond),
        "changed": _cell(last.changed),
        "mass": _cell(last.mass),
    }


def _patched_row(patched: Patched) -> Row:
    return {
        "layer": patched.layer,
        "does otherwise": _cell(patched.other),
        "does the same": _cell(patched.same),
        "beyond": _cell(patched.beyond),
        "natural": _cell(patched.natural),
    }
