"""Golden conversations: what each strategy of kang2026 says to a model in each game of ToMA.

`python -m tests.games.toma.conversations` writes them anew; read them before you commit.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import tests.conftest  # noqa: F401  puts the fixture games on the shelf
from sally.core.log.events import Instance, PlayerSpec, Setup
from sally.core.match.drive import Driver
from sally.core.match.engine import Match
from sally.core.prompt.model import Message, Settings
from sally.core.registry import registry
from sally.models.stub import Scripted
from sally.runner.seating import players_of, resolve_setup

FOLDER = Path(__file__).parent
STRATEGIES = ("zero_shot", "self_consistency", "cot", "tom_cot", "tom_guide")
SEATS = {  # game: (the model's seat, who else sits there, what the model says)
    "toma_po": ("player", {}, "Predicted Action 1: Herbals\nAnswer: 2"),
    "toma_mg": ("player", {}, "Predicted Action 1: Dune Hall\nAnswer: 2"),
    "toma_sw": (
        "explorer",
        {"guide": "turn_taker", "eavesdropper": "worlds"},
        "ally agent's next action: WAIT\nMy Next Action: WAIT",
    ),
    "toma_ag": (
        "speaker",
        {"teammate": "hint_only", "opponent": "hint_only"},
        "Predicted Action 1: keeps your savings\nAction: Money lies there.",
    ),
}


def conversation(strategy: str) -> str:
    """All that was said in one short episode of every game."""
    return "\n".join(_of_game(game, strategy) for game in SEATS)


def _of_game(game: str, strategy: str) -> str:
    seat, others, reply = SEATS[game]
    texts: list[str] = []

    def script(messages: Sequence[Message], settings: Settings) -> str:
        pages = "\n".join(f"[{type(m).__name__.lower()}]\n{m.text}" for m in messages)
        texts.append(f"{pages}\n[reply]\n{reply}\n")
        return reply

    registry.add("models", "toma_recorder", lambda name: Scripted(script, name="toma_recorder"))
    registry._make_model.cache_clear()
    params = {"turns": 2} if game == "toma_sw" else {}
    with_ = {"n": 2} if strategy == "self_consistency" else None
    model = {"model": "toma_recorder", "strategy": strategy, "with_": with_}
    lineup = {s: PlayerSpec(player) for s, player in others.items()} | {
        seat: PlayerSpec("language", model)
    }
    match = Match(
        registry.game(game),
        resolve_setup(Setup(Instance(game, game, params), 1, lineup, retries=0)),
    )
    Driver(match, players_of(match)).run()
    return f"=== {game}, {strategy} ===\n" + "\n".join(texts)


def path_of(strategy: str) -> Path:
    return FOLDER / f"{strategy}.txt"
