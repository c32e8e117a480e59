"""Compare the numbers of every analysis between two checkouts, whatever the layout of the output.

    python benchmarks/same_numbers.py write DIR [NAME...]   in each checkout: one JSON per bundle
    python benchmarks/same_numbers.py compare DIR DIR       differences beyond rounding

Reads every shipped bundle (or those whose name contains NAME) through the command line: exported
rows and decisions, profile, score, compare, contrast, crossplay, reliability, variance, the tables
of the report page and, for bundles of the board, the evaluation. Each bundle has a process of its
own. Differences with a known cause (`CAUSES`) are counted by cause and the others printed; exit
status 1 if there is another.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
import re
import subprocess
import sys
import tempfile
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
TOLERANCE = 1e-9  # relative; sums may be added in another order
CONTRASTS = ("--asked", "--twin", "--packs", "--aware")
SHOWN = 40  # differences printed per bundle
CAUSES = {  # what the difference is: pattern of its line
    "the field `kind` of a board entry is gone: its suite says the same": (
        r"evaluation: gone: /entries/\d+/kind = 'suite'"
    ),
    "8810d044 replaced the intervals of label and position bias": (
        r"(evaluation|profile|page)\b.*(pooled_|/)(label|position)[_ ]bias(/|:| = )"
        r"|profile\b.*/why/pooled_\w+"
    ),
    "7fb5ba8f counts rules that learn among the mindless": (
        r"(evaluation|profile)\b.*/mindless(_name|/\w+)?( = |: )"
        r"|page: changed: [^/]+/(compared with|above|mindless %): "
    ),
    "7fb5ba8f says what a claim lacks by one list": (
        r"evaluation: (changed|gone): /entries/\d+/(games/\d+/refused/|sentences/)"
        r"|page: (changed|gone): Words that these episodes support/"
    ),
    "4e06dd83: beyond habits uses the one list of simple rules": (
        r"(profile|evaluation|page)\b.*(/acting_beyond|/habit/|/beyond habits:)"
    ),
    "8810d044: the zero of Pick the Right Stuff is a draw from the menu": (
        r"profile\b.*: (changed|gone): pick_the_right_stuff \|"
        r".*/(doing|random|room|mindless|regret)"
        r"|evaluation: \w+: pick_the_right_stuff/(doing|halves/doing|test|practice|mindless)"
        r"|page: changed: (The profile in numbers|Literal beside knowing and doing)"
        r"/(doing|at most|compared with): "
    ),
    "869ad372: the board counts episodes that a fault stopped as missing": (
        r"evaluation: \w+: (step_race/|/entries/0/(bill|depths|episodes|sentences)\b)"
    ),
    "da6abbd5 counts the replies that could not be used": (
        r"evaluation: changed: /entries/\d+/bill/"
    ),
    "593699cd: the shipped entries of an older reply rule stand": r"evaluation: gone: /refused/",
    "d829ab8f: a printed value without an error has that of its number of episodes": (
        r"page: changed: (moore2025, replay|tradecraft2026, directions): .*/figure: "
    ),
}
RENAMED = {"above mindless": "above", "best mindless %": "mindless %"}  # headings of pages
DOUBLE = "bc74bc4d: association strengths, which Cipher uses, are summed in double precision"
EQUAL = "cca8548c: values that are all equal have no interval in JSON"
GROUPED = (("score", "--crossplay"), ("profile", "--reliability"), ("profile", "--variance"),
           ("report", "--board"))  # fmt: skip
DIGITS = "a page prints three significant digits in every column; one column had two decimals"


def bundles(names: list[str]) -> list[Path]:
    """Return the shipped bundles whose path contains one of the names, smallest first."""
    paths = sorted(ROOT.glob("docs/**/*.sally.zip"), key=lambda path: path.stat().st_size)
    return [path for path in paths if not names or any(name in str(path) for name in names)]


# --- extraction -----------------------------------------------------------------------------------


def older_name(*arguments: str) -> tuple[str, ...]:
    """Return a command as it was called before commands were grouped (16b54398)."""
    if arguments[:2] in GROUPED:
        return arguments[1].removeprefix("--"), *arguments[2:]
    if arguments[0] == "compare" and arguments[2] in CONTRASTS:
        return "contrast", *arguments[1:]
    if arguments[0] == "profile" and arguments[2:4] == ("--by", "cell"):
        return *arguments[:2], "--by-cell", *arguments[4:]
    if arguments[0] == "export":
        return tuple("--to" if argument == "--out" else argument for argument in arguments)
    return arguments


def sally(*arguments: str) -> str:
    """Run a command in this process; return what it prints, or the sentence of its error."""
    import click

    from sally.cli import cli
    from sally.core.errors import BadInput

    if "contrast" in cli.list_commands(click.Context(cli)):
        arguments = older_name(*arguments)

    out = io.StringIO()
    with redirect_stdout(out), redirect_stderr(io.StringIO()):
        try:
            cli(list(arguments), standalone_mode=False)
        except (BadInput, click.ClickException) as why:
            return json.dumps({"refused": str(why)})
        except SystemExit:
            pass
        except Exception as why:
            return json.dumps({"failed": f"{type(why).__name__}: {why}"})
    return out.getvalue()


def flat(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every leaf of a JSON value with its path."""
    if isinstance(value, dict):
        if {"low", "high"} <= value.keys():  # an interval, as two numbers or as a list
            interval = [value["low"], value["high"]]
            others = {key: inner for key, inner in value.items() if key not in ("low", "high")}
            value = {**others, "interval": None if None in interval else interval}
        for key, inner in value.items():
            yield from flat(inner, f"{path}/{key}")
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from flat(inner, f"{path}/{number}")
    else:
        yield path, value


