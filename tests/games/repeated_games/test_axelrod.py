"""Strategies of the Axelrod library as partners: the same moves as in the library's own matches."""

from __future__ import annotations

import importlib
import re
from typing import Any

import pytest

from sally.core.errors import BadInput, install_command
from sally.core.rules.chance import derived_seed
from sally.games.repeated_games.partners.axelrod import library
from sally.games.repeated_games.rules import AGENT, PARTNER, Joint
from tests.games.repeated_games.sitting import moves, partner, rules, said, shown, turn_after


def axelrod() -> Any:
    """The library as the partner loads it, in a third of the time that an import takes."""
    try:
        return library()
    except BadInput as why:
        pytest.skip(str(why))


def test_missing_library_error_states_the_install_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def absent(name: str) -> None:
        raise ImportError(name)

    module = importlib.import_module("sally.games.repeated_games.partners.axelrod")
    monkeypatch.setattr(module, "import_module", absent)
    with pytest.raises(BadInput, match=re.escape(install_command("axelrod"))):
        partner("axelrod").make(rules("ipd"), PARTNER)


def test_settings_that_are_not_given_by_name_are_refused() -> None:
    with pytest.raises(BadInput, match="settings must give the settings of the strategy by name"):
        partner("axelrod").make(rules("ipd"), PARTNER, settings="x")


def test_axelrod_partner_plays_its_declared_lines() -> None:
    axelrod()
    player = partner("axelrod")
    for line in player.lines:
        game = rules(line.game)
        script = player.make(game, PARTNER, **line.params)
        against = said(line.against, game.names_of(AGENT))
        assert shown(moves(script, game, against), "JF", line.plays) == line.plays


@pytest.mark.parametrize(
    "strategy", ["Win-Stay Lose-Shift", "ForgetfulFoolMeOnce", "EvolvedFSM16", "Adaptive", "Random"]
)
def test_moves_equal_those_of_a_library_match(strategy: str) -> None:
    axl = axelrod()
    game, seed = rules("ipd", rounds=60), 5
    against = [int(n % 7 in (2, 3, 6)) for n in range(60)]
    ours = moves(
        partner("axelrod").make(game, PARTNER, strategy=strategy), game, against, seed=seed
    )
    made = {
        **{s.name: s for s in axl.all_strategies},
        **{s.__name__: s for s in axl.all_strategies},
    }
    them, us = (
        made[strategy](),
        axl.MockPlayer([axl.Action.D if m else axl.Action.C for m in against]),
    )
    them.set_match_attributes(length=60, game=axl.Game(r=8, s=0, t=10, p=5))
    them.set_seed(derived_seed(seed, PARTNER, "axelrod") % 2**32)
    other_rows = []
    for _ in range(60):
        pair = them.strategy(us), us.strategy(them)
        them.update_history(*pair)
        us.update_history(*reversed(pair))
        other_rows.append(int(pair[0] == axl.Action.D))
    assert ours == other_rows


def test_stochastic_strategy_does_not_depend_on_query_order() -> None:
    axelrod()
    game = rules("ipd")
    shared = partner("axelrod").make(game, PARTNER, strategy="GTFT")
    past: list[Joint] = [(1, 0), (1, 1), (0, 0), (1, 0)]
    for seed in (1, 2, 3):
        for length in (4, 2, 3):
            turn = turn_after(game, past[:length], seed=seed)
            alone = partner("axelrod").make(game, PARTNER, strategy="GTFT")
            assert shared(turn) == alone(turn)


def test_strategy_that_inspects_its_opponent_is_refused() -> None:
    axelrod()
    with pytest.raises(BadInput, match="can see only moves"):
        partner("axelrod").make(rules("ipd"), PARTNER, strategy="Darwin")
    with pytest.raises(BadInput, match="Tit For Tat"):
        partner("axelrod").make(rules("ipd"), PARTNER, strategy="Tit For Tatt")


def test_strategy_incompatible_with_the_payoffs_is_refused_early() -> None:
    axelrod()
    with pytest.raises(BadInput, match="ZD-GTFT-2 cannot play this game"):
        partner("axelrod").make(rules("ipd"), PARTNER, strategy="ZD-GTFT-2")
    with pytest.raises(BadInput, match="cannot play this game with settings"):
        partner("axelrod").make(rules("ipd"), PARTNER, settings={"speed": 3})
