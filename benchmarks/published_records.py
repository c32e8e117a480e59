"""Check the importers of the atlas on published records: counts, figures, time and memory.

    python -m benchmarks.published_records FOLDER

FOLDER has a checkout or sample of each record under the importer's name (eger2017, zhu2024,
hcss2025, gamabench, alsobay2025). Expected counts and figures are those of the specification, for
a sample or for the full record, told apart by size. Each import runs in its own process. The exit
status is 1 if any differs beyond its tolerance.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sally.core.registry import registry

Check = tuple[str, float, float, float]  # what, ours, expected, tolerance
COUNT, SHARE, DOING, MEAN = 0.0, 5e-4, 1e-3, 5e-4


def eger2017(path: Path, counts: dict[str, int], episodes: Any) -> list[Check]:
    from sally.core.match.playback import replay_episode
    from sally.core.rules.metric import Played
    from sally.papers.eger2017 import figures

    full = counts["people"] == 240
    want = (2_040, 240, 460, 4) if full else (651, 81, 151, 3)
    names = (
        "found",
        "people",
        "games with a discard at all tokens",
        "games cut where the seats slip",
    )
    checks: list[Check] = [(n, counts[n], w, COUNT) for n, w in zip(names, want, strict=True)]
    spec = registry.game("hanabi")
    games = figures.side_games(Played(spec, e, replay_episode(spec, e)) for e in episodes)
    scores = {
        "full": (13.310, 7.159) if full else (12.778, 5.986),
        "intentional": (14.212, 12.073) if full else (13.326, 10.530),
        "outer": (8.900, 2.850) if full else (7.965, 1.721),
    }
    for ai, (kept_score, zero) in scores.items():
        ai_games = [g for g in games if g.ai == ai]
        checks.append((f"{ai}: kept", figures.score(ai_games).value or 0, kept_score, MEAN))
        checks.append((f"{ai}: zero", figures.score(ai_games, True).value or 0, zero, MEAN))
    if full:  # moves of the slipped games are in the specification's shares and not in ours
        idle = {"full": 0.318, "intentional": 0.382, "outer": 0.262}
        for ai, share in idle.items():
            people = [g for g in games if g.ai == ai and g.human]
            ours = figures.measure(people, "sure but idle").value or 0
            checks.append((f"people with {ai}: sure but idle", ours, share, 2e-3))
    return checks


def zhu2024(path: Path, counts: dict[str, int], episodes: Any) -> list[Check]:
    from sally.papers.zhu2024 import figures
    from sally.papers.zhu2024.reader import Crowds, read

    full = counts["people"] == 4_673
    record = read(path)
    table = figures.table_of(record.choices, Crowds(record.choices))
    fewest = 1 if full else 5
    levels = figures.levels(table)
    people = figures.doing_by_person(table, fewest)
    want = (4_673, 93_460, 2_416) if full else (1_169, 23_380, 2_416)
    names = ("people", "choices", "games in a role")
    checks: list[Check] = [(n, counts[n], w, COUNT) for n, w in zip(names, want, strict=True)]
    shares = (0.5869, 0.5824, 0.7278, 0.7385, 0.6811) if full else (
        0.5799, 0.5758, 0.7307, 0.7379, 0.6840)  # fmt: skip
    ours = (
        figures.doing(table, None, fewest).value,
        float(people.mean()),
        figures.best_reply_taken(table, fewest).value,
        figures.agreement(table, levels[1]).value,
        figures.agreement(table, levels[2]).value,
    )
    measures = ("doing, pooled", "doing, mean", "best reply taken", "level 1", "level 2")
    tolerances = (DOING, DOING, SHARE, SHARE, SHARE)
    checks += list(zip(measures, [x or 0 for x in ours], shares, tolerances, strict=True))
    if not full:
        across = int((table.crowd >= fewest).sum())
        checks.append(("choices with five people across", across, 22_519, COUNT))
    return checks


def hcss2025(path: Path, counts: dict[str, int], episodes: Any) -> list[Check]:
    full = counts["matches"] == 7_560
    want = (7_560, 20_092, 16_544) if full else (1_512, 3_050, 2_423)
    names = ("matches", "rounds", "moves of models")
    checks: list[Check] = [(n, counts[n], w, COUNT) for n, w in zip(names, want, strict=True)]
    replies = {
        "GPT5mini: empty, scored C": 358 if full else 44,
        "GPT5mini: says the other move, scored C": 28 if full else 7,
    }
    checks += [(n, counts[n], w, COUNT) for n, w in replies.items()]
    readable = sum(counts.get(f"Mistral-Medium: readable, scored {m}", 0) for m in "CD")
    return [*checks, ("Mistral-Medium: readable", readable, 217 if full else 60, COUNT)]


def gamabench(path: Path, counts: dict[str, int], episodes: Any) -> list[Check]:
    full = counts["files of guessing_game"] == 205
    want = (205, 134) if full else (40, 11)
    names = ("files of guessing_game", "files of public_goods")
    checks: list[Check] = [(n, counts[n], w, COUNT) for n, w in zip(names, want, strict=True)]
    if full:
        from sally.papers.gamabench import figures
        from sally.papers.gamabench.reader import read

        printed = {"gpt-4o": 94.3, "gemini-1.5-pro": 95.4, "gpt-3.5-turbo-0613": 41.4}
        scores = {g.model: g.score for g in figures.summary(read(path).tables)[0]}
        checks += [(f"{m}: 100 - mean", scores[m], score, 0.05) for m, score in printed.items()]
    return checks


def alsobay2025(path: Path, counts: dict[str, int], episodes: Any) -> list[Check]:
    full = counts["people"] == 3_912
    names = ("people", "groups", "contributions") if full else ("people", "groups")
    want = (3_912, 366, 57_351) if full else (265, 24)
    return [(n, counts[n], w, COUNT) for n, w in zip(names, want, strict=True)]


CHECKS: dict[str, Callable[[Path, dict[str, int], Any], list[Check]]] = {
    check.__name__: check for check in (eger2017, zhu2024, hcss2025, gamabench, alsobay2025)
}


def check_record(name: str, path: Path) -> dict[str, Any]:
    """Import one record in this process and compare it."""
    start = time.process_time()
    imported = registry.importer(name).import_from(path)
    seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    rows = [
        {"what": title, "ours": ours, "expected": want, "ok": abs(ours - want) <= tolerance}
        for title, ours, want, tolerance in CHECKS[name](path, imported.counts, imported.episodes)
    ]
    facts = {"episodes": len(imported.episodes), "seconds": round(seconds, 1), "MB": round(peak)}
    return {"record": name, **facts, "checks": rows}


def main(folder: Path) -> int:
    wrong = 0
    for name in CHECKS:
        if not (folder / name).exists():
            print(f"{name}: not there")
            continue
        call = [sys.executable, "-m", "benchmarks.published_records", "--one", name, str(folder)]
        done = json.loads(subprocess.run(call, capture_output=True, check=True, text=True).stdout)
        summary = f"{done['episodes']} episodes, {done['seconds']} s of CPU, {done['MB']} MB"
        print(f"{name}: {summary}")
        for row in done["checks"]:
            wrong += not row["ok"]
            mark = "ok" if row["ok"] else "DIFFERS"
            print(f"  {mark:8}{row['what']}: {row['ours']:.6g}, expected {row['expected']:.6g}")
    return int(wrong > 0)


if __name__ == "__main__":
    if sys.argv[1] == "--one":
        print(json.dumps(check_record(sys.argv[2], Path(sys.argv[3]) / sys.argv[2])))
    else:
        sys.exit(main(Path(sys.argv[1])))
