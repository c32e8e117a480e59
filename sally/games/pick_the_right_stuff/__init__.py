"""Pick the Right Stuff (tang2024): name the box where a user believes the item to be."""

from sally.games.pick_the_right_stuff.spec import GAME

__all__ = ["GAME"]
