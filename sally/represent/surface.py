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
    """Decisions with their labels; `said` is the player's own forecast, coded like the labels."""

    decisions: list[Decision]
    classes: tuple[str, ...]
    y: Ints
    said: Ints  # NONE if nothing was said
    kind: As


def labelled(found: Sequence[Decision], kind: As) -> Labels:
    """Return the decisions that have a label of the given kind, with their labels.

    Raises:
        BadInput: The kind is unknown, or the prompts of these decisions name different choices.
    """
    if kind not in get_args(As):
        raise unknown("label", kind, get_args(As))
    if kind == "shown" and len({one.letters for one in found}) > 1:
        raise BadInput(
            "The prompts of these decisions name the options by different letters, so letters of "
            "held-out prompts cannot be predicted; use labels of kind `action` or `change` instead."
        )
    if kind == "action" and len({one.choices for one in found}) > 1:
        raise BadInput(
            "These decisions have different choices, so their labels cannot be compared; use "
            "labels of kind `change` (whether a choice repeats the last one), or take one game at "
            "a time."
        )
    kept = [one for one in found if code(one, one.value, kind) != NONE]
    if kind == "change":
        classes: tuple[str, ...] = (OTHER, SAME)
    elif kind == "shown":
        classes = tuple(sorted(kept[0].names)) if kept else ()
    else:
        classes = tuple(map(str, kept[0].choices)) if kept else ()
    y = [code(one, one.value, kind) for one in kept]
    said = [NONE if one.said is None else code(one, one.said, kind) for one in kept]
    return Labels(kept, classes, np.array(y, np.intp), np.array(said, np.intp), kind)


def code(one: Decision, value: Any, kind: As) -> int:
    """Return the index of the class to which a value belongs at a decision, or NONE.

    The classes depend on `kind`. For "action", they are the choices; for "shown", the names of the
    choices in the prompt, sorted; for "change", whether the value equals the previous one. The
    result is NONE if the value is not one of the choices or, for "change", if there is no previous
    value.
    """
    if value not in one.choices:
        return NONE
    if kind == "change":
        last = one.past[-1] if one.past else None
        return NONE if last is None else int(value == last)
    place = one.choices.index(value)
    return sorted(one.names).index(one.names[place]) if kind == "shown" else place


# --- surface features -----------------------------------------------------------------------------


def features(labels: Labels) -> tuple[tuple[str, ...], Floats]:
    """Return the names and values of the surface features, one row for each decision.

    The features are the predictions of simple rules (the last values, the player's own last moves,
    the commonest value, the value that followed the same situation last time), how often each class
    occurred, the turn, and how often and where the prompt names each choice.
    """
    kind, classes = labels.kind, labels.classes
    rows, names = [], list[str]()
    for one in labels.decisions:
        row: dict[str, float] = {"turn": float(one.turn), "first turn": float(one.turn == 0)}
        for rule, value in _rules(one).items():
            coded = NONE if value is None else code(one, value, kind)
            row |= {f"{rule}: {name}": float(coded == n) for n, name in enumerate(classes)}
        row |= _frequencies(one, kind, classes)
        if kind != "change":
            row |= _mentions(one, kind, classes)
        rows.append(list(row.values()))
        names = names or list(row)
    return tuple(names), np.array(rows, float).reshape(len(rows), len(names))


def _rules(one: Decision) -> dict[str, Value | None]:
    past, own = one.past, one.own
    known = [value for value in past if value is not None]
    return {
        "last": past[-1] if past else None,
        "last but one": past[-2] if len(past) > 1 else None,
        "last but two": past[-3] if len(past) > 2 else None,
        "own last": own[-1] if own else None,
        "own last but one": own[-2] if len(own) > 1 else None,
        "commonest": max(known, key=lambda v: (known.count(v), str(v))) if known else None,
        "after this": _followed(past, [*past]),
        "after these two": _followed(past, list(pairwise(past)), 1),
        "after this pair": _followed(past, list(zip(past, own, strict=False))),
        "after own": _followed(past, [*own]),
    }


def _followed(past: Sequence[Any], situations: Sequence[Any], late: int = 0) -> Any:
    """Return the value that followed the last occurrence of the present situation, or None."""
    for at in range(len(situations) - 2, -1, -1):
        if situations[at] == situations[-1]:
            return past[at + late + 1]
    return None


def _frequencies(one: Decision, kind: As, classes: Sequence[str]) -> dict[str, float]:
    if kind == "change":
        pairs = list(pairwise(one.past))
        kept = sum(a == b for a, b in pairs) / len(pairs) if pairs else 0.5
        latest = float(pairs[-1][0] == pairs[-1][1]) if pairs else 0.5
        return {"repeated": kept, "just repeated": latest}
    codes = [code(one, value, kind) for value in one.past]
    return {
        f"share of {name}": codes.count(n) / len(codes) if codes else 0.0
        for n, name in enumerate(classes)
    }


def _mentions(one: Decision, kind: As, classes: Sequence[str]) -> dict[str, float]:
    """Return, for each class that is to be predicted, how often the prompt names the choice that
    belongs to the class, and where it does so first and last."""
    page = page_text(one)
    by_class = {
        code(one, choice, kind): name for choice, name in zip(one.choices, one.names, strict=True)
    }
    found: dict[str, float] = {}
    size = max(1, len(page))
    for n, label in enumerate(classes):
        name = by_class.get(n, "")
        found[f"names {label}"] = float(page.count(name)) if name else 0.0
        found[f"first {label}"] = page.find(name) / size if name else 0.0
        found[f"latest {label}"] = page.rfind(name) / size if name else 0.0
    return found


def page_text(one: Decision) -> str:
    """Return the whole prompt of a decision as one text."""
    if isinstance(one.prompt, str) or not isinstance(one.prompt, list | tuple):
        return str(one.prompt)
    return "\n\n".join(str(message.text) for message in one.prompt)
