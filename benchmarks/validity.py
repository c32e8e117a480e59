"""The figures of docs/discussion/validity.md: `python -m benchmarks.validity NAME [RUNS]`.

Every command simulates from fixed seeds and prints its figures; without a name, all are run.
"""

from __future__ import annotations

import hashlib
import json
import math
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from click.testing import CliRunner

from benchmarks import share_intervals
from sally import store
from sally.analysis.bounds import metric_bounds
from sally.analysis.compare import published_figures as reference
from sally.analysis.compare.compare import Comparison, Group, Score, Scores, compare, family
from sally.analysis.compare.contrast import contrast
from sally.analysis.compare.published_figures import Figure, load
from sally.cli import cli
from sally.core.log.events import Episode, Instance, PlayerSpec, Setup, label
from sally.core.match.drive import Driver
from sally.core.match.engine import Match
from sally.core.match.player import Decision, Turn
from sally.core.registry import registry
from sally.core.rules.probe import ProbeReport
from sally.frames.frame import as_frame
from sally.games.repeated_games.rules import AGENT, PARTNER
from sally.output.tables.reproduce import Effort, comparison_row, line_verdicts, reproduce
from sally.papers.riemer2025.study import MOVES
from sally.papers.riemer2025.tables import completes
from sally.papers.riemer2025.tabular import bulk_figures, cell
from sally.runner.seating import seat_player
from sally.stats.cluster_interval import mean_by_rule
from sally.stats.columns import Floats
from sally.stats.components import variance_components
from sally.stats.intervals import Estimate
from sally.stats.power import equivalence_sample_size

CELLS = [(g, p) for g in ("rps", "ibs", "ipd") for p in ("single_action", "tit_for_tat")]
REGRET = "functional_regret"
TABLES = ("1", "2", "8", "9", "10")  # of riemer2025, those of language models
PRINTED = 60  # episodes of a cell, the middle of the 30 to 100 that the paper states


# --- agreement with published values ------------------------------------------------------------


class Constant:
    """Always makes one move, and always predicts one."""

    def __init__(self, move: int) -> None:
        self.move = move

    def decide(self, turn: Turn) -> Decision[int]:
        return Decision(self.move)

    def report(self, turn: Turn) -> ProbeReport:
        return ProbeReport(self.move)


def play_relabelled(bot: str, table: str, repeats: int) -> Iterator[Episode]:
    """Yield a bot's episodes in the name of every model and strategy of a table."""
    rows = (figure.row for figure in load("riemer2025").tables[table].rows)
    cells = {tuple(sorted(completes(row).items())) for row in rows if row["player"] == "language"}
    for pairs in sorted(cells, key=str):
        row = dict(pairs)
        game, kind = str(row["game"]), str(row["partner"])
        acts = [{"action": a} for a in range(MOVES[game])] if kind == "single_action" else [{}]
        params: dict[str, Any] = {"model": row["model"], "strategy": row["strategy"]}
        if extra_params := {k: row[k] for k in ("memory",) if k in row}:
            params["with_"] = extra_params
        agent = PlayerSpec("language", params)
        names = str(row.get("names", "J F B" if MOVES[game] == 3 else "J F")).split()
        for seed in range(repeats):
            for act in acts:
                lineup: dict[str, PlayerSpec] = {AGENT: agent, PARTNER: PlayerSpec(kind, act)}
                instance = Instance(game, game, {"names": names})
                setup = Setup(instance, seed, lineup, arms={AGENT: ("their_move",)})
                match = Match(registry.game(game), setup)
                spec = registry.game(game)
                own_player = (
                    Constant(int(bot)) if bot.isdigit()
                    else seat_player(spec, match.game, AGENT, PlayerSpec(bot))
                )  # fmt: skip
                partner = seat_player(spec, match.game, PARTNER, lineup[PARTNER])
                Driver(match, {AGENT: own_player, PARTNER: partner}).run()
                yield match.episode()


def agreement(runs: int = 500) -> None:
    """Print the verdicts on bots under models' names, and on true copies."""
    print("bots in the name of every model of riemer2025 (equivalent / different / undecided):")
    for bot in ("0", "1", "random", "tabular"):
        for repeats in (3,):
            total: Counter[Any] = Counter()
            lines: Counter[Any] = Counter()
            for table in TABLES:
                with tempfile.TemporaryDirectory() as folder:
                    with store.Writer(folder) as writer:
                        for episode in play_relabelled(bot, table, repeats):
                            writer.add(episode)
                    rows = reproduce("riemer2025", table, folder, None, Effort(repeats=4))
                rows = [r for r in rows if not r.computed and r.published is not None]
                total.update(r.verdict for r in rows)
                lines.update(line_verdicts(rows))
                for r in rows:
                    if r.verdict == "equivalent":
                        row_name = f"{r.row['model']} {r.row['strategy']} {r.row['game']}"
                        print(f"    {row_name}, {r.metric}: {r.published} and {r.ours:.3f}")
            print(
                f"  {bot}, {repeats} a partner: values {_format_verdicts(total)}, lines "
                f"{_format_verdicts(lines)}",
                flush=True,
            )
    copies(runs)


