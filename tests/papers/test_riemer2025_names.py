"""The names study: every game and partner under four sets of names, none of them alike."""

from __future__ import annotations

from collections import Counter

from sally.core.registry import registry
from sally.papers.riemer2025.study import CANONICAL, NAMES_STUDY, REPEATED, name_sets


def test_every_game_has_both_partners_under_four_sets_of_names():
    cells = Counter(cell.instances[0].game for cell in NAMES_STUDY.cells)
    assert cells == {"rps": 8, "ibs": 8, "ipd": 8}
    assert len({cell.name for cell in NAMES_STUDY.cells}) == 24
    assert len({cell.instances[0].id for cell in NAMES_STUDY.cells}) == 12


def test_names_are_as_many_as_actions_and_all_different():
    for game, canonical in CANONICAL.items():
        for names in name_sets(game).values():
            parts = names.split()
            assert len(parts) == len(set(parts)) == len(canonical)
            registry.game(game).build({"names": parts})  # the game takes them
    assert all(len(name) == REPEATED for name in name_sets("rps")["repeated"].split())
