"""A laboratory for interactive theory of mind: games, players and measures.

>>> import sally
>>> episode = sally.play("ipd", {"agent": "random", "partner": "tit_for_tat"}, seed=1, rounds=3)
>>> len(episode.events)
7

`dir(sally)` lists the public interface; each name is loaded on first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sally.core.version import DISTRIBUTION, VERSION

if TYPE_CHECKING:
    from sally import testing as testing
    from sally.api.analyses import as_frame as as_frame
    from sally.api.analyses import audit as audit
    from sally.api.analyses import compare as compare
    from sally.api.analyses import compare_logs as compare_logs
    from sally.api.analyses import contrast as contrast
    from sally.api.analyses import crossplay as crossplay
    from sally.api.analyses import decisions as decisions
    from sally.api.analyses import episodes as episodes
    from sally.api.analyses import load as load
    from sally.api.analyses import profile as profile
    from sally.api.analyses import reliability as reliability
    from sally.api.analyses import replay as replay
    from sally.api.analyses import reproduce as reproduce
    from sally.api.analyses import score as score
    from sally.api.analyses import variance as variance
    from sally.api.atlas import AtlasRows as AtlasRows
    from sally.api.atlas import atlas as atlas
    from sally.api.beliefs import BeliefRows as BeliefRows
    from sally.api.beliefs import beliefs as beliefs
    from sally.api.board import BoardRows as BoardRows
    from sally.api.board import board as board
    from sally.api.catalog import game as game
    from sally.api.catalog import list_games as list_games
    from sally.api.catalog import list_importers as list_importers
    from sally.api.catalog import list_metrics as list_metrics
    from sally.api.catalog import list_packs as list_packs
    from sally.api.catalog import list_partners as list_partners
    from sally.api.catalog import list_players as list_players
    from sally.api.catalog import list_strategies as list_strategies
    from sally.api.catalog import list_studies as list_studies
    from sally.api.controls import checklist as checklist
    from sally.api.controls import fork as fork
    from sally.api.controls import why as why
    from sally.api.evaluation import EvaluationRows as EvaluationRows
    from sally.api.evaluation import evaluate as evaluate
    from sally.api.files import export as export
    from sally.api.files import pack as pack
    from sally.api.files import report as report
    from sally.api.imports import ImportedEpisodes as ImportedEpisodes
    from sally.api.imports import import_record as import_record
    from sally.api.play import aplay as aplay
    from sally.api.play import play as play
    from sally.api.play import transcript as transcript
    from sally.api.play import use as use
    from sally.api.results import Comparisons as Comparisons
    from sally.api.results import CrossplayRows as CrossplayRows
    from sally.api.results import Episodes as Episodes
    from sally.api.results import Planned as Planned
    from sally.api.results import ProfileRows as ProfileRows
    from sally.api.rows import Rows as Rows
    from sally.api.rows import to_pandas as to_pandas
    from sally.api.rows import to_polars as to_polars
    from sally.api.studies import arun as arun
    from sally.api.studies import plan as plan
    from sally.api.studies import run as run
    from sally.api.told import ToldRows as ToldRows
    from sally.api.told import told as told
    from sally.core.errors import BadInput as BadInput
    from sally.core.log.events import Episode as Episode
    from sally.core.log.events import Injection as Injection
    from sally.core.log.events import Instance as Instance
    from sally.core.log.events import PlayerSpec as PlayerSpec
    from sally.core.match.partner import Automaton as Automaton
    from sally.core.match.partner import Line as Line
    from sally.core.match.partner import Partner as Partner
    from sally.core.match.player import Player as Player
    from sally.core.match.player import Turn as Turn
    from sally.core.match.seat_context import SeatContext as SeatContext
    from sally.core.match.strategy import Strategy as Strategy
    from sally.core.prompt.model import Message as Message
    from sally.core.prompt.model import Model as Model
    from sally.core.prompt.model import Reply as Reply
    from sally.core.prompt.model import Settings as Settings
    from sally.core.registry.objects import as_player as as_player
    from sally.core.registry.paper import Importer as Importer
    from sally.core.registry.paper import Paper as Paper
    from sally.core.registry.register import register as register
    from sally.core.registry.study import Cell as Cell
    from sally.core.registry.study import Study as Study
    from sally.core.rules.board import Board as Board
    from sally.core.rules.card import Card as Card
    from sally.core.rules.card import Condition as Condition
    from sally.core.rules.card import Shortcut as Shortcut
    from sally.core.rules.card import both_ways as both_ways
    from sally.core.rules.game import NATURE as NATURE
    from sally.core.rules.game import Doing as Doing
    from sally.core.rules.game import Game as Game
    from sally.core.rules.game import GameSpec as GameSpec
    from sally.core.rules.game import LearnerSpec as LearnerSpec
    from sally.core.rules.game import MeasureSpec as MeasureSpec
    from sally.core.rules.game import PeopleSpec as PeopleSpec
    from sally.core.rules.game import Seat as Seat
    from sally.core.rules.game import Tool as Tool
    from sally.core.rules.menu import Options as Options
    from sally.core.rules.menu import Whole as Whole
    from sally.core.rules.menu import span as span
    from sally.core.rules.metric import Metric as Metric
    from sally.core.rules.metric import Played as Played
    from sally.core.rules.probe import At as At
    from sally.core.rules.probe import Probe as Probe
    from sally.core.rules.probe import ProbeReport as ProbeReport
    from sally.core.rules.probe import Question as Question
    from sally.core.rules.replay import Trajectory as Trajectory
    from sally.core.rules.words import Words as Words

__version__ = VERSION
_PLACES = {
    "api.analyses": "as_frame audit compare compare_logs contrast crossplay decisions episodes "
    "load profile reliability replay reproduce score variance",
    "api.atlas": "AtlasRows atlas",
    "api.beliefs": "BeliefRows beliefs",
    "api.board": "BoardRows board",
    "api.catalog": "game list_games list_importers list_metrics list_packs list_partners "
    "list_players list_strategies list_studies",
    "api.controls": "checklist fork why",
    "api.evaluation": "EvaluationRows evaluate",
    "api.files": "export pack report",
    "api.imports": "ImportedEpisodes import_record",
    "api.play": "aplay play transcript use",
    "api.results": "Comparisons CrossplayRows Episodes Planned ProfileRows",
    "api.rows": "Rows to_pandas to_polars",
    "api.studies": "arun plan run",
    "api.told": "ToldRows told",
    "core.errors": "BadInput",
    "core.log.events": "Episode Injection Instance PlayerSpec",
    "core.match.partner": "Automaton Line Partner",
    "core.match.player": "Player Turn",
    "core.match.seat_context": "SeatContext",
    "core.match.strategy": "Strategy",
    "core.prompt.model": "Message Model Reply Settings",
    "core.registry.paper": "Importer Paper",
    "core.registry.register": "register",
    "core.registry.objects": "as_player",
    "core.registry.study": "Cell Study",
    "core.rules.board": "Board",
    "core.rules.card": "Card Condition Shortcut both_ways",
    "core.rules.game": "Doing Game GameSpec LearnerSpec MeasureSpec NATURE PeopleSpec Seat Tool",
    "core.rules.menu": "Options Whole span",
    "core.rules.metric": "Metric Played",
    "core.rules.probe": "At Probe ProbeReport Question",
    "core.rules.replay": "Trajectory",
    "core.rules.words": "Words",
}
_WHERE = {name: place for place, names in _PLACES.items() for name in names.split()}
__all__ = ["DISTRIBUTION", *sorted(_WHERE), "testing"]  # the names in the table above


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


def __getattr__(name: str) -> Any:
    # The interface is loaded when it is used, so that a part of Sally can be imported alone.
    if name == "testing":
        return import_module("sally.testing")
    if name in _WHERE:
        return getattr(import_module(f"sally.{_WHERE[name]}"), name)
    raise AttributeError(f"module 'sally' has no attribute {name!r}")
