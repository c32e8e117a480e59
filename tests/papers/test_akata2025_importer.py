"""Files of the published layout, written here: models, bots and people come in as recorded."""

from __future__ import annotations

import csv
import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from sally.analysis.episodes.atlas import recorded_dots
from sally.core.errors import BadInput
from sally.core.log.events import Forfeited, Moved
from sally.core.match.playback import mismatch
from sally.core.registry import registry
from sally.frames.measured_seat import person_of
from sally.games.repeated_games.ordinal import ordinal_games
from sally.papers.akata2025.importer import IMPORTER
from sally.parts import importers

PD = {"JJ": (8, 8), "JF": (0, 10), "FJ": (10, 0), "FF": (5, 5)}
BOS = {"JJ": (10, 7), "JF": (0, 0), "FJ": (0, 0), "FF": (7, 10)}
Row = dict[str, Any]


def episode(
    first: str, two: str, moves: list[str], pays: dict[str, tuple[int, int]], **options: Any
) -> list[Row]:
    """One episode as the published tables have it."""
    total = [0, 0]
    rows = []
    for number, (a, b) in enumerate(moves, 1):
        paid = pays[a + b]
        total = [total[0] + paid[0], total[1] + paid[1]]
        rows.append(
            {"round": number, **options, "player1": first, "player2": two, "answer1": a,
             "answer2": b,
             "points1": paid[0], "points2": paid[1], "total1": total[0], "total2": total[1]}
        )  # fmt: skip
    return rows


def write_files(path: Path, rows: list[Row], separator: str = ",") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=separator)
        writer.writeheader()
        writer.writerows(rows)
    return path


def recoded(pays: dict[str, tuple[int, int]], zero: str, item: str) -> dict[str, tuple[int, int]]:
    names = {"J": zero, "F": item}
    return {names[a] + names[b]: paid for (a, b), paid in pays.items()}


def moves(found: Any, n: int = 0) -> list[tuple[int, int]]:
    events = [e for e in found.episodes[n].events if isinstance(e, Moved)]
    return [(a.action, b.action) for a, b in zip(events[::2], events[1::2], strict=True)]


# --- models and bots ------------------------------------------------------------------------------


def test_pairing_is_imported_with_its_bot_recognized(tmp_path: Path) -> None:
    rows = episode("act_gpt4", "act_tft", ["JJ", "FJ", "FF", "JF"], PD)
    rows += episode("act_tft", "act_j", ["JJ"] * 4, PD)
    import_result = IMPORTER.read(write_files(tmp_path / "pd/tft/data/pd_base_gpt4_tfts.csv", rows))
    first, second = import_result.episodes
    assert moves(import_result) == [(0, 0), (1, 0), (1, 1), (0, 1)]
    assert first.payoffs == {"agent": 23.0, "partner": 23.0}
    assert first.setup.lineup["agent"].params == {"name": "gpt4"}
    assert first.setup.lineup["partner"].player == "tit_for_tat"
    assert second.setup.lineup["partner"].params == {"action": 0}
    assert first.cell == "pd_base_gpt4_tfts" and first.setup.instance.params["rounds"] == 4
    assert (
        import_result.counts["tit_for_tat: as recorded"]
        == import_result.counts["tit_for_tat: moves"]
        == 8
    )
    assert not import_result.details["differences"] and not import_result.details["oddities"]
    assert mismatch(registry.game("ipd"), first) is None
    assert first.used["source"]["licence"].startswith("MIT")
    longer = episode("act_gpt4", "act_tft", ["JJ", "JJ", "JJ", "FJ", "FF", "JF"], PD)
    second_result = IMPORTER.read(write_files(tmp_path / "again/pd_base_gpt4_tfts.csv", longer))
    (dot,), other_episodes = recorded_dots(second_result.episodes)
    assert (
        other_episodes == [] and dot.who == "gpt4, tit for tat" and dot.n == 6 and dot.year == 2023
    )
    assert dot.column.setting == "6 rounds, by declared bot" and dot.value < 1


def test_bot_that_does_not_follow_its_rule_is_named(tmp_path: Path) -> None:
    rows = episode("act_gpt4", "act_grim_trigger", ["FJ", "JJ"], PD)
    import_result = IMPORTER.read(write_files(tmp_path / "pd_basic_gpt4_tfts.csv", rows))
    (difference,) = import_result.details["differences"]
    assert (difference["turn"], difference["recorded"], difference["ours"]) == (
        2,
        "J",
        "grim_trigger",
    )


