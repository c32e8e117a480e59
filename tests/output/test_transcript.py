"""Transcripts: the referee knows all, a seat only what it saw, was asked and was told."""

from __future__ import annotations

import msgspec
import pytest

import sally
from sally.core.log.events import Injection, Reported, Told
from sally.core.registry import registry
from tests.fixtures import cups, haggle

LINEUP = {"agent": "random", "partner": "tit_for_tat"}


@pytest.fixture
def misled() -> sally.core.log.events.Episode:
    """The agent is always told a wrong move of its partner."""
    wrong = Injection("agent", "their_move", "truth", error=1.0)
    probes = {"agent": ["their_move", "their_odds"]}
    return sally.play("rps", LINEUP, 3, probes=probes, injections=[wrong], rounds=4)


def test_full_transcript_marks_injected_errors_with_the_truth(misled):
    lines = [line for line in sally.transcript(misled) if "is told" in line]
    assert len(lines) == 4
    assert all("(true: " in line for line in lines)


def test_seat_transcript_hides_truth_of_injection_and_partner_name(misled):
    page = "\n".join(sally.transcript(misled, "agent"))
    assert "true" not in page
    assert "tit_for_tat" not in page


def test_seat_reads_what_it_is_told_in_the_words_of_its_page_before_its_move(misled):
    page = list(sally.transcript(misled, "agent"))
    assert not any("is told" in line for line in page)
    told_lines = [at for at, line in enumerate(page) if "the other player will pick" in line]
    assert len(told_lines) == 4
    assert all(page[at + 1].startswith("  agent: ") for at in told_lines)  # after its answers


def test_position_of_a_seat_is_shown_once_per_step(misled):
    page = list(sally.transcript(misled, "agent"))
    assert page.count("[step 1] This is round 2.") == 1


@pytest.mark.parametrize("spec", [cups.GAME, haggle.GAME], ids=lambda spec: spec.name)
def test_seat_transcript_hides_probe_answers_of_other_seats(spec):
    registry.add("games", spec.name, spec)
    seats = spec.build({}).seats
    arms = {s: [p.name for p in spec.probes if s in p.seats] for s in seats}
    episode = sally.play(spec.name, dict.fromkeys(seats, "random"), 5, probes=arms)
    for eyes in seats:
        page = list(sally.transcript(episode, eyes))
        others = [s for s in seats if s != eyes]
        assert not [x for x in page for s in others if x.startswith(f"  {s} says aside")]
        silent = [e for e in episode.events if not _aside_of_another(e, eyes)]
        alone = msgspec.structs.replace(episode.setup, arms={eyes: tuple(arms[eyes])})
        without = msgspec.structs.replace(episode, setup=alone, events=silent)
        assert list(sally.transcript(without, eyes)) == page


def _aside_of_another(event: object, eyes: str) -> bool:
    return isinstance(event, Reported | Told) and event.seat != eyes


def test_decision_rows_contain_odds_and_source_of_reports(misled):
    rows = [r for r in sally.decisions([misled]) if r["probe"] == "their_odds"]
    assert {r["source"] for r in rows} == {"probe"}
    assert all(sum(r["odds"]) == pytest.approx(1) for r in rows)
    assert sally.to_polars(rows)["odds"].list.len().to_list() == [3] * 4


def test_seat_transcript_omits_an_injection_without_value():
    listeners = dict.fromkeys(("speaker", "teammate", "opponent"), "random")
    later = Injection("speaker", "finds_it")  # their guesses come after the clue
    episode = sally.play("toma_ag", listeners, 3, injections=[later])
    assert any("is told" in line for line in sally.transcript(episode))
    page = "\n".join(sally.transcript(episode, "speaker"))
    assert "is told" not in page and "None" not in page
