"""Decisions with stated beliefs: the rows come back from the store, and wrong rows are refused."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner

from benchmarks.hostile.mutations import mutate
from sally import store
from sally.cli import cli
from sally.core.errors import BadInput
from sally.core.log.events import Censored, Forfeited, Moved, Reported, from_line, to_line
from sally.core.registry import registry
from sally.core.registry.validation import log_problem
from sally.frames.replays import replay_for_measures
from sally.games.elicitation.importers.beliefs import import_beliefs
from sally.games.elicitation.recorded_decisions import row_of
from sally.games.elicitation.rules import PLAYER
from sally.metrics.consistency import list_decision_fits

THREE = ["L", "M", "H"]
REPLIES = {"L": [1, 0, 0], "M": [0.5, 0.5, 0], "H": [0.1, 0.2, 0.7]}


def belief(ask: str, options: list[Any], kind: str, value: Any, **facts: Any) -> dict[str, Any]:
    return {"ask": ask, "options": options, "kind": kind, "value": value, **facts}


def transfer(person: str = "p1", period: int = 1, action: str = "H") -> dict[str, Any]:
    """A first move in the dilemma of transfers; H is the best reply to these odds."""
    beliefs = [belief("same_move", THREE, "odds", [0.2, 0.5, 0.3], asked="before", bears="peer")]
    beliefs += [
        belief(
            f"reply_to_{name}",
            THREE,
            "odds",
            odds,
            truth="M",
            about="partner",
            asked="before",
            paid="quadratic",
            bears="payoff",
        )
        for name, odds in REPLIES.items()
    ]
    return {
        "source": "ours",
        "person": person,
        "cluster": "s1",
        "period": period,
        "instance": f"ours:{person}:{period}",
        "cell": f"one:{period}",
        "menu": THREE,
        "action": action,
        "payoff": "sequential_transfer",
        "params": {"endowment": 100, "factor": 3, "steps": [0, 50, 100]},
        "beliefs": beliefs,
    }


def group(instance: str = "ours:g", **facts: Any) -> dict[str, Any]:
    """A choice in a group of five."""
    counts = belief("same_move", ["C", "D", "L"], "counts", [12, 9, 9], bears="peer payoff")
    row = {
        "source": "ours",
        "person": "p2",
        "instance": instance,
        "cell": "threshold 4",
        "menu": ["C", "D", "L"],
        "action": "D",
        "payoff": "threshold_of_five",
        "params": {"threshold": 4, "loners_in": 0.5},
        "beliefs": [{**counts, "confidence": 0.75, "asked": "unknown"}],
    }
    return {**row, **facts}


def inspect(status: str, trial: int = 0, **facts: Any) -> dict[str, Any]:
    odds = belief("works", ["work", "shirk"], "odds", [0.3, 0.7], truth="shirk", bears="payoff")
    row = {
        "source": "ours",
        "person": "p3",
        "instance": f"ours:i:{trial}",
        "cell": "shirker",
        "menu": ["inspect", "not inspect"],
        "action": "inspect",
        "status": status,
        "payoff": "inspection",
        "params": {"cost": 15, "works": 40, "caught": 30},
        "beliefs": [odds],
        "earned": 15,
    }
    return {**row, **facts}


def forecast(**facts: Any) -> dict[str, Any]:
    """A prediction without a choice, by a model."""
    row = {
        "source": "ours",
        "person": "game 1",
        "instance": "ours:f",
        "cell": "all",
        "beliefs": [belief("next", ["coop", "def"], "choice", "coop", truth="def", confidence=0.9)],
        "model": "some/model",
    }
    return {**row, **facts}


def number() -> dict[str, Any]:
    menu = [str(n) for n in range(6)]
    mean = belief("others_mean", [0, 5], "number", 2.5, truth=3, asked="same screen")
    return {
        "source": "ours",
        "person": "p4",
        "instance": "ours:n",
        "cell": "public good",
        "menu": menu,
        "action": "2",
        "payoff": "linear_public_good",
        "params": {"tokens": 5, "players": 4, "back": 0.4},
        "beliefs": [{**mean, "bears": "payoff"}],
    }


ROWS = [
    transfer(),
    transfer("p5", 2, "L"),
    group(),
    inspect("chosen"),
    inspect("adaptive price", 1),
    inspect("default", 2),
    inspect("accident", 3),
    forecast(),
    number(),
]


def write_files(folder: Path, rows: list[dict[str, Any]]) -> Path:
    file = folder / "beliefs.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def load_complete(row: dict[str, Any]) -> dict[str, Any]:
    """A row with everything that it leaves out, as the format defines it."""
    empty = {"confidence": None, "truth": None, "about": "", "asked": "unknown", "paid": None}
    lacking = dict.fromkeys(("cluster", "period", "menu", "action", "payoff", "params"))
    beliefs = [
        {"value": None, **empty, "bears": "", **current_belief} for current_belief in row["beliefs"]
    ]
    fields = {**lacking, "status": "chosen", "earned": None, "model": None, **row}
    if not fields["menu"]:  # no choice: an empty menu, and none
        fields["menu"] = None
    if not fields["params"]:
        fields["params"] = None
    return {**fields, "beliefs": beliefs}


def test_rows_come_back_from_stored_episodes(tmp_path: Path) -> None:
    result = import_beliefs(write_files(tmp_path, ROWS), "CC BY")
    episodes = [from_line(to_line(episode)) for episode in result.episodes]
    assert [log_problem(episode) for episode in episodes] == [None] * len(ROWS)
    back = [
        msgspec.json.decode(msgspec.json.encode(row_of(current_episode)))
        for current_episode in episodes
    ]
    assert back == [load_complete(row) for row in ROWS]
    assert {current_episode.used["source"]["licence"] for current_episode in episodes} == {"CC BY"}
    assert result.counts["found"] == 9 and result.counts["chosen"] == 6


def test_stated_answers_are_reports_and_the_choice_is_a_move(tmp_path: Path) -> None:
    (episode,) = import_beliefs(write_files(tmp_path, [transfer()])).episodes
    reports = {event.about: event for event in episode.events if isinstance(event, Reported)}
    assert reports["reply_to_H"].odds == (0.1, 0.2, 0.7)
    assert reports["reply_to_H"].value == "H"
    (move,) = [event.action for event in episode.events if isinstance(event, Moved)]
    assert move == 2 and episode.payoffs == {"player": 150.0}
    (decision,) = list_decision_fits(replay_for_measures(episode), PLAYER)
    assert decision.fits and decision.chance == pytest.approx(1 / 3)
    assert episode.setup.lineup["player"].params == {"name": "human", "participant": "p1"}


def test_move_that_was_not_chosen_enters_no_measure(tmp_path: Path) -> None:
    rows = [inspect(status, n) for n, status in enumerate(("default", "accident"))]
    rows.append(inspect("adaptive price", 3))
    metrics = registry.metrics("elicitation")
    for episode in import_beliefs(write_files(tmp_path, rows)).episodes:
        match = replay_for_measures(episode)
        assert not [event for event in episode.events if isinstance(event, Moved)]
        assert list_decision_fits(match, PLAYER) == []
        for name in ("earned", "earned_regret", "action_consistency", "imitation", "label_bias"):
            assert metrics[name].measure(match, PLAYER) is None
        assert row_of(episode).action == "inspect"
    default, accident, adaptive = import_beliefs(write_files(tmp_path, rows)).episodes
    assert [type(item.events[-2]) for item in (default,)] == [Forfeited]
    assert all(isinstance(item.events[-1], Censored) for item in (accident, adaptive))
    known_measure = metrics["tom_percent"].measure
    # the forecast was read, the move was not
    assert known_measure(replay_for_measures(default), PLAYER) == 100.0
    assert known_measure(replay_for_measures(adaptive), PLAYER) is None


def test_belief_asked_after_the_move_does_not_enter_acting(tmp_path: Path) -> None:
    row = inspect("chosen")
    row["beliefs"][0]["asked"] = "after"
    (episode,) = import_beliefs(write_files(tmp_path, [row])).episodes
    assert list_decision_fits(replay_for_measures(episode), PLAYER) == []
    assert [event.probe for event in episode.events if isinstance(event, Reported)] == [
        "belief_after"
    ]


def test_recorded_payoff_that_the_rules_contradict_is_listed(tmp_path: Path) -> None:
    result = import_beliefs(write_files(tmp_path, [inspect("chosen", earned=14)]))
    (difference,) = result.details["differences"]
    assert (difference["recorded"], difference["ours"]) == ("14", "15")


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ({**transfer(), "action": "X"}, "action 'X' is not on the menu"),
        ({**transfer(), "action": None}, "action is missing"),
        ({**transfer(), "payoff": "roulette"}, "payoff must be sequential_transfer"),
        ({**transfer(), "payoff": None}, "params are given without a payoff function"),
        ({**transfer(), "menu": ["L", "L", "H"]}, "menu must be 2 to"),
        ({**transfer(), "person": " "}, "person is empty"),
        ({**transfer(), "person": 7}, "Expected `str`"),
        ({**transfer(), "worker": "A1"}, "unknown field `worker`"),
        ({**transfer(), "status": "guessed"}, "Invalid enum value"),
        (group(params={"threshold": 4, "loners": 1}), "loners"),
        (group(earned=float("1e999")), "line 1"),
        ({**forecast(), "beliefs": [belief("x", ["a", "b"], "odds", [1.0])]}, "1 odds were given"),
        ({**forecast(), "beliefs": [belief("x", ["a", "b"], "odds", [0.9, 0.2])]}, "sum to 1"),
        ({**forecast(), "beliefs": [belief("x", ["a", "b"], "odds", "a")]}, "a probability for"),
        ({**forecast(), "beliefs": [belief("x", ["a", "b"], "counts", [1.5, 2])]}, "whole numbers"),
        ({**forecast(), "beliefs": [belief("x", ["a", "b"], "counts", [0, 0])]}, "counts are 0"),
        ({**forecast(), "beliefs": [belief("x", ["a", "b"], "choice", "c")]}, "not one of a or b"),
        ({**forecast(), "beliefs": [belief("x", [0, 5], "number", 6)]}, "6 is not from 0 to 5"),
        ({**forecast(), "beliefs": [belief("x", [5], "number", 5)]}, "the least and the largest"),
        (
            {**forecast(), "beliefs": [belief("x", ["a", "b"], "choice", "a", confidence=90)]},
            "confidence must be from 0 to 1",
        ),
    ],
)
def test_wrong_row_is_refused_with_its_line(tmp_path: Path, row: dict[str, Any], why: str) -> None:
    with pytest.raises(BadInput, match=why) as refusal:
        import_beliefs(write_files(tmp_path, [row]))
    assert str(refusal.value).startswith("beliefs.jsonl, line 1: ")
    assert "\n" not in str(refusal.value)


def test_file_without_rows_or_with_a_name_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="contains no row"):
        import_beliefs(write_files(tmp_path, []))
    with pytest.raises(BadInput, match="is also in line 1"):
        import_beliefs(write_files(tmp_path, [transfer(), transfer()]))
    with pytest.raises(BadInput, match="is a folder"):
        import_beliefs(tmp_path)


def test_command_stores_the_episodes_once(tmp_path: Path) -> None:
    file, out = str(write_files(tmp_path, ROWS)), tmp_path / "store"
    for stored, already in ((9, 0), (0, 9)):
        answer = CliRunner().invoke(cli, ["import", "beliefs", file, "--out", str(out)])
        assert answer.exit_code == 0, answer.output
        assert f"stored: {stored}" in answer.output and f"already there: {already}" in answer.output
    assert len(store.load(out).episodes) == 9


def test_schema_admits_the_rows_and_refuses_others() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    answer = CliRunner().invoke(cli, ["import", "beliefs-schema"])
    schema = json.loads(answer.output)
    for row in ROWS:
        jsonschema.validate(row, schema)
    for wrong in ({**transfer(), "worker": "A1"}, {**transfer(), "beliefs": None}, {}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(wrong, schema)
    described = [schema["properties"], schema["$defs"]["StatedBelief"]["properties"]]
    assert all("description" in field for fields in described for field in fields.values())


def test_mutated_files_are_refused_or_imported_as_they_read(tmp_path: Path) -> None:
    """Mutated files (300 in `benchmarks.mutated_records`): each is refused with one sentence, or
    the episodes hold exactly the rows that another reader of JSON finds in the file. Most of these
    are rows of the good file; the few others hold another valid number or name."""
    good = write_files(tmp_path, ROWS).read_bytes()
    draw, outcomes = random.Random(57), {"refused": 0, "same": 0, "other": 0}
    known_fields = [load_complete(row) for row in ROWS]
    file = tmp_path / "mutated.jsonl"
    for _ in range(90):
        file.write_bytes(mutate(good, draw))
        try:
            episodes = import_beliefs(file).episodes
        except BadInput as why:
            assert "\n" not in str(why) and str(why).startswith("mutated.jsonl")
            outcomes["refused"] += 1
            continue
        assert [log_problem(episode) for episode in episodes if log_problem(episode)] == []
        lines = [line for line in file.read_bytes().split(b"\n") if line.strip()]
        rows = [load_complete(json.loads(line)) for line in lines]
        back = [json.loads(msgspec.json.encode(row_of(episode))) for episode in episodes]
        assert back == rows
        outcomes["same" if all(row in known_fields for row in rows) else "other"] += 1
    assert outcomes["refused"] > 75 and outcomes["same"] > outcomes["other"]
