"""The registered study: balanced labels and orders, paired seeds, primary cells first."""

from __future__ import annotations

from collections import Counter

import msgspec
import pytest

from sally.analysis.design.registration import Registration, _hash
from sally.core.log.events import Instance, episode_id
from sally.core.registry import registry
from sally.players.language import OPEN
from sally.studies.knowing_doing import INSTANCES, PARTNERS, SECONDARY, STUDY


def _counts(problems: tuple[Instance, ...]) -> Counter[tuple[object, ...]]:
    """Count label by position, label by move and move by position."""
    counts: Counter[tuple[object, ...]] = Counter()
    for problem in problems:
        names, order = problem.params["names"], problem.params["order"]
        for position, move in enumerate(order):
            counts["label at", names[move], position] += 1
            counts["label of", names[move], move] += 1
            counts["move at", move, position] += 1
    return counts


@pytest.mark.parametrize("game", INSTANCES)
def test_labels_moves_and_positions_are_balanced(game):
    for problems in (INSTANCES[game], INSTANCES[game][: SECONDARY[game]]):
        by_kind: dict[object, set[int]] = {}
        for (kind, *_), many_count in _counts(problems).items():
            by_kind.setdefault(kind, set()).add(many_count)
        assert all(len(sizes) == 1 for sizes in by_kind.values()), by_kind
    assert len({item.id for item in INSTANCES[game]}) == 36


def test_half_of_the_instances_exchange_the_partners_labels():
    for game in ("ipd", "ibs"):
        matches = [item.params["names"] == item.params["partner_names"] for item in INSTANCES[game]]
        assert sum(matches) == 18 and sum(matches[: SECONDARY[game]]) == 8


def test_primary_cells_come_first_and_have_36_instances():
    kinds = [cell.name.partition(":")[0] for cell in STUDY.cells]
    assert kinds[:24] == ["primary"] * 24 and set(kinds[24:]) == {"secondary"}
    assert all(len(cell.instances) == 36 for cell in STUDY.cells[:24])


def test_arms_are_paired_by_seed():
    seeds: dict[str, set[int]] = {}
    for _, setup in STUDY.trials():
        seeds.setdefault(setup.instance.id, set()).add(setup.seed)
    assert all(len(seed) == 1 for seed in seeds.values())


@pytest.mark.parametrize("game", PARTNERS)
def test_every_partner_declares_an_automaton(game):
    """So optimal play is exact, and best replies look ahead."""
    spec = registry.game(game)
    rules = spec.build(INSTANCES[game][0].params)
    for player in PARTNERS[game].values():
        partner = registry.partners(game)[player.player]
        assert partner.automaton is not None
        partner.automaton(rules, "partner", **player.params)


def test_study_equals_the_registered_one(request):
    folder = request.config.rootpath / "docs" / "results" / "knowing_doing"
    for path in sorted(folder.glob("registration-*.json")):
        frozen = msgspec.json.decode(path.read_bytes(), type=Registration)
        model = f"hf:{path.stem.removeprefix('registration-')}"
        ids = sorted(episode_id(_with(setup, model)) for _, setup in STUDY.trials())
        assert frozen.ids == _hash(ids), path.name


def _with(setup, model: str):
    lineup = {
        seat: msgspec.structs.replace(player, params={**player.params, "model": model})
        if player.params.get("model") == OPEN
        else player
        for seat, player in setup.lineup.items()
    }
    return msgspec.structs.replace(setup, lineup=lineup)
