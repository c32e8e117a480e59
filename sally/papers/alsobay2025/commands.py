"""`sally paper alsobay2025`: people's contributions, from the published file."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import click

from sally.core.terminal_text import echo
from sally.games.public_goods.metrics import slope
from sally.output.tables.console import json_option, print_json, print_rows
from sally.papers.alsobay2025.atlas import RANGES
from sally.papers.alsobay2025.reader import Person, read
from sally.stats.cluster_interval import mean_by_rule

LONG = 10  # rounds of a game whose last round is shown
FUND_ROUNDING, GAIN_ROUNDING = 0.005, 0.5 + 1e-9  # coins: the texts round to 2 and 0 places
CONDITIONAL, ALWAYS, NEVER = 0.3, 0.9, 0.1


def kind_of(person: Person) -> str:
    """Return the kind of a person: free rider, unconditional giver, conditional giver or other.

    A free rider gives at most a tenth of the coins on average, an unconditional giver at least nine
    tenths. A conditional giver is another person whose contribution rises with the others' mean
    contribution in the previous round, with a slope of at least .3.
    """
    rules = person.rules
    share = sum(r.own_contribution for r in person.rounds) / (rules.tokens * len(person.rounds))
    if share <= NEVER:
        return "free rider"
    if share >= ALWAYS:
        return "unconditional giver"
    pairs = [
        (sum(last.others) / len(last.others), float(now.own_contribution))
        for last, now in pairwise(person.rounds)
        if last.others
    ]
    slope_found = slope(pairs)
    return (
        "conditional giver" if slope_found is not None and slope_found >= CONDITIONAL else "other"
    )


@click.group("alsobay2025")
def COMMANDS() -> None:
    """People in public goods games: figures of the published file."""


@COMMANDS.command("figures")
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--extra-stages", is_flag=True, help="Include games with chat, punishment or reward.")
@json_option
def show(path: Path, extra_stages: bool, as_json: bool) -> None:
    """Print the share of coins contributed, by the amount that each player gets back per coin. Each
    group is a cluster."""
    people = [p for p in read(path).people if p.rounds and (extra_stages or not p.rules.extra)]
    rows = [row for low, high in RANGES if (row := _row(people, low, high))]
    print_rows(rows, as_json, "Share of the coins given")


@COMMANDS.command("gains")
@click.argument("path", type=click.Path(path_type=Path))
@json_option
def gains(path: Path, as_json: bool) -> None:
    """Compare the public fund and the gains that the texts state with the rules of the game.

    Gains are compared only in games without rewards and punishments. They are stated in whole
    coins, so a difference of up to half a coin is rounding. Rounds in which a player left are
    counted separately, because the fund was then not divided among the players listed.
    """
    results = check_figures(read(path).people)
    if as_json:
        print_json(results)
        return
    for name, (n_same, stated) in results.items():
        echo(f"{name}: {n_same} of {stated} stated figures agree")


def check_figures(people: Sequence[Person]) -> dict[str, tuple[int, int]]:
    """Return how many stated funds and gains agree with the rules, and how many are stated."""
    funds, won, leaving = list[bool](), list[bool](), list[bool]()
    for person in people:
        rules = person.rules
        for n, person_round in enumerate(person.rounds):
            pot = person_round.total * rules.ratio
            if person_round.fund is not None:
                funds.append(abs(pot - person_round.fund) < FUND_ROUNDING)
            if person_round.gain is not None and not (rules.punishment or rules.reward):
                gain = (
                    rules.tokens
                    - person_round.own_contribution
                    + pot / (1 + len(person_round.others))
                )
                next_rounds = person.rounds[n + 1 : n + 2]
                someone_left = any(
                    len(person_round.others) != len(next_round.others) for next_round in next_rounds
                )
                (leaving if someone_left else won).append(
                    abs(gain - person_round.gain) <= GAIN_ROUNDING
                )
    return {
        "public fund": (sum(funds), len(funds)),
        "gains without reward and deduction stages": (sum(won), len(won)),
        "the same, in rounds in which a player left": (sum(leaving), len(leaving)),
    }


def _row(people: Sequence[Person], low: float, high: float) -> dict[str, Any]:
    range_people = [p for p in people if low <= p.rules.back < high]
    if not range_people:
        return {}
    row: dict[str, Any] = {
        "return": f"{low:g} to {high:g}",
        "people": len(range_people),
        "groups": len({p.group for p in range_people}),
    }
    long = [p for p in range_people if len(p.rounds) >= LONG]
    columns: dict[str, list[tuple[str, float]]] = {
        "all rounds": [
            (p.group, sum(r.own_contribution for r in p.rounds) / len(p.rounds))
            for p in range_people
        ],
        "first": [(p.group, float(p.rounds[0].own_contribution)) for p in range_people],
        "last": [(p.group, float(p.rounds[-1].own_contribution)) for p in long],
    }
    tokens = range_people[0].rules.tokens  # the same in every game of the record
    for name, contributions in columns.items():
        shares, groups = (
            [contribution / tokens for _, contribution in contributions],
            [group for group, _ in contributions],
        )
        estimate = mean_by_rule(shares, groups, (0.0, 1.0)) if contributions else None
        row[name] = None if estimate is None else estimate.value
        row[f"{name}, interval"] = None if estimate is None else estimate.interval
    for kind in ("free rider", "unconditional giver", "conditional giver", "other"):
        row[kind] = sum(kind_of(p) == kind for p in range_people)
    return row