def index_rows(rows: list[dict[str, Any]], keys: tuple[str, ...]) -> dict[str, Any]:
    """Return the leaves of rows, each under the identity of its row instead of its position."""
    repeats = Counter[str]()
    leaves: dict[str, Any] = {}
    for row in rows:
        name = " | ".join(str(row.get(key)) for key in keys)
        repeats[name] += 1
        place = f"{name} #{repeats[name]}"
        values = {key: value for key, value in row.items() if key not in keys}
        leaves.update({f"{place}{path}": leaf for path, leaf in flat(values)})
    return leaves


def as_number(text: str) -> str:
    """Return a number in one form, and any other text as it is."""
    try:
        return f"{float(text):.12g}"
    except ValueError:
        return text


def columns_of(path: Path) -> dict[str, Any]:
    """Return the number of rows of a CSV file and a hash of each column."""
    if not path.exists():
        return {"rows": None}
    with path.open(newline="", encoding="utf-8") as file:
        rows = sorted(csv.DictReader(file), key=lambda row: row["episode"])  # in any order
    names = list(rows[0]) if rows else []
    digests = {}
    for name in names:
        values = "\n".join(map(as_number, (row[name] for row in rows)))
        if values.strip():  # an empty column says nothing
            digests[name] = hashlib.sha256(values.encode()).hexdigest()[:16]
    return {"rows": len(rows), **digests}


class PageTables(HTMLParser):
    """Reader of the tables of a page: caption, row and heading of every cell with a number."""

    def __init__(self) -> None:
        super().__init__()
        self.cells: dict[str, Any] = {}
        self._seen = Counter[str]()
        self._caption, self._heads, self._row = "", list[str](), list[str]()
        self._text: list[str] | None = None
        self._is_head = False

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag == "table":
            self._caption, self._heads = "", []
        if tag == "thead":
            self._is_head = True
        if tag == "tr":
            self._row = []
        if tag in ("caption", "th", "td"):
            self._text = []

    def handle_data(self, data: str) -> None:
        if self._text is not None:
            self._text.append(data)

    def handle_endtag(self, tag: str) -> None:
        text = " ".join(part.strip() for part in self._text or () if part.strip())
        if tag == "caption":
            self._caption = text
        elif tag in ("th", "td"):
            self._row.append(text)
        elif tag == "thead":
            self._is_head = False
        elif tag == "tr" and self._is_head:
            self._heads = [re.sub(r" [↑↓]", "", head) for head in self._row]
        elif tag == "tr":
            self._end_row()
        else:
            return
        self._text = None

    def _end_row(self) -> None:
        if not self._caption or not self._row:
            return
        name = f"{self._caption} | {self._row[0]}"
        self._seen[name] += 1
        pairs = zip(self._heads[1:], self._row[1:], strict=False)
        for head, cell in pairs:
            self.cells[f"{name} #{self._seen[name]}/{head}"] = cell


