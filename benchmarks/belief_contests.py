"""Contests between the best reply and what a player expects of others: people and models.

    python -m benchmarks.belief_contests [docs/pictures/beliefs.svg]

Prints the table of docs/results/beliefs.md and, if a file is named, draws its picture. People are
those of the three shipped samples, beside the figures of the full records in published.json; models
are those of the registered study knowing_doing (its bundles in docs/results/bundles), in the two
games with contests, without the arms that change wording or calibration.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from pathlib import Path

import msgspec

from sally.analysis.beliefs.decisions import decisions_of
from sally.analysis.beliefs.table import BeliefSummary, belief_table
from sally.analysis.compare.published_figures import load as published
from sally.api.analyses import load
from sally.core.log.events import Episode
from sally.frames.replays import replay_for_measures
from sally.parts.beliefs import BeliefDecision
from sally.stats.intervals import Estimate

BUNDLES = Path(__file__).parent.parent / "docs/results/bundles"
SAMPLES = ("andreozzi2020", "mori2024")
MODELS = ("qwen-0.5b", "qwen-1.5b", "smollm2")
GAMES = ("rps", "ipd")
ARMS = ("calibrated", "pack=")  # in the labels of players that are left out
LEAST = 100  # contests of a row
NAMES = {
    "andreozzi2020": "transfers (andreozzi2020)",
    "mori2024": "threshold (mori2024)",
    "mori2024b": "threshold, loners fill in (mori2024)",
    "rps": "rps",
    "ipd": "ipd",
}
PREFIXES = {"andreozzi2020": "", "mori2024": "main: ", "mori2024b": "additional: "}


class ContestRow(msgspec.Struct, frozen=True):
    """One row of the table."""

    player: str
    game: str
    contests: int
    best: Estimate
    best_null: float | None
    best_gain: Estimate
    expected: Estimate
    expected_null: float | None
    expected_gain: Estimate
    usual: float | None


def full_records() -> Iterator[ContestRow]:
    """Yield the contests of the full records, as the protocol gives them."""
    for source, prefix in PREFIXES.items():
        table = published(source.rstrip("b")).tables["acting"]
        values = {str(f.row["figure"]): f for f in table.rows}

        def estimate(name: str, values: dict = values, prefix: str = prefix) -> Estimate:  # type: ignore[type-arg]
            figure = values[f"{prefix}contest: {name}"]
            low, high = figure.interval or (None, None)
            return Estimate(figure.value, low, high, 0, figure.source)

        yield ContestRow(
            "people, full record",
            NAMES[source],
            int(estimate("rows").value or 0),
            estimate("best reply"),
            estimate("best reply, null").value,
            _gap(estimate("best reply"), estimate("best reply, null")),
            estimate("believed"),
            estimate("believed, null").value,
            _gap(estimate("believed"), estimate("believed, null")),
            None,
        )


def _gap(first: Estimate, second: Estimate) -> Estimate:
    return Estimate((first.value or 0.0) - (second.value or 0.0), None, None, 0, "difference")


def rows_of(summaries: Iterable[BeliefSummary]) -> Iterator[ContestRow]:
    """Yield the rows of players with enough contests."""
    for summary in summaries:
        contest = summary.contest
        is_arm = any(arm in summary.player for arm in ARMS)
        is_person = summary.player == "people"
        if contest is None or is_arm or (contest.rows < LEAST and not is_person):
            continue
        yield ContestRow(
            "people, sample" if is_person else summary.player.removesuffix(" T=0"),
            NAMES[summary.source],
            contest.rows,
            contest.best,
            contest.best_null.value,
            contest.best_gain,
            contest.expected,
            contest.expected_null.value,
            contest.expected_gain,
            contest.usual.value,
        )


def decisions(episodes: Iterable[Episode], games: Sequence[str]) -> Iterator[BeliefDecision]:
    """Yield the decisions of some games, without replaying the other episodes."""
    for episode in episodes:
        if episode.setup.instance.game in games:
            yield from decisions_of(replay_for_measures(episode))


def sample_rows() -> list[ContestRow]:
    """Return the rows of people in the shipped samples."""
    sample_decisions = [
        decision
        for name in SAMPLES
        for decision in decisions(load(BUNDLES / f"beliefs_{name}.sally.zip"), ["elicitation"])
    ]
    return list(rows_of(belief_table(sample_decisions)))


def model_rows(model: str, games: Sequence[str] = GAMES) -> list[ContestRow]:
    """Return the rows of one model of the registered study."""
    bundle = BUNDLES / f"knowing_doing-{model}.sally.zip"
    return list(rows_of(belief_table(decisions(load(bundle), games))))


def line(row: ContestRow) -> str:
    """Return a row as a line of a Markdown table."""
    cells = [row.player, row.game, f"{row.contests:,}"]
    for share, null, gain in (
        (row.best, row.best_null, row.best_gain),
        (row.expected, row.expected_null, row.expected_gain),
    ):
        cells += [f"{_number(share.value)} ({_number(null)})", _estimate(gain)]
    return f"| {' | '.join([*cells, _number(row.usual)])} |"


def _estimate(estimate: Estimate) -> str:
    ends = estimate.interval
    interval_text = "" if ends is None else f" [{_number(ends[0])}, {_number(ends[1])}]"
    return f"{_number(estimate.value)}{interval_text}"


def _number(value: float | None) -> str:
    if value is None:
        return ""
    text = f"{value:.2f}".replace("-0.00", "0.00")
    return text if abs(value) >= 1 else text.replace("0.", ".", 1)


HEAD = (
    "| player | game | contests | takes the best reply (null) | difference | takes what it expects "
    "of others (null) | difference | its habit |\n|---|---|---|---|---|---|---|---|"
)

# --- the picture ----------------------------------------------------------------------------------

LEFT, WIDE, GAP, TOP, STEP = 360, 210, 40, 58, 19
BLUE, ORANGE, INK, GREY = "#0b6e99", "#b4541a", "#333", "#999"


def picture(rows: Sequence[ContestRow]) -> str:
    """Return the picture: for each player both shares, with the nulls as grey bars."""
    width, height = LEFT + 2 * WIDE + GAP + 20, TOP + STEP * len(rows) + 48
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        'font-family="sans-serif" font-size="11">',
        "<title>What people and models do where the best reply is not what they expect of others"
        "</title>",
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]
    lefts = (LEFT, LEFT + WIDE + GAP)
    titles = ("take the best reply", "take what they expect of others")
    bottom = TOP + STEP * len(rows)
    for left_edge, title in zip(lefts, titles, strict=True):
        parts.append(_text(left_edge + WIDE / 2, TOP - 26, title, "middle", "bold"))
        for tick in (0, 0.25, 0.5, 0.75, 1):
            x = left_edge + tick * WIDE
            parts.append(f'<path d="M{x:.1f} {TOP - 12}V{bottom}" stroke="#e4e4e4"/>')
            parts.append(_text(x, bottom + 15, f"{tick:g}", "middle"))
    for number, row in enumerate(rows):
        y = TOP + STEP * number
        parts.append(_text(LEFT - 12, y + 4, f"{row.player}, {row.game}", "end"))
        pairs = ((row.best, row.best_null), (row.expected, row.expected_null))
        for left_edge, colour, (estimate, null) in zip(lefts, (BLUE, ORANGE), pairs, strict=True):
            parts += _mark(left_edge, y, colour, estimate, null, "full" in row.player)
    note = "Dot: share of contests, with its 95% interval; ring: full record; bar: null."
    parts += [_text(LEFT, bottom + 36, note, "start"), "</svg>"]
    return "\n".join(parts) + "\n"


def _mark(
    left_edge: float, y: float, colour: str, estimate: Estimate, null: float | None, is_full: bool
) -> Iterator[str]:
    if estimate.interval is not None:
        low, high = (left_edge + end * WIDE for end in estimate.interval)
        yield f'<path d="M{low:.1f} {y}H{high:.1f}" stroke="{colour}" opacity="0.6"/>'
    if null is not None:
        x = left_edge + null * WIDE
        yield f'<path d="M{x:.1f} {y - 6}V{y + 6}" stroke="{GREY}" stroke-width="3"/>'
    x = left_edge + (estimate.value or 0.0) * WIDE
    fill = "white" if is_full else colour
    yield f'<circle cx="{x:.1f}" cy="{y}" r="4" fill="{fill}" stroke="{colour}"/>'


def _text(x: float, y: float, text: str, anchor: str, weight: str = "normal") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-weight="{weight}" '
        f'fill="{INK}">{escape(text)}</text>'
    )


def main() -> None:
    """Print the table, and draw the picture if a file is named."""
    people = [*full_records(), *sample_rows()]
    order = {name: n for n, name in enumerate(NAMES.values())}
    people.sort(key=lambda row: order[row.game])
    models = [row for model in MODELS for row in model_rows(model)]
    models.sort(key=lambda row: order[row.game])
    print(HEAD)
    for row in (*people, *models):
        print(line(row))
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(picture([*people, *models]), "utf-8")


if __name__ == "__main__":
    main()
