"""Players, models and other entries that are given as objects."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import replace
from typing import Any

import pytest

import sally
from sally.core.code_hash import code_hash
from sally.core.errors import BadInput
from sally.core.event_loop import run_coroutine
from sally.core.log.events import PlayerSpec
from sally.core.registry import registry
from sally.core.registry.fingerprint import fingerprint
from sally.core.registry.objects import OBJECT, ObjectNames, as_player, bound_object
from sally.core.registry.study import instance


def rock(turn: Any) -> Any:
    return turn.choose("rock")


class Learner:
    """A player with a setting."""

    def __init__(self, move: int) -> None:
        self.move = move

    def decide(self, turn: Any) -> Any:
        return sally.core.match.player.Decision(self.move)


class Mine:
    """A model that cannot score."""

    name = "mine"

    async def complete(self, messages: Any, settings: Any = None, tools: Any = ()) -> sally.Reply:
        return sally.Reply("Option: R")


@pytest.fixture(autouse=True)
def clean_registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    kept_entries = {folder: dict(entries) for folder, entries in registry._added.items()}
    monkeypatch.setattr(registry, "_added", kept_entries)
    monkeypatch.setattr(registry, "_objects", {})
    registry._results.clear()
    yield
    registry._results.clear()


@pytest.mark.parametrize(
    "player",
    ["random", ("random", {}), PlayerSpec("random")],
    ids=["name", "name and parameters", "spec"],
)
def test_named_players_have_one_spec(player: Any) -> None:
    assert as_player(player) == PlayerSpec("random")


@pytest.mark.parametrize(
    ("player", "why"),
    [
        (("random", 1), "a tuple must be"),
        ((rock, 1), "a tuple must be"),
        (Learner, r"class Learner; give an instance of it, such as Learner\(\)"),
        (3, "a function of a turn"),
    ],
)
def test_value_that_is_no_player_is_refused_with_its_seat(player: Any, why: str) -> None:
    with pytest.raises(BadInput, match=f"Seat 'agent' has .*{why}"):
        sally.play("rps", {"agent": player, "partner": "random"})


def test_two_objects_of_one_name_stay_apart() -> None:
    lineup = {"agent": Learner(0), "partner": Learner(1)}
    episode = sally.play("rps", lineup, rounds=2)
    names = [spec.player for spec in episode.setup.lineup.values()]
    assert names == ["own:Learner", "own:Learner-2"]
    moves = {event.seat: event.action for event in episode.events[:2]}
    assert moves == {"agent": 0, "partner": 1}


def test_one_function_in_two_seats_has_one_name() -> None:
    episode = sally.play("rps", {"agent": rock, "partner": rock}, rounds=1)
    assert {spec.player for spec in episode.setup.lineup.values()} == {"own:rock"}


def test_partners_of_a_function_have_their_versions() -> None:
    with_function = sally.play("rps", {"agent": rock, "partner": "tit_for_tat"}, rounds=1)
    with_names = sally.play("rps", {"agent": "random", "partner": "tit_for_tat"}, rounds=1)
    assert with_function.setup.lineup["partner"] == with_names.setup.lineup["partner"]


def test_name_stands_for_its_object_only_during_the_call() -> None:
    episode = sally.play("rps", {"agent": rock, "partner": "random"}, rounds=1)
    assert bound_object("own:rock") is None
    with pytest.raises(BadInput, match="passed to an earlier call; pass it again"):
        sally.play("rps", dict(episode.setup.lineup), rounds=1)


def test_object_as_a_parameter_is_refused() -> None:
    with pytest.raises(
        BadInput, match=r"Seat 'agent': the parameter of of noisy is .*only `model`"
    ):
        sally.play("rps", {"agent": ("noisy", {"of": rock}), "partner": "random"})


def test_model_must_be_able_to_complete() -> None:
    with pytest.raises(BadInput, match="an object with a method `complete`, not 3"):
        sally.play("rps", {"agent": ("language", {"model": 3}), "partner": "random"})


def test_learner_takes_any_player_as_opponent() -> None:
    pytest.importorskip("gymnasium")
    from sally.adapters.rl.gymnasium import SeatEnv

    env = SeatEnv("rps", others={"partner": rock}, rounds=3)
    env.reset(seed=1)
    assert [env.step(1)[1] for _ in range(3)] == [1.0, 1.0, 1.0]
    env.reset(seed=2)
    assert env.table.match.setup.lineup["partner"] == PlayerSpec("own:rock")


def test_cell_accepts_players_and_probes_in_every_way() -> None:
    lineup = {"agent": rock, "partner": ("constant", {"place": 1})}
    cell = sally.Cell("one", (instance("rps"),), [lineup], arms={"agent": "their_move"})  # type: ignore[arg-type, list-item, dict-item]
    assert cell.arms == {"agent": ("their_move",)}
    assert cell.lineups[0]["partner"] == PlayerSpec("constant", {"place": 1})
    assert OBJECT in cell.lineups[0]["agent"].params
    names = ObjectNames()
    assert names.lineup(cell.lineups[0])["agent"] == PlayerSpec("own:rock")
    assert list(names.objects) == ["own:rock"]


# --- the hash of code ---------------------------------------------------------------------------


def _constant(action: int) -> Any:
    def play(turn: Any) -> int:
        return action

    return play


def test_hash_follows_code_closure_and_settings() -> None:
    assert code_hash(_constant(0)) == code_hash(_constant(0)) != code_hash(_constant(1))
    assert code_hash(Learner(0)) == code_hash(Learner(0)) != code_hash(Learner(1))
    assert code_hash(Learner(0).decide) != code_hash(Learner(1).decide)
    assert code_hash(rock) != code_hash(lambda turn: turn.choose("paper"))
    assert code_hash(registry.game("rps")) == code_hash(registry.game("rps"))


def test_hash_of_an_object_that_contains_itself_ends() -> None:
    learner = Learner(0)
    learner.other = learner  # type: ignore[attr-defined]
    assert code_hash(learner) == code_hash(learner)


# --- register -----------------------------------------------------------------------------------


def test_registered_objects_are_used_by_name() -> None:
    assert sally.register(rock) == "rock"
    assert sally.register(Learner(1), "learner") == "learner"
    assert sally.register(Mine()) == "mine"
    study = sally.Study("mine", "", (sally.Cell("a", (instance("rps", rounds=1),), [
        {"agent": "rock", "partner": "learner"},
        {"agent": ("language", {"model": "mine"}), "partner": "random"}]),))  # type: ignore[arg-type]  # fmt: skip
    assert sally.register(study) == "mine"
    assert len(sally.run("mine")) == 2
    with pytest.raises(BadInput, match=r"objects of this process \(learner, mine and rock\)"):
        sally.run("mine", on="pool:2")


def test_registered_game_metric_and_partner() -> None:
    game = replace(registry.game("rps"), name="stones", family="")
    metric = sally.Metric("length", "rounds played", lambda played, seat: float(len(played.replay)))
    partner = registry.partners("repeated_games")["tit_for_tat"]
    assert sally.register(game) == "stones"
    assert sally.register(metric) == "length"
    assert sally.register(replace(partner, name="stone"), game="stones") == "stone"
    episode = sally.play("stones", {"agent": rock, "partner": ("stone", {})}, rounds=4)
    (row,) = sally.score([episode], ["length"], seat="agent")
    assert row["value"] == 4


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        (registry.game("rps"), "already has 'rps' among its games"),
        (sally.Metric("reward", "", lambda played, seat: 0.0), "among its metrics"),
        (Learner, r"register an instance, Learner\(\)"),
        (3, "cannot be registered"),
        (lambda turn: 0, "<lambda> is not a name"),
        (
            registry.partners("repeated_games")["tit_for_tat"],
            "Name the game of the partner tit_for_tat",
        ),
    ],
)
def test_entry_that_cannot_be_registered_is_refused(entry: Any, why: str) -> None:
    with pytest.raises(BadInput, match=why):
        sally.register(entry)


def test_player_must_not_have_the_name_of_a_partner() -> None:
    with pytest.raises(BadInput, match="already has 'tit_for_tat' among its players"):
        sally.register(rock, "tit_for_tat")


def test_fingerprint_changes_with_a_registered_metric() -> None:
    fingerprint_before = fingerprint()
    sally.register(sally.Metric("mine", "", lambda played, seat: 0.0))
    first = fingerprint()
    sally.register(sally.Metric("mine", "", lambda played, seat: 1.0))
    assert len({fingerprint_before, first, fingerprint()}) == 3


# --- event loops --------------------------------------------------------------------------------

COLOUR: ContextVar[str] = ContextVar("colour", default="none")


async def _threads() -> tuple[str, str]:
    await asyncio.sleep(0)
    return threading.current_thread().name, COLOUR.get()


def test_coroutine_runs_in_this_thread_without_a_loop() -> None:
    assert run_coroutine(_threads())[0] == threading.current_thread().name


def test_coroutine_runs_in_another_thread_inside_a_loop() -> None:
    async def outside() -> tuple[str, str]:
        COLOUR.set("red")
        return run_coroutine(_threads())

    thread, colour = asyncio.run(outside())
    assert thread.startswith("sally")
    assert colour == "red"


def test_exception_of_the_coroutine_is_raised_inside_a_loop() -> None:
    async def fails() -> None:
        raise BadInput("wrong")

    async def outside() -> None:
        run_coroutine(fails())

    with pytest.raises(BadInput, match="wrong"):
        asyncio.run(outside())


def test_registered_strategy_is_used_by_name() -> None:
    strategy = replace(registry.entries("strategies")["qa"], name="my_own")
    assert sally.register(strategy) == "my_own"
    agent = ("language", {"model": Mine(), "strategy": "my_own"})
    episode = sally.play("rps", {"agent": agent, "partner": "random"}, rounds=1)
    assert episode.setup.lineup["agent"].params == {"model": "own:mine", "strategy": "my_own"}
