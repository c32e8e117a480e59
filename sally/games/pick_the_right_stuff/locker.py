"""The rules of the locker: nature's announcements, users' beliefs, and retrievals.

State 0 is the initial placement; every reset and every retrieval appends one state. A user believes
that its item is where it last saw it (modes zero and finite), or extrapolates from there with a
private rule (infinite). All functions are pure; chance and words are defined elsewhere.
"""

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Literal

import msgspec

from sally.core.rules.menu import Act
from sally.games.pick_the_right_stuff.extrapolation import Family, Rule, extrapolate

Mode = Literal["zero", "finite", "infinite"]
Contents = tuple[int | None, ...]  # box -> the user whose item it holds, None for an empty box


class Reset(Act, frozen=True):
    """A reset, which moves the content of box b to box to[b], for all boxes at once."""

    to: tuple[int, ...]


class Visit(Act, frozen=True):
    """A visit: a user looks at the monitor and sees the current state."""

    user: int


class Snapshot(Act, frozen=True):
    """A snapshot of an earlier state shown to a user; `back` is 1 for the current state, 2 for the
    one before."""

    user: int
    back: int


class Rehearsal(Act, frozen=True):
    """A rehearsal: given a box and a number of resets, a user names the box that it would open."""

    user: int
    seen: int
    resets: int
    named: int


class Collection(Act, frozen=True):
    """A collection: a user comes for its item, and the manager is asked where the user will
    look."""

    user: int


class Retrieval(Act, frozen=True):
    """The outcome of a collection: the box that the manager named (None if unreadable), the box in
    which the user believed its item to be, and the box that held it."""

    user: int
    answered: int | None
    believed: int
    true: int


Move = Reset | Visit | Snapshot | Rehearsal | Collection
Event = Reset | Visit | Snapshot | Rehearsal | Collection | Retrieval


class Look(msgspec.Struct, frozen=True):
    """A look of a user: the state that was current at that time, and the state shown."""

    user: int
    at: int
    shown: int


class Instance(msgspec.Struct, frozen=True, omit_defaults=True):
    """One game as data: the placement, and all moves of nature."""

    name: str
    mode: Mode
    users: int
    placement: tuple[int, ...]  # placement[user] = box
    script: tuple[Move, ...]
    rules: tuple[Rule, ...] = ()  # infinite only: one private rule per user
    families: tuple[Family, ...] = ()  # infinite only: the families a rule may come from


class Locker(msgspec.Struct, frozen=True):
    """The full state at one moment of a game."""

    mode: Mode
    users: int
    rules: tuple[Rule, ...]
    families: tuple[Family, ...]
    states: tuple[Contents, ...]
    resets: tuple[int, ...]  # resets[i] = how many resets had happened when state i appeared
    seen: tuple[int, ...]  # seen[user] = index of the state the user saw last
    story: tuple[Event, ...]
    asked: int | None
    correct: int


class View(msgspec.Struct, frozen=True):
    """The manager's information: every state and announcement, but no private rule."""

    mode: Mode
    users: int
    families: tuple[Family, ...]
    states: tuple[Contents, ...]
    story: tuple[Event, ...]
    asked: int | None  # the user who waits for an answer
    correct: int


def open_locker(instance: Instance) -> Locker:
    """Return the locker just after the users have stored their items."""
    check_header(instance)
    contents = [0] * instance.users
    for user, box in enumerate(instance.placement):
        contents[box] = user
    return Locker(
        mode=instance.mode,
        users=instance.users,
        rules=instance.rules,
        families=instance.families,
        states=(tuple(contents),),
        resets=(0,),
        seen=(0,) * instance.users,
        story=(),
        asked=None,
        correct=0,
    )


