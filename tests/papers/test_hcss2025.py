"""Tournaments of the published layout, written here: replies are read, parsers' moves marked."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from sally import store
from sally.cli import cli
from sally.core.errors import BadInput
from sally.core.match.playback import mismatch, replay_episode
from sally.core.registry import registry
from sally.core.rules.metric import Played
from sally.games.repeated_games.regret import decisions_lost, functional_regret
from sally.games.repeated_games.rounds import rounds
from sally.games.repeated_games.rules import AGENT, PARTNER
from sally.papers.hcss2025 import figures
from sally.papers.hcss2025.importer import IMPORTER
from sally.papers.hcss2025.reader import POINTS, RoundSide, kind_of, read_reply

STAMP = "20250905_152805"  # stop .25, with tracking
COLUMNS = [
    "timestamp", "shadow_condition", "match_id", "round", "agent1", "agent2", "agent1_move",
    "agent2_move", "agent1_total_score", "agent2_total_score", "agent1_reasoning",
    "agent2_reasoning",
]  # fmt: skip
TFT, GRIM, GPT = "TitForTat_p1i1", "GrimTrigger_p1i1", "GPT5mini_T1_p1i1"
# by pair: each round's moves and the model's replies
PLAY: dict[tuple[str, str], list[tuple[str, str]]] = {
    (TFT, GRIM): [("CC", ""), ("CC", "")],
    (TFT, GPT): [("CC", "Fine.\nC"), ("CD", "It ends soon, so\n\nDecision: D"), ("DC", "")],
    (GRIM, GPT): [("CC", "**Cooperate**"), ("CC", "DECISION: I had better defect now")],
}


def rows(play: dict[tuple[str, str], list[tuple[str, str]]]) -> list[dict[str, Any]]:
    results = []
    for (first, two), moves in play.items():
        totals = [sum(POINTS[joint][side] for joint, _ in moves) for side in (0, 1)]
        for number, (joint, reply) in enumerate(moves, 1):
            said = dict(zip(COLUMNS[-2:], ("", reply), strict=True))
            results.append(
                dict.fromkeys(COLUMNS, "")
                | {"shadow_condition": "0.25", "match_id": f"{first}_vs_{two}", "round": number}
                | {"agent1": first, "agent2": two, "agent1_move": joint[0], "agent2_move": joint[1]}
                | {"agent1_total_score": totals[0], "agent2_total_score": totals[1], **said}
            )
    return results


def write_files(folder: Path, table: Sequence[dict[str, Any]]) -> Path:
    path = folder / "results" / f"experiment_{STAMP}"
    path.mkdir(parents=True, exist_ok=True)
    with (path / "evolutionary_shadow25_phase1.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(table)
    return folder


def history(folder: Path, met: list[tuple[str, str]], name: str = "gpt5mini-temperature10") -> None:
    """One model's history: opponents, and the moves as the model's and the other's."""
    listed = [
        {
            "opponent": "Opponent_001",
            "opponent_real_name": player,
            "rounds": [{"your_move": a, "opponent_move": b} for a, b in moves.split()],
        }
        for player, moves in met
    ]
    file = folder / "results" / f"experiment_{STAMP}" / "match_history_shadow25.json"
    held = {"agent_histories": {name: listed}, "enable_opponent_tracking": True}
    file.write_text(json.dumps(held))


def open_page(path: Path) -> dict[str, Played]:
    spec = registry.game("repeated_games")
    return {
        e.setup.instance.id.rpartition(":")[2]: Played(spec, e, replay_episode(spec, e))
        for e in IMPORTER.import_from(path).episodes
    }


@pytest.mark.parametrize(
    ("reply", "move"),
    [
        ("C", "C"),
        ("thoughts\nand more\n**D**", "D"),
        ("Decision: D.", "D"),
        ("My final answer is: cooperate", "C"),
        ("DEFECT", "D"),
        ("I would rather defect", None),
        ("C or D?", None),
        ("", None),
        ("D\nbecause the end is near", None),
    ],
)
def test_last_line_of_a_reply_names_the_move_or_none(reply: str, move: str | None) -> None:
    assert read_reply(reply) == move


def test_reply_is_compared_with_the_move_that_was_scored() -> None:
    kinds = [kind_of(RoundSide("C", r)) for r in (None, " ", "so be it\nC", "DEFECT", "C? D?")]
    assert kinds == [None, "empty", "readable", "says the other move", "unreadable"]


