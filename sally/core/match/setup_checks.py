"""Checks of a setup: its game, version, seats, probes and injections."""

from __future__ import annotations

from sally.core.errors import BadInput, unknown
from sally.core.log.events import Injection, Setup
from sally.core.rules.game import Game, GameSpec
from sally.core.rules.probe import Probe


def check_playable(spec: GameSpec, game: Game, setup: Setup) -> None:
    """Raise BadInput if a setup cannot be played."""
    everyone = {*game.seats, *game.helpers}
    if setup.instance.game != spec.name:
        raise BadInput(
            f"Instance {setup.instance.id!r} is a problem of {setup.instance.game}, "
            f"not of {spec.name}."
        )
    if setup.version != spec.version:
        raise BadInput(
            f"{spec.name} is at rules version {spec.version}; this setup asks for {setup.version}."
        )
    for seat in (*setup.lineup, *setup.arms, *(i.seat for i in setup.injections)):
        if seat not in everyone:
            raise unknown(f"seat of {spec.name}", seat, everyone)
    if setup.retries < 0:
        raise BadInput(f"retries must be at least 0, not {setup.retries}.")
    for seat, names in setup.arms.items():
        for name in names:
            _probe_for(spec, name, seat)
        if len(set(names)) < len(names):
            raise BadInput(f"The arm of {seat} names a probe twice: {', '.join(names)}.")
    for injection in setup.injections:
        probe = _probe_for(spec, injection.probe, injection.seat)
        if injection.error and probe.kind == "values":
            raise BadInput(
                f"A wrong answer to {probe.name!r} cannot be injected: the probe asks for values, "
                "which have no finite set of wrong answers."
            )
        asked_probes = setup.arms.get(injection.seat, ())
        if injection.source == "own" and injection.probe not in asked_probes:
            raise BadInput(
                f"{injection.seat} is to be told its own answer to {injection.probe!r}, "
                "but its arm does not ask that probe."
            )
        if injection.source == "own" and probe.point == "after":
            raise BadInput(
                f"{injection.seat} cannot be told its own answer to {injection.probe!r} before it "
                "moves: the probe is asked after the move."
            )
        if injection.is_informant:
            _check_informant(spec, setup, injection)
    _refuse_two_oracles(setup)


def _check_informant(spec: GameSpec, setup: Setup, informant: Injection) -> None:
    """Raise BadInput if an informant cannot speak before the probes of the seat."""
    seat, probe = informant.seat, spec.probe(informant.probe)
    if any(i is not informant and i.seat == seat for i in setup.injections):
        raise BadInput(f"{seat} has an informant, and can then be told nothing else.")
    if probe.point != "before":
        raise BadInput(
            f"An informant can state what the probe {probe.name!r} asks only if it is asked before "
            f"the move, not at the point {probe.point!r}."
        )
    if setup.instance.position and setup.instance.position.asks == "know":
        raise BadInput(
            f"Instance {setup.instance.id!r} asks no move, so there is nothing that an informant "
            'could state; its position must ask "both" or "do".'
        )


def _probe_for(spec: GameSpec, name: str, seat: str) -> Probe:
    probe = spec.probe(name)
    if probe.seats and seat not in probe.seats:
        raise BadInput(f"Probe {name!r} of {spec.name} is not for seat {seat!r}.")
    return probe


def _refuse_two_oracles(setup: Setup) -> None:
    told_seats = sorted({i.seat for i in setup.injections if i.source != "own"})
    if len(told_seats) > 1:
        raise BadInput(
            f"{' and '.join(told_seats)} cannot both be told the truth, because the seat that is "
            f"told "
            "it has to wait for the moves of all others."
        )
