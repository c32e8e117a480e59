"""tang2024 again: mindless managers on the published generator, models from stored episodes.

The authors' sixty games are not printed; ours come from the same generator with another seed, so
two scores of one model differ by the sampling error of sixty games even if the model is the same.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

from sally.core.metric import Played
from sally.games.pick_the_right_stuff.generate_published import published_games
from sally.games.pick_the_right_stuff.rules import MANAGER, LockerGame
from sally.games.pick_the_right_stuff.rules_of_thumb import RULES_OF_THUMB, game_score
from sally.reports.reproduce import Conditions, Effort, Engine
from sally.stats.intervals import Estimate, mean_interval
from sally.studies.tang2024 import GAMES, TEMPERATURE, USERS

SETTINGS = {"games": GAMES, "users": USERS, "temperature": TEMPERATURE}


@lru_cache(maxsize=16)
def mindless(rule: str, mode: Literal["zero", "finite"], effort: Effort) -> Estimate:
    """The mean score of a rule of thumb over games of the published generator."""
    played = published_games(mode, USERS, effort.repeats, effort.seed)
    return mean_interval([game_score(game, RULES_OF_THUMB[rule]) for game in played])


def computes(row: Conditions, metric: str, effort: Effort) -> Estimate | None:
    """Figures that need no language model."""
    if metric in SETTINGS:
        exact = float(SETTINGS[metric])
        return Estimate(exact, exact, exact, 1, "exact")
    rule, mode = str(row.get("player")), row.get("belief_history")
    if metric != "score" or rule not in RULES_OF_THUMB:
        return None
    return mindless(rule, "zero" if mode == "zero" else "finite", effort)


def facts(played: Played) -> Conditions | None:
    """What an episode is, in the words of the tables; None if it is not the paper's condition."""
    setup, game = played.episode.setup, played.replay.game
    who = setup.lineup.get(MANAGER)
    if not isinstance(game, LockerGame) or who is None or not _is_theirs(game):
        return None
    if who.player != "language" or who.params.get("strategy") != "chat":
        return None
    return {"model": str(who.params.get("model")), "belief_history": game.mode}


def _is_theirs(game: LockerGame) -> bool:
    """Whether a game is of the frozen published set, five users, in the authors' wording."""
    frozen = game.problem is None and game.generator_seed is None
    asked = (game.generator, game.users, game.wording)
    return frozen and game.mode != "infinite" and asked == ("published", USERS, "published")


ENGINE = Engine(computes, {"score": "score_published"}, MANAGER, facts)
