"""Importers of published batteries, on tiny files of our own in the authors' formats."""

from __future__ import annotations

import json
import random
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from benchmarks.hostile.mutations import mutate
from sally.cli import cli
from sally.core.errors import BadInput
from sally.core.prompt.model import ModelKind
from sally.core.registry import registry
from sally.games.battery.hitom_beliefs import events_about, people_asked, place_believed
from sally.games.battery.importers import bigtom, hitom, tombench
from sally.games.battery.items import differs, read_items
from sally.models.stub import always

ROW = (
    "Mo bakes. Mo wants a ripe pear. Mo puts a ripe pear into the bowl. Mo believes the pear is "
    "ripe. A guest swaps it for a hard one.;Mo sees the swap.;Mo does not see the swap.;Mo goes to "
    "the shop.;Mo cuts the pear.;Does Mo believe the pear is ripe or hard?;Does Mo want a ripe "
    "pear?;What will Mo do?;Mo believes it is hard.;Mo wants it ripe.;Mo will go to the shop.;Mo "
    "believes it is ripe.;Mo wants it ripe.;Mo will cut it.;A lamp flickers.;Mo sees the lamp.;Mo "
    "does not see the lamp.;auto;0"
)
STORY = """1 Ann, Ben and Cy entered the shed.
2 The key is in the red_box.
3 Ann exited the shed.
4 Ben moved the key to the blue_box.
5 Ben exited the shed.
6 Cy exited the shed.
7 Ann, Ben and Cy entered the yard.
8 Cy privately told Ann that the key is in the green_box."""
CHOICES = ("red_box", "blue_box", "green_box")


def bigtom_checkout(folder: Path, row: str = ROW) -> Path:
    (folder / "data").mkdir(parents=True)
    (folder / "data/bigtom.csv").write_text(row + "\n")
    return folder


def test_bigtom_has_25_cells_and_one_inverted_key(tmp_path: Path) -> None:
    items = {item.id: item for item in bigtom.read_items(bigtom_checkout(tmp_path / "x"))}
    assert len(items) == 25 and sum(map(differs, items.values())) == 1
    assert sum(not item.sound for item in items.values()) == 2
    percept = items["bigtom-000-percept"]
    assert (percept.answer, percept.published_answer) == (1, 0)
    missed = items["bigtom-000-0-forward_action-false_belief"]
    assert missed.story.endswith("A guest swaps it for a hard one. Mo does not see the swap.")
    assert "believes the pear" not in missed.story and missed.answer == 1
    assert missed.belief is not None and missed.belief.answer == 1
    control = items["bigtom-000-1-forward_belief-true_control"]
    assert control.story.endswith(
        "Mo believes the pear is ripe. A lamp flickers. Mo sees the lamp."
    )
    assert control.options[control.answer] == "Mo believes it is ripe."


@pytest.mark.parametrize("row", ["a;b", ROW.replace("Mo bakes. ", "")])
def test_malformed_row_is_refused_with_line_number(tmp_path: Path, row: str) -> None:
    with pytest.raises(BadInput, match="line 1"):
        bigtom.read_items(bigtom_checkout(tmp_path / "x", row))


# --- Hi-ToM ---------------------------------------------------------------------------------------


def test_belief_rule_follows_observations_and_trust() -> None:
    witnessed_events, place = events_about(STORY, "key")
    assert place == place_believed(witnessed_events, place, ()) == "blue_box"
    # Ann left before Cy, and trusts Cy
    assert place_believed(witnessed_events, place, ("Ann",)) == "green_box"
    assert place_believed(witnessed_events, place, ("Ann",), talk=False) == "red_box"
    # a claim does not change one's own belief
    assert place_believed(witnessed_events, place, ("Cy",)) == "blue_box"
    assert place_believed(witnessed_events, place, ("Cy", "Ann")) == "green_box"
    assert place_believed(witnessed_events, place, ("Ben", "Ann")) == "red_box"
    assert place_believed(witnessed_events, place, ("Ben", "Cy", "Ann")) == "red_box"


def test_question_is_parsed_into_object_and_believers() -> None:
    assert people_asked("Where is the key really?") == ("key", ())
    assert people_asked("Where does Ann think Ben thinks the key is?") == ("key", ("Ann", "Ben"))


def hitom_checkout(folder: Path, **keys: str) -> Path:
    for copy, key in keys.items():
        current_folder = folder / "Hi-ToM_data/Tell" / copy / "length_1/sample_1"
        current_folder.mkdir(parents=True)
        choices = ", ".join(f"{'ABC'[n]}. {name}" for n, name in enumerate(CHOICES))
        question = "Where does Ben think Ann thinks the key is?"
        text = f"Read.\nStory:\n{STORY}\nQuestion: {question}\nAnswer: {key}\nChoices: {choices}\n"
        (current_folder / "order_2.txt").write_text(f"{text}\nNote: none.\n")
    return folder


@pytest.mark.parametrize(
    ("vp", "cotp", "answer", "sound", "flags"),
    [
        ("red_box", "red_box", 0, True, 0),
        ("blue_box", "red_box", 0, True, 1),
        ("red_box", "green_box", 0, True, 1),
        ("green_box", "green_box", 2, False, 1),
    ],
)
def test_key_needs_the_rule_and_a_published_copy(
    tmp_path: Path, vp: str, cotp: str, answer: int, sound: bool, flags: int
) -> None:
    (item,) = hitom.read_items(hitom_checkout(tmp_path / "x", MC=vp, CoT=cotp))
    assert (item.id, item.answer, item.sound) == ("hitom-tell-1-01-2", answer, sound)
    assert len(item.flags) == flags and item.order == 2
    assert (item.published_vp, item.published_cotp) == (CHOICES.index(vp), CHOICES.index(cotp))


