"""Why a number of a profile is blank, in a few words."""

from __future__ import annotations

from typing import Any, Protocol

from sally.analysis.columns.measured_table import Table
from sally.core.registry import registry


class Rowlike(Protocol):
    """What is asked of a row here: its game, its best mindless predictor, its estimates."""

    @property
    def game(self) -> str: ...
    @property
    def predictor(self) -> Any: ...


def reasons(row: Rowlike, group: Table, no_doing: str, no_regret: str) -> dict[str, str]:
    """By blank field, the reason."""
    asked, chosen = (int(group.of(name).sum()) for name in ("asked", "scored"))
    no_answer = _no_answer(group, asked)
    no_split = _no_split(row.game, no_answer, bool(chosen or not asked))
    no_skill = no_answer if not asked or chosen else "only values were asked for"
    no_odds = "no odds were stated" if asked else no_answer
    found = {
        "accuracy": no_skill,
        "skill": no_skill,
        "beyond": _no_beyond(row) if row.predictor is not None else no_skill,
        "brier": no_odds,
        "brier_skill": no_odds,
        "brier_beyond": no_odds,
        "value_error": "no values were asked for that have a known truth",
        "raw": "no episode has a result",
        "doing": no_doing,
        "doing_most": no_doing or "the most that was possible is not known",
        "regret": no_regret,
        "consistency": no_split,
        "acting": no_split if not group.of("n").any() else "moves are free text",
        "inference": no_split,
        "translation": no_split,
        "luck": no_split,
        "format": f"what a forfeited move costs is not known in {row.game}",
    }
    return {name: why for name, why in found.items() if getattr(row, name).value is None}


def _no_answer(group: Table, asked: int) -> str:
    if not asked:
        kinds = (group.shared[kind] for kind in group.kinds())
        silent = any(shared.setup.arms.get(shared.seat) for shared in kinds)
        return "it takes no such question" if silent else "nothing was asked about another's mind"
    unread = int(group.of("unread").sum()) == asked
    return "no answer could be read" if unread else "no answer has a known truth"


def _no_split(game: str, no_answer: str, scored: bool) -> str:
    spec = registry.game(game)
    if spec.doing.no_split:
        return spec.doing.no_split
    own = registry.room(game, "losses") or registry.room(game, "acting")
    if spec.best_replies is None and own is None:
        return f"{game} does not say what the best replies are"
    return "no decision has a prediction that can be scored" if scored else no_answer


def _no_beyond(row: Rowlike) -> str:
    rule, right = row.predictor.rule, row.predictor.accuracy
    return f"nothing is left to know: '{rule}' foresees {right:.0f} %"
