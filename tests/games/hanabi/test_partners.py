"""The scripted minds of Hanabi at a table: how they play, and what they answer."""

from __future__ import annotations

from statistics import mean

import pytest

from sally.core.log.events import Episode, Instance, Moved, PlayerSpec, Setup
from sally.core.registry import registry
from sally.core.rules.game import Seat
from sally.core.rules.probe import At
from sally.frames.replays import replay_for_measures as laid_open
from sally.games.hanabi.probes import PROBES
from sally.runner.seating import resolve_setup
from tests.table import play_episode, table

PARTNERS = registry.partners("hanabi")
ALL = tuple(probe.name for probe in PROBES)


def seated(
    game: str, deal: int, ann: PlayerSpec, bob: PlayerSpec, arm: tuple[str, ...] = ()
) -> Episode:
    problem = Instance(f"{game}-{deal}", game, {"deal": deal, "score": "kept"})
    setup = Setup(problem, deal, {"ann": ann, "bob": bob}, arms={"ann": arm} if arm else {})
    return play_episode(resolve_setup(setup))


def measure_metric(metric: str, episode: Episode, seat: str = "ann") -> float | None:
    return registry.metrics("hanabi")[metric].measure(laid_open(episode), Seat(seat))


@pytest.mark.parametrize("name", sorted(PARTNERS))
def test_every_partner_plays_and_answers_every_probe(name: str) -> None:
    episode = seated("hanabi_mini", 7, PlayerSpec(name), PlayerSpec("simple"), ALL)
    assert episode.payoffs is not None
    replay = laid_open(episode).replay
    assert {report.probe for report in replay.reports.values()} == set(ALL)
    assert (
        seated("hanabi_mini", 7, PlayerSpec(name), PlayerSpec("simple"), ALL).events
        == episode.events
    )


def test_reader_is_refused_in_the_full_game() -> None:
    with pytest.raises(ValueError, match="to enumerate them; use hanabi_mini"):
        table("hanabi", 1, player="reader")
    with pytest.raises(ValueError, match="no policy named 'simpel'"):
        table("hanabi_mini", 1, player="simple", ann=PlayerSpec("reader", {"of": "simpel"}))


def test_reader_scores_more_than_bookkeeper() -> None:
    """Beside SimpleBot, whose hints mean more than they say, on the same deals."""
    simple, deals = PlayerSpec("simple"), range(15)
    reads, counts = (
        [seated("hanabi_mini", d, PlayerSpec(player_name), simple).payoffs["ann"] for d in deals]  # type: ignore[index]
        for player_name in ("reader", "bookkeeper")
    )
    assert mean(reads) > mean(counts) + 1


# --- what was known -----------------------------------------------------------------------------

ODDS = ("own_card_odds",)


def test_exact_counting_and_exact_reading_have_zero_excess() -> None:
    for deal in range(2):
        counting = seated("hanabi_mini", deal, PlayerSpec("bookkeeper"), PlayerSpec("simple"), ODDS)
        assert measure_metric("own_card_excess", counting) == pytest.approx(0)
        reading = seated("hanabi_mini", deal, PlayerSpec("reader"), PlayerSpec("simple"), ODDS)
        assert measure_metric("own_card_excess_read", reading) == pytest.approx(0)


def test_reader_has_less_and_play_oldest_more_excess_than_counting() -> None:
    excess: dict[str, list[float]] = {"reader": [], "play_oldest": []}
    for deal in range(6):
        for player, found in excess.items():
            episode = seated("hanabi_mini", deal, PlayerSpec(player), PlayerSpec("simple"), ODDS)
            found.append(measure_metric("own_card_excess", episode) or 0.0)
    assert mean(excess["reader"]) < -0.05
    assert mean(excess["play_oldest"]) > 0.005


def test_reading_is_measured_only_where_every_other_seat_declares_a_policy() -> None:
    beside = seated("hanabi_mini", 1, PlayerSpec("simple"), PlayerSpec("bookkeeper"), ODDS)
    assert measure_metric("own_card_excess_read", beside) is None
    full = seated("hanabi", 1, PlayerSpec("play_oldest"), PlayerSpec("simple"), ODDS)
    assert measure_metric("own_card_excess_read", full) is None


def test_belief_about_partner_is_closer_than_public_counts() -> None:
    arm = ("their_belief",)
    for deal in range(3):
        minds = seated("hanabi_mini", deal, PlayerSpec("simple"), PlayerSpec("simple"), arm)
        none = seated("hanabi_mini", deal, PlayerSpec("hint_always"), PlayerSpec("simple"), arm)
        close, far_value = (measure_metric("their_belief_distance", e) for e in (minds, none))
        assert close is not None
        assert far_value is not None
        assert close < far_value


def test_bot_predicts_a_bot_of_its_kind() -> None:
    episode = seated("hanabi_mini", 3, PlayerSpec("simple"), PlayerSpec("simple"), ("their_move",))
    full_match = laid_open(episode)
    probe = full_match.spec.probe("their_move")
    reports = full_match.replay.reports.values()
    right = [
        probe.truth(full_match.replay, At(r.turn, Seat(r.seat), r.probe, r.about)) == r.value
        for r in reports
    ]
    assert mean(right) > 0.7


# --- what was done ------------------------------------------------------------------------------


def test_both_conventions_are_columns() -> None:
    lost_episode = seated("hanabi_mini", 2, PlayerSpec("play_oldest"), PlayerSpec("play_oldest"))
    assert measure_metric("lives_lost", lost_episode) == 3
    assert measure_metric("score_zero", lost_episode) == 0
    assert measure_metric("score_kept", lost_episode) == lost_episode.payoffs["ann"]  # type: ignore[index]
    won = seated("hanabi_mini", 2, PlayerSpec("smart"), PlayerSpec("smart"))
    assert measure_metric("score_regret", won) == 0
    regret, best = measure_metric("score_regret", lost_episode), measure_metric("score_kept", won)
    assert regret == (best or 0) - (measure_metric("score_kept", lost_episode) or 0)


def test_misplay_is_inference_or_translation_loss_by_the_seats_report() -> None:
    arm = ("own_playable",)
    losses = registry.part("hanabi", "losses")
    assert losses is not None
    episode = seated("hanabi_mini", 2, PlayerSpec("play_oldest"), PlayerSpec("play_oldest"), arm)
    terms = losses(laid_open(episode), Seat("ann"))
    misplays = measure_metric("misplays", episode)
    turns = sum(e.seat == "ann" for e in episode.events if isinstance(e, Moved))
    assert misplays
    assert (terms.inference + terms.translation) * turns == pytest.approx(misplays)
    assert terms.translation > 0  # it plays cards that it calls unlikely
    assert measure_metric("against_better_knowledge", episode) is not None
    careful = seated("hanabi_mini", 2, PlayerSpec("simple"), PlayerSpec("simple"), arm)
    assert losses(laid_open(careful), Seat("ann")).translation == 0


def test_sure_but_idle_counts_hinting_with_a_known_playable_card() -> None:
    arm = ("own_playable",)
    idle = seated("hanabi_mini", 5, PlayerSpec("hint_always"), PlayerSpec("iggi"), arm)
    keen = seated("hanabi_mini", 5, PlayerSpec("iggi"), PlayerSpec("iggi"), arm)
    assert measure_metric("sure_but_idle", idle) == 100
    assert measure_metric("sure_but_idle", keen) == 0
