"""A refused craft is told as refused: to the assessor, in scenes and so in every transcript."""

from __future__ import annotations

import pytest

from sally.core.display.scenes import tell
from sally.core.errors import BadInput
from sally.core.log.events import Forfeited, Instance, PlayerSpec, Setup, from_line, to_line
from sally.core.match.engine import Match
from sally.core.match.playback import replay_episode
from sally.core.registry import registry
from sally.core.rules.metric import Played
from sally.core.rules.probe import ProbeReport
from sally.games.tradecraft.actions import DONE, NO, PASS
from sally.games.tradecraft.assessor import record
from sally.games.tradecraft.instances import instance_set
from sally.papers.tradecraft2026.study import MOST_REFUSED, study
from tests.games.tradecraft.table import HANDS, P1, craft, match_of, play, propose

NO_SHEARS = craft({"coal": 1}, "shears")


def a_game_with_refusals() -> Match:
    match = match_of(max_turns=1)
    play(match, ("p1", propose("p2", {"coal": 1}, {"raw_iron": 1})))
    play(match, ("p2", NO))
    play(match, ("p1", NO_SHEARS), ("p2", DONE), ("p1", craft({"iron_ingot": 1}, "iron_nugget", 9)))
    return play(match, ("p1", DONE))


def test_assessor_prompt_marks_a_refused_craft() -> None:
    episode = from_line(to_line(a_game_with_refusals().episode()))
    spec = registry.game("tradecraft")
    lines = list(record(Played(spec, episode, replay_episode(spec, episode))))
    (tried,) = [line for line in lines if "shears from" in line]
    assert tried.strip().startswith("p1 tried to craft 1 pair of shears from 1 coal. Refused")
    assert any(line.strip() == "p1 crafts 9 iron nuggets from 1 iron ingot." for line in lines)


def test_transcript_marks_refused_crafts() -> None:
    answers = [s.answer for s in tell(a_game_with_refusals().episode()).scenes if s.seat == "p1"]
    (refused,) = [answer for answer in answers if "shears from" in answer]
    assert "(refused: " in refused
    assert not any("refused" in answer for answer in answers if "nugget" in answer)


def test_transcript_marks_a_refused_proposal() -> None:
    match = match_of(({"coal": 1}, {"stick": 1}, {"raw_iron": 1}), max_turns=1)
    play(match, ("p1", propose("p2", {}, {"raw_iron": 1})), ("p1", PASS))
    play(match, ("p1", DONE), ("p2", DONE), ("p3", DONE))
    first = next(s.answer for s in tell(match.episode()).scenes if s.seat == "p1")
    assert "refused: p2 cannot give that" in first


def test_partial_report_is_marked_as_partial() -> None:
    match = match_of(max_turns=1, arms={"p1": ("v0",)})
    match.answer((0, "p1", "v0", ""), ProbeReport({"coal": 3.0}))
    play(match, ("p1", PASS), ("p1", DONE), ("p2", DONE))
    answer = next(s.answer for s in tell(match.episode()).scenes if s.probe == "v0")
    assert answer.startswith("coal 3 (partial: nothing on birch planks, ")


def test_match_refuses_a_problem_of_another_game() -> None:
    lineup = {"p1": PlayerSpec("random"), "p2": PlayerSpec("random")}
    setup = Setup(Instance("mine", "ipd", {}), 1, lineup)
    with pytest.raises(BadInput, match="'mine' is a problem of ipd, not of tradecraft"):
        Match(registry.game("tradecraft"), setup)


# --- the study --------------------------------------------------------------------------------


def test_study_balances_grades_and_omits_the_recipe_book() -> None:
    grades = {
        instance.id: instance.grade for instance in instance_set("minecraft_core_2p_2").instances
    }
    for played in (20, 40):
        two, three = study(played=played).cells[:-2], study(played=played).cells[-2:]
        assert {len(p.params["hands"]) for cell in three for p in cell.instances} == {3}
        assert [len(cell.instances) for cell in three] == [12, 12]
        for cell in two:
            actual_grades = [grades[problem.id] for problem in cell.instances]
            assert [actual_grades.count(grade) for grade in (1, 2, 3, 4)] == [played // 4] * 4
            assert not any(problem.params["book"] for problem in cell.instances)


def test_ninth_failed_craft_in_a_row_ends_the_phase() -> None:
    match = play(match_of(HANDS, max_turns=1, most_refused=MOST_REFUSED), ("p1", PASS))
    play(match, ("p2", DONE))
    for _ in range(MOST_REFUSED):
        play(match, (P1, NO_SHEARS))
    assert not match.over
    play(match, (P1, NO_SHEARS))
    assert match.over
    assert [e.reason for e in match.events if isinstance(e, Forfeited)] == ["rejected"]


# --- words for people -------------------------------------------------------------------------


def test_moves_are_described_with_readable_item_names() -> None:
    words = match_of().context(P1).words
    offer = propose("p2", {"birch_planks": "5/3", "coal": "0.125"}, {"raw_iron": 2}, "Fair?")
    assert words.name(offer) == (
        'propose to p2: give 1 2/3 birch planks and 1/8 coal, get 2 raw iron. Message: "Fair?"'
    )
    assert words.name(propose("p2", {}, {"coal": 1})) == "propose to p2: give nothing, get 1 coal"
    assert words.name(NO) == "reject"
    assert words.name(craft({"iron_ingot": 1}, "iron_nugget", 9)) == (
        "craft 9 iron nuggets from 1 iron ingot"
    )
