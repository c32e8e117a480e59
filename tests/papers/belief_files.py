"""Small files in the published layouts of records with stated beliefs, written by us."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from sally.papers.andreozzi2020 import importer as andreozzi
from sally.papers.fischbacher2010 import importer as fischbacher
from sally.papers.vanbaar2022 import importer as vanbaar

SECRET = "A3SECRETWORKER"  # in columns that must not get into a store


def write(file: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    """Write rows as a CSV table."""
    lines = list(rows)
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w", newline="", encoding="utf-8") as handle:
        writer = csv.DictWriter(handle, list(lines[0]))
        writer.writeheader()
        writer.writerows(lines)
    return file


# --- andreozzi2020 --------------------------------------------------------------------------------

PLANS = [("L", "L", "L", "L"), ("H", "L", "M", "H"), ("M", "L", "M", "M"), ("H", "L", "L", "H")]
ODDS = [(0.7, 0.2, 0.1), (1.0, 0.0, 0.0), (0.25, 0.5, 0.25), (0.1, 0.2, 0.7)]


def dilemma(periods: int = 3) -> list[dict[str, Any]]:
    """Four people in one session who meet in pairs that change from period to period."""
    rows = []
    for period in range(1, periods + 1):
        for person in range(4):
            partner = person ^ (1 + period % 3)
            own_plan, other_plan = PLANS[(person + period) % 4], PLANS[(partner + period) % 4]
            is_first = person < partner
            first, second = (own_plan, other_plan) if is_first else (other_plan, own_plan)
            moves = (first[0], second[1 + andreozzi.NAMES.index(first[0])])
            action, reply = moves if is_first else moves[::-1]
            beliefs = [ODDS[(person + ask + period) % 4] for ask in range(4)]
            row: dict[str, Any] = {
                "subject_unq": 11001 + person,
                "session_unq": 10001,
                "period": period,
                "treatment": "CondInfo",
                "first_player": int(is_first),
                "opp_unq": 11001 + partner,
                "birth_year": SECRET,
            }
            for ask, mine, other_move, odds in zip(
                andreozzi.ASKS, own_plan, other_plan, beliefs, strict=True
            ):
                row[ask], row[f"o{ask}"] = andreozzi.POINTS[mine], andreozzi.POINTS[other_move]
                for name, p in zip(andreozzi.NAMES, odds, strict=True):
                    row[f"b{ask}_{name}"] = p
            points = (andreozzi.POINTS[action], andreozzi.POINTS[reply])
            row |= {
                "action": points[0],
                "opp_action": points[1],
                "earning_game": 100 - points[0] + 3 * points[1],
                "earning_guess": round(andreozzi.belief_pay(beliefs[0], other_plan[0]), 1),
            }
            rows.append(row)
    return rows


def write_andreozzi(folder: Path, rows: list[dict[str, Any]] | None = None) -> Path:
    write(folder / "data/csv/subjects.csv", dilemma() if rows is None else rows)
    write(folder / "rawdata/quest.csv", [{"birth_year": SECRET}])
    return folder


# --- mori2024 -------------------------------------------------------------------------------------


def main_experiment(people: int = 5) -> list[dict[str, Any]]:
    rows = []
    for person in range(people):
        for number, (option, threshold) in enumerate(
            (option, threshold) for option in "AF" for threshold in (2, 4, 5)
        ):
            givers, loners = (7 * person + 5 * number) % 25, 0 if option == "A" else person
            keepers = 30 - givers - loners
            members = givers + keepers
            rows.append(
                {
                    "pid": f"{SECRET}{person}",
                    "p_option": option,
                    "thr": threshold,
                    "action": "CD"[(person + number) % 2] if option == "A" else "CDL"[person % 3],
                    "belief_c": float(givers),
                    "belief_d": float(keepers),
                    "belief_l": "" if option == "A" else float(loners),
                    "confidence": 10 * (person + 1),
                    "gamma_c": givers / members,
                    "svo": SECRET,
                }
            )
    return rows


def additional_experiment(people: int = 6) -> list[dict[str, Any]]:
    rows = []
    for person in range(people):
        for number, share in enumerate((0.0, 0.5, 1.0), 1):
            givers, loners = (11 * person + 3 * number) % 20, 5 + person
            keepers = 30 - givers - loners
            rows.append(
                {
                    "pid": f"{SECRET}{person}",
                    "rho": share,
                    "belief_l": float(loners),
                    "belief_c": float(givers),
                    "belief_d": float(keepers),
                    "action": "CDL"[(person + number) % 3],
                    "round_number": number,
                    "gamma": givers / (givers + keepers + share * loners),
                }
            )
    return rows


def write_mori(folder: Path) -> Path:
    write(folder / "data/main_exp_result.csv", main_experiment())
    write(folder / "data/sub_exp_result.csv", additional_experiment())
    sessions = [
        {"pid": f"{SECRET}{person}", "session_no": 1 + person // 3, "age": SECRET}
        for person in range(6)
    ]
    write(folder / "data/sub_participant_attributes.csv", sessions)
    return folder


# --- vanbaar2022 ----------------------------------------------------------------------------------

GAMES = {"HG": (7, 8), "SG": (7, 12), "SH": (3, 8), "PD": (3, 12)}


def study(players: list[str], people: int = 2) -> list[dict[str, Any]]:
    rows = []
    for person in range(people):
        for block, player in enumerate(players):
            for trial in range(4):
                game = list(GAMES)[(trial + block) % 4]
                s, t = GAMES[game]
                truth = vanbaar.predicted_rule(player.replace("pes_", "pess_"), s, t)
                answer = ("coop", "def")[(person + trial) % 2]
                rows.append(
                    {
                        "worker": SECRET,
                        "subID": f"id{person}",
                        "Block": block,
                        "Type_Total": player,
                        "Trial": trial,
                        "S": s,
                        "T": t,
                        "GameType": game,
                        "CorrAns": truth,
                        "GivenAns": answer,
                        "ConfidenceNum": 50 + 10 * trial,
                        "ScoreNum": int(answer == truth),
                    }
                )
    return rows


def last_study(people: int = 3) -> tuple[list[dict[str, Any]], ...]:
    """Predictions, inspections and quiz answers of study 4."""
    predictions, inspections, quiz = [], [], []
    for person in range(people):
        for game in GAMES:
            own = ("coop", "def")[person % 2]
            quiz.append({"game_type": game, "self": own, "subID": f"id{person}", "why": SECRET})
        for block, player in enumerate(("pess", "opt")):
            for trial, (game, (s, t)) in enumerate(GAMES.items()):
                answer = ("coop", "def")[(person + trial + block) % 2]
                truth = vanbaar.predicted_rule(player, s, t)
                predictions.append(
                    {
                        "trial": trial,
                        "S": s,
                        "T": t,
                        "gt": game,
                        "player_type": player,
                        "choice": answer,
                        "conf": f"{10 * trial + 50}%",
                        "score": int(answer == truth),
                        "block": block,
                        "subID": f"id{person}",
                        "assignment": SECRET,
                    }
                )
            choices = [(person + block + trial * trial) % 3 != 0 for trial in range(15)]
            for trial, cost in enumerate(vanbaar.prices(choices)):
                paid = 30 - cost if choices[trial] else 0
                if player == "pess":
                    paid = 40 - cost * choices[trial]
                inspections.append(
                    {
                        "choice": "inspect" if choices[trial] else "not inspect",
                        "cost": cost,
                        "player_type": player,
                        "score": paid,
                        "trial": trial,
                        "work_confidence": 20.0 + 30 * block + 5 * person if trial < 10 else "",
                        "block": block,
                        "subID": f"id{person}",
                        "worker": SECRET,
                    }
                )
    return predictions, inspections, quiz


def write_vanbaar(folder: Path) -> Path:
    kinds = {1: ["opt_nat", "pess_inv"], 2: ["pes_nat", "opt_inv"], 3: ["trust_nat", "env_nat"]}
    for number, file in vanbaar.STUDY_FILES.items():
        write(folder / file, study(kinds[number]))
    names = (vanbaar.PREDICTIONS, vanbaar.INSPECTIONS, vanbaar.QUIZ)
    for name, rows in zip(names, last_study(), strict=True):
        write(folder / name, rows)
    return folder


# --- fischbacher2010 ------------------------------------------------------------------------------


def public_good(periods: int = 3) -> list[dict[str, Any]]:
    """Two groups of four per period."""
    rows = []
    for period in range(1, periods + 1):
        for group in range(2):
            gifts = [(3 * person + 5 * period + group) % 21 for person in range(4)]
            for person, gift in enumerate(gifts):
                others = round((sum(gifts) - gift) / 3)
                row: dict[str, Any] = {
                    "idsubj": f"{SECRET}{(person + 4 * group + period) % 8}",
                    "session": 1,
                    "period": period,
                    "group": group,
                    "cont": gift,
                    "othercont": others,
                    "belief": (others + person) % 21,
                    "profit": 20 - gift + 0.4 * sum(gifts),
                    "preftype": 1 + person % 2,
                    "sequencePC": group,
                }
                row |= {name: n // 2 for n, name in enumerate(fischbacher.SCHEDULE)}
                rows.append(row)
    return rows


def write_fischbacher(folder: Path) -> Path:
    write(folder / "data/FG2010.csv", public_good())
    return folder


# --- kahn2026 -------------------------------------------------------------------------------------

RUNGS = {"Return to Start Line": 0, "Signal": 5, "Limited Strike": 300, "All Out": 1000}


def crisis(turns: int = 4) -> list[dict[str, Any]]:
    """A game of two models; the second player's second reply could not be read, and its third move
    was an accident."""
    rows, names = [], list(RUNGS)
    for turn in range(1, turns + 1):
        row: dict[str, Any] = {"turn": turn}
        for number, (side, model) in enumerate((("state_a", "GPT-5.2"), ("state_b", "Gemini"))):
            rung = names[(turn + number) % 4]
            unread = number == 1 and turn == 2
            rung = names[0] if unread else rung
            row |= {
                f"{side}_model": model,
                f"{side}_predicted_opponent_action": f"{names[turn % 4]}: it did so before",
                f"{side}_predictive_confidence": "High" if turn % 2 else "Medium",
                f"{side}_immediate_signal_value": RUNGS[names[turn % 4]],
                f"{side}_action_rung": rung,
                f"{side}_action_value": RUNGS[rung],
                f"{side}_accident": number == 1 and turn == 3,
                f"{side}_action_rationale": "" if unread else SECRET,
                f"{side}_consistency_statement": "" if unread else SECRET,
            }
        rows.append(row)
    return rows


def write_kahn(folder: Path) -> Path:
    for number in (1, 2):
        write(folder / f"games/game_{number}.csv", crisis())
    write(folder / "notes.csv", [{"note": SECRET}])
    return folder


WRITERS = {
    "andreozzi2020": write_andreozzi,
    "mori2024": write_mori,
    "vanbaar2022": write_vanbaar,
    "fischbacher2010": write_fischbacher,
    "kahn2026": write_kahn,
}
