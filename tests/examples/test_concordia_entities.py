"""Sally's partners as entities of Concordia, and entities as players, where it is installed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

pytest.importorskip("concordia.typing.entity", reason="needs gdm-concordia")

from concordia.associative_memory import basic_associative_memory
from concordia.environment.engines import simultaneous
from concordia.language_model import no_language_model
from concordia.prefabs.entity import minimal
from concordia.typing import entity as entities
from concordia_entities import EntityPlayer, PartnerEntity

import sally
from sally.core.errors import BadInput
from sally.core.log.events import Forfeited, Moved, Reported

OPTIONS = ("J", "F")


class Memory(no_language_model.NoLanguageModel):  # type: ignore[misc]
    """Chooses what the prompt says the other player did last, so that it must have observed it."""

    def __init__(self) -> None:
        super().__init__()
        self.prompts: list[str] = []

    def sample_choice(
        self, prompt: str, responses: Sequence[str], *, seed: int | None = None
    ) -> tuple[int, str, dict[str, Any]]:
        self.prompts.append(prompt)
        said = prompt.rpartition("the other player picked Option ")[2][:1]
        place = OPTIONS.index(said) if said in OPTIONS else 0  # lettered in the prompt
        return place, responses[place], {}


def alice(model: Any) -> Any:
    params = {"name": "Alice", "randomize_choices": False, "custom_instructions": "Play."}
    bank = basic_associative_memory.AssociativeMemoryBank(sentence_embedder=lambda text: np.ones(3))
    return minimal.Entity(params=params).build(model, bank)


class Script(entities.Entity):  # type: ignore[misc]
    name = "Alice"

    def __init__(self, moves: str) -> None:
        self.moves, self.seen = list(moves), list[str]()

    def observe(self, observation: str) -> None:
        self.seen.append(observation)

    def act(self, action_spec: Any = None) -> str:
        self.seen.append(action_spec.call_to_action)
        return self.moves.pop(0)


class GameMaster(entities.Entity):  # type: ignore[misc]
    """Asks both players at once and then tells them what happened, as Concordia's engine wants."""

    name = "rules"

    def __init__(self, rounds: int) -> None:
        self._left, self._news, self.told = rounds, "A new game begins.", list[str]()

    def observe(self, observation: str) -> None:
        self._news = observation

    def act(self, action_spec: Any = None) -> str:
        kind = action_spec.output_type
        if kind == entities.OutputType.TERMINATE:
            self._left -= 1
            return "Yes" if self._left < 0 else "No"
        if kind == entities.OutputType.NEXT_ACTING:
            return "Alice,Bob"
        if kind == entities.OutputType.NEXT_ACTION_SPEC:
            return "prompt: Which option?;;type: choice;;options: J, F"
        if kind == entities.OutputType.RESOLVE:
            self.told.append(self._news)
        return self._news


def test_partner_plays_in_concordias_engine() -> None:
    bob = PartnerEntity("Bob", "Alice", "tit_for_tat", OPTIONS, rounds=5)
    master, other_script = GameMaster(5), Script("JFFJF")
    simultaneous.Simultaneous().run_loop([master], [other_script, bob], max_steps=5)
    played = [line for told in master.told for line in told.splitlines()]
    assert [line.rpartition(" ")[2] for line in played[1::2]] == list("JJFFJ")
    assert all("Bob" in line for line in played[1::2])


def test_partner_error_names_the_missing_observation() -> None:
    bob = PartnerEntity("Bob", "Alice", "tit_for_tat", OPTIONS, rounds=3)
    choose = entities.choice_action_spec(call_to_action="Which?", options=OPTIONS)
    assert bob.act(choose) == "J"
    bob.observe("Bob: F and nothing about the other")
    with pytest.raises(BadInput, match="named the move of Alice in round 1"):
        bob.act(choose)
    bob.observe("Bob picked J. Later Alice picked F.")
    assert bob.act(choose) == "F"
    with pytest.raises(BadInput, match="options offered are none"):
        bob.act(entities.DEFAULT_ACTION_SPEC)


def test_entity_plays_in_sally_and_observes_every_line_once() -> None:
    model = Memory()
    against = [1, 0, 1, 1]
    episode = sally.play(
        "ipd",
        {
            "agent": EntityPlayer(lambda: alice(model)),
            "partner": lambda t: against[t.view.round - 1],
        },
        probes={"agent": ["their_move"]},
        rounds=4,
    )
    moves = [e.action for e in episode.events if isinstance(e, Moved) and e.seat == "agent"]
    assert moves == [0, 1, 0, 1]  # it copies the other, from what its memory holds
    reports = [e.value for e in episode.events if isinstance(e, Reported)]
    assert reports == moves  # asked before each move, it expects the other's last move again
    assert model.prompts[-1].count("Round 2") == 1


def test_reply_outside_options_forfeits_and_each_match_gets_new_entity() -> None:
    scripts: list[Script] = []

    def new() -> Script:
        scripts.append(Script("J?F"))
        return scripts[-1]

    player = EntityPlayer(new)
    for seed in (1, 2):
        lineup = {"agent": player, "partner": "tit_for_tat"}
        episode = sally.play("ipd", lineup, seed=seed, rounds=3)
        (forfeit,) = [e for e in episode.events if isinstance(e, Forfeited)]
        assert (forfeit.turn, forfeit.seat) == (1, "agent")
    assert len(scripts) == 2 and all(not script.moves for script in scripts)