def apply_move(locker: Locker, move: Move) -> Locker:
    """Return the locker after one move of nature."""
    if locker.asked is not None:
        raise ValueError(f"User {locker.asked} is waiting: an answer is needed before {move}.")
    story = (*locker.story, move)
    match move:
        case Reset(to):
            return _after_reset(locker, to, story)
        case Visit(user):
            _check_room(locker, move, {"zero", "infinite"})
            return _after_sight(locker, user, len(locker.states) - 1, story)
        case Snapshot(user, back):
            _check_room(locker, move, {"finite"})
            return _after_sight(locker, user, len(locker.states) - back, story)
        case Rehearsal():
            _check_rehearsal(locker, move)
            return msgspec.structs.replace(locker, story=story)
        case Collection(user):
            true_box(locker, user)
            return msgspec.structs.replace(locker, story=story, asked=user)


def apply_answer(locker: Locker, box: int | None) -> Locker:
    """Return the locker after the manager's answer and the retrieval; `box` is None for a
    forfeited answer."""
    if locker.asked is None:
        raise ValueError("No user is waiting: an answer is possible only after a collection.")
    if box is not None and not 0 <= box < locker.users:
        raise ValueError(f"Box {box} does not exist: boxes are 0 to {locker.users - 1}.")
    user = locker.asked
    believed, true = believed_box(locker, user), true_box(locker, user)
    return msgspec.structs.replace(
        locker,
        states=(*locker.states, after_retrieval(locker.states[-1], believed, true)),
        resets=(*locker.resets, locker.resets[-1]),
        story=(*locker.story, Retrieval(user, box, believed, true)),
        asked=None,
        correct=locker.correct + (box == believed),
    )


def after_retrieval(contents: Contents, believed: int, true: int) -> Contents:
    """Return the contents of the boxes after a user has collected its item.

    By the rules of the game, the item is swapped into the box in which the user believes it to be,
    and then taken out.
    """
    boxes = list(contents)
    boxes[true] = boxes[believed]
    boxes[believed] = None
    return tuple(boxes)


def after_moving(contents: Contents, to: tuple[int, ...]) -> Contents:
    """Return the contents after each box `i`, empty or not, has moved to `to[i]`."""
    moved: list[int | None] = [None] * len(contents)
    for box, item in enumerate(contents):
        moved[to[box]] = item
    return tuple(moved)


def believed_box(locker: Locker, user: int) -> int:
    """Return the box in which a user believes its item to be now."""
    last = locker.seen[user]
    box = locker.states[last].index(user)
    if locker.mode != "infinite":
        return box
    gap = locker.resets[-1] - locker.resets[last]
    return extrapolate(locker.rules[user], box, gap, locker.users)


def true_box(locker: Locker, user: int) -> int:
    """Return the box that holds a user's item."""
    if user not in locker.states[-1]:
        raise ValueError(f"User {user} has no item in the locker: {locker.states[-1]}.")
    return locker.states[-1].index(user)


def occupied_in(contents: Contents) -> tuple[int, ...]:
    """Return the boxes that hold an item, in order."""
    return tuple(box for box, user in enumerate(contents) if user is not None)


def remaining(locker: Locker) -> tuple[int, ...]:
    """Return the users whose items are still in the locker, in order."""
    return tuple(sorted(user for user in locker.states[-1] if user is not None))


def score(locker: Locker) -> float:
    """Return the percentage of users for whom the manager named the box in which they believed
    their item to be."""
    return 100 * locker.correct / locker.users


def view_of(locker: Locker) -> View:
    """Return the manager's information."""
    return View(
        locker.mode,
        locker.users,
        locker.families,
        locker.states,
        locker.story,
        locker.asked,
        locker.correct,
    )


def looks(view: View) -> Iterator[Look]:
    """Yield the looks of all users so far, in order."""
    current = 0
    for event in view.story:
        match event:
            case Reset() | Retrieval():
                current += 1
            case Visit(user):
                yield Look(user, current, current)
            case Snapshot(user, back):
                yield Look(user, current, current + 1 - back)
            case _:
                pass


def own_looks(view: View) -> list[Look]:
    """Return the looks of the waiting user so far, in order."""
    return [look for look in looks(view) if look.user == view.asked]


