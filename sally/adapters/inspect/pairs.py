"""The suite Sally-2 as an Inspect task: `inspect eval sally/pairs --model openai/gpt-4o`.

A sample is a pair of positions in one arm. Its scores are those of the pair; the metrics are the
means over games that `sally evaluate` prints, made by the same functions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from inspect_ai import Epochs as TaskEpochs
from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.scorer import SampleScore, Score, Scorer, Target, Value, metric, score_reducer
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import span

from sally.adapters.inspect.scorers import (
    count_reasons,
    register_scorer,
    registered_name,
    seat_score,
)
from sally.adapters.inspect.session import session_of
from sally.adapters.inspect.tasks import (
    Epochs,
    claim_store,
    first_page,
    play_setup,
    setup_of_epoch,
    told_by_inspect,
)
from sally.analysis.pairs.evaluation import (
    PairRecord,
    RecordSummary,
    pair_records,
    summarize_records,
)
from sally.core.errors import BadInput
from sally.core.log.events import Episode, Setup, from_line, to_line
from sally.runner.gates import hopeless
from sally.runner.local import orders
from sally.stats.intervals import Estimate
from sally.stats.pairs import PairOutcome
from sally.studies import sally_2
from sally.studies.sally_2 import Size

NAME = "pairs"
QUESTIONS = ("knowing", "doing", "acting")


def pairs(size: Size = "S", games: str = "", limit: int = 0, out: str = f"out/{NAME}") -> Task:
    """Certified pairs of positions: whether a model predicts others, and whether it acts on it.

    Args:
        size: Size of the suite: S, M or L.
        games: Names of games, separated by commas; by default all.
        limit: The first pairs of each game and arm only; 0 plays all.
        out: Store of the episodes.
    """
    with told_by_inspect():
        if not isinstance(limit, int) or limit < 0:
            raise BadInput(f"-T limit takes a number of pairs per game, not {limit!r}.")
        chosen = games if isinstance(games, list | tuple) else str(games).split(",")
        names = tuple(name.strip() for name in chosen if name.strip())
        filled = claim_store(sally_2.suite(size, names or sally_2.GAMES), out)
        members: dict[tuple[str, str], list[Setup]] = {}
        arms = {cell.name: cell.factors["arm"] for cell in filled.cells}
        for _, cell, setup in orders(filled, 2 * limit or None):
            position = setup.instance.position
            assert position
            members.setdefault((cell, position.pair), []).append(setup)
        epochs = Epochs.of_study(filled)
        samples = [
            _sample(cell, arms[cell], setups, epochs) for (cell, _), setups in members.items()
        ]
        return Task(
            name=NAME,
            dataset=samples,
            solver=play_pair(out),
            scorer=pair_scores(),
            epochs=TaskEpochs(1, [keep_epochs()]),  # --epochs sets the number
            continue_on_fail=True,
        )


PAIRS = task(name=registered_name(NAME, pairs))(pairs)


def _sample(cell: str, arm: str, setups: Sequence[Setup], epochs: Epochs) -> Sample:
    position = setups[0].instance.position
    assert position
    return Sample(
        id=position.pair if arm == sally_2.ASKED else f"{position.pair} {arm}",
        input=first_page(setups[0]),
        metadata={
            "game": sally_2.game_of(setups[0].instance.game, position.recipe),
            "arm": arm,
            "recipe": position.recipe,
            "order": position.order,
            "cluster": position.cluster or position.pair,
            "cell": cell,
            "setups": [msgspec.json.encode(setup).decode() for setup in setups],
            "epochs": msgspec.to_builtins(epochs),
        },
    )


@solver
def play_pair(out: str) -> Solver:
    """Return a solver that plays both positions of a pair and stores them."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        session = session_of(out)
        lines: list[str] = []

        def keep(episode: Episode) -> None:
            lines.append(to_line(episode).decode())
            state.store.set("episodes", list(lines))

        for text in state.metadata["setups"]:
            if session.meter.spent or hopeless():
                break  # a position that was not started is not stored
            setup = setup_of_epoch(state, msgspec.json.decode(text, type=Setup))
            position = setup.instance.position
            assert position
            async with span(f"position {position.member + 1} of 2"):
                await play_setup(setup, state.metadata["cell"], session, keep)
        return state

    return solve


# --- scores of one pair ---------------------------------------------------------------------------