def test_points_not_given_by_the_matrix_are_differences(tmp_path: Path) -> None:
    rows = episode("act_gpt4", "act_gpt35", ["JJ", "FF"], PD)
    rows[1] |= {"points1": 6, "total1": 14}
    import_result = IMPORTER.read(write_files(tmp_path / "experiment_pd.csv", rows))
    assert [(d["what"], d["turn"]) for d in import_result.details["differences"]] == [
        ("points", 2),
        ("total", 2),
    ]
    assert import_result.episodes[0].payoffs == {"agent": 13.0, "partner": 13.0}  # by the matrix


def test_second_game_of_a_pair_is_a_repeat(tmp_path: Path) -> None:
    rows = episode("act_gpt4", "act_gpt4", ["JJ"] * 3, PD) * 2
    import_result = IMPORTER.read(write_files(tmp_path / "experiment_pd.csv", rows))
    assert [e.setup.repeat for e in import_result.episodes] == [0, 1]
    assert len({e.id for e in import_result.episodes}) == 2


def test_copies_of_one_file_are_imported_once(tmp_path: Path) -> None:
    rows = episode("act_gpt4", "act_tft", ["FJ", "FF"], PD)
    for chance in (1, 40, 60, 80):
        write_files(tmp_path / f"pd_gpt4_{chance}p.csv", rows)
    import_result = IMPORTER.read(tmp_path)
    assert [e.cell for e in import_result.episodes] == ["pd_gpt4_1p"]
    assert [odd["what"] for odd in import_result.details["oddities"]] == ["copy"] * 3
    other_rows = episode("act_gpt4", "act_tft", ["JJ", "JJ"], PD)
    write_files(tmp_path / "pd_gpt4_80p.csv", other_rows)
    assert len(IMPORTER.read(tmp_path).episodes) == 2


def test_cooperating_letter_is_inferred_from_the_points(tmp_path: Path) -> None:
    pays = recoded(PD, "H", "R")
    fields = {"option1": "R", "option2": "H", "outcomes": "credits"}
    rows = episode("GPT-4", "Defect_once", ["HR", "RH", "RR"], pays, **fields)
    import_result = IMPORTER.read(
        write_files(tmp_path / "pd/data/experiment_robustness_checks_project.csv", rows)
    )
    assert moves(import_result) == [(0, 1), (1, 0), (1, 1)]
    assert import_result.episodes[0].setup.instance.params["names"] == ["H", "R"]
    assert import_result.episodes[0].cell == "experiment_robustness_checks_project credits"
    assert not import_result.details["differences"]


def test_misnamed_bot_in_battle_of_sexes_is_listed_as_oddity(tmp_path: Path) -> None:
    fields = {"option1": "J", "option2": "F", "outcomes": "coins"}
    rows = episode("GPT-4", "Defect_once", ["JJ", "JF", "JJ"], BOS, **fields)
    import_result = IMPORTER.read(
        write_files(tmp_path / "bos/data/experiment_robustness_checks_game.csv", rows)
    )
    assert import_result.episodes[0].setup.instance.game == "ibs"
    assert [odd["what"] for odd in import_result.details["oddities"]] == ["misnamed bot"]


def test_other_payoffs_of_battle_of_sexes_are_separate_games(tmp_path: Path) -> None:
    pays = {"JJ": (9, 8), "JF": (0, 0), "FJ": (0, 0), "FF": (8, 9)}
    rows = episode("GPT-4", "Alternate", ["JJ", "FF"], pays, payoff=2)
    import_result = IMPORTER.read(write_files(tmp_path / "experiment_payoff_changes.csv", rows))
    assert import_result.episodes[0].payoffs == {"agent": 17.0, "partner": 17.0}
    assert not import_result.details["differences"]


# --- the 144 games --------------------------------------------------------------------------------

STRICT = [
    "r1_c1_p1",
    "r1_c1_p2",
    "r1_c2_p1",
    "r1_c2_p2",
    "r2_c1_p1",
    "r2_c1_p2",
    "r2_c2_p1",
    "r2_c2_p2",
]


def games(tmp_path: Path, ranks: str) -> Path:
    """One game by its ranks, cell by cell, and a pairing that plays it with letters of its own."""
    cells = dict(zip(STRICT, map(int, ranks), strict=True))
    info = {"game_number": 7, "game_row": 1, "game_col": 7, "game_name": "Duel",
            "game_family": "Cyclic", **cells}  # fmt: skip
    write_files(tmp_path / "all_games/144_games_info.csv", [info], ";")
    pays = {a + b: (cells[f"r{r}_c{c}_p1"], cells[f"r{r}_c{c}_p2"])
            for (r, a), (c, b) in product(((1, "L"), (2, "I")), repeat=2)}  # fmt: skip
    rows = episode("act_claude2", "act_gpt4", ["LI", "IL"], pays, choice_option1="L",
                   choice_option2="I", game_number=7)  # fmt: skip
    other_fields = [{**row, "choice_option1": "B", "choice_option2": "U", "player2": "act_gpt35",
              "answer1": {"L": "B", "I": "U"}[row["answer1"]],
              "answer2": {"L": "B", "I": "U"}[row["answer2"]]} for row in rows]  # fmt: skip
    write_files(tmp_path / "all_games/experiments/game_7.csv", rows + other_fields)
    return tmp_path


