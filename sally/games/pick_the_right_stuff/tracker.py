"""Managers that track what the waiting user has seen, as pure functions of the manager's
information."""

from collections.abc import Iterable
from itertools import repeat

from sally.games.pick_the_right_stuff.extrapolation import (
    Family,
    Rule,
    distances_moved,
    extrapolate,
    list_rules,
)
from sally.games.pick_the_right_stuff.locker import (
    Rehearsal,
    Reset,
    Retrieval,
    View,
    own_looks,
)


def where_user_will_look(view: View) -> int:
    """Return the box in which the waiting user believes its item to be.

    In the infinite mode, users extrapolate by a private rule; the rehearsals, in which a user has
    demonstrated its rule, must identify it.

    Raises:
        ValueError: The rehearsals allow no box, or several.
    """
    boxes = where_user_will_look_from(view, state_last_seen(view))
    if len(boxes) != 1:
        raise ValueError(
            f"By its rehearsed answers, user {view.asked} may look in the boxes {list(boxes)}; "
            "the answers should leave exactly one box."
        )
    return boxes[0]


def where_user_will_look_from(view: View, last: int) -> tuple[int, ...]:
    """Return the boxes in which the waiting user may look if `last` is the last state that it
    saw."""
    box = view.states[last].index(view.asked)
    if view.mode != "infinite":
        return (box,)
    gap = resets_since(view, last)
    examples = [e for e in view.story if isinstance(e, Rehearsal) and e.user == view.asked]
    fitting = fitting_rules(examples, view.families, view.users)
    return tuple(sorted({extrapolate(rule, box, gap, view.users) for rule in fitting}))


def where_user_saw_it_last(view: View) -> int:
    """Return the box in which the user last saw its item. In the infinite mode the user may look
    elsewhere, because it extrapolates from what it saw."""
    return last_sight(view)[0]


def where_it_was_at_the_last_look(view: View) -> int:
    """Return the item's box at the time of the user's last look, even if the look showed a
    snapshot of an earlier state."""
    user_looks = own_looks(view)
    return view.states[user_looks[-1].at if user_looks else 0].index(view.asked)


def last_sight(view: View) -> tuple[int, int]:
    """Return the box in which the waiting user last saw its item, and the number of resets since
    then."""
    last = state_last_seen(view)
    return view.states[last].index(view.asked), resets_since(view, last)


def state_last_seen(view: View) -> int:
    """Return the index of the state that the waiting user saw last."""
    user_looks = own_looks(view)
    return user_looks[-1].shown if user_looks else 0


def resets_since(view: View, state: int) -> int:
    """Return the number of resets after a state."""
    changes = [event for event in view.story if isinstance(event, Reset | Retrieval)]
    return sum(isinstance(change, Reset) for change in changes[state:])


def fitting_rules(
    rehearsals: Iterable[Rehearsal], families: Iterable[Family], boxes: int
) -> list[Rule]:
    """Return every rule of these families that explains all rehearsals."""
    examples = list(rehearsals)
    if any(not 0 <= r.named < boxes for r in examples):
        return []
    distances, rules_found = tuple((r.named - r.seen) % boxes for r in examples), list[Rule]()
    for family in families:
        rules = list_rules(family, boxes)
        columns = zip(*(distances_moved(family, boxes, r.resets) for r in examples), strict=True)
        reached = columns if examples else repeat(distances, len(rules))
        rules_found += [
            rule for rule, column in zip(rules, reached, strict=True) if column == distances
        ]
    return rules_found
