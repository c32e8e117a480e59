"""Print the tables of the atlas and of the pages of results that come from full records.

    python -m benchmarks.full_record_tables docs/results/full_records

The folder holds what `python -m benchmarks.full_records measure` wrote.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.full_records import MeasuredRecord, measured_records

Figures = Mapping[str, Any]
LEAST_GAMES = 14  # of a model in the table of the step race
LEAST_SEATS = 60  # seat-games of a rated model in bargaining
SHOWN = 12  # rated models at both ends


def number(value: float | None, digits: int = 3, is_signed: bool = False) -> str:
    """Return a number without the zero before its point."""
    if value is None:
        return ""
    text = f"{value:+.{digits}f}" if is_signed else f"{value:.{digits}f}"
    if float(text) == 0:
        return "0" if digits else text
    return text.replace("0.", ".", 1) if abs(float(text)) < 1 else text


def cell(estimate: Figures | None, digits: int = 3, is_signed: bool = False) -> str:
    """Return an estimate with its interval."""
    if estimate is None or estimate["value"] is None:
        return "-"
    text = number(estimate["value"], digits, is_signed)
    if estimate["low"] is None:
        return text
    ends = (number(estimate[end], digits, is_signed) for end in ("low", "high"))
    return f"{text} [{', '.join(ends)}]"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a Markdown table."""
    yield f"| {' | '.join(head)} |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield f"| {' | '.join(row)} |"


# --- the atlas ------------------------------------------------------------------------------------

DILEMMA = {
    "GPT5mini": "GPT-5-mini",
    "Claude4-Sonnet": "Claude 4 Sonnet",
    "GPT4.1mini": "GPT-4.1 mini",
    "Gemini20Flash": "Gemini 2.0 Flash",
}


def hcss2025(figures: Figures) -> Iterator[str]:
    """Yield the table of models whose replies are mostly readable, and what was scored."""
    rows = []
    for model, name in DILEMMA.items():
        by_stop = {row["stop"]: row for row in figures["rows"] if row["model"] == model}
        cells = [name]
        for column, digits in (("opens", 3), ("doing", 2)):
            for stop in (0.25, 0.75):
                estimate, n = by_stop[stop][column]
                displayed = estimate if column == "doing" else {**estimate, "low": None}
                cells.append(f"{cell(displayed, digits)} (n {n:,})")
        rows.append(cells)
    head = ["", "opens with C at stop .25", "at stop .75", "doing at .25", "at .75"]
    yield from table(head, rows)
    yield ""
    scored = figures["scored"]
    as_scored = sum(row["cooperation as scored"] for row in scored.values())
    readable = sum(row["readable cooperation"] for row in scored.values())
    unread = as_scored - readable
    yield f"Of {as_scored:,} moves {unread:,} ({unread / as_scored:.0%}) do not name C"
    for model, row in scored.items():
        unread_share = 1 - row["readable cooperation"] / row["cooperation as scored"]
        yield (
            f"{model}: {unread_share:.0%}; as scored "
            f"{number(row['cooperation as scored'] / row['moves'], 2)} of {row['moves']:,} moves, "
            f"{number(row['readable cooperation'] / row['readable'], 2)} of {row['readable']:,} "
            "readable decisions"
        )


def eger2017(figures: Figures) -> Iterator[str]:
    """Yield scores, and how often certainly playable cards stay unplayed."""
    for name, value in figures.items():
        yield f"{name}: {cell(value) if isinstance(value, Mapping) else value}"


def zhu2024(figures: Figures) -> Iterator[str]:
    """Yield doing of people and rules, and shares of levels."""
    for name, estimate in figures["summary"].items():
        yield f"{name}: {cell(estimate)}"
    for mixture in figures["mixtures"]:
        shares = ", ".join(f"{share:.0%}" for share in mixture["shares"])
        yield f"levels 0 to 3 with an error rate of {mixture['error']:g}: {shares}"


# --- the step race --------------------------------------------------------------------------------

STEP_FINDINGS = {
    "win doing, all models": "win doing, all models",
    "win doing without the last turn": "win doing without the last turn",
    "steps doing, all models": "steps doing, all models",
    "best reply rate": "best reply rate",
    "errors survived": "share of errors (moves that were not best in hindsight) that cost nothing",
    "steps a turn": "steps per turn",
    "full split of 1, 3 and 5": (
        "turns in which the three players choose 1, 3 and 5, each a different number"
    ),
    "collision on 5": "turns in which two or three players choose 5",
    "announced": "turns with an announcement",
    "promise kept": "promise kept",
    "broken upwards": "promise broken with a larger number",
    "kept before anybody can arrive": "promise kept while no player can arrive",
    "kept once somebody can": "promise kept once a player can arrive",
    "free number taken from the truthful": (
        "share of the free steps taken when both others are truthful"
    ),
    "collides with the truthful": "collisions with a truthful player",
}
STEP_MODEL = {
    "win share": "win share",
    "doing_win": "win doing",
    "doing_steps": "steps doing",
    "promise_kept": "promise kept",
    "rating": "rating",
}


