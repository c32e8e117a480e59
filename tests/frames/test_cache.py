"""Tables on disk: the same figures, sooner, and never believed against the lines."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec
import numpy as np
import polars as pl
import pytest

import sally
from sally import store
from sally.analysis.episodes import paper_store
from sally.analysis.episodes.paper_store import FORFEITED, PaperEpisodes
from sally.core.log.events import Censored, Episode, Setup, to_line
from sally.core.registry import fingerprint
from sally.core.registry.study import Cell, Study, grid, instance, player_spec
from sally.core.rules.metric import Played
from sally.frames import build, cache, frame, parallel, writer
from sally.frames.frame import Frame, as_frame
from sally.frames.profiles import SeatSums
from sally.frames.schema import LEVELS, SUMS
from sally.games.repeated_games.regret import functional_regret_published
from sally.games.repeated_games.rules import AGENT
from sally.output.page.page_data import PageData
from sally.output.page.results import sheets_of
from sally.runner.local import play_open
from sally.runner.seating import resolve_setup

DUEL = grid(agent=player_spec("random"), partner=player_spec("tit_for_tat"))
METRICS = ("payoff", "tom_percent", "action_consistency", "turns")


def play_to_end(seed: int, agent: str = "random") -> Episode:
    return sally.play(
        "rps", {"agent": agent, "partner": "tit_for_tat"}, seed, rounds=3,
        probes={"agent": ["their_move"]},
    )  # fmt: skip


def cut(episode: Episode) -> Episode:
    return msgspec.structs.replace(episode, events=[Censored(turn=0, cause="budget")])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store with cut, doubled and torn lines."""
    monkeypatch.setenv("SALLY_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(cache, "SETTLED", -1.0)  # files that are a moment old count as settled
    episodes = [play_to_end(seed, agent) for seed in range(4) for agent in ("random", "constant")]
    actual_folder = tmp_path / "store"
    actual_folder.mkdir()
    store.claim(actual_folder, store.Manifest("trial", "0"))
    lines = [cut(episodes[0]), *episodes[:5], episodes[1], cut(episodes[6]), *episodes[5:6]]
    (actual_folder / "a.jsonl").write_bytes(b"".join(map(to_line, lines)))
    (actual_folder / "b.jsonl").write_bytes(
        to_line(cut(episodes[7])) + to_line(episodes[6]) + b"{torn"
    )
    return actual_folder


def scores(folder: Path) -> list[dict[str, object]]:
    """Return the means of a store."""
    return list(sally.score(folder, METRICS, seat="*", by=("cell", "others")))


def from_lines(folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, object]]:
    """Return the means of a store without a cache."""
    with monkeypatch.context() as without:
        without.setattr(cache, "has", lambda *_: False)
        without.setattr(cache, "write", lambda *_: None)
        return scores(folder)


def tables(cached: str = "*") -> list[Path]:
    return sorted(cache.folder().rglob(f"{cached}.parquet"))


def refuse(*_: object) -> None:
    raise AssertionError("an episode was replayed again")


def test_means_are_the_same_with_the_cache_and_without(folder: Path, monkeypatch) -> None:
    expected = from_lines(folder, monkeypatch)
    assert not tables()
    assert scores(folder) == scores(folder) == expected
    assert tables()


def test_cached_episodes_are_not_replayed(folder: Path, monkeypatch) -> None:
    first = scores(folder)
    monkeypatch.setattr(build, "replay_episode", refuse)
    assert scores(folder) == first
    with pytest.raises(AssertionError, match="again"):
        sally.score(folder, ["functional_regret"])  # a metric that nobody asked for before


def test_metric_measured_later_joins_the_others(folder: Path, monkeypatch) -> None:
    scores(folder)
    sally.score(folder, ["functional_regret"])
    monkeypatch.setattr(build, "replay_episode", refuse)
    sally.score(folder, [*METRICS, "functional_regret"])