def copies(runs: int = 500) -> None:
    """Print the verdicts on true copies of the tabular learner.

    Copies are drawn with replacement from 6,000 episodes of the learner in each cell, so that both
    sides have the same distribution.
    """
    print("true copies of the tabular learner; episodes of a cell on our side and on the paper's:")
    pools = [(*cell, bulk_figures(*cell, Effort(repeats=6000))) for cell in CELLS]
    for sizes in ((12, 102), (30, 30), (30, 102), (102, 30), (102, 102), (498, 102)):
        verdicts = {
            f"{name} {kind} {metric}": Counter(_copies(kind, metric, values, name, sizes, runs))
            for name, kind, figures in pools
            for metric, values in figures.items()
        }
        worst = max(verdicts, key=lambda cell: verdicts[cell]["different"])
        share = verdicts[worst]["different"] / runs
        print(
            f"  {sizes[0]} and {sizes[1]}: {_format_verdicts(sum(verdicts.values(), Counter()))}; "
            f"at most {share:.3f} different ({worst})",
            flush=True,
        )


def _copies(
    kind: str, metric: str, values: Floats, game: str, sizes: tuple[int, int], runs: int
) -> Iterator[str | None]:
    partners = MOVES[game] if kind == "single_action" else 1
    span = 100.0 if metric == "tom_percent" else None
    rng = np.random.default_rng(3)

    def sample(n: int) -> Estimate:
        lots = np.arange(n) % partners
        sampled = values[lots + partners * rng.integers(len(values) // partners, size=n)]
        return mean_by_rule(sampled, range(n), metric_bounds(metric), lots)

    for _ in range(runs):
        ours, copy = map(sample, sizes)
        assert copy.value is not None and copy.low is not None and copy.high is not None
        value, low, high = (round(x, 3) for x in (copy.value, copy.low, copy.high))
        printed = Figure({}, metric, value, "copy", (low, high), n=PRINTED)
        yield comparison_row("t", [printed], ours, span, 0.0005).verdict


def _format_verdicts(verdicts: Counter[Any]) -> str:
    names = ("equivalent", "different", "undecided")
    n_verdicts = sum(verdicts[name] for name in names)
    shares = " / ".join(f"{verdicts[name] / max(n_verdicts, 1):.3f}" for name in names)
    return f"{' / '.join(str(verdicts[name]) for name in names)} of {n_verdicts} ({shares})"


def riemer(runs: int = 20_000) -> None:
    """Print the one value of riemer2025's learner that differs, at ten times the usual size."""
    row_key = {"game": "rps", "partner": "tit_for_tat", "player": "tabular"}
    printed = reference.figures_at(reference.table(load("riemer2025"), "tabular"), row_key, REGRET)
    for size in (2_000, runs):
        estimate = cell("rps", "tit_for_tat", Effort(repeats=size))[REGRET]
        assert estimate.value is not None and estimate.low is not None and estimate.high is not None
        print(f"{size} episodes: {estimate.value:.4f} [{estimate.low:.4f}, {estimate.high:.4f}]")
        for figure in printed:
            row = comparison_row("tabular", [figure], estimate, None, 0.0005)
            print(f"  against {figure.value} ({figure.source}): {row.verdict}, p {row.p:.3f}")
        values = [figure.value for figure in printed]
        errors = [(f.interval[1] - f.value) / 1.96 for f in printed if f.interval]
        z_apart = (values[0] - values[1]) / math.hypot(*errors)
        middle, error = sum(values) / 2, math.hypot(*errors) / 2
        ours = (estimate.value - middle) / math.hypot(
            error, (estimate.high - estimate.value) / 1.96
        )
        print(
            f"  the two printed values differ by z {z_apart:.2f}; ours from their mean by "
            f"{ours:.2f}"
        )


# --- shares of variance ---------------------------------------------------------------------------


def variance(runs: int = 1000) -> None:
    """Print the coverage of 95% intervals of the share of variance between models."""
    rng, problems = np.random.default_rng(2), 20
    print("models, true share: covered, mean width")
    for models in (2, 3, 5, 10):
        for sd in (0.0, 0.3, 1.0):
            share, n_covered, wide = sd**2 / (sd**2 + 0.5**2 + 1), 0, 0.0
            for _ in range(runs):
                model, problem = rng.normal(0, sd, models), rng.normal(0, 0.5, problems)
                noise = rng.normal(0, 1, (models, problems, 2))
                values = (model[:, None, None] + problem[None, :, None] + noise).ravel()
                factors = {
                    "model": np.repeat(np.arange(models), 2 * problems).tolist(),
                    "problem": np.tile(np.repeat(np.arange(problems), 2), models).tolist(),
                }
                estimate = variance_components(values, factors, seed=1, draws=800).shares["model"]
                assert estimate.low is not None and estimate.high is not None
                n_covered += estimate.low <= share <= estimate.high
                wide += (estimate.high - estimate.low) / runs
            print(f"  {models:2d}, {share:.3f}: {n_covered / runs:.3f}, {wide:.2f}")


# --- errors of compare and contrast ---------------------------------------------------------------


GAMES = ("rps", "ibs", "ipd")


class Coin:
    """Draws moves and predictions evenly, from random numbers of its own."""

    def __init__(self, rng: np.random.Generator, moves: int) -> None:
        self.rng, self.moves = rng, moves

    def decide(self, turn: Turn) -> Decision[int]:
        return Decision(int(self.rng.integers(self.moves)))

    def report(self, turn: Turn) -> ProbeReport:
        return ProbeReport(int(self.rng.integers(self.moves)))


def null_store(
    rng: np.random.Generator, players: Sequence[PlayerSpec], instances: int
) -> list[Episode]:
    """Return episodes of equal players under different names, on the same problems and seeds."""
    episodes = []
    for game in GAMES:
        spec = registry.game(game)
        for n in range(instances):
            for player in players:
                lineup: dict[str, PlayerSpec] = {AGENT: player, PARTNER: PlayerSpec("tit_for_tat")}
                instance = Instance(f"{game}-{n}", game, {"rounds": 8})
                setup = Setup(instance, n, lineup, arms={AGENT: ("their_move",)})
                match = Match(spec, setup)
                partner = seat_player(spec, match.game, PARTNER, lineup[PARTNER])
                Driver(match, {AGENT: Coin(rng, MOVES[game]), PARTNER: partner}).run()
                episodes.append(match.episode())
    return episodes


def null(stores: int = 400, instances: int = 12) -> None:
    """Print false claims of compare and contrast in stores where nothing differs, and how often
    equal players are found equivalent at the planned n."""
    rng = np.random.default_rng(11)
    base_params = {"model": "a/a", "strategy": "qa"}
    models = [PlayerSpec("language", {**base_params, "model": name}) for name in ("a/a", "a/b")]
    packs = [PlayerSpec("language", {**base_params, "pack": name}) for name in ("one", "two")]
    names = (label(models[0]), label(models[1]))
    stored = (null_store(rng, models, instances) for _ in range(stores))
    _claims("compare", [compare(as_frame(e), *names).comparisons for e in stored])
    for others in (packs[:1], packs):
        stored = (null_store(rng, [models[0], *others], instances) for _ in range(stores))
        comparisons = [[c.comparison for c in contrast(as_frame(e), "packs")] for e in stored]
        _claims("contrast --packs", comparisons)
    for margin in (0.4, 0.6):
        for metrics in (1, 3):
            size = equivalence_sample_size(margin, 2.0, alpha=0.05 / metrics)
            n_equivalent = n_all_equivalent = 0
            for _ in range(stores):
                tests = family(_null_scores(rng, metrics, size), "a", "b", margin, 1)
                hits = [c.verdict == "equivalent" for c in tests]
                n_equivalent, n_all_equivalent = (
                    n_equivalent + sum(hits),
                    n_all_equivalent + all(hits),
                )
            print(
                f"margin {margin}, family of {metrics}: planned {size} pairs for .80, found "
                f"equivalent in {n_equivalent / stores / metrics:.3f}, all of them in "
                f"{n_all_equivalent / stores:.3f}"
            )


def _claims(name: str, by_store: Sequence[Sequence[Comparison]]) -> None:
    claims = ("better", "worse", "different")
    wrong = sum(any(c.verdict in claims for c in comparisons) for comparisons in by_store) / len(
        by_store
    )
    single = [c.p is not None and c.p < 0.05 for comparisons in by_store for c in comparisons]
    print(
        f"{name}, {len(by_store[0])} comparisons of {by_store[0][0].units} pairs: false claims in "
        f"{wrong:.3f} of {len(by_store)} stores; single p below .05 in {np.mean(single):.3f}",
        flush=True,
    )


def _null_scores(rng: np.random.Generator, metrics: int, clusters: int) -> Scores:
    """Return scores of two equal players on the same problems, by independent metrics."""
    names = sorted(registry.metrics("repeated_games"))[:metrics]
    return {
        Group("rps", AGENT, "", name): {
            player: [
                Score(f"s{n}".encode(), f"i{n}", "t", float(x))
                for n, x in enumerate(rng.normal(size=clusters))
            ]
            for player in ("a", "b")
        }
        for name in names
    }


# --- what the shipped bundles show --------------------------------------------------------------

ROOT = Path(__file__).parents[1]
SHIPPED = ("kang2026-0.5b", "kang2026-1.5b")
FACTS = ROOT / "benchmarks" / "shipped.json"


def print_shipped(runs: int = 0) -> None:
    """Compute the facts behind two sentences of validity.md, write them, print the sentences."""
    bundles = [ROOT / "docs" / "results" / "bundles" / f"{name}.sally.zip" for name in SHIPPED]
    outputs = []
    for view in ("--reliability", "--variance"):
        print(f"sally profile {view} on {' and '.join(SHIPPED)} ...", flush=True)
        ran = CliRunner().invoke(
            cli, ["profile", view, *map(str, bundles), "--json"], catch_exceptions=False
        )
        outputs.append(json.loads(ran.stdout))
    related, varied = outputs
    kinds = ("other trait, same game", "same trait, other game")
    facts = {
        "bundles": {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in bundles},
        "players": related["matrix"]["players"],
        "matrix": {kind: related["matrix"]["means"][kind] for kind in kinds},
        "shares": [
            {
                "game": row["game"],
                "measure": row["measure"],
                "shares": {
                    name: component["value"] for name, component in row["shares"]["shares"].items()
                },
            }
            for row in varied
        ],
    }
    FACTS.write_bytes(msgspec.json.format(msgspec.json.encode(facts), indent=1) + b"\n")
    for sentence in sentences(msgspec.json.decode(FACTS.read_bytes())):
        print(sentence)


def sentences(facts: dict[str, Any]) -> list[str]:
    """Return the sentences of validity.md on the shipped bundles."""

    def mean(kind: str) -> str:
        kind_mean = facts["matrix"][kind]
        low, high = kind_mean["interval"]
        return (
            f"{two(kind_mean['value'])} [{two(low)}, {two(high)}] "
            f"({kind_mean['n']} pairs of measures)"
        )

    by_player = {
        (row["game"], row["measure"]): sum(row["shares"].get(f, 0.0) for f in ("model", "strategy"))
        for row in facts["shares"]
        if {"model", "strategy"} <= set(row["shares"])
    }
    low, high = (extreme(by_player, key=lambda key: by_player[key]) for extreme in (min, max))
    marks = {measure: f"`{measure}`" for _, measure in by_player if measure != "knowing"}
    row_names = {(g, m): f"{marks.get(m, m)} in `{g}`" for g, m in by_player}
    rest_shares = {row["game"]: row["shares"]["rest"] for row in facts["shares"]
            if row["measure"] == "task_success"}  # fmt: skip
    return [
        f"The means are {mean('other trait, same game')} for *other trait, same game* against "
        f"{mean('same trait, other game')} for *same trait, other game*, over "
        f"{facts['players']} players.",
        f"The model and its strategy together explain between {100 * by_player[low]:.0f}% "
        f"({row_names[low]}) and {100 * by_player[high]:.0f}% ({row_names[high]}) of the "
        "variance of one "
        f"episode. Of the variance of correct choices {100 * rest_shares['toma_po']:.0f}% in "
        "`toma_po` "
        f"and {100 * rest_shares['toma_mg']:.0f}% in `toma_mg` are within single episodes.",
    ]


def two(value: float) -> str:
    """Return a number with two decimals and no leading zero.

    >>> two(-0.536)
    '-.54'
    """
    return f"{value:.2f}".replace("0.", ".", 1)


COMMANDS: dict[str, Callable[..., None]] = {
    "agreement": agreement,
    "copies": copies,
    "riemer": riemer,
    "shares": share_intervals.main,
    "variance": variance,
    "null": null,
    "shipped": print_shipped,
}


def main(name: str = "", *arguments: str) -> None:
    for command in [name] if name else COMMANDS:
        print(f"== {command}")
        COMMANDS[command](*map(int, arguments))


if __name__ == "__main__":
    main(*sys.argv[1:])
