"""A replay needs no model: none is opened, loaded or fetched, whoever played."""

from __future__ import annotations

import msgspec
import pytest

from sally import store
from sally.core.errors import BadInput
from sally.core.registry import registry
from sally.core.registry.study import Cell, Study, grid, instance, player_spec
from sally.models.stub import always
from sally.runner.check import cells_of, check
from sally.runner.local import orders
from sally.runner.run import run_study

POLICY = '{"first": "J", "rules": [], "otherwise": "J"}\nOption: J'


def study(player: str) -> Study:
    spec = player_spec(player, model="gone")
    lineups = grid(agent=spec, partner=player_spec("tit_for_tat"))
    return Study("with_a_model", "", (Cell("ipd", (instance("ipd", rounds=3),), lineups),))


@pytest.mark.parametrize("player", ["language", "policy_writer"])
def test_replay_does_not_open_a_model(player, tmp_path):
    registry.add("models", "gone", lambda name: always(POLICY))
    run_study(study(player), tmp_path)

    def opened(name: str) -> object:  # another maker, so what was opened before is not used again
        raise AssertionError(f"{name} was opened")

    registry.add("models", "gone", opened)
    episodes = store.load(tmp_path).episodes.values()
    replay_check = check(episodes, cells_of(tmp_path))
    assert (replay_check.replayed, replay_check.mismatches) == (1, [])
    wanted_orders = orders(study(player), open_models=False)
    assert [id for id, _, _ in wanted_orders] == [episode.id for episode in episodes]
    with pytest.raises(BadInput, match="gone was opened"):
        orders(study(player))


def test_parameters_are_checked_without_opening_a_model():
    cell = study("language").cells[0]
    (line,) = cell.lineups
    agent = msgspec.structs.replace(line["agent"], params={"model": "gone", "strategy": "none"})
    wrong = msgspec.structs.replace(cell, lineups=({**line, "agent": agent},))
    with pytest.raises(Exception, match="none"):
        orders(Study("wrong", "", (wrong,)), open_models=False)
