"""The game on the shelf: nature reads out her script, the manager answers or forfeits."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

import sally
from sally.core.errors import BadInput, IllegalMove
from sally.core.log.events import (
    Episode,
    Forfeited,
    Instance,
    Moved,
    PlayerSpec,
    Setup,
    from_line,
    to_line,
)
from sally.core.match.engine import Match
from sally.core.match.playback import mismatch, replay_episode
from sally.core.match.player import Decision, Forfeit
from sally.core.registry import registry
from sally.core.rules.game import NATURE
from sally.core.rules.probe import At
from sally.frames.replays import replay_for_measures as laid_open
from sally.games.pick_the_right_stuff import locker
from sally.games.pick_the_right_stuff.locker import (
    Collection,
    Locker,
    Mode,
    Move,
    Reset,
    Snapshot,
    Visit,
)
from sally.games.pick_the_right_stuff.picks import picks
from sally.games.pick_the_right_stuff.rules import MANAGER, LockerGame
from sally.papers.tang2024.study import SETS

NAME = "pick_the_right_stuff"
RIGHT, LEFT = Reset((1, 2, 0)), Reset((2, 0, 1))
SWAP = Reset((1, 0))
HAND = {str(MANAGER): PlayerSpec("by hand")}


def by_hand(mode: Mode, users: int, *script: Move) -> dict[str, Any]:
    """A game of one's own, as JSON would bring it."""
    instance = locker.Instance("by hand", mode, users, tuple(range(users)), script)
    return {"problem": msgspec.to_builtins(instance)}


def answering(params: dict[str, Any], *answers: int | None) -> Episode:
    """The episode in which these answers are given in turn; None is a forfeit."""
    match = Match(registry.game(NAME), Setup(Instance(NAME, NAME, params), 1, HAND))
    for answer in answers:
        (turn,) = match.asks()
        match.answer(turn.id, Forfeit("unreadable") if answer is None else Decision(answer))
    assert match.over
    return match.episode()


def end_of(episode: Episode) -> Locker:
    state = replay_episode(registry.game(NAME), episode).states[-1]
    actual_locker: Locker = state.locker
    return actual_locker


def right_answers(params: dict[str, Any]) -> list[int]:
    game = registry.game(NAME).build(params)
    assert isinstance(game, LockerGame)
    return [believed for _, believed in locker.questions(game.instance)]


# --- nature -------------------------------------------------------------------------------------


def test_nature_plays_its_script_and_every_move_is_logged() -> None:
    script = (RIGHT, Visit(0), Collection(1), LEFT, Collection(0), Collection(2))
    episode = answering(by_hand("zero", 3, *script), 1, 1, 2)
    logged = [e.action for e in episode.events if isinstance(e, Moved) and e.seat == NATURE]
    assert logged == list(script)
    assert mismatch(registry.game(NAME), from_line(to_line(episode))) is None


def test_log_with_changed_move_of_nature_does_not_replay() -> None:
    episode = answering(by_hand("zero", 2, SWAP, Collection(0), Collection(1)), 0, 1)
    events = list(episode.events)
    events[0] = Moved(0, NATURE, Visit(0))
    forged = msgspec.structs.replace(episode, events=events)
    assert "does not replay" in str(mismatch(registry.game(NAME), forged))


@pytest.mark.parametrize("answer", [3, -1, "1", "box 1", None])
def test_answer_without_valid_box_is_refused_and_the_ask_stays_open(answer: Any) -> None:
    match = Match(registry.game(NAME), Setup(Instance(NAME, NAME, {"users": 3}), 1, HAND))
    (turn,) = match.asks()
    with pytest.raises(IllegalMove):
        match.answer(turn.id, Decision(answer))
    assert match.asks() == [turn]


def test_forfeited_question_has_same_effect_as_wrong_answer_and_own_event() -> None:
    params = by_hand("zero", 3, RIGHT, Collection(1), Collection(0), Collection(2))
    wrong, lost_episode, right = (answering(params, first, 0, 2) for first in (2, None, 1))
    assert end_of(wrong).states == end_of(lost_episode).states == end_of(right).states
    assert [e.turn for e in lost_episode.events if isinstance(e, Forfeited)] == [2]
    assert [e.payoffs and e.payoffs[MANAGER] for e in (wrong, lost_episode, right)] == [2, 2, 3]
    rows = list(sally.episodes([wrong, lost_episode, right]))
    assert [row["score"] for row in rows] == [pytest.approx(200 / 3), 100, 100]
    assert [row["score_published"] for row in rows] == [
        pytest.approx(200 / 3),
        pytest.approx(200 / 3),
        100,
    ]
    assert [row["forfeits"] for row in rows] == [0, 1, 0]


def test_score_of_only_forfeits_is_blank_and_published_score_is_zero() -> None:
    (row,) = sally.episodes(
        [answering(by_hand("zero", 2, SWAP, Collection(0), Collection(1)), None, None)]
    )
    assert (row["score"], row["score_published"], row["forfeits"]) == (None, 0, 2)


