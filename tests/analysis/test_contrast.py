"""The same player under two conditions."""

from __future__ import annotations

import msgspec
import pytest

import sally
from sally.analysis.compare.contrast import NOT_ASKED, OWN_WORDS, Contrast, Of, conclusion
from sally.analysis.compare.contrast import contrast as contrast_of
from sally.api.studies import find_study
from sally.core.errors import BadInput
from sally.core.log.events import Injection, PlayerSpec
from sally.frames.frame import Source, as_frame
from sally.studies.arms import with_unasked

ASKED = {"agent": ("their_move",)}


def contrast(source: Source, of: Of, **options) -> list[Contrast]:
    """Return the contrasts of episodes."""
    return contrast_of(as_frame(source), of, **options)


def games(agent="random", probes=None, seeds=range(6), **options):
    lineup = {"agent": agent, "partner": "tit_for_tat"}
    return [sally.play("ipd", lineup, seed, probes=probes, rounds=5, **options) for seed in seeds]


def test_probing_a_bot_changes_nothing_and_is_reported_identical():
    (actual_contrast,) = contrast([*games(probes=ASKED), *games()], "asked")
    assert (actual_contrast.condition, actual_contrast.base) == ("asked their_move", NOT_ASKED)
    assert actual_contrast.comparison.alike and actual_contrast.comparison.difference.value == 0
    assert conclusion([actual_contrast])[0].endswith("identical in ipd (reward_per_round).")


def test_player_that_changes_play_when_probed_is_detected():
    def turncoat(asked):
        kind = PlayerSpec("single_action", {"action": 0 if asked else 1})
        actual_games = games(kind, probes=ASKED if asked else None, seeds=range(8))
        name = PlayerSpec("turncoat")
        return [
            msgspec.structs.replace(
                e, setup=msgspec.structs.replace(e.setup, lineup={**e.setup.lineup, "agent": name})
            )
            for e in actual_games
        ]

    (actual_contrast,) = contrast([*turncoat(True), *turncoat(False)], "asked")
    assert actual_contrast.comparison.difference.value > 0 and actual_contrast.comparison.pairs == 8


def test_different_players_or_seeds_are_not_paired():
    with pytest.raises(BadInput, match="--unasked"):
        contrast([*games("tabular", ASKED), *games("random")], "asked")
    with pytest.raises(BadInput, match="--unasked"):
        contrast([*games(probes=ASKED, seeds=range(6)), *games(seeds=range(6, 12))], "asked")
    with pytest.raises(BadInput, match=f"the base is {OWN_WORDS}"):
        contrast(games(), "twin")


def test_showing_own_answers_is_a_separate_condition():
    own_injections = (Injection("agent", "their_move", "own"),)
    contrasts = contrast(
        [*games(probes=ASKED, injections=own_injections), *games(probes=ASKED), *games()], "asked"
    )
    assert {c.condition for c in contrasts} == {
        "asked their_move",
        "asked their_move, own answers shown",
    }


def test_study_is_repeated_without_its_probes():
    study = with_unasked(find_study("quickstart"))
    cells = {cell.name: cell for cell in study.cells}
    assert cells["rps, not asked"].arms == {} and cells["rps"].arms
    assert cells["rps, not asked"].instances == cells["rps"].instances
    with pytest.raises(BadInput, match="asks no probes"):
        with_unasked(msgspec.structs.replace(study, cells=(cells["rps, not asked"],)))
