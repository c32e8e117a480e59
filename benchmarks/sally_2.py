"""Make and check the suite Sally-2.

    python benchmarks/sally_2.py freeze [GAME ...]

draws the pairs of the suite, checks the certificate of each, and writes them to
`sally/studies/records/sally_2`. A released suite is never frozen again.

    python benchmarks/sally_2.py power [--runs 500]

simulates players that know a share of the pairs and guess in the others, with the pairs of size S:
how often one is found, how wide the interval of the mean is, and how often it covers the truth.

    python benchmarks/sally_2.py table BUNDLE ...

prints the tables of `docs/results/appendix/sally_2.md` from the bundles of evaluations.

    python benchmarks/sally_2.py strategy --model MODEL --strategy lm --out DIR [GAME ...]

plays the arm `asked` of a size (M) with another strategy, for example by scoring the options
instead of writing an answer, and prints the same table.
"""

from __future__ import annotations

import argparse
import gzip
import time
from collections import Counter
from itertools import islice
from pathlib import Path

import msgspec

import sally
from sally import store
from sally.analysis.pairs.certificate import certify
from sally.analysis.pairs.evaluation import PairEvaluation
from sally.analysis.pairs.positions import open_position
from sally.api.pair_evaluation import evaluation_of_episodes
from sally.core.registry.recipes import find_recipe
from sally.core.registry.study import Cell, Study, player_spec
from sally.core.rules.chance import Stream
from sally.core.rules.game import Seat
from sally.output.tables.console import estimate_cell
from sally.players.language import LANGUAGE, OPEN
from sally.stats.intervals import Estimate
from sally.stats.multiple_tests import holm
from sally.stats.paired_differences import sign_flip_test
from sally.stats.pairs import PairOutcome, PairScore, mean_of_games, outcome_of, score_pairs
from sally.store.bundles import open_store
from sally.studies import sally_2

FOLDER = Path(__file__).parent.parent / "sally" / "studies" / "records" / sally_2.NAME


def freeze(games: list[str]) -> None:
    """Write the pairs of these games; a pair whose certificate does not hold stops the script."""
    FOLDER.mkdir(exist_ok=True)
    for game in games:
        row = sally_2.row_named(game)
        start = time.process_time()
        pairs = list(islice(sally_2.drawn_pairs(row, sally_2.PAIR_SEED), row.count("L")))
        for pair in pairs:
            problems = certify(pair).problems
            if problems:
                raise SystemExit(f"{pair.id}: {'; '.join(problems)}")
        packed = gzip.compress(msgspec.json.encode(pairs), mtime=0)
        (FOLDER / f"{game}.json.gz").write_bytes(packed)
        seconds = time.process_time() - start
        print(f"{game}: {len(pairs)} pairs, {len(packed):,} bytes, {seconds:.0f} s", flush=True)


def simulate_outcomes(share: float, options: int, pairs: int, chance: Stream) -> list[PairOutcome]:
    """Return outcomes of a player that knows this share of pairs and guesses in the others."""
    outcomes = []
    for _ in range(pairs):
        is_known = chance() < share
        answers = (0, 1) if is_known else (chance.below(options), chance.below(options))
        outcomes.append(outcome_of(answers, ((0,), (1,))))
    return outcomes


def count_options(game: str) -> int:
    """Return the number of answers to the probe of a game's first pair."""
    pair = sally_2.frozen_pairs(game)[0]
    position = open_position(find_recipe(pair.game, pair.recipe), pair, 0)
    question = position.asks["know"].question
    assert question is not None
    return len(question.choices)


def simulate_power(runs: int) -> None:
    """Print power, width and coverage at size S for several shares of known pairs."""
    rows = [sally_2.row_named(game) for game in sally_2.GAMES]
    options = {row.name: count_options(row.name) for row in rows}
    print("J     found in a game (least, most)  found after Holm  mean covered  mean +- (widest)")
    for share in (0.0, 0.2, 0.4, 0.6, 0.8):
        n_found, adjusted = Counter[str](), Counter[str]()
        covered, widths = 0, []
        for run in range(runs):
            p_values, estimates = [], []
            for row in rows:
                chance = Stream("power", str(share), row.name, run)
                outcomes = simulate_outcomes(share, options[row.name], row.small, chance)
                score = score_pairs(outcomes)
                p = sign_flip_test([outcome.j for outcome in outcomes], seed=run)
                is_above = score.j.value is not None and score.j.value > 0
                p_values.append(p / 2 if is_above else 1.0)
                estimates.append(score.j)
            for row, p, p_adjusted in zip(rows, p_values, holm(p_values), strict=True):
                n_found[row.name] += p < 0.05
                adjusted[row.name] += p_adjusted < 0.05
            mean = mean_of_games(estimates)
            assert mean is not None and mean.low is not None and mean.high is not None
            covered += mean.low <= share <= mean.high
            widths.append((mean.high - mean.low) / 2)
        lowest, highest = (pick(n_found[row.name] for row in rows) / runs for pick in (min, max))
        lowest_adjusted = min(adjusted[row.name] for row in rows) / runs
        print(
            f"{share:.1f}   {lowest:.2f} to {highest:.2f}                   "
            f"{lowest_adjusted:.2f}              "
            f"{covered / runs:.3f}         {max(widths):.3f}",
            flush=True,
        )