def test_bad_lines_and_reasons_are_reported_from_the_cache_too(folder: Path) -> None:
    for _ in range(2):
        actual_scores = sally.score(folder, METRICS)
        assert [str(line).partition(":")[0] for line in actual_scores.bad] == ["b.jsonl, line 3"]
        assert dict(actual_scores.scores.reasons) == {"budget": 1}
    assert (folder / "quarantine" / "b.jsonl").read_bytes() == b"{torn\n"


def test_edited_line_is_read_again(folder: Path, monkeypatch) -> None:
    records_before = scores(folder)
    path = folder / "a.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:3] + lines[4:]))
    assert scores(folder) == from_lines(folder, monkeypatch) != records_before


def test_edit_that_keeps_the_file_length_is_detected(folder: Path, monkeypatch) -> None:
    records_before = scores(folder)
    path = folder / "a.jsonl"
    line = path.read_bytes().splitlines(keepends=True)[1]
    path.write_bytes(path.read_bytes().replace(line, b" " * (len(line) - 1) + b"\n"))
    assert scores(folder) == from_lines(folder, monkeypatch) != records_before


def test_file_of_a_moment_ago_is_read_whatever_its_times(folder: Path, monkeypatch) -> None:
    monkeypatch.setattr(cache, "SETTLED", 60.0)
    records_before = scores(folder)
    path, stat = folder / "a.jsonl", (folder / "a.jsonl").stat()
    line = path.read_bytes().splitlines(keepends=True)[1]
    path.write_bytes(path.read_bytes().replace(line, b" " * (len(line) - 1) + b"\n"))
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert scores(folder) == from_lines(folder, monkeypatch) != records_before


def test_damaged_table_is_built_again(folder: Path) -> None:
    records_before = scores(folder)
    for path in tables():
        path.write_bytes(b"no table at all")
    assert scores(folder) == records_before
    assert all(pl.read_parquet(path).width for path in tables("*.metrics"))


def test_cache_may_be_deleted_or_be_read_only(folder: Path, monkeypatch, tmp_path: Path) -> None:
    records_before = scores(folder)
    for path in tables():
        path.unlink()
    assert scores(folder) == records_before
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("SALLY_CACHE", str(tmp_path / "file"))
    assert scores(folder) == records_before


def test_changed_code_measures_again(folder: Path, monkeypatch) -> None:
    scores(folder)
    was, replayed = build.replay_episode, list[str]()
    monkeypatch.setattr(build, "replay_episode", lambda e: replayed.append(e.id) or was(e))
    scores(folder)
    assert not replayed
    monkeypatch.setattr(cache, "fingerprint", lambda: "other code")
    scores(folder)
    assert len(set(replayed)) == 8  # every episode


def test_words_packs_beside_the_lines_belong_to_the_key(folder: Path) -> None:
    file = folder / "a.jsonl"
    data = cache.KnownDigests(folder, ()).digest(file.name)
    assert cache.KnownDigests(folder, ("x.toml",)).digest(file.name) != data


def test_open_file_is_not_cached(folder: Path) -> None:
    (folder / "a.jsonl").rename(folder / "a.open")
    (folder / "b.jsonl").unlink()
    assert scores(folder) and not tables()


def test_tables_of_a_game_registered_in_memory_are_not_kept(folder: Path, tmp_path: Path) -> None:
    episode = sally.play("cups", {"hider": "random", "seeker": "random"})
    for old in folder.glob("*.jsonl"):
        old.unlink()
    with store.Writer(folder) as lines:
        lines.add(episode)
    assert sally.score(folder, ["payoff"]) and not tables()


