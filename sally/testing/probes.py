"""Checks of a game's probes and injections (what a seat is told about another player's mind before
it moves)."""

from __future__ import annotations

from typing import Any

from sally.core.log.events import Injection, Reported, Told
from sally.core.match.playback import replay_episode
from sally.core.rules.game import NATURE, Seat
from sally.core.rules.probe import At, ProbeReport, problem, score
from sally.testing.bench import Bench, asked_in_turn, match_of, must, play_episode


def every_probe_is_asked_answered_and_scored(bench: Bench) -> None:
    """Check that every probe has a truth in random play, and that the truth scores best."""
    scored: set[str] = set()
    for seed in range(8):
        episode = bench.episode(bench.table(seed, arms=bench.all_probes))
        replay = replay_episode(bench.spec, episode)
        for event in episode.events:
            if isinstance(event, Reported) and _is_scored(bench, replay, event):
                scored.add(event.probe)
    missing = {p.name for p in bench.spec.probes} - scored - bench.probes_elsewhere
    must(
        not (bench.all_probes_scored and missing),
        f"never asked or without a truth: {sorted(missing)}",
    )


def _is_scored(bench: Bench, replay: Any, event: Reported) -> bool:
    """Return whether a report has a truth; raises Broken if the truth is not a valid answer or does
    not score best."""
    probe, seat = bench.spec.probe(event.probe), Seat(event.seat)
    questions = {q.about: q for q in probe.asks(replay.game, replay.view(event.turn, seat), seat)}
    question = questions[event.about]
    truth = probe.truth(replay, At(event.turn, seat, probe.name, event.about))
    if truth is None:
        return False
    best = ProbeReport(truth, _sure(question, truth))
    must(
        (wrong := problem(question, best)) is None,
        f"{probe.name}: the truth is not a valid answer: {wrong}",
    )
    marks = score(question, ProbeReport(event.value, event.odds), truth)
    must(bool(marks), f"{probe.name}: a report with a truth has no score")
    for measure, mark in score(question, best, truth).items():
        best_mark = 1.0 if measure in {"right", "answered"} else 0.0
        must(mark == best_mark, f"{probe.name}: the truth scores {mark} in {measure}")
    return True


def _sure(question: Any, truth: Any) -> tuple[float, ...] | None:
    if question.kind == "values":
        return None
    return tuple(float(c == truth) for c in question.choices)


def an_oracle_tells_the_truth(bench: Bench) -> None:
    """Check that what a seat is told about another player's mind agrees with a replay of the
    episode."""
    for probe in bench.spec.probes:
        injection = Injection(probe.seats[0], probe.name)
        for seed in range(3):
            episode = play_episode(
                bench.table(seed, arms=bench.all_probes, injections=(injection,))
            )
            replay = replay_episode(bench.spec, episode)
            for injected in (e for e in episode.events if isinstance(e, Told)):
                truth = probe.truth(
                    replay, At(injected.turn, Seat(injected.seat), injected.probe, injected.about)
                )
                # what happens after the move cannot be injected, only scored
                future = injected.value is None and probe.point == "after"
                must(
                    injected.value == truth or future,
                    f"{probe.name}: told {injected.value}, not {truth}",
                )


def a_told_seat_is_told_in_words(bench: Bench) -> None:
    """Check that a words pack can express every piece of injected information."""
    for arms, injections in bench.conditions:
        match = match_of(bench.table(2, arms=arms, injections=injections))
        for turn, _ in asked_in_turn(match):
            must(not turn.told or turn.question is None, "a probe comes with an answer")
            for injected in turn.told:
                must(
                    bool(turn.context.words.told(injected).strip()),
                    f"{injected.probe} has no words for the injection",
                )
                must(injected.value is not None, f"{injected.probe}: the injection is empty")


def helpers_have_a_default_occupant(bench: Bench) -> None:
    """Check that every helper except nature has a default in `occupants`."""
    setup = bench.table()
    for helper in match_of(setup).game.helpers:
        if helper != NATURE:
            sits = setup.lineup[helper]
            usual = bench.spec.occupants[helper]
            must(
                sits.player == usual and not sits.params, f"{helper} is {sits.player}, not {usual}"
            )
            must(sits.versions["player"] >= 1, f"{sits.player} has no version")
