"""Figures of the registered study knowing_doing, from its bundles, as Markdown tables.

    python benchmarks/knowing_doing.py docs/results/bundles/knowing_doing-*.sally.zip > FILE

Nothing is played. `benchmarks/knowing_doing_check.py` computes the same figures from the same
files without importing sally; docs/results/appendix/qwen.md holds what both print.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import numpy as np
import scipy.stats

from sally import store
from sally.analysis.profile.habits import expected_fits, expected_presses, presses_by_kind
from sally.analysis.profile.profile import ProfileRow, profile_of
from sally.core.match.playback import replay_episode
from sally.core.registry import registry
from sally.core.rules.game import Seat
from sally.core.rules.metric import Played
from sally.frames.measured_seat import measure
from sally.frames.profiles import SeatSums
from sally.metrics.habits import habits_of, key_presses
from sally.stats.intervals import Estimate
from sally.store.bundles import open_store

GAMES, STRATEGIES = ("rps", "ipd", "ibs"), ("lm", "social_lm")


PARTNERS = ("tit_for_tat", "cycler", "win_stay_lose_shift", "held_out")


class Model(msgspec.Struct, frozen=True):
    """The measured seats of one model."""

    all_seats: SeatSums
    depending: SeatSums  # primary cells, judged only where another prediction is met otherwise


def measure_model(path: Path) -> Model:
    """Return the measured seats of a bundle's model."""
    seats, depending = [], []
    with open_store(path) as (place, _):
        for episode in store.load(place, quarantine=False).episodes.values():
            spec = registry.game(episode.setup.instance.game)
            played = Played(spec, episode, replay_episode(spec, episode))
            (seat,) = [
                s for s, player in episode.setup.lineup.items() if player.player == "language"
            ]
            measured = measure(played, Seat(seat))
            seats.append(measured)
            if episode.cell.startswith("primary"):
                pressed = [
                    press if press.decides else msgspec.structs.replace(press, best=None)
                    for press in key_presses(played, Seat(seat))
                ]
                depending.append(msgspec.structs.replace(measured, habits=habits_of(pressed)))
    return Model(SeatSums.of_seats(seats), SeatSums.of_seats(depending))


def cells(table: SeatSums, prefix: str) -> SeatSums:
    """Return the rows of the cells whose names begin so."""
    kinds = [k for k in table.kinds() if table.shared[k].cell.startswith(prefix)]
    return table.take(np.isin(table.kind, kinds))


def row_of(table: SeatSums, prefix: str) -> ProfileRow | None:
    """Return the profile of the cells whose names begin so, as one row."""
    part = cells(table, prefix)
    if not len(part):
        return None
    (row,) = profile_of(part)
    return row


def figure(estimate: Estimate, places: int = 2) -> str:
    """Return a value with its interval; `-` without an interval."""
    if estimate.value is None or estimate.interval is None:
        return "-"
    value, low, high = (format_rounded(x, places) for x in (estimate.value, *estimate.interval))
    return f"{value} [{low}, {high}]"


def format_rounded(value: float, places: int) -> str:
    """Return a figure; what sums of floats add beyond nine places does not decide a half."""
    return f"{round(value, 9):.{places}f}"


def p_value(above: Sequence[float], below: Sequence[float], clusters: Sequence[str]) -> float:
    """Return the two-sided p of a ratio of sums against 0, clustered, from a t distribution."""
    names = sorted(set(clusters))
    place = {name: n for n, name in enumerate(names)}
    tops, bottoms = np.zeros(len(names)), np.zeros(len(names))
    for top, bottom, name in zip(above, below, clusters, strict=True):
        tops[place[name]] += top
        bottoms[place[name]] += bottom
    value = tops.sum() / bottoms.sum()
    away = tops - value * bottoms
    n_clusters = len(names)
    error = math.sqrt(n_clusters / (n_clusters - 1) * float((away**2).sum())) / abs(bottoms.sum())
    if error == 0:
        return 0.0 if value else 1.0
    return float(2 * scipy.stats.t.sf(abs(value) / error, n_clusters - 1))


