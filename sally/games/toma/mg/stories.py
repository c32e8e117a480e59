"""The cover stories of the minority game, read from stories.toml."""

import tomllib
from functools import cache
from importlib.resources import files

import msgspec


class Story(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A cover story: a scene, the player's wish, nouns, names and features."""

    scene: str
    goal: str
    place: str
    people: str
    places: tuple[str, ...]
    features: tuple[str, ...]


@cache
def stories() -> dict[str, Story]:
    """Return every cover story by name, in the order of the file."""
    text = files(__package__).joinpath("stories.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text), dict[str, Story])


def names_of(feature: str) -> tuple[str, ...]:
    """Return the full name of a feature, and its two partial names of two adjacent words each."""
    words = feature.split()
    return (feature, " ".join(words[:2]), " ".join(words[1:]))
