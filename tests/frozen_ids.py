"""Ids and bytes of model-free episodes: `python -m tests.frozen_ids [--all]` prints their hashes.

What is played and how it is stored must not change when code moves; `tests/test_frozen_ids.py`
compares a part of each study with the hashes written down in `tests/frozen_ids.json`.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

import msgspec

from sally.core.log.events import PlayerSpec, episode_id
from sally.core.registry import registry
from sally.core.registry.study import Cell, Study, instance, player_spec
from sally.players.language import LANGUAGE
from sally.runner.local import play
from sally.runner.orders import Order
from sally.runner.seating import portable_study, resolve_setup

STUDIES = (
    "quickstart",
    "tang2024",
    "tradecraft2026",
    "tradecraft_crossplay",
    "riemer2025",
    "bargaining",
    "bargaining_certified",
    "step_game",
    "cipher",
    "literal",
    "public_goods",
)
PART = 2  # episodes a cell in the short form
# No shipped study plays public goods.
PUBLIC_GOODS = Study(
    name="public_goods",
    about="five partners in one group",
    cells=(
        Cell(
            name="five partners",
            instances=(instance("public_goods", players=5, rounds=5),),
            lineups=(
                {
                    f"player_{n}": player_spec(name)
                    for n, name in enumerate(
                        ("free_rider", "giver", "conditional_cooperator", "matcher", "threshold"), 1
                    )
                },
            ),
            arms={"player_3": ("their_mean", "their_least")},
            repeats=2,
        ),
    ),
)


def model_free(study: Study) -> Study:
    """The lineups of a study in which no seat is a model's or left open for one."""
    free = [(cell, tuple(filter(_no_model, cell.lineups))) for cell in study.cells]
    kept_cells = [
        msgspec.structs.replace(cell, lineups=lineups) for cell, lineups in free if lineups
    ]
    return msgspec.structs.replace(study, cells=tuple(kept_cells))


def _no_model(lineup: Mapping[str, PlayerSpec]) -> bool:
    return all(player.player != LANGUAGE for player in lineup.values())


def rounded(value: Any) -> Any:
    """Return plain data with 12 significant digits: exponentials differ in the last one between
    processors."""
    if isinstance(value, float):
        return float(f"{value:.12g}")
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    return [rounded(item) for item in value] if isinstance(value, list | tuple) else value


def _first_of_each_lineup(study: Study, part: int | None) -> list[Order]:
    """The first episodes of each lineup of a cell; an episode of two cells counts for the first."""
    counts = Counter[tuple[str, bytes]]()
    first_orders: dict[str, Order] = {}
    for cell, setup in portable_study(study).trials():
        lineup = cell, msgspec.json.encode(setup.lineup, order="sorted")
        counts[lineup] += 1
        if part is None or counts[lineup] <= part:
            ready = resolve_setup(setup)
            episode = episode_id(ready)
            first_orders.setdefault(episode, (episode, cell, ready))
    return list(first_orders.values())


def frozen(name: str, part: int | None) -> dict[str, str | int]:
    """How many episodes, the hash of their ids, and the hash of their lines, in order of id."""
    result = PUBLIC_GOODS if name == PUBLIC_GOODS.name else registry.entries("studies")[name]
    study = model_free(result)
    ids, lines = blake2b(digest_size=16), blake2b(digest_size=16)
    played = sorted(_first_of_each_lineup(study, part), key=lambda order: order[0])
    for id_, cell, setup in played:
        ids.update(id_.encode())
        line = rounded(msgspec.to_builtins(play(setup, cell)))
        lines.update(msgspec.json.encode(line, order="deterministic"))
    return {"episodes": len(played), "ids": ids.hexdigest(), "lines": lines.hexdigest()}


def main() -> None:
    part = None if "--all" in sys.argv else PART
    for name in STUDIES:
        print(name, msgspec.json.encode(frozen(name, part)).decode(), flush=True)


if __name__ == "__main__":
    main()
