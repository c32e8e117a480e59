"""Scores over items: groups of items that are scored together, and the majority of answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sally.games.battery.items import Item

# of BigToM: without the true control, a rule about negations is right in both of the others
STRICT_CELLS = ("true_belief", "false_belief", "true_control")
STRICT_TASKS = ("forward_belief", "forward_action", "backward_belief")


def strict_groups(items: Sequence[Item]) -> dict[tuple[str, ...], list[str]]:
    """Return the groups of items that count as correct only if every item is.

    BigToM: true belief, false belief and true control of a story. Hi-ToM: for each order of belief,
    the questions of a story up to that order. Other batteries: all questions of a story; for the
    generated items, all questions of a task.
    """
    groups: dict[tuple[str, ...], list[str]] = {}
    for item in items:
        if not item.sound:
            continue
        story, task = item.pair or item.id, item.task or ""
        if task in STRICT_TASKS:
            if item.condition in STRICT_CELLS:
                stated = "stated" if item.belief_stated else "not stated"
                groups.setdefault((task, stated, story), []).append(item.id)
        elif task == "hitom":
            for member in items:
                if member.pair == item.pair and (member.order or 0) >= (item.order or 0):
                    groups.setdefault((task, str(member.order), story), []).append(item.id)
        elif item.belief is not None or item.by_depth:
            groups.setdefault((task, story), []).append(item.id)
        else:
            groups.setdefault((story,), []).append(item.id)
    return groups


def strict_share(groups: Mapping[tuple[str, ...], Sequence[str]], right: set[str]) -> float | None:
    """Return the percentage of groups whose items are all right; None if there are no groups."""
    if not groups:
        return None
    return 100 * sum(set(ids) <= right for ids in groups.values()) / len(groups)


def majority(answers: Sequence[int | None]) -> int | None:
    """Return the most frequent answer; in a tie, the one given first.

    >>> majority([2, 1, 1, 2, None])
    2
    """
    readable = [answer for answer in answers if answer is not None]
    return max(readable, key=readable.count) if readable else None
