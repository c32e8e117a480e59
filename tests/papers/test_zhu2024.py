"""Choices of the published layout, written here: crowds are exact, no opponent is made up."""

from __future__ import annotations

import gzip
import json
import random
import zipfile
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from sally import store
from sally.cli import cli
from sally.core.errors import BadInput
from sally.core.match.playback import mismatch, replay_episode
from sally.core.prompt.model import ModelKind
from sally.core.registry import registry
from sally.core.rules.metric import Played
from sally.games.repeated_games.regret import decision_regret
from sally.games.repeated_games.rules import AGENT
from sally.models.stub import Scripted
from sally.papers.zhu2024 import figures
from sally.papers.zhu2024.atlas import ATLAS
from sally.papers.zhu2024.importer import IMPORTER
from sally.papers.zhu2024.reader import Choice, Crowds, canonical, exchange_roles, kind_of, read

Pay = tuple[int, int, int, int]
DILEMMA = ((3, 0, 5, 1), (3, 5, 0, 1))  # own and other's payoffs at AC, AD, BC, BD
BATTLE = ((9, 1, 2, 4), (4, 2, 1, 9))


def block(own: Pay, other: Pay, row: str) -> str:
    """A game in the layout of the record; the words around the numbers are ours."""
    cells = zip(("AC", "AD", "BC", "BD"), own, other, strict=True)
    lines = ["A game. You are the 'row player'.", "Pick one of Row A and Row B; they pick one of "
             "Column C and Column D.", "It pays:"]  # fmt: skip
    lines += [
        f"If you choose Row {cell[0]} and your opponent chooses Column {cell[1]}, you receive {a} "
        f"and your opponent receives {b}."
        for cell, a, b in cells
    ]
    return "\n".join([*lines, f"You press <<{row}>>."])


def person(number: int, seed: int = 0) -> dict[str, Any]:
    """Twenty games in shuffled layouts and both roles, played by a level-1 rule with slips."""
    draws = random.Random(100 * seed + number)
    text = []
    for trial in range(20):
        own_row, other_row = (DILEMMA, BATTLE)[trial % 2]
        if draws.random() < 0.5:  # the other role
            own_row, other_row = ((x[0], x[2], x[1], x[3]) for x in (other_row, own_row))
        if draws.random() < 0.5:  # rows exchanged
            own_row, other_row = ((x[2], x[3], x[0], x[1]) for x in (own_row, other_row))
        if draws.random() < 0.5:
            own_row, other_row = ((x[1], x[0], x[3], x[2]) for x in (own_row, other_row))
        best = "A" if own_row[0] + own_row[1] > own_row[2] + own_row[3] else "B"
        text.append(block(own_row, other_row, draws.choice("AB") if draws.random() < 0.3 else best))
    return {"participant": number, "experiment": "zhu2024games", "text": "\n".join(text)}


