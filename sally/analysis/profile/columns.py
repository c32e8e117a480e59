"""The columns of a profile, each declared once: how it is computed, named and explained.

Console, report page, CSV, LaTeX, JSON and legends are made from `COLUMNS`. A new column is one more
entry.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf

from sally.analysis.profile.estimates import or_missing
from sally.analysis.profile.group import ProfileGroup
from sally.frames.schema import Column
from sally.stats.intervals import Estimate


@dataclass(frozen=True, kw_only=True)
class ProfileColumn(Column):
    """A column of a profile."""

    estimate: Callable[[ProfileGroup], Estimate]
    why: Callable[[ProfileGroup], str]  # why it has no value
    has_reason_of_other: bool = False  # the reason is given with another column
    is_brief: bool = False  # whether it is in the short table
    only_if_repeated: bool = False  # shown only where questions were asked twice
    only_if_lost: bool = False  # shown only where moves were forfeited or episodes censored


COLUMNS: tuple[ProfileColumn, ...] = (
    ProfileColumn(
        "accuracy", "knowing %", "%", 0, "higher",
        "predictions about others that were right, of all answers of the row "
        "(`sally score` has the mean over episodes, ToM %)",
        estimate=lambda g: g.means.share(100 * g.of("right"), g.of("scored"), largest=100.0),
        why=lambda g: g.no_skill,
        is_brief=True,
    ),
    ProfileColumn(
        "skill", "knowing", "", 2, "higher",
        "the same, 0 for a uniform guess and 1 if all are right",
        estimate=lambda g: g.skills.skill,
        why=lambda g: g.no_skill,
        is_brief=True,
    ),
    ProfileColumn(
        "beyond", "beyond rules", "", 2, "higher",
        "the same, 0 for the best of three fixed rules (as last time, the player's own last move, "
        "always the same); no evidence of knowing, because a table of what followed exceeds them",
        estimate=lambda g: g.skills.beyond,
        why=lambda g: g.no_beyond,
    ),
    ProfileColumn(
        "beyond_learning", "beyond learning rules", "", 2, "higher",
        "the same, 0 for the best of all simple rules, some of which learn what followed; chosen "
        "in other instances than those scored, with the interval beyond the best in all of them",
        estimate=lambda g: g.skills.beyond_learning,
        why=lambda g: g.no_beyond_learning,
    ),
    ProfileColumn(
        "brier", "Brier", "", 2, "lower",
        "squared error of stated odds, mean over episodes",
        estimate=lambda g: g.means.mean(g.of("brier") / or_missing(g.of("with_odds")), (0.0, 2.0)),
        why=lambda g: g.no_odds,
    ),
    ProfileColumn(
        "brier_skill", "Brier skill", "", 2, "higher",
        "the same, 0 for even odds and 1 for certain and right",
        estimate=lambda g: g.skills.brier_skill,
        why=lambda g: g.no_odds,
        has_reason_of_other=True,
    ),
    ProfileColumn(
        "brier_beyond", "Brier beyond", "", 2, "higher",
        "the same, 0 for the frequencies of the answers",
        estimate=lambda g: g.skills.brier_beyond,
        why=lambda g: g.no_odds,
        has_reason_of_other=True,
    ),
    ProfileColumn(
        "value_error", "value error", "", 2, "lower",
        "distance of stated values from the truth",
        estimate=lambda g: g.means.mean(
            g.of("value_error") / or_missing(g.of("valued")), (0.0, inf)
        ),
        why=lambda g: "no values were asked for that have a known truth",
        has_reason_of_other=True,
    ),
    ProfileColumn(
        "doing", "doing", "", 2, "higher",
        "0 for a random player, 1 for the optimum or the reference player, on the same instances "
        "with the same random draws and other players; forfeited moves as the rules score them",
        estimate=lambda g: g.doing.doing,
        why=lambda g: g.doing.why,
        is_brief=True,
    ),
    ProfileColumn(
        "doing_most", "at most", "", 2, "higher",
        "doing if forfeited moves had earned the most they could",
        estimate=lambda g: g.doing.doing_most,
        why=lambda g: g.doing.why or "the most that was possible is not known",
        has_reason_of_other=True,
        only_if_lost=True,
    ),
    ProfileColumn(
        "raw", "as scored", "", None, "",
        "score in its own unit, forfeited moves as the rules score them",
        estimate=lambda g: g.means.mean(g.of("least"), g.bounds),
        why=lambda g: "no episode has a result",
        is_brief=True,
    ),
    ProfileColumn(
        "regret", "regret", "", 2, "lower",
        "distance to the optimum or the reference player, in the unit of the score",
        estimate=lambda g: g.doing.regret,
        why=lambda g: g.doing.why_regret,
        is_brief=True,
    ),
    ProfileColumn(
        "consistency", "acts on it %", "%", 0, "higher",
        "moves that are best replies to the player's own prediction, of all moves of the row "
        "(`sally score` has the mean over episodes, action_consistency)",
        estimate=lambda g: g.means.share(100 * g.of("fits"), g.of("n"), largest=100.0),
        why=lambda g: g.no_split,
        is_brief=True,
    ),
    ProfileColumn(
        "acting", "acting", "", 2, "higher",
        "the same, 0 for a random choice and 1 for always; in repeated games best replies are "
        "those of the optimal plan, which nobody was asked for, so it changes with the accuracy of "
        "the predictions; claims use *acting by contrast*",
        estimate=lambda g: g.means.ratio(
            g.of("weighed_fits") - g.of("chance"), or_missing(g.of("weighed") - g.of("chance"))
        ),
        why=lambda g: "moves are free text" if g.of("n").any() else g.no_split,
        is_brief=True,
    ),
    ProfileColumn(
        "acting_contrast", "acting by contrast", "", 2, "higher",
        "best replies to the player's own forecast of the next round, less those of its moves "
        "after forecasts of the same episode that call for other moves: 0 if moves do not depend "
        "on forecasts, right or wrong, 1 if they always follow them; without a value where the "
        "best reply is always to copy the forecast, because copying is no reply, and where the "
        "same forecast has other best replies in each round, because random forecasts would fit",
        estimate=lambda g: g.means.ratio(
            g.of("contrast"), or_missing(g.of("contrasted")), (-1.0, 1.0)
        ),
        why=lambda g: g.no_contrast,
    ),
    ProfileColumn(
        "acting_beyond", "beyond habits", "", 2, "higher",
        "the same, 0 for the habit that explains most of it (one label, one position, the "
        "predicted label, or a simple rule of the other's moves), by exchanging moves between "
        "instances; read it one-sidedly, because below 0 it means nothing: a habit alone may be "
        "there",
        estimate=lambda g: g.habits.acting_beyond,
        why=lambda g: g.no_acting_beyond,
    ),
    ProfileColumn(
        "acting_beyond_move", "beyond one move", "", 2, "higher",
        "the same, with always the same move among the habits; below 0 it means nothing",
        estimate=lambda g: g.habits.acting_beyond_move,
        why=lambda g: g.no_split if g.habits.habit is None else "one move explains all of it",
    ),
    ProfileColumn(
        "acting_beyond_repetition", "beyond repetition", "", 2, "higher",
        "the same, with the simple rules that repeat the player's own move (its last move; win "
        "stay, lose shift) among the habits, too; below 0 it means nothing",
        estimate=lambda g: g.habits.acting_beyond_repetition,
        why=lambda g: g.no_split
        if g.habits.habit is None
        else "one move, or its own last move, explains all of it",
    ),
    ProfileColumn(
        "reliability", "reliability", "", 2, "higher",
        "agreement of two answers to the same question, 0 by chance and 1 always; the second "
        "asking lists the answers in reversed order (`--ask-again`)",
        estimate=lambda g: g.retest.reliability,
        why=lambda g: g.retest.why,
        only_if_repeated=True,
    ),
    ProfileColumn(
        "skill_corrected", "knowing, disattenuated", "", 2, "higher",
        "knowing if every report were the player's belief: some are random answers, as two answers "
        "to the same question show",
        estimate=lambda g: g.retest.skill,
        why=lambda g: g.retest.why,
        only_if_repeated=True,
    ),
    ProfileColumn(
        "acting_corrected", "acting, disattenuated", "", 2, "higher",
        "acting by contrast if every report were the player's belief",
        estimate=lambda g: g.retest.acting,
        why=lambda g: g.retest.why or (g.no_contrast if g.of("twice").any() else ""),
        only_if_repeated=True,
    ),
    ProfileColumn(
        "pooled_label_bias", "label bias", "", 2, "",
        "moves with the favourite label, 0 for a random choice and 1 for always",
        estimate=lambda g: g.habits.pooled_label_bias,
        why=lambda g: g.no_keys(),
    ),
    ProfileColumn(
        "pooled_position_bias", "position bias", "", 2, "",
        "moves at the favourite position, 0 for a random choice and 1 for always",
        estimate=lambda g: g.habits.pooled_position_bias,
        why=lambda g: g.no_keys(),
        has_reason_of_other=True,
    ),
    ProfileColumn(
        "pooled_imitation", "imitates %", "%", 0, "",
        "moves with the label that the player predicted of the other",
        estimate=lambda g: g.habits.pooled_imitation,
        why=lambda g: g.no_keys("no label was predicted"),
    ),
    ProfileColumn(
        "pooled_copying", "copies %", "%", 0, "",
        "moves with the label of the other's last move",
        estimate=lambda g: g.habits.pooled_copying,
        why=lambda g: g.no_keys("no label of the other is known"),
        has_reason_of_other=True,
    ),
    ProfileColumn(
        "pooled_repetition", "repeats %", "%", 0, "",
        "moves with the label of the player's own last move",
        estimate=lambda g: g.habits.pooled_repetition,
        why=lambda g: g.no_keys("no episode has a second move"),
        has_reason_of_other=True,
    ),
    ProfileColumn(
        "inference", "inference", "", 2, "lower",
        "payoff lost by wrong predictions",
        estimate=lambda g: g.means.mean(g.of("inference")),
        why=lambda g: g.no_split,
    ),
    ProfileColumn(
        "translation", "translation", "", 2, "lower",
        "payoff lost by not acting on the player's own prediction",
        estimate=lambda g: g.means.mean(g.of("translation"), (0.0, inf)),
        why=lambda g: g.no_split,
    ),
    ProfileColumn(
        "format", "format", "", 2, "lower",
        "payoff lost by forfeited moves",
        estimate=lambda g: g.means.mean(g.of("format")),
        why=lambda g: f"what a forfeited move costs is not known in {g.game}",
        only_if_lost=True,
    ),
    ProfileColumn(
        "luck", "luck", "", 2, "",
        "payoff that moves against the player's own prediction happened to change",
        estimate=lambda g: g.means.mean(g.of("luck")),
        why=lambda g: g.no_split,
    ),
)  # fmt: skip


def column_named(field: str) -> ProfileColumn:
    """Return the column of a field."""
    return next(column for column in COLUMNS if column.field == field)
