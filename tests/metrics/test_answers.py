"""Report metrics fit every game: the question is put again, the truth read off the replay."""

from __future__ import annotations

from typing import Any

import pytest

from sally.core.errors import BadInput
from sally.core.log.events import Instance, PlayerSpec, Reported, Setup
from sally.core.match.playback import replay_episode
from sally.core.registry import registry
from sally.core.rules.game import Seat
from sally.core.rules.metric import Played, cache_by_seat
from sally.core.rules.probe import score
from sally.metrics.answers import list_counted_reports
from sally.runner.local import play
from sally.runner.seating import resolve_setup


def random_episode(name: str, seed: int = 1) -> Played:
    """Random players in every seat, each asked all of the game's probes."""
    spec = registry.game(name)
    game = spec.build({})
    lineup = {seat: PlayerSpec("random") for seat in game.seats}
    arms: dict[str, Any] = {
        seat: tuple(p.name for p in spec.probes if seat in p.seats) for seat in game.seats
    }
    episode = play(resolve_setup(Setup(Instance(name, name), seed, lineup, arms=arms)))
    return Played(spec, episode, replay_episode(spec, episode))


@pytest.mark.parametrize("name", ["cups", "haggle", "rps"])
def test_report_metrics_fit_every_game(name):
    names = ("tom_percent", "brier", "log_score", "value_error", "unread_reports", "retries")
    for seed in range(5):
        played = random_episode(name, seed)
        for seat in played.replay.game.seats:
            result = {m: registry.metrics(name)[m].measure(played, seat) for m in names}
            asked_events = [
                e for e in played.episode.events if isinstance(e, Reported) and e.seat == seat
            ]
            if asked_events:
                assert result["unread_reports"] == 0
            if result["tom_percent"] is not None:
                assert 0 <= result["tom_percent"] <= 100
                assert 0 < result["brier"] < 1  # even odds
            if result["value_error"] is not None:
                assert result["value_error"] >= 0


def test_all_probes_count_in_games_with_different_questions():
    played = random_episode("haggle")
    seat = played.replay.game.seats[0]
    reports = [r for r in played.replay.reports.values() if r.seat == seat]
    answers = list_counted_reports(played, seat)
    assert len({r.probe for r in reports}) > 1
    assert len(answers) == len(reports)
    assert [a.turn for a in answers] == sorted(a.turn for a in answers)


def test_scores_equal_those_of_the_core():
    played = random_episode("rps")
    answer = list_counted_reports(played, played.replay.game.seats[0])[0]
    assert answer.question.probe == "their_move_given_mine"
    assert answer.scores == score(answer.question, answer.report, answer.truth)
    assert answer.scores["brier"] == pytest.approx(2 / 3)


def test_report_to_an_unknown_probe_is_refused():
    played = random_episode("rps")
    stray = Reported(0, "agent", "their_move_given_mine", 0, about="nobody")
    played.replay.reports[0, "agent", stray.probe, "nobody"] = stray
    with pytest.raises(BadInput, match="about 'nobody' in turn 0, but rps does not ask"):
        list_counted_reports(played, played.replay.game.seats[0])


def test_functional_regret_is_offered_only_to_repeated_games():
    assert "functional_regret" not in registry.metrics("cups")
    assert "functional_regret" in registry.metrics("repeated_games")
    assert "tom_percent" in registry.metrics("cups")


def test_shared_computation_runs_once_per_episode_and_seat() -> None:
    asked_pairs: list[tuple[str, str]] = []

    @cache_by_seat
    def busy(played: Played, seat: Seat) -> list[str]:
        asked_pairs.append((played.episode.id, seat))
        return [seat]

    both_matches, seats = (
        [random_episode("ipd", seed) for seed in (1, 2)],
        (Seat("agent"), Seat("partner")),
    )
    texts = [busy(whole, seat) for _ in range(2) for whole in both_matches for seat in seats]
    assert texts == [["agent"], ["partner"]] * 4
    assert asked_pairs == [(whole.episode.id, seat) for whole in both_matches for seat in seats]