def test_pairings_with_different_letters_share_one_game(tmp_path: Path) -> None:
    import_result = IMPORTER.read(games(tmp_path, "31124423"))
    assert {e.setup.instance.id for e in import_result.episodes} == {"akata2025-7"}
    assert len({json.dumps(e.setup.instance.params) for e in import_result.episodes}) == 1
    assert [e.used["letters"] for e in import_result.episodes] == [["L", "I"], ["B", "U"]]
    assert moves(import_result, 0) == moves(import_result, 1) == [(0, 1), (1, 0)]
    assert import_result.episodes[0].used["ordinal"] in ordinal_games()
    assert import_result.episodes[0].cell == "all_games Cyclic"
    assert not import_result.details["differences"]


def test_game_that_repeats_a_rank_has_no_ordinal_name(tmp_path: Path) -> None:
    import_result = IMPORTER.read(games(tmp_path, "31124422"))
    assert import_result.episodes[0].used["ordinal"] is None


def test_games_without_their_matrices_cannot_be_read(tmp_path: Path) -> None:
    folder = games(tmp_path, "31124423")
    (folder / "all_games/144_games_info.csv").unlink()
    with pytest.raises(BadInput, match=r"144_games_info[.]csv is neither under"):
        IMPORTER.read(folder / "all_games/experiments/game_7.csv")


# --- people ---------------------------------------------------------------------------------------


def people(folder: Path, scores: dict[str, list[tuple[int, int]]], tables: bool = True) -> Path:
    rows = [
        {"id": 17, "game": game, "action": action, "score": score, "opponent": "Base",
         "guess": "LLM", "coordination": 0}
        for game, rounds in scores.items() for action, score in rounds
    ]  # fmt: skip
    write_files(folder / "human_experiment/analysis/repgames.csv", rows)
    for name in ("pd", "bos") if tables else ():
        for variant, answer in (("", "J"), ("_variation_predict", "F")):
            keys = ("".join(k) for n in range(10) for k in product("JF", repeat=n))
            path = folder / f"human_experiment/lookups/{name}{variant}_gpt4_lookup.json"
            path.parent.mkdir(exist_ok=True)
            path.write_text(json.dumps(dict.fromkeys(keys, answer)))
    return folder


def test_person_is_the_agent_of_one_game_and_the_partner_of_the_other(tmp_path: Path) -> None:
    import_result = IMPORTER.read(
        people(tmp_path, {"PD": [(1, 8), (0, 5)] * 5, "BoS": [(1, 7), (0, 10)] * 5})
    )
    dilemma, battle = import_result.episodes
    assert (dilemma.payoffs, battle.payoffs) == (
        {"agent": 65.0, "partner": 65.0},
        {"agent": 85.0, "partner": 85.0},
    )
    assert dilemma.setup.instance.id == "akata2025:17:PD"
    assert person_of(dilemma.setup, "agent") == person_of(battle.setup, "partner") == "akata2025:17"
    assert person_of(dilemma.setup, "partner") == ""
    assert dilemma.used["fits"] == ["Base", "Prompted"] * 5
    assert dilemma.used["label"] == "Base" and dilemma.used["scores"][:2] == [8, 5]
    assert [odd["what"] for odd in import_result.details["oddities"]] == ["label"]


def test_score_not_in_the_matrix_leaves_the_other_move_forfeited(tmp_path: Path) -> None:
    import_result = IMPORTER.read(people(tmp_path, {"BoS": [(1, 7)] * 9 + [(1, 10)]}, tables=False))
    (episode,) = import_result.episodes
    (forfeit,) = [e for e in episode.events if isinstance(e, Forfeited)]
    assert (forfeit.turn, forfeit.seat) == (9, "agent")  # GPT-4's seat; the person moved
    assert {odd["what"] for odd in import_result.details["oddities"]} == {
        "no cell",
        "no lookup tables",
    }
    assert episode.used["scores"][-1] == 10


def test_rounds_in_which_the_tables_differ_are_counted_by_file(tmp_path: Path) -> None:
    people(tmp_path, {"PD": [(1, 8), (0, 5)] * 5})
    copy = tmp_path / "more/repgames.csv"
    copy.parent.mkdir()
    text = (tmp_path / "human_experiment/analysis/repgames.csv").read_text()
    copy.write_text(text.replace("17,", "18,"))
    import_result = IMPORTER.read(tmp_path)
    labels = [odd["why"] for odd in import_result.details["oddities"] if odd["what"] == "label"]
    assert len(labels) == 2 and all("in 10 rounds" in reason for reason in labels)
    assert import_result.counts["people"] == 2 and import_result.counts["rounds of people"] == 20


