"""Recipes of certified pairs, by game and name."""

from __future__ import annotations

from sally.core.registry import registry
from sally.core.rules.pair import PairRecipe


def find_recipe(game: str, name: str) -> PairRecipe:
    """Return a recipe of a game by name.

    Raises:
        BadInput: If the game has no such recipe.
    """
    recipes = {recipe.name: recipe for recipe in recipes_of(game)}
    recipe: PairRecipe = registry.pick(f"recipe of pairs in {game}", name, recipes)
    return recipe


def recipes_of(game: str) -> tuple[PairRecipe, ...]:
    """Return the recipes of a game; of all its presets if the family is named."""
    family = registry.family(game)
    recipes: tuple[PairRecipe, ...] = registry.part(game, "pairs") or ()
    return tuple(recipe for recipe in recipes if game in (family.name, recipe.game))
