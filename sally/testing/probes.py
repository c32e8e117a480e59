"""Checks of a game's probes and injections (what a seat is told about another player's mind before
it moves)."""

from __future__ import annotations

from typing import Any

from sally.core.log.events import Injection, Reported, Told
from sally.core.match.playback import replayed
from sally.core.rules.game import NATURE, Seat
from sally.core.rules.probe import At, ProbeReport, problem, score
from sally.testing.bench import Bench, asked_in_turn, match_of, must, played


def every_probe_is_asked_answered_and_scored(at: Bench) -> None:
    """Check that every probe has a truth in random play, and that the truth scores best."""
    scored: set[str] = set()
    for seed in range(8):
        episode = at.episode(at.table(seed, arms=at.all_probes))
        replay = replayed(at.spec, episode)
        for event in episode.events:
            if isinstance(event, Reported) and _scored(at, replay, event):
                scored.add(event.probe)
    missing = {p.name for p in at.spec.probes} - scored - at.probes_elsewhere
    must(
        not (at.all_probes_scored and missing), f"never asked or without a truth: {sorted(missing)}"
    )


def _scored(at: Bench, replay: Any, event: Reported) -> bool:
    """Return whether a report has a truth; raises Broken if the truth is not a valid answer or does
    not score best."""
    probe, seat = at.spec.probe(event.probe), Seat(event.seat)
    asked = {q.about: q for q in probe.asks(replay.game, replay.view(event.turn, seat), seat)}
    question = asked[event.about]
    truth = probe.truth(replay, At(event.turn, seat, probe.name, event.about))
    if truth is None:
        return False
    best = ProbeReport(truth, _sure(question, truth))
    must(
        (why := problem(question, best)) is None,
        f"{probe.name}: the truth is not a valid answer: {why}",
    )
    marks = score(question, ProbeReport(event.value, event.odds), truth)
    must(bool(marks), f"{probe.name}: a report with a truth has no score")
    for measure, mark in score(question, best, truth).items():
        wanted = 1.0 if measure in {"right", "answered"} else 0.0
        must(mark == wanted, f"{probe.name}: the truth scores {mark} in {measure}")
    return True


def _sure(question: Any, truth: Any) -> tuple[float, ...] | None:
    if question.kind == "values":
        return None
    return tuple(float(c == truth) for c in question.choices)


def an_oracle_tells_the_truth(at: Bench) -> None:
    """Check that what a seat is told about another player's mind agrees with a replay of the
    episode."""
    for probe in at.spec.probes:
        injection = Injection(probe.seats[0], probe.name)
        for seed in range(3):
            episode = played(at.table(seed, arms=at.all_probes, injections=(injection,)))
            replay = replayed(at.spec, episode)
            for told in (e for e in episode.events if isinstance(e, Told)):
                truth = probe.truth(replay, At(told.turn, Seat(told.seat), told.probe, told.about))
                # what happens after the move cannot be injected, only scored
                future = told.value is None and probe.point == "after"
                must(told.value == truth or future, f"{probe.name}: told {told.value}, not {truth}")


def a_told_seat_is_told_in_words(at: Bench) -> None:
    """Check that a words pack can express every piece of injected information."""
    for arms, injections in at.conditions:
        match = match_of(at.table(2, arms=arms, injections=injections))
        for turn, _ in asked_in_turn(match):
            must(not turn.told or turn.question is None, "a probe comes with an answer")
            for told in turn.told:
                must(
                    bool(turn.context.words.told(told).strip()),
                    f"{told.probe} has no words for the injection",
                )
                must(told.value is not None, f"{told.probe}: the injection is empty")


def helpers_have_a_default_occupant(at: Bench) -> None:
    """Check that every helper except nature has a default in `occupants`."""
    setup = at.table()
    for helper in match_of(setup).game.helpers:
        if helper != NATURE:
            sits = setup.lineup[helper]
            usual = at.spec.occupants[helper]
            must(
                sits.player == usual and not sits.params, f"{helper} is {sits.player}, not {usual}"
            )
            must(sits.versions["player"] >= 1, f"{sits.player} has no version")
