"""Registry entry of the minority game."""

from __future__ import annotations

from sally.core.rules.game import Doing, GameSpec, MeasureSpec, PeopleSpec
from sally.games.toma.mg.game import Minority, View, frozen_scenarios
from sally.games.toma.mg.rules import PLACES
from sally.games.toma.mg.words import TEXTS, MinorityWords
from sally.games.toma.one_shot import State, best_replies, probe

GAME: GameSpec[State, int, View] = GameSpec(
    name="toma_mg",
    about="agents with likes, dislikes, friends and foes choose among four places: go where the "
    "fewest are (kang2026)",
    game=Minority,
    words=MinorityWords,
    texts=TEXTS,
    probes=(probe("their_place", "where each of the others goes", PLACES),),
    words_version=2,
    people=PeopleSpec.read(
        __package__,
        fresh=lambda draws, name: {"scenario": draws.pick(list(frozen_scenarios()))},
        settings={"level": (0, 9), "scenario": None, "story": None},
    ),
    measured=MeasureSpec(
        best_replies=best_replies,
        doing=Doing("task_success", right=1.0),
        pays=lambda game, seat: (0.0, 1.0),
        reference="solver",
    ),
)
