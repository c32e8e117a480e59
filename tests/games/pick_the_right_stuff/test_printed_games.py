"""The two games printed in the appendix of tang2024, replayed move by move."""

from sally.games.pick_the_right_stuff.locker import (
    Collection,
    Contents,
    Instance,
    Move,
    Reset,
    Snapshot,
    Visit,
    apply_answer,
    apply_move,
    believed_box,
    open_locker,
    play_game,
    score,
)
from sally.games.pick_the_right_stuff.tracker import where_user_will_look

# Each row: nature's move, the locker printed after it (None if not printed), the answer if asked.
Line = tuple[Move, Contents | None, int | None]
LEFT = Reset((2, 0, 1))
RIGHT = Reset((1, 2, 0))

ZERO: list[Line] = [
    (LEFT, (1, 2, 0), None),
    (LEFT, (2, 0, 1), None),
    (Collection(1), (2, None, 0), 1),
    (Visit(0), None, None),
    (RIGHT, (0, 2, None), None),
    (LEFT, (2, None, 0), None),
    (LEFT, (None, 0, 2), None),
    (Collection(0), (None, 2, None), 2),
    (RIGHT, (None, None, 2), None),
    (RIGHT, (2, None, None), None),
    (LEFT, (None, None, 2), None),
    (Collection(2), (None, None, None), 2),
]

FINITE: list[Line] = [
    (LEFT, (1, 2, 0), None),
    (LEFT, (2, 0, 1), None),
    (Collection(1), (2, None, 0), 1),
    (Snapshot(0, 2), None, None),
    (Collection(2), (0, None, None), 2),
    (Collection(0), (None, None, None), 1),
]


def replay(game: Instance, lines: list[Line]) -> None:
    locker = open_locker(game)
    assert locker.states == ((0, 1, 2),)
    for move, printed, answer in lines:
        locker = apply_move(locker, move)
        if locker.asked is not None:
            assert believed_box(locker, locker.asked) == answer
            locker = apply_answer(locker, answer)
        assert printed is None or locker.states[-1] == printed
    assert score(locker) == 100


def printed_game(mode: str, lines: list[Line]) -> Instance:
    script = tuple(move for move, _, _ in lines)
    if mode == "zero":
        return Instance("listing 1", "zero", 3, (0, 1, 2), script)
    return Instance("listing 2", "finite", 3, (0, 1, 2), script)


def ask_once(lines: list[Line]) -> tuple[list[int], list[int | None]]:
    asks = [(move.user, answer) for move, _, answer in lines if isinstance(move, Collection)]
    return [user for user, _ in asks], [answer for _, answer in asks]


def test_printed_zero_game() -> None:
    assert ask_once(ZERO) == ([1, 0, 2], [1, 2, 2])
    replay(printed_game("zero", ZERO), ZERO)


def test_printed_finite_game() -> None:
    assert ask_once(FINITE) == ([1, 2, 0], [1, 2, 1])
    replay(printed_game("finite", FINITE), FINITE)


def test_tracker_scores_full_marks_in_both() -> None:
    for mode, lines in (("zero", ZERO), ("finite", FINITE)):
        assert score(play_game(printed_game(mode, lines), where_user_will_look)) == 100
