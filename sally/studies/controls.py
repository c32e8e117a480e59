"""Control conditions for one model: sixteen prompt layouts, and a policy that the model writes
down.

The games are rps and ipd with ten rounds, as in the quickstart. The command `sally run controls
--packs all --aware` adds other wordings, twins (a mechanism in place of a mind) and prompts that
tell the model what they are.
"""

from __future__ import annotations

from sally.core.log.events import PlayerSpec
from sally.core.registry.study import Cell, Study, grid, instance, player_spec
from sally.players.language import OPEN
from sally.players.policy_writer import THEN
from sally.studies.arms import vary_harness
from sally.studies.quickstart import PARTNERS
from sally.studies.quickstart_model import SETTINGS

GAMES = ("rps", "ipd")
POLICY = {"temperature": 0.7, "max_tokens": 200}  # a policy table has several lines
REPEATS = 5

Arms = dict[str, tuple[str, ...]]

_ASKED = player_spec("language", model=OPEN, strategy="qa", settings=SETTINGS)
_LAYOUTS = vary_harness(
    _ASKED,
    history=(None, 4),
    question=(None, "first"),
    options=(None, "unlisted"),
    answer=(None, "json"),
)

_PROBES: Arms = {"agent": ("their_move_given_mine",)}


def _cell(game: str, name: str, players: PlayerSpec | tuple[PlayerSpec, ...], probes: Arms) -> Cell:
    return Cell(
        name=f"{game}, {name}",
        instances=(instance(game, f"{game}-10", rounds=10, void_limit=10),),
        lineups=grid(agent=players, partner=PARTNERS),
        arms=probes,
        repeats=REPEATS,
    )


def _writer(continuation: str) -> PlayerSpec:
    return player_spec("policy_writer", model=OPEN, then=continuation, settings=POLICY)


STUDY = Study(
    name="controls",
    about="controls on a model in rps and ipd: sixteen page layouts, and a written policy",
    cells=tuple(
        cell
        for game in GAMES
        for cell in (
            _cell(game, "layout", _LAYOUTS, _PROBES),
            *(_cell(game, f"policy, then {action}", _writer(action), {}) for action in THEN),
        )
    ),
)
