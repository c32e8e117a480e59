"""Managers of the locker: one that tracks beliefs, two that track them in part, and mindless
ones."""

from __future__ import annotations

from collections.abc import Callable

from sally.core.match.partner import Partner, Script, by_name
from sally.core.match.player import Turn
from sally.core.rules.game import Seat
from sally.core.rules.probe import ProbeReport
from sally.games.pick_the_right_stuff.locker import View
from sally.games.pick_the_right_stuff.rules import LockerGame
from sally.games.pick_the_right_stuff.rules_of_thumb import (
    COMBINED,
    RULES_OF_THUMB,
    RuleOfThumb,
    any_box,
)
from sally.games.pick_the_right_stuff.rules_of_thumb import random as occupied_boxes
from sally.games.pick_the_right_stuff.spec import STATE_LAST_SEEN, TRUE_BOX
from sally.games.pick_the_right_stuff.tracker import (
    state_last_seen,
    where_it_was_at_the_last_look,
    where_user_saw_it_last,
    where_user_will_look,
)

Make = Callable[[LockerGame, Seat], Script]
OURS = "ours; the shortcuts that a score on tang2024's game must be read against"
ABOUT = {
    "start": "the box where the item was stored",
    "true": "the box where the item is",
    "last_seen": "the box the item was in when any user last looked",
    "most_frequent": "the occupied box that held the item most often",
    "recency": "the occupied box that the item left last",
    "first_box": "the occupied box with the lowest number",
    "random": "a box at random: an occupied one, or any where an empty one may be believed in",
}


def _naming(choose_box: Callable[[View], int]) -> Make:
    """Return a factory of managers that name the box returned by `choose_box`."""
    return lambda game, seat: lambda turn: choose_box(turn.view)


def _drawing(rule: RuleOfThumb) -> Make:
    """Return a factory of managers that draw uniformly from the boxes of a rule."""
    return lambda game, seat: lambda turn: turn.draws.pick(rule(turn.view))


def _tracking_answers(game: LockerGame, seat: Seat) -> Callable[[Turn], ProbeReport]:
    """Return the tracker's answers to probes."""

    def report(turn: Turn) -> ProbeReport:
        view: View = turn.view
        assert turn.question is not None
        boxes_by_probe = {
            STATE_LAST_SEEN: len(view.states) - state_last_seen(view),
            TRUE_BOX: view.states[-1].index(view.asked),
        }
        return ProbeReport(boxes_by_probe[turn.question.probe])

    return report


def _of_thumb(name: str, rule: RuleOfThumb) -> Partner:
    """Return a manager that follows a rule of thumb; the description of an inverse states the boxes
    that it avoids."""
    if name.startswith("but_"):
        about = f"any occupied box but those of: {_shortcuts_in(name.removeprefix('but_'))}"
    elif name in COMBINED:
        about = f"any of the boxes of: {_shortcuts_in(name)}"
    else:
        about = ABOUT[name]
    return Partner(name, about, OURS, _drawing(rule))


def _shortcuts_in(name: str) -> str:
    return ", ".join(rule for rule in ABOUT if rule in name)


TRACKER = Partner(
    name="tracker",
    about="the box where the user believes its item to be; the reference, right in every mode",
    source="ours; what tang2024's game asks for",
    make=_naming(where_user_will_look),
    answers=_tracking_answers,
)
SAW_LAST = Partner(
    name="saw_last",
    about="the box the user saw last; takes users of the infinite mode for users of the zero mode",
    source="ours",
    make=_naming(where_user_saw_it_last),
)
AT_LAST_LOOK = Partner(
    name="at_last_look",
    about="the box at the moment of the user's last look; ignores how old a snapshot was",
    source="ours",
    make=_naming(where_it_was_at_the_last_look),
)


def _guess(view: View) -> tuple[int, ...]:
    """Return the boxes from which a random guess is drawn. These are the occupied boxes; in the
    infinite mode they are all boxes, because a user may expect its item in an empty box."""
    return (any_box if view.mode == "infinite" else occupied_boxes)(view)


RULES = {**RULES_OF_THUMB, "random": _guess, **COMBINED}
PARTNERS = by_name(
    TRACKER,
    SAW_LAST,
    AT_LAST_LOOK,
    *(_of_thumb(name, rule) for name, rule in RULES.items()),
)
