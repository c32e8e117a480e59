"""Texts of the published layout, written here: contributions must sum to what each text states."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from sally import store
from sally.cli import cli
from sally.core.errors import BadInput
from sally.core.log.events import Censored
from sally.core.match.playback import mismatch
from sally.core.registry import registry
from sally.papers.alsobay2025.commands import kind_of
from sally.papers.alsobay2025.importer import IMPORTER
from sally.papers.alsobay2025.reader import read

NAMES = ("DOG", "OWL", "DUCK", "SNAKE")
ROUNDS = ((20, 10, 0), (20, 5, 1), (15, 8, 0), (20, 8, 2))


def text(me: int, rounds: Any = ROUNDS, extra: str = "", left: int | None = None) -> str:
    """What one person read; the words around the numbers are ours."""
    n = len(rounds[0])
    lines = [f"You are in a group of {n} players.", "Each has an amount of 20 coins.",
             "There is a multiplier of 1.6.", extra, "", "# GAME STARTS", ""]  # fmt: skip
    for number, given in enumerate(rounds[:left], 1):
        lines += [f"## Round {number} of {len(rounds)}:", f"You contributed <<{given[me]} coins>>."]
        pot = sum(given) * 1.6
        lines += [f"The group contribution is {sum(given)} coins, which makes more => "
                  f"{pot:g} coins in the public fund."]  # fmt: skip
        lines += [f"{NAMES[i]} contributed {c} coin{'s' * (c != 1)}." for i, c in enumerate(given)
                  if i != me]  # fmt: skip
        gain = 20 - given[me] + pot / n
        lines += [f"You: Total round gains/losses are {gain:+.0f} coins.", ""]
    return "\n".join(lines)


def people(group: str = "g1", members: int = 3, **options: Any) -> list[dict[str, str]]:
    return [
        {"experiment": group, "participant": f"{group}-{n}", "text": text(n, **options)}
        for n in range(members)
    ]


def write_files(folder: Path, lines: list[dict[str, str]]) -> Path:
    at = folder / "alsobay2025publicGoodsGame"
    at.mkdir(exist_ok=True)
    (at / "prompts.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


def test_complete_group_is_one_episode(tmp_path: Path) -> None:
    import_result = IMPORTER.import_from(write_files(tmp_path, people()))
    (episode,) = import_result.episodes
    assert episode.setup.instance.id == "alsobay2025:g1:0" and episode.cell == "return 0.53"
    assert mismatch(registry.game("public_goods"), episode) is None
    pots = [sum(given) * 1.6 / 3 for given in ROUNDS]
    assert episode.payoffs is not None
    assert episode.payoffs["player_1"] == pytest.approx(80 - 75 + sum(pots))
    assert episode.used["people"]["player_2"] == {"participant": "g1-1"}
    assert import_result.counts["rounds that sum to the stated total"] == 4


def test_incomplete_groups_and_extra_stages_are_excluded_and_counted(tmp_path: Path) -> None:
    chat = people("g3", extra="You can communicate with other players.")
    folder = write_files(tmp_path, [*people(), *people("g2", 2), *chat])
    import_result = IMPORTER.import_from(folder)
    assert len(import_result.episodes) == 1
    assert any("2 of its 3 members" in line for line in import_result.lines)
    more = IMPORTER.import_from(folder, extra_stages=True).episodes
    assert [e.payoffs is None for e in more] == [False, True]
    assert more[1].used["extra stages"] == ["chat"]


def test_player_leaving_censors_the_episode(tmp_path: Path) -> None:
    group = people()
    group[2]["text"] = text(2, left=2)
    (episode,) = IMPORTER.import_from(write_files(tmp_path, group)).episodes
    last = episode.events[-1]
    assert episode.payoffs is None and isinstance(last, Censored)
    assert "after round 2" in last.detail


def test_people_are_classified_by_a_stated_rule(tmp_path: Path) -> None:
    first, second, third = read(write_files(tmp_path, people())).people
    assert [kind_of(p) for p in (first, third)] == ["unconditional giver", "free rider"]
    assert kind_of(second) in ("conditional giver", "other")


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("<<10 coins>>", "<<11 coins>>", "which should be the sum"),
        ("contribution is 30", "contribution is 31", "which should be the sum"),
        ("## Round 2", "## Round 3", "where round 2 is expected"),
        ("multiplier of", "factor", "should state"),
        ("<<8 coins>>.\nThe group contribution is 30", "<<8 coins>>.\nThe sum is 30", "lacks"),
        ("# GAME STARTS", "", "should state"),
    ],
)
def test_changed_text_aborts_the_import(tmp_path: Path, old: str, new: str, why: str) -> None:
    group = people()
    group[1]["text"] = group[1]["text"].replace(old, new, 1)
    with pytest.raises(BadInput, match=why):
        IMPORTER.import_from(write_files(tmp_path, group))


def test_inconsistent_contributions_in_a_group_abort_the_import(tmp_path: Path) -> None:
    group = people()
    group[1]["text"] = text(1, ((20, 10, 1), *ROUNDS[1:]))  # a text that is right in itself
    with pytest.raises(BadInput, match="contributions in round 1 sum to"):
        IMPORTER.import_from(write_files(tmp_path, group))


def test_truncated_file_aborts_import_and_second_import_adds_nothing(tmp_path: Path) -> None:
    folder, out = write_files(tmp_path, people()), str(tmp_path / "store")
    for stored in (1, 0):
        run = CliRunner().invoke(cli, ["import", "alsobay2025", str(folder), "--out", out])
        assert run.exit_code == 0, run.output
        assert f"stored: {stored}\n" in run.output
    assert len(store.load(out).episodes) == 1
    assert CliRunner().invoke(cli, ["paper", "alsobay2025", "figures", str(folder)]).exit_code == 0
    file = next(folder.rglob("prompts.jsonl"))
    file.write_text(file.read_text()[:-50])
    with pytest.raises(BadInput, match=r"line 3"):
        IMPORTER.import_from(folder)


def test_stated_funds_and_gains_are_compared_with_the_rules(tmp_path: Path) -> None:
    lines = people()
    wrong = lines[0]["text"].replace("gains/losses are +16", "gains/losses are +18", 1)
    assert wrong != lines[0]["text"]
    punished = people("g2", extra="Players can impose deductions on each other.")
    folder = write_files(tmp_path, [{**lines[0], "text": wrong}, *lines[1:], *punished])
    run = CliRunner().invoke(cli, ["paper", "alsobay2025", "gains", str(folder), "--json"])
    assert run.exit_code == 0, run.output
    data = json.loads(run.output)
    assert data["public fund"] == [24, 24]
    assert data["gains without reward and deduction stages"] == [11, 12]
    assert data["the same, in rounds in which a player left"] == [0, 0]
