"""Managers that track what the waiting user has seen, as pure functions of the manager's
information."""

from collections.abc import Iterable
from itertools import repeat

from sally.games.pick_the_right_stuff.extrapolation import (
    Family,
    Rule,
    carried,
    extrapolated,
    listed,
)
from sally.games.pick_the_right_stuff.locker import (
    Rehearsal,
    Reset,
    Retrieval,
    View,
    own_looks,
)


def where_user_will_look(seen: View) -> int:
    """Return the box in which the waiting user believes its item to be.

    In the infinite mode, users extrapolate by a private rule; the rehearsals, in which a user has
    demonstrated its rule, must identify it.

    Raises:
        ValueError: The rehearsals allow no box, or several.
    """
    boxes = where_user_will_look_from(seen, state_last_seen(seen))
    if len(boxes) != 1:
        raise ValueError(
            f"By its rehearsed answers, user {seen.asked} may look in the boxes {list(boxes)}; "
            "the answers should leave exactly one box."
        )
    return boxes[0]


def where_user_will_look_from(seen: View, last: int) -> tuple[int, ...]:
    """Return the boxes in which the waiting user may look if `last` is the last state that it
    saw."""
    box = seen.states[last].index(seen.asked)
    if seen.mode != "infinite":
        return (box,)
    gap = resets_since(seen, last)
    shown = [e for e in seen.story if isinstance(e, Rehearsal) and e.user == seen.asked]
    fitting = fitting_rules(shown, seen.families, seen.users)
    return tuple(sorted({extrapolated(rule, box, gap, seen.users) for rule in fitting}))


def where_user_saw_it_last(seen: View) -> int:
    """Return the box in which the user last saw its item. In the infinite mode the user may look
    elsewhere, because it extrapolates from what it saw."""
    return last_sight(seen)[0]


def where_it_was_at_the_last_look(seen: View) -> int:
    """Return the item's box at the time of the user's last look, even if the look showed a
    snapshot of an earlier state."""
    own = own_looks(seen)
    return seen.states[own[-1].at if own else 0].index(seen.asked)


def last_sight(seen: View) -> tuple[int, int]:
    """Return the box in which the waiting user last saw its item, and the number of resets since
    then."""
    last = state_last_seen(seen)
    return seen.states[last].index(seen.asked), resets_since(seen, last)


def state_last_seen(seen: View) -> int:
    """Return the index of the state that the waiting user saw last."""
    own = own_looks(seen)
    return own[-1].shown if own else 0


def resets_since(seen: View, state: int) -> int:
    """Return the number of resets after a state."""
    changes = [event for event in seen.story if isinstance(event, Reset | Retrieval)]
    return sum(isinstance(change, Reset) for change in changes[state:])


def fitting_rules(
    rehearsals: Iterable[Rehearsal], families: Iterable[Family], boxes: int
) -> list[Rule]:
    """Return every rule of these families that explains all rehearsals."""
    shown = list(rehearsals)
    if any(not 0 <= r.named < boxes for r in shown):
        return []
    wanted, found = tuple((r.named - r.seen) % boxes for r in shown), list[Rule]()
    for family in families:
        rules = listed(family, boxes)
        columns = zip(*(carried(family, boxes, r.resets) for r in shown), strict=True)
        reached = columns if shown else repeat(wanted, len(rules))
        found += [rule for rule, at in zip(rules, reached, strict=True) if at == wanted]
    return found
