"""The atlas from small records written here: one panel per game, nothing loaded from elsewhere."""

from __future__ import annotations

import gc
import json
import re
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

import sally
from sally import store
from sally.analysis.episodes.atlas import by_column, recorded_dots, sources
from sally.api.atlas import _episodes
from sally.cli import cli
from sally.core.log.events import Censored, Episode
from sally.core.rules.metric import Played
from sally.output.figures.atlas import atlas_page, atlas_svg, height_of, rows_of
from sally.papers.alsobay2025.importer import IMPORTER as ALSOBAY
from sally.papers.eger2017.importer import IMPORTER as EGER
from sally.papers.gamabench.importer import IMPORTER as GAMABENCH
from sally.papers.hcss2025.importer import IMPORTER as HCSS
from sally.papers.pact.importer import IMPORTER as PACT
from sally.papers.step_game.importer import IMPORTER as STEP_GAME
from sally.papers.zhu2024.importer import IMPORTER as ZHU
from sally.parts.atlas import KINDS, AtlasColumn, AtlasDot, AtlasSource
from tests.papers import test_alsobay2025 as alsobay
from tests.papers import test_eger2017 as eger
from tests.papers import test_gamabench as gamabench
from tests.papers import test_hcss2025 as hcss
from tests.papers import test_pact_importer as pact
from tests.papers import test_step_game as step_game
from tests.papers import test_zhu2024 as zhu


def test_every_record_has_dots_in_its_own_column(tmp_path: Path) -> None:
    folders = {name: tmp_path / name for name in ("z", "g", "a", "h", "e", "s")}
    for folder in folders.values():
        folder.mkdir()
    (folders["e"] / f"game{eger.FIRST}.log").write_text(eger.log_of(eger.MOVES))
    (folders["e"] / f"survey{eger.FIRST}.log").write_text(eger.SURVEY)
    many = {**hcss.PLAY, (hcss.TFT, hcss.GPT): [("CC", "C")] * 6}
    for n in range(5):
        pact.write_files(tmp_path / "p", pact.log_of(f"g_{n}", quotes=lambda k: (30 + k, 45)))
    step_game.write_files(folders["s"], step_game.lines(step_game.RACE))
    results = [
        ZHU.import_from(zhu.write_files(folders["z"], [zhu.person(n) for n in range(1, 20)])),
        GAMABENCH.import_from(gamabench.write_files(folders["g"], gamabench.TABLES)),
        ALSOBAY.import_from(alsobay.write_files(folders["a"], alsobay.people())),
        HCSS.import_from(hcss.write_files(folders["h"], hcss.rows(many))),
        EGER.import_from(folders["e"]),
        PACT.import_from(tmp_path / "p"),
        STEP_GAME.import_from(folders["s"]),
    ]
    dots, other_episodes = recorded_dots([e for result in results for e in result.episodes])
    assert other_episodes == []
    assert {dot.source for dot in dots} == {
        "zhu2024",
        "gamabench",
        "alsobay2025",
        "hcss2025",
        "eger2017",
        "pact",
        "step_game",
    }
    assert {"akata2025", "rps_v2", "rps_v3"} <= set(sources()) and len(sources()) == 18
    columns = by_column(dots)
    assert len({c.game for c in columns}) == 7
    models = {dot.who: dot for dot in dots if dot.source == "pact" and dot.kind == "model"}
    assert set(models) == {"gpt-5 (medium)", "o3 (medium)"}
    assert all(dot.clusters == 5 and dot.n == 100 for dot in models.values())
    for of in columns.values():
        assert [KINDS.index(d.kind) for d in of] == sorted(KINDS.index(d.kind) for d in of)
        assert all(d.n > 0 and d.clusters > 0 and d.episodes for d in of)
    ids = {e.id for result in results for e in result.episodes}
    assert {id for d in dots for id in d.episodes} <= ids
    page, svg = atlas_page(columns), atlas_svg(columns)
    assert page.count('class="dot"') == svg.count('class="dot"') == len(dots)
    assert not re.search(r'(src|href)="?http', page)
    links = {f"#dot-{n}" for n in range(len(dots))}
    assert set(re.findall(r'href="([^"]*)"', page)) == links
    assert set(re.findall(r'href="([^"]*)"', svg)) == {f"atlas.html{link}" for link in links}
    assert set(re.findall(r'<tr id="([^"]*)"', page)) == {link[1:] for link in links}
    assert all(id in page for dot in dots for id in dot.episodes)
    match = re.search(r'id="dots">(.*?)</script>', page, re.DOTALL)
    assert match is not None and len(json.loads(match[1])) == len(dots)


COLUMN = AtlasColumn("a <game>", "x & y", "doing", "zero", "one")


def test_names_are_escaped_and_outliers_stay_on_the_panel() -> None:
    dot = AtlasDot(COLUMN, "</script><b>", "model", 2025, -7.0, -9.0, -5.0, 3, "moves", 1, "s")
    page = atlas_page({COLUMN: [dot]})
    assert "<b>" not in page and "a &lt;game&gt;" in page
    assert "\u22127.00" in page  # the value is stated where the dot is at the edge
    assert all(float(x) >= 0 for x in re.findall(r'x1="(-?[\d.]+)"', page))