def page_tables(path: Path) -> dict[str, Any]:
    """Return the cells of the captioned tables of a page."""
    if not path.exists():
        return {}
    reader = PageTables()
    reader.feed(path.read_text("utf-8"))
    return reader.cells


def parse_json(text: str) -> Any:
    """Return printed JSON; a text that is none counts as one leaf."""
    try:
        return json.loads(text)
    except ValueError:
        return {"text": text[-300:]}


def extract(bundle: Path) -> dict[str, dict[str, Any]]:
    """Return the numbers of every analysis of one bundle."""
    sections: dict[str, dict[str, Any]] = {}

    def add(name: str, make: Callable[[], dict[str, Any]]) -> None:
        sections[name] = make()

    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        store = folder / "store"
        with zipfile.ZipFile(bundle) as packed:
            packed.extractall(store)
        sally("export", str(store), "--out", str(folder / "rows.csv"))
        sally("export", str(store), "--out", str(folder / "decisions.csv"), "--what", "decisions")
        add("rows", lambda: columns_of(folder / "rows.csv"))
        add("decisions", lambda: columns_of(folder / "decisions.csv"))
        players = _players(folder / "rows.csv")
        for by in (("cell", "others"), ("player",), ("model",)):
            add(f"score by {' and '.join(by)}", lambda by=by: _score(store, by))
        add("profile", lambda: _profile(store))
        add("profile by cell", lambda: _profile(store, "--by", "cell"))
        for unit in ("game", "others"):
            if len(players) > 1:
                add(f"compare {unit}", lambda unit=unit: _compare(store, players, unit))
        for contrast in CONTRASTS:
            add(f"contrast {contrast}", lambda contrast=contrast: _contrast(store, contrast))
        add("crossplay", lambda: _crossplay(store))
        add(
            "reliability",
            lambda: dict(flat(parse_json(sally("profile", "--reliability", str(store), "--json")))),
        )
        add(
            "variance",
            lambda: dict(flat(parse_json(sally("profile", "--variance", str(store), "--json")))),
        )
        page = folder / "page.html"
        sally("report", str(store), "--out", str(page), "--transcripts", "0")
        add("page", lambda: page_tables(page))
        if "board" in bundle.parts:
            evaluation = parse_json(sally("report", "--board", str(bundle), "--check", "--json"))
            add("evaluation", lambda: dict(flat(evaluation)))
    return sections


def _players(rows: Path) -> list[str]:
    """Return the two players with most rows in one seat of a game, models before bots."""
    counts: dict[tuple[str, str], Counter[tuple[bool, str]]] = {}
    with rows.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            seat = counts.setdefault((row["game"], row["seat"]), Counter())
            seat[row["model"] == "", row["player"]] += 1
    contested_seats = [(key, seat) for key, seat in sorted(counts.items()) if len(seat) > 1]
    if not contested_seats:
        return []
    _, seat = max(contested_seats, key=lambda pair: sum(pair[1].values()))
    ordered = sorted(seat, key=lambda key: (key[0], -seat[key], key[1]))
    return [player for _, player in ordered[:2]]


SCORE_KEYS = ("metric", "cell", "game", "seat", "player", "model", "strategy", "others")
PROFILE_KEYS = ("game", "cell", "part", "seat", "player")
COMPARISON_KEYS = ("condition", "base", "game", "seat", "where", "metric")


