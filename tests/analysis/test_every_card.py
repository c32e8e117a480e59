"""Every registered family of games has a card that finds scores above and below chance."""

from __future__ import annotations

import pytest

from sally.analysis.design.audit import audit_of, card_of, conditions_of, metrics_of
from sally.core.log.events import Setup, label
from sally.core.registry import registry
from sally.core.registry.study import study_of
from sally.core.rules.card import Card, Condition
from sally.runner.seating import resolve_setup

FIXTURES = {"cups", "haggle"}  # games of the tests, registered in tests/conftest.py
FAMILIES = sorted({spec.family or spec.name for spec in registry.games().values()} - FIXTURES)
CARDS: dict[str, Card] = {name: card_of(name) for name in FAMILIES}
CONDITIONS = [
    pytest.param(condition, id=f"{name}: {condition.name}")
    for name, card in CARDS.items()
    for condition in card.conditions
]


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_has_a_card_under_its_name(family: str) -> None:
    assert card_of(family).family == family


@pytest.mark.parametrize("game", sorted(set(registry.games()) - FIXTURES))
def test_every_game_has_a_condition(game: str) -> None:
    assert conditions_of(game)


@pytest.mark.parametrize("condition", CONDITIONS)
def test_condition_includes_every_shortcut_and_its_inverse(condition: Condition) -> None:
    assert condition.shortcuts
    players = condition.players
    for shortcut in condition.shortcuts:
        assert shortcut.rule in players
        assert shortcut.inverse in players
    assert len({label(player) for player in players}) == len(players)
    assert label(players[0]) == "random"


@pytest.mark.parametrize("condition", CONDITIONS)
def test_players_and_metrics_of_every_condition_resolve(condition: Condition) -> None:
    assert set(metrics_of(condition)) == set(condition.metrics)
    lineups = study_of("one", [condition], 1, 1).cells[0].lineups
    for lineup in lineups:
        resolve_setup(Setup(condition.instances[0], 1, lineup, arms=condition.arms))


@pytest.mark.parametrize("family", sorted(CARDS))
def test_audit_has_a_row_per_player_and_metric(family: str) -> None:
    card = CARDS[family]
    condition = card.conditions[0]
    rows = audit_of([condition], episodes=2, seed=1)
    expected_pairs = {
        (label(player), metric) for player in condition.players for metric in condition.metrics
    }
    assert {(row["player"], row["metric"]) for row in rows} == expected_pairs
    for row in rows:
        assert list(row)[:6] == ["condition", "player", "metric", "value", "interval", "episodes"]
        assert list(row)[6:] == ["method"]  # says why an interval is missing
        assert row["condition"] == condition.name
        assert row["episodes"] <= 2


def test_frozen_set_is_played_once_whatever_the_requested_episodes() -> None:
    frozen = [c for c in CARDS["pick_the_right_stuff"].conditions if c.name.startswith("frozen")]
    assert len(frozen) == 5
    for cell in study_of("many", frozen, episodes=100, seed=1).cells:
        assert (len(cell.instances), cell.repeats) == (60, 1)
