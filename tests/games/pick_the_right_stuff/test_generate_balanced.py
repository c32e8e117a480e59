"""Balanced games: only the asked user's own looks tell the answer."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from math import sqrt
from statistics import mean, stdev

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from scipy.stats import chi2

from benchmarks.problem_sets.pick_the_right_stuff import coincidence
from sally.games.pick_the_right_stuff.generate_balanced import balanced_games
from sally.games.pick_the_right_stuff.generate_published import ObservingMode, published_games
from sally.games.pick_the_right_stuff.locker import (
    Collection,
    Event,
    Instance,
    Move,
    Reset,
    Retrieval,
    Snapshot,
    View,
    Visit,
    check,
    occupied_in,
    own_looks,
    play_game,
    questions,
    score,
)
from sally.games.pick_the_right_stuff.rules_of_thumb import (
    RULES_OF_THUMB,
    game_score,
    last_seen,
    random,
    start,
)
from sally.games.pick_the_right_stuff.tracker import last_sight, where_user_will_look

modes = st.sampled_from(["zero", "finite"])


@pytest.mark.parametrize("mode", ["zero", "finite"])
def test_number_of_looks_is_independent_of_the_belief(mode: ObservingMode) -> None:
    pairs = [
        pair for game in balanced_games(mode, 3, 700, 6, counted=True) for pair in questions(game)
    ]
    for left in (2, 3):
        by_count: dict[int, list[bool]] = defaultdict(list)
        for question_view, believed in pairs:
            if len(occupied_in(question_view.states[-1])) == left:
                by_count[len(own_looks(question_view))].append(believed in start(question_view))
        assert min(by_count) >= 1  # nobody collects without having looked
        for hits in by_count.values():
            error = 3.5 * sqrt((left - 1) / left**2 / len(hits))
            assert len(hits) < 20 or abs(mean(hits) - 1 / left) < error


@settings(max_examples=40, deadline=None)
@given(modes, st.integers(2, 6), st.integers(0, 10**6), st.booleans())
def test_every_question_is_undetermined_without_the_users_own_looks(
    mode: ObservingMode, users: int, seed: int, counted: bool
) -> None:
    game = balanced_games(mode, users, 1, seed, counted=counted)[0]
    check(game)
    assert score(play_game(game, where_user_will_look)) == 100
    for question_view, believed in questions(game):
        boxes = set(occupied_in(question_view.states[-1]))
        assert {believed, *start(question_view), *last_seen(question_view)} <= boxes
        if len(boxes) > 1:
            look, shown = looks(question_view.story)[-1]
            assert look != question_view.asked
            assert boxes <= {
                state.index(question_view.asked) for state in question_view.states[: shown + 1]
            }


@pytest.mark.parametrize("mode", ["zero", "finite"])
@pytest.mark.parametrize("users", [2, 3, 4])
def test_other_own_looks_would_lead_to_any_other_occupied_box(
    mode: ObservingMode, users: int
) -> None:
    for game in balanced_games(mode, users, 12, seed=21):
        for question_view, believed in questions(game):
            reachable = set(beliefs_with_other_looks(question_view))
            assert believed in reachable
            assert set(occupied_in(question_view.states[-1])) <= reachable


def beliefs_with_other_looks(question_view: View) -> Iterator[int]:
    """Re-place the asked user's looks, all other looks and the last look of each question kept."""
    final = last_looks(question_view.story)
    kept_events = [
        event
        for place, event in enumerate(question_view.story)
        if place in final
        or not isinstance(event, Visit | Snapshot)
        or event.user != question_view.asked
    ]
    yield last_sight(with_story(question_view, kept_events))[0]
    for place in range(len(kept_events)):
        ahead = next(e for e in kept_events[place:] if isinstance(e, Visit | Snapshot | Collection))
        if isinstance(ahead, Collection):
            continue  # a look here would become the last one before a question
        if any(
            isinstance(e, Visit | Snapshot) and e.user == question_view.asked
            for e in kept_events[place:]
        ):
            continue  # a look here would be overruled
        states = 1 + sum(isinstance(event, Reset | Retrieval) for event in kept_events[:place])
        floor = max(
            [s for player, s in looks(tuple(kept_events[:place])) if player == question_view.asked],
            default=0,
        )
        for index in range(floor, states):
            if question_view.mode == "zero" and index != states - 1:
                continue
            new: Move = (
                Visit(question_view.asked)
                if question_view.mode == "zero"
                else Snapshot(question_view.asked, states - index)
            )
            yield last_sight(
                with_story(question_view, [*kept_events[:place], new, *kept_events[place:]])
            )[0]


