"""Managers that follow what the waiting user has seen, as pure functions of the manager's sight."""

from collections.abc import Iterable

from sally.games.pick_the_right_stuff.extrapolation import Family, Rule, extrapolated, rules_of
from sally.games.pick_the_right_stuff.locker import (
    Rehearsal,
    Reset,
    Retrieval,
    Sight,
    Snapshot,
    Visit,
)


def where_user_will_look(seen: Sight) -> int:
    """Name the believed box, in every mode; right whenever the rehearsals identify the rule."""
    box, gap = last_sight(seen)
    if seen.mode != "infinite":
        return box
    shown = [e for e in seen.story if isinstance(e, Rehearsal) and e.user == seen.asked]
    fitting = fitting_rules(shown, seen.families, seen.users)
    boxes = {extrapolated(rule, box, gap, seen.users) for rule in fitting}
    if len(boxes) != 1:
        raise ValueError(
            f"The rehearsals of user {seen.asked} leave {len(fitting)} rules, which name boxes "
            f"{sorted(boxes)} after {gap} resets; they should leave exactly one box."
        )
    return boxes.pop()


def where_user_saw_it_last(seen: Sight) -> int:
    """Name the box the user saw last, as if nobody extrapolated; wrong in the infinite mode."""
    return last_sight(seen)[0]


def where_it_was_at_the_last_look(seen: Sight) -> int:
    """Name the box at the moment of the user's last look, deaf to how far back the snapshot was."""
    current, looked = 0, 0
    for event in seen.story:
        if isinstance(event, Reset | Retrieval):
            current += 1
        elif isinstance(event, Visit | Snapshot) and event.user == seen.asked:
            looked = current
    return seen.states[looked].index(seen.asked)


def last_sight(seen: Sight) -> tuple[int, int]:
    """Return the box in which the waiting user saw its item last, and the resets since."""
    current, resets = 0, [0]
    last = 0
    for event in seen.story:
        match event:
            case Reset():
                current += 1
                resets.append(resets[-1] + 1)
            case Retrieval():
                current += 1
                resets.append(resets[-1])
            case Visit(user) if user == seen.asked:
                last = current
            case Snapshot(user, back) if user == seen.asked:
                last = current + 1 - back
            case _:
                pass
    return seen.states[last].index(seen.asked), resets[-1] - resets[last]


def fitting_rules(
    rehearsals: Iterable[Rehearsal], families: Iterable[Family], boxes: int
) -> list[Rule]:
    """List every rule of some families that explains all rehearsals."""
    shown = list(rehearsals)
    return [
        rule
        for family in families
        for rule in rules_of(family, boxes)
        if all(extrapolated(rule, r.seen, r.resets, boxes) == r.named for r in shown)
    ]
