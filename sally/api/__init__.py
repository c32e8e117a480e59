"""What `import sally` offers; everything else is the house's own and may change."""

from sally.analysis.rows import summary, to_pandas, to_polars
from sally.api.analyses import (
    audit,
    compare,
    crossplay,
    decisions,
    episodes,
    load,
    profile,
    replay,
    reproduce,
    score,
)
from sally.api.controls import checklist, contrast, fork, reliability, variance, why
from sally.api.files import export, pack, report
from sally.api.playing import play, transcript, use
from sally.api.results import Comparisons, Episodes, Planned, Rows
from sally.api.studies import find_study, plan, run

run_study = run  # its older name

__all__ = [
    "Comparisons",
    "Episodes",
    "Planned",
    "Rows",
    "audit",
    "checklist",
    "compare",
    "contrast",
    "crossplay",
    "decisions",
    "episodes",
    "export",
    "find_study",
    "fork",
    "load",
    "pack",
    "plan",
    "play",
    "profile",
    "reliability",
    "replay",
    "report",
    "reproduce",
    "run",
    "run_study",
    "score",
    "summary",
    "to_pandas",
    "to_polars",
    "transcript",
    "use",
    "variance",
    "why",
]
