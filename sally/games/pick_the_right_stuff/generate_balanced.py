"""The balanced generator: games in which only the asked user's own looks reveal the answer.

A game is built question by question, and the believed box is drawn before the sightings that lead
to it:

1. The order of collection and the placement are drawn. For the next user to collect, an onlooker is
   drawn from the remaining users.
2. Resets, which permute the contents of the boxes, are added without regard to any belief. They go
   on until the user could believe its item to be in *any* box that is now occupied: the item must
   have been in each of these boxes in a state that the user can still have seen, and that is not
   later than the state that the onlooker saw. The onlooker's look is the last one before the
   question, so it alone determines the box in which the item was last seen by anyone. The start box
   and the last-seen box must be occupied too (the true box always is).
3. The believed box is drawn uniformly from the occupied boxes, then one of the moments at which the
   item was there. This determines the retrieval, so the next question can be built.
4. At the end the user's own looks are placed: the one that determines the belief and some earlier
   ones, but none between an onlooker's look and its question.

The belief is drawn after everything else that precedes its question, and only the user's own looks
are chosen to fit it. Hence, given the record without those looks (all locker states and all looks
of others, and so the start box, true box, last-seen box, frequencies and recencies), the believed
box is uniform over the occupied boxes. With k occupied boxes, a manager that ignores the user's own
looks is right with probability 1/k. At the last question only one box is occupied, so every manager
is right.

In the first version, the number of a user's looks depended on its belief: in mode zero, in which a
look shows the current state, a user without a look believes that its item is in its start box.
Games with `counted` looks draw the number independently of the belief.
"""

from collections.abc import Iterator
from random import Random

import msgspec

from sally.games.pick_the_right_stuff.generate_published import ObservingMode, random_cycle
from sally.games.pick_the_right_stuff.locker import (
    Collection,
    Contents,
    Instance,
    Look,
    Move,
    Reset,
    Snapshot,
    Visit,
    after_moving,
    after_retrieval,
    occupied_in,
)

TRIES = 60  # stretches tried at each length before a longer one is allowed
EARLIER_LOOKS = 2  # maximum number of a user's looks that do not decide its belief


class Stretch(msgspec.Struct, frozen=True):
    """The events before a question: resets, which permute the contents of the boxes, and a look by
    another user, the onlooker. `look_at` is the time of this look, and `look_shown` the state that
    it shows."""

    resets: tuple[tuple[int, ...], ...]
    states: tuple[Contents, ...]
    look_at: int
    look_shown: int


class Draft(msgspec.Struct, frozen=True):
    """A game under construction, complete up to its latest question."""

    mode: ObservingMode
    states: tuple[Contents, ...]
    moves: tuple[Move, ...]  # moves[i] leads from state i to state i + 1
    onlooks: tuple[Look, ...] = ()  # the last look before each question
    closed: frozenset[int] = frozenset()  # states during which no user may look
    beliefs: tuple[tuple[int, int], ...] = ()  # (user, state that decides its belief)

    def floor(self, user: int) -> Look:
        """Return the latest of the user's looks into the locker that directly preceded a question;
        if there is none, return a look at the initial placement."""
        looks = [look for look in self.onlooks if look.user == user]
        return looks[-1] if looks else Look(user, 0, 0)


def balanced_games(
    mode: ObservingMode, users: int, count: int, seed: int, *, counted: bool = False
) -> tuple[Instance, ...]:
    """Generate independent balanced games from one random stream.

    With `counted`, the number of a user's looks does not depend on its belief.
    """
    chance, version = Random(seed), "balanced2" if counted else "balanced"
    return tuple(
        balanced_game(f"{version}-{mode}-{users}-{number:03d}", mode, users, chance, counted)
        for number in range(count)
    )


def balanced_game(
    name: str, mode: ObservingMode, users: int, chance: Random, counted: bool = False
) -> Instance:
    """Generate one balanced game."""
    order, placement = list(range(users)), list(range(users))
    chance.shuffle(order)
    chance.shuffle(placement)
    stored = tuple(placement.index(box) for box in range(users))
    draft = Draft(mode=mode, states=(stored,), moves=())
    for turn, user in enumerate(order):
        staying = order[turn + 1 :]
        draft = _with_question(draft, user, chance.choice(staying) if staying else user, chance)
    own_looks = _counted_looks if counted else _own_looks
    looks = [look for user, _ in draft.beliefs for look in own_looks(draft, user, chance)]
    chance.shuffle(looks)
    return Instance(
        name=name,
        mode=mode,
        users=users,
        placement=tuple(placement),
        script=tuple(_script(draft, looks)),
    )


