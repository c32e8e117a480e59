"""Pairs of Pick the Right Stuff: two users exchange what they look at, and in which order.

Both members have the same resets and the same looks at the same moments. The item of the waiting
user passes through two boxes early and again late. In one member the waiting user sees it in the
second box early and in the first one late; in the other member the other way round; a rival makes
the looks that the waiting user leaves out. Looks of other users stand before and after each of
these lines.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, Literal

import msgspec

from sally.core.errors import BadInput
from sally.core.log.events import PlayerSpec
from sally.core.rules.chance import Stream
from sally.core.rules.game import NATURE
from sally.core.rules.pair import MOST_TRIES, Member, PairRecipe, QuestionKind
from sally.games.pick_the_right_stuff.locker import (
    Collection,
    Instance,
    Look,
    Move,
    Reset,
    Snapshot,
    View,
    Visit,
    looks,
    own_looks,
)
from sally.games.pick_the_right_stuff.rules import MANAGER, LockerGame, State
from sally.games.pick_the_right_stuff.rules_of_thumb import RULES_OF_THUMB
from sally.games.pick_the_right_stuff.spec import STATE_LAST_SEEN
from sally.games.pick_the_right_stuff.tracker import state_last_seen, where_user_will_look_from

USERS = 4
RESETS = 9
FARTHEST_BACK = 4  # of a snapshot
PairMode = Literal["zero", "finite"]
Box = int


# --- construction ---------------------------------------------------------------------------------


class PlannedLook(msgspec.Struct, frozen=True):
    """A look before its user is chosen: when, at which state, and whose it is in each member."""

    moment: int  # the state that was current
    state: int  # the state shown
    first_user: int  # in the first member
    second_user: int


class Cast(msgspec.Struct, frozen=True):
    """The users by their part in a pair."""

    waiting: int
    rival: int
    others: tuple[int, ...]

    def exchange_look(self, moment: int, state: int, is_waiting: bool) -> PlannedLook:
        """Return a look of the waiting user in one member and of the rival in the other."""
        users = (self.waiting, self.rival) if is_waiting else (self.rival, self.waiting)
        return PlannedLook(moment, state, *users)

    def share_look(self, moment: int, state: int, is_waiting: bool) -> PlannedLook:
        """Return a look of the same user in both members."""
        user = self.waiting if is_waiting else self.rival
        return PlannedLook(moment, state, user, user)


def _draw(mode: PairMode, chance: Stream, order: int) -> tuple[Member, Member]:
    waiting, rival, *others = chance.shuffled(range(USERS))
    cast = Cast(waiting, rival, tuple(others))
    boxes = chance.shuffled(range(USERS))
    for _ in range(MOST_TRIES):
        plan = (_plan_visits if mode == "zero" else _plan_snapshots)(chance, cast)
        if plan is None:
            continue
        planned_looks, places = plan
        path = _draw_path(chance, {state: boxes[place] for state, place in places.items()})
        if path is not None and (mode == "zero" or _misleads(planned_looks, path, cast)):
            return _members(mode, chance, cast, path, planned_looks)
    raise BadInput(f"No pair of mode {mode} was found in {MOST_TRIES} tries.")


def _plan_visits(chance: Stream, cast: Cast) -> tuple[list[PlannedLook], dict[int, int]] | None:
    """Return the looks at the monitor, and the place (0 or 1) that the item must have by state."""
    slots = sorted(chance.shuffled(range(1, RESETS))[:7])
    first, early, early_2, middle, late, late_2, end = slots
    early_place, late_place = chance.below(2), chance.below(2)
    places = {early: early_place, early_2: 1 - early_place}
    places |= {late: late_place, late_2: 1 - late_place}
    planned_looks = [
        cast.share_look(first, first, is_waiting=True),
        cast.share_look(first, first, is_waiting=False),
        *(cast.exchange_look(slot, slot, places[slot] == 1) for slot in (early, early_2)),
        cast.share_look(middle, middle, is_waiting=True),
        *(cast.exchange_look(slot, slot, places[slot] == 0) for slot in (late, late_2)),
        cast.share_look(end, end, is_waiting=False),
    ]
    return planned_looks, places


def _plan_snapshots(chance: Stream, cast: Cast) -> tuple[list[PlannedLook], dict[int, int]] | None:
    """Return the snapshots, and the place (0 or 1) that the item must have by state.

    Each time two snapshots are shown at the same moment; how far back they lie is exchanged.
    """
    first, early, middle, late, end = sorted(chance.shuffled(range(1, RESETS))[:5])
    backs = chance.shuffled(range(1, FARTHEST_BACK + 1))[:2]  # of the first and the second place
    places: dict[int, int] = {}
    for moment in (early, late):
        for place, back in enumerate(backs):
            if places.setdefault(moment + 1 - back, place) != place:
                return None
    if RESETS - late == abs(backs[0] - backs[1]):  # else one number tells both members apart
        return None
    early_states = [early + 1 - back for back in backs]
    late_states = [late + 1 - back for back in backs]
    between = range(max(early_states), min(middle, *late_states) + 1)
    if min(early_states) < 1 or not between:
        return None
    middle_state = chance.pick(between)
    first_state = chance.below(min(first, *early_states) + 1)
    end_state = max(late_states) + chance.below(end - max(late_states) + 1)
    if {first_state, middle_state} & set(places):
        return None
    lines = [
        [cast.exchange_look(early, early_states[place], place == 1) for place in (0, 1)],
        [cast.exchange_look(late, late_states[place], place == 0) for place in (0, 1)],
    ]
    planned_looks = [
        cast.share_look(first, first_state, is_waiting=True),
        cast.share_look(first, first_state, is_waiting=False),
        *chance.shuffled(lines[0]),
        cast.share_look(middle, middle_state, is_waiting=True),
        *chance.shuffled(lines[1]),
        cast.share_look(end, end_state, is_waiting=False),
    ]
    return planned_looks, places


def _misleads(planned_looks: Sequence[PlannedLook], path: Sequence[Box], cast: Cast) -> bool:
    """Return whether a snapshot counted back from now, not from its moment, shows another box."""
    late_looks = [look for look in planned_looks if look.first_user != look.second_user][2:]
    boxes = {path[look.state] for look in late_looks}
    return not boxes & {path[RESETS + 1 - (look.moment + 1 - look.state)] for look in late_looks}


def _draw_path(chance: Stream, places: Mapping[int, Box]) -> list[Box] | None:
    """Return the boxes of the waiting user's item by state, or None if a reset would not move it.

    In all other states the item is in any box, but for the states next to a places one.
    """
    path: list[Box] = []
    for state in range(RESETS + 1):
        excluded = {*path[-1:], *([places[state + 1]] if state + 1 in places else [])}
        if state in places:
            if places[state] in path[-1:]:
                return None
            path.append(places[state])
        else:
            path.append(chance.pick([box for box in range(USERS) if box not in excluded]))
    return path


def _draw_reset(chance: Stream, source: Box, target: Box) -> Reset:
    """Return a reset in one cycle that carries the content of one box to another."""
    other_boxes = [box for box in range(USERS) if box not in (source, target)]
    cycle = [source, target, *chance.shuffled(other_boxes)]
    to = [0] * USERS
    for box, next_box in zip(cycle, [*cycle[1:], cycle[0]], strict=True):
        to[box] = next_box
    return Reset(tuple(to))


def _members(
    mode: PairMode,
    chance: Stream,
    cast: Cast,
    path: Sequence[Box],
    planned_looks: Sequence[PlannedLook],
) -> tuple[Member, Member]:
    other_boxes = chance.shuffled([box for box in range(USERS) if box != path[0]])
    placement = [0] * USERS
    placement[cast.waiting] = path[0]
    for user, box in zip((cast.rival, *cast.others), other_boxes, strict=True):
        placement[user] = box
    resets = [_draw_reset(chance, source, target) for source, target in pairwise(path)]
    all_looks = _with_others(mode, chance, cast, planned_looks)
    leaving = chance.shuffled((cast.rival, *cast.others))
    first, second = (
        _member(mode, placement, resets, [_as_look(look, member) for look in all_looks], cast,
                leaving)
        for member in (0, 1)
    )  # fmt: skip
    return first, second


def _as_look(look: PlannedLook, member: int) -> Look:
    return Look((look.first_user, look.second_user)[member], look.moment, look.state)


def _with_others(
    mode: PairMode, chance: Stream, cast: Cast, planned_looks: Sequence[PlannedLook]
) -> list[PlannedLook]:
    """Return all looks in order, with looks of other users before and after each planned one."""
    last_seen = dict.fromkeys(cast.others, 0)

    def draw_look(moment: int) -> PlannedLook:
        user = chance.pick(cast.others)
        nearest = max(last_seen[user], moment + 1 - FARTHEST_BACK)
        state = moment if mode == "zero" else nearest + chance.below(moment - nearest + 1)
        last_seen[user] = state
        return PlannedLook(moment, state, user, user)

    all_looks: list[PlannedLook] = []
    for moment in range(RESETS + 1):
        planned_now = [look for look in planned_looks if look.moment == moment]
        if planned_now or chance.below(2):
            all_looks.append(draw_look(moment))
        for look in planned_now:
            all_looks += [look, draw_look(moment)]
    return all_looks


def _member(
    mode: PairMode,
    placement: Sequence[Box],
    resets: Sequence[Reset],
    member_looks: Sequence[Look],
    cast: Cast,
    leaving: Sequence[int],
) -> Member:
    script: list[Move] = []
    for moment in range(RESETS + 1):
        script += resets[moment - 1 : moment] if moment else []
        for look in member_looks:
            if look.at == moment:
                is_visit = mode == "zero"
                back = look.at + 1 - look.shown
                script.append(Visit(look.user) if is_visit else Snapshot(look.user, back))
    script.append(Collection(cast.waiting))
    past = tuple({str(NATURE): msgspec.to_builtins(move)} for move in script)
    script += [Collection(user) for user in leaving]
    problem = Instance("pair", mode, USERS, tuple(placement), tuple(script))
    return Member({"mode": mode, "users": USERS, "problem": msgspec.to_builtins(problem)}, past)


# --- truth, minds, reasoners ----------------------------------------------------------------------


def _truth(game: LockerGame, state: State, others: Mapping[str, PlayerSpec]) -> int:
    assert state.locker.asked is not None
    return len(state.locker.states) - state.locker.seen[state.locker.asked]


def _best_moves(game: LockerGame, view: View, predicted: int) -> tuple[int, ...]:
    return where_user_will_look_from(view, len(view.states) - predicted)


def _minds(game: LockerGame, view: View, order: int) -> Iterator[int]:
    """Yield how far back each state lies that the waiting user may have seen last.

    Such a state was shown to the user (or is the storing, which every user saw), and no later look
    of the user showed another one.
    """
    states_seen = [0, *(look.shown for look in own_looks(view))]
    for state in range(len(view.states)):
        if state in states_seen and set(states_seen[states_seen.index(state) :]) == {state}:
            yield len(view.states) - state


def _reason(game: LockerGame, view: View, order: int) -> int:
    """Return the prediction of a reasoner: order 0 expects users to know what is so now."""
    return 1 if order == 0 else len(view.states) - state_last_seen(view)


# --- mindless rules -------------------------------------------------------------------------------

StateRule = Callable[[View], int | None]  # the state that a rule takes for the one seen last


def _answer(rule: StateRule, game: LockerGame, view: View, question: QuestionKind) -> int | None:
    state = rule(view)
    if state is None:
        return None
    if question == "know":
        return len(view.states) - state
    return view.states[state].index(view.asked)


def _other_users(view: View) -> list[int]:
    return [user for user in range(view.users) if user != view.asked]


def _state_of_look(
    user_rank: int | None, index: int, moment: bool, view: View, is_own: bool = False
) -> int | None:
    """Return the state of a look by its index among those of one user, or of all.

    Args:
        user_rank: Which of the other users; None: all users.
        index: 0 for the first look, -1 for the last.
        moment: The state at the moment of the look, not the one shown.
        view: The information of the manager.
        is_own: Looks of the waiting user.
    """
    all_looks = list(looks(view))
    if is_own:
        all_looks = own_looks(view)
    elif user_rank is not None:
        user = _other_users(view)[user_rank]
        all_looks = [look for look in all_looks if look.user == user]
    if not -len(all_looks) <= index < len(all_looks):
        return None
    look = all_looks[index]
    return look.at if moment else look.shown


def _state_back(back: int, view: View) -> int:
    return len(view.states) - back


def _most_looked_at(view: View) -> int:
    counts = Counter(look.shown for look in looks(view))
    return max(counts, key=lambda state: (counts[state], -state))


def _box_by_count(
    counted: Callable[[View], list[Box]], sign: int, game: LockerGame, view: View,
    question: QuestionKind,
) -> int | None:  # fmt: skip
    """Return the box with the largest count, or with sign -1 with the smallest."""
    if question == "know":
        return None
    counts = Counter(counted(view))
    return max(range(view.users), key=lambda box: (sign * counts[box], -box))


def _item_boxes(view: View) -> list[Box]:
    return [state.index(view.asked) for state in view.states]


def _looked_boxes(view: View) -> list[Box]:
    return [view.states[look.shown].index(view.asked) for look in looks(view)]


def _own_looked_boxes(view: View) -> list[Box]:
    return [view.states[look.shown].index(view.asked) for look in own_looks(view)]


def _thumb(name: str, game: LockerGame, view: View, question: QuestionKind) -> int | None:
    return None if question == "know" else RULES_OF_THUMB[name](view)[0]


def _constant(value: int, game: LockerGame, view: View, question: QuestionKind) -> int:
    return value


def _item_of(user_rank: int, game: LockerGame, view: View, question: QuestionKind) -> int | None:
    """Return the box that holds the item of another user."""
    return None if question == "know" else view.states[-1].index(_other_users(view)[user_rank])


def _count_own_looks(game: LockerGame, view: View, question: QuestionKind) -> int:
    return len(own_looks(view))


def _rules(mode: PairMode) -> Mapping[str, Callable[..., Any]]:
    states: dict[str, StateRule] = {
        "the state most looked at": _most_looked_at,
        "the first look of the waiting user": partial(_own_look, 0, False),
        "the look before the last of the waiting user": partial(_own_look, -2, False),
    }
    for back in range(1, RESETS + 2):
        states[f"the state {back} back"] = partial(_state_back, back)
    for index, name in ((0, "first"), (-1, "last")):
        states[f"the {name} look of all"] = partial(_any_look, index, None)
        for rank in range(USERS - 1):
            states[f"the {name} look of other user {rank}"] = partial(_any_look, index, rank)
    if mode == "finite":
        for index, name in ((0, "first"), (-1, "last"), (-2, "last but one")):
            states[f"the moment of the waiting user's {name} look"] = partial(
                _own_look, index, True
            )
    rules: dict[str, Callable[..., Any]] = {
        name: partial(_answer, rule) for name, rule in states.items()
    }
    for value in range(USERS):
        rules[f"always {value}"] = partial(_constant, value)
    for rank in range(USERS - 1):
        rules[f"the item of other user {rank}"] = partial(_item_of, rank)
    for name in RULES_OF_THUMB:
        rules[f"rule of thumb {name}"] = partial(_thumb, name)
    counted = {
        "of the item": _item_boxes,
        "of the item at all looks": _looked_boxes,
        "of the item at the waiting user's looks": _own_looked_boxes,
    }
    for name, boxes in counted.items():
        rules[f"most frequent box {name}"] = partial(_box_by_count, boxes, 1)
        rules[f"least frequent box {name}"] = partial(_box_by_count, boxes, -1)
    rules["the number of the waiting user's looks"] = _count_own_looks
    return rules


def _own_look(index: int, moment: bool, view: View) -> int | None:
    return _state_of_look(None, index, moment, view, is_own=True)


def _any_look(index: int, user_rank: int | None, view: View) -> int | None:
    return _state_of_look(user_rank, index, False, view)


def _recipe(mode: PairMode, title: str, about: str) -> PairRecipe:
    return PairRecipe(
        name=mode,
        title=title,
        game="pick_the_right_stuff",
        about=about,
        seat=MANAGER,
        probe=STATE_LAST_SEEN,
        subject="",
        orders=(1,),
        draw=partial(_draw, mode),
        truth=_truth,
        best_moves=_best_moves,
        minds=_minds,
        minds_about="users that saw one of the states last, as far as the story allows it",
        rules=lambda order: _rules(mode),
        reason=_reason,
    )


PAIRS = (
    _recipe(
        "zero",
        "Pick the Right Stuff, monitor",
        "two users exchange their looks at the monitor, so the last looks show other boxes",
    ),
    _recipe(
        "finite",
        "Pick the Right Stuff, snapshots",
        "two users exchange how far back their snapshots lie, so the last ones show other boxes",
    ),
)
