"""A complete game is one file or folder and nothing else; so is a paper. Made outside the house."""

from __future__ import annotations

import json
import re
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner

import sally
from sally import testing
from sally.cli import cli
from sally.core.display.board import board_of
from sally.core.registry import registry
from sally.testing import run_check, words
from sally.testing.bench import Bench, match_of

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs/how-to/your_own_game.md").read_text(encoding="utf-8")
STALL = re.search(r"^```python\n(# stall\.py\n.*?)^```$", PAGE, re.M | re.S)
ROOMS = ("PARTNERS", "METRICS", "CARD", "BOARD")


@pytest.fixture(autouse=True)
def as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a test puts on the shelf is taken off again."""
    kept_entries = {folder: dict(entries) for folder, entries in registry._added.items()}
    monkeypatch.setattr(registry, "_added", kept_entries)
    monkeypatch.setattr(registry, "_files", [])


def one_file(folder: Path) -> Path:
    assert STALL is not None
    file = folder / "stall.py"
    file.write_text(STALL[1])
    return file


def one_folder(folder: Path) -> Path:
    """The same game as a folder with a room a file."""
    assert STALL is not None
    rules, other_part = STALL[1].split("# --- two partners", 1)
    home = folder / "stall"
    home.mkdir()
    (home / "spec.py").write_text(rules)
    (home / "rooms.py").write_text(f"{rules}# --- two partners{other_part}")
    (home / "__init__.py").write_text("from .spec import GAME\n")
    for room in ROOMS:
        (home / f"{room.lower()}.py").write_text(f"from .rooms import {room}\n")
    return home


@pytest.mark.parametrize("make", [one_file, one_folder])
def test_external_game_has_all_its_parts(make, tmp_path: Path) -> None:
    assert sally.use(make(tmp_path)) == ["games/stall"]
    assert set(registry.partners("stall")) == {"steady", "undercut"}
    assert "mean_price" in registry.metrics("stall")
    assert {row["metric"] for row in sally.audit("stall", 2)} == {"reward", "mean_price"}
    match = match_of(Bench.of("stall").table())
    board = board_of(match.context(sally.Seat("left")), match.game.observe(match.state, "left"))
    assert board is not None and board.parts


def test_external_game_passes_the_checks_of_shipped_games(tmp_path: Path) -> None:
    sally.use(one_file(tmp_path))
    testing.check_game("stall", seeds=1)


LOSSES = """
from sally.core.rules.metric import Terms


def LOSSES(played: Played, seat: Seat) -> Terms:
    return Terms(inference=1.5, translation=0.5)