def _rows_or_refusal(output: Any, keys: tuple[str, ...]) -> dict[str, Any]:
    return index_rows(output, keys) if isinstance(output, list) else dict(flat(output))


def _score(store: Path, by: tuple[str, ...]) -> dict[str, Any]:
    options = [option for name in by for option in ("--by", name)]
    output = sally("score", str(store), "--all", "--seat", "*", *options, "--json")
    return _rows_or_refusal(parse_json(output), SCORE_KEYS)


def _profile(store: Path, *options: str) -> dict[str, Any]:
    output = parse_json(sally("profile", str(store), *options, "--json"))
    return _rows_or_refusal(output, PROFILE_KEYS)


def _compare(store: Path, players: list[str], by: str) -> dict[str, Any]:
    output = parse_json(sally("compare", str(store), *players, "--by", by, "--json"))
    if "comparisons" not in output:
        return dict(flat(output))
    return {
        "conclusion": output["conclusion"],
        **index_rows(output["comparisons"], COMPARISON_KEYS),
        **index_rows(output.get("by_strategy", []), ("game", "seat", "where", "metric")),
    }


def _crossplay(store: Path) -> dict[str, Any]:
    output = parse_json(sally("score", "--crossplay", str(store), "--json"))
    if not all(isinstance(rows, list) for rows in output.values()):
        return dict(flat(output))
    rows = [{"game": game, **row} for game, rows in output.items() for row in rows]
    return index_rows(rows, ("game", "first_player", "second_player"))


def _contrast(store: Path, contrast: str) -> dict[str, Any]:
    output = parse_json(sally("compare", str(store), contrast, "--json"))
    if "rows" not in output:
        return dict(flat(output))
    return {
        **dict(flat(output["conclusion"], "conclusion")),
        **index_rows(output["rows"], COMPARISON_KEYS),
    }


# --- comparison -----------------------------------------------------------------------------------


def is_same(first: Any, second: Any) -> bool:
    """Return whether two leaves are equal up to rounding."""
    numbers = [value for value in (first, second) if isinstance(value, int | float)]
    if len(numbers) == 2:
        return math.isclose(*numbers, rel_tol=TOLERANCE, abs_tol=1e-12)
    return bool(first == second)


def differs_in_digits(first: str, second: str) -> bool:
    """Return whether two lists of printed numbers are equal at the fewer decimals of each pair."""
    lists = [text.split(", ") for text in (first, second)]
    return len(lists[0]) == len(lists[1]) and all(map(_is_rounded, *lists))


def _is_rounded(first: str, second: str) -> bool:
    try:
        numbers = [float(text.replace("\N{MINUS SIGN}", "-")) for text in (first, second)]
    except ValueError:
        return first == second
    decimals = min(len(text.partition(".")[2]) for text in (first, second))
    return abs(numbers[0] - numbers[1]) <= 0.5 * 10**-decimals + 1e-12


def cause_of(line: str, key: str, old_leaves: dict[str, Any], new_leaves: dict[str, Any]) -> str:
    """Return the known cause of a difference; empty if there is none."""
    old, new = old_leaves.get(key), new_leaves.get(key)
    if line.startswith("page: changed: ") and differs_in_digits(str(old), str(new)):
        return DIGITS
    equal_now = f"{old}; no interval: all values are equal"
    if _has_lost_equal_ends(key, old_leaves, new_leaves) or new == equal_now:
        return EQUAL
    if re.search(r"\bcipher(_|\b)", line) and _is_near(old, new):
        return DOUBLE
    game = re.sub(
        r"/entries/\d+/games/\d+(?=/)", lambda match: old_leaves.get(f"{match[0]}/game", ""), line
    )
    return next((c for c, p in CAUSES.items() if re.match(p, line) or re.match(p, game)), "")


def _is_near(first: Any, second: Any) -> bool:
    """Return whether two leaves differ by rounding in single precision; hashes, texts and missing
    leaves cannot be compared."""
    if isinstance(first, int | float) and isinstance(second, int | float):
        return math.isclose(first, second, rel_tol=1e-3, abs_tol=1e-4)
    return True


