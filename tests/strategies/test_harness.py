"""How a page is laid out is declared, seen on the page, and read back."""

from __future__ import annotations

import pytest

import sally
from sally.analysis.design.variance import factor_scores, sources
from sally.core.errors import BadInput
from sally.core.log.events import Moved, PlayerSpec, label
from sally.core.registry import registry
from sally.frames.frame import as_frame
from sally.models.stub import always, reply_in_order
from sally.runner.check import check, prompts_of
from sally.studies.arms import vary_harness

OPTION = "Answer with one line of this form"


def player(reply="Option: J", **harness):
    registry.add("models", "harnessed", lambda name: always(reply))
    registry._make_model.cache_clear()
    params = {"model": "harnessed", "strategy": "qa"} | ({"harness": harness} if harness else {})
    return PlayerSpec("language", params)


def last_page(actual_player, rounds=5):
    episode = sally.play("ipd", {"agent": actual_player, "partner": "tit_for_tat"}, rounds=rounds)
    assert check([episode]).mismatches == []
    prompts = prompts_of(episode)
    (page,) = prompts[rounds - 1, "agent", "", ""][0]
    return page.text, episode


def test_page_without_harness_shows_full_history_and_options():
    page, _ = last_page(player())
    assert page.count("Round ") == 4 and OPTION in page


def test_window_shows_the_last_lines_only():
    page, _ = last_page(player(history=2))
    assert "Round 4" in page and "Round 3" in page and "Round 2" not in page
    none, _ = last_page(player(history=0))
    assert "Round " not in none and "This is round 5." in none


def test_question_can_be_placed_first():
    page, _ = last_page(player(question="first"))
    assert page.startswith("Which option do you pick") and page.count("Which option do you") == 2


def test_options_can_be_unlisted_in_the_answer_format():
    page, _ = last_page(player(options="unlisted"))
    assert "`Option: <name>`." in page and OPTION not in page


def test_answer_can_be_json():
    page, episode = last_page(player('{"answer": "F"}', answer="json"))
    assert '{"answer": "<name>"}, where <name> is one of J, F.' in page
    assert {e.action for e in episode.events if isinstance(e, Moved) and e.seat == "agent"} == {1}
    wrong = sally.play(
        "ipd", {"agent": player("Option: J", answer="json"), "partner": "tit_for_tat"}, rounds=2
    )
    assert any(type(e).__name__ == "Forfeited" for e in wrong.events)


def test_invalid_harness_is_refused():
    for params, reason in (({"history": -1}, "at least 0"), ({"colour": "red"}, "colour")):
        with pytest.raises(BadInput, match=reason):
            sally.play("ipd", {"agent": player(**params), "partner": "tit_for_tat"}, rounds=1)


def test_harness_design_crosses_choices_and_variance_separates_them():
    registry.add("models", "crossed", lambda name: reply_in_order(["Option: J"] * 10_000))
    spec = PlayerSpec("language", {"model": "crossed"})
    several_players = vary_harness(spec, history=(None, 1), question=(None, "first"))
    assert len(several_players) == 4 and several_players[0] == spec
    assert label(several_players[3]).endswith("history=1 question=first")
    played = [
        sally.play("ipd", {"agent": several_player, "partner": partner}, rounds=2)
        for several_player in several_players
        for partner in ("tit_for_tat", "random", "grim_trigger")
    ]
    (source,) = sources(factor_scores(as_frame(played)))
    assert {"history", "question", "partner"} <= set(source.shares.levels)
    with pytest.raises(BadInput, match="harness"):
        vary_harness(spec, answer=("xml",))