def test_invalid_row_leaves_out_every_person_of_its_file(tmp_path: Path) -> None:
    write_files(tmp_path / "experiment_pd.csv", episode("act_j", "act_f", ["JF"], PD))
    people(tmp_path, {"PD": [(1, 8)] * 10, "BoS": [(2, 7)] * 10})
    import_result = IMPORTER.read(tmp_path)
    assert len(import_result.episodes) == 1 and "people" not in import_result.counts
    assert [odd["what"] for odd in import_result.details["oddities"]] == ["not imported"]


# --- bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"answer2": "X"}, "answer2 is 'X'; it should be J or F"),
        ({"player2": "act_gpt9"}, "player2 is 'act_gpt9'"),
        ({"round": "two"}, "round is 'two'"),
        ({"round": 3}, "round 3 should be round 2"),
        ({"points1": ""}, "points1 is ''"),
    ],
)
def test_invalid_row_is_refused_with_one_message(
    tmp_path: Path, change: dict[str, Any], says: str
) -> None:
    rows = episode("act_gpt4", "act_gpt4", ["JJ", "JJ"], PD)
    for row in rows if "player2" in change else rows[1:]:
        row |= change
    with pytest.raises(BadInput, match=says):
        IMPORTER.read(write_files(tmp_path / "experiment_pd.csv", rows))


def test_wrong_folder_version_or_truncated_file_is_refused(
    tmp_path: Path,
) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadInput, match="no file of akata2025"):
        IMPORTER.read(tmp_path / "empty")
    with pytest.raises(BadInput, match="no file or folder"):
        IMPORTER.read(tmp_path / "nowhere")
    path = write_files(tmp_path / "experiment_bos.csv", [{"round": 1, "who": "x"}])
    with pytest.raises(BadInput, match="no column player1"):
        IMPORTER.read(path)
    path = write_files(path, episode("act_gpt4", "act_f", ["JF"] * 3, BOS))
    path.write_text(path.read_text()[:-12])
    with pytest.raises(BadInput, match="may be incomplete"):
        IMPORTER.read(path)


@pytest.mark.parametrize(
    ("second", "says"),
    [
        ([*episode("act_gpt4", "act_gpt9", ["JJ"] * 3, BOS)], "player2 is 'act_gpt9'"),
        (episode("act_j", "act_f", ["JF"] * 3, BOS)[:2], "stops after round 2 of 3"),
    ],
)
def test_unknown_bot_or_truncated_file_aborts_the_whole_import(
    tmp_path: Path, second: list[dict[str, Any]], says: str
) -> None:
    rows = episode("act_gpt4", "act_gpt4", ["JJ"] * 3, BOS)
    write_files(tmp_path / "experiment_pd.csv", episode("act_j", "act_f", ["JF"] * 3, PD))
    write_files(tmp_path / "experiment_bos.csv", [*rows, *second])
    with pytest.raises(BadInput, match=says):
        IMPORTER.read(tmp_path)


def test_file_that_is_not_a_table_is_listed_and_the_others_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importers, "LARGEST_CELL", 100)
    rows = episode("act_j", "act_f", ["JF"], PD)
    write_files(tmp_path / "experiment_pd.csv", rows)
    write_files(tmp_path / "experiment_bos.csv", [{**rows[0], "answer1": "J" * 101}])
    import_result = IMPORTER.read(tmp_path)
    assert len(import_result.episodes) == 1
    (odd,) = import_result.details["oddities"]
    assert odd["what"] == "not imported" and "experiment_bos.csv is not a table" in odd["why"]


def test_limit_on_cells_is_restored_while_rows_are_read(tmp_path: Path) -> None:
    old_setting = csv.field_size_limit()
    long = "x" * (old_setting + 1)
    rows = importers.table_rows(tmp_path, f"a\n1\n{long}\n".encode(), ["a"])
    assert next(rows) == (2, {"a": "1"})
    assert csv.field_size_limit() == old_setting
    assert next(rows) == (3, {"a": long})
    assert list(rows) == [] and csv.field_size_limit() == old_setting


def test_condition_never_played_is_refused_with_one_message(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="'Chicken' against 'Base' is not a condition"):
        IMPORTER.read(people(tmp_path, {"Chicken": [(1, 8)]}, tables=False))


def test_unknown_file_is_listed_as_oddity(tmp_path: Path) -> None:
    write_files(tmp_path / "experiment_pd.csv", episode("act_j", "act_f", ["JF"], PD))
    (tmp_path / "notes.txt").write_text("to do")
    (odd,) = IMPORTER.read(tmp_path).details["oddities"]
    assert odd["what"] == "unknown file" and odd["file"].endswith("notes.txt")
