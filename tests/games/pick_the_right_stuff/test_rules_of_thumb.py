"""Mindless rules and near-trackers on a game worked out by hand."""

from sally.games.pick_the_right_stuff.locker import (
    Collection,
    Instance,
    Reset,
    Snapshot,
    View,
    Visit,
    questions,
)
from sally.games.pick_the_right_stuff.rules_of_thumb import (
    RULES_OF_THUMB,
    any_box,
    but,
    first_box,
    hit_chance,
    last_seen,
    most_frequent,
    random,
    recency,
    start,
    true,
)
from sally.games.pick_the_right_stuff.tracker import (
    where_it_was_at_the_last_look,
    where_user_saw_it_last,
    where_user_will_look,
)

RIGHT = Reset((1, 2, 3, 0))
LEFT = Reset((3, 0, 1, 2))


def asked_first(instance: Instance) -> View:
    return questions(instance)[0][0]


# User 0's item goes 0 1 2 1 2 3; user 0 looked in state 1, user 3 in state 3.
WALK = Instance(
    "walk",
    "zero",
    4,
    (0, 1, 2, 3),
    (RIGHT, Visit(0), RIGHT, LEFT, Visit(3), RIGHT, RIGHT, Collection(0)),
)


def test_each_rule_names_its_box() -> None:
    view = asked_first(WALK)
    assert start(view) == (0,)
    assert true(view) == (3,)
    assert last_seen(view) == (1,)
    assert most_frequent(view) == (1, 2)
    assert recency(view) == (2,)
    assert first_box(view) == (0,)
    assert random(view) == any_box(view) == (0, 1, 2, 3)
    assert where_user_will_look(view) == 1


def test_inverse_draws_from_the_other_occupied_boxes() -> None:
    view = asked_first(WALK)
    assert but(start)(view) == (1, 2, 3)
    assert but(start, true)(view) == (1, 2)
    assert but(random)(view) == (0, 1, 2, 3)  # nothing is left, so it guesses


def test_rules_choose_only_occupied_boxes() -> None:
    script = (Collection(1), Collection(2), RIGHT, Collection(0))
    question_view = questions(Instance("x", "zero", 4, (0, 1, 2, 3), script))[2][0]
    assert question_view.states[-1] == (3, 0, None, None)
    assert random(question_view) == (0, 1)
    assert recency(question_view) == (0,)
    assert but(true)(question_view) == (0,)


def test_last_seen_follows_the_snapshot() -> None:
    script = (RIGHT, RIGHT, Snapshot(1, 2), Collection(0))
    view = asked_first(Instance("x", "finite", 4, (0, 1, 2, 3), script))
    assert last_seen(view) == (1,)


def test_manager_ignoring_snapshot_age_is_wrong_in_finite_mode() -> None:
    script = (RIGHT, RIGHT, Snapshot(0, 2), RIGHT, Collection(0))
    view = asked_first(Instance("x", "finite", 4, (0, 1, 2, 3), script))
    assert where_user_will_look(view) == where_user_saw_it_last(view) == 1
    assert where_it_was_at_the_last_look(view) == 2


def test_hit_chance_is_one_over_the_number_of_boxes() -> None:
    assert hit_chance((0, 1, 2, 3), 2) == 0.25
    assert hit_chance((0, 1), 2) == 0


def test_every_shortcut_has_its_inverse() -> None:
    shortcuts = [n for n in RULES_OF_THUMB if not n.startswith("but_") and n != "random"]
    assert all(f"but_{name}" in RULES_OF_THUMB for name in shortcuts)