def _has_lost_equal_ends(key: str, old_leaves: dict[str, Any], new_leaves: dict[str, Any]) -> bool:
    """Return whether the leaf is an end of an interval of equal ends that is missing now."""
    name, _, end = key.rpartition("/")
    ends = [old_leaves.get(f"{name}/{n}") for n in (0, 1)]
    return (
        end in ("0", "1") and name.endswith("interval") and key not in new_leaves and is_same(*ends)
    )


def differences(
    old_leaves: dict[str, Any], new_leaves: dict[str, Any]
) -> Iterator[tuple[str, str]]:
    """Yield the key of each leaf that is gone, new or different, and a line about it."""
    for key in dict.fromkeys([*old_leaves, *new_leaves]):
        if key not in new_leaves:
            yield key, f"gone: {key} = {old_leaves[key]!r}"
        elif key not in old_leaves:
            yield key, f"new: {key} = {new_leaves[key]!r}"
        elif not is_same(old_leaves[key], new_leaves[key]):
            yield key, f"changed: {key}: {old_leaves[key]!r} -> {new_leaves[key]!r}"


def by_heading(cells: dict[str, Any]) -> dict[str, Any]:
    """Return the numbers below each heading of each table of a page, however rows are named."""
    columns: dict[str, list[str]] = {}
    for key, text in cells.items():
        place, _, heading = key.rpartition("/")
        heading = RENAMED.get(heading, heading)
        caption = place.partition(" | ")[0]
        if any(sign.isdigit() for sign in text):
            columns.setdefault(f"{caption}/{heading}", []).append(text)
    return {key: ", ".join(sorted(texts)) for key, texts in columns.items()}


def compare(old_folder: Path, new_folder: Path) -> int:
    """Print the differences of two folders; return the number of bundles with one that no known
    cause explains."""
    unexplained = 0
    for file in sorted(old_folder.glob("*.json")):
        if not (new_folder / file.name).exists():
            continue
        old_sections, new_sections = (
            json.loads((folder / file.name).read_text()) for folder in (old_folder, new_folder)
        )
        leaves = sum(len(section) for section in old_sections.values())
        added, causes, others = 0, Counter[str](), list[str]()
        for section in dict.fromkeys([*old_sections, *new_sections]):
            sides = [side.get(section, {}) for side in (old_sections, new_sections)]
            if section == "page":
                sides = list(map(by_heading, sides))
            for key, text in differences(*sides):
                line = f"{section}: {text}"
                if text.startswith("new: "):
                    added += 1
                elif cause := cause_of(line, key, *sides):
                    causes[cause] += 1
                else:
                    others.append(line)
        unexplained += bool(others)
        n_explained = sum(causes.values())
        print(
            f"{file.name}: {leaves:,} leaves, {n_explained} differ for a known cause, "
            f"{len(others)} "
            f"otherwise, {added} new",
            flush=True,
        )
        for cause, count in causes.items():
            print(f"  {count}: {cause}")
        for line in others[:SHOWN]:
            print(f"  {line[:300]}")
    return unexplained


def main() -> None:
    """Write the numbers of this checkout, or compare two folders of numbers."""
    verb, *arguments = sys.argv[1:]
    if verb == "compare":
        sys.exit(bool(compare(Path(arguments[0]), Path(arguments[1]))))
    if verb == "one":  # a process of its own
        bundle, out = map(Path, arguments)
        out.write_text(json.dumps(extract(bundle), indent=1, sort_keys=True))
        return
    folder, *names = arguments
    Path(folder).mkdir(parents=True, exist_ok=True)
    for bundle in bundles(names):
        out = Path(folder) / f"{bundle.name.removesuffix('.sally.zip')}.json"
        if not out.exists():
            print(bundle.name, flush=True)
            command = [sys.executable, __file__, "one", str(bundle), str(out)]
            subprocess.run(command, cwd=ROOT, check=True)


if __name__ == "__main__":
    main()
