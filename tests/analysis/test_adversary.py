"""Shallow learners attack every generator and every frozen set; what leaks is found."""

from __future__ import annotations

from importlib.util import find_spec
from itertools import islice

import numpy as np
import pytest
from msgspec.structs import replace

from sally.analysis.design.adversary import MARGIN, Finding, attack_of, run_attacks, tabulate
from sally.analysis.design.audit import card_of
from sally.core.errors import BadInput
from sally.core.registry import registry
from sally.core.rules.card import Attack, CardQuestion
from sally.games.toma.po.surface import attacks, own_row

# found and not loaded: of the processes that gather the tests only one runs these
pytestmark = pytest.mark.skipif(find_spec("sklearn") is None, reason="needs scikit-learn")
FIXTURES = {"cups", "haggle"}
FAMILIES = sorted({spec.family or spec.name for spec in registry.games().values()} - FIXTURES)
ATTACKS = [attack for family in FAMILIES for attack in card_of(family).attacks]
SHORT = 240  # questions of the short form: what leaks badly shows, what leaks a little does not
DEAR = 20  # of the minority game, whose scenarios take long; tests/games/toma proves it by counting
ALLOWED = 4.0  # standard errors, as some forty attackers are tried


def sure(item: Finding) -> bool:
    """Whether a finding is above chance plus margin beyond what luck gives."""
    error = np.sqrt(item.chance * (1 - item.chance) / item.n)
    return bool(item.accuracy > item.chance + MARGIN + ALLOWED * error)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_card_declares_attacks_or_a_reason_for_none(family: str) -> None:
    card = card_of(family)
    assert bool(card.attacks) != bool(card.unattacked)


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_attacks_not_declared_as_leaks_do_not_beat_chance(attack: Attack) -> None:
    findings = attack_of(attack, DEAR if "mentions" in attack.name else SHORT, seed=5)
    assert {finding.attacker for finding in findings} == {
        "single feature",
        "logistic",
        "boosted trees",
    }
    assert {finding.questions for finding in findings} == {
        "fresh",
        *(["frozen"] if attack.frozen else []),
    }
    if not attack.reasoning and not attack.known:
        assert not [finding for finding in findings if sure(finding)]


def planted(share: float) -> Attack:
    """Four options of which the greatest first number is right with some chance."""

    def fresh(count: int, seed: int) -> list[CardQuestion]:
        rng = np.random.default_rng(seed)
        rows = []
        for _ in range(count):
            numbers = rng.random((4, 2))
            best = int(numbers[:, 0].argmax())
            right = best if rng.random() < share else int(rng.integers(4))
            rows.append(CardQuestion(tuple(map(tuple, numbers.tolist())), right))
        return rows

    return Attack("planted", ("size", "weight"), fresh)


def test_planted_leak_is_found_and_named() -> None:
    findings = attack_of(planted(0.5), 600, seed=1)
    assert all(finding.leaks for finding in findings)
    assert findings[0].words == "the greatest size"
    assert not any(sure(finding) for finding in attack_of(planted(0.0), 600, seed=1))


def test_mission_failure_is_an_option_without_a_cost() -> None:
    attack = next(iter(attacks()))  # level 1, own row
    table = tabulate(attack, attack.fresh(40, 1))
    assert table.questions == 40 and len(table.columns) == 200
    assert np.isnan(table.columns[4, 0]) and table.columns[4, 3] == 1.0


def test_game_without_attack_is_refused_with_the_reason() -> None:
    with pytest.raises(BadInput, match="no attacks by learners: no clue is right in itself"):
        run_attacks("toma_ag")


def test_too_few_questions_are_refused() -> None:
    with pytest.raises(BadInput, match="at least 20 questions, not 12"):
        attack_of(planted(0.5), 12, seed=1)


def test_question_with_a_number_too_many_is_refused() -> None:
    with pytest.raises(BadInput, match="declares 1 features, but one of its questions has 2"):
        attack_of(replace(planted(0.5), features=("size",)), 40, seed=1)


def test_rank_of_right_option_in_own_rows_is_uniform() -> None:
    from sally.games.toma.po.generators import scenarios

    card_questions = [own_row(s) for s in islice(scenarios(3, 8), 40)]
    ranks = [sorted(o[0] for o in p.options).index(p.options[p.right][0]) for p in card_questions]
    assert [ranks.count(r) for r in range(4)] == [10, 10, 10, 10]


def test_every_registered_card_has_attacks_or_a_long_reason():
    for family in registry.packages():
        card = registry.card(family)
        assert card is None or bool(card.attacks) != (len(card.unattacked) > 40), family