def _pair_scores() -> Scorer:
    """Return a scorer of both answers to each question of a pair: knowing, doing, acting (j), their
    strict forms (d), and the gap between knowing and doing."""

    async def score(state: TaskState, target: Target) -> Score:
        lines = state.store.get("episodes") or []
        episodes = [from_line(line.encode()) for line in lines]
        records = pair_records(
            episodes,
            player="",
            game_of=sally_2.game_of,
            arms={state.metadata["cell"]: state.metadata["arm"]},
        )
        pair = records[0].pair if records else None
        reasons: dict[str, dict[str, int]] = {}
        for episode in episodes:
            for seat, counts in count_reasons(episode).items():
                total = reasons.setdefault(seat, {})
                for reason, count in counts.items():
                    total[reason] = total.get(reason, 0) + count
        answered = f"{len(lines)} of 2 positions"
        scored = seat_score(_values(pair), answered if pair is None else pair.pair, reasons)
        scored.metadata = {
            **(scored.metadata or {}),
            "records": [msgspec.to_builtins(record) for record in records],
        }
        return scored

    return score


def _values(pair: Any) -> dict[str, float]:
    """Return the scores of a pair; a question without an outcome is NaN, which Inspect ignores."""
    values: dict[str, float] = {}
    for question in QUESTIONS:
        outcome: PairOutcome | None = getattr(pair, question, None)
        values[question] = math.nan if outcome is None else outcome.j
        values[f"d_{question}"] = math.nan if outcome is None else float(outcome.d)
    return {**values, "gap": values["knowing"] - values["doing"]}


@score_reducer(name="keep_epochs")
def keep_epochs() -> Any:
    """Return a reducer that averages the epochs of a pair and keeps the record of each."""

    def reduce(scores: list[Score]) -> Score:
        keys = dict.fromkeys(key for score in scores for key in _mapping(score))
        values = {}
        for key in keys:
            numbers = [_mapping(score).get(key, math.nan) for score in scores]
            finite = [number for number in numbers if not math.isnan(number)]
            values[key] = math.fsum(finite) / len(finite) if finite else math.nan
        records = [record for score in scores for record in (score.metadata or {})["records"]]
        return Score(value=values, reason=scores[0].reason, metadata={"records": records})

    return reduce


def _mapping(score: Score) -> Mapping[str, float]:
    return score.value if isinstance(score.value, dict) else {}


# --- metrics of the suite -------------------------------------------------------------------------


@metric
def suite_means() -> Any:
    """Return the results of the suite: means over games with their intervals, and those of each
    game, as `sally evaluate` reports them."""

    def means(scores: list[SampleScore]) -> Value:
        return suite_values(records_of_scores([sample.score for sample in scores]))

    return means


def records_of_scores(scores: Sequence[Score]) -> list[PairRecord]:
    """Return the records of pairs in the metadata of scores, in order of arm and pair.

    With several epochs, those of one pair form a cluster.
    """
    records = [
        msgspec.convert(record, PairRecord)
        for score in scores
        for record in (score.metadata or {}).get("records", ())
    ]
    records.sort(key=lambda record: (record.arm, record.pair.pair if record.pair else ""))
    pairs = [(record.arm, record.pair.pair) for record in records if record.pair]
    if len(set(pairs)) == len(pairs):
        return records
    return [
        record
        if record.pair is None
        else msgspec.structs.replace(
            record,
            pair=msgspec.structs.replace(
                record.pair, cluster=record.pair.cluster or record.pair.pair
            ),
        )
        for record in records
    ]


def suite_values(records: Sequence[PairRecord]) -> dict[str, float]:
    """Return the results of records under the names of the metrics."""
    summary: RecordSummary = summarize_records(records, sally_2.GAMES)
    values: dict[str, float] = {}
    for name, estimate in summary.means.items():
        values |= _interval(name, estimate)
    for game in summary.games:
        for question in ("knowing", "doing"):
            score = getattr(game, question)
            values |= _interval(f"{game.game}.{question}", score and score.j, bounds=False)
            values |= _interval(f"{game.game}.d_{question}", score and score.d, bounds=False)
        values |= _interval(f"{game.game}.gap", game.gap, bounds=False)
    for effect in summary.arms:
        name = effect.measure.replace(" ", "_")
        values |= _interval(f"{effect.arm}.{name}", effect.difference)
    return values


def _interval(name: str, estimate: Estimate | None, bounds: bool = True) -> dict[str, float]:
    def number(value: float | None) -> float:
        return math.nan if value is None else value

    values = {name: number(estimate.value if estimate else None)}
    if bounds:
        values[f"{name}_lower"] = number(estimate.low if estimate else None)
        values[f"{name}_upper"] = number(estimate.high if estimate else None)
    return values


pair_scores = register_scorer("pair_scores", [suite_means()], _pair_scores)