"""


@pytest.mark.parametrize(
    ("part", "fault", "sentence"),
    [
        ("def payoffs", "def payofs", "Stall does not define payoffs."),
        (
            "return (NATURE,) if state.weather is None else (LEFT, RIGHT)",
            "return ()",
            "no seat is ever asked for a move; `to_move` returns () at the start",
        ),
        (
            "return replay.move(at.turn",
            "return replay.moved(at.turn",
            "other checks for a reason above; --json lists them.",
        ),
    ],
)
def test_fault_of_a_game_is_said_once_and_without_internals(
    part: str, fault: str, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = one_file(tmp_path)
    assert part in file.read_text()
    file.write_text(file.read_text().replace(part, fault))
    arguments = ["--use", str(file), "check", "stall", "--seeds", "1"]
    done = CliRunner().invoke(cli, arguments)
    assert done.exit_code == 1
    output = f"{done.output}{done.exception}"
    assert sentence in output and "UnboundLocalError" not in output
    assert output.count("has no attribute 'moved'") <= 1


def test_external_game_has_a_profile_with_split_losses(tmp_path: Path) -> None:
    file = one_file(tmp_path)
    file.write_text(file.read_text() + LOSSES)
    sally.use(file)
    lineup = {"left": "random", "right": "undercut"}
    probes = {"left": ["their_price"]}
    episodes = [sally.play("stall", lineup, seed, probes=probes) for seed in range(6)]
    (row,) = [r for r in sally.profile(episodes, seat="left") if r["player"] == "random"]
    assert row["accuracy"] is not None and row["raw"] is not None
    assert (row["inference"], row["translation"]) == (1.5, 0.5), row["why"]


PAGES = "a model can answer every page"


@pytest.mark.parametrize(
    ("sound", "broken", "check"),
    [
        ("SUN: 1 - self.rain_chance", "SUN: 0.5", "rules hold at every step"),
        ("return View(seat, state.past,", "return View(seat, state.past[-1:],", "views remember"),
        ("bounds=(1, 5)", "bounds=(4, 5)", "mean_price is a number computed from the log"),
        ('"aside": "What', '"aside": "{0} What', "every text has plain slots"),
        ("return 3\n", "return 7\n", "steady plays and holds no state"),
        ('"question": "', '"retry": "Try {nummer} again.", "question": "', PAGES),
        ('return self.say("question")', 'return self.say("question", **{"a": self.nix})', PAGES),
        ("return State()", "return State(1, 2, 3, 4)", "rules hold at every step"),
        ("return State(state.past, moves[NATURE])", "return None", "rules hold at every step"),
        ("else PRICES\n", "else None\n", "rules hold at every step"),
        ("else PRICES\n", "else 1 / 0\n", "rules hold at every step"),
    ],
)
def test_planted_fault_is_found_by_its_check(
    tmp_path: Path, sound: str, broken: str, check: str
) -> None:
    file = one_file(tmp_path)
    text = file.read_text()
    assert sound in text
    file.write_text(text.replace(sound, broken))
    ran = CliRunner().invoke(cli, ["--use", str(file), "check", "stall", "--seeds", "2", "--json"])
    assert ran.exit_code == 1
    failed = [c["check"] for c in json.loads(ran.stdout)["checks"] if c["why"]]
    assert check in failed


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        (
            {"PRICES = (1, 2, 3, 4, 5)": "PRICES = (0, 1)", "return span(options)": "return None"},
            "people in seat left would choose among 0  1",
        ),
        (
            {
                "numeric=True": "numeric=False",
                '"choice", PRICES': '"choice", (0, 1)',
            },
            "people in seat left would choose among 0  1; `choice_name`",
        ),
        ({'return self.say("aside")': "return {}[self.game]"}, "seat left: KeyError in aside"),
    ],
)
def test_people_read_names_and_messages_name_the_seat(
    tmp_path: Path, changes: dict[str, str], why: str
) -> None:
    file = one_file(tmp_path)
    text = file.read_text()
    for sound, broken in changes.items():
        assert sound in text
        text = text.replace(sound, broken)
    file.write_text(text)
    sally.use(file)
    checks = [words.people_can_read_every_option, words.a_page_says_what_is_wanted_and_how]
    results = [run_check("", partial(check, Bench.of("stall"))) for check in checks]
    assert any(result.why.startswith(why) for result in results), results


@pytest.mark.parametrize(
    ("sound", "broken", "why"),
    [
        ("(*state.past, Day(state.weather or SUN, prices))", "state.past", "20 decisions"),
        ("return State()", "return any(n for n in iter(int, 1))", "stopped after"),
    ],
)
def test_game_without_an_end_fails_its_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sound: str, broken: str, why: str
) -> None:
    """A match that goes on for ever, and a rule that never returns."""
    endless = "the match is not over after 20 decisions"
    for place in (testing, testing.bench):
        monkeypatch.setattr(place, "ENDLESS", endless)
    monkeypatch.setattr(testing.bench, "MOST_DECISIONS", 20)
    monkeypatch.setattr(testing, "LONGEST", 0.5)
    file = one_file(tmp_path)
    text = file.read_text()
    assert sound in text
    file.write_text(text.replace(sound, broken))
    ran = CliRunner().invoke(cli, ["--use", str(file), "check", "stall", "--seeds", "1", "--json"])
    assert ran.exit_code == 1
    first, last = json.loads(ran.stdout)["checks"]
    assert first["check"] == "play comes to an end" and why in first["why"]
    assert last["why"] == "they would not end either"


PAPER = """
from sally import Paper

