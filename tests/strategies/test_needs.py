"""A lineup that lacks what a strategy needs is refused in one sentence before it costs a thing."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from sally.core.errors import BadInput
from sally.core.log.events import Injection, PlayerSpec
from sally.core.registry import registry
from sally.runner.seating import resolve_setup
from tests.strategies.talk import MINE, ORACLE, THEIRS, Listener, says, setup_with
from tests.table import table


def refuse(scores: bool = True, **setup: Any) -> str:
    registry.add("models", "listener", lambda name: Listener(says("Option: J"), scores))
    with pytest.raises(BadInput) as error:
        resolve_setup(setup_with(**setup))
    sentence = str(error.value)
    assert sentence.endswith((".", "?")) and "\n" not in sentence
    return sentence


def accept(scores: bool = True, **setup: Any) -> None:
    registry.add("models", "listener", lambda name: Listener(says("Option: J"), scores))
    resolve_setup(setup_with(**setup))


def with_names(*names: str, strategy: str = "lm") -> Any:
    setup = setup_with(strategy, game="ipd")
    problem = msgspec.structs.replace(setup.instance, params={"names": list(names)})
    return msgspec.structs.replace(setup, instance=problem)


@pytest.mark.parametrize("name", ["oracle", "oracle_max"])
def test_oracle_strategy_requires_an_injection(name: str) -> None:
    assert "has to be told what others do; add an injection for this seat" in refuse(strategy=name)
    their_injection = Injection("partner", "their_move")  # type: ignore[arg-type]
    assert "has to be told" in refuse(strategy=name, injected=(their_injection,))
    accept(strategy=name, injected=(ORACLE,))


@pytest.mark.parametrize("name", ["lm", "social_lm"])
def test_model_that_cannot_score_is_refused_by_scoring_strategies(name: str) -> None:
    assert "cannot score candidates" in refuse(scores=False, strategy=name)
    accept(scores=False, strategy="qa")


@pytest.mark.parametrize("name", ["lm", "social_lm"])
def test_names_that_are_prefixes_of_others_are_refused_for_scoring(name: str) -> None:
    registry.add("models", "listener", lambda model: Listener(says("")))
    with pytest.raises(BadInput, match="'Rice' is the beginning of 'Rice cake'"):
        resolve_setup(with_names("Rice", "Rice cake", strategy=name))
    resolve_setup(with_names("Rice", "Rice cake", strategy="qa"))
    resolve_setup(with_names("Rice", "Pasta", strategy=name))


def test_choosing_by_name_needs_a_menu() -> None:
    registry.add("models", "listener", lambda name: Listener(says("")))
    agent = PlayerSpec("language", {"model": "listener", "strategy": "lm"})
    with pytest.raises(BadInput, match="moves that are written freely"):
        table("haggle", ada=agent)


@pytest.mark.parametrize("name", ["social_qa", "social_lm", "tom_cot", "tom_guide"])
def test_predicting_strategies_need_a_probe(name: str) -> None:
    registry.add("models", "listener", lambda model: Listener(says("")))
    seeker = PlayerSpec("language", {"model": "listener", "strategy": name})
    with pytest.raises(BadInput, match="asks this seat no question with choices"):
        table("cups", seeker=seeker)  # only the hider is asked one
    table("cups", hider=seeker)


@pytest.mark.parametrize("name", ["social_qa", "social_lm"])
def test_predict_first_strategies_refuse_their_move_given_mine(name: str) -> None:
    reason = refuse(strategy=name, arm=MINE)
    assert "cannot be asked 'their_move_given_mine'" in reason and "ask their_move or" in reason
    accept(strategy=name, arm=THEIRS)


def test_payoffs_cannot_be_removed_if_the_words_need_them() -> None:
    registry.add("models", "listener", lambda name: Listener(says("")))
    hider = {"model": "listener", "strategy": "oracle_max", "with_": {"payoffs": False}}
    injected = (Injection("hider", "false_belief"),)  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="cannot leave the payoffs out"):
        table("cups", injections=injected, hider=PlayerSpec("language", hider))


@pytest.mark.parametrize(
    ("strategy", "with_", "why"),
    [
        ("reflexion", {"memory": 4}, "memory of reflexion must be from 1 to 3, not 4"),
        ("reflexion", {"memory": "1"}, "memory of strategy reflexion must be a whole number"),
        ("reflexion", {"memroy": 1}, "did you mean memory"),
        ("self_consistency", {"n": 0}, "n of self_consistency must be at least 1"),
        ("oracle_max", {"payoffs": "off"}, "payoffs of strategy oracle_max must be true or false"),
        ("qa", {"n": 3}, "There is no parameter of strategy qa"),
    ],
)
def test_invalid_parameters_are_refused(strategy: str, with_: dict[str, Any], why: str) -> None:
    injected = (ORACLE,) if strategy == "oracle_max" else ()
    assert why in refuse(strategy=strategy, injected=injected, **with_)


def test_open_seat_error_asks_for_a_model() -> None:
    setup = setup_with("qa", params={"model": "model"})
    with pytest.raises(BadInput, match="name its model, such as embedded"):
        resolve_setup(setup)
