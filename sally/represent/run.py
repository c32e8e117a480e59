"""From stored decisions to results: draw, read the network, fit, and write files."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sally.represent import probes
from sally.represent.activations import Reader, activations, folder_of
from sally.represent.prompts import Decision, Place, sample_decisions
from sally.represent.results import (
    RepresentationResult,
    by_group,
    fit_representation,
    write_results,
)
from sally.represent.surface import As, Labels, label_decisions

Key = tuple[str, str, str]  # game, player, subject
Streams = dict[Key, NDArray[np.float16]]
DIRECTION_PENALTY = 0.03


def fit_groups(
    decisions: Sequence[Decision],
    load: Callable[[bool], Reader],
    out: Path,
    *,
    model: str,
    about: str = "",
    kind: As = "action",
    place: Place = "move",
    layers: Callable[[int], Sequence[int]] = range,
    limit: int | None = None,
    seed: int = 0,
    untrained: bool = True,
    tell: Callable[[str], None] = lambda sentence: None,
    read: Callable[[int, int], None] = lambda done, of: None,
) -> list[RepresentationResult]:
    """Fit the probes of every game and player, and write results and directions to a folder.

    Args:
        decisions: Stored decisions, including twins, whose prompts describe a mechanism.
        load: Returns the network, or the untrained one if called with True; called once for each.
        out: The folder for activations, results (`.json`) and directions (`.npz`: one array of
            classes x width for each `GAME PLAYER/LAYER`).
        model: The name of the network in results.
        about: The meaning of the labels: a probe, `own_move` or `own_forecast`.
        kind: The kind of label.
        place: The prompt in which the stream is read: move or probe.
        layers: Returns the layers to fit, given their number.
        limit: The maximum number of decisions of each game and player.
        seed: The seed of the sample, folds, control tasks and the untrained network.
        untrained: Whether an untrained network is read as well.
        tell: Called with the name of each step, to report progress.
        read: Called with the number of prompts read and the number to read.
    """
    minds = by_group([decision for decision in decisions if not decision.twin], place)
    twins = by_group([decision for decision in decisions if decision.twin], place)
    mind_labels = {
        key: label_decisions(sample_decisions(rows, limit, seed), kind)
        for key, rows in minds.items()
    }
    twin_labels = {
        key: label_decisions(sample_decisions(rows, limit, seed), kind)
        for key, rows in twins.items()
        if key in mind_labels
    }
    network = load(False)
    chosen = list(layers(network.layers))
    streams, twin_streams = (
        _read(network, group_labels, out, read) for group_labels in (mind_labels, twin_labels)
    )
    blank: Streams = {}
    if untrained:
        del network  # two networks may not fit into memory
        blank = _read(load(True), mind_labels, out, read)
    results: list[RepresentationResult] = []
    target = out / f"{plain_name(model)}-{plain_name(about or 'others')}-{kind}-{place}.json"
    directions: dict[str, NDArray[np.float32]] = {}
    for key, labels in mind_labels.items():
        name = " ".join(filter(None, key))
        subject = about or "what the others will do"
        tell(f"{name}: {len(labels.y)} decisions")
        result = fit_representation(
            labels,
            streams[key],
            model=model,
            about=f"{subject}, {key[2]}" if key[2] else subject,
            place=place,
            layers=chosen,
            untrained=blank.get(key),
            twins=(twin_labels[key], twin_streams[key]) if key in twin_labels else None,
            seed=seed,
            tell=lambda message, name=name: tell(f"{name}: {message}"),  # type: ignore[misc]
        )
        results.append(result)
        write_results(results, target)  # an interrupted command keeps what it has
        for layer in chosen:
            directions[f"{name}/{layer}"] = probes.directions(
                streams[key][:, layer], labels.y, len(labels.classes), DIRECTION_PENALTY
            )
    np.savez(target.with_suffix(".npz"), **directions)  # type: ignore[arg-type]
    return results


def _read(
    network: Reader, groups: Mapping[Key, Labels], out: Path, tell: Callable[[int, int], None]
) -> Streams:
    """Return the activations of each group of decisions; the network reads equal prompts only
    once."""
    folder = folder_of(out, network)
    together = [decision for labels in groups.values() for decision in labels.decisions]
    if together:
        activations(together, network, folder, tell)
    return {key: activations(labels.decisions, network, folder) for key, labels in groups.items()}


def plain_name(name: str) -> str:
    """Return the last part of a name, with only characters that fit a file name.

    >>> plain_name("models/Qwen 2.5")
    'Qwen-2.5'
    """
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name.rstrip("/").rpartition("/")[2])
