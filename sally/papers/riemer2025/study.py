"""riemer2025 as studies: Tables 1-4 and 8-10 for any model, and the effect of action names.

The second study, riemer2025_names, plays the conditions of Figures 19-43.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sally.analysis.compare.published_figures import Condition, load
from sally.core.log.events import Injection
from sally.core.registry.study import Cell, Study, grid, instance, player_spec
from sally.core.rules.game import Seat

TABLES = ("1", "2", "3", "4", "8", "9", "10")
EPISODES = 30  # per cell; the paper has 30 to 100
ROUNDS = 100
MOVES = {"rps": 3, "ibs": 2, "ipd": 2}
OPENING = {"rps": 1, "ibs": 0, "ipd": 0}  # tit for tat opens with its reply to action 0
NAMES = {"rps": "J F B", "ibs": "J F", "ipd": "J F"}  # where a table names none
TOLD = ("oracle", "oracle_max")
PREDICTS_ITSELF = ("social_qa", "social_lm")  # they predict inside the decision

Row = Mapping[str, Condition]


def conditions(table: str) -> list[Row]:
    """Return the distinct conditions of a table, in the order of its rows, without the model."""
    rows_found: dict[tuple[tuple[str, Condition], ...], Row] = {}
    for figure in load("riemer2025").tables[table].rows:
        row = {key: value for key, value in fill_defaults(figure.row).items() if key != "model"}
        rows_found.setdefault(tuple(sorted(row.items(), key=str)), row)
    return list(rows_found.values())


def fill_defaults(row: Row) -> Row:
    """Return a row with the defaults filled in for the settings that its table does not mention."""
    if row.get("player") != "language":
        return row
    row = {"strategy": "qa", **row, "names": row.get("names", NAMES[str(row["game"])])}
    return {"memory": 1, **row} if row["strategy"] == "reflexion" else row


def cell(table: str, row: Row) -> Cell:
    """Return one condition as a cell; if its kind of partner has several versions, each gets the
    same number of episodes."""
    game, kind = str(row["game"]), str(row["partner"])
    has_versions = kind == "single_action"
    partners = (
        tuple(player_spec(kind, action=action) for action in range(MOVES[game]))
        if has_versions
        else (player_spec(kind, first=OPENING[game]),)
    )
    names = row.get("names")
    name_params: dict[str, Any] = {"names": str(names).split()} if names else {}
    id = "-".join([game, *name_params.get("names", [])])
    strategy = row.get("strategy")
    return Cell(
        name=f"{f'table {table}' if table.isdigit() else table}: {', '.join(_row_words(row))}",
        instances=(instance(game, id, rounds=ROUNDS, **name_params),),
        lineups=grid(agent=_agent(row), partner=partners),
        arms={} if strategy in (*TOLD, *PREDICTS_ITSELF) else {"agent": (_probe(row),)},
        injections=(Injection(Seat("agent"), "their_move"),) if strategy in TOLD else (),
        repeats=EPISODES // len(partners),
    )


def _agent(row: Row) -> Any:
    if row["player"] != "language":
        return player_spec(str(row["player"]))
    switches = {
        key: row[key] == "on" if row[key] in ("on", "off") else row[key]
        for key in ("memory", "history", "payoffs")
        if key in row
    }
    params: dict[str, Any] = {"model": "model", "strategy": row["strategy"]}
    return player_spec("language", **params, **({"with_": switches} if switches else {}))


def _probe(row: Row) -> str:
    """Return the name of the prediction probe. A language model is asked for the other's move given
    its own move; the learner is asked before it chooses its own."""
    return "their_move_given_mine" if row["player"] == "language" else "their_move"


def _row_words(row: Row) -> Iterator[str]:
    yield str(row["game"])
    yield str(row["partner"])
    yield str(row.get("strategy", row["player"]))
    for key in ("memory", "history", "payoffs", "names"):
        if key in row:
            yield f"{key} {row[key]}"


REPEATED = 20  # letters in a long name
NAME_SETS = {
    "neutral": ("J", "F", "B"),
    "repeated": ("J" * REPEATED, "F" * REPEATED, "B" * REPEATED),
    "food": ("Pasta", "Rice", "Bread"),
}
CANONICAL = {
    "rps": ("Rock", "Paper", "Scissors"),
    "ibs": ("Fight", "Ballet"),
    "ipd": ("Cooperate", "Defect"),
}
PARTNERS = ("single_action", "tit_for_tat")


def name_sets(game: str) -> dict[str, str]:
    """Return the sets of action names of a game, by kind of name."""
    sets = {**NAME_SETS, "canonical": CANONICAL[game]}
    return {kind: " ".join(names[: len(CANONICAL[game])]) for kind, names in sets.items()}


NAMES_STUDY = Study(
    name="riemer2025_names",
    about="what the names of actions change in repeated games, Figures 19-43 of riemer2025",
    cells=tuple(
        cell(
            "names",
            {
                "game": game,
                "partner": partner,
                "player": "language",
                "strategy": "qa",
                "names": names,
            },
        )
        for game in CANONICAL
        for partner in PARTNERS
        for names in name_sets(game).values()
    ),
    paper="riemer2025",
    retries=2,
)


def study(tables: Iterable[str] = TABLES) -> Study:
    """Return the study of these tables."""
    return Study(
        name="riemer2025",
        about="literal and functional theory of mind in repeated games, Tables 1-4 and 8-10",
        cells=tuple(cell(table, row) for table in tables for row in conditions(table)),
        paper="riemer2025",
        retries=2,
    )


STUDY = study()
STUDIES = (STUDY, NAMES_STUDY)
