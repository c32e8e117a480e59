"""A full study rehearsed: scripted participants with drop-outs, every row accounted for."""

from __future__ import annotations

import asyncio
import csv
import io
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from sally import store
from sally.web.rehearsal import rehearse
from sally.web.study.definition import read_human_study
from tests.web.participants import TEXT
from tests.web.postgres import empty_database
from tests.web.study.test_tables import WATCHED

BLOCKS = """
[[conditions]]
name = "in blocks"
people = ["agent"]
others = { partner = { player = "tit_for_tat" } }
[[conditions.blocks]]
name = "first"
rounds = 1
arms = { agent = ["their_move"] }
instructions = ["In this part you are asked what you expect."]
[[conditions.blocks]]
name = "second"
rounds = 2
people = ["partner"]
others = { agent = { player = "random" } }
"""


@pytest.fixture(params=[("sqlite", 60), ("postgres", 24)])
def database_and_count(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, int]]:
    kind, count = request.param
    if kind == "sqlite":
        yield str(tmp_path / "database.sqlite"), count
    else:
        with empty_database() as address:
            yield address, count


def rows_of(out: Path, table: str) -> list[dict[str, str]]:
    (file,) = (out / "psych-ds" / "data").glob(f"*description-{table}_data.csv")
    return list(csv.DictReader(io.StringIO(file.read_text())))


def test_participants_with_drop_outs_leave_complete_data(
    database_and_count: tuple[str, int], tmp_path: Path
) -> None:
    database, count = database_and_count
    file, out = tmp_path / "study.toml", tmp_path / "out"
    file.write_text(WATCHED.replace("participants = 40", f"participants = {count}", 1))
    study = read_human_study(file)
    rehearsal_summary = asyncio.run(rehearse(file, study, count, 1.8 / count, 7, database, out))
    assert rehearsal_summary.faults == () and sum(rehearsal_summary.states.values()) == count
    # some left, most did not
    assert count / 3 <= rehearsal_summary.states["done"] < count
    people = {row["participant"]: row for row in rows_of(out, "participants")}
    assert Counter(row["state"] for row in people.values()) == rehearsal_summary.states
    trials = Counter((r["participant"], r["game_number"]) for r in rows_of(out, "trials"))
    survey = Counter(row["participant"] for row in rows_of(out, "survey"))
    for player, row in people.items():
        if row["state"] == "done":
            assert [trials[player, str(n)] for n in (1, 2)] == [5, 5] and survey[player] == 8
            assert float(row["base_pay"]) == 1.0 and row["bonus_pay"]
    assert len(store.load(out).episodes) == rehearsal_summary.episodes
    filled = [sum(states.values()) for states in rehearsal_summary.conditions.values()]
    assert max(filled) - min(filled) <= 8  # balanced among those who came and stayed


def test_blocks_change_seats_and_questions_within_a_condition(tmp_path: Path) -> None:
    head, _, rest = TEXT.replace("rounds = 2 ", "#", 1).partition("[[conditions]]")
    tail = rest[rest.index("[[survey]]") :]
    file, out = tmp_path / "study.toml", tmp_path / "out"
    file.write_text(head + BLOCKS + tail)
    rehearsal_summary = asyncio.run(rehearse(file, read_human_study(file), 4, 0.0, 3, "", out))
    assert rehearsal_summary.states == {"done": 4} and rehearsal_summary.episodes == 12
    seats = Counter((r["game_number"], r["seat"]) for r in rows_of(out, "trials"))
    assert set(seats) == {("1", "agent"), ("2", "partner"), ("3", "partner")}
    assert {row["game_number"] for row in rows_of(out, "probes")} == {"1"}


def test_random_assignment_fills_the_quotas_exactly(tmp_path: Path) -> None:
    text = TEXT.replace("participants = 40", 'participants = 8\nassignment = "random"', 1)
    text = text.replace('name = "asked"', 'name = "asked"\nwanted = 6', 1)
    text = text.replace('name = "not asked"', 'name = "not asked"\nwanted = 2', 1)
    file = tmp_path / "study.toml"
    file.write_text(text)
    study = read_human_study(file)
    rehearsal_summary = asyncio.run(rehearse(file, study, 12, 0.0, 5))
    assert sum(rehearsal_summary.conditions["asked"].values()) == 6
    assert sum(rehearsal_summary.conditions["not asked"].values()) == 2


def test_german_study_has_no_english_page(tmp_path: Path) -> None:
    file = tmp_path / "study.toml"
    file.write_text(TEXT.replace("participants = 40", 'participants = 4\nlanguage = "de"', 1))
    rehearsal_summary = asyncio.run(rehearse(file, read_human_study(file), 2, 0.0))
    assert rehearsal_summary.states == {"done": 2}