def _with_question(draft: Draft, user: int, onlooker: int, chance: Random) -> Draft:
    stretch = _stretch(draft, user, onlooker, chance)
    states = draft.states + stretch.states
    asked_at = len(states) - 1
    believed = chance.choice(occupied_in(states[-1]))
    onlook = Look(onlooker, stretch.look_at, stretch.look_shown)
    if onlooker == user:
        decided = onlook.shown
    else:
        visible = _visible(draft, user, onlook.shown)
        decided = chance.choice([i for i in visible if states[i].index(user) == believed])
    contents_after = after_retrieval(states[-1], believed, states[-1].index(user))
    return Draft(
        mode=draft.mode,
        states=(*states, contents_after),
        moves=(*draft.moves, *map(Reset, stretch.resets), Collection(user)),
        onlooks=(*draft.onlooks, onlook),
        closed=draft.closed | set(range(stretch.look_at + 1, asked_at + 1)),
        beliefs=(*draft.beliefs, (user, decided)),
    )


def _stretch(draft: Draft, user: int, onlooker: int, chance: Random) -> Stretch:
    """Find the events before a question: resets, which permute the contents of the boxes, and one
    look at the locker by an onlooker. They are chosen so that only the waiting user's own looks
    reveal where it believes its item to be; few resets are preferred."""
    length = chance.randint(0, 2)
    places_before = [state.index(user) for state in draft.states]
    unseen = set(range(len(draft.states[0]))).difference(places_before[draft.floor(user).shown :])
    floor = draft.floor(onlooker).shown
    while True:
        visible = (
            None if onlooker == user else _visible(draft, user, len(places_before) + length - 1)
        )
        for _ in range(TRIES if length else 1):  # without resets there is only one candidate
            resets, added = _wander(draft.states[-1], user, unseen, length, chance)
            boxes = set(occupied_in(added[-1] if added else draft.states[-1]))
            if places_before[0] not in boxes:
                continue
            places = places_before + [state.index(user) for state in added]
            looks = _balanced_looks(draft, floor, visible, places, boxes)
            if looks:
                time, state_shown = chance.choice(looks)
                return Stretch(resets, added, time, state_shown)
        length += 1


def _wander(
    state: Contents, user: int, unseen: set[int], length: int, chance: Random
) -> tuple[tuple[tuple[int, ...], ...], tuple[Contents, ...]]:
    """Draw resets (permutations of the boxes' contents) that tend to move the user's item to boxes
    in which the user cannot have seen it."""
    resets, states = list[tuple[int, ...]](), list[Contents]()
    new, box = set(unseen), state.index(user)
    for _ in range(length):
        to = random_cycle(len(state), chance)
        if new and to[box] not in new and chance.random() < 0.8:
            to = _exchange_boxes(to, to[box], chance.choice(sorted(new)), box)
        box = to[box]
        new.discard(box)
        resets.append(to)
        state = after_moving(state, to)
        states.append(state)
    return tuple(resets), tuple(states)


def _exchange_boxes(to: tuple[int, ...], old: int, new: int, fixed_box: int) -> tuple[int, ...]:
    """Exchange two boxes in a cyclic permutation; the box `fixed_box` keeps its position."""
    if fixed_box in (old, new):
        return to
    name = {old: new, new: old}
    moved = {name.get(b, b): name.get(to[b], to[b]) for b in range(len(to))}
    return tuple(moved[b] for b in range(len(to)))


def _balanced_looks(
    draft: Draft, floor: int, visible: list[int] | None, places: list[int], boxes: set[int]
) -> list[tuple[int, int]]:
    """Return the looks into the locker that the onlooker may take before a question, as pairs
    (time, state shown). The onlooker is the last user to look before the question; after its look,
    only the looks of the asked user reveal the answer.

    `floor` is the last state that the onlooker saw. `visible` are the states that the asked user
    may see; None if the asked user is the onlooker. `places` lists the box of the asked user's item
    in each state, and `boxes` the boxes that are occupied at the end.
    """
    enough = 0 if visible is None else _covered_at(visible, places, boxes)
    if enough == len(places):
        return []
    return [
        (time, state_shown)
        for time in range(max(len(draft.states) - 1, 1), len(places))
        for state_shown in range(time if draft.mode == "zero" else floor, time + 1)
        if state_shown >= enough and places[state_shown] in boxes
    ]


