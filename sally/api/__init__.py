"""The functions that `import sally` exports; everything else is internal and may change."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sally.analysis.columns.rows import summary as summary
    from sally.analysis.columns.rows import to_pandas as to_pandas
    from sally.analysis.columns.rows import to_polars as to_polars
    from sally.api.analyses import audit as audit
    from sally.api.analyses import compare as compare
    from sally.api.analyses import compare_logs as compare_logs
    from sally.api.analyses import crossplay as crossplay
    from sally.api.analyses import decisions as decisions
    from sally.api.analyses import episodes as episodes
    from sally.api.analyses import load as load
    from sally.api.analyses import profile as profile
    from sally.api.analyses import replay as replay
    from sally.api.analyses import reproduce as reproduce
    from sally.api.analyses import score as score
    from sally.api.catalog import list_games as list_games
    from sally.api.catalog import list_importers as list_importers
    from sally.api.catalog import list_metrics as list_metrics
    from sally.api.catalog import list_packs as list_packs
    from sally.api.catalog import list_partners as list_partners
    from sally.api.catalog import list_players as list_players
    from sally.api.catalog import list_strategies as list_strategies
    from sally.api.catalog import list_studies as list_studies
    from sally.api.controls import checklist as checklist
    from sally.api.controls import contrast as contrast
    from sally.api.controls import fork as fork
    from sally.api.controls import reliability as reliability
    from sally.api.controls import variance as variance
    from sally.api.controls import why as why
    from sally.api.files import export as export
    from sally.api.files import pack as pack
    from sally.api.files import report as report
    from sally.api.playing import play as play
    from sally.api.playing import transcript as transcript
    from sally.api.playing import use as use
    from sally.api.results import Comparisons as Comparisons
    from sally.api.results import CrossplayRows as CrossplayRows
    from sally.api.results import Episodes as Episodes
    from sally.api.results import Planned as Planned
    from sally.api.results import ProfileRows as ProfileRows
    from sally.api.rows import Rows as Rows
    from sally.api.studies import find_study as find_study
    from sally.api.studies import plan as plan
    from sally.api.studies import run as run

_PLACES = {
    "analysis.columns.rows": "summary to_pandas to_polars",
    "api.analyses": "audit compare compare_logs crossplay decisions episodes load profile replay "
    "reproduce score",
    "api.catalog": "list_games list_importers list_metrics list_packs list_partners list_players "
    "list_strategies list_studies",
    "api.controls": "checklist contrast fork reliability variance why",
    "api.files": "export pack report",
    "api.playing": "play transcript use",
    "api.results": "Comparisons CrossplayRows Episodes Planned ProfileRows",
    "api.rows": "Rows",
    "api.studies": "find_study plan run",
}
_WHERE = {name: place for place, names in _PLACES.items() for name in names.split()}
__all__ = [*sorted(_WHERE)]


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    # Each part is loaded when it is used: playing needs no analysis, and running no figures.
    if name in _WHERE:
        return getattr(import_module(f"sally.{_WHERE[name]}"), name)
    raise AttributeError(f"module 'sally.api' has no attribute {name!r}")
