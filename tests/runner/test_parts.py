"""A long shard is played by several workers of its run, each a part, sized by measured time."""

from __future__ import annotations

import re
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path

import pytest
from msgspec.structs import replace

from sally import store
from sally.core.registry.study import Cell, Study, grid, instance, player_spec
from sally.runner import sharding
from sally.runner.executors import Take
from sally.runner.orders import PackedEpisodes
from sally.runner.run import TRIES, play_missing
from sally.runner.sharding import FIRST, EpisodeDurations
from sally.runner.shards import Job, Result, Shard, Tell, work

PLAYERS = grid(agent=player_spec("random"), partner=player_spec("random"))
STUDY = Study("s", "", (Cell("ipd", (instance("ipd", rounds=2),), PLAYERS, repeats=120),))


def only_two(packed: PackedEpisodes) -> PackedEpisodes:
    return replace(packed, which=packed.which[:2], repeat=packed.repeat[:2])


class Several:
    """Workers of this process: it takes as many parts as it has slots, then plays them."""

    name, together, rates = "several", False, False

    def __init__(self, slots: int = 4, loses: int = 0, is_robbed_of: int = 0) -> None:
        self._slots, self.loses, self.is_robbed_of = slots, loses, is_robbed_of
        self.seen: list[Shard] = []

    def slots(self) -> int:
        return self._slots

    def play(self, job: Job, take: Take, tell: Tell) -> Generator[Result, None, None]:
        while responses := [s for s in (take() for _ in range(self._slots)) if s is not None]:
            for shard in responses:
                self.seen.append(shard)
                if self.loses and shard.part:
                    self.loses -= 1
                    work(job, replace(shard, packed=only_two(shard.packed)))
                    yield Result(shard.label, lost="it was killed")
                elif self.is_robbed_of and shard.part:
                    self.is_robbed_of -= 1
                    with suppress(FileNotFoundError):  # whoever took it over is done, and gone
                        store.place(job.out).remove(f"claims/{shard.claim}")
                    yield Result(shard.label, taken=True)
                else:
                    yield work(job, shard)


@pytest.fixture(autouse=True)
def quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sharding, "SHORTEST_SECONDS", 1e-9)  # so that even these shards are long
    monkeypatch.setattr("sally.runner.run.LOOK_SECONDS", 0.0)


def store_episodes(out: Path) -> store.Survey:
    survey = store.survey(out)
    assert (len(survey.finished), survey.doubled, survey.bad) == (120, 0, [])
    return survey


def test_parts_get_shorter_towards_the_end() -> None:
    known_episode_durations = EpisodeDurations(lambda: 4)
    known_episode_durations.add_waiting("ipd", 1000)
    known_episode_durations.record("ipd", 10, 10.0)
    given = []
    while (left := 1000 - sum(given)) > 0:
        given.append(known_episode_durations.size("ipd", left))
        known_episode_durations.remove_waiting("ipd", given[-1])
    assert given[0] == 83 and given == sorted(given, reverse=True) and given[-1] == 1


def test_unmeasured_kind_gets_first_size_and_single_worker_gets_all() -> None:
    assert EpisodeDurations(lambda: 4).size("ipd", 1000) == FIRST
    assert EpisodeDurations(lambda: 1).size("ipd", 1000) == 1000


def test_short_shard_is_not_split(monkeypatch: pytest.MonkeyPatch) -> None:
    known_episode_durations = EpisodeDurations(lambda: 4)
    known_episode_durations.add_waiting("ipd", 100_000)
    known_episode_durations.record("ipd", 10, 0.01)
    assert known_episode_durations.size("ipd", 400) == 400  # of a hundred seconds


def test_part_size_follows_the_measured_duration_of_a_kind() -> None:
    known_episode_durations = EpisodeDurations(lambda: 2)
    for alike, seconds in (("light", 1.0), ("heavy", 100.0)):
        known_episode_durations.add_waiting(alike, 100)
        known_episode_durations.record(alike, 100, seconds)
    assert (
        known_episode_durations.size("light", 100) == 100
        and known_episode_durations.size("heavy", 100) == 17
    )


def test_part_reads_files_of_its_shard_except_those_of_siblings() -> None:
    part = Shard("00001-ab", PackedEpisodes(), part="c0ffee-1")
    of_others = ("00001-ab-9-aa.jsonl", "00001-ab.beef00-0-9-aa.open")
    own_text = "00001-ab.c0ffee-1-9-aa.open"
    assert all(map(part.concerns, (*of_others, own_text)))
    assert not part.concerns("00001-ab.c0ffee-0-9-aa.open")  # its own run's
    assert not part.concerns("00001-ab.c0ffee-12-9-aa.open")
    assert not part.concerns("00002-ab-9-aa.jsonl")
    assert Shard("00001-ab", PackedEpisodes()).concerns(
        own_text
    )  # whoever gets the whole sees every part


def test_each_episode_is_played_once_in_parts_of_measured_size(tmp_path: Path) -> None:
    on = Several()
    assert play_missing(STUDY, tmp_path / "o", on=on).done == 120
    store_episodes(tmp_path / "o")
    sizes = [len(shard) for shard in on.seen]
    assert len(sizes) > 4 and sizes[:4] == [FIRST] * 4
    assert len({shard.label for shard in on.seen}) == len(on.seen)
    pattern = re.compile(r"00\d{3}-[0-9a-f]{8}\.[0-9a-f]{6}-\d+-\d+-[0-9a-f]{8}\.jsonl")
    files = [path.name for path in store.episode_files(tmp_path / "o")]
    assert all(map(pattern.fullmatch, files)), "no name says on which machine it was written"
    assert not list((tmp_path / "o" / "claims").iterdir())


def test_part_of_a_dead_worker_is_sent_again_without_duplicates(tmp_path: Path) -> None:
    on = Several(loses=TRIES - 1)
    tally = play_missing(STUDY, tmp_path / "o", on=on)
    store_episodes(tmp_path / "o")
    assert tally.stored_count == 120 and tally.found == 2 * (TRIES - 1)


def test_partly_taken_over_shard_is_counted_once(tmp_path: Path) -> None:
    on = Several(is_robbed_of=2)
    tally = play_missing(STUDY, tmp_path / "o", on=on)
    store_episodes(tmp_path / "o")
    assert (tally.done, tally.found) == (120, 0)


def test_run_that_dies_between_parts_is_resumed(tmp_path: Path) -> None:
    class Dies(Several):
        def play(self, job: Job, take: Take, tell: Tell) -> Generator[Result, None, None]:
            for _, result in zip(range(3), super().play(job, take, tell), strict=False):
                yield result
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        play_missing(STUDY, tmp_path / "o", on=Dies())
    assert 0 < len(store.survey(tmp_path / "o").finished) < 120
    play_missing(STUDY, tmp_path / "o", on=Several(2))
    store_episodes(tmp_path / "o")
