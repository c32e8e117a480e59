"""Statistics: pure functions of numbers and labels, with intervals as `[low, high]`.

The modules here `import scipy` and never `from scipy import stats`: scipy loads each part when it
is first used, and loading all parts takes longer than most commands take.
"""

from sally.stats.agreement import (
    LabelScore,
    cohens_kappa,
    krippendorffs_alpha,
    label_scores,
    macro_f1,
    mean_absolute_error,
    percent_agreement,
)
from sally.stats.effects import cohens_d, cohens_dz
from sally.stats.equivalence import (
    Equivalence,
    equivalence_test,
    paired_equivalence,
)
from sally.stats.intervals import (
    Estimate,
    clustered_mean_interval,
    clustered_ratio_interval,
    mean_interval,
    share_interval,
)
from sally.stats.mixed import Coefficient, MixedFit, logit, mixed_logit
from sally.stats.multiple import holm
from sally.stats.paired import (
    Pairs,
    Significance,
    pair_up,
    paired_difference,
    paired_difference_bootstrap,
    sign_flip_test,
    unpaired_difference,
)
from sally.stats.power import (
    design_effect,
    equivalence_power,
    equivalence_sample_size,
    intraclass_correlation,
    paired_sample_size,
    paired_share_sample_size,
    t_power,
    unpaired_sample_size,
)
from sally.stats.scores import (
    brier,
    log_score,
)

__all__ = [
    "Coefficient",
    "Equivalence",
    "Estimate",
    "LabelScore",
    "MixedFit",
    "Pairs",
    "Significance",
    "brier",
    "clustered_mean_interval",
    "clustered_ratio_interval",
    "cohens_d",
    "cohens_dz",
    "cohens_kappa",
    "design_effect",
    "equivalence_power",
    "equivalence_sample_size",
    "equivalence_test",
    "holm",
    "intraclass_correlation",
    "krippendorffs_alpha",
    "label_scores",
    "log_score",
    "logit",
    "macro_f1",
    "mean_absolute_error",
    "mean_interval",
    "mixed_logit",
    "pair_up",
    "paired_difference",
    "paired_difference_bootstrap",
    "paired_equivalence",
    "paired_sample_size",
    "paired_share_sample_size",
    "percent_agreement",
    "share_interval",
    "sign_flip_test",
    "t_power",
    "unpaired_difference",
    "unpaired_sample_size",
]
