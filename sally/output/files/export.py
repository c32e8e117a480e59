"""Tables as CSV, LaTeX and Parquet files, written row by row.

Columns are fixed before the first row, so memory use is independent of the number of rows, and a
file's columns do not depend on its rows.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import msgspec

from sally.analysis.columns.rows import Row
from sally.analysis.profile.profile import ProfileRow
from sally.core.errors import BadInput, listed, needs_extra
from sally.core.registry import registry
from sally.output.files.new_file import new_file
from sally.stats.intervals import Estimate

Kind = Literal["text", "count", "number", "numbers"]
ENDINGS = (".csv", ".tex", ".parquet")
BATCH = 2000  # rows per Parquet batch


class Column(msgspec.Struct, frozen=True):
    """Name and kind of a column."""

    name: str
    kind: Kind = "text"


def _columns(kind: Kind, *names: str) -> tuple[Column, ...]:
    return tuple(Column(name, kind) for name in names)


EPISODE = (
    *_columns("text", "episode", "cell", "game", "instance"),
    Column("repeat", "count"),
    *_columns("text", "seat", "player", "model", "strategy", "settings", "participant", "others"),
    Column("turns", "count"),
    Column("censored"),
    Column("payoff", "number"),
    *_columns("count", "moves", "forfeited", "retried", "calls", "input_tokens", "output_tokens"),
    Column("seconds", "number"),
)
DECISION = (
    *_columns("text", "episode", "cell", "game", "instance"),
    Column("turn", "count"),
    *_columns("text", "seat", "player", "participant", "what", "probe", "about", "source"),
    *_columns("text", "value", "label"),
    Column("odds", "numbers"),
    Column("truth"),
    *_columns("number", "right", "brier", "log", "absolute_error"),
    Column("tries", "count"),
    Column("seconds", "number"),
)


def episode_columns(games: Iterable[str]) -> tuple[Column, ...]:
    """Return the columns of episode rows, with every metric of these games."""
    specs = [registry.game(game) for game in dict.fromkeys(games)]
    fitting = dict.fromkeys(name for s in specs for name in registry.metrics(s.family or s.name))
    taken = {column.name for column in EPISODE}
    return (*EPISODE, *_columns("number", *(name for name in fitting if name not in taken)))


# --- the profile as a table -----------------------------------------------------------------------

ESTIMATES = ("accuracy", "skill", "beyond", "brier", "brier_skill", "brier_beyond", "value_error",
             "raw", "doing", "doing_most", "regret", "consistency", "acting", "inference",
             "translation", "format", "luck")  # fmt: skip
ROLES = ("random", "mindless", "reference")
PROFILE = (
    *_columns("text", "family", "game", "cell", "part", "seat", "player", "metric", "unit"),
    *_columns("text", "clusters", "predictor"),
    *_columns("count", "episodes", "censored", "moves", "forfeits"),
    *_columns("number", "guess", "predictor_accuracy", "unread", "even_brier", "room"),
    *(
        column
        for name in ESTIMATES
        for column in _columns("number", name, f"{name}_low", f"{name}_high")
    ),
    *(
        column
        for role in ROLES
        for column in (
            Column(role),
            *_columns("number", f"{role}_value", f"{role}_doing", f"{role}_accuracy"),
        )
    ),
    *_columns("text", "standing", "blank"),
)


def profile_table(rows: Iterable[ProfileRow]) -> Iterator[Row]:
    """Yield the rows of the profile as flat records: one value per column, with the reasons for
    missing values in the column `blank`."""
    for row in rows:
        flat: Row = {c.name: getattr(row, c.name, None) for c in PROFILE}
        for name in ESTIMATES:
            found: Estimate = getattr(row, name)
            flat |= {name: found.value, f"{name}_low": found.low, f"{name}_high": found.high}
        flat["predictor"] = row.predictor and row.predictor.rule
        flat["predictor_accuracy"] = row.predictor and row.predictor.accuracy
        for role in ROLES:
            mark = getattr(row, role)
            flat[role] = mark and mark.player
            flat[f"{role}_value"] = mark and mark.value
            flat[f"{role}_doing"] = mark and mark.doing
            flat[f"{role}_accuracy"] = mark and mark.accuracy
        flat["standing"] = row.reference and row.reference.standing
        flat["blank"] = "; ".join(f"{field}: {why}" for field, why in row.why.items())
        yield flat


PRINTED = {  # heading -> field and decimals of the LaTeX table
    "knowing (\\%)": ("accuracy", 0),
    "knowing": ("skill", 2),
    "beyond rules": ("beyond", 2),
    "doing": ("doing", 2),
    "regret": ("regret", 2),
    "acting": ("acting", 2),
    "inference": ("inference", 2),
    "translation": ("translation", 2),
    "format": ("format", 2),
}


def profile_latex(rows: Sequence[ProfileRow]) -> str:
    """Return the profile as a LaTeX table of estimates with intervals."""
    # A part that is constant within each game needs no column.
    parts = [
        part
        for part in ("seat", "cell", "part")
        if len({(row.game, getattr(row, part)) for row in rows}) > len({row.game for row in rows})
    ]
    heads = ["game", *parts, "player", "$n$", *PRINTED]
    lines = []
    for row in rows:
        found = [(getattr(row, field), places) for field, places in PRINTED.values()]
        where = [row.game, *(getattr(row, part) for part in parts), row.player]
        cells = [*map(latex, where), str(row.episodes)]
        lines.append([*cells, *(_printed(estimate, places) for estimate, places in found)])
    ends = dict.fromkeys(
        f"{latex(row.game)}: 0 is {latex(row.random.player)}, 1 is "
        f"{latex(row.reference.player)} ({row.reference.standing})"
        for row in rows
        if row.random and row.reference
    )
    notes = [
        "Knowing: predictions about others, 0 is a uniform guess. Doing: 0 is a random player, 1 "
        "the optimum or the reference player, in the same settings. Acting: best replies to the "
        "own prediction, 0 is a random choice. Losses in the unit of the score. In brackets: 95\\% "
        "intervals over clusters of episodes.",
        *ends,
    ]
    align = "l" * (2 + len(parts)) + "r" + "l" * len(PRINTED)
    return _tabular("tabular", align, heads, lines) + "".join(f"% {note}\n" for note in notes)


def _printed(found: Estimate, places: int) -> str:
    if found.value is None:
        return "--"
    value = _minus(f"{found.value:.{places}f}")
    if found.low is None or found.high is None:
        return value
    return f"{value} [{_minus(f'{found.low:.{places}f}')}, {_minus(f'{found.high:.{places}f}')}]"


def _minus(number: str) -> str:
    return f"${number}$" if number.startswith("-") else number


# --- writing --------------------------------------------------------------------------------------


def check(path: Path) -> str:
    """Return the suffix of a table's file.

    Raises:
        BadInput: Tables cannot be written in that format.
    """
    if path.suffix not in ENDINGS:
        raise BadInput(f"A table is written as {listed(ENDINGS, 'or')}, not as {path.name!r}.")
    return path.suffix


def write_table(rows: Iterable[Mapping[str, Any]], columns: Sequence[Column], path: Path) -> int:
    """Write rows in the format that the file's suffix names; return the number of rows."""
    form = {".csv": _csv, ".tex": _latex, ".parquet": _parquet}[check(path)]
    with new_file(path, "table") as unfinished:
        return form(rows, columns, unfinished)


