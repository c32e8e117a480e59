"""Importers of records with stated beliefs, on small files of the published layouts."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest

from benchmarks.hostile.mutations import mutate
from sally.core.errors import BadInput
from sally.core.log.events import to_line
from sally.core.registry import registry
from sally.core.registry.validation import log_problem
from sally.frames.replays import replay_for_measures
from sally.games.elicitation.recorded_decisions import row_of
from sally.games.elicitation.rules import PLAYER
from sally.metrics.consistency import list_decision_fits
from sally.papers.andreozzi2020.importer import belief_pay
from sally.papers.mori2024 import importer as mori
from sally.papers.vanbaar2022.importer import predicted_rule, prices
from tests.papers import belief_files
from tests.papers.belief_files import SECRET, WRITERS

EPISODES = {
    "andreozzi2020": 12,
    "mori2024": 30 + 18,
    "vanbaar2022": 3 * 16 + 24 + 90,
    "fischbacher2010": 24,
    "kahn2026": 16,
}
names = pytest.mark.parametrize("name", sorted(WRITERS))


def rows(name: str, folder: Path) -> list[Any]:
    episodes = registry.importer(name).import_from(WRITERS[name](folder)).episodes
    return [row_of(episode) for episode in episodes]


@names
def test_every_row_becomes_an_episode_that_replays(name: str, tmp_path: Path) -> None:
    result = registry.importer(name).import_from(WRITERS[name](tmp_path))
    assert len(result.episodes) == EPISODES[name] == result.counts["found"]
    assert [log_problem(e) for e in result.episodes if log_problem(e)] == []
    assert len({episode.id for episode in result.episodes}) == EPISODES[name]
    assert result.details["differences"] == []


@names
def test_ids_of_workers_and_other_columns_never_get_into_a_store(name: str, tmp_path: Path) -> None:
    result = registry.importer(name).import_from(WRITERS[name](tmp_path))
    lines = b"".join(map(to_line, result.episodes)).decode()
    assert SECRET not in lines and "id0" not in lines
    for file in tmp_path.rglob("*.csv"):
        assert SECRET in file.read_text() or "turn" in file.read_text()


@names
def test_file_without_a_column_is_refused(name: str, tmp_path: Path) -> None:
    folder = WRITERS[name](tmp_path)
    needed = {
        "andreozzi2020": ("data/csv/subjects.csv", "buc_M"),
        "mori2024": ("data/sub_exp_result.csv", "belief_l"),
        "vanbaar2022": ("Study4_InspectionGame/Data/Cleaned/WS_dat.csv", "work_confidence"),
        "fischbacher2010": ("data/FG2010.csv", "idsubj"),
        "kahn2026": ("games/game_1.csv", "state_b_accident"),
    }
    path, column = needed[name]
    file = folder / path
    file.write_text(file.read_text().replace(column, "renamed"))
    with pytest.raises(BadInput, match=column):
        registry.importer(name).import_from(folder)


def test_empty_folder_is_refused(tmp_path: Path) -> None:
    for name in WRITERS:
        with pytest.raises(BadInput, match="has no"):
            registry.importer(name).import_from(tmp_path)


# --- andreozzi2020 --------------------------------------------------------------------------------


def test_first_move_has_four_stated_odds_and_the_partners_plan_as_truth(tmp_path: Path) -> None:
    row = rows("andreozzi2020", tmp_path)[0]
    assert [belief.ask for belief in row.beliefs] == [
        "same_move",
        "reply_to_L",
        "reply_to_M",
        "reply_to_H",
    ]
    plan = belief_files.PLANS[(2 + 1) % 4]  # the first person meets the third in period 1
    assert [belief.truth for belief in row.beliefs] == list(plan)
    assert (row.action, row.cell, row.cluster) == ("H", "CondInfo:1", "10001")
    assert belief_pay((0.5, 0.25, 0.25), "H") == 22.5


@pytest.mark.parametrize(
    ("column", "value", "why"),
    [
        ("uc", 100, "plans"),
        ("earning_game", 1, "the moves pay"),
        ("earning_guess", 99, "no stated belief pays"),
        ("occH", 100, "recorded in two ways"),
        ("buc_L", 0.9, "sum to 1|no stated belief"),
        ("treatment", "Other", "Other is not a value of the published file"),
        ("opp_unq", 11001, "the partner of"),
    ],
)
def test_dilemma_that_contradicts_itself_is_refused(
    tmp_path: Path, column: str, value: Any, why: str
) -> None:
    table = belief_files.dilemma()
    table[1] |= {column: value}
    folder = belief_files.write_andreozzi(tmp_path, table)
    with pytest.raises(BadInput, match=why):
        registry.importer("andreozzi2020").import_from(folder)


# --- mori2024 -------------------------------------------------------------------------------------


def test_truth_is_the_choice_of_all_others_in_the_condition(tmp_path: Path) -> None:
    _, choices = mori.read(belief_files.write_mori(tmp_path))
    main = [choice for choice in choices if choice.cell == "V4"]
    actions = Counter(choice.action for choice in main)
    for choice, truth in zip(choices, mori.truths(choices), strict=True):
        if choice.cell == "V4":
            others = actions - Counter([choice.action])
            assert truth == tuple(others[action] for action in "CDL")
    (total,) = {sum(truth) for c, truth in zip(choices, mori.truths(choices), strict=True)
              if c.cell == "rho0.5"}  # fmt: skip
    assert total == 2  # two others of the session of three


def test_people_are_numbered_in_the_order_of_the_file(tmp_path: Path) -> None:
    people = list(dict.fromkeys(row.person for row in rows("mori2024", tmp_path)))
    assert people[:2] == ["m001", "m002"] and people[-1] == "s006"


# --- vanbaar2022 ----------------------------------------------------------------------------------


def test_only_the_first_inspection_of_a_player_is_a_choice(tmp_path: Path) -> None:
    table = [row for row in rows("vanbaar2022", tmp_path) if row.source == "vanbaar2022"]
    assert {(row.period == 0, row.status) for row in table} == {
        (True, "chosen"),
        (False, "adaptive price"),
    }
    assert all(row.beliefs[0].value is not None for row in table)  # also in the last five trials
    assert {row.params["cost"] for row in table if row.status == "chosen"} == {15}
    episodes = registry.importer("vanbaar2022").import_from(tmp_path).episodes
    judged = [e for e in episodes if list_decision_fits(replay_for_measures(e), PLAYER)]
    assert {row_of(episode).status for episode in judged} == {"chosen"}


def test_rules_of_players_and_of_prices() -> None:
    assert [predicted_rule("pess_nat", s, t) for s, t in belief_files.GAMES.values()] == [
        "coop",
        "coop",
        "def",
        "def",
    ]
    assert predicted_rule("env_nat", 8, 8) == "coop" and predicted_rule("trust_inv", 1, 9) == "def"
    assert prices([True] * 5) == [15, 25, 30, 30, 30]
    assert prices([False, True, False, True, True, False]) == [15, 5, 15, 5, 10, 13]


def test_prices_that_break_their_rule_are_refused(tmp_path: Path) -> None:
    folder = belief_files.write_vanbaar(tmp_path)
    _, inspections, _ = belief_files.last_study()
    inspections[2] |= {"cost": 4, "score": inspections[2]["score"] + inspections[2]["cost"] - 4}
    belief_files.write(folder / "Study4_InspectionGame/Data/Cleaned/WS_dat.csv", inspections)
    with pytest.raises(BadInput, match="break their rule"):
        registry.importer("vanbaar2022").import_from(folder)


# --- fischbacher2010 and kahn2026 -----------------------------------------------------------------


def test_contribution_has_the_own_schedule_beside_it(tmp_path: Path) -> None:
    episode = (
        registry.importer("fischbacher2010")
        .import_from(belief_files.write_fischbacher(tmp_path))
        .episodes[0]
    )
    assert episode.used["public_good"]["schedule"] == [n // 2 for n in range(21)]
    row = row_of(episode)
    assert row.beliefs[0].asked == "same screen" and row.beliefs[0].kind == "number"


def test_unread_and_accidental_moves_are_no_moves_and_no_truth(tmp_path: Path) -> None:
    table = [row for row in rows("kahn2026", tmp_path) if row.cluster == "game_1"]
    status = {(row.model, row.period): row.status for row in table}
    assert (status["Gemini", 2], status["Gemini", 3]) == ("default", "accident")
    assert list(status.values()).count("chosen") == 6
    truth = {(row.model, row.period): row.beliefs[0].truth for row in table}
    assert truth["GPT-5.2", 2] is None and truth["GPT-5.2", 3] is None
    assert truth["GPT-5.2", 1] == "Limited Strike"
    assert table[0].beliefs[0].value == "Signal"  # the forecast is cut at the colon
    assert table[0].menu == tuple(belief_files.RUNGS)


# --- mutated files --------------------------------------------------------------------------------


def test_file_from_which_a_row_is_missing_is_refused(tmp_path: Path) -> None:
    for name, file_name in (("andreozzi2020", "subjects.csv"), ("mori2024", "main_exp_result.csv")):
        folder = WRITERS[name](tmp_path / name)
        file = next(folder.rglob(file_name))
        lines = file.read_text("utf-8").splitlines(keepends=True)
        # of the dilemma, both rows of the last pair
        missing = 2 if name == "andreozzi2020" else 1
        file.write_text("".join(lines[:-missing]), "utf-8")
        with pytest.raises(BadInput, match=r"has \d of \d (periods|conditions)"):
            registry.importer(name).import_from(folder)


def test_crisis_game_without_a_header_is_refused(tmp_path: Path) -> None:
    folder = WRITERS["kahn2026"](tmp_path)
    file = next(folder.rglob("game_1.csv"))
    lines = file.read_text("utf-8").splitlines(keepends=True)
    file.write_text("".join([*lines[1:], lines[0]]), "utf-8")
    with pytest.raises(BadInput, match=r"game_1.csv: the header names 0 players"):
        registry.importer("kahn2026").import_from(folder)


def test_mutated_files_are_refused_or_give_the_same_or_valid_episodes(tmp_path: Path) -> None:
    """Mutated files of the five layouts (300 of each in `benchmarks.mutated_records`): each is
    refused with one sentence, or imported without a wrong episode; most that are imported give the
    episodes of the good file."""
    draw, outcomes = random.Random(57), Counter[str]()
    folders = {name: write(tmp_path / name) for name, write in WRITERS.items()}
    good = {
        name: {e.id: _facts(e) for e in registry.importer(name).import_from(folder).episodes}
        for name, folder in folders.items()
    }
    for number in range(50):
        name = sorted(WRITERS)[number % len(WRITERS)]
        file = draw.choice(sorted(folders[name].rglob("*.csv")))
        data = file.read_bytes()
        file.write_bytes(mutate(data, draw))
        try:
            result = registry.importer(name).import_from(folders[name])
        except BadInput as why:
            assert "\n" not in str(why)
            assert "is not in the format of the importer" not in str(why)
            outcomes["refused"] += 1
        else:
            assert [log_problem(e) for e in result.episodes if log_problem(e)] == []
            episodes = {e.id: _facts(e) for e in result.episodes}
            same = episodes.items() <= good[name].items()
            outcomes["same, or some of the same" if same else "other"] += 1
        finally:
            file.write_bytes(data)
    assert sum(outcomes.values()) == 50
    assert outcomes["refused"] > 30 and outcomes["other"] < 6


def _facts(episode: Any) -> bytes:
    """The events of an episode and what it keeps of the record, without the hash of the file."""
    used = {key: value for key, value in episode.used.items() if key != "source"}
    return msgspec.json.encode((episode.cell, episode.events, used))
