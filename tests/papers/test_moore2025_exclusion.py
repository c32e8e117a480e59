"""Whose games are left out of moore2025's tables, and how many people won how much."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
from click.testing import CliRunner

from sally import store
from sally.cli import cli
from sally.core.match.playback import replay_episode
from sally.core.registry import registry
from sally.core.rules.metric import Played
from sally.papers.moore2025.figures import by_person
from sally.papers.moore2025.importer import import_games
from sally.papers.moore2025.released_games import exclusion_reason, participant
from sally.papers.moore2025.tables import facts
from tests.games.mindgames.records import PEOPLE, record, written
from tests.papers.test_moore2025_tables import FEW, LOST, WON, store_games

BRIEF = record([], "C")  # "Thanks!", eight times
LIAR = PEOPLE.replace("&reveal", "&allow_lying=True&reveal")


def games(folder: Path, people: list[list[Any]], where: str = PEOPLE) -> list[Played]:
    spec = registry.game("mindgames")
    episodes = import_games(written(folder / "in", {where: people})).episodes
    return [Played(spec, e, replay_episode(spec, e)) for e in episodes]


def test_people_with_short_messages_are_excluded_with_the_reason(tmp_path: Path) -> None:
    long, short = games(tmp_path, [[WON, BRIEF]])
    assert exclusion_reason(long) is None
    assert exclusion_reason(short) == "7.0 characters a message, fewer than 10"
    assert facts(long) is not None
    assert facts(short) is None
    out = store_games(tmp_path / "kept", [[WON, BRIEF]])
    done = CliRunner().invoke(cli, ["paper", "moore2025", "excluded", str(out), "--json"])
    assert [row["why"][:3] for row in json.loads(done.output)] == ["7.0"]
    output = CliRunner().invoke(cli, ["paper", "moore2025", "excluded", str(out)]).output
    assert output.startswith("1 of 2 games of people are left out.")


def test_people_with_short_reading_times_are_excluded_if_times_are_known(tmp_path: Path) -> None:
    (played,) = games(tmp_path, [[WON]])
    for seconds, reason in (([4.0, 5.5], "4.8 seconds a turn, fewer than 5"), ([4.0, 6.5], None)):
        known_fields = {"participant": "x", "round": 1, "seconds": seconds}
        used = {**played.episode.used, "people": {"persuader": known_fields}}
        episode = msgspec.structs.replace(played.episode, used=used)
        timed = Played(played.spec, episode, played.replay)
        assert exclusion_reason(timed) == reason
        player = participant(timed)
        assert player is not None and (player.name, player.place) == ("x", 1)


def test_models_are_never_excluded(tmp_path: Path) -> None:
    model = "human_persuader=False&llm_persuader=gpt-4o"
    (played,) = games(tmp_path, [[BRIEF]], model)
    assert participant(played) is None
    assert exclusion_reason(played) is None


def test_figure_nine_counts_people_with_and_without_their_first_game(tmp_path: Path) -> None:
    wins = [record([*[[]] * n, [(0, 1)], [(2, 1)]], "A") for n in (1, 2)]
    matches = games(tmp_path, [[LOST, WON], wins, [record([[], [(0, 1)]], "C")]])
    known_pairs = [(f, played) for played in matches if (f := facts(played)) is not None]
    picture = by_person("figure9", known_pairs, FEW)
    values = {s.panel: [p.y for p in s.points] for s in picture.series}
    assert values["all games"] == [1 / 3, 0, 1 / 3, 1 / 3]
    assert values["without the first"] == [0, 0, 0, 1]  # the third has no other game


def test_games_of_the_lying_arm_are_imported_but_not_tabulated(tmp_path: Path) -> None:
    (played,) = games(tmp_path, [[WON]], LIAR)
    assert played.episode.setup.instance.params["lying"] is True
    assert facts(played) is None  # the paper has none


def test_reader_can_be_chosen_when_playing_in_the_terminal(tmp_path: Path) -> None:
    args = ["play", "mindgames", "--seat", "reader=rules", "--set", "messages=1"]
    done = CliRunner().invoke(cli, [*args, "--out", str(tmp_path)], input="What do you like?\n")
    assert done.exit_code == 0, done.output
    (episode,) = store.load(tmp_path).episodes.values()
    assert episode.setup.lineup["reader"].player == "rules"
    wrong = CliRunner().invoke(cli, ["play", "mindgames", "--seat", "readers=rules"])
    assert "reader" in str(wrong.exception)
