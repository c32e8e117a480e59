"""The cover stories of the partially observable game, read from stories.toml."""

import tomllib
from functools import cache
from importlib.resources import files

import msgspec


class Story(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A cover story: a scene, its nouns and names for the tasks."""

    scene: str
    team: str
    task: str
    cost: str
    tasks: tuple[str, ...]


@cache
def stories() -> dict[str, Story]:
    """Return every cover story by name, in the order of the file."""
    text = files(__package__).joinpath("stories.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text), dict[str, Story])
