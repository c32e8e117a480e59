"""Players with dialled knowledge and a dialled will to act on it, in any game with best replies.

What such a player knows is told by an expert beside it; so the truth of both dials is known, and a
profile can be held against it.
"""

from __future__ import annotations

from typing import Any

import msgspec

import sally
from sally.core.log.events import Episode, PlayerSpec
from sally.core.match.player import Decision, Turn
from sally.core.registry import registry
from sally.core.rules.chance import Stream
from sally.core.rules.probe import ProbeReport, Question
from sally.games.toma.mg.game import frozen_scenarios as mg_scenarios
from sally.games.toma.po.game import frozen_scenarios as po_scenarios
from sally.runner.seating import seat_player


class Dialled(msgspec.Struct, frozen=True):
    """Right with chance `knows`, else a guess; the best reply with chance `acts`, else any move."""

    expert: Any  # a sitter that answers right, or the answer itself
    probes: tuple[str, ...]
    knows: float
    acts: float

    def report(self, turn: Turn) -> ProbeReport:
        assert turn.question is not None
        return ProbeReport(self.predicted(turn, turn.question))

    def decide(self, turn: Turn) -> Decision[Any]:
        spec, game, draws = turn.context.spec, turn.context.game, self.dice(turn, "move")
        belief = {
            question.about: self.predicted(turn, question)
            for probe in self.probes
            for question in spec.probe(probe).asks(game, turn.view, turn.seat)
        }
        best = spec.measured.best_replies(game, turn.view, belief)
        assert isinstance(best, tuple) and best
        known = draws() < self.acts
        return Decision(draws.pick(best if known else turn.options))

    def predicted(self, turn: Turn, question: Question) -> Any:
        """The same answer whenever it is asked in a turn."""
        draws = self.dice(turn, f"{question.probe} {question.about}")
        if draws() >= self.knows:
            return draws.pick(question.choices)
        if not isinstance(self.expert, PlayerSpec):
            return self.expert
        asked = (turn.number, turn.seat, question.probe, question.about)
        told_turn = msgspec.structs.replace(turn, id=asked, question=question)
        expert: Any = seat_player(turn.context.spec, turn.context.game, turn.seat, self.expert)
        return expert.report(told_turn).value

    def dice(self, turn: Turn, purpose: str) -> Stream:
        return Stream(
            turn.context.seed, turn.seat, turn.number, f"{turn.context.spec.name} dialled {purpose}"
        )


class Family(msgspec.Struct, frozen=True):
    """How a dialled player sits down in one family of games."""

    game: str
    seat: str
    expert: Any
    probes: tuple[str, ...]
    others: dict[str, Any] = {}
    problems: tuple[dict[str, Any], ...] = ({},)  # one after the other, by seed

    def played(self, seed: int, knows: float, acts: float) -> Episode:
        """One episode."""
        dialled = Dialled(self.expert, self.probes, knows, acts)
        problem = self.problems[seed % len(self.problems)]
        asked_probes = {self.seat: list(self.probes)}
        lineup = {**self.others, self.seat: dialled}
        return sally.play(self.game, lineup, seed, probes=asked_probes, **problem)


def _scenarios(found: Any, level: int) -> tuple[dict[str, Any], ...]:
    return tuple({"scenario": s.id, "level": level} for s in found.values() if s.level == level)


def families() -> dict[str, Family]:
    """Every family in which a prediction, an expert and a list of best replies exist."""
    rock = ("single_action", {"action": 0})
    locker = tuple(
        {"users": 4, "number": n, "mode": "finite", "generator": "balanced", "generator_seed": 7}
        for n in range(60)
    )
    return {
        "repeated_games": Family(
            "rps", "agent", 0, ("their_move",), {"partner": rock}, ({"rounds": 10},)
        ),
        "level_k": Family(  # who thinks one step ahead names 19
            "eleven_twenty", "player_1", 19, ("their_move",), {"player_2": ("level", {"k": 1})}
        ),
        "toma_po": Family(
            "toma_po", "player", PlayerSpec("solver"), _probes("toma_po"), {},
            _scenarios(po_scenarios(), 2),
        ),
        "toma_mg": Family(
            "toma_mg", "player", PlayerSpec("solver"), _probes("toma_mg"), {},
            _scenarios(mg_scenarios(), 1),
        ),
        "pick_the_right_stuff": Family(
            "pick_the_right_stuff", "manager", PlayerSpec("tracker"), ("state_last_seen",), {},
            locker,
        ),
    }  # fmt: skip


def _probes(game: str) -> tuple[str, ...]:
    return tuple(probe.name for probe in registry.game(game).probes if probe.of_mind)
