"""The checklist of claims: words that a store does not support are refused, with the reason."""

from __future__ import annotations

import json

import pytest

from sally.analysis.design.claims import ACTS_ON, KNOWS, THEORY, verdicts
from tests.analysis.profiles import profile_of
from tests.cli.test_commands import sally
from tests.metrics.test_habits import RPS, Bot, _measured

CYCLER = ("previous_move_plus", {"follow": 1.0})


def _verdict(bot: Bot, variants=RPS, partner=CYCLER):
    (verdict,) = verdicts(profile_of(_measured("rps", bot, variants, partner)))
    return verdict


def test_constant_player_earns_no_claim():
    """It foresees 'as last time', which is wrong against a cycler."""
    verdict = _verdict(Bot("label"))
    assert verdict.allowed_claims == ()
    assert any("always presses one key: label J" in reason for reason in verdict.refused[ACTS_ON])
    assert any(
        "beyond learning rules is not above 0" in reason for reason in verdict.refused[KNOWS]
    )


def test_forecast_explained_by_a_rule_does_not_count_as_knowledge():
    """Against a constant partner 'as last time' foresees everything."""
    verdict = _verdict(Bot("best"), partner=("single_action", {"action": 1}))
    assert any("nothing is left to know" in reason for reason in verdict.refused[KNOWS])
    assert (
        "the player is not shown to know anything that it could act on" in verdict.refused[ACTS_ON]
    )


def test_used_foresight_passes_and_theory_of_mind_requires_arms():
    verdict = _verdict(Bot("best", ahead=1))
    assert verdict.allowed_claims == (KNOWS, ACTS_ON)
    assert [reason.partition(",")[0] for reason in verdict.refused[THEORY]] == [
        "no arm without questions",
        "no arm with a mechanism instead of a mind (a words pack `*_twin`)",
        "no pairs of positions certify an order of 2 or more that neither tables of what followed "
        "nor short rules solve",
    ]


def test_four_clusters_are_too_few_for_any_claim():
    verdict = _verdict(Bot("best", ahead=1), RPS[:4])
    assert verdict.clusters == 4 and verdict.allowed_claims == ()
    assert verdict.refused[KNOWS][0].startswith("4 clusters")


@pytest.fixture(scope="module")
def demo_store(tmp_path_factory):
    tmp_path = tmp_path_factory.mktemp("store")
    done = sally(
        "run", "quickstart", "--game", "ibs", "--limit", "12", "--out", "held", cwd=tmp_path
    )
    assert done.returncode == 0
    return tmp_path


def test_command_prints_verdicts_and_json(demo_store):
    output = sally("profile", "--checklist", "held", cwd=demo_store).stdout
    assert "acts on refused" in output and "words are refused" in output
    rows = json.loads(sally("profile", "--checklist", "held", "--json", cwd=demo_store).stdout)
    assert {"player", "game", "refused", "clusters"} <= rows[0].keys()


def test_report_page_shows_the_verdict(demo_store):
    sally("report", "held", "--out", "page.html", cwd=demo_store)
    page = (demo_store / "page.html").read_text(encoding="utf-8")
    assert "Words that these episodes support" in page and "theory of mind" in page
