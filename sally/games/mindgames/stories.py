"""The cover stories: five about policy, and one in which the target is a machine without a mind."""

import tomllib
from functools import cache
from importlib import resources

import msgspec

from sally.games.mindgames.claims import Names


class Attribute(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An attribute that the proposals affect, and its aliases."""

    name: str
    aliases: tuple[str, ...] = ()


class Story(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A cover story; `mental` is false if the target is a machine."""

    name: str
    text: str
    persuader: str
    target: str
    attribute: tuple[Attribute, ...]
    noun: str = "proposal"
    mental: bool = True

    @property
    def attributes(self) -> tuple[str, ...]:
        """The names of the attributes, in column order."""
        return tuple(a.name for a in self.attribute)

    def names(self, letters: tuple[str, ...] = ("A", "B", "C")) -> Names:
        """Return the names of rows and columns in this story."""
        return Names(proposals=letters, attributes=self.attributes, noun=self.noun)


Aliases = tuple[tuple[str, tuple[str, ...]], ...]


@cache
def stories() -> tuple[Story, ...]:
    """Return all stories, in the order of the file."""
    text = resources.files(__package__).joinpath("stories.toml").read_text(encoding="utf-8")
    return tuple(msgspec.convert(s, Story) for s in tomllib.loads(text)["story"])


def story(name: str) -> Story:
    """Return the story with this name; raise KeyError if it does not exist."""
    for candidate in stories():
        if candidate.name == name:
            return candidate
    names = ", ".join(s.name for s in stories())
    raise KeyError(f"There is no story {name!r}; the stories are {names}.")


@cache
def aliases() -> Aliases:
    """Return the aliases of the attributes of all stories."""
    return tuple((a.name, a.aliases) for s in stories() for a in s.attribute)