def test_match_contains_recorded_moves_and_marks_unchosen_ones(
    tmp_path: Path,
) -> None:
    matches = open_page(write_files(tmp_path, rows(PLAY)))
    assert len(matches) == 3
    played = matches[f"{TFT}_vs_{GPT}"]
    assert played.episode.setup.lineup["partner"].player == "tit_for_tat"  # the model is the agent
    assert played.episode.cell == "stop 0.25, tracking yes"
    assert mismatch(registry.game("repeated_games"), played.episode) is None
    assert played.episode.used["scored_there"] == {"agent": {"4": "empty, scored there as C"}}
    assert [(r.own_move, r.other_move) for r in rounds(played, AGENT)] == [(0, 0), (1, 0)]
    assert len(rounds(played, PARTNER)) == 3  # the partner's reaction stays
    assert "text" not in played.episode.used["replies"]["agent"][0]
    grim = matches[f"{GRIM}_vs_{GPT}"].episode.used["scored_there"]["agent"]
    assert grim == {"2": "unreadable, scored there as C"}


def test_regret_of_decisions_is_exact_and_excludes_luck(tmp_path: Path) -> None:
    matches = open_page(write_files(tmp_path, rows(PLAY)))
    lost_decision_regret = decisions_lost(matches[f"{TFT}_vs_{GPT}"], AGENT)
    # stop .25 against tit for tat: cooperating for ever is worth 3 / .25 = 12, and a defection
    # while it cooperates 5 + .75 * (0 + .75 * 12), if the next round makes up for it
    assert lost_decision_regret is not None and lost_decision_regret.decisions == 2
    assert lost_decision_regret.loss == pytest.approx(12 - (5 + 0.75 * 0.75 * 12), abs=1e-9)
    assert functional_regret(matches[f"{TFT}_vs_{GPT}"], AGENT) is None  # not all moves are its own
    bots = matches[f"{TFT}_vs_{GRIM}"]
    both_decision_regret = decisions_lost(bots, AGENT)
    assert both_decision_regret is not None and both_decision_regret.loss == pytest.approx(0.0)
    assert both_decision_regret.at_random > 0


def test_table_values_count_only_readable_decisions(tmp_path: Path) -> None:
    sides = figures.side_matches(open_page(write_files(tmp_path, rows(PLAY))).values())
    assert {s.model for s in sides} == {"GPT5mini"}
    assert figures.as_scored(sides) == (4, 5)
    assert figures.cooperation(sides)[0].value == pytest.approx(2 / 3)
    assert figures.cooperation(sides, "")[1] == 2 and figures.cooperation(sides, "CC")[1] == 1
    assert figures.doing(sides)[1] == 3


def test_histories_are_checked_and_supply_matches_without_a_table(tmp_path: Path) -> None:
    folder = write_files(tmp_path, rows(PLAY))
    later = ("Random_p2i1", "CD CD")
    history(folder, [(TFT, "CC DC CD"), later], "gpt41mini-temperature10")
    with pytest.raises(BadInput, match="not in the table of its phase"):
        IMPORTER.import_from(folder)
    history(folder, [(TFT, "CC DC CD"), (GRIM, "CC CC"), later])
    result = IMPORTER.import_from(folder)
    assert result.counts["sides of histories that agree"] == 2
    assert result.counts["matches without replies that were left out"] == 1
    assert len(IMPORTER.import_from(folder, unread=True).episodes) == 4


@pytest.mark.parametrize(
    ("at", "change", "why"),
    [
        (3, {"agent1_move": "X"}, "should be C or D"),
        (3, {"round": 7}, "should be 2"),
        (2, {"agent2_total_score": 99}, "give"),
        (2, {"shadow_condition": "0.75"}, "should be 0.25"),
        (2, {"agent1": "Other_p1i1"}, "should be those of"),
    ],
)
def test_changed_table_aborts_the_import(
    tmp_path: Path, at: int, change: dict[str, Any], why: str
) -> None:
    table = rows(PLAY)
    table[at] |= change
    with pytest.raises(BadInput, match=why):
        IMPORTER.import_from(write_files(tmp_path, table))


@pytest.mark.parametrize("cut", [1, 2, 4])
def test_truncated_table_aborts_the_import(tmp_path: Path, cut: int) -> None:
    with pytest.raises(BadInput):
        IMPORTER.import_from(write_files(tmp_path, rows(PLAY)[:-cut]))
    file = next((write_files(tmp_path, rows(PLAY))).rglob("*.csv"))
    file.write_bytes(file.read_bytes()[: -40 * cut])
    with pytest.raises(BadInput):
        IMPORTER.import_from(tmp_path)


def test_second_import_adds_nothing(tmp_path: Path) -> None:
    folder, out = write_files(tmp_path, rows(PLAY)), str(tmp_path / "store")
    for stored in (3, 0):
        run = CliRunner().invoke(cli, ["import", "hcss2025", str(folder), "--out", out])
        assert run.exit_code == 0, run.output
        assert f"stored: {stored}\n" in run.output
    assert len(store.load(out).episodes) == 3
    result = CliRunner().invoke(cli, ["paper", "hcss2025", "figures", out, "--json"])
    assert result.exit_code == 0, result.output
    assert json.loads(result.output)[0]["model"] == "GPT5mini"
