"""Folds in which the partner and the instance of a test decision are both unseen.

Every fold tests one block of partners on one block of instances and trains on the decisions that
share neither. If instances name their options with several sets of letters, a block of instances
holds whole sets, so that the letters in a test prompt are unseen as well.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sally.core.errors import BadInput

Ints = NDArray[np.intp]
BLOCKS = 4  # of partners, and of instances
FEW = 5  # sets of letters from which on a block holds whole sets


class Fold(NamedTuple):
    """The training rows and the test rows of one fold."""

    train: Ints
    test: Ints


def crossed_folds(
    partners: Sequence[Hashable],
    units: Sequence[Hashable],
    seed: int = 0,
    blocks: int = BLOCKS,
) -> list[Fold]:
    """Return folds whose test rows share no partner and no unit (see `units_of`) with their
    training rows.

    With a single partner, only units are held out.

    Raises:
        BadInput: There are fewer than two units.
    """
    rng = np.random.default_rng(seed)
    partner_blocks, unit_blocks = _blocks(partners, blocks, rng), _blocks(units, blocks, rng)
    if unit_blocks.max(initial=0) < 1:
        raise BadInput("Probes need decisions from at least two instances.")
    one_partner = partner_blocks.max(initial=0) < 1
    folds = []
    for their_block in range(int(partner_blocks.max()) + 1):
        for block in range(int(unit_blocks.max()) + 1):
            test = (partner_blocks == their_block) & (unit_blocks == block)
            train = unit_blocks != block
            if not one_partner:
                train &= partner_blocks != their_block
            if test.any() and train.any():
                folds.append(Fold(np.flatnonzero(train), np.flatnonzero(test)))
    return folds


def _blocks(values: Sequence[Hashable], n_blocks: int, rng: np.random.Generator) -> Ints:
    """Return the block of each row; equal values share a block, and blocks are of similar size."""
    names = sorted(set(values), key=str)
    order = rng.permutation(len(names))
    block = {names[index]: place % n_blocks for place, index in enumerate(order.tolist())}
    return np.array([block[value] for value in values], dtype=np.intp)


def units_of(instances: Sequence[str], letters: Sequence[str]) -> list[str]:
    """Return the unit by which each row is held out: the set of letters that name its options, or
    its instance if there are fewer than five such sets."""
    return list(letters) if len(set(letters)) >= FEW else list(instances)


def leak(folds: Sequence[Fold], groups: Mapping[str, Sequence[Any]]) -> str | None:
    """Return a sentence that names the group which a test row shares with its training rows; None
    if there is no such row.

    >>> one = Fold(np.array([0, 1]), np.array([2]))
    >>> leak([one], {"instance": ["a", "b", "b"]})
    'Fold 1 of 1 tests the instance b, which it also learns from.'
    """
    for number, fold in enumerate(folds, 1):
        if shared := set(fold.train.tolist()) & set(fold.test.tolist()):
            return f"Fold {number} of {len(folds)} tests row {min(shared)}, which it learns from."
        for name, values in groups.items():
            training_values = {values[row] for row in fold.train}
            for row in fold.test:
                if values[row] in training_values:
                    return (
                        f"Fold {number} of {len(folds)} tests the {name} {values[row]}, which it "
                        "also learns from."
                    )
    return None


def held_out(
    partners: Sequence[str], instances: Sequence[str], letters: Sequence[str]
) -> dict[str, Sequence[str]]:
    """Return, by name, the columns in which the training rows and the test rows of a fold must
    have no value in common: the instance and, if there are several, the partner and the set of
    letters."""
    groups: dict[str, Sequence[str]] = {"instance": instances}
    if len(set(partners)) > 1:
        groups["partner"] = partners
    if len(set(letters)) >= FEW:
        groups["set of letters"] = letters
    return groups
