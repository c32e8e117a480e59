"""Checklist for claims: which claims about a player the episodes of a store support.

Three claims are checked for each row of a profile, with the reasons against each:

- *knows*: predictions beyond every simple rule, those that learn included;
- *acts on*: moves that follow these predictions, beyond the player's own habits;
- *theory of mind*: both, where the control arms came out as they must (worse with a mechanism in
  place of the mind, the same in other words), and pairs of positions certify an order of reasoning
  that no table of what followed and no short rule can reach.

Where the best bot of a game is refused a claim too, nobody can show it there. A claim that is not
refused may still be wrong: the checklist covers some simple explanations, not all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from sally.analysis.compare.compare import KNOWING
from sally.analysis.compare.contrast import TWIN, Of, contrast, said_of
from sally.analysis.profile.profile import ProfileRow
from sally.core.errors import BadInput, join_names
from sally.frames.frame import Frame
from sally.stats.intervals import FEW, Estimate

KNOWS, ACTS_ON, THEORY = "knows", "acts on", "theory of mind"
ARMS = {  # arm -> what its absence leaves open
    "labels": "labels and their order never change, so a key and its meaning cannot be told apart",
    "not asked": "no arm without questions, so the questions may have changed the play",
    "twin": "no arm with a mechanism instead of a mind (a words pack `*_twin`)",
}
HALF = 50.0  # percent of moves whose best reply depends on the prediction
NOT_HERE = "cannot be shown here"
ORDER = 2  # the least order of certified pairs that counts as reasoning about a mind
NOT_CERTIFIED = (
    f"no pairs of positions certify an order of {ORDER} or more that neither tables of what "
    "followed nor short rules solve"
)
Reasons = tuple[str, ...]


class Verdict(msgspec.Struct, frozen=True):
    """The claims about one player in one game that its episodes do not support, with reasons."""

    game: str
    seat: str
    cell: str
    part: str
    player: str
    episodes: int
    clusters: int
    refused: dict[str, Reasons]  # word -> reasons; empty: nothing speaks against it
    unshowable: Reasons = ()  # words that nobody can show in this game

    @property
    def allowed_claims(self) -> tuple[str, ...]:
        """The claims that no check refused."""
        return tuple(word for word, reasons in self.refused.items() if not reasons)

    def describe_claim(self, word: str) -> str:
        """Return what is said of a claim: refused, that it cannot be shown, or nothing."""
        if word in self.unshowable:
            return NOT_HERE
        return "refused" if self.refused[word] else ""


class Controls(msgspec.Struct, frozen=True):
    """What control arms and certified pairs say about one game."""

    arms: Reasons  # why the arms did not come out as they must
    order: int | None = None  # certified by pairs of this game; None: no result
    can_certify: bool = (
        True  # whether pairs need such an order, and no table and no short rule solves them
    )


def verdicts(
    rows: Sequence[ProfileRow],
    *,
    controls: Mapping[str, Controls] | None = None,
    best: Sequence[ProfileRow] = (),
) -> list[Verdict]:
    """Return, for each row of a profile, which claims its episodes do not support.

    Args:
        rows: The profile.
        controls: Results of the control arms and of certified pairs, by game.
        best: Rows of the best bot in the same games; what it cannot show, nobody can.
    """
    controls_by_game = controls or {}
    unshowable = {row.game: _unshowable(row, controls_by_game.get(row.game)) for row in best}
    return [
        _verdict(row, controls_by_game.get(row.game), unshowable.get(row.game, {})) for row in rows
    ]


def _verdict(row: ProfileRow, controls: Controls | None, unshowable: Mapping[str, str]) -> Verdict:
    knows, acts = _knows(row), _acts(row)
    first = [word for word, reasons in ((KNOWS, knows), (ACTS_ON, acts)) if reasons]
    theory: Reasons = ()
    if first:
        theory = (f"{join_names(first, 'and')} {'is' if len(first) == 1 else 'are'} refused",)
    theory += tuple(reasons for arm, reasons in ARMS.items() if arm not in row.arms)
    theory += controls.arms if controls is not None else ()
    if controls is None or not controls.can_certify or (controls.order or 0) < ORDER:
        theory += (NOT_CERTIFIED,)
    refused = {KNOWS: knows, ACTS_ON: acts, THEORY: theory}
    refused = {
        word: (f"{NOT_HERE}: {unshowable[word]}", *reasons) if word in unshowable else reasons
        for word, reasons in refused.items()
    }
    return Verdict(row.game, row.seat, row.cell, row.part, row.player, row.episodes,
                   row.cluster_count, refused, tuple(unshowable))  # fmt: skip


def _unshowable(best: ProfileRow, controls: Controls | None) -> dict[str, str]:
    """Return the claims that the best bot of a game does not earn, with the reason; none if there
    are too few clusters to tell."""
    if _few(best):
        return {}
    reasons = {KNOWS: _knows(best), ACTS_ON: _acts(best)}
    unshowable = {
        word: f"the best bot is refused it too ({refusals[0]})"
        for word, refusals in reasons.items()
        if refusals
    }
    if unshowable:
        unshowable[THEORY] = f"it needs {join_names(list(unshowable), 'and')}"
    elif controls is not None and not controls.can_certify:
        unshowable[THEORY] = (
            f"this game has no certified pairs of order {ORDER} or more that neither tables of "
            "what followed nor short rules solve"
        )
    return unshowable


def _knows(row: ProfileRow) -> Reasons:
    return (*_few(row), *_against_knowing(row))


def _acts(row: ProfileRow) -> Reasons:
    unknown = "the player is not shown to know anything that it could act on"
    return (*_few(row), *_against_acting(row), *([unknown] if _knows(row) else []))


# --- results of control arms ----------------------------------------------------------------------


class ArmResult(msgspec.Struct, frozen=True):
    """What an arm changed in one game, by one metric: this arm less the game's own words."""

    game: str
    metric: str
    is_twin: bool  # a mechanism in place of the mind; else another wording
    difference: Estimate
    verdict: str