def fingerprint_elsewhere() -> str:
    """Return the fingerprint of the code in a new process, started as those that build tables."""
    code = parallel.START.replace(
        "from sally.frames.worker import work; work()",
        "from sally.core.registry.fingerprint import fingerprint; print(fingerprint())",
    )
    command = [sys.executable, "-P", "-c", code, str(Path(parallel.__file__).parents[2])]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def test_large_store_is_measured_by_several_processes(folder: Path, monkeypatch) -> None:
    expected = from_lines(folder, monkeypatch)
    monkeypatch.setattr(frame, "PARALLEL_BYTES", 0)
    # what other tests of this process have left: the other processes have none of it
    monkeypatch.setattr(parallel.registry, "added_in_memory", lambda *_: set())
    monkeypatch.setattr(parallel.registry, "added_objects", dict)
    monkeypatch.setattr(parallel.registry, "added_files", tuple)
    parallel.registry._entry_points.cache_clear()
    fingerprint._of.cache_clear()
    if fingerprint.fingerprint() != fingerprint_elsewhere():
        pytest.skip(
            "this process sees other code or packages than a new one, so builds tables alone"
        )
    measured = list[str]()
    was = frame.File.measure
    monkeypatch.setattr(
        frame.File, "measure", lambda self, *how: measured.append(how[0]) or was(self, *how)
    )
    assert scores(folder) == expected
    expected_folder = cache.folder()
    found_folders = {path.parent.parent for path in cache.cache_folder().rglob("*.parquet")}
    assert found_folders == {expected_folder}  # the processes agree on the code
    assert not measured  # other processes did it all


def test_error_in_another_process_is_reported(folder: Path, monkeypatch) -> None:
    monkeypatch.setattr(frame, "PARALLEL_BYTES", 0)
    monkeypatch.setattr(parallel.registry, "added_in_memory", lambda *_: set())
    monkeypatch.setattr(parallel.registry, "added_objects", dict)
    monkeypatch.setattr(parallel, "START", "import sys; sys.stdout.write('It is wrong.')")
    with pytest.raises(sally.BadInput, match=r"It is wrong\."):
        scores(folder)


# --- tables made while a run plays ----------------------------------------------------------------


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


def write(folder: Path, setups: Iterable[Setup]) -> writer.TableWriter:
    """Play episodes into a file of a store; return the tables made on the way."""
    table_writer = writer.TableWriter()
    with store.Writer(folder) as lines:
        for setup in setups:
            episode, replay = play_open(resolve_setup(setup), "cell")
            table_writer.add(*lines.add(episode), replay)
    return table_writer


@pytest.fixture
def empty(folder: Path) -> Path:
    for old in folder.glob("*.jsonl"):
        old.unlink()
    return folder


def sheets(folder: Path) -> object:
    """Return what a page knows of a store."""
    page_data = PageData(folder)
    return page_data.digest(), [
        (sheet.title, [(g.player, g.estimates, g.listed.rows()) for g in sheet.groups])
        for sheet in sheets_of(page_data)
    ]


def profiles(frame_: Frame) -> str:
    """Return the sums of the seats of a frame; NaN equals NaN as text."""
    sums = SeatSums(frame_.profiles())
    numbers = {field: sums.of(field).tolist() for field in (*SUMS, *LEVELS)}
    texts = sums.rows.select("kind", "setting", "keys", "truths", "bins", "probes").rows()
    return repr((numbers, texts))


@pytest.mark.parametrize("setups", [SETUPS[:5], SETUPS[5:8], SETUPS[8:11], SETUPS[11:]])
def test_tables_made_by_a_run_equal_those_from_lines(empty: Path, monkeypatch, setups) -> None:
    table_writer = write(empty, setups)
    with monkeypatch.context() as without:
        without.setattr(cache, "write", lambda *_: None)
        first = as_frame(empty)
        expected = first.seats().rows(), profiles(first), repr(sheets(empty))
    table_writer.keep(empty)
    monkeypatch.setattr(build.store, "sound_line", refuse)
    repeated_frame = as_frame(empty)
    assert (
        repeated_frame.seats().rows(),
        profiles(repeated_frame),
        repr(sheets(empty)),
    ) == expected