def test_many_models_share_one_line_per_provider_and_keep_their_names() -> None:
    dots = [
        AtlasDot(COLUMN, f"model {n}", "model", None, n / 40, None, None, 9, "moves", 1, "s",
                 family=("north", "south")[n % 2])
        for n in range(30)
    ]  # fmt: skip
    rule = AtlasDot(COLUMN, "always 5", "rule", None, 0.4, 0.3, 0.5, 9, "moves", 5, "s")
    lines = rows_of([*dots, rule])
    assert [row.label for row in lines] == ["south (15)", "north (15)", "always 5"]
    page = atlas_page({COLUMN: [*dots, rule]})
    assert height_of([*dots, rule]) < height_of(dots[:12])
    assert page.count('class="dot"') == 31 and "<title>model 7: " in page
    values = [float(v) for v in re.findall(r"<td>(?:model|rule)</td><td>([\d.]+)</td>", page)]
    assert len(values) == 31 and values == sorted(values, reverse=True)  # a ranked list


def test_custom_study_shows_knowing_and_doing(tmp_path: Path) -> None:
    study = tmp_path / "study.toml"
    study.write_text(
        'name = "s"\nabout = "a"\n[[cells]]\nname = "ipd"\nrepeats = 2\n'
        'instances = [{ id = "i", game = "ipd", params = { rounds = 5 } }]\n'
        'lineups = [{ agent = { player = "tabular" }, partner = { player = "tit_for_tat" } }]\n'
        '[cells.arms]\nagent = ["their_move"]\n'
    )
    out = str(tmp_path / "out")
    assert CliRunner().invoke(cli, ["run", str(study), "--out", out]).exit_code == 0
    run = CliRunner().invoke(cli, ["report", "--atlas", out, "--json"])
    assert run.exit_code == 0, run.output
    dots = json.loads(run.output)
    assert any(d["kind"] == "learner" and d["column"]["game"] == "ipd" for d in dots)
    wrong = CliRunner().invoke(
        cli, ["report", "--atlas", out, "--out", str(tmp_path / "atlas.pdf")]
    )
    assert wrong.exit_code != 0
    result = CliRunner().invoke(
        cli, ["report", "--atlas", out, "--out", str(tmp_path / "atlas.svg")]
    )
    assert result.exit_code == 0 and (tmp_path / "atlas.svg").read_text().startswith("<svg")


def test_table_schema_accepts_rows_that_the_importer_reads() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    run = CliRunner().invoke(cli, ["import", "table-schema"])
    schema = json.loads(run.output)
    row = {"episode": "e", "round": 1, "action1": "J", "action2": "F", "rt1": 2.5}
    described = {"game": "ipd", "params": {"rounds": 10}, "partners": {"bot": {"player": "x"}}}
    jsonschema.validate({"description": described, "rows": [row]}, schema)
    for wrong in (
        {"description": described, "rows": [{**row, "round": 0}]},
        {"description": {**described, "colour": "red"}, "rows": [row]},
        {"description": described, "rows": [{"episode": "e"}]},
    ):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(wrong, schema)


def test_atlas_holds_one_episode_of_a_record_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        log = step_game.write_files(tmp_path, step_game.lines(step_game.RACE))
        log.rename(tmp_path / f"game_{number}_20250301_000000.jsonl")
    out = tmp_path / "store"
    sally.import_record("step_game", tmp_path, out)
    most = []

    def dots(games: Sequence[Played]) -> list[AtlasDot]:
        for _ in games:
            most.append(sum(isinstance(thing, Episode) for thing in gc.get_objects()))
        return step_game_dots(games)

    step_game_dots = sources()["step_game"].dots
    spied = {"step_game": AtlasSource("step_game", dots)}
    monkeypatch.setattr("sally.analysis.episodes.atlas.sources", lambda: spied)
    gc.collect()
    total_before = sum(isinstance(thing, Episode) for thing in gc.get_objects())
    rows = sally.atlas(out)
    assert len(most) == 3 and max(most) - total_before <= 3
    everything, other_episodes = recorded_dots(store.load(out).episodes.values())
    assert [dot for dots in rows.by_column.values() for dot in dots] == [
        msgspec.structs.replace(dot, store=str(out))
        for dots in by_column(everything).values()
        for dot in dots
    ]
    assert other_episodes == []


def test_atlas_reads_an_interrupted_episode_only_if_it_was_never_finished(tmp_path: Path) -> None:
    out = tmp_path / "store"
    sally.run("quickstart", out, limit=1)
    first, second = list(store.load(out).episodes.values())[:2]
    cut = [
        msgspec.structs.replace(e, events=[*e.events[:3], Censored(1, "budget")])
        for e in (first, second)
    ]
    other_folder = tmp_path / "other"
    store.claim(other_folder, store.Manifest("test", asks="test"))
    with store.Writer(other_folder) as writer:
        for episode in (cut[0], first, first, cut[1]):
            writer.add(episode)
    assert list(_episodes(other_folder)) == list(store.load(other_folder).episodes.values())
    assert [episode.end == first.end for episode in _episodes(other_folder)] == [True, False]