def write_text(text: str, path: Path) -> None:
    """Write a text file atomically."""
    with new_file(path, "table") as unfinished:
        unfinished.write_text(text, encoding="utf-8")


def _csv(rows: Iterable[Mapping[str, Any]], columns: Sequence[Column], path: Path) -> int:
    with path.open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, lineterminator="\r\n")  # RFC 4180
        names = [column.name for column in columns]
        out.writerow(names)
        n = 0
        for n, row in enumerate(rows, 1):  # noqa: B007  the count is wanted after the loop
            cells = map(row.get, names)
            out.writerow([c if type(c) in AS_THEY_ARE else _in_csv(c) for c in cells])
        return n


AS_THEY_ARE = {float, int, type(None)}  # written by the csv module as by `_text`


def _in_csv(value: Any) -> str:
    return formula_safe(value) if isinstance(value, str) else _text(value)


FORMULA = ("=", "+", "-", "@", "\t", "\r")  # characters that start a spreadsheet formula


def formula_safe(text: str) -> str:
    """Return a text, with an apostrophe in front if a spreadsheet would run it as a formula;
    numbers stay as they are."""
    if not text.startswith(FORMULA):
        return text
    try:
        float(text)
    except ValueError:
        return f"'{text}"
    return text


def _text(value: Any) -> str:
    """Format a value: None as an empty string, lists as JSON, numbers in full precision."""
    if value is None:
        return ""
    if isinstance(value, float):
        return repr(value)
    return json.dumps(value) if isinstance(value, list | tuple | dict) else str(value)


