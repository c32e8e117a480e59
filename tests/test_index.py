"""The index beside the lines: the same figures, sooner, and never believed against the lines."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec
import numpy as np
import pytest

import sally
from sally import store
from sally.analysis.columns import replayed_rows, seat_table
from sally.analysis.columns.measured_table import MeasuredColumn
from sally.analysis.columns.scores import FINEST
from sally.analysis.columns.seat_table import SEATS, SEEDS, SeatColumns, seats_in, table_means
from sally.analysis.compare.compare import compare, indexed_store
from sally.analysis.compare.crossplay import crossplay, stored_crossplay
from sally.analysis.episodes import paper_store
from sally.analysis.episodes.paper_store import (
    FORFEITED,
    InMemory,
    PaperStore,
    SetupsColumn,
    with_conditions,
)
from sally.analysis.episodes.stores import each_once, measured_stores
from sally.core.errors import BadInput
from sally.core.log.events import Censored, Episode, Setup, to_line
from sally.core.registry.study import Cell, Study, grid, instance, player_spec
from sally.core.rules.metric import Played
from sally.games.repeated_games.regret import functional_regret_published
from sally.games.repeated_games.rules import AGENT
from sally.output.files import index_writer as noting
from sally.output.page.lines import PageColumn, numbers_shown
from sally.output.page.page_data import PageData
from sally.runner.local import play_open
from sally.runner.seating import resolved
from sally.store import index
from sally.store.summary import SummaryColumn
from tests.analysis.episode_means import means, seats_of

DUEL = grid(agent=player_spec("random"), partner=player_spec("tit_for_tat"))
NAMES = ("payoff", "tom_percent", "action_consistency", "turns")


def played(seed: int, agent: str = "random") -> Episode:
    return sally.play(
        "rps", {"agent": agent, "partner": "tit_for_tat"}, seed, rounds=3,
        probes={"agent": ["their_move"]},
    )  # fmt: skip


def cut(episode: Episode) -> Episode:
    return msgspec.structs.replace(episode, events=[Censored(turn=0, cause="budget")])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store with cut, doubled and torn lines, in pieces of three lines."""
    monkeypatch.setenv("SALLY_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(index, "SMALL", 0)
    monkeypatch.setattr(index, "PIECE", 3)
    monkeypatch.setattr(index, "SETTLED", -1.0)  # files that are a moment old count as settled
    episodes = [played(seed, agent) for seed in range(4) for agent in ("random", "constant")]
    there = tmp_path / "store"
    there.mkdir()
    store.claim(there, store.Manifest("trial", "0"))
    lines = [cut(episodes[0]), *episodes[:5], episodes[1], cut(episodes[6]), *episodes[5:6]]
    (there / "a.jsonl").write_bytes(b"".join(map(to_line, lines)))
    (there / "b.jsonl").write_bytes(to_line(cut(episodes[7])) + to_line(episodes[6]) + b"{torn")
    return there


def by_lines(folder: Path) -> list[dict[str, object]]:
    return means(seats_of(each_once([folder]), NAMES), NAMES, FINEST)


def by_index(folder: Path) -> list[dict[str, object]]:
    seats = seats_in(folder, NAMES)
    rows = table_means(seats, seats.kinds, NAMES, FINEST)
    counted = ("results", "missing")  # the lines have no such columns
    assert all(row["results"] >= row["episodes"] for row in rows if row["metric"] == "payoff")
    return [{name: row[name] for name in row if name not in counted} for row in rows]


def test_means_are_the_same_with_the_index_and_without(folder: Path, monkeypatch):
    assert by_index(folder) == by_lines(folder)
    assert (folder / store.INDEX).exists()
    assert by_index(folder) == by_lines(folder)
    (folder / store.INDEX).unlink()
    monkeypatch.setattr(index, "SMALL", 10**9)
    assert by_index(folder) == by_lines(folder)
    assert not (folder / store.INDEX).exists()


def test_index_reports_bad_lines_and_reasons(folder: Path):
    for _ in range(2):
        seats = seats_in(folder, NAMES)
        assert len(seats.bad) == 1 and "b.jsonl, line 3" in seats.bad[0]
        assert dict(seats.reasons) == {"budget": 1}
    assert (folder / "quarantine" / "b.jsonl").read_bytes() == b"{torn\n"


def test_indexed_episodes_are_not_replayed(folder: Path, monkeypatch):
    first = by_index(folder)

    def no_more(episode: Episode) -> None:
        raise AssertionError("an episode was replayed again")

    monkeypatch.setattr(replayed_rows, "played", no_more)
    assert by_index(folder) == first
    with pytest.raises(AssertionError, match="again"):
        seats_in(folder, [*NAMES, "moves"])  # a column that nobody asked for before


def test_edited_line_is_read_again(folder: Path):
    before = by_index(folder)
    path = folder / "a.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:3] + lines[4:]))
    assert by_index(folder) == by_lines(folder) != before


def test_edit_that_keeps_the_file_length_is_detected(folder: Path):
    before = by_index(folder)
    path = folder / "a.jsonl"
    line = path.read_bytes().splitlines(keepends=True)[1]
    path.write_bytes(path.read_bytes().replace(line, b" " * (len(line) - 1) + b"\n"))
    assert by_index(folder) != before
    assert by_index(folder) == by_lines(folder)


@pytest.mark.parametrize("table", ["columns", "files"])
def test_tampered_index_is_not_used(folder: Path, table: str):
    before = by_index(folder)
    with sqlite3.connect(folder / store.INDEX) as base:
        if table == "columns":
            base.execute("UPDATE columns SET data = zeroblob(length(data)) WHERE name = 'payoff'")
        else:
            base.execute("DELETE FROM pieces WHERE file = 'a.jsonl' AND number = 1")
    assert by_index(folder) == before


def test_index_of_another_user_is_rebuilt(folder: Path, monkeypatch, tmp_path: Path):
    before = by_index(folder)
    with sqlite3.connect(folder / store.INDEX) as base:
        seals = set(base.execute("SELECT seal FROM columns"))
    monkeypatch.setenv("SALLY_CACHE", str(tmp_path / "mine"))
    assert by_index(folder) == before
    with sqlite3.connect(folder / store.INDEX) as base:
        assert seals.isdisjoint(base.execute("SELECT seal FROM columns"))


def test_broken_index_is_rebuilt(folder: Path):
    before = by_index(folder)
    (folder / store.INDEX).write_bytes(b"no database at all, and long enough to be looked at" * 50)
    assert by_index(folder) == before
    assert sqlite3.connect(folder / store.INDEX).execute("SELECT count(*) FROM columns").fetchone()


@pytest.mark.parametrize("lock", ["IMMEDIATE", "EXCLUSIVE"])
def test_locked_index_is_not_waited_for(folder: Path, monkeypatch, lock: str):
    before = by_index(folder)
    monkeypatch.setattr(index, "BUSY_SECONDS", 0.01)
    monkeypatch.setattr(seat_table, "fingerprint", lambda: "other code")
    with sqlite3.connect(folder / store.INDEX, isolation_level=None) as other:
        other.execute(f"BEGIN {lock}")
        assert by_index(folder) == before
        other.execute("ROLLBACK")
    assert by_index(folder) == before


def test_changed_code_fingerprint_measures_again(folder: Path, monkeypatch):
    by_index(folder)
    was = replayed_rows.played
    replayed: list[str] = []
    monkeypatch.setattr(replayed_rows, "played", lambda e: replayed.append(e.id) or was(e))
    by_index(folder)
    assert not replayed
    monkeypatch.setattr(seat_table, "fingerprint", lambda: "other code")
    by_index(folder)
    assert len(replayed) == 11  # every line that can be read


def test_surveys_and_measures_are_the_same_with_the_index(folder: Path, monkeypatch):
    with_index = [(store.survey(folder), measured_stores([folder])) for _ in range(2)]
    monkeypatch.setattr(index, "SMALL", 10**9)
    (folder / store.INDEX).unlink()
    without = store.survey(folder), measured_stores([folder])
    assert with_index == [without, without]
    assert without[0].cut.keys() == {played(3, "constant").id}
    assert without[0].doubled == 1


def test_comparisons_and_cross_play_are_the_same_with_the_index(folder: Path):
    lines = list(each_once([folder]))
    assert compare(indexed_store(folder), "random", "constant") == compare(
        lines, "random", "constant"
    )
    assert stored_crossplay(seats_in(folder, ["payoff"]), None) == {"rps": crossplay(lines)}
    assert stored_crossplay(seats_in(folder, ["payoff"]), "ipd") == {}


def written(folder: Path, setups: Iterable[Setup]) -> tuple[noting.IndexWriter, str]:
    """Episodes played into a file of a store, and the columns that were made on the way."""
    columns = noting.IndexWriter()
    with store.Writer(folder) as writer:
        for setup in setups:
            episode, replay = play_open(resolved(setup), "cell")
            columns.add(*writer.add(episode), replay)
    return columns, writer.file


SETUPS = [
    setup
    for cell in (
        Cell("bare", (instance("ipd", rounds=4),), DUEL, repeats=5),
        Cell("asked", (instance("rps", rounds=3),), DUEL, {"agent": ("their_move",)}, repeats=3),
        Cell("chance", (instance("ipd", rounds=9, stop_chance=0.3),), DUEL, repeats=3),
        Cell(
            "forms",
            (instance("tradecraft"),),
            grid(p1=player_spec("random"), p2=player_spec("random")),
        ),
    )
    for _, setup in Study("some", "of each kind", (cell,)).trials()
]


def test_columns_made_while_writing_equal_columns_from_lines(folder: Path):
    columns, file = written(folder, SETUPS)
    columns.keep(folder, file)
    lines = [(file, n, line) for n, line in store.lines_of(folder / file)]
    assert len(columns._made) == -(-len(lines) // index.PIECE) > 3
    for n, (_, found) in enumerate(columns._made):
        piece = lines[n * index.PIECE : (n + 1) * index.PIECE]
        seats = SeatColumns((SEATS, SEEDS, *columns._numbers))
        parts = [SummaryColumn(), seats, MeasuredColumn(), PageColumn(), SetupsColumn()]
        assert found == replayed_rows.replayed_columns(piece, parts)


def test_lines_indexed_by_their_run_are_not_replayed(folder: Path, monkeypatch):
    for old in folder.glob("*.jsonl"):
        old.unlink()
    columns, file = written(folder, SETUPS[:8])
    columns.keep(folder, file)
    with monkeypatch.context() as without:
        without.setattr(index, "SMALL", 10**9)
        before = by_index(folder), store.survey(folder), measured_stores([folder])
    monkeypatch.setattr(replayed_rows, "played", lambda episode: 1 / 0)
    assert (by_index(folder), store.survey(folder), measured_stores([folder])) == before


def paged(folder: Path) -> tuple[object, ...]:
    """What a page knows of a store's seats; numbers as text, since a missing one equals none."""
    held = PageData(folder)
    numbers = {name: [repr(float(v)) for v in held.seats.values[name]] for name in numbers_shown()}
    return held.digest(), held.seats.kinds, held.seats.problem.tolist(), numbers


def test_first_page_after_a_run_replays_no_line(folder: Path, monkeypatch):
    for old in folder.glob("*.jsonl"):
        old.unlink()
    columns, file = written(folder, SETUPS)
    columns.keep(folder, file)
    with monkeypatch.context() as without:
        without.setattr(index, "SMALL", 10**9)
        before = paged(folder)
    monkeypatch.setattr(replayed_rows.store, "sound_line", lambda line: 1 / 0)
    assert paged(folder) == before
    (folder / store.INDEX).unlink()
    with pytest.raises(ZeroDivisionError):
        paged(folder)


def test_columns_not_matching_the_file_are_not_kept(folder: Path, monkeypatch):
    columns, file = written(folder, SETUPS[:4])
    lines = (folder / file).read_bytes().splitlines(keepends=True)
    (folder / file).write_bytes(b"".join(reversed(lines)))
    columns.keep(folder, file)
    monkeypatch.setattr(replayed_rows, "played", lambda episode: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        by_index(folder)


def test_failing_metric_prevents_indexing_without_an_error(folder: Path, monkeypatch):
    monkeypatch.setattr(noting, "opened", lambda episode, replay: 1 / 0)
    columns, file = written(folder, SETUPS[:4])
    columns.keep(folder, file)
    assert not columns._made and not (folder / store.INDEX).exists()


def test_episode_that_does_not_replay_is_not_indexed(folder: Path, monkeypatch):
    monkeypatch.setattr(noting.store, "sound_line", lambda line: "the line is wrong")
    columns, file = written(folder, SETUPS[:4])
    columns.keep(folder, file)
    assert not (folder / store.INDEX).exists()


def test_log_of_plain_moves_is_validated(folder: Path):
    one = sally.play("ipd", {"agent": "random", "partner": "tit_for_tat"}, 1, rounds=5)
    assert store.sound_line(to_line(one)) == one
    wrong = to_line(one).replace(b'"turn":2,"seat":"agent"', b'"turn":3,"seat":"agent"')
    assert "does not replay" in str(store.sound_line(wrong))
    paid = to_line(one).replace(b'"payoffs":{"agent":', b'"payoffs":{"agent":1')
    assert "replays as" in str(store.sound_line(paid))


def test_lazy_store_reads_episodes_on_access(folder: Path, monkeypatch):
    whole = sally.load(folder)
    lazy = sally.load(folder, lazy=True)
    assert list(lazy.ids) == [e.id for e in whole] and len(lazy) == len(whole)
    assert list(lazy) == whole and lazy[-2:] == whole[-2:]
    assert lazy[whole[3].id] == lazy[3] == whole[3]
    assert list(lazy.rows()) == whole.rows() and list(lazy.decisions()) == whole.decisions()
    columns = lazy.columns("payoff")
    theirs = [
        (r["seat"], r["player"], r["payoff"]) for r in whole.rows() if r["payoff"] is not None
    ]
    ours = zip(columns["seat"], columns["player"], columns["payoff"], strict=True)
    assert sorted(o for o in ours if o[2] == o[2]) == sorted(theirs)
    with pytest.raises(KeyError):
        lazy["no such id"]


def test_changed_lazy_store_is_reported(folder: Path):
    lazy = sally.load(folder, lazy=True)
    path = folder / "a.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"turn":1', b'"turn":2'))
    with pytest.raises(BadInput, match="changed after the store was loaded"):
        list(lazy)


@pytest.mark.parametrize("of_setup", [True, False])
def test_paper_store_finds_episodes_by_the_index(folder: Path, monkeypatch, of_setup: bool):
    def facts(whole: Played) -> dict[str, str] | None:
        who = whole.episode.setup.lineup["agent"].player
        return {"agent": who} if who == "random" else None

    def told(known: Iterable[tuple[Mapping[str, object], Played]]) -> list[object]:
        return [(f, p.episode, p.replay.moves) for f, p in known]

    whole = store.load(folder).episodes.values()
    first = told(with_conditions(facts, whole))
    how = ("ours", facts, AGENT, ("tom_percent", "reward"), of_setup)
    assert len(first) == 4 and told(PaperStore(folder, *how)) == first
    monkeypatch.setattr(paper_store, "HELD", 1)  # all but one are read again
    monkeypatch.setattr(replayed_rows, "played", lambda episode: 1 / 0)
    again = PaperStore(folder, *how)
    assert again.many == len(whole) and told(again) == first
    plain = InMemory(with_conditions(facts, whole), AGENT)
    for metric in ("tom_percent", "reward", FORFEITED):
        assert again.numbers(metric).tolist() == plain.numbers(metric).tolist() != []


def test_reproduction_reads_one_line_per_indexed_setup(folder: Path, monkeypatch):
    for old in folder.glob("*.jsonl"):
        old.unlink()
    columns, file = written(folder, SETUPS)
    columns.keep(folder, file)
    monkeypatch.setattr(replayed_rows, "played", lambda episode: 1 / 0)
    asked: list[str] = []

    def facts(whole: Played) -> dict[str, str] | None:
        asked.append(whole.episode.id)
        return {"game": whole.spec.name} if whole.spec.name != "rps" else None

    metrics = ("functional_regret_published", "reward")
    found = PaperStore(folder, "ours", facts, AGENT, metrics, of_setup=True)
    alike = {(s.instance.id, str(s.instance.params), str(s.lineup), str(s.arms)) for s in SETUPS}
    assert len(asked) == len(alike) == 4 and found.many == len(SETUPS)
    assert len(found) == len([s for s in SETUPS if s.instance.game != "rps"])
    assert len(found.those(lambda f: f["game"] == "tradecraft")) == 1
    whole = [played for _, played in found if played.spec.name == "ipd"]
    measured = [functional_regret_published(p, AGENT) for p in whole]
    ours = found.numbers("functional_regret_published")
    assert ours[~np.isnan(ours)].tolist() == measured
