"""Play certified pairs with any player, as a person at the keyboard does."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle, islice

from sally.analysis.pairs.positions import position_setup
from sally.analysis.pairs.score import PlayerScore, join_pairs, read_position, score_player
from sally.core.errors import BadInput
from sally.core.log.events import Censored, Episode
from sally.core.registry.objects import ObjectNames, PlayerLike
from sally.core.registry.recipes import find_recipe, recipes_of
from sally.core.rules.chance import Stream
from sally.core.rules.pair import Pair, draw_pair
from sally.runner import local
from sally.runner.seating import resolve_setup


def draw_pairs(game: str, count: int, seed: int) -> list[Pair]:
    """Return pairs of a game: all its recipes and orders above 0 in turn.

    Raises:
        BadInput: If the game has no pairs, or none are asked for.
    """
    kinds = [(recipe, order) for recipe in recipes_of(game) for order in recipe.orders if order]
    if not kinds:
        raise BadInput(f"{game} has no certified pairs; `sally audit rps --pairs` shows some.")
    if count < 1:
        raise BadInput(f"The number of pairs must be at least 1, not {count}.")
    numbered_kinds = islice(enumerate(cycle(kinds)), count)
    return [draw_pair(recipe, order, seed, number) for number, (recipe, order) in numbered_kinds]


def play_pairs(game: str, player: PlayerLike, count: int, seed: int = 1) -> list[Episode]:
    """Play pairs of a game, one position after another; stops where the player leaves.

    First one position of every pair is played, then the other ones in the same order, so that the
    two positions of a pair are as far apart as possible.
    """
    pairs = draw_pairs(game, count, seed)
    episodes: list[Episode] = []
    for half in (0, 1):
        for number, pair in enumerate(pairs):
            first = Stream(seed, "order of members", number).below(2)
            episode = _play_member(pair, first ^ half, player, seed)
            episodes.append(episode)
            if isinstance(episode.events[-1], Censored):
                return episodes
    return episodes


def _play_member(pair: Pair, member: int, player: PlayerLike, seed: int) -> Episode:
    recipe = find_recipe(pair.game, pair.recipe)
    names = ObjectNames()
    (spec,) = names.lineup({recipe.seat: player}).values()
    with names.bound():
        return local.play(resolve_setup(position_setup(recipe, pair, member, spec, seed=seed)))


def score_episodes(episodes: Sequence[Episode]) -> PlayerScore:
    """Return the score of one player on the pairs of which both positions were played."""
    positions = [position for episode in episodes if (position := read_position(episode))]
    return score_player(join_pairs(positions))