@lru_cache(maxsize=512)  # rules of thumb are evaluated one after another on the same games
def questions(instance: Instance) -> tuple[tuple[View, int], ...]:
    """Return every question of a game with its right answer."""
    asked_questions: list[tuple[View, int]] = []

    def ask(view: View, believed: int) -> int:
        asked_questions.append((view, believed))
        return believed

    _play_game(instance, ask)
    return tuple(asked_questions)


def play_game(instance: Instance, manager: Callable[[View], int | None]) -> Locker:
    """Return the final state of a game played by this manager."""
    return _play_game(instance, lambda view, _: manager(view))


def check(instance: Instance) -> None:
    """Raise ValueError if the game cannot be played until the locker is empty."""
    end = play_game(instance, lambda view: None)
    if remaining(end):
        raise ValueError(f"{instance.name}: users {remaining(end)} never collect their items.")


def check_header(instance: Instance) -> None:
    """Raise ValueError if users, placement and rules of a game are inconsistent."""
    name, n = instance.name, instance.users
    if n < 2:
        raise ValueError(f"{name}: {n} users; the game needs at least 2.")
    if sorted(instance.placement) != list(range(n)):
        raise ValueError(
            f"{name}: placement {instance.placement} must name each box 0 to {n - 1} once."
        )
    if len(instance.rules) != (n if instance.mode == "infinite" else 0):
        raise ValueError(
            f"{name}: {len(instance.rules)} private rules; mode infinite needs one per user, and "
            "the modes zero and finite need none."
        )


@lru_cache(maxsize=8192)  # eight boxes have 5,040 single cycles
def is_single_cycle(to: tuple[int, ...]) -> bool:
    """Return whether a permutation of the boxes is one cycle through all of them."""
    if sorted(to) != list(range(len(to))):
        return False
    box, length = to[0], 1
    while box != 0:
        box, length = to[box], length + 1
    return length == len(to)


def _play_game(instance: Instance, ask: Callable[[View, int], int | None]) -> Locker:
    locker = open_locker(instance)
    for move in instance.script:
        locker = apply_move(locker, move)
        if locker.asked is not None:
            believed = believed_box(locker, locker.asked)
            locker = apply_answer(locker, ask(view_of(locker), believed))
    return locker


def _after_reset(locker: Locker, to: tuple[int, ...], story: tuple[Event, ...]) -> Locker:
    if len(to) != locker.users or not is_single_cycle(to):
        raise ValueError(
            f"A reset must move {locker.users} boxes in one cycle so that none stays; got {to}."
        )
    return msgspec.structs.replace(
        locker,
        states=(*locker.states, after_moving(locker.states[-1], to)),
        resets=(*locker.resets, locker.resets[-1] + 1),
        story=story,
    )


def _after_sight(locker: Locker, user: int, state: int, story: tuple[Event, ...]) -> Locker:
    true_box(locker, user)
    if not locker.seen[user] <= state < len(locker.states):
        raise ValueError(
            f"User {user} cannot be shown state {state}: it must be from {locker.seen[user]} "
            f"(the last state that the user saw) to {len(locker.states) - 1} (the current state)."
        )
    states_seen = (*locker.seen[:user], state, *locker.seen[user + 1 :])
    return msgspec.structs.replace(locker, seen=states_seen, story=story)


def _check_room(locker: Locker, move: Move, modes: set[str]) -> None:
    if locker.mode not in modes:
        raise ValueError(f"{move} cannot happen in mode {locker.mode}; it belongs to {modes}.")


def _check_rehearsal(locker: Locker, move: Rehearsal) -> None:
    _check_room(locker, move, {"infinite"})
    if not (0 <= move.user < locker.users and 0 <= move.seen < locker.users and move.resets >= 1):
        raise ValueError(f"{move} does not fit a locker with {locker.users} users and boxes.")
    if move.named != extrapolate(locker.rules[move.user], move.seen, move.resets, locker.users):
        raise ValueError(f"{move} contradicts the private rule {locker.rules[move.user]}.")
