"""Figures of kahn2026: forecasts of the opponent's rung, beside the rung that it took last.

A *clean* forecast is one that was read, of a move that the opponent chose. Moves that were not read
or were accidents never count as a model's own.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sally.games.elicitation.recorded_decisions import CHOSEN
from sally.papers.belief_records import BeliefRecord, Figures, count, mean, plain
from sally.stats import belief_measures as measures
from sally.stats.columns import Floats

SURE = ("high", "medium")
MODELS = {"gpt": "GPT-5.2", "claude": "Claude Sonnet 4", "gemini": "Gemini 3 Flash"}


def figures(records: Sequence[BeliefRecord]) -> Figures:
    """Return all figures of the record."""
    rows = [record.row for record in records]
    facts = [record.facts["crisis"] for record in records]
    game = np.array([str(row.cluster) for row in rows])
    ladder = {rung: place for place, rung in enumerate(rows[0].menu or ())}
    forecast = _places(ladder, [row.beliefs[0].value for row in rows])
    recorded = _places(ladder, [fact["opponent"] for fact in facts])
    truth = _places(ladder, [row.beliefs[0].truth for row in rows])
    own_places = _places(ladder, [row.action for row in rows])
    right = np.where(np.isnan(forecast) | np.isnan(recorded), 0.0, forecast == recorded)
    clean = ~np.isnan(forecast) & ~np.isnan(truth)
    hits = np.where(clean, (forecast == truth).astype(float), np.nan)
    n = int(clean.sum())
    counts = np.unique(truth[clean], return_counts=True)[1]
    away = np.where(clean, forecast - truth, np.nan)
    result: Figures = {
        "forecasts": count(len(rows)),
        "right, all": mean(right, game),
        "clean forecasts": count(n),
        "right, clean": mean(hits, game),
        "constant": plain(float(counts.max() / n), n),
        "within one rung": mean(np.where(clean, np.abs(away) <= 1, np.nan).astype(float), game),
        "bias in rungs": mean(away, game),
    }
    last = _last_moves(records, truth)
    later = clean & ~np.isnan(last)
    is_repeat = np.where(later, (last == truth).astype(float), np.nan)
    result |= {
        "from turn 2: forecasts": count(int(later.sum())),
        "from turn 2: right": mean(np.where(later, hits, np.nan), game),
        "from turn 2: opponent's last move": mean(is_repeat, game),
        "from turn 2: difference": mean(np.where(later, hits - is_repeat, np.nan), game),
    }
    model = np.array([_model(str(row.model)) for row in rows])
    chosen = np.array([row.status == CHOSEN for row in rows])
    value = np.array([fact["value"] for fact in facts], float)
    signal = np.array([np.nan if fact["signal"] is None else fact["signal"] for fact in facts])
    is_kept = np.where(np.isnan(signal), 0.0, signal == value)
    for name in dict.fromkeys(model.tolist()):
        is_model = model == name
        result[f"{name}: right, clean"] = mean(np.where(is_model, hits, np.nan), game)
        result[f"{name}: clean forecasts"] = count(int((clean & is_model).sum()))
        result[f"{name}: signal is the act, as recorded"] = mean(
            np.where(is_model, is_kept, np.nan), game
        )
        result[f"{name}: signal is the act, own moves"] = mean(
            np.where(is_model & chosen & ~np.isnan(signal), is_kept, np.nan), game
        )
    stated = np.array([fact["confidence"] for fact in facts])
    for level in SURE:
        sure = clean & (stated == level)
        result[f"{level} confidence: forecasts"] = count(int(sure.sum()))
        result[f"{level} confidence: right"] = mean(np.where(sure, hits, np.nan), game)
    is_counted = clean & chosen
    if is_counted.sum() > 3:
        codes = np.unique(game[is_counted], return_inverse=True)[1]
        columns = [column[is_counted] for column in (forecast, own_places, truth)]
        plain_r = measures.projection(*columns)
        centred = [
            column - (np.bincount(codes, column) / np.bincount(codes))[codes] for column in columns
        ]
        within = measures.projection(*centred)
        result |= {
            "r of forecast and own act": plain(plain_r.own, int(is_counted.sum())),
            "r of forecast and opponent's act": plain(plain_r.others, int(is_counted.sum())),
            "r of forecast and own act, partial within game": plain(
                within.own_partial, int(is_counted.sum())
            ),
            "r of forecast and opponent's act, partial within game": plain(
                within.others_partial, int(is_counted.sum())
            ),
        }
    return result


def _model(name: str) -> str:
    """Return the name of a model as the tables have it."""
    return next((full for part, full in MODELS.items() if part in name.casefold()), name)


def _places(ladder: dict[str, int], rungs: Sequence[object]) -> Floats:
    """Return rungs by their place on the ladder; NaN if there is none."""
    return np.array([float(ladder[str(rung)]) if rung is not None else np.nan for rung in rungs])


def _last_moves(records: Sequence[BeliefRecord], truth: Floats) -> Floats:
    """Return, by forecast, what the opponent did in the turn before; NaN if that is unknown."""
    by_turn = {
        (record.row.person, record.row.period): place
        for record, place in zip(records, truth, strict=True)
    }
    return np.array(
        [
            by_turn.get((record.row.person, (record.row.period or 0) - 1), np.nan)
            for record in records
        ]
    )
