"""The rules of the locker, played by hand."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sally.games.pick_the_right_stuff.extrapolation import Shift
from sally.games.pick_the_right_stuff.locker import (
    Collection,
    Instance,
    Locker,
    Mode,
    Move,
    Rehearsal,
    Reset,
    Snapshot,
    Visit,
    apply_answer,
    apply_move,
    believed_box,
    check,
    open_locker,
    play_game,
    remaining,
    score,
    true_box,
    view_of,
)

RIGHT = Reset((1, 2, 0))  # everything one box to the right, the last box to the first
LEFT = Reset((2, 0, 1))
SWAP = Reset((1, 0))


def game(mode: Mode, users: int, *script: Move) -> Instance:
    return Instance("by hand", mode, users, tuple(range(users)), script)


def state_after(instance: Instance, *answers: int | None) -> Locker:
    """Play the script, taking the answers in turn; stops while a user waits without an answer."""
    locker, given_so_far = open_locker(instance), list(answers)
    for move in instance.script:
        locker = apply_move(locker, move)
        if locker.asked is not None and given_so_far:
            locker = apply_answer(locker, given_so_far.pop(0))
    return locker


def test_belief_of_user_that_never_looked_is_the_start_box() -> None:
    locker = state_after(game("zero", 3, RIGHT, RIGHT))
    assert (believed_box(locker, 1), true_box(locker, 1)) == (1, 0)


def test_visit_makes_the_belief_true_until_the_next_reset() -> None:
    locker = state_after(game("zero", 3, RIGHT, Visit(1)))
    assert believed_box(locker, 1) == true_box(locker, 1) == 2
    locker = apply_move(locker, LEFT)
    assert (believed_box(locker, 1), true_box(locker, 1)) == (2, 1)
    assert believed_box(locker, 0) == 0


def test_snapshot_counts_back_from_the_current_state() -> None:
    for back, box in ((1, 2), (2, 1), (3, 0)):
        assert (
            believed_box(state_after(game("finite", 3, RIGHT, RIGHT, Snapshot(0, back))), 0) == box
        )


def test_retrieval_swaps_the_item_into_the_believed_box_and_empties_it() -> None:
    locker = state_after(game("zero", 3, RIGHT, Collection(1)), 1)
    # user 0's item lay in box 1, where user 1 looked, and went to box 2, where user 1's item lay
    assert locker.states[-1] == (2, None, 0)
    assert remaining(locker) == (0, 2)


@pytest.mark.parametrize(("answer", "points"), [(1, 1), (0, 0), (2, 0), (None, 0)])
def test_retrieval_is_the_same_whatever_the_answer(answer: int | None, points: int) -> None:
    locker = state_after(game("zero", 3, RIGHT, Collection(1)), answer)
    assert locker.states[-1] == (2, None, 0)
    assert locker.correct == points


def test_retrieval_appends_a_state_and_empty_boxes_move_too() -> None:
    locker = state_after(game("finite", 3, Collection(1), RIGHT), 1)
    assert locker.states == ((0, 1, 2), (0, None, 2), (2, 0, None))
    assert locker.resets == (0, 0, 1)


def test_believed_box_is_the_answer_even_if_emptied_since() -> None:
    # user 0 stored in box 0; after the reset user 2's item lies there; user 2 knows and takes it
    script = (RIGHT, Visit(2), Collection(2), Collection(0))
    locker = state_after(game("zero", 3, *script), 0)
    assert locker.states[-1][0] is None
    assert believed_box(locker, 0) == 0
    locker = apply_answer(locker, 0)
    assert locker.correct == 2
    assert locker.states[-1] == (None, None, 1)  # the item went through box 0 and is gone


def test_two_users_may_believe_in_the_same_box() -> None:
    locker = state_after(game("zero", 3, RIGHT, Visit(0), RIGHT, Collection(0), Collection(1)), 1)
    # both 0 (saw it in box 1) and 1 (stored in box 1) look in box 1, which is empty the second time
    assert believed_box(locker, 1) == 1
    assert locker.states[-1].count(None) == 1
    locker = apply_answer(locker, 1)
    assert locker.correct == 2
    assert remaining(locker) == (2,)


def test_two_users_play_a_whole_game() -> None:
    locker = state_after(
        game("zero", 2, SWAP, Collection(0), SWAP, Visit(1), SWAP, Collection(1)), 0, 0
    )
    # user 0 looks in box 0, user 1's item is swapped to box 1, moves to 0 (seen), moves to 1
    assert locker.states[3:6] == ((1, None), (None, 1), (None, None))
    assert score(locker) == 100


def test_reset_moves_the_only_item_left() -> None:
    script = (Collection(0), Collection(1), RIGHT, Collection(2))
    locker = state_after(game("zero", 3, *script), 0, 1)
    assert locker.states[-1] == (2, None, None)
    assert (believed_box(locker, 2), true_box(locker, 2)) == (2, 0)
    assert apply_answer(locker, 2).states[-1] == (None, None, None)


def test_snapshot_older_than_a_retrieval_shows_where_the_item_was_before_it() -> None:
    locker = state_after(game("finite", 3, RIGHT, Collection(1), Snapshot(0, 2)), 1)
    assert (believed_box(locker, 0), true_box(locker, 0)) == (1, 2)
    newer = state_after(game("finite", 3, RIGHT, Collection(1), Snapshot(0, 1)), 1)
    assert believed_box(newer, 0) == true_box(newer, 0) == 2


def test_in_the_infinite_mode_belief_moves_with_resets_but_not_with_retrievals() -> None:
    instance = Instance(
        "by hand", "infinite", 3, (0, 1, 2), (RIGHT, Collection(1), LEFT), (Shift(1),) * 3
    )
    believed = [believed_box(open_locker(instance), 0)]
    locker = open_locker(instance)
    for move in instance.script:
        locker = apply_move(locker, move)
        locker = apply_answer(locker, 0) if locker.asked is not None else locker
        believed.append(believed_box(locker, 0))
    assert believed == [0, 1, 1, 2]


def test_manager_sees_everything_but_the_private_rules() -> None:
    def seen(step: int) -> object:
        rules = (Shift(1), Shift(step), Shift(1))
        instance = Instance("x", "infinite", 3, (0, 1, 2), (RIGHT, Collection(0)), rules)
        return view_of(state_after(instance))

    assert seen(1) == seen(2)


@pytest.mark.parametrize(
    ("instance", "words"),
    [
        (game("zero", 1), "at least 2"),
        (Instance("x", "zero", 3, (0, 0, 1), ()), "each box"),
        (Instance("x", "infinite", 2, (0, 1), ()), "private rules"),
        (game("zero", 3, Reset((1, 0, 2))), "one cycle"),
        (game("zero", 3, Reset((1, 0))), "one cycle"),
        (game("zero", 3, Reset((0, 0, 0))), "one cycle"),
        (game("zero", 3, Snapshot(0, 1)), "mode zero"),
        (game("finite", 3, Visit(0)), "mode finite"),
        (game("finite", 3, Snapshot(0, 2)), "state -1"),
        (game("finite", 3, Snapshot(0, 0)), "state 1"),
        (game("finite", 3, RIGHT, Snapshot(0, 1), Snapshot(0, 2)), "the user saw"),
        (game("zero", 3, Visit(3)), "no item"),
        (game("zero", 3, Collection(0), Collection(0)), "no item"),
        (game("zero", 3, Collection(0), Visit(0)), "no item"),
        (game("zero", 3, Collection(0)), "never collect"),
        (game("zero", 3, Rehearsal(0, 0, 1, 1)), "mode zero"),
        (
            Instance("x", "infinite", 2, (0, 1), (Rehearsal(0, 0, 1, 0),), (Shift(1), Shift(1))),
            "contradicts",
        ),
    ],
)
def test_invalid_game_is_refused_with_a_reason(instance: Instance, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        check(instance)


def test_answers_out_of_turn_or_out_of_range_are_refused() -> None:
    with pytest.raises(ValueError, match="No user is waiting"):
        apply_answer(open_locker(game("zero", 3)), 0)
    waiting = state_after(game("zero", 3, Collection(0)))
    with pytest.raises(ValueError, match="boxes are 0 to 2"):
        apply_answer(waiting, 3)
    with pytest.raises(ValueError, match="User 0 is waiting"):
        apply_move(waiting, RIGHT)


@given(st.permutations(range(5)), st.lists(st.integers(0, 4), min_size=5, max_size=5))
def test_retrieval_removes_exactly_the_item_of_its_user(
    order: list[int], answers: list[int]
) -> None:
    script: list[Move] = []
    for user in order:
        script += [Reset((1, 2, 3, 4, 0)), Collection(user)]
    given_so_far = iter(answers)
    end = play_game(
        Instance("x", "zero", 5, tuple(order), tuple(script)), lambda _: next(given_so_far)
    )
    assert remaining(end) == ()
    for turn, user in enumerate(order):
        state_before, now = end.states[2 * turn + 1], end.states[2 * turn + 2]
        assert set(state_before) - set(now) - {None} == {user}


def test_instance_survives_json() -> None:
    script = (RIGHT, Rehearsal(0, 0, 1, 1), Visit(0), Collection(2))
    instance = Instance("x", "infinite", 3, (2, 0, 1), script, (Shift(1),) * 3, ("shift",))
    assert msgspec.json.decode(msgspec.json.encode(instance), type=Instance) == instance