def holm(ps: Sequence[float]) -> list[float]:
    """Return Holm's adjusted p values."""
    order = sorted(range(len(ps)), key=lambda n: ps[n])
    adjusted, running = [0.0] * len(ps), 0.0
    for rank, n in enumerate(order):
        running = max(running, min(1.0, (len(ps) - rank) * ps[n]))
        adjusted[n] = running
    return adjusted


def p_of_acting(table: SeatSums, prefix: str, beyond: str) -> float:
    """Return the p of acting in some cells against 0: beyond `habits`, or beyond a `blind` pick."""
    part = cells(table, prefix)
    judged, fits = part.of("judged"), part.of("judged_fits")
    expected = (
        expected_fits(part, expected_presses(presses_by_kind(part)))[0][1]
        if beyond == "habits"
        else part.of("by_blind")
    )
    ids = [part.shared[k].setup.instance.id for k in part.kind.tolist()]
    judged_rows = [n for n in range(len(part)) if judged[n]]
    if not judged_rows:
        return math.nan
    return p_value(
        [float(fits[n] - expected[n]) for n in judged_rows],
        [float(judged[n] - expected[n]) for n in judged_rows],
        [ids[n] for n in judged_rows],
    )


# --- tables ---------------------------------------------------------------------------------------


def table(heads: Sequence[str], lines: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield "|" + "---|" * len(heads)
    for line in lines:
        yield f"| {' | '.join(line)} |"
    yield ""


def said_p(p: float) -> str:
    return "-" if math.isnan(p) else "<.001" if p < 0.001 else f"{p:.3f}"


def knowing_line(row: ProfileRow) -> list[str]:
    rule = format_rounded(row.fixed_rule.accuracy, 1) if row.fixed_rule else "-"
    name = row.fixed_rule.rule if row.fixed_rule else "-"
    return [figure(row.accuracy, 1), rule, name, figure(row.beyond)]


def acting_line(row: ProfileRow) -> list[str]:
    due = row.judged + row.forfeits
    habit = format_rounded(row.habit.fits, 1) if row.habit else "-"
    name = row.habit.rule if row.habit else "-"
    itt = format_rounded(100 * row.judged_fits / due, 1) if due else "-"
    return [figure(row.consistency, 1), itt, habit, name, figure(row.acting_beyond)]


def primary(models: dict[str, Model]) -> Iterator[str]:
    knowing, acting, pressing = [], [], []
    for model, tables in models.items():
        all_seats = tables.all_seats
        for strategy in STRATEGIES:
            ps = {}
            for beyond in ("habits", "blind"):
                raw = [p_of_acting(all_seats, f"primary: {g}, {strategy},", beyond) for g in GAMES]
                defined = [p for p in raw if not math.isnan(p)]
                fixed = iter(holm(defined))
                ps[beyond] = [p if math.isnan(p) else next(fixed) for p in raw]
            for n, game in enumerate(GAMES):
                row = row_of(all_seats, f"primary: {game}, {strategy},")
                depending = row_of(tables.depending, f"primary: {game}, {strategy},")
                assert row is not None
                assert depending is not None
                row_head = [model, strategy, game]
                knowing.append([*row_head, str(row.episodes), *knowing_line(row)])
                acting.append([*row_head, *acting_line(row), said_p(ps["habits"][n]),
                               figure(row.acting), said_p(ps["blind"][n]),
                               figure(row.acting_beyond_repetition),
                               figure(depending.acting_beyond)])  # fmt: skip
                depends = "-" if row.decides is None else format_rounded(row.decides, 0)
                pressing.append([*row_head, figure(row.pooled_label_bias),
                                 figure(row.pooled_position_bias),
                                 figure(row.pooled_imitation, 1), figure(row.pooled_copying, 1),
                                 figure(row.pooled_repetition, 1), depends,
                                 str(row.forfeits), row.called or "-"])  # fmt: skip
    yield "Knowing, primary cells:\n"
    yield from table(("model", "strategy", "game", "n", "right %", "best rule %", "rule",
                      "beyond rules"), knowing)  # fmt: skip
    yield "Acting, primary cells:\n"
    yield from table(("model", "strategy", "game", "fits %", "fits %, ITT", "habit %", "habit",
                      "beyond habits", "p (Holm)", "beyond a blind pick", "p (Holm)",
                      "beyond repetition", "where it depends"), acting)  # fmt: skip
    yield "Habits, primary cells:\n"
    yield from table(("model", "strategy", "game", "label bias", "position bias", "imitates %",
                      "copies %", "repeats %", "depends %", "forfeits of 2,880", "constant habit"),
                     pressing)  # fmt: skip


def partners(models: dict[str, Model]) -> Iterator[str]:
    lines = []
    for model, tables in models.items():
        for strategy in STRATEGIES:
            for game in GAMES:
                for partner in PARTNERS:
                    row = row_of(tables.all_seats, f"primary: {game}, {strategy}, {partner}")
                    assert row is not None
                    lines.append([model, strategy, game, partner, figure(row.beyond),
                                  figure(row.consistency, 1), figure(row.acting_beyond),
                                  figure(row.acting_beyond_repetition),
                                  figure(row.regret, 3)])  # fmt: skip
    yield "Primary cells by partner:\n"
    yield from table(("model", "strategy", "game", "partner", "beyond rules", "fits %",
                      "beyond habits", "beyond repetition", "regret"), lines)  # fmt: skip


ARMS = ("lm calibrated", "qa", "lm not asked", "lm twin", "social_lm twin", "oracle", "oracle_max")


def secondary(models: dict[str, Model]) -> Iterator[str]:
    lines = []
    for model, tables in models.items():
        all_seats = tables.all_seats
        for arm in ARMS:
            for game in GAMES:
                row = row_of(all_seats, f"secondary: {game}, {arm},")
                if row is not None:
                    lines.append(_arm_line(model, arm, row))
        for strategy in STRATEGIES:
            for game in GAMES:
                row = row_of(all_seats, f"secondary: {game}, {strategy}, constant")
                if row is not None:
                    lines.append(_arm_line(model, f"{strategy}, constant partner", row))
    yield "Arms, secondary cells:\n"
    yield from table(("model", "arm", "game", "n", "right %", "beyond rules", "fits %",
                      "beyond habits", "label bias", "imitates %", "reward per round", "regret",
                      "forfeits"), lines)  # fmt: skip


def _arm_line(model: str, arm: str, row: ProfileRow) -> list[str]:
    return [model, arm, row.game, str(row.episodes), figure(row.accuracy, 1), figure(row.beyond),
            figure(row.consistency, 1), figure(row.acting_beyond), figure(row.pooled_label_bias),
            figure(row.pooled_imitation, 1), figure(row.raw, 3), figure(row.regret, 3),
            str(row.forfeits)]  # fmt: skip


def levels(models: dict[str, Model]) -> Iterator[str]:
    """Hide and seek by the hider's depth, and certified scenarios by depth."""
    lines = []
    for model, tables in models.items():
        all_seats = tables.all_seats
        for strategy in ("lm", "social_lm", "qa"):
            for game, level in (("hide_and_seek", "level"), ("toma_po", "depth")):
                for k in range(4):
                    row = row_of(all_seats, f"secondary: {game}, {strategy}, {level} {k}")
                    if row is not None:
                        lines.append([model, strategy, game, f"{level} {k}", str(row.episodes),
                                      figure(row.raw), str(row.forfeits)])  # fmt: skip
    yield "Depths, secondary cells:\n"
    yield from table(("model", "strategy", "game", "against", "n", "did, ITT",
                      "forfeits"), lines)  # fmt: skip


def main() -> None:
    models = {}
    for name in sys.argv[1:]:
        models[Path(name).name.removeprefix("knowing_doing-").removesuffix(".sally.zip")] = (
            measure_model(Path(name))
        )
    for part in (primary, partners, secondary, levels):
        for line in part(models):
            print(line)


if __name__ == "__main__":
    main()