def write_files(folder: Path, people: list[dict[str, Any]], name: str = "prompts.jsonl") -> Path:
    current_folder = folder / "zhu2024games"
    current_folder.mkdir(exist_ok=True)
    text = "".join(json.dumps(current_person) + "\n" for current_person in people)
    if name.endswith(".zip"):
        with zipfile.ZipFile(current_folder / name, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("prompts.jsonl", text)
            archive.writestr("__MACOSX/._prompts.jsonl", "no data")
    else:
        (current_folder / name).write_bytes(gzip.compress(text.encode()) if name.endswith("gz") else
                                text.encode())  # fmt: skip
    return folder


PEOPLE = [person(n) for n in range(1, 9)]


def test_relabelled_screens_have_one_canonical_game_and_role_swap() -> None:
    own, other = DILEMMA
    turned = canonical((own[2], own[3], own[0], own[1]), (other[2], other[3], other[0], other[1]))
    assert turned[0] == canonical(own, other)[0]
    role = canonical(*BATTLE)[0]
    their_role, _ = exchange_roles(role)
    assert exchange_roles(their_role)[0] == role
    assert kind_of(canonical(*DILEMMA)[0]) == "both dominant"
    assert kind_of(role) == "two pure equilibria"


def test_crowd_of_the_other_role_excludes_the_participant() -> None:
    own, other = BATTLE
    own_choice = Choice(1, 1, own, other, 0)
    # others sit across, with rows exchanged on their screens: their A is my column D
    theirs, back = (other[1], other[3], other[0], other[2]), (own[1], own[3], own[0], own[2])
    across = [Choice(n, 1, theirs, back, row) for n, row in ((2, 0), (3, 0), (4, 1), (1, 1))]
    assert Crowds((own_choice, *across)).across(own_choice) == (1, 2)


@pytest.mark.parametrize("name", ["prompts.jsonl", "prompts.jsonl.gz", "prompts.jsonl.zip"])
def test_each_choice_is_an_episode_without_payoffs(tmp_path: Path, name: str) -> None:
    result = IMPORTER.import_from(write_files(tmp_path, PEOPLE, name))
    assert result.counts["choices"] == 160 and result.counts["people"] == 8
    episode = result.episodes[0]
    assert episode.setup.instance.id == "zhu2024:1:1"
    assert episode.payoffs is None and episode.used["not recorded"] == ["partner"]
    spec = registry.game("repeated_games")
    assert mismatch(spec, episode) is None
    played = [Played(spec, e, replay_episode(spec, e)) for e in result.episodes]
    metrics = registry.metrics("repeated_games")
    for shown_name in ("reward_per_round", "functional_regret", "myopic_regret"):
        assert all(metrics[shown_name].measure(item, AGENT) is None for item in played[:20])
    record = read(tmp_path)
    table = figures.table_of(record.choices, Crowds(record.choices))
    losses = table.values.max(axis=1) - table.values[range(160), table.row]
    ours = [decision_regret(item, AGENT) for item in played]
    assert ours == pytest.approx(list(losses))


def test_scores_are_0_for_uniform_odds_and_1_for_the_best_reply(tmp_path: Path) -> None:
    record = read(write_files(tmp_path, PEOPLE))
    table = figures.table_of(record.choices, Crowds(record.choices))
    even, best = figures.levels(table)[0], figures._best(table.values)
    assert figures.doing(table, even).value == pytest.approx(0.0)
    assert figures.doing(table, best).value == pytest.approx(1.0)
    people = figures.doing(table).value
    assert people is not None and 0 < people < 1
    assert figures.agreement(table, figures.levels(table)[1]).value == pytest.approx(0.85, abs=0.08)
    fitted = figures.fitted_mixture(table)
    assert sum(fitted.shares) == pytest.approx(1.0)
    assert fitted.log_likelihood >= figures.mixture(table, 0.1).log_likelihood


def test_subset_of_people_gives_the_same_episodes_as_full_import(tmp_path: Path) -> None:
    folder = write_files(tmp_path, PEOPLE)
    some_result = IMPORTER.import_from(folder, people=2)
    assert some_result.counts["choices"] == 40 and some_result.counts["people in the file"] == 8
    assert some_result.episodes[5] == IMPORTER.import_from(folder).episodes[5]


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (lambda p: {**p, "text": p["text"].replace("you receive 5", "you receive five", 1)}, "20"),
        (lambda p: {**p, "text": p["text"] + "\nAnd one more thing."}, "nothing else"),
        (lambda p: {**p, "text": "\n".join(p["text"].split("\n")[:-8])}, "19 readable games"),
        (lambda p: {**p, "experiment": "other"}, "experiment"),
        (lambda p: {**p, "participant": 1}, "twice"),
        (lambda p: {k: v for k, v in p.items() if k != "text"}, "text"),
    ],
)
def test_changed_line_aborts_the_import(tmp_path: Path, spoil: Any, why: str) -> None:
    folder = write_files(tmp_path, [*PEOPLE[:3], spoil(PEOPLE[3]), *PEOPLE[4:]])
    with pytest.raises(BadInput, match=why):
        IMPORTER.import_from(folder)
    result = IMPORTER.import_from(folder, skip_bad=True)
    assert result.counts["people"] == 7 and any("left out" in line for line in result.lines)


