"""The measured seats behind one row of a profile, and why a figure may be missing."""

from __future__ import annotations

from functools import cached_property

from sally.analysis.bounds import enclosing, instance_bounds, key_of
from sally.analysis.profile.doing_scale import BaselineScores, ScaledDoing, scale_doing
from sally.analysis.profile.estimates import Means
from sally.analysis.profile.habits import HabitEstimates, habit_estimates
from sally.analysis.profile.knowing_scale import Skills, skills
from sally.analysis.profile.retest import RetestEstimates, retest_estimates
from sally.core.registry import registry
from sally.core.rules.metric import Metric
from sally.frames.profiles import Floats, SeatSums
from sally.stats.cluster_interval import Bounds


class ProfileGroup:
    """One player in one game: its measured seats, and what several columns are computed from."""

    def __init__(self, game: str, seats: SeatSums, baselines: BaselineScores) -> None:
        self.game, self.seats, self._baselines = game, seats, baselines
        self.means = Means(seats)

    def of(self, field: str) -> Floats:
        """Return one column of numbers of the measured seats."""
        return self.seats.of(field)

    @cached_property
    def metric(self) -> Metric:
        """The metric that doing is measured by."""
        kind = self.seats.shared[int(self.seats.kind[0])]
        return registry.metrics(kind.family)[kind.metric]

    @cached_property
    def bounds(self) -> Bounds | None:
        """Bounds that enclose the metric's values in all games of these seats."""
        if self.metric.ends is not None:
            return self.metric.ends
        kinds = (self.seats.shared[code] for code in self.seats.kinds())
        instances = {(k.setup.instance.id, k.seat): k.setup.instance for k in kinds}
        return enclosing(
            instance_bounds(self.metric.name, key_of(instance), seat)
            for (_, seat), instance in instances.items()
        )

    @cached_property
    def skills(self) -> Skills:
        """Accuracy and Brier score relative to baselines."""
        return skills(self.means)

    @cached_property
    def doing(self) -> ScaledDoing:
        """The player's gain between the random player and the best known score."""
        return scale_doing(self.means, self._baselines)

    @cached_property
    def habits(self) -> HabitEstimates:
        """The player's habits, and what it does beyond them."""
        return habit_estimates(self.means)

    @cached_property
    def retest(self) -> RetestEstimates:
        """Reliability of reports, and measures corrected for it."""
        return retest_estimates(self.means)

    # --- why a figure is missing ------------------------------------------------------------------

    @cached_property
    def no_answer(self) -> str:
        """Why no answer can be scored."""
        if not self.of("asked").any():
            kinds = (self.seats.shared[code] for code in self.seats.kinds())
            if any(kind.setup.arms.get(kind.seat) for kind in kinds):
                return (
                    "these problems have no probe about another's mind, or the player answers none"
                )
            return "nothing was asked about another's mind"
        is_unread = int(self.of("unread").sum()) == int(self.of("asked").sum())
        return "no answer could be read" if is_unread else "no answer has a known truth"

    @cached_property
    def no_skill(self) -> str:
        """Why there is no accuracy."""
        is_asked, is_scored = self.of("asked").any(), self.of("scored").any()
        return self.no_answer if not is_asked or is_scored else "only values were asked for"

    @cached_property
    def no_beyond(self) -> str:
        """Why there is no accuracy beyond three fixed rules."""
        if (best := self.skills.fixed_rule) is None:
            return self.no_skill
        return f"nothing is left to know: '{best.rule}' foresees {best.accuracy:.0f} %"

    @cached_property
    def no_beyond_learning(self) -> str:
        """Why there is no accuracy beyond rules that learn."""
        if (best := self.skills.unbeaten) is None:
            return self.no_skill
        return f"nothing is left to know: '{best.rule}' foresees {best.accuracy:.0f} %"

    @cached_property
    def no_odds(self) -> str:
        """Why there is no Brier score."""
        return "no odds were stated" if self.of("asked").any() else self.no_answer

    @cached_property
    def no_split(self) -> str:
        """Why decisions cannot be judged by the player's predictions."""
        spec = registry.game(self.game)
        if spec.measured.doing.no_split:
            return spec.measured.doing.no_split
        declared = registry.part(self.game, "losses") or registry.part(self.game, "acting")
        if spec.measured.best_replies is None and declared is None:
            return f"{self.game} does not say what the best replies are"
        if self.of("scored").any() or not self.of("asked").any():
            return "no decision has a prediction that can be scored"
        return self.no_answer

    @cached_property
    def no_acting_beyond(self) -> str:
        """Why acting on predictions cannot be told from habits."""
        if (habit := self.habits.habit) is None:
            return self.no_split
        return f"nothing is left to explain: {habit.rule} fits in {habit.fits:.0f} %"

    @property
    def has_rounds(self) -> bool:
        """Whether an episode has several moves after predictions."""
        return bool((self.of("forecasts") > 1).any())

    @cached_property
    def no_contrast(self) -> str:
        """Why moves after different forecasts cannot be compared."""
        if not self.of("forecasts").any():
            return self.no_split
        if not self.has_rounds:
            return "an episode has one move after a prediction"
        if (self.of("copied") == self.of("forecasts")).all():
            return (
                "the best reply is always to copy the forecast move, so copying a forecast and "
                "replying to it cannot be told apart"
            )
        return (
            "no two forecasts of an episode call for different moves in rounds in which the same "
            "forecasts have the same best replies"
        )

    def no_keys(self, otherwise: str = "") -> str:
        """Why a habit is not known; `otherwise` if moves were chosen from menus."""
        if otherwise and self.habits.pooled_label_bias.value is not None:
            return otherwise
        return "no move was chosen from a short menu"