def with_strategy(suite: Study, strategy: str) -> Study:
    """Return the arm `asked` of a suite with another strategy in the open seats."""
    player = player_spec(LANGUAGE, model=OPEN, strategy=strategy, settings=sally_2.SETTINGS)
    cells = []
    for cell in suite.cells:
        if cell.factors["arm"] == sally_2.ASKED:
            seat = Seat(find_recipe(cell.instances[0].game, _recipe_of(cell)).seat)
            lineups = tuple({**lineup, seat: player} for lineup in cell.lineups)
            cells.append(msgspec.structs.replace(cell, lineups=lineups))
    return msgspec.structs.replace(suite, cells=tuple(cells))


def _recipe_of(cell: Cell) -> str:
    return sally_2.row_named(cell.name.partition(": ")[0]).kinds[0][0]


def play_strategy(model: str, suite: Study, out: Path) -> None:
    """Play pairs with a model and print their table."""
    sally.run(suite, out, model=model)
    print_tables([str(out)], suite)


def evaluation_of_bundle(bundle: Path, suite: Study | None = None) -> PairEvaluation:
    """Return the evaluation of a model from its bundle; of size M if no suite is given."""
    suite = suite or sally_2.suite("M")
    with open_store(bundle) as (place, _):
        episodes = [
            episode
            for episode in store.load(place).episodes.values()
            if not store.to_run_again(episode)
        ]
    return evaluation_of_episodes(episodes, suite, sum(1 for _ in suite.trials()))


def table_of_games(evaluation: PairEvaluation) -> list[str]:
    """Return the lines of the table of knowing, doing and same answers by game."""
    lines = [
        "| game | pairs | knowing | doing | same prediction twice | same move twice |",
        "|---|---|---|---|---|---|",
    ]
    lines += [
        f"| `{game.game}` | {game.pairs} | {_score(game.knowing)} | {_score(game.doing)} | "
        f"{_same_twice(game.knowing)} | {_same_twice(game.doing)} |"
        for game in evaluation.games
    ]
    return [*lines, f"| mean | | {_cell(evaluation.knowing)} | {_cell(evaluation.doing)} | | |"]


def print_tables(bundles: list[str], suite: Study | None = None) -> None:
    """Print knowing, doing and same answers of each bundle, and the effects of the arms."""
    for bundle in bundles:
        evaluation = evaluation_of_bundle(Path(bundle), suite)
        positions = f"{evaluation.episodes:,} of {evaluation.planned:,} positions"
        print(f"\n## {evaluation.player}: {positions}\n")
        print(*evaluation.sentences, sep=" ", end="\n\n")
        print(*table_of_games(evaluation), sep="\n", end="\n\n")
        for game in evaluation.games:
            orders = ", ".join(f"order {n} {_cell(score)}" for n, score in game.orders.items())
            print(
                f"- {game.game}: knowing at {orders}; acting on it {_score(game.acting)}; not done "
                f"{game.known_not_done} of {game.known} known; p of knowing and doing "
                f"{game.knowing_p}, {game.doing_p}"
            )
        for effect in evaluation.arms:
            difference = _cell(effect.difference)
            print(f"- {effect.arm}, {effect.measure}: {difference}, {effect.pairs} pairs")


def _score(score: PairScore | None) -> str:
    return "-" if score is None else _cell(score.j)


def _same_twice(score: PairScore | None) -> str:
    return "-" if score is None or score.same_twice is None else f"{score.same_twice:.2f}"


def _cell(estimate: Estimate | None) -> str:
    if estimate is None or estimate.value is None:
        return "-"
    return estimate_cell(estimate.value, estimate.interval, 2)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=["freeze", "power", "table", "strategy"])
    parser.add_argument("games", nargs="*", help="games, or bundles")
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--model", default="embedded")
    parser.add_argument("--strategy", default="lm")
    parser.add_argument("--size", choices=sally_2.SIZE_NAMES, default="M")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_intermixed_args()
    if arguments.command == "power":
        simulate_power(arguments.runs)
    elif arguments.command == "table":
        print_tables(arguments.games)
    elif arguments.command == "strategy":
        place = arguments.out or Path("out") / f"pairs-{arguments.strategy}"
        games = arguments.games or list(sally_2.GAMES)
        suite = with_strategy(sally_2.suite(arguments.size, games), arguments.strategy)
        play_strategy(arguments.model, suite, place)
    else:
        freeze(arguments.games or list(sally_2.GAMES))


if __name__ == "__main__":
    main()
