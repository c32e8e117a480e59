"""riemer2025: the conditions of its Tables 1-4 and 8-10, for any model.

The conditions are read off the published tables, so that every figure has its cell. Where a
table does not say, we choose: J, F, B as names, one plan as reflexion's memory, qa as the strategy
of Table 4.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sally.analysis.compare.published import Condition, load
from sally.core.registry.study import Cell, grid, instance, player_spec
from sally.core.rules.game import Seat
from sally.core.rules.probe import Injection

TABLES = ("1", "2", "3", "4", "8", "9", "10")
EPISODES = 30  # a cell; the paper has 30 to 100
ROUNDS = 100
MOVES = {"rps": 3, "ibs": 2, "ipd": 2}
OPENING = {"rps": 1, "ibs": 0, "ipd": 0}  # tit for tat opens with its reply to action 0
NAMES = {"rps": "J F B", "ibs": "J F", "ipd": "J F"}  # where a table does not say
TOLD = ("oracle", "oracle_max")
PREDICTS_ITSELF = ("social_qa", "social_lm")  # their prediction is made inside the decision

Row = Mapping[str, Condition]


def conditions(table: str) -> list[Row]:
    """The distinct conditions of a table, in its order, whatever the model was."""
    found: dict[tuple[tuple[str, Condition], ...], Row] = {}
    for figure in load("riemer2025").tables[table].rows:
        row = {key: value for key, value in completed(figure.row).items() if key != "model"}
        found.setdefault(tuple(sorted(row.items(), key=str)), row)
    return list(found.values())


def completed(row: Row) -> Row:
    """A row with what its table leaves unsaid, as this study plays it."""
    if row.get("player") != "language":
        return row
    row = {"strategy": "qa", **row, "names": row.get("names", NAMES[str(row["game"])])}
    return {"memory": 1, **row} if row["strategy"] == "reflexion" else row


def cell(table: str, row: Row) -> Cell:
    """One condition as a cell: uniform over the partners of its kind."""
    game, kind = str(row["game"]), str(row["partner"])
    many = kind == "single_action"
    partners = (
        tuple(player_spec(kind, action=action) for action in range(MOVES[game]))
        if many
        else (player_spec(kind, first=OPENING[game]),)
    )
    names = row.get("names")
    named: dict[str, Any] = {"names": str(names).split()} if names else {}
    id = "-".join([game, *named.get("names", [])])
    strategy = row.get("strategy")
    return Cell(
        name=f"{f'table {table}' if table.isdigit() else table}: {', '.join(_said(row))}",
        instances=(instance(game, id, rounds=ROUNDS, **named),),
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
    """The learner predicts before it moves; a model is asked with its own move stated."""
    return "their_move_given_mine" if row["player"] == "language" else "their_move"


def _said(row: Row) -> Iterator[str]:
    yield str(row["game"])
    yield str(row["partner"])
    yield str(row.get("strategy", row["player"]))
    for key in ("memory", "history", "payoffs", "names"):
        if key in row:
            yield f"{key} {row[key]}"
