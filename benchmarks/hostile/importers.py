"""Mutated files for every importer: taken in, or refused in a sentence, and never a trace.

    python -m benchmarks.hostile.importers --files 4000 --seed 18

The files that are mutated are written here in the published layouts; none is anybody's data.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import tempfile
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.hostile.mutations import mutate
from sally.core.errors import BadInput
from sally.core.registry import registry
from sally.core.registry.paper import Importer, ImportResult
from sally.core.registry.validation import log_problem
from sally.games.repeated_games.importers import clembench
from sally.games.repeated_games.importers import table as tables
from tests.games.mindgames.records import MODEL, PEOPLE, record
from tests.games.mindgames.records import written as mindgames_written
from tests.games.repeated_games import test_import_clembench as clem
from tests.papers import test_akata2025_importer as akata
from tests.papers import test_alsobay2025 as alsobay
from tests.papers import test_brockbank2024_importer as brockbank
from tests.papers import test_eger2017 as eger
from tests.papers import test_gamabench as gamabench
from tests.papers import test_hcss2025 as hcss
from tests.papers import test_tradecraft2026_importer as tradecraft
from tests.papers import test_zhu2024 as zhu


def sources(folder: Path) -> dict[str, tuple[Callable[[Path], ImportResult], Path]]:
    """For each importer a folder of good files that it takes in."""
    folders = {name: folder / name for name in ("akata2025", "brockbank2024", "moore2025")}
    rows = akata.episode("act_gpt4", "act_tft", ["JJ", "FJ", "FF", "JF"], akata.PD)
    rows += akata.episode("act_tft", "act_j", ["JJ"] * 4, akata.PD)
    akata.write_files(folders["akata2025"] / "pd/tft/data/pd_base_gpt4_tfts.csv", rows)
    _brockbank(folders["brockbank2024"])
    games = [record([[(0, 1)], [(2, 1)]], "A"), record([[(0, 1), (1, 0)]], "C")]
    mindgames_written(folders["moore2025"], {PEOPLE: [games], MODEL: [games[:1]]})
    known_sources: dict[str, tuple[Callable[[Path], ImportResult], Path]] = {
        name: (registry.importer(name).import_from, path) for name, path in folders.items()
    }
    known_sources["tradecraft2026"] = (
        registry.importer("tradecraft2026").import_from,
        folder / "tradecraft",
    )
    _tradecraft(folder / "tradecraft")
    known_sources["table"] = (_table, folder / "table")
    _rounds(folder / "table")
    for name in ("eger2017", "zhu2024", "hcss2025", "gamabench", "alsobay2025"):
        known_sources[name] = (registry.importer(name).import_from, folder / name)
        (folder / name).mkdir()
    (folder / "eger2017" / f"game{eger.FIRST}.log").write_text(eger.log_of(eger.MOVES))
    (folder / "eger2017" / f"survey{eger.FIRST}.log").write_text(eger.SURVEY)
    zhu.write_files(folder / "zhu2024", zhu.PEOPLE)
    hcss.write_files(folder / "hcss2025", hcss.rows(hcss.PLAY))
    gamabench.write_files(folder / "gamabench", gamabench.TABLES)
    alsobay.write_files(folder / "alsobay2025", alsobay.people())
    read = partial(clembench.import_results, options=clem.DILEMMA)
    known_sources["clembench"] = (Importer("clembench", "", read).import_from, folder / "clembench")
    clem.results(folder / "clembench", clem.logs())
    return known_sources


def _brockbank(folder: Path) -> None:
    folder.mkdir()
    rows = brockbank.rows_of(
        lambda n: "rock", lambda n: "paper", "prev_move_positive", "2", "g1", rounds=12
    )
    with (folder / "rps_v2_data.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, brockbank.HEADER)
        writer.writeheader()
        writer.writerows(rows)


def _tradecraft(folder: Path) -> None:
    tasks = folder / "tradeCraft/src/TC_GAMES/minecraft/1p_v_1p/game_task.json"
    tasks.parent.mkdir(parents=True)
    tasks.write_text(
        json.dumps([{"hands": tradecraft.HANDS, "targets": tradecraft.TARGETS}]), "utf-8"
    )
    logs = folder / tradecraft.REBUILT
    logs.mkdir(parents=True)
    (logs / "TradeCraft.Duo_abcdefgh-log.md").write_text(tradecraft.CLEAN)


def _rounds(folder: Path) -> None:
    folder.mkdir()
    lines = ["episode,round,player1,player2,action1,action2"]
    lines += [f"e{e},{r},ann,bob,{'JF'[r % 2]},{'JF'[e % 2]}" for e in (1, 2) for r in (1, 2, 3)]
    (folder / "rounds.csv").write_text("\n".join(lines) + "\n")
    (folder / "rounds.toml").write_text('game = "ipd"\n')


def _table(folder: Path) -> ImportResult:
    read = Importer("table", "", lambda path: tables.import_table(path / "rounds.csv"))
    return read.import_from(folder)


def campaign(files: int, seed: int) -> dict[str, Any]:
    """Mutates one file at a time, has it imported, and says what came of it."""
    draw, outcomes, broken = random.Random(seed), Counter[str](), Counter[str]()
    with tempfile.TemporaryDirectory() as folder:
        known_sources = sources(Path(folder))
        for n in range(files):
            name = sorted(known_sources)[n % len(known_sources)]
            read, source_folder = known_sources[name]
            file = draw.choice(sorted(p for p in source_folder.rglob("*") if p.is_file()))
            good = file.read_bytes()
            file.write_bytes(mutate(good, draw))
            try:
                result = read(source_folder)
                wrong = [e for e in result.episodes if log_problem(e)]
                outcomes["taken in" if result.episodes else "all listed"] += 1
                outcomes["wrong episodes"] += len(wrong)
            except BadInput as why:
                outcomes["refused in a sentence"] += 1
                if "is not in the format of the importer" in str(why):
                    broken[f"{name}: {str(why).rpartition('it: ')[2][:60]}"] += 1
            except Exception as why:
                outcomes["traces"] += 1
                broken[f"{name}: {type(why).__name__}: {str(why)[:60]}"] += 1
            finally:
                file.write_bytes(good)
    return {"files": files, **outcomes, "caught at the boundary": dict(broken)}


if __name__ == "__main__":
    import logging

    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--files", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=18)
    options = parser.parse_args()
    logging.disable()
    print(campaign(options.files, options.seed))