# --- edge cases ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("params", "answers"),
    [
        pytest.param(
            by_hand("zero", 3, RIGHT, Visit(2), Collection(2), Collection(0), Collection(1)),
            [0, 0, 1],
            id="a believed box that was emptied since",
        ),
        pytest.param(
            by_hand("zero", 3, RIGHT, Visit(0), RIGHT, Collection(0), Collection(1), Collection(2)),
            [1, 1, 2],
            id="two users believe in the same box",
        ),
        pytest.param(
            by_hand("zero", 2, SWAP, Collection(0), SWAP, Visit(1), SWAP, Collection(1)),
            [0, 0],
            id="two users",
        ),
        pytest.param(
            by_hand("zero", 3, Collection(0), Collection(1), RIGHT, Collection(2)),
            [0, 1, 2],
            id="a reset with one item left",
        ),
        pytest.param(
            by_hand(
                "finite", 3, RIGHT, Collection(1), Snapshot(0, 2), Collection(0), Collection(2)
            ),
            [1, 1, 2],
            id="a snapshot older than a retrieval",
        ),
    ],
)
def test_edge_cases_score_full_marks_with_the_believed_boxes(
    params: dict[str, Any], answers: list[int]
) -> None:
    assert right_answers(params) == answers
    (row,) = sally.episodes([answering(params, *answers)])
    assert row["score"] == row["score_published"] == 100
    (tracked,) = sally.episodes([sally.play(NAME, {"manager": "tracker"}, **params)])
    assert tracked["score"] == 100


# --- players ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("params", "users"), [(p, n) for _, p in SETS for n in (3, 5, 8)])
def test_tracker_is_right_in_every_mode_and_answers_its_probes(params: Any, users: int) -> None:
    asked_probes = {"manager": ("state_last_seen", "true_box")}
    for number in range(0, 60, 12):
        actual_params = {**params, "users": users, "number": number}
        episode = sally.play(NAME, {"manager": "tracker"}, probes=asked_probes, **actual_params)
        (row,) = sally.episodes([episode])
        assert (row["score"], row["score_published"], row["tom_percent"]) == (100, 100, 100)


def test_scores_by_belief_split_the_score() -> None:
    for number in range(10):
        (row,) = sally.episodes([sally.play(NAME, {"manager": "true"}, number=number)])
        assert row["score_true_belief"] == 100
        assert row["score_false_belief"] in (0, None)


def test_retried_answer_counts_in_score_but_not_in_published_score() -> None:
    params = by_hand("zero", 2, SWAP, Collection(0), Collection(1))
    match = Match(registry.game(NAME), Setup(Instance(NAME, NAME, params), 1, HAND))
    for answer, tries in ((0, 2), (1, 1)):
        (turn,) = match.asks()
        match.answer(turn.id, Decision(answer, tries=tries, reply="hm"))
    (row,) = sally.episodes([match.episode()])
    assert (row["score"], row["score_published"]) == (100, 50)


# --- probes -------------------------------------------------------------------------------------


def test_probes_ask_for_state_last_seen_and_true_box() -> None:
    script = (RIGHT, RIGHT, Snapshot(0, 2), LEFT, Collection(0), Collection(1), Collection(2))
    spec = registry.game(NAME)
    replay = replay_episode(spec, answering(by_hand("finite", 3, *script), 1, 1, 1))
    (state,), (box,) = (
        spec.probe(name).asks(replay.game, replay.view(5, MANAGER), MANAGER)
        for name in ("state_last_seen", "true_box")
    )
    assert (state.choices, state.about) == ((1, 2, 3, 4), "0")
    assert box.choices == (0, 1, 2)
    # four states: the storing, two resets, a third; user 0 saw the one after the first reset
    assert spec.probe("state_last_seen").truth(replay, At(5, MANAGER, "state_last_seen", "0")) == 3
    assert spec.probe("true_box").truth(replay, At(5, MANAGER, "true_box", "0")) == 1
    # a user who never looked saw the storing last
    assert spec.probe("state_last_seen").truth(replay, At(7, MANAGER, "state_last_seen", "1")) == 5


@pytest.mark.parametrize("params", [p for _, p in SETS])
def test_best_reply_to_the_state_last_seen_is_the_believed_box(params: Any) -> None:
    spec = registry.game(NAME)
    assert spec.measured.best_replies is not None
    episode = sally.play(NAME, {"manager": "tracker"}, users=3, number=5, **params)
    full_match = laid_open(episode)
    for pick in picks(full_match, MANAGER):
        position = At(pick.turn, MANAGER, "state_last_seen", str(pick.user))
        seen = spec.probe("state_last_seen").truth(full_match.replay, position)
        view = full_match.replay.view(pick.turn, MANAGER)
        assert spec.measured.best_replies(full_match.replay.game, view, {str(pick.user): seen}) == (
            pick.believed,
        )


# --- parameters ---------------------------------------------------------------------------------


def test_game_comes_from_frozen_set_seed_or_custom_script() -> None:
    spec = registry.game(NAME)
    frozen, draws = (
        spec.build({"users": 3, "number": 7}),
        spec.build({"users": 4, "generator_seed": 7}),
    )
    assert isinstance(frozen, LockerGame)
    assert isinstance(draws, LockerGame)
    assert frozen.instance.users == 3
    assert draws.instance == spec.build({"users": 4, "generator_seed": 7}).instance  # type: ignore[attr-defined]
    assert draws.instance != spec.build({"users": 4, "generator_seed": 8}).instance  # type: ignore[attr-defined]
    for mode in ("zero", "finite", "infinite"):
        two = spec.build({"mode": mode, "users": 2, "generator_seed": 1})
        assert isinstance(two, LockerGame)
        assert (two.instance.mode, two.instance.users) == (mode, 2)


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"users": 4}, "set generator_seed"),
        ({"users": 1}, "at least 2"),
        ({"number": 60}, "from 0 to 59"),
        ({"number": -1}, "at least 0"),
        ({"mode": "endless"}, "mode"),
        ({"boxes": 3}, "parameter"),
        (by_hand("zero", 2, SWAP, Collection(0)), "never collect"),
        (by_hand("zero", 2, Snapshot(0, 1)), "mode zero"),
    ],
)
def test_invalid_parameters_are_refused_with_a_reason(params: dict[str, Any], words: str) -> None:
    with pytest.raises(BadInput, match=words):
        registry.game(NAME).build(params)