def step_game(figures: Figures) -> Iterator[str]:
    """Yield the three tables of the step race, and how many models rules surpass."""
    rules = {row["rule"]: row for row in figures["rules"]}
    doing = ("doing_win", "doing_steps")
    rows = [
        [f"`{name}`", *("0" if name == "uniform" else cell(row[metric]) for metric in doing)]
        for name, row in rules.items()
    ]
    yield from table(["rule, on the same turns", "win doing", "steps doing"], rows)
    yield ""
    models = [row for row in figures["models"] if row["n"] >= LEAST_GAMES]
    for rule, metric in (
        ("always_5", "doing_win"),
        ("always_5", "doing_steps"),
        ("free_of_announced", "doing_steps"),
    ):
        score = rules[rule][metric]["value"]
        below = sum(row[metric]["value"] < score for row in models)
        clearly = sum(row[metric]["high"] < score for row in models)
        yield (
            f"{below} of {len(models)} models with at least {LEAST_GAMES} games are below {rule} "
            f"({metric}), {clearly} with their whole interval"
        )
    yield f"{figures['games']:,} games, {figures['turns']:,} turns, {len(figures['models'])} names"
    yield ""
    findings = {row["figure"]: row["value"] for row in figures["findings"]}
    rows = [[name, cell(findings[key])] for key, name in STEP_FINDINGS.items()]
    yield from table(["figure", "value"], rows)
    yield ""
    rated = sorted(figures["models"], key=lambda row: -row["rating"]["value"])
    rows = [
        [row["model"], f"{row['n']:,}", *(cell(row[key]) for key in STEP_MODEL)]
        for row in rated
        if row["n"] >= LEAST_GAMES
    ]
    yield from table(["model (raw name)", "games", *STEP_MODEL.values()], rows)


# --- bargaining -----------------------------------------------------------------------------------

BARGAINING = {
    "share of announced quotes that are kept exactly": ("announced = quoted",),
    "share of broken announcements that are broken in favour of the *other* player": (
        "of the broken, in the other's favour",
    ),
    "share of announcements broken in the player's own favour": ("broken in own favour",),
    "surplus share after a true first claim of value": ("share, first claim true",),
    "surplus share without a claim": ("share, first claim none",),
    "surplus share after a bluff": ("share, first claim bluff",),
    "buyers' share, sellers' share": ("share, buyer", "share, seller"),
    "irrational quotes (beyond the player's own limit)": ("irrational quotes",),
    "of the kept announcements that were profitable for the other player, the share after which "
    "the other quoted exactly the announced price": ("kept announcements met exactly",),
    "regret per round from missed trades, from overpaying, and from quotes beyond the limit": (
        "missed trades, a round",
        "overpaid, a round",
        "beyond the own limit, a round",
    ),
}


def pact(figures: Figures) -> Iterator[str]:
    """Yield the tables of findings and mindless players, counts, and ratings by era."""

    def describe(key: str) -> str:
        text = cell(figures[key])
        return f"{text} (n {figures[key]['n']:,})" if "first claim" in key else text

    rows = [[name, ", ".join(map(describe, keys))] for name, keys in BARGAINING.items()]
    yield from table(["finding", "value"], rows)
    yield ""
    rules = {
        name.removeprefix("mindless: "): value
        for name, value in figures.items()
        if name.startswith("mindless: ")
    }
    rows = [["models", cell(figures["doing in hindsight"])]]
    for name, value in sorted(rules.items(), key=lambda item: -item[1]["value"]):
        rows.append([f"`{name}`", cell(value)])
    yield from table(["player", "doing in hindsight"], rows)
    yield ""
    for name, value in figures.items():
        if isinstance(value, (int, float)) or name in ("games by era", "models by era"):
            yield f"{name}: {value}"
    for era in ("sequential", "simultaneous"):
        rating = figures[f"rating, {era}"]
        models = [row for row in rating["models"] if row["games"] >= LEAST_SEATS]
        yield (
            f"{era}: {rating['components']} groups, buyer {number(rating['role'], 3, True)}, "
            f"{len(models)} models with {LEAST_SEATS} seat-games"
        )
        for row in models:
            estimate = {"value": row["rating"], "low": row["low"], "high": row["high"]}
            yield f"{row['model']} {cell(estimate, 2, True)} ({row['games']})"


PAGES: Mapping[str, Callable[[Figures], Iterator[str]]] = {
    "hcss2025": hcss2025,
    "eger2017": eger2017,
    "zhu2024": zhu2024,
    "step_game": step_game,
    "pact": pact,
}


def lines_of(record: MeasuredRecord) -> list[str]:
    """Return the lines that a record contributes to the pages."""
    return list(PAGES[record.name](record.figures)) if record.name in PAGES else []


def main(folder: Path) -> None:
    """Print the tables of all records in a folder."""
    for record in measured_records(folder):
        print(f"## {record.name}: {record.episodes:,} episodes, {len(record.dots)} dots\n")
        print("\n".join(lines_of(record)) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