def with_story(question_view: View, story: Sequence[Event]) -> View:
    return replace(question_view, story=tuple(story))


def looks(story: Sequence[Event]) -> list[tuple[int, int]]:
    """List (user, state shown) of every look."""
    current, pairs = 0, list[tuple[int, int]]()
    for event in story:
        if isinstance(event, Reset | Retrieval):
            current += 1
        elif isinstance(event, Visit):
            pairs.append((event.user, current))
        elif isinstance(event, Snapshot):
            pairs.append((event.user, current + 1 - event.back))
    return pairs


def last_looks(story: Sequence[Event]) -> set[int]:
    """Return the places of the last look before each question."""
    last, numbers = -1, set[int]()
    for place, event in enumerate(story):
        if isinstance(event, Visit | Snapshot):
            last = place
        elif isinstance(event, Collection):
            numbers.add(last)
    return numbers


SAMPLES: dict[tuple[ObservingMode, int], int] = {
    ("zero", 2): 150,
    ("zero", 3): 160,
    ("zero", 5): 60,
    ("zero", 8): 20,
    ("finite", 2): 150,
    ("finite", 3): 160,
    ("finite", 5): 50,
    ("finite", 8): 16,
}


@pytest.fixture(scope="module", params=SAMPLES, ids=lambda key: f"{key[0]}-{key[1]}")
def sample(request: pytest.FixtureRequest) -> tuple[Instance, ...]:
    mode, users = request.param
    return balanced_games(mode, users, SAMPLES[mode, users], seed=77)


def test_rules_of_thumb_score_at_chance(
    sample: tuple[Instance, ...],
) -> None:
    guess = 100 * mean(1 / remaining_count for remaining_count in range(1, sample[0].users + 1))
    assert game_score(sample[0], random) == pytest.approx(guess)
    for name, rule in RULES_OF_THUMB.items():
        scores = [game_score(game, rule) for game in sample]
        assert abs(mean(scores) - guess) <= 4 * stdev(scores) / sqrt(len(scores)) + 1e-9, name


def test_believed_box_is_uniform_given_start_true_and_last_seen(
    sample: tuple[Instance, ...],
) -> None:
    assert uniformity(sample) > 1e-4


def test_believed_start_and_last_seen_boxes_are_occupied(sample: tuple[Instance, ...]) -> None:
    for game in sample:
        for question_view, believed in questions(game):
            assert {believed, *start(question_view), *last_seen(question_view)} <= set(
                occupied_in(question_view.states[-1])
            )


def test_false_and_true_beliefs_both_occur(sample: tuple[Instance, ...]) -> None:
    held = {
        question_view.states[-1].index(question_view.asked) == believed
        for game in sample
        for question_view, believed in questions(game)
        if len(occupied_in(question_view.states[-1])) > 1
    }
    assert held == {True, False}


def test_uniformity_test_rejects_the_published_games() -> None:
    assert uniformity(published_games("zero", 3, 200, seed=77)) < 1e-12


def uniformity(games: Sequence[Instance]) -> float:
    """Return the p-value of "uniform over the occupied boxes", within each coincidence of boxes."""
    cells: defaultdict[tuple[int, int, int], Counter[int]] = defaultdict(Counter)
    for game in games:
        for question_view, believed in questions(game):
            boxes = occupied_in(question_view.states[-1])
            pattern, numbers = coincidence(question_view)
            if believed not in boxes or not set(numbers) <= set(boxes):
                continue
            place = numbers.index(believed) if believed in numbers else len(numbers)
            cells[len(boxes), pattern, len(numbers)][place] += 1
    total, freedom = 0.0, 0
    for (left, _, named_boxes), counts in cells.items():
        asked = counts.total()
        expected = [asked / left] * named_boxes + [asked * (left - named_boxes) / left]
        expected = [e for e in expected if e > 0]
        if len(expected) < 2 or min(expected) < 4:
            continue
        total += sum((counts[i] - e) ** 2 / e for i, e in enumerate(expected))
        freedom += len(expected) - 1
    return float(chi2.sf(total, freedom))


def test_games_follow_the_seed() -> None:
    assert balanced_games("finite", 4, 3, seed=1) == balanced_games("finite", 4, 3, seed=1)
    assert balanced_games("finite", 4, 3, seed=1) != balanced_games("finite", 4, 3, seed=2)
