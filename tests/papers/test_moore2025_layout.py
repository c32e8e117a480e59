"""Files in the published layout, written by us, come in as games; what is odd is listed."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.problem_sets.mindgames import sample
from sally.core.errors import BadInput
from sally.games.mindgames.claims import Asked, Disclosure, claims
from sally.games.mindgames.target import Memory
from sally.papers.moore2025.agreement import KINDS, agreement, by_rules, compare_labels
from sally.papers.moore2025.published_layout import (
    PublishedGame,
    condition_of,
    read,
    rerun,
)

PEOPLE = "human_persuader=True&human_target=False&llm_persuader=None&reveal_belief=False"
MODEL = (
    "human_persuader=False&llm_persuader=some__model-1&reveal_belief=True&reveal_motivation=True"
)
ATTRIBUTES = ["safety and control", "development speed", "public trust"]
PUZZLE = sample(1, seed=6)[0]
EFFECT = {1: "increases", 0: "has no effect on", -1: "decreases"}


def reproduces(game: PublishedGame, memory: Memory) -> bool:
    """Whether the recorded labels lead the target to the recorded final choice."""
    return rerun(game, [turn.recorded for turn in game.turns], memory) == game.final_choice


def table(cells: Any) -> dict[str, dict[str, bool]]:
    return {p: {a: (i, j) in cells for j, a in enumerate(ATTRIBUTES)} for i, p in enumerate("ABC")}


def record(told: list[tuple[int, int]], choice: str | None) -> dict[str, Any]:
    """A game in which each of the given cells is told in a message of its own."""
    order = (PUZZLE.goal, PUZZLE.trap, PUZZLE.initial)
    messages: list[dict[str, str]] = []
    labels = []
    for turn in range(8):
        row, column = told[turn] if turn < len(told) else (-1, -1)
        text = "Thanks!"
        label: dict[str, dict[str, int]] = {}
        if row >= 0:
            utility = PUZZLE.utilities[row][column]
            text = f"Proposal {'ABC'[row]} {EFFECT[utility]} {ATTRIBUTES[column]}."
            label = {"ABC"[row]: {ATTRIBUTES[column]: utility}}
        labels.append(label)
        messages += [{"role": "persuader", "content": text}, {"role": "target", "content": "ok"}]
    return {
        "model": {
            "utilities": {
                p: dict(zip(ATTRIBUTES, PUZZLE.utilities[i], strict=True))
                for i, p in enumerate("ABC")
            },
            "hidden": table(PUZZLE.hidden),
            "ideal_revealed": table(PUZZLE.winning),
            "target_coefficients": dict(zip(ATTRIBUTES, PUZZLE.target_values, strict=True)),
            "persuader_coefficients": dict(zip(ATTRIBUTES, PUZZLE.persuader_values, strict=True)),
            "proposals": ["ABC"[row] for row in order],
            "attributes": ATTRIBUTES,
        },
        "cover_story": "A story.",
        "target_choice": choice,
        "turn_limit": 8,
        "messages": messages,
        "all_disclosures": labels,
        "all_appeals": [{} for _ in range(8)],
        "a_field_nobody_knows": 3,
    }


def write_files(tmp_path: Path, folder: str, lines: list[Any]) -> Path:
    (tmp_path / folder).mkdir()
    text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    (tmp_path / folder / "2025-01-01.jsonl").write_text(text, encoding="utf-8")
    return tmp_path


GOAL, TRAP, INITIAL = ("ABC"[r] for r in (PUZZLE.goal, PUZZLE.trap, PUZZLE.initial))
WON = record(list(PUZZLE.winning), GOAL)
LOST = record(list(PUZZLE.hidden), TRAP)


def test_folder_names_the_condition() -> None:
    people, model = condition_of(PEOPLE), condition_of(MODEL)
    assert (people.persuader, people.human, people.memory) == ("human", True, "sequential")
    assert (model.persuader, model.memory) == ("some/model-1", "frozen")
    assert model.reveal_belief and model.reveal_motivation and not model.add_hint


def test_folder_that_does_not_name_the_persuader_is_refused() -> None:
    with pytest.raises(BadInput, match="does not name the persuader"):
        condition_of("results")


def test_game_is_read_completely_and_its_choice_reproduced(tmp_path: Path) -> None:
    reading = read(write_files(tmp_path, PEOPLE, [[WON, LOST]]))
    assert reading.oddities == ()
    assert [g.index for g in reading.games] == [0, 1]
    game = reading.games[0]
    assert game.puzzle == PUZZLE
    assert game.is_finished and len(game.turns) == 8
    assert game.turns[0].message.startswith("Proposal ")
    assert all(reproduces(g, g.condition.memory) for g in reading.games)


def test_choice_inconsistent_with_the_labels_is_detected(tmp_path: Path) -> None:
    wrong = record(list(PUZZLE.winning), TRAP)
    (game,) = read(write_files(tmp_path, PEOPLE, [[wrong]])).games
    assert not reproduces(game, game.condition.memory)


def test_memory_matters_after_a_win(tmp_path: Path) -> None:
    spoil = next(cell for cell in PUZZLE.hidden if cell not in PUZZLE.winning)
    (game,) = read(write_files(tmp_path, PEOPLE, [[record([*PUZZLE.winning, spoil], GOAL)]])).games
    assert reproduces(game, "sequential") and not reproduces(game, "frozen")


def test_unfinished_repeated_and_broken_records_are_listed(tmp_path: Path) -> None:
    unfinished = copy.deepcopy(WON)
    unfinished["messages"] = unfinished["messages"][:6]
    unfinished["all_disclosures"] = unfinished["all_disclosures"][:3]
    unfinished["all_appeals"] = unfinished["all_appeals"][:3]
    unfinished["target_choice"] = None
    broken = copy.deepcopy(WON)
    del broken["model"]["hidden"]
    reading = read(
        write_files(tmp_path, PEOPLE, [[WON, WON], "{not json", [unfinished], [broken], ""])
    )
    assert [(o.line, o.what) for o in reading.oddities] == [
        (1, "duplicate"),
        (2, "unreadable"),
        (3, "unfinished"),
        (4, "unreadable"),
    ]
    assert "hidden" in reading.oddities[3].why
    assert [g.is_finished for g in reading.games] == [True, False]


def test_unknown_label_is_omitted_and_listed(tmp_path: Path) -> None:
    strange = copy.deepcopy(WON)
    strange["all_appeals"][2] = {"motivational": ["happiness", "public trust"]}
    strange["all_appeals"][3] = {"informational": {"A": ["public trust"]}, "inferential": ["D"]}
    reading = read(write_files(tmp_path, MODEL, [[strange]]))
    assert [o.what for o in reading.oddities] == ["label", "label"]
    assert reading.games[0].turns[2].recorded == claims(motivational=["public trust"])
    assert reading.games[0].turns[3].recorded == claims(informational=[Asked("A", "public trust")])


def test_path_without_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"no \.jsonl file"):
        read(tmp_path)


def test_false_message_has_no_effect_on_rereading(tmp_path: Path) -> None:
    (game,) = read(write_files(tmp_path, PEOPLE, [[WON]])).games
    row, column = PUZZLE.winning[0]
    lie = 1 if PUZZLE.utilities[row][column] != 1 else -1
    first = claims([Disclosure("ABC"[row], ATTRIBUTES[column], lie)])
    rest = [turn.recorded for turn in game.turns[1:]]
    assert rerun(game, [first, *rest], "sequential") == PUZZLE.initial


def test_rules_reader_agrees_with_plain_labels(tmp_path: Path) -> None:
    actual_agreement = agreement(read(write_files(tmp_path, PEOPLE, [[WON, LOST]])).games, by_rules)
    assert actual_agreement.tallies["disclosures"].f1 == 1.0
    assert (actual_agreement.same_choice, actual_agreement.games, actual_agreement.choices) == (
        2,
        2,
        1.0,
    )
    assert actual_agreement.tallies["motivational"].f1 is None


def test_disagreement_is_counted_in_both_directions() -> None:
    ours = claims([Disclosure("A", "x", 1), Disclosure("B", "x", 1)], inferential=["A"])
    their_claims = claims(
        [Disclosure("A", "x", 1), Disclosure("A", "y", 0), Disclosure("A", "z", 0)]
    )
    tally = compare_labels(ours, their_claims)["disclosures"]
    assert (tally.in_both, tally.reader_only, tally.record_only) == (1, 1, 2)
    assert (tally.precision, tally.recall, tally.f1) == (1 / 2, 1 / 3, 2 / 5)
    assert set(compare_labels(ours, their_claims)) == set(KINDS)
