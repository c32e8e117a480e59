"""Texts of all pages by language; a study may replace any of them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import msgspec

from sally.core.errors import BadInput, unknown
from sally.core.registry.packs import flat
from sally.core.rules.words import slots

HOME = Path(__file__).parent / "texts"
ENGLISH = "en"


class Texts(msgspec.Struct, frozen=True):
    """The page texts in one language."""

    language: str
    said: Mapping[str, str]

    def __call__(self, key: str, **slots: object) -> str:
        """Return a text with its placeholders filled in."""
        return self.said[key].format(**slots)

    def number(self, value: object) -> str:
        """Format a number with the language's decimal separator."""
        return str(value).replace(".", self("common.decimal"))

    def minutes(self, value: float) -> str:
        """Format a duration, such as "1 minute" or "2.5 minutes"."""
        return self(f"common.minute{'' if value == 1 else 's'}", n=self.number(f"{value:g}"))

    def duration(self, seconds: float) -> str:
        """Format a duration in minutes if it is a whole number of minutes, else in seconds."""
        if seconds >= 60 and seconds % 60 == 0:
            return self.minutes(seconds / 60)
        return self(f"common.second{'' if seconds == 1 else 's'}", n=self.number(f"{seconds:g}"))

    def for_scripts(self) -> dict[str, str]:
        """Return the texts used by the browser scripts, by key without the prefix `js.`."""
        return {k.removeprefix("js."): v for k, v in self.said.items() if k.startswith("js.")}


def languages() -> list[str]:
    """Return the languages shipped with Sally."""
    return sorted(file.stem for file in HOME.glob("*.toml"))


@cache
def shipped_texts(language: str) -> Texts:
    """Return the shipped texts of a language."""
    if language not in languages():
        raise unknown("language", language, languages())
    return Texts(language, flat(tomllib.loads((HOME / f"{language}.toml").read_text())))


def texts_of(language: str, replacements: Mapping[str, str] | None = None) -> Texts:
    """Return a language's texts with those in `replacements` replaced; raises BadInput for an
    unknown key or
    placeholder."""
    base = shipped_texts(language)
    for key, sentence in (replacements or {}).items():
        if key not in base.said:
            raise unknown("text", key, base.said)
        if extra := slots(sentence, key, specs=True) - slots(shipped_texts(ENGLISH).said[key], key):
            raise BadInput(f"The text {key!r} has no placeholder {{{sorted(extra)[0]}}}.")
    return Texts(language, {**base.said, **(replacements or {})})
