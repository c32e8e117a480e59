"""The assessor: asked about a whole game, read strictly, compared with a second rater."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from sally.core import redaction
from sally.core.errors import BadInput
from sally.core.prompt.model import ModelFailure
from sally.core.rules.metric import Played
from sally.games.tradecraft.actions import DONE, PASS, YES
from sally.games.tradecraft.assessor import (
    DIMENSIONS,
    ORDERS,
    Rating,
    agreement,
    assess,
    prompt,
    ratings_file,
    units,
)
from sally.models.stub import Scripted
from tests.games.tradecraft.table import P1, P2, craft, match_of, play, propose


@pytest.fixture
def played() -> Played:
    match = match_of(max_turns=2)
    play(match, (P1, propose("p2", {"coal": 1}, {"raw_iron": 1}, "You need coal.")), (P2, YES))
    play(match, (P1, DONE), (P2, craft({"oak_planks": 2}, "stick", 4)), (P2, DONE))
    play(match, (P2, PASS), (P1, DONE), (P2, DONE))
    return Played(match.spec, match.episode(), match.replay)


def entry(turn: int, player: str, **changed: Any) -> dict[str, Any]:
    judged = {"turn": turn, "player": player, "reason": "It names what the other lacks."}
    return {**judged, **dict.fromkeys(ORDERS, False), **dict.fromkeys(DIMENSIONS, 0.5), **changed}


def load_complete(played: Played, **changed: Any) -> str:
    return json.dumps({"judgements": [entry(t, p, **changed) for t, p in units(played)]})


def judge(played: Played, *replies: str, retries: int = 2) -> Any:
    remaining_replies = list(replies)
    model = Scripted(lambda messages, settings: remaining_replies.pop(0))
    return asyncio.run(assess(played, model, retries=retries))


def test_every_player_is_judged_in_every_turn(played: Played) -> None:
    assert units(played) == ((1, "p1"), (1, "p2"), (2, "p1"), (2, "p2"))
    judgements = judge(played, f"Here it is:\n{load_complete(played, first_order=True)}")
    assert [(r.turn, r.player) for r in judgements.ratings] == list(units(played))
    assert all(r.first_order and r.episode == played.episode.id for r in judgements.ratings)
    assert not judgements.problem


def test_prompt_contains_the_game_and_all_dimensions(played: Played) -> None:
    asked_prompt = prompt(played)
    facts = ("p1 wants 1 pair of shears", "You need coal.", "p2 crafts 4 sticks")
    for part in (*facts, *ORDERS, *DIMENSIONS):
        assert part in asked_prompt


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ("No idea.", "one JSON object"),
        ('{"judgements": []}', "missing"),
        (json.dumps({"judgements": [entry(1, "p1")] * 4}), "given twice"),
        (json.dumps({"judgements": [entry(9, "p1")]}), "not in the record"),
        (json.dumps({"judgements": [entry(1, "p1", persuasion=1.5)]}), "from 0 to 1"),
        (json.dumps({"judgements": [entry(1, "p1", first_order="yes")]}), "bool"),
        (json.dumps({"judgements": [entry(1, "p1", charm=1)]}), "charm"),
    ],
)
def test_incomplete_reply_is_requested_again_and_then_missing(
    played: Played, reply: str, why: str
) -> None:
    mended = judge(played, reply, load_complete(played))
    assert len(mended.ratings) == 4
    assert [call.reply for call in mended.calls] == [reply, load_complete(played)]
    lost = judge(played, reply, reply, retries=1)
    assert lost.ratings == ()
    assert why in lost.problem


def test_judgement_with_a_missing_field_is_refused(played: Played) -> None:
    gap = json.loads(load_complete(played))
    del gap["judgements"][2]["adaptability"]
    assert "lacks adaptability" in judge(played, json.dumps(gap), retries=0).problem


def test_calls_are_logged_with_a_seed_of_their_own(played: Played) -> None:
    requests = list[Any]()

    def script(messages: Any, settings: Any) -> str:
        requests.append((list(messages), settings.seed))
        return "No." if len(requests) == 1 else load_complete(played)

    first = asyncio.run(assess(played, Scripted(script)))
    (_, seed), (again, other) = requests
    assert None not in (seed, other) and seed != other
    assert [call.settings["seed"] for call in first.calls] == [seed, other]
    assert [message.text for message in again[1:2]] == ["No."]
    requests.clear()
    assert asyncio.run(assess(played, Scripted(script))) == first  # the same seeds


def test_failed_call_is_a_problem_without_the_key(played: Played) -> None:
    key = "sk-a-key-that-nobody-reads"
    redaction.remember(key)

    def reject(messages: Any, settings: Any) -> str:
        raise ModelFailure("auth", f"rejected key {key}")

    try:
        assessment = asyncio.run(assess(played, Scripted(reject)))
    finally:
        redaction._used_keys.discard(key)
        redaction.known_keys.cache_clear()
    assert assessment.problem == "auth: rejected key [key]"
    assert [call.failure for call in assessment.calls] == ["auth"]
    assert key not in msgspec.json.encode(assessment).decode()


def test_agreement_with_a_second_rater_has_known_values(tmp_path: Path) -> None:
    grades = (0.0, 0.5, 1.0, 0.25)
    ours = [
        Rating(n, "p1", "e", first_order=n % 2 == 0, second_order=False, persuasion=grade)
        for n, grade in enumerate(grades, 1)
    ]
    their_ratings = [
        Rating(n, "p1", "e", first_order=n == 2, second_order=False, persuasion=grade + 0.0)
        for n, grade in enumerate((0.25, 0.5, 0.75, 0.25), 1)
    ]
    file = tmp_path / "second.jsonl"
    file.write_bytes(b"\n".join(msgspec.json.encode(rating) for rating in their_ratings))
    rows = {row.dimension: row for row in agreement(ours, ratings_file(file))}
    assert rows["first_order"].percent == 0.75
    assert rows["theory of mind"].percent == 7 / 8  # eight judgements, one apart
    assert rows["persuasion"].mae == pytest.approx(0.125)
    assert rows["persuasion"].alpha == pytest.approx(
        _interval_alpha(grades, (0.25, 0.5, 0.75, 0.25))
    )
    assert rows["adaptability"].units == 0
    assert rows["adaptability"].mae is None


def _interval_alpha(first: tuple[float, ...], two: tuple[float, ...]) -> float:
    """Krippendorff's alpha of two complete columns, straight from its definition."""
    everything = [*first, *two]
    n = len(everything)
    seen = sum((a - b) ** 2 for a, b in zip(first, two, strict=True)) / len(first)
    by_chance = sum((a - b) ** 2 for a in everything for b in everything) / (n * (n - 1))
    return 1 - seen / by_chance


def test_unreadable_file_is_refused_with_the_line(tmp_path: Path) -> None:
    file = tmp_path / "bad.jsonl"
    file.write_text('{"turn": 1, "player": "p1"}\n{"turn": 2, "player": "p1", "persuasion": 3}\n')
    with pytest.raises(BadInput, match="line 2"):
        ratings_file(file)
    with pytest.raises(BadInput, match="cannot be read"):
        ratings_file(tmp_path / "none.jsonl")
    twice = [Rating(1, "p1"), Rating(1, "p1")]
    with pytest.raises(BadInput, match="twice"):
        agreement(twice, twice)
