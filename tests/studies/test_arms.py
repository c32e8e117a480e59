"""Arms: every label on every move, every move in every place, everybody against everybody."""

from __future__ import annotations

from collections import Counter

import msgspec
import pytest

from sally.core.errors import BadInput
from sally.core.log.events import Instance, PlayerSpec
from sally.core.match.seat_context import SeatContext
from sally.core.registry import registry
from sally.core.registry.study import Cell, Study, grid, instance, player_spec
from sally.core.rules.game import Seat
from sally.runner.local import play
from sally.runner.seating import resolve_setup
from sally.studies.arms import (
    counterbalance_moves,
    relabel_moves,
    reorder_moves,
    with_packs,
    without,
)
from tests.strategies.talk import Listener, moves, says

AGENT = Seat("agent")


def page(problem: Instance) -> str:
    spec = registry.game(problem.game)
    game = spec.build(problem.params)
    context, view = SeatContext(spec, game, AGENT, 1), game.observe(game.start(), AGENT)
    words, options = context.words, game.options(game.start(), AGENT)
    return f"{words.rules(AGENT)}\n{words.question(view, options)}\n{words.format(view, options)}"


def pays(problem: Instance) -> set[str]:
    """What the page says of payoffs, in whatever order."""
    return {line for line in page(problem).split("\n") if line.startswith("When you pick")}


def test_labels_are_balanced_over_moves() -> None:
    variants = relabel_moves(instance("rps", rounds=5), "JFB")
    assert len(variants) == len({v.id for v in variants}) == 6
    for move in range(3):
        assert Counter(v.params["names"][move] for v in variants) == dict.fromkeys("JFB", 2)
    assert all(v.params["rounds"] == 5 for v in variants)
    assert len({frozenset(pays(v)) for v in variants}) == 2  # rps turned round is rps again


def test_reordered_page_states_the_same_payoffs() -> None:
    variants = reorder_moves(instance("ipd"), 2)
    first, second = (page(v) for v in variants)
    assert "Option J or Option F?" in first and "Option F or Option J?" in second
    assert "Option: <F or J>" in second
    assert pays(variants[0]) == pays(variants[1])
    assert first.index("you pick Option J and") < first.index("you pick Option F and")
    assert second.index("you pick Option F and") < second.index("you pick Option J and")


def test_order_changes_the_listing_and_not_the_moves() -> None:
    model = Listener(says("Option: J"))
    registry.add("models", "listener", lambda name: model)
    agent = player_spec("language", model="listener", strategy="qa")
    for problem in reorder_moves(instance("ipd", rounds=2), 2):
        cell = Cell("both", (problem,), grid(agent=agent, partner=agent))
        ((_, setup),) = Study("s", "", (cell,)).trials()
        assert [m.action for m in moves(play(resolve_setup(setup)))] == [0, 0]


@pytest.mark.parametrize("names", ["JF", "JFB"])
def test_rotations_balance_labels_and_places(names: str) -> None:
    n = len(names)
    variants = counterbalance_moves(instance("rps" if n == 3 else "ipd"), names)
    assert len(variants) == n * n == len({v.id for v in variants})
    pairs = Counter(
        (v.params["names"][move], v.params["order"].index(move)) for v in variants for move in [0]
    )
    assert set(pairs.values()) == {1}  # every label of a move in every place, equally often
    for variant in variants:
        registry.game(variant.game).build(variant.params)


@pytest.mark.parametrize("order", [[0], [0, 0], [1, 2], [0, 1, 2]])
def test_order_that_leaves_a_move_out_is_refused(order: list[int]) -> None:
    with pytest.raises(BadInput, match="order must list each move once"):
        registry.game("ipd").build({"order": order})


def test_study_can_omit_scoring_strategies() -> None:
    study: Study = registry.entries("studies")["riemer2025"]
    remaining_study = without(study, ("lm", "social_lm"))
    kept_strategies = {
        w.params.get("strategy")
        for c in remaining_study.cells
        for x in c.lineups
        for w in x.values()
    }
    assert (
        not kept_strategies & {"lm", "social_lm"}
        and {"qa", "reflexion", "oracle"} <= kept_strategies
    )
    assert 0 < len(remaining_study.cells) < len(study.cells)


def test_omitting_a_strategy_removes_only_its_lineups() -> None:
    study: Study = registry.entries("studies")["kang2026"]

    def lineups(of: Study) -> list[tuple[str, dict[str, PlayerSpec]]]:
        return [(cell.name, line) for cell in of.cells for line in cell.lineups]

    def sits(line: dict[str, PlayerSpec]) -> bool:
        return any(player.params.get("strategy") == "cot" for player in line.values())

    remaining_lineups = lineups(without(study, ("cot",)))
    assert remaining_lineups == [(cell, line) for cell, line in lineups(study) if not sits(line)]
    assert len(remaining_lineups) < len(lineups(study))


def test_study_without_its_only_strategy_is_refused() -> None:
    with pytest.raises(BadInput, match="Without qa, no lineup of riemer2025_names is left"):
        without(registry.entries("studies")["riemer2025_names"], ("qa",))


def test_study_can_be_repeated_in_other_wordings():
    player = PlayerSpec("language", {"model": "embedded"})
    lineups = (
        {"agent": player, "partner": PlayerSpec("tit_for_tat")},
        {"agent": PlayerSpec("random"), "partner": PlayerSpec("tit_for_tat")},
    )
    cell = Cell("one", (instance("ipd"), instance("toma_po")), lineups)
    study = Study("mine", "words", (cell,))
    twins = {c.name: c for c in with_packs(study, ["twin"]).cells}
    assert set(twins) == {"one", "one, repeated_games_twin", "one, toma_po_twin"}
    new = twins["one, repeated_games_twin"]
    assert [i.game for i in new.instances] == ["ipd"] and len(new.lineups) == 1
    assert new.lineups[0]["agent"].params["pack"] == "repeated_games_twin"
    assert len(with_packs(study, ["all"]).cells) > 10
    with pytest.raises(BadInput, match="no words pack named"):
        with_packs(study, ["klingon"])
    bots = msgspec.structs.replace(study, cells=(Cell("b", cell.instances, lineups[1:]),))
    with pytest.raises(BadInput, match="No model of mine"):
        with_packs(bots, ["all"])
