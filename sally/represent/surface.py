"""Labels of decisions, and surface features of prompts, which predict labels without a network.

The label of a decision is the canonical action (`action`), the name that the prompt gives it
(`shown`), or whether the action repeats the last one (`change`). In a game whose actions differ
only in their names, such as rps, the canonical action cannot be inferred from a prompt, which shows
only the names; `change` can, and does not depend on the names either.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Literal, get_args

import msgspec
import numpy as np
from numpy.typing import NDArray

from sally.core.errors import BadInput, unknown
from sally.represent.prompts import Decision, Value

As = Literal["action", "shown", "change"]
Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
NONE = -1  # no label
OTHER, SAME = "another", "the same"


class Labels(msgspec.Struct, frozen=True):
    """Decisions with their labels; `forecasts` are the player's own, coded like the labels."""

    decisions: list[Decision]
    classes: tuple[str, ...]
    y: Ints
    forecasts: Ints  # NONE if nothing was said
    kind: As


def label_decisions(decisions: Sequence[Decision], kind: As) -> Labels:
    """Return the decisions that have a label of the given kind, with their labels.

    Raises:
        BadInput: The kind is unknown, or the prompts of these decisions name different choices.
    """
    if kind not in get_args(As):
        raise unknown("label", kind, get_args(As))
    if kind == "shown" and len({decision.letters for decision in decisions}) > 1:
        raise BadInput(
            "The prompts of these decisions name the options by different letters, so letters of "
            "held-out prompts cannot be predicted; use labels of kind `action` or `change` instead."
        )
    if kind == "action" and len({decision.choices for decision in decisions}) > 1:
        raise BadInput(
            "These decisions have different choices, so their labels cannot be compared; use "
            "labels of kind `change` (whether a choice repeats the last one), or take one game at "
            "a time."
        )
    labelled_decisions = [
        decision for decision in decisions if code(decision, decision.value, kind) != NONE
    ]
    if kind == "change":
        classes: tuple[str, ...] = (OTHER, SAME)
    elif kind == "shown":
        classes = tuple(sorted(labelled_decisions[0].names)) if labelled_decisions else ()
    else:
        classes = tuple(map(str, labelled_decisions[0].choices)) if labelled_decisions else ()
    y = [code(decision, decision.value, kind) for decision in labelled_decisions]
    forecast_codes = [
        NONE if decision.forecast is None else code(decision, decision.forecast, kind)
        for decision in labelled_decisions
    ]
    return Labels(
        labelled_decisions, classes, np.array(y, np.intp), np.array(forecast_codes, np.intp), kind
    )


def code(decision: Decision, value: Any, kind: As) -> int:
    """Return the index of the class to which a value belongs at a decision, or NONE.

    The classes depend on `kind`. For "action", they are the choices; for "shown", the names of the
    choices in the prompt, sorted; for "change", whether the value equals the previous one. The
    result is NONE if the value is not one of the choices or, for "change", if there is no previous
    value.
    """
    if value not in decision.choices:
        return NONE
    if kind == "change":
        last = decision.past[-1] if decision.past else None
        return NONE if last is None else int(value == last)
    place = decision.choices.index(value)
    return sorted(decision.names).index(decision.names[place]) if kind == "shown" else place


# --- surface features -----------------------------------------------------------------------------


def features(labels: Labels) -> tuple[tuple[str, ...], Floats]:
    """Return the names and values of the surface features, one row for each decision.

    The features are the predictions of simple rules (the last values, the player's own last moves,
    the commonest value, the value that followed the same situation last time), how often each class
    occurred, the turn, and how often and where the prompt names each choice.
    """
    kind, classes = labels.kind, labels.classes
    rows, names = [], list[str]()
    for decision in labels.decisions:
        row: dict[str, float] = {
            "turn": float(decision.turn),
            "first turn": float(decision.turn == 0),
        }
        for rule, value in _rules(decision).items():
            coded = NONE if value is None else code(decision, value, kind)
            row |= {f"{rule}: {name}": float(coded == n) for n, name in enumerate(classes)}
        row |= _frequencies(decision, kind, classes)
        if kind != "change":
            row |= _mentions(decision, kind, classes)
        rows.append(list(row.values()))
        names = names or list(row)
    return tuple(names), np.array(rows, float).reshape(len(rows), len(names))


def _rules(decision: Decision) -> dict[str, Value | None]:
    past, own_moves = decision.past, decision.own_moves
    known_values = [value for value in past if value is not None]
    return {
        "last": past[-1] if past else None,
        "last but one": past[-2] if len(past) > 1 else None,
        "last but two": past[-3] if len(past) > 2 else None,
        "own last": own_moves[-1] if own_moves else None,
        "own last but one": own_moves[-2] if len(own_moves) > 1 else None,
        "commonest": max(known_values, key=lambda v: (known_values.count(v), str(v)))
        if known_values
        else None,
        "after this": _value_after_same(past, [*past]),
        "after these two": _value_after_same(past, list(pairwise(past)), 1),
        "after this pair": _value_after_same(past, list(zip(past, own_moves, strict=False))),
        "after own": _value_after_same(past, [*own_moves]),
    }


def _value_after_same(past: Sequence[Any], situations: Sequence[Any], late: int = 0) -> Any:
    """Return the value that followed the last occurrence of the present situation, or None."""
    for index in range(len(situations) - 2, -1, -1):
        if situations[index] == situations[-1]:
            return past[index + late + 1]
    return None


def _frequencies(decision: Decision, kind: As, classes: Sequence[str]) -> dict[str, float]:
    if kind == "change":
        pairs = list(pairwise(decision.past))
        share_repeated = sum(a == b for a, b in pairs) / len(pairs) if pairs else 0.5
        latest = float(pairs[-1][0] == pairs[-1][1]) if pairs else 0.5
        return {"repeated": share_repeated, "just repeated": latest}
    codes = [code(decision, value, kind) for value in decision.past]
    return {
        f"share of {name}": codes.count(n) / len(codes) if codes else 0.0
        for n, name in enumerate(classes)
    }


def _mentions(decision: Decision, kind: As, classes: Sequence[str]) -> dict[str, float]:
    """Return, for each class that is to be predicted, how often the prompt names the choice that
    belongs to the class, and where it does so first and last."""
    page = page_text(decision)
    by_class = {
        code(decision, choice, kind): name
        for choice, name in zip(decision.choices, decision.names, strict=True)
    }
    counts: dict[str, float] = {}
    size = max(1, len(page))
    for n, label in enumerate(classes):
        name = by_class.get(n, "")
        counts[f"names {label}"] = float(page.count(name)) if name else 0.0
        counts[f"first {label}"] = page.find(name) / size if name else 0.0
        counts[f"latest {label}"] = page.rfind(name) / size if name else 0.0
    return counts


def page_text(decision: Decision) -> str:
    """Return the whole prompt of a decision as one text."""
    if isinstance(decision.prompt, str) or not isinstance(decision.prompt, list | tuple):
        return str(decision.prompt)
    return "\n\n".join(str(message.text) for message in decision.prompt)
