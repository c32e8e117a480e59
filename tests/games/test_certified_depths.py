"""Reasoners of a block's depth, and of the depth below it, play the games that have blocks."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import pytest

import sally
from sally.analysis.design.depth import depth_table, depths_of
from sally.core.match.player import Decision, Turn
from sally.core.rules.depth import DepthDecision
from sally.core.rules.game import Seat
from sally.frames.replays import replay_for_measures as replayed
from sally.games.bargaining.instances import Problem, frozen
from sally.games.bargaining.solver import mirror_price, rule_of, solve_known_limit
from sally.games.step_race import decisions as race
from sally.games.step_race.certified_tables import CertifiedProblem, read_certified
from sally.games.step_race.rules import SEATS, Done, StepRace, others_of
from sally.games.step_race.spec import missing_of
from sally.games.step_race.talk import last_announcements


def answer(episode: Any, seat: str) -> list[DepthDecision]:
    game = episode.setup.instance.game
    return list(depths_of(game).answered(replayed(episode), Seat(seat)))


@pytest.mark.parametrize("game", ["bargaining", "toma_sw"])
def test_reasoner_of_certified_depth_answers_all_and_shallower_none(game: str) -> None:
    rows = [row for row in depth_table(game) if row["block"] is not None]
    assert rows
    for row in rows:
        shares = [row[f"depth {k}"] for k in range(row["block"] + 1)]
        assert shares == [0.0] * row["block"] + [1.0]


class Bargainer(msgspec.Struct, frozen=True):
    """Knows the partner: holds one quote (0), meets each quote (1), or plans its reactions (2)."""

    problem: Problem
    depth: int

    def decide(self, turn: Turn) -> Decision[int]:
        problem, last, is_seller = self.problem, turn.view.last(), not turn.view.is_buyer
        rule = rule_of(problem.partner, problem.params)
        assert rule is not None
        mine, cost = (
            (100 - problem.cost, 100 - problem.value)
            if is_seller
            else (problem.value, problem.cost)
        )
        ask = rule.first(cost)
        if last is not None:
            before = (100 - last.bid, 100 - last.ask) if is_seller else (last.ask, last.bid)
            ask = rule.next_ask(cost, *before)
        if self.depth == 2:
            plan = solve_known_limit(rule, mine, cost, problem.rounds)
            bid = int(np.argmax(plan.bids(len(turn.view.past), ask)))
        elif self.depth == 1:
            bid = ask if ask < mine else 0
        else:
            bid = max(range(101), key=lambda held: earned(rule, mine, cost, problem.rounds, held))
        return Decision(mirror_price(is_seller, bid))


def earned(rule: Any, value: int, cost: int, rounds: int, bid: int) -> float:
    ask, total = rule.first(cost), 0.0
    for _ in range(rounds):
        total += value - (bid + ask) / 2 if bid >= ask else 0.0
        ask = rule.next_ask(cost, ask, bid)
    return total


@pytest.mark.parametrize("depth", [0, 1, 2])
@pytest.mark.parametrize("seat", ["buyer", "seller"])
def test_bargaining(depth: int, seat: str) -> None:
    problem = next(p for p in frozen().problems if p.depth == depth and p.seat == seat)
    for k in range(max(depth - 1, 0), depth + 1):
        lineup: dict[str, Any] = {seat: Bargainer(problem, k), **problem.across}
        episode = sally.play("bargaining", lineup, 0, **problem.instance().params)
        (depth_decision,) = answer(episode, seat)
        assert depth_decision.reasoned.block == depth and depth_decision.right == (k == depth)
    episode = sally.play(
        "bargaining", {seat: "random", **problem.across}, 0, **problem.instance().params
    )
    assert [depth_decision.right for depth_decision in answer(episode, seat)] == [False]


class Racer(msgspec.Struct, frozen=True):
    """Says nothing and plays the lowest move that a reasoner of its depth finds best."""

    table: CertifiedProblem
    depth: int

    def decide(self, turn: Turn) -> Decision[Any]:
        view, game = turn.view, StepRace(**self.table.params)
        if view.speaks:
            return Decision(Done(""))
        others = [self.table.others[SEATS[n]] for n in others_of(view.number)]
        announcements = last_announcements(view.talk, view.turn)
        reasoning = race.reason_about(
            game.target, view.number, [(player.player, player.params) for player in others], True,
            missing_of(game, view.positions), view.turn, announcements,
        )  # fmt: skip
        return Decision(5 if reasoning is None else min(reasoning.by_depth[self.depth]))


def test_step_race() -> None:
    table = next(
        certified_problem
        for certified_problem in read_certified()
        if "blocker-blocker" in certified_problem.id
    )
    for depth in (1, 2):
        judged: list[DepthDecision] = []
        for seed in range(6):
            lineup: dict[str, Any] = {table.seat: Racer(table, depth), **table.others}
            judged += answer(sally.play("step_race", lineup, seed, **table.params), table.seat)
        for block in (1, 2):
            rights = [
                certified_problem.right
                for certified_problem in judged
                if certified_problem.reasoned.block == block
            ]
            assert rights and all(right == (depth >= block) for right in rights)


@pytest.mark.parametrize(("way", "block"), [("history", 1), ("bayes", 2)])
def test_cipher(way: str, block: int) -> None:
    shallower = {1: "nearest", 2: ("crossing", {"against": "history"})}[block]
    for encoder, right in ((("crossing", {"against": way}), True), (shallower, False)):
        lineup: dict[str, Any] = {
            "encoder": encoder,
            "decoder": "by_keywords",
            "interceptor": f"by_{way}",
        }
        episode = sally.play("cipher", lineup, 0, set="which", number=3, rounds=1, tokens=1)
        depth_decisions = answer(episode, "encoder")
        assert len(depth_decisions) == 4
        assert all(
            depth_decision.reasoned.block == block and depth_decision.right == right
            for depth_decision in depth_decisions
        )


@pytest.mark.parametrize(("guide", "right"), [("silent", True), ("talker", False)])
def test_on_the_radio(guide: str, right: bool) -> None:
    lineup = {"guide": guide, "explorer": "talker", "eavesdropper": "search"}
    depth_decisions = answer(sally.play("toma_sw", lineup, 3), "guide")
    assert depth_decisions and all(
        depth_decision.reasoned.block == 1 and depth_decision.right == right
        for depth_decision in depth_decisions
    )