@pytest.mark.parametrize("name", ["prompts.jsonl", "prompts.jsonl.gz", "prompts.jsonl.zip"])
@pytest.mark.parametrize("kept", [0.3, 0.9])
def test_truncated_file_aborts_the_import(tmp_path: Path, name: str, kept: float) -> None:
    folder = write_files(tmp_path, PEOPLE, name)
    file = folder / "zhu2024games" / name
    data = file.read_bytes()
    file.write_bytes(data[: int(len(data) * kept)])
    with pytest.raises(BadInput):
        IMPORTER.import_from(folder)


def test_lfs_pointer_is_refused_and_other_folders_are_reported(tmp_path: Path) -> None:
    folder = write_files(tmp_path, PEOPLE)
    (folder / "other2020").mkdir()
    (folder / "other2020" / "prompts.jsonl.zip").write_text("version https://git-lfs")
    assert any("left alone" in line for line in IMPORTER.import_from(folder).lines)
    (pointer := tmp_path / "prompts.jsonl.zip").write_text("version https://git-lfs.github.com")
    with pytest.raises(BadInput, match="LFS pointer"):
        IMPORTER.import_from(pointer)


def test_command_imports_once_and_scores_models_on_the_same_scale(tmp_path: Path) -> None:
    folder, out = write_files(tmp_path, PEOPLE), str(tmp_path / "store")
    for stored in (160, 0):
        run = CliRunner().invoke(cli, ["import", "zhu2024", str(folder), "--out", out])
        assert run.exit_code == 0, run.output
        assert f"stored: {stored}\n" in run.output
    assert len(store.load(out).episodes) == 160
    for command in (
        ["figures", str(folder), "--least", "1"],
        ["choices", str(folder), "--out", str(tmp_path / "choices.csv")],
        ["study", str(folder), "--out", str(tmp_path / "study.toml"), "--games", "5"],
    ):
        run = CliRunner().invoke(cli, ["paper", "zhu2024", *command])
        assert run.exit_code == 0, run.output
    assert len((tmp_path / "choices.csv").read_text().splitlines()) == 161
    planned = ["plan", str(tmp_path / "study.toml"), "--model", "embedded"]
    run = CliRunner().invoke(cli, planned)
    assert run.exit_code == 0, run.output
    scaled = CliRunner().invoke(cli, ["paper", "zhu2024", "scale", out, "--json"])
    assert scaled.exit_code == 0, scaled.output
    (row,) = json.loads(scaled.output)
    record = read(folder)
    whole = figures.doing(figures.table_of(record.choices, Crowds(record.choices)))
    assert row["player"] == "human" and row["doing"] == pytest.approx(whole.value)


def test_model_that_always_takes_the_upper_row_scores_0(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(messages: Any, settings: Any) -> str:
        return "Option: D" if "C or D" in str(messages[-1]) else "Option: A"

    stub = ModelKind("stub", "takes the upper row", lambda name: Scripted(answer))
    monkeypatch.setitem(registry._added["models"], "stub", stub)
    monkeypatch.setattr(registry, "_results", {})
    folder, study, out = write_files(tmp_path, PEOPLE), tmp_path / "s.toml", str(tmp_path / "out")
    arguments = ["paper", "zhu2024", "study", str(folder), "--out", str(study), "--games", "3"]
    assert CliRunner().invoke(cli, arguments).exit_code == 0
    run = CliRunner().invoke(cli, ["run", str(study), "--model", "stub", "--out", out])
    assert run.exit_code == 0, run.output
    command = ["paper", "zhu2024", "scale", out, "--people", str(folder), "--json"]
    rows = {row["player"]: row for row in json.loads(CliRunner().invoke(cli, command).output)}
    model = rows["stub"]
    assert model["choices"] == 6 and model["upper row"] == 1.0
    assert model["doing"] == pytest.approx(0.0)
    assert model["answers"] == 6 and -1 <= model["knowing"] <= 1
    assert rows["people on these games"]["knowing"] is None  # people were not asked
    assert {"level 1", "equilibrium"} <= set(rows)
    spec = registry.game("repeated_games")
    games = [Played(spec, e, replay_episode(spec, e)) for e in store.load(out).episodes.values()]
    (dot,) = ATLAS.dots(games)
    assert dot.kind == "model" and dot.value == pytest.approx(0.0) and dot.knowing is not None
