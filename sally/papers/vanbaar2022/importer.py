"""Importer of van Baar, Nassar, Deng and FeldmanHall (2022): four studies.

In all studies people predict scripted players in 2x2 games. In study 4 they then decide, 15 times
for each of two players, whether to inspect that player, who always works or always shirks. The
price of an inspection goes up after "inspect" and down after "not inspect" from the second trial
on, so only the first trial measures acting; the others have the status `adaptive price`. Of every
file only the listed columns are read: worker ids, assignments and free text never get into a store.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import floor
from pathlib import Path
from typing import Any

import msgspec

from sally.core.registry.paper import Importer, ImportResult
from sally.games.elicitation.recorded_decisions import BeliefRow, StatedBelief, episode_of
from sally.parts.importers import (
    ImportRun,
    NotPublished,
    PersonNumbers,
    Source,
    existing,
    published_line,
    read_fetched_file,
    table_rows,
)

SOURCE = "van Baar et al. 2022, github.com/jeroenvanbaar/NHB_motives_structure"
LICENCE = "MIT, (c) 2021 Jeroen van Baar; other columns left out"
FOLDER = "Study4_InspectionGame/Data/Cleaned"
STUDY_FILES = {
    1: "Study1_MTurk/Data/Cleaned/gameDat.csv",
    2: "Study2_EyeTracking/Data/gameDat_study2.csv",
    3: "Study3_NewPlayerTypes/Data/Cleaned/gameDat_study4.csv",
}
SURVEYED = "Study3_NewPlayerTypes/Data/Cleaned/gameDat_study4_surveyonly.csv"  # the paper's 148
PREDICTIONS, INSPECTIONS, QUIZ = (f"{FOLDER}/{name}_dat.csv" for name in ("SPG", "WS", "quiz"))
STUDY_COLUMNS = (
    *("subID", "Block", "Type_Total", "Trial", "S", "T", "GameType"),
    *("CorrAns", "GivenAns", "ConfidenceNum", "ScoreNum"),
)
PREDICTION_COLUMNS = (
    *("subID", "block", "player_type", "trial", "S", "T", "gt", "choice", "conf", "score"),
)
INSPECTION_COLUMNS = (
    *("subID", "block", "player_type", "trial", "choice", "cost", "score", "work_confidence"),
)
QUIZ_COLUMNS = ("subID", "game_type", "self")
ANSWERS = ("coop", "def")
MENU = ("inspect", "not inspect")
WORKS, CAUGHT = 40, 30
WORKERS = {"pess": "work", "opt": "shirk"}
FIRST_PRICE, MOST_PRICE = 15, 30
STEPS = (10, 5, 2.5, 1)  # of the price: up to the second reversal, then one after the other
SAME_NAMES = {"pes": "pess", "pes_nat": "pess_nat", "pes_inv": "pess_inv"}  # used in study 2


class Prediction(msgspec.Struct, frozen=True):
    """What a person predicted of a scripted player in one game."""

    study: int
    person: str
    block: int
    trial: int
    player: str
    game: str  # HG, SG, SH or PD
    answer: str
    confidence: float | None
    truth: str
    own_answer: str | None = None  # of study 4: what the person would do in such a game
    is_surveyed: bool = False  # of study 3: whether the person is one of those in the paper


class InspectionChoice(msgspec.Struct, frozen=True):
    """Whether a person inspected a player, at what price, and the belief that the player works."""

    person: str
    block: int
    trial: int
    player: str
    is_inspected: bool
    cost: int
    score: float
    works: float


class Studies(msgspec.Struct, frozen=True):
    """The four studies, and the files they are from."""

    predictions: tuple[Prediction, ...]
    inspections: tuple[InspectionChoice, ...]
    sources: dict[str, Source]


def read(path: Path) -> Studies:
    """Return the studies in a checkout.

    Raises:
        NotPublished: A file or column is missing, or recorded scores, prices and answers contradict
            the rules of the players and of the game.
    """
    if not existing(path).is_dir():
        raise NotPublished(f"{path} is a file; give a checkout of NHB_motives_structure.")
    sources: dict[str, Source] = {}

    def rows(name: str, columns: Sequence[str]) -> Iterator[tuple[Path, int, Mapping[str, str]]]:
        file = path / name
        if not file.is_file():
            raise NotPublished(f"{path} has no {name}; give a checkout of NHB_motives_structure.")
        data = read_fetched_file(file)
        sources[name] = Source.of(SOURCE, LICENCE, file.name, data)
        for line, row in table_rows(file, data, columns):
            yield file, line, row

    has_survey = (path / SURVEYED).is_file()
    surveyed = {row["subID"] for _, _, row in rows(SURVEYED, ("subID",))} if has_survey else set()
    predictions: list[Prediction] = []
    for study, name in STUDY_FILES.items():
        people = PersonNumbers(str(study))
        for file, line, row in rows(name, STUDY_COLUMNS):
            with published_line(file, line):
                is_surveyed = study == 3 and row["subID"] in surveyed
                predictions.append(_prediction(study, people, row, is_surveyed))
    people = PersonNumbers("4")
    own_answers: dict[tuple[str, str], str] = {}
    for file, line, row in rows(QUIZ, QUIZ_COLUMNS):
        with published_line(file, line):
            own_answers[people[row["subID"]], row["game_type"]] = _answer(row["self"])
    for file, line, row in rows(PREDICTIONS, PREDICTION_COLUMNS):
        with published_line(file, line):
            predictions.append(_last_study(people, row, own_answers))
    inspections = _inspections(people, list(rows(INSPECTIONS, INSPECTION_COLUMNS)))
    _check_once(predictions)
    _check_complete(predictions, inspections)
    return Studies(tuple(predictions), tuple(inspections), sources)


def predicted_rule(player: str, s: float, t: float) -> str:
    """Return what a scripted player does in the game with the payoffs 10, S, T and 5.

    >>> predicted_rule("opt_nat", 3, 12), predicted_rule("opt_inv", 3, 12)
    ('def', 'coop')
    """
    rule, _, variant = player.partition("_")
    cooperates = {
        "opt": max(10, s) > max(t, 5),
        "pess": min(10, s) > min(t, 5),
        "trust": True,
        "env": s >= t,
    }[rule]
    return ANSWERS[cooperates is (variant == "inv")]


def _prediction(
    study: int, people: PersonNumbers, row: Mapping[str, str], is_surveyed: bool
) -> Prediction:
    player = SAME_NAMES.get(row["Type_Total"], row["Type_Total"])
    player = player if "_" in player else f"{player}_nat"
    truth, answer = predicted_rule(player, float(row["S"]), float(row["T"])), row["GivenAns"]
    _check_kind(row["GameType"], float(row["S"]), float(row["T"]))
    if row["CorrAns"] != truth:
        raise NotPublished(f"{player} answers {truth}, the file says {row['CorrAns']}.")
    if float(row["ScoreNum"]) != (answer == truth):
        raise NotPublished("the score is not that of the answer.")
    return Prediction(
        study,
        people[row["subID"]],
        int(row["Block"]),
        int(row["Trial"]),
        player,
        row["GameType"],
        _answer(answer),
        _confidence(row["ConfidenceNum"]),
        truth,
        is_surveyed=is_surveyed,
    )


def _last_study(
    people: PersonNumbers, row: Mapping[str, str], own_answers: Mapping[tuple[str, str], str]
) -> Prediction:
    player, answer = row["player_type"], row["choice"]
    truth = predicted_rule(player, float(row["S"]), float(row["T"]))
    _check_kind(row["gt"], float(row["S"]), float(row["T"]))
    if float(row["score"]) != (answer == truth):
        raise NotPublished("the score is not that of the answer.")
    person = people[row["subID"]]
    return Prediction(
        4,
        person,
        int(row["block"]),
        int(row["trial"]),
        player,
        row["gt"],
        _answer(answer),
        _confidence(row["conf"].removesuffix("%")),
        truth,
        own_answers.get((person, row["gt"])),
    )


def _check_kind(name: str, s: float, t: float) -> None:
    """Raise NotPublished if S and T do not make a game of the named kind."""
    kind = ("HG" if t < 10 else "SG") if s > 5 else ("SH" if t < 10 else "PD")
    if name != kind:
        raise NotPublished(f"S {s:g} and T {t:g} make a game {kind}, the file says {name}.")


def _check_complete(predictions: Sequence[Prediction], choices: Sequence[InspectionChoice]) -> None:
    """Raise NotPublished if the people of a study have different numbers of rows."""
    rows = {
        f"predictions of study {study}": Counter(p.person for p in predictions if p.study == study)
        for study in (*STUDY_FILES, 4)
    }
    rows["inspections"] = Counter(choice.person for choice in choices)
    for name, counts in rows.items():
        if len(set(counts.values())) > 1:
            person, few = min(counts.items(), key=lambda item: item[1])
            largest = max(counts.values())
            raise NotPublished(f"person {person} has {few} of {largest} {name}.")


def _answer(text: str) -> str:
    if text not in ANSWERS:
        raise ValueError(repr(text))
    return text


def _confidence(text: str) -> float | None:
    if text in ("", "nan", "NaN"):
        return None
    share = float(text) / 100
    if not 0 <= share <= 1:
        raise ValueError(text)
    return share


def _check_once(predictions: Sequence[Prediction]) -> None:
    keys: set[tuple[int, str, int, int]] = set()
    for prediction in predictions:
        key = (prediction.study, prediction.person, prediction.block, prediction.trial)
        if key in keys:
            raise NotPublished(
                f"study {prediction.study}: person {prediction.person} has trial "
                f"{prediction.trial} of block {prediction.block} twice."
            )
        keys.add(key)


def _inspections(
    people: PersonNumbers,
    rows: Sequence[tuple[Path, int, Mapping[str, str]]],
) -> list[InspectionChoice]:
    """Return the inspections; the stated belief is recorded in the first ten trials of a block."""
    stated: dict[tuple[str, str], str] = {}
    choices: list[InspectionChoice] = []
    for file, line, row in rows:
        with published_line(file, line):
            key, text = (people[row["subID"]], row["block"]), row["work_confidence"]
            if text not in ("", "nan", "NaN") and stated.setdefault(key, text) != text:
                raise NotPublished("the belief about one player has two values.")
            is_inspected = {"inspect": True, "not inspect": False}[row["choice"]]
            cost, player = int(float(row["cost"])), row["player_type"]
            pays = CAUGHT if is_inspected else 0
            pays = (WORKS if WORKERS[player] == "work" else pays) - cost * is_inspected
            if float(row["score"]) != pays:
                raise NotPublished(f"the choice pays {pays}, the file says {row['score']}.")
            works = _confidence(stated[key])
            assert works is not None  # an empty cell is not a stated belief
            trial = int(row["trial"])
            choices.append(
                InspectionChoice(
                    key[0], int(row["block"]), trial, player, is_inspected, cost, pays, works
                )
            )
    _check_prices(choices)
    return choices


def _check_prices(choices: Sequence[InspectionChoice]) -> None:
    blocks: dict[tuple[str, int], list[InspectionChoice]] = {}
    for choice in choices:
        blocks.setdefault((choice.person, choice.block), []).append(choice)
    for (person, block), trials in blocks.items():
        if [choice.trial for choice in trials] != list(range(len(trials))):
            raise NotPublished(f"WS_dat.csv: block {block} of person {person} has missing trials.")
        if len({choice.player for choice in trials}) > 1:
            raise NotPublished(f"WS_dat.csv: block {block} of person {person} has two players.")
        if prices([choice.is_inspected for choice in trials]) != [choice.cost for choice in trials]:
            raise NotPublished(f"WS_dat.csv: the prices of person {person} break their rule.")


def prices(inspected: Sequence[bool]) -> list[int]:
    """Return the price of each trial: 15, then up after "inspect" and down after "not inspect".

    The step is 10 up to and including the second reversal, then 5, 2.5 (halves rounded up) and 1;
    prices stay from 0 to 30.

    >>> prices([True, False, True, False, False, False])
    [15, 25, 15, 25, 20, 18]
    """
    costs, reversals, later = [FIRST_PRICE], 0, 0
    for number, is_up in enumerate(inspected[:-1]):
        reversals += number > 0 and is_up is not inspected[number - 1]
        step = STEPS[min(later, len(STEPS) - 1)]
        later += reversals >= 2
        price = floor(costs[-1] + (step if is_up else -step) + 0.5)
        costs.append(min(MOST_PRICE, max(0, price)))
    return costs


def prediction_row(prediction: Prediction) -> BeliefRow:
    """Return a prediction as a row of the common table, without a choice."""
    source = f"vanbaar2022_study{prediction.study}"
    belief = StatedBelief(
        "next_answer",
        ANSWERS,
        "choice",
        prediction.answer,
        confidence=prediction.confidence,
        truth=prediction.truth,
        about=prediction.player,
        asked="unknown",
    )
    return BeliefRow(
        source=source,
        person=prediction.person,
        period=prediction.trial,
        instance=f"{source}:{prediction.person}:{prediction.block}:{prediction.trial}",
        cell=prediction.player,
        beliefs=(belief,),
    )


def inspection_row(choice: InspectionChoice) -> BeliefRow:
    """Return an inspection as a row of the common table."""
    belief = StatedBelief(
        "works",
        ("work", "shirk"),
        "odds",
        (choice.works, round(1 - choice.works, 12)),
        truth=WORKERS[choice.player],
        about=choice.player,
        asked="unknown",
        bears="payoff",
    )
    return BeliefRow(
        source="vanbaar2022",
        person=choice.person,
        period=choice.trial,
        instance=f"vanbaar2022:{choice.person}:{choice.player}:{choice.trial}",
        cell=choice.player,
        menu=MENU,
        action=MENU[not choice.is_inspected],
        status="chosen" if choice.trial == 0 else "adaptive price",
        payoff="inspection",
        params={"cost": choice.cost, "works": WORKS, "caught": CAUGHT},
        beliefs=(belief,),
        earned=choice.score,
    )


def import_studies(path: Path) -> ImportResult:
    """Import the predictions and inspections of a checkout."""
    studies = read(path)
    run = ImportRun(counts={"found": len(studies.predictions) + len(studies.inspections)})
    for prediction in studies.predictions:
        source = studies.sources[STUDY_FILES.get(prediction.study, PREDICTIONS)]
        facts: dict[str, Any] = {"block": prediction.block, "game": prediction.game}
        if prediction.own_answer is not None:
            facts["own_answer"] = prediction.own_answer
        if prediction.is_surveyed:
            facts["is_surveyed"] = True
        episode, differences = episode_of(prediction_row(prediction), source, {"prediction": facts})
        run.add(episode, differences, {f"predictions of study {prediction.study}": 1})
    for choice in studies.inspections:
        episode, differences = episode_of(inspection_row(choice), studies.sources[INSPECTIONS])
        run.add(episode, differences, {"inspections": 1, "first inspections": choice.trial == 0})
    return run.result()


IMPORTER = Importer(
    "vanbaar2022",
    "people who predict a player, then decide whether to inspect (van Baar et al. 2022)",
    import_studies,
)