def _latex(rows: Iterable[Mapping[str, Any]], columns: Sequence[Column], path: Path) -> int:
    """Write a longtable without empty columns."""
    kept = [dict(row) for row in rows]
    said = [c for c in columns if any(row.get(c.name) is not None for row in kept)]
    align = "".join("l" if c.kind == "text" else "r" for c in said)
    lines = [[_cell_in_print(row.get(c.name)) for c in said] for row in kept]
    path.write_text(
        _tabular("longtable", align, [latex(c.name) for c in said], lines), encoding="utf-8"
    )
    return len(kept)


def _cell_in_print(value: Any) -> str:
    if isinstance(value, int | float):
        return _minus(f"{value:.4g}" if isinstance(value, float) else str(value))
    return latex(_text(value))


def _tabular(kind: str, align: str, heads: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Return a LaTeX table in the style of booktabs."""
    needs = "booktabs" if kind == "tabular" else "booktabs and longtable"
    body = "".join(" & ".join(line) + " \\\\\n" for line in lines)
    return (
        f"% needs {needs}\n\\begin{{{kind}}}{{{align}}}\n\\toprule\n"
        + " & ".join(heads)
        + " \\\\\n\\midrule\n"
        + ("\\endhead\n" if kind == "longtable" else "")
        + f"{body}\\bottomrule\n\\end{{{kind}}}\n"
    )


ESCAPED = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", "±": r"$\pm$",
}  # fmt: skip


def latex(text: str) -> str:
    """Escape a text for LaTeX."""
    printed = (letter if letter.isprintable() else " " for letter in text)
    return "".join(ESCAPED.get(letter, letter) for letter in printed)


def _parquet(rows: Iterable[Mapping[str, Any]], columns: Sequence[Column], path: Path) -> int:
    with needs_extra("frames"):
        import pyarrow as arrow  # type: ignore[import-untyped]
        from pyarrow import parquet
    kinds = {
        "text": arrow.string(),
        "count": arrow.int64(),
        "number": arrow.float64(),
        "numbers": arrow.list_(arrow.float64()),
    }
    schema = arrow.schema([(column.name, kinds[column.kind]) for column in columns])
    count, waiting = 0, iter(rows)
    with parquet.ParquetWriter(path, schema) as out:
        while batch := list(islice(waiting, BATCH)):
            count += len(batch)
            table = {c.name: [_cell(row.get(c.name), c.kind) for row in batch] for c in columns}
            out.write_table(arrow.table(table, schema=schema))
    return count


def _cell(value: Any, kind: Kind) -> Any:
    if value is None:
        return None
    return _text(value) if kind == "text" else float(value) if kind == "number" else value
