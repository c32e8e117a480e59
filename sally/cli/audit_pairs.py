"""`sally audit GAME --pairs`: the certificate of a game's pairs, one line a recipe and order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from sally.analysis.pairs.audit import AnswererScore, PairAudit, audit_pairs
from sally.core.terminal_text import echo
from sally.output.tables.console import print_json, print_table, print_text, progress

LEGEND = (
    "certified: pairs for which every clause of the certificate holds; same words: pages of both "
    "members consist of the same words; worst rule: the mindless rule (the random player included) "
    "with the largest |J|; reasoner: J of the reasoner of that order, below: of lower ones; "
    "learner: the largest |J| of a learner trained on the pages of other pairs, with its interval."
)


def print_pair_audit(game: str, count: int, seed: int, learners: bool, as_json: bool) -> None:
    """Print the audit of the pairs of a game."""
    with progress() as bar:
        task = bar.add_task(f"audit pairs of {game}", total=None, note="")
        audits = audit_pairs(
            game,
            count,
            seed,
            count if learners else 0,
            lambda name: bar.update(task, note=name),
        )
    if as_json:
        print_json(msgspec.to_builtins(audits))
        return
    rows = [_row(audit) for audit in audits]
    names = ("pairs", "order", "n", "certified", "same words", "worst rule", "below", "reasoner")
    print_table(rows, (*names, "learner") if learners else names, title=f"{game}: certified pairs")
    for audit in audits:
        for problem, number in audit.problems.items():
            print_text(f"{audit.title}, order {audit.order}, {number} pairs: {problem}.")
        for score in (*audit.rules, *audit.learners):
            if score.is_away_from_zero:
                echo(
                    f"away from 0: {audit.title}, order {audit.order}: {score.answerer} "
                    f"({score.question}) J {_cell(score)}"
                )
    print_text(LEGEND)


def _row(audit: PairAudit) -> dict[str, Any]:
    at_order = [s for s in audit.reasoners if s.answerer.endswith(f" {audit.order}")]
    below = [s for s in audit.reasoners if s not in at_order]
    return {
        "pairs": audit.title,
        "order": audit.order,
        "n": audit.pairs,
        "certified": audit.certified,
        "same words": audit.same_words,
        "worst rule": _cell(_largest(audit.rules)),
        "below": _cell(_largest(below)) if below else "-",
        "reasoner": _cell(min(at_order, key=lambda score: score.j.value or 0.0)),
        "learner": _cell(_largest(audit.learners)) if audit.learners else "-",
    }


def _largest(scores: Sequence[AnswererScore]) -> AnswererScore:
    return max(scores, key=lambda score: abs(score.j.value or 0.0))


def _cell(score: AnswererScore) -> str:
    interval = "" if score.j.interval is None else f" [{score.j.low:.2f}, {score.j.high:.2f}]"
    return f"{score.j.value:.2f}{interval}"