def arm_results(frame: Frame) -> list[ArmResult]:
    """Return what other wordings and twins changed in these episodes."""
    kinds: tuple[Of, ...] = ("twin", "packs")
    results = []
    for kind in kinds:
        try:
            contrasts = contrast(frame, kind)
        except BadInput:
            continue  # no two arms have the same problems; the missing arm is a reason of its own
        for compared in contrasts:
            is_twin, comparison = compared.condition.endswith(TWIN), compared.comparison
            if is_twin == (kind == "twin"):
                result = (
                    comparison.game,
                    comparison.metric,
                    is_twin,
                    comparison.difference,
                    said_of(comparison),
                )
                results.append(ArmResult(*result))
    return results


def arm_reasons(results: Sequence[ArmResult], game: str) -> Reasons:
    """Return why the control arms of a game did not come out as they must: worse with a mechanism
    in place of the mind, and the same in other words."""
    twins = [result for result in results if result.game == game and result.is_twin]
    others = [result for result in results if result.game == game and not result.is_twin]
    reasons = []
    if twins and not any(result.verdict == "worse" for result in twins):
        reasons.append(
            f"a mechanism in place of the mind makes it no worse: {_list_results(twins)}"
        )
    if changed := [
        result for result in others if result.verdict in ("better", "worse", "different")
    ]:
        reasons.append(f"another wording changes it: {_list_results(changed)}")
    return tuple(reasons)


def _list_results(results: Sequence[ArmResult]) -> str:
    relevant = [result for result in results if result.metric in KNOWING] or list(results)
    return "; ".join(
        f"{result.metric} {_format_estimate(result.difference)}, {result.verdict}"
        for result in relevant
    )


# --- reasons against a claim ----------------------------------------------------------------------


def _few(row: ProfileRow) -> list[str]:
    if row.cluster_count >= FEW:
        return []
    return [f"{row.cluster_count} clusters ({row.clusters}), fewer than {FEW}"]


def _against_knowing(row: ProfileRow) -> Iterator[str]:
    if row.beyond_learning.value is None:
        yield row.why.get("beyond_learning", "no prediction about others was scored")
    elif not _above_zero(row.beyond_learning):
        yield (
            f"knowing beyond learning rules is not above 0: {_format_estimate(row.beyond_learning)}"
        )
    elif row.unbeaten is not None:
        yield (
            f"a simple rule is not beaten: {row.unbeaten.rule} "
            f"({row.unbeaten.accuracy:.0f} % right)"
        )


def _against_acting(row: ProfileRow) -> Iterator[str]:
    if row.called:
        yield f"a habit explains the moves: it {row.called}"
    if row.has_rounds:  # forecasts of one episode can be compared with each other
        if row.acting_contrast.value is None:
            yield row.why["acting_contrast"]
        elif not _above_zero(row.acting_contrast):
            yield f"acting by contrast is not above 0: {_format_estimate(row.acting_contrast)}"
        return
    if row.acting_beyond.value is None:
        yield row.why.get("acting_beyond", "no move followed a prediction")
    elif not _above_zero(row.acting_beyond):
        habit = f" ({row.habit.rule} explains most)" if row.habit is not None else ""
        yield f"acting beyond habits is not above 0: {_format_estimate(row.acting_beyond)}{habit}"
    elif not _above_zero(row.acting_beyond_move):
        yield "always the same move explains it: acting beyond that is not above 0" + (
            f": {_format_estimate(row.acting_beyond_move)}"
            if row.acting_beyond_move.value is not None
            else ""
        )
    if row.decides is not None and row.decides < HALF:
        yield f"the best reply depends on the prediction in {row.decides:.0f} % of moves only"


def _above_zero(estimate: Estimate) -> bool:
    return estimate.interval is not None and estimate.interval[0] > 0


def _format_estimate(estimate: Estimate) -> str:
    if estimate.value is None:
        return "without a value"
    if estimate.interval is None:
        return f"{estimate.value:.2f}, without an interval"
    return f"{estimate.value:.2f} [{estimate.interval[0]:.2f}, {estimate.interval[1]:.2f}]"
