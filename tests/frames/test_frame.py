"""Episodes as tables: each stored episode once, bad lines reported, all tables row by row."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
import polars as pl
import pytest

import sally
from sally import store
from sally.core.errors import BadInput
from sally.core.log.events import Censored, Episode, Instance, Moved, to_line
from sally.core.registry import registry
from sally.frames.build import TABLES
from sally.frames.frame import OF_EPISODE, OF_SEAT, as_frame
from sally.frames.measured_seat import measure_episode
from sally.frames.profiles import SeatSums
from sally.frames.replays import replay_for_measures as replay
from sally.frames.rows import setup_of
from sally.frames.schema import EXPORTED_DECISION
from sally.output.files.bundle import pack


def play_to_end(seed: int) -> Episode:
    lineup, probes = {"agent": "random", "partner": "tit_for_tat"}, {"agent": ["their_move"]}
    return sally.play("rps", lineup, seed, rounds=3, probes=probes)


def cut(episode: Episode) -> Episode:
    return msgspec.structs.replace(episode, events=[Censored(turn=0, cause="budget")])


def store_games(folder: Path, *episodes: Episode) -> Path:
    folder.mkdir()
    store.claim(folder, store.Manifest("trial", "0"))
    with store.Writer(folder) as writer:
        for episode in episodes:
            writer.add(episode)
    return folder


def test_finished_episode_replaces_censored_one_in_any_store(tmp_path: Path) -> None:
    episode, two, three = (play_to_end(seed) for seed in range(3))
    first = store_games(tmp_path / "a", cut(episode), two, cut(three))
    second = store_games(tmp_path / "b", episode, two)
    frame = as_frame([first, second])
    assert sorted(frame.episodes["episode"]) == sorted(e.id for e in (episode, two, three))
    assert {e.id for e in frame if e.payoffs is None} == {three.id}
    assert (frame.doubled, frame.replaced) == (1, 1)
    ended = frame.seats("episode", "payoff").filter(pl.col("payoff").is_not_null())
    assert set(ended["episode"]) == {episode.id, two.id}


def test_episodes_in_memory_all_count(tmp_path: Path) -> None:
    folder = store_games(tmp_path / "a", play_to_end(1))
    assert len(as_frame([play_to_end(1)] * 3)) == 3
    assert len(as_frame([folder, play_to_end(1), folder])) == 2


def test_invalid_line_is_reported_and_the_rest_is_read(tmp_path: Path) -> None:
    folder = store_games(tmp_path / "a", play_to_end(1))
    (folder / "torn.jsonl").write_bytes(to_line(play_to_end(2))[:40])
    frame = as_frame(folder)
    (bad,) = frame.bad
    assert len(frame) == 1 and str(bad).startswith("torn.jsonl, line 1: ")
    assert (folder / "quarantine" / "torn.jsonl").exists()


def test_store_bundle_and_memory_have_the_same_tables(tmp_path: Path) -> None:
    episodes = [play_to_end(seed) for seed in range(4)]
    folder = store_games(tmp_path / "a", *episodes)
    pack(folder, tmp_path / "a.sally.zip")
    frames = [as_frame(source) for source in (folder, str(tmp_path / "a.sally.zip"), episodes)]
    tables = [
        (
            frame.seats().sort("episode", "seat"),
            frame.seats("episode", "seat", "tom_percent").sort("episode", "seat"),
            frame.profiles().select("setting", "asked", "right", "least").sort("setting"),
            frame.decisions().sort("episode", "turn", "seat", "what").drop("number"),
        )
        for frame in frames
    ]
    for first, *others in zip(*tables, strict=True):
        assert first.height
        for other_item in others:
            assert first.rows() == other_item.rows()


def test_no_metric_is_named_like_a_field() -> None:
    assert not set(registry.entries("metrics")) & (OF_EPISODE | OF_SEAT)


def test_only_probed_seats_are_measured_unless_a_seat_is_named() -> None:
    def seats(frame: pl.DataFrame) -> list[str]:
        return [kind.seat for kind in SeatSums(frame).shared]

    frame = as_frame(play_to_end(1))
    assert seats(frame.profiles()) == ["agent"]
    assert seats(frame.profiles("partner")) == ["partner"]
    bare = sally.play("rps", {"agent": "random", "partner": "tit_for_tat"}, rounds=3)
    assert seats(as_frame(bare).profiles()) == ["agent", "partner"]


def test_measured_seats_round_trip_through_the_table() -> None:
    probes = {"agent": ["their_odds"]}
    lineup = {"agent": "tabular", "partner": "random"}
    seats = [
        *measure_episode(play_to_end(1)),
        *measure_episode(cut(play_to_end(2))),
        *measure_episode(sally.play("rps", lineup, 2**70, rounds=6, probes=probes)),
        *measure_episode(sally.play("hanabi_mini", {"ann": "random", "bob": "random"}, 3)),
    ]
    sums = SeatSums.of_seats(seats)
    codes, truths = sums.encode_json("truths")
    for row, seat in enumerate(seats):
        setting = sums.setting(row)
        assert (setting.setup, setting.cell, setting.seat) == (seat.setup, seat.cell, seat.seat)
        assert sums.settings[row].hex() == seat.setting
        assert sums.of("asked")[row] == seat.knowing.asked
        assert sums.of("judged_fits")[row] == seat.habits.judged_fits
        assert truths[codes[row]] == seat.knowing.truths
    numbers = zip(sums.of("least").tolist(), (seat.least for seat in seats), strict=True)
    assert all(actual == least or (np.isnan(actual) and least is None) for actual, least in numbers)
    asked_response = sums.take(sums.of("asked") > 0)
    assert len(asked_response) == sum(seat.knowing.asked > 0 for seat in seats)


def test_rows_of_episodes_have_their_setup_and_position(tmp_path: Path) -> None:
    episodes = [play_to_end(seed) for seed in range(3)]
    frame = as_frame(store_games(tmp_path / "a", *episodes))
    for number, episode in enumerate(episodes):
        assert frame.episode(number) == frame.episode_by_id(episode.id) == episode
        setup = msgspec.structs.replace(episode.setup, seed=0)
        assert setup_of(frame.episodes["setup"][number]) == setup
    assert frame.column("seed").to_list() == [str(e.setup.seed) for e in episodes]
    moves = sum(isinstance(event, Moved) for e in episodes for event in e.events)
    assert frame.column("all_moves").sum() == moves
    with pytest.raises(KeyError):
        frame.episode_by_id("no such id")


def test_changed_store_is_reported(tmp_path: Path) -> None:
    folder = store_games(tmp_path / "a", play_to_end(1))
    frame = as_frame(folder)
    (file,) = folder.glob("*.jsonl")
    file.write_bytes(file.read_bytes().replace(b'"turn":1', b'"turn":2'))
    with pytest.raises(BadInput, match="was changed after the store was read"):
        list(frame)


def test_part_of_a_frame_has_only_its_rows() -> None:
    episodes = [play_to_end(seed) for seed in range(5)]
    frame = as_frame(episodes)
    part = frame.take(np.array([3, 1]))
    assert [e.id for e in part] == [episodes[3].id, episodes[1].id]
    assert part.seats("episode")["episode"].to_list() == [
        id for n in (3, 1) for id in [episodes[n].id] * 2
    ]
    few = frame.filter(pl.col("episode") == episodes[2].id)
    assert len(few) == 1 and few.decisions()["episode"].unique().to_list() == [episodes[2].id]


def test_episode_of_an_unknown_game_is_named_and_the_others_can_be_read() -> None:
    known_episode, unknown = play_to_end(1), play_to_end(2)
    setup = msgspec.structs.replace(unknown.setup, instance=Instance("i", "no_such_game"))
    frame = as_frame([known_episode, msgspec.structs.replace(unknown, setup=setup)])
    with pytest.raises(BadInput, match="no_such_game"):
        frame.seats("payoff")
    assert len(frame.playable()) == 1 and frame.playable().seats("payoff").height == 2


def test_unknown_column_is_refused() -> None:
    with pytest.raises(BadInput, match="did you mean tom_percent"):
        as_frame(play_to_end(1)).seats("tom_precent")


def test_decisions_and_calls_have_their_declared_columns() -> None:
    frame = as_frame(play_to_end(1))
    assert set(EXPORTED_DECISION) <= set(frame.decisions().columns)
    assert frame.decisions().height == 9  # three moves of each seat, three answers
    assert frame.calls().height == 0 and "input_tokens" in frame.calls().columns
    for table in TABLES.values():
        fields = {column.field for column in table.columns}
        for row in table.rows(replay(play_to_end(1))):
            assert set(row) <= fields


def test_only_selected_kinds_of_seats_are_read(tmp_path: Path) -> None:
    lineup = {"agent": "random", "partner": "tit_for_tat"}
    episodes = [sally.play("rps", lineup, seed, rounds=3) for seed in range(4)]
    folder = store_games(tmp_path / "a", *episodes)

    def select(table: pl.DataFrame) -> list[str]:
        kinds = table["kind"].unique().to_list()
        return [
            text for text in kinds if SeatSums(table.filter(kind=text)).shared[0].seat == "agent"
        ]

    for source in (folder, episodes):
        frame = as_frame(source).take(np.array([3, 1]))
        every, selected = frame.profiles(), frame.profiles(select=select)
        (kind,) = selected["kind"].unique()
        assert len(every) == 4 and selected.rows() == every.filter(kind=kind).rows()
    assert len(as_frame(folder).profiles(select=lambda table: [])) == 0
