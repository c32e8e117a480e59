"""TextArena's two-player games, played offline: `textarena:NAME` is a game and a study of Sally.

Needs the extra `textarena`.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

from sally.adapters.textarena.environment import check_name, release
from sally.adapters.textarena.moves import MOVES
from sally.adapters.textarena.partners import PARTNERS
from sally.adapters.textarena.rules import Action, State, TextArenaGame
from sally.adapters.textarena.submission import SEATS, View
from sally.adapters.textarena.words import TEXTS, TextArenaWords
from sally.core.errors import BadInput
from sally.core.log.events import Instance, PlayerSpec
from sally.core.registry import registry
from sally.core.registry.objects import PlayerLike, as_player
from sally.core.registry.study import Cell, Study, player_spec
from sally.core.rules.game import GameSpec, MeasureSpec
from sally.players.language import LANGUAGE, OPEN

PREFIX = "textarena:"
DEALS = 20  # of a study; each is played twice, with exchanged seats
RANDOM = "random"


def game_spec(name: str) -> GameSpec[State, Action, View]:
    """Return the game `textarena:NAME`, where NAME is an environment of TextArena."""
    env = name.removeprefix(PREFIX)
    return GameSpec(
        name=name,
        about=f"{env} of TextArena",
        game=TextArenaGame,
        words=TextArenaWords,
        texts=TEXTS,
        action=Action,
        defaults={"env": env},
        usual=RANDOM,
        measured=MeasureSpec(pays=lambda game, seat: (-1.0, 1.0)),
    )


def study_of(name: str, opponent: PlayerLike | None = None) -> Study:
    """Return a study of one or several games: a model against an opponent, in both seats and with
    the same deals.

    Args:
        name: `textarena:` and names of environments, separated by commas.
        opponent: A player or the name of a model; by default one that draws legal moves.

    Raises:
        BadInput: If TextArena has no such environment, or does not list its legal moves for the
            default opponent.
    """
    environments = name.removeprefix(PREFIX).split(",")
    opponent_spec = _opponent(opponent)
    for env in environments:
        check_name(env)
        if opponent_spec.player == RANDOM and env.split("-v")[0] not in MOVES:
            raise BadInput(
                f"The legal moves of {env} are not listed, so it has no random opponent; name "
                f"another opponent, such as a model. Games with a random one: {', '.join(MOVES)}."
            )
    model = player_spec(LANGUAGE, model=OPEN, strategy="qa")
    return Study(
        name=_study_name(environments),
        about=f"a model against {_label(opponent_spec)} in {', '.join(environments)} of TextArena",
        cells=tuple(
            _cell(env, seat, model, opponent_spec) for env in environments for seat in (0, 1)
        ),
    )


def _study_name(environments: list[str]) -> str:
    """Return a name for the folder of a study, which is short for any number of games."""
    if len(environments) == 1:
        return f"textarena_{environments[0]}"
    digest = blake2b(",".join(environments).encode(), digest_size=4).hexdigest()
    return f"textarena_{len(environments)}_games_{digest}"


def _opponent(opponent: PlayerLike | None) -> PlayerSpec:
    """Return the spec of an opponent; a name that is no player's is taken for a model's."""
    if opponent is None:
        return PlayerSpec(RANDOM)
    if isinstance(opponent, str) and opponent not in _player_names():
        return player_spec(LANGUAGE, model=opponent, strategy="qa")
    return as_player(opponent)


def _player_names() -> set[str]:
    return {name for kinds in registry.entries("players").values() for name in kinds} | {*PARTNERS}


def _cell(env: str, seat: int, model: PlayerSpec, opponent_spec: PlayerSpec) -> Cell:
    params: dict[str, Any] = {"env": env, "textarena": release()}
    return Cell(
        name=f"{env}, model is {SEATS[seat]}",
        instances=(Instance(f"{PREFIX}{env}", f"{PREFIX}{env}", params),),
        lineups=({SEATS[seat]: model, SEATS[1 - seat]: opponent_spec},),
        repeats=DEALS,
    )


def _label(player: PlayerSpec) -> str:
    return str(player.params.get("model", player.player))
