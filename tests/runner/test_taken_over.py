"""A run at an address that stands still, is taken for dead, and then goes on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from sally import store
from sally.core.log.events import Episode
from sally.core.registry.study import Cell, Study, grid, instance, player_spec
from sally.runner import claims, local, shards
from sally.runner.run import run_study

STUDY = Study(
    "stopped",
    "for the test",
    (
        Cell(
            "ipd",
            (instance("ipd", rounds=3),),
            grid(agent=player_spec("random"), partner=player_spec("tit_for_tat")),
            repeats=12,
        ),
    ),
)


@pytest.fixture
def out(tmp_path: Path) -> str:
    return f"memory://{tmp_path}/o"


def lines(out: str) -> list[str]:
    """The ids of all lines of a store, each time that they are there."""
    place = store.place(out)
    names, _ = store.reader.ready(place)
    episodes = [
        store.reader.sound_line(line) for _, _, line in store.reader.all_lines(place, names)
    ]
    return [e.id for e in episodes if isinstance(e, Episode)]


def stand_still(monkeypatch: pytest.MonkeyPatch, after: int, meanwhile: Any) -> None:
    """Let the first run stop after some episodes, while somebody else does something."""
    play, begun = local.play_here, []

    def stopped(missing: Any, keep: Any, meter: Any) -> None:
        if begun:
            play(missing, keep, meter)
            return
        begun.append(True)
        kept_episodes: list[Episode] = []

        def stop_at(episode: Episode, replay: Any) -> None:
            kept_episodes.append(episode)
            if len(kept_episodes) == after:
                meanwhile()
            keep(episode, replay)

        play(missing, stop_at, meter)

    monkeypatch.setattr(local, "play_here", stopped)


def take_over(out: str) -> None:
    """What another machine does when it takes the first run for dead: it plays all that is left."""
    place = store.place(out)
    for run in claims.read_runs(place):
        place.write(
            f"runs/{run.name}.json", msgspec.json.encode(msgspec.structs.replace(run, ended="?"))
        )
    run_study(STUDY, out)


@pytest.mark.parametrize("after", [1, 5, 12])
def test_stalled_run_does_not_rewrite_episodes_of_its_successor(
    out: str, monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    stand_still(monkeypatch, after, lambda: take_over(out))
    contents = run_study(STUDY, out)
    assert len(contents.finished_ids) == 12 and contents.doubled == 0
    assert len(lines(out)) == 12
    assert store.place(out).names("claims") == []


def test_episodes_written_before_a_stall_are_not_played_again(
    out: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store.writer, "HELD_SECONDS", 0.0)  # every line is put at once
    stand_still(monkeypatch, 5, lambda: take_over(out))
    contents = run_study(STUDY, out)
    assert len(contents.finished_ids) == 12 and len(lines(out)) == 12


def test_claim_is_lost_to_a_successor_or_if_missing(out: str) -> None:
    place = store.place(out)
    place.write("claims/s1.0", b"me")
    assert shards._stands(place, "s1.0", "me")
    assert not shards._stands(place, "s1.0", "somebody who came after us")
    place.write("claims/s1.1", b"heir")
    assert not shards._stands(place, "s1.0", "me")
    place.remove("claims/s1.0")
    place.remove("claims/s1.1")
    assert not shards._stands(place, "s1.0", "me")


def test_first_finished_of_two_copies_counts(out: str, monkeypatch: pytest.MonkeyPatch) -> None:
    place = store.place(out)
    run_study(STUDY, out)
    (name,) = [name for name in place.names() if name.endswith(".jsonl")]
    shard = "-".join(name.split("-")[:2])
    twin = f"{shard}-0-0-000.jsonl"  # sorts before
    assert twin < name
    place.write(twin, place.read(name))
    assert store.reader.first_finished_first(place, [twin, name]) == [name, twin]
    contents = store.load(out)
    assert contents.doubled == 12 and len(contents.episodes) == 12