PAPER = Paper("lemon2026", "what lemonade costs", __name__)
"""
STUDIES = """
from sally import Cell, Instance, PlayerSpec, Study

LINEUP = {"agent": PlayerSpec("random"), "partner": PlayerSpec("tit_for_tat")}
CELL = Cell("all", (Instance("ipd", "ipd", {"rounds": 2}),), (LINEUP,))
STUDIES = (Study("lemon2026", "one game", (CELL,), paper="lemon2026"),)
"""


def test_external_paper_is_one_folder(tmp_path: Path) -> None:
    home = tmp_path / "lemon2026"
    home.mkdir()
    (home / "__init__.py").write_text(PAPER)
    (home / "study.py").write_text(STUDIES)
    assert sally.use(home) == ["papers/lemon2026"]
    assert "lemon2026" in registry.entries("studies")
    assert len(sally.run("lemon2026")) == 1


PUBLISHED = {
    "paper": "lemon2026",
    "citation": {"title": "Lemons", "authors": ["A. Grower"], "year": 2026, "venue": "none"},
    "tables": {
        "prices": {
            "title": "What a lemonade costs",
            "columns": ["town", "price"],
            "rows": [
                {"row": {"town": town}, "metric": "price", "value": 2.0, "source": "page 1"}
                for town in ("here", "there")
            ],
        }
    },
}
TABLES = """
from sally import Seat
from sally.output.tables.reproduce import Engine
from sally.stats.intervals import mean_interval


def computes(row, metric, effort):
    return mean_interval([1.0, 2.0, 3.0]) if row["town"] == "here" else None


ENGINE = Engine(
    computes, {}, Seat("agent"), lambda played: None,
    cannot=lambda row, metric: "nobody sells there" if row["town"] == "there" else None,
)
"""
IMPORTER = """
from sally.core.registry.paper import Importer, ImportResult
import sally


def read(path):
    lineup = {"agent": "random", "partner": path.read_text().strip()}
    return ImportResult((sally.play("ipd", lineup, 1, rounds=2),), {"games": 1}, ("one was sour",))


IMPORTER = Importer("lemons", "games played at a stall", read)
"""


def test_external_paper_prints_its_tables_and_imports_its_data(tmp_path: Path) -> None:
    home = tmp_path / "lemon2026"
    home.mkdir()
    for name, text in {
        "__init__.py": PAPER,
        "study.py": STUDIES,
        "tables.py": TABLES,
        "importer.py": IMPORTER,
    }.items():
        (home / name).write_text(text)
    (home / "published.json").write_text(json.dumps({**PUBLISHED, "tables": 3}))
    use = ["--use", str(home)]
    ran = CliRunner().invoke(cli, [*use, "reproduce", "lemon2026"])
    assert "published.json of lemon2026 cannot be read" in str(ran.exception)
    (home / "published.json").write_text(json.dumps(PUBLISHED))
    (tmp_path / "stall.txt").write_text("tit_for_tat\n")
    ran = CliRunner().invoke(cli, [*use, "reproduce", "lemon2026", "--json"])
    assert ran.exit_code == 0, ran.output
    row, there = json.loads(ran.stdout)["rows"]
    assert (row["published"], row["ours"], there["missing"]) == (2.0, 2.0, "nobody sells there")
    store = tmp_path / "store"
    line = [*use, "import", "lemons", str(tmp_path / "stall.txt"), "--out", str(store)]
    ran = CliRunner().invoke(cli, line)
    assert ran.exit_code == 0, ran.output
    assert "one was sour" in ran.output
    assert [e.setup.lineup["partner"].player for e in sally.load(store)] == ["tit_for_tat"]
