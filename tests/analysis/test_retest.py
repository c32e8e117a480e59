"""Questions asked twice: reliability of reports, and knowing and acting corrected for it."""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec
import pytest

import sally
from sally.analysis.profile.profile import ProfileRow, shown_columns
from sally.core.errors import BadInput
from sally.core.log.events import Episode, Reported
from sally.core.match.playback import mismatch, replay_episode
from sally.core.match.player import Decision, Turn
from sally.core.registry import registry
from sally.core.registry.study import Cell, Study, instance, player_spec
from sally.core.rules.chance import Stream
from sally.core.rules.probe import ProbeReport
from sally.frames.measured_seat import measure_episode
from sally.studies.arms import with_repeats
from tests.analysis.profiles import profile_of

KNOWS, ACTS, EPISODES, ROUNDS = 0.6, 0.7, 80, 10
CONSTANT = ("single_action", {"action": 0})


class NoisyReporter(msgspec.Struct, frozen=True):
    """Believes the truth (move 0) with chance `KNOWS`, else any move; makes the best reply to its
    belief with chance `ACTS`, else any move; reports its belief with chance 1 - `noise`, else any
    answer."""

    noise: float

    def belief(self, turn: Turn) -> int:
        draws = Stream(turn.context.seed, turn.number, "belief")
        return 0 if draws() < KNOWS else draws.pick((0, 1, 2))

    def decide(self, turn: Turn) -> Decision[Any]:
        draws, context = turn.draws, turn.context
        belief = {"partner": self.belief(turn)}
        best = context.spec.measured.best_replies(context.game, turn.view, belief)
        return Decision(draws.pick(tuple(best) if draws() < ACTS else turn.options))

    def report(self, turn: Turn) -> ProbeReport:
        assert turn.question is not None
        draws = turn.draws
        is_noise = draws() < self.noise
        return ProbeReport(draws.pick(turn.question.choices) if is_noise else self.belief(turn))


def episode(noise: float, seed: int, *probes: str) -> Episode:
    lineup = {"agent": NoisyReporter(noise), "partner": CONSTANT}
    asked = {"agent": ["their_move", *probes]}
    return sally.play("rps", lineup, seed, probes=asked, rounds=ROUNDS)


@cache
def row(noise: float, *probes: str) -> ProfileRow:
    seats = []
    for seed in range(1000, 1000 + EPISODES):
        (seat,) = measure_episode(episode(noise, seed, *probes), ("agent",))
        problem = msgspec.structs.replace(seat.setup.instance, id=f"problem {seed}")
        setup = msgspec.structs.replace(seat.setup, instance=problem)
        seats.append(msgspec.structs.replace(seat, setup=setup))
    (result,) = profile_of(seats)
    return result


@pytest.mark.parametrize("noise", [0.2, 0.5])
def test_noise_of_reports_is_corrected(noise: float) -> None:
    """The raw measures miss the noiseless values; the corrected ones have them in their intervals,
    although forecasts are not equally frequent."""
    noisy = row(noise, "their_move:again")
    assert noisy.reliability.low <= (1 - noise) ** 2 <= noisy.reliability.high
    for raw, corrected, truth in (
        (noisy.skill, noisy.skill_corrected, KNOWS),
        (noisy.acting_contrast, noisy.acting_corrected, ACTS),
    ):
        assert raw.high < truth
        assert corrected.low <= truth <= corrected.high
        assert corrected.high - corrected.low < 0.7


def test_second_answers_change_no_other_measure() -> None:
    once, twice = row(0.2), row(0.2, "their_move:again")
    for field in ("accuracy", "skill", "acting", "acting_contrast", "acting_beyond", "raw"):
        assert getattr(once, field) == getattr(twice, field), field
    assert once.reliability.value is None and "reliability" not in once.why
    titles = [column.title for column in shown_columns([once])]
    assert "reliability" not in titles and len(shown_columns([twice])) == len(titles) + 3


def test_random_reports_cannot_be_corrected() -> None:
    random = row(1.0, "their_move:again")
    assert random.reliability.low < 0 < random.reliability.high
    assert random.acting_corrected.value is None
    assert random.why["acting_corrected"].startswith("reports agree no more often than by chance")


def test_second_asking_lists_answers_in_reversed_order_and_replays() -> None:
    """A player that always names the first answer names another one the second time."""
    lineup = {"agent": "constant", "partner": CONSTANT}
    asked = {"agent": ["their_move", "their_move:again"]}
    played = sally.play("rps", lineup, 1, probes=asked, rounds=3)
    answers = [(event.probe, event.value) for event in played.events if isinstance(event, Reported)]
    assert answers == [("their_move", 0), ("their_move:again", 2)] * 3
    assert mismatch(registry.game("rps"), played) is None
    assert len(replay_episode(registry.game("rps"), played).repeated) == 3


def test_a_share_of_turns_is_asked_twice() -> None:
    """One in four turns is drawn, by the seed of the episode."""
    counts = [
        sum(
            isinstance(event, Reported) and event.probe == "their_move:again/4"
            for event in episode(0.0, seed, "their_move:again/4").events
        )
        for seed in range(EPISODES)
    ]
    share = sum(counts) / (EPISODES * ROUNDS)
    assert 0.18 < share < 0.32 and len(set(counts)) > 1
    reports = [e for e in episode(0.0, 3, "their_move:again/4").events if isinstance(e, Reported)]
    assert sum(e.probe == "their_move" for e in reports) == ROUNDS


@pytest.mark.parametrize("name", ["their_move:again/0", "their_move:again2", "their_move:again/x"])
def test_a_wrong_name_of_a_second_asking_is_one_sentence(name: str) -> None:
    with pytest.raises(BadInput, match="asked again in one of so many turns"):
        episode(0.0, 1, name)


def test_study_asks_questions_about_minds_again() -> None:
    lineup = {"agent": player_spec("constant"), "partner": player_spec(CONSTANT[0])}
    arms = {"agent": ("their_move", "what_is_this")}
    cell = Cell("cell", (instance("rps", rounds=3),), (lineup,), arms)
    (again,) = with_repeats(Study("s", "s", (cell,)), 4).cells
    assert again.arms["agent"] == ("their_move", "what_is_this", "their_move:again/4")
    silent = msgspec.structs.replace(cell, arms={"agent": ("what_is_this",)})
    with pytest.raises(BadInput, match="asks nothing about another's mind"):
        with_repeats(Study("s", "s", (silent,)), 1)