# --- ToMBench -------------------------------------------------------------------------------------


def row(index: int, story: str, key: str = "A", **options: Any) -> dict[str, Any]:
    return {
        "能力\nABILITY": "Belief: places", "序号\nINDEX": index, "故事": story, "问题": "?",
        "STORY": story, "QUESTION": "Where is it?", "OPTION-A": "Jar", "OPTION-B": "Tin",
        "OPTION-C": float("nan"), "OPTION-D": float("nan"), "答案\nANSWER": key, **options,
    }  # fmt: skip


def tombench_checkout(folder: Path, **files: list[dict[str, Any]]) -> Path:
    (folder / "data").mkdir(parents=True)
    for name, rows in files.items():
        lines = "\n".join(json.dumps(current_row, ensure_ascii=False) for current_row in rows)
        (folder / f"data/{name.replace('_', ' ')}.jsonl").write_text(lines + "\n")
    return folder


def test_tombench_reads_two_options_bad_keys_and_flags(tmp_path: Path) -> None:
    text = "It is in the jar or the tin."
    path = tombench_checkout(
        tmp_path / "x",
        Hinting_Task_Test=[
            row(1, text, "B. "),
            row(2, text, QUESTION="And now?", **{"OPTION-B": "Jar"}),
            row(1, "Another story.", "A"),
            row(2, "Another story.", "B"),
        ],
        False_Belief_Task=[row(n % 6 + 1, "It is in the tin.") for n in range(6)],
    )
    items = {item.id: item for item in tombench.read_items(path)}
    first = items["tombench-ht-000"]
    assert (first.options, first.answer, first.pair) == (("Jar", "Tin"), 1, "ht-001")
    assert items["tombench-ht-001"].flags == ("same option twice",)
    other_flags = [items[f"tombench-ht-00{n}"].flags for n in (2, 3)]
    assert other_flags == [("same story and question with another key",)] * 2
    unnamed = items["tombench-fbt-003"]
    assert unnamed.condition == "false_belief" and unnamed.order == 1
    assert unnamed.flags == ("right option is not named in the story",)


def checkouts(folder: Path) -> dict[Any, Path]:
    """A small checkout for each importer."""
    return {
        bigtom: bigtom_checkout(folder / "bigtom"),
        hitom: hitom_checkout(folder / "hitom", MC="red_box", CoT="red_box"),
        tombench: tombench_checkout(folder / "tombench", Hinting_Task_Test=[row(1, "A story.")]),
    }


@pytest.mark.parametrize("importer", [bigtom, hitom, tombench])
def test_bytes_that_are_not_utf_8_are_named(importer: Any, tmp_path: Path) -> None:
    checkout = checkouts(tmp_path)[importer]
    importer.read_items(checkout)
    file = next(p for p in sorted(checkout.rglob("*")) if p.is_file())
    file.write_bytes(file.read_bytes() + b"\xff\xfe")
    with pytest.raises(BadInput, match=f"{file.name} is not written in UTF-8: byte"):
        importer.read_items(checkout)


@pytest.mark.parametrize("importer", [bigtom, hitom, tombench])
def test_mutated_files_are_read_or_refused_in_a_sentence(importer: Any, tmp_path: Path) -> None:
    checkout = checkouts(tmp_path)[importer]
    files = sorted(p for p in checkout.rglob("*") if p.is_file())
    for seed in range(200):
        draw = random.Random(seed)
        file = draw.choice(files)
        data_before = file.read_bytes()
        file.write_bytes(mutate(data_before, draw))
        with suppress(BadInput):
            importer.read_items(checkout)
        file.write_bytes(data_before)


@pytest.mark.parametrize("importer", [bigtom, hitom, tombench])
def test_folder_without_the_data_is_named(importer: Any, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=str(tmp_path)):
        importer.read_items(tmp_path)


def test_command_writes_items_and_counts_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SALLY_CACHE", str(tmp_path / "cache"))
    out = tmp_path / "items.jsonl"
    study = tmp_path / "study.toml"
    arguments = ["import", "bigtom", str(bigtom_checkout(tmp_path / "x")), "--out", str(out)]
    result = CliRunner().invoke(cli, [*arguments, "--study", str(study)])
    assert result.exit_code == 0, result.output
    assert "items: 25" in result.output and "not scored: 2" in result.output
    assert len(read_items(out)) == 25
    stub = ModelKind("stub", "answers at once", lambda name: always("Option: A"))
    monkeypatch.setitem(registry._added["models"], "stub", stub)
    monkeypatch.setattr(registry, "_results", {})  # lists cached by an earlier test
    ran = ["run", str(study), "--model", "stub", "--out", str(tmp_path / "store")]
    result = CliRunner().invoke(cli, ran)
    assert result.exit_code == 0, result.output
    asked_result = CliRunner().invoke(cli, ["score", str(tmp_path / "store"), "--json"])
    assert '"literal_strict"' in asked_result.output
