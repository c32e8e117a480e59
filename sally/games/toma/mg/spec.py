"""Registry entry of the minority game."""

from __future__ import annotations

from collections.abc import Mapping

from sally.core.match.replay import Trajectory
from sally.core.rules.game import Doing, GameSpec, Seat
from sally.core.rules.probe import At, Probe, Question
from sally.games.toma.mg.game import Minority, View, frozen_scenarios
from sally.games.toma.mg.rules import (
    PLACES,
    predictions,
    rational_actions,
)
from sally.games.toma.mg.words import PEOPLE, TEXTS, MinorityWords
from sally.games.toma.one_shot import PLAYER, State

# --- what the player thinks the others do ---------------------------------------------------------


def asks(game: Minority, view: View, seat: Seat) -> tuple[Question, ...]:
    """Return the questions about where each agent goes."""
    return tuple(
        Question("their_place", "choice", tuple(PLACES), about=agent.name) for agent in view.agents
    )


def truth(replay: Trajectory[State, int, View], at: At) -> int:
    """Return the place to which the agent goes by the stated rules."""
    assert isinstance(replay.game, Minority)
    names = [agent.name for agent in replay.game.problem.agents]
    return predictions(replay.game.problem)[names.index(at.about)]


def best_replies(game: Minority, view: View, belief: Mapping[str, int]) -> tuple[int, ...] | None:
    """Return the emptiest places if all agents go where believed; None if a belief is missing."""
    if set(belief) != {agent.name for agent in view.agents}:
        return None
    predicted = {index: belief[agent.name] for index, agent in enumerate(view.agents)}
    return tuple(sorted(rational_actions(game.problem, predicted)))


GAME: GameSpec[State, int, View] = GameSpec(
    name="toma_mg",
    titles={"toma_mg": "The empty place"},
    sentences={
        "toma_mg": "Everybody goes to the place they like best, or to where their friends go. "
        "Find the place with the fewest people."
    },
    roles={"player": "the newcomer"},
    about="agents with likes, dislikes, friends and foes choose among four places: go where the "
    "fewest are (kang2026)",
    game=Minority,
    words=MinorityWords,
    texts=TEXTS,
    people=PEOPLE,
    probes=(
        Probe(
            "their_place",
            "where each of the others goes",
            "before",
            "choice",
            (PLAYER,),
            asks,
            truth,
        ),
    ),
    best_replies=best_replies,
    doing=Doing("task_success", right=1.0),
    pays=lambda game, seat: (0.0, 1.0),
    fresh=lambda draws, name: {"scenario": draws.pick(list(frozen_scenarios()))},
    settings={"level": (0, 9), "scenario": None, "story": None},
    reference="solver",
    words_version=2,
)