def test_tables_not_matching_the_file_are_not_used(empty: Path, monkeypatch) -> None:
    table_writer = write(empty, SETUPS[:4])
    (file,) = empty.glob("*.jsonl")
    file.write_bytes(b"".join(reversed(file.read_bytes().splitlines(keepends=True))))
    table_writer.keep(empty)
    monkeypatch.setattr(build, "replay_episode", refuse)
    with pytest.raises(AssertionError, match="again"):
        scores(empty)


def test_failing_metric_prevents_tables_without_an_error(empty: Path, monkeypatch) -> None:
    monkeypatch.setattr(writer, "_reuse_replay", lambda episode, replay: 1 / 0)
    write(empty, SETUPS[:4]).keep(empty)
    assert not tables()


def test_line_that_does_not_replay_prevents_tables(empty: Path, monkeypatch) -> None:
    monkeypatch.setattr(writer.store, "sound_line", lambda line: "the line is wrong")
    write(empty, SETUPS[:4]).keep(empty)
    assert not tables()


# --- the episodes of a paper ----------------------------------------------------------------------


@pytest.mark.parametrize("of_setup", [True, False])
def test_episodes_of_a_paper_have_conditions_and_metrics(folder: Path, monkeypatch, of_setup):
    def facts(played_episode: Played) -> dict[str, str] | None:
        player = played_episode.episode.setup.lineup["agent"].player
        return {"agent": player} if player == "random" else None

    def told(known: Iterable[tuple[Mapping[str, object], Played]]) -> list[object]:
        return [(conditions, p.episode, p.replay.moves) for conditions, p in known]

    def of(frame_: Frame) -> PaperEpisodes:
        return PaperEpisodes(frame_, facts, AGENT, of_setup)

    full_episodes = list(store.load(folder).episodes.values())
    plain = of(as_frame(full_episodes))
    assert len(plain) == 4 and plain.many == len(full_episodes)
    stored = of(as_frame(folder))
    monkeypatch.setattr(paper_store, "HELD", 1)  # all but one are read again
    key = repr
    assert sorted(map(key, told(stored))) == sorted(map(key, told(plain)))
    for metric in ("tom_percent", "reward", FORFEITED):
        assert sorted(stored.numbers(metric)) == sorted(plain.numbers(metric)) != []


def test_reproduction_reads_one_line_per_setup(empty: Path, monkeypatch) -> None:
    write(empty, SETUPS).keep(empty)
    asked_texts: list[str] = []

    def facts(played_episode: Played) -> dict[str, str] | None:
        asked_texts.append(played_episode.episode.id)
        return {"game": played_episode.spec.name} if played_episode.spec.name != "rps" else None

    paper_episodes = PaperEpisodes(as_frame(empty), facts, AGENT, of_setup=True)
    alike = {(s.instance.id, str(s.instance.params), str(s.lineup), str(s.arms)) for s in SETUPS}
    assert len(asked_texts) == len(alike) == 4 and paper_episodes.many == len(SETUPS)
    assert len(paper_episodes) == len([s for s in SETUPS if s.instance.game != "rps"])
    assert len(paper_episodes.select(lambda f: f["game"] == "tradecraft")) == 1
    whole = [played for _, played in paper_episodes if played.spec.name == "ipd"]
    measured = [functional_regret_published(p, AGENT) for p in whole]
    ours = paper_episodes.numbers("functional_regret_published")
    assert ours[~np.isnan(ours)].tolist() == measured


def test_tables_of_versions_that_built_none_for_a_month_are_deleted(folder: Path) -> None:
    versions = cache.folder().parent
    for name, days in (("old", 31), ("recent", 29)):
        (versions / name / "ab").mkdir(parents=True)
        (versions / name / "ab" / "table.parquet").write_bytes(b"of another version")
        then = time.time() - days * 86400
        os.utime(versions / name, (then, then))
    cache.remove_unused.cache_clear()
    as_frame(folder).seats("payoff")
    assert not (versions / "old").exists() and (versions / "recent" / "ab").exists()
    assert as_frame(folder).seats("payoff").height