def _covered_at(visible: list[int], places: list[int], boxes: set[int]) -> int:
    """Return the first state by which the user could have seen its item at least once in every
    box of `boxes`."""
    missing = set(boxes)
    for state in visible:
        missing.discard(places[state])
        if not missing:
            return state
    return len(places)


def _visible(draft: Draft, user: int, until: int) -> list[int]:
    """Return the states up to `until` that could be the last one that the user sees."""
    floor = draft.floor(user).shown
    span = range(floor, until + 1)
    # A snapshot can show any state later on; the monitor shows a state only while it lasts.
    return [i for i in span if draft.mode == "finite" or i == floor or i not in draft.closed]


def _span(draft: Draft, user: int) -> tuple[int, Look, Look]:
    """Return the state that determines a user's belief, and the two looks that bound the period in
    which the user may see that state.

    The period starts with the user's own last look as an onlooker of an earlier question (or with
    the initial placement). It ends with the onlooker's look before the question about this user.
    """
    turn, decided = next(
        (i, s) for i, (believer, s) in enumerate(draft.beliefs) if believer == user
    )
    earlier = [look for look in draft.onlooks[:turn] if look.user == user]
    return decided, earlier[-1] if earlier else Look(user, 0, 0), draft.onlooks[turn]


def _counted_looks(draft: Draft, user: int, chance: Random) -> Iterator[Look]:
    """Yield one to three looks of a user; their number does not depend on the user's belief.

    The last look shows the state that determines the belief. If there are too few earlier moments
    for the other looks, the last look is repeated, which changes no belief.
    """
    decided, floor, onlook = _span(draft, user)
    if onlook.user == user:
        return
    n_wanted = 1 + chance.randint(0, EARLIER_LOOKS)
    first = floor.at if draft.mode == "zero" else floor.at + 1  # the monitor shows the same again
    free = [t for t in range(first, onlook.at + 1) if t not in draft.closed]
    moments = [t for t in free if t >= decided]
    time = decided if draft.mode == "zero" else chance.choice(moments)
    times = [t for t in free if t < time]
    times = sorted(chance.sample(times, min(len(times), n_wanted - 1)))
    yield from [Look(user, time, decided)] * (n_wanted - len(times))
    yield from _earlier_looks(draft, times, floor, decided, chance)


def _own_looks(draft: Draft, user: int, chance: Random) -> Iterator[Look]:
    """Yield a user's own looks; the last state seen is the one that determines the belief."""
    decided, floor, onlook = _span(draft, user)
    if onlook.user == user or (draft.mode == "zero" and decided == floor.shown):
        return
    free = [t for t in range(floor.at + 1, onlook.at + 1) if t not in draft.closed]
    moments = [t for t in free if t >= decided]
    time = decided if draft.mode == "zero" else chance.choice(moments)
    yield Look(user, time, decided)
    times = [t for t in free if t < time]
    times = sorted(chance.sample(times, min(len(times), chance.randint(0, EARLIER_LOOKS))))
    yield from _earlier_looks(draft, times, floor, decided, chance)


def _earlier_looks(
    draft: Draft, times: list[int], floor: Look, decided: int, chance: Random
) -> list[Look]:
    """Return a user's looks at these times, after `floor` and before the look that shows the state
    `decided`."""
    states_shown = times
    if draft.mode == "finite":  # sorted: no state is shown before its moment or out of order
        states_shown = sorted(chance.randint(floor.shown, min(t, decided)) for t in times)
    return [Look(floor.user, t, s) for t, s in zip(times, states_shown, strict=True)]


def _script(draft: Draft, looks: list[Look]) -> Iterator[Move]:
    """Yield all moves in chronological order. Of several looks during the same state, the
    onlooker's comes last."""
    last = {look.at: look for look in draft.onlooks}
    for moment in range(len(draft.states)):
        yield from (_move(draft, look) for look in looks if look.at == moment)
        if moment in last:
            yield _move(draft, last[moment])
        yield from draft.moves[moment : moment + 1]


def _move(draft: Draft, look: Look) -> Move:
    if draft.mode == "zero":
        return Visit(look.user)
    return Snapshot(look.user, back=look.at - look.shown + 1)
