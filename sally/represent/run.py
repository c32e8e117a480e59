"""From stored decisions to results: draw, read the network, fit, and write files."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sally.represent import probes
from sally.represent.activations import Reader, activations, folder_of
from sally.represent.prompts import Decision, Place, sampled
from sally.represent.results import RepresentationResult, by_group, represented, write_results
from sally.represent.surface import As, Labels, labelled

Key = tuple[str, str, str]  # game, player, subject
Streams = dict[Key, NDArray[np.float16]]
DIRECTION_PENALTY = 0.03


def fit_groups(
    every: Sequence[Decision],
    load: Callable[[bool], Reader],
    out: Path,
    *,
    model: str,
    about: str = "",
    kind: As = "action",
    at: Place = "move",
    layers: Callable[[int], Sequence[int]] = range,
    most: int | None = None,
    seed: int = 0,
    untrained: bool = True,
    tell: Callable[[str], None] = lambda said: None,
    read: Callable[[int, int], None] = lambda done, of: None,
) -> list[RepresentationResult]:
    """Fit the probes of every game and player, and write results and directions to a folder.

    Args:
        every: Stored decisions, including twins, whose prompts describe a mechanism.
        load: Returns the network, or the untrained one if called with True; called once for each.
        out: The folder for activations, results (`.json`) and directions (`.npz`: one array of
            classes x width for each `GAME PLAYER/LAYER`).
        model: The name of the network in results.
        about: The meaning of the labels: a probe, `own_move` or `own_forecast`.
        kind: The kind of label.
        at: The prompt in which the stream is read: move or probe.
        layers: Returns the layers to fit, given their number.
        most: The maximum number of decisions of each game and player.
        seed: The seed of the sample, folds, control tasks and the untrained network.
        untrained: Whether an untrained network is read as well.
        tell: Called with the name of each step, to report progress.
        read: Called with the number of prompts read and the number to read.
    """
    minds = by_group([one for one in every if not one.twin], at)
    twins = by_group([one for one in every if one.twin], at)
    drawn = {key: labelled(sampled(rows, most, seed), kind) for key, rows in minds.items()}
    again = {
        key: labelled(sampled(rows, most, seed), kind)
        for key, rows in twins.items()
        if key in drawn
    }
    network = load(False)
    chosen = list(layers(network.layers))
    streams, twin_streams = (_read(network, some, out, read) for some in (drawn, again))
    blank: Streams = {}
    if untrained:
        del network  # two networks may not fit into memory
        blank = _read(load(True), drawn, out, read)
    found: list[RepresentationResult] = []
    target = out / f"{plain_name(model)}-{plain_name(about or 'others')}-{kind}-{at}.json"
    kept: dict[str, NDArray[np.float32]] = {}
    for key, labels in drawn.items():
        name = " ".join(filter(None, key))
        subject = about or "what the others will do"
        tell(f"{name}: {len(labels.y)} decisions")
        one = represented(
            labels,
            streams[key],
            model=model,
            about=f"{subject}, {key[2]}" if key[2] else subject,
            at=at,
            layers=chosen,
            untrained=blank.get(key),
            twins=(again[key], twin_streams[key]) if key in again else None,
            seed=seed,
            tell=lambda said, name=name: tell(f"{name}: {said}"),  # type: ignore[misc]
        )
        found.append(one)
        write_results(found, target)  # an interrupted command keeps what it has
        for layer in chosen:
            kept[f"{name}/{layer}"] = probes.directions(
                streams[key][:, layer], labels.y, len(labels.classes), DIRECTION_PENALTY
            )
    np.savez(target.with_suffix(".npz"), **kept)  # type: ignore[arg-type]
    return found


def _read(
    network: Reader, groups: Mapping[Key, Labels], out: Path, tell: Callable[[int, int], None]
) -> Streams:
    """Return the activations of each group of decisions; the network reads equal prompts only
    once."""
    folder = folder_of(out, network)
    together = [one for labels in groups.values() for one in labels.decisions]
    if together:
        activations(together, network, folder, tell)
    return {key: activations(labels.decisions, network, folder) for key, labels in groups.items()}


def plain_name(name: str) -> str:
    """Return the last part of a name, with only characters that fit a file name.

    >>> plain_name("models/Qwen 2.5")
    'Qwen-2.5'
    """
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name.rstrip("/").rpartition("/")[2])
