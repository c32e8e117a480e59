"""Contrasts of one player under two conditions: probed or not, in one wording or another.

Two episodes form a pair if the same player met the same problem, seed and other players under both
conditions. Intervals, tests and equivalence are those of `sally.analysis.compare.compare`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Literal

import msgspec
import polars as pl

from sally.analysis.compare.compare import (
    KNOWING,
    SCORED,
    SEED,
    WORDS,
    Comparison,
    Group,
    Scores,
    adjust_p_values,
    family,
    game_and_seat,
    seat_scores,
    word_of,
)
from sally.core.errors import BadInput, join_names
from sally.core.log.events import PlayerSpec, Setup, label
from sally.core.registry.packs import pack_name
from sally.core.rules.awareness import WHAT_IS_THIS
from sally.frames.frame import Frame
from sally.frames.rows import setup_of

Of = Literal["asked", "twin", "packs", "aware"]
Condition = Callable[[Setup, str], str | None]  # (setup, seat) -> condition; None: neither
NOT_ASKED, OWN_WORDS, A_GAME = "not asked", "the game's own words", "taken for: game"
TWIN = "_twin"  # suffix of the words packs that describe the other player as a mechanism


class Contrast(msgspec.Struct, frozen=True):
    """The difference between a condition and its base for one player and one metric, over pairs of
    episodes."""

    condition: str
    base: str
    comparison: Comparison


def asked_or_not(setup: Setup, seat: str) -> str | None:
    """Return the condition of a seat: its probes, and whether its own answers are shown to it."""
    arm = setup.arms.get(seat, ())
    sees_own = any(i.seat == seat and i.source == "own" for i in setup.injections)
    suffix = ", own answers shown" if sees_own else ""
    return f"asked {join_names(arm, 'and')}{suffix}" if arm else NOT_ASKED


def wording(setup: Setup, seat: str) -> str | None:
    """Return the words pack that a seat reads; None for a bot, which reads nothing."""
    player = setup.lineup[seat]
    if player.player != "language":
        return None
    return pack_name(str(player.params.get("pack", ""))) or OWN_WORDS


def twin_or_not(setup: Setup, seat: str) -> str | None:
    """Return the seat's words pack if it is the game's own pack or its twin, in which a mechanism
    replaces the other mind; else None."""
    pack = wording(setup, seat)
    return pack if pack is None or pack == OWN_WORDS or pack.endswith(TWIN) else None


CONDITIONS: dict[Of, tuple[Condition | None, str]] = {  # None: by the answer to a probe
    "asked": (asked_or_not, NOT_ASKED),
    "twin": (twin_or_not, OWN_WORDS),
    "packs": (wording, OWN_WORDS),
    "aware": (None, A_GAME),
}


def contrast(
    frame: Frame,
    of: Of,
    *,
    metrics: Sequence[str] = (),
    by_player: bool = False,
    margin: float | None = None,
) -> list[Contrast]:
    """Compare every condition with its base, game by game; all comparisons are adjusted as one
    family.

    Raises:
        BadInput: If no player met the same setting under two conditions.
    """
    base = CONDITIONS[of][1]
    scores, conditions = _scores(frame, of, metrics, by_player)
    compared: list[tuple[str, Comparison]] = []
    for condition in sorted(conditions - {base}):
        for comparison in _family(scores, condition, base, margin):
            # an unprobed seat reports nothing
            if of != "asked" or comparison.metric not in KNOWING:
                compared.append((condition, comparison))
    if not compared:
        raise BadInput(
            f"No player met the same setting under both conditions: "
            f"{_missing(of, conditions, base)}."
        )
    final = adjust_p_values([comparison for _, comparison in compared])
    return [
        Contrast(condition, base, comparison)
        for (condition, _), comparison in zip(compared, final, strict=True)
    ]


def _family(scores: Scores, condition: str, base: str, margin: float | None) -> list[Comparison]:
    shared = {g: by for g, by in scores.items() if condition in by and base in by}
    try:
        return family(shared, condition, base, margin, SEED, unpaired=False) if shared else []
    except BadInput:  # the same game, but never the same setting
        return []


def _missing(of: Of, conditions: set[str], base: str) -> str:
    run = {
        "asked": "--unasked",
        "twin": "--packs twin",
        "packs": "--packs all",
        "aware": "--packs aware --aware",
    }[of]
    stored = join_names(sorted(conditions)) if conditions else "no language model"
    return f"the store holds {stored}, the base is {base}; `sally run STUDY {run}` plays the rest"


def _scores(
    frame: Frame, of: Of, metrics: Sequence[str], by_player: bool
) -> tuple[Scores, set[str]]:
    rows = frame.seats("number", "game", "seat", "setup", *SCORED).with_row_index("at")
    rows = _with_condition(frame, rows, of).filter(pl.col("condition").is_not_null())
    scores: Scores = {}
    for row, metric, score in seat_scores(frame, rows, metrics):
        player, strategy = _player_and_way(row["setup"], row["seat"])
        group = Group(row["game"], row["seat"], player if by_player else "", metric)
        score = msgspec.structs.replace(score, strategy=strategy)
        scores.setdefault(group, {}).setdefault(row["condition"], []).append(score)
    return scores, set(rows["condition"])


def _with_condition(frame: Frame, rows: pl.DataFrame, of: Of) -> pl.DataFrame:
    """Return the rows with the condition of each; null where it is neither of the two."""
    condition = CONDITIONS[of][0]
    if condition is None:
        answers = frame.decisions().filter(
            (pl.col("probe") == WHAT_IS_THIS) & pl.col("value").is_not_null()
        )
        first = answers.unique(["number", "seat"], keep="first", maintain_order=True)
        beliefs = first.select(
            "number", "seat", condition=pl.format("taken for: {}", pl.col("value"))
        )
        return rows.join(beliefs, on=["number", "seat"], how="left", maintain_order="left")
    kinds = rows.select("setup", "seat").unique(maintain_order=True)
    conditions = [condition(setup_of(setup), seat) for setup, seat in kinds.rows()]
    kinds = kinds.with_columns(pl.Series("condition", conditions, dtype=pl.String))
    return rows.join(kinds, on=["setup", "seat"], how="left", maintain_order="left")


@lru_cache(maxsize=4096)
def _player_and_way(text: str, seat: str) -> tuple[str, str]:
    """Return a seat's player without its words pack, and with everything else it was told."""
    setup = setup_of(text)
    player = label(without_pack(setup.lineup[seat]))
    injected = [msgspec.json.encode(i).decode() for i in setup.injections if i.source != "own"]
    return player, " ".join([player, *injected])


def without_pack(player: PlayerSpec) -> PlayerSpec:
    """Return a player's specification without its words pack."""
    params = {key: value for key, value in player.params.items() if key != "pack"}
    return msgspec.structs.replace(player, params=params)


def conclusion(contrasts: Sequence[Contrast]) -> list[str]:
    """Return one sentence for each condition with its verdicts."""
    sentences, comparisons = [], [c.comparison for c in contrasts]
    for condition in dict.fromkeys(c.condition for c in contrasts):
        parts = []
        for word in SAID:
            places = dict.fromkeys(
                f"{game_and_seat(c.comparison, comparisons)} ({c.comparison.metric})"
                for c in contrasts
                if c.condition == condition and said_of(c.comparison) == word
            )
            if places:
                parts.append(f"{word} in {join_names(places)}")
        sentences.append(f"{condition}, against {contrasts[0].base}: {'; '.join(parts)}.")
    return sentences


IDENTICAL = "identical"
SAID = (IDENTICAL, *(brief for _, brief in WORDS.values()))


def said_of(c: Comparison) -> str:
    """Return the verdict in words; pairs that never differ are called identical."""
    if c.alike and not c.difference.value:
        return IDENTICAL
    return WORDS[word_of(c)][1]
