"""Words packs by name: read from a file or from Sally's own, known by what they say.

A pack goes into an episode's setup as `name@hash`, so that two wordings never share an id; the
store keeps its text, so that a replay can render the same pages.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from hashlib import blake2b
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import msgspec

from sally.core.errors import BadInput, unknown
from sally.core.prompt.skins import frames_for, packs_from, read_skins
from sally.core.prompt.words import Pack
from sally.core.registry import registry

_known: dict[str, Pack] = {}  # by `name@hash`: packs that were read in this process


def reference(pack: Pack) -> str:
    """The pack's name with the hash of what it says."""
    said = msgspec.json.encode(pack, order="sorted")
    return f"{pack.name}@{blake2b(said, digest_size=8).hexdigest()}"


def is_reference(name: Any) -> bool:
    """Whether this names a text by the hash of what it says."""
    return isinstance(name, str) and re.fullmatch(r"[^@]+@[0-9a-f]{16}", name) is not None


def remember(pack: Pack) -> str:
    """Make a pack known under its reference for this process."""
    known = reference(pack)
    _known[known] = pack
    return known


def find(name: str) -> Pack:
    """The pack under a reference, in a `.toml` file, or among Sally's own."""
    if "@" in name:
        if name not in _known:
            raise BadInput(
                f"The words pack {name} is not known here; it is kept in the store of its study."
            )
        return _known[name]
    if name.endswith(".toml"):
        return read_pack(Path(name))
    own = shipped()
    if name not in own:
        raise unknown("words pack", name, own)
    return own[name]


SKINS = "skins.toml"  # the grammar of a game's further wordings


def shipped() -> Mapping[str, Pack]:
    """The packs that lie beside the games or are made by their grammars, by name."""
    packs: list[Pack] = []
    for game, home in registry.packages().items():
        packs += frames_for(game).values()
        for file in _files(home):
            if file.name == SKINS:
                packs += skinned(game, file.read_text("utf-8")).values()
            elif file.name.endswith(".toml"):
                packs.append(parsed(file.read_text("utf-8"), file.name))
    return {pack.name: pack for pack in sorted(packs, key=lambda pack: pack.name)}


@cache
def skinned(game: str, text: str) -> Mapping[str, Pack]:
    """The packs that a game's grammar makes of its own texts; strategies keep their words."""
    texts = registry.entries("games")[game].texts
    return packs_from(read_skins(text, f"{game}/packs/{SKINS}"), texts)


def for_game(game: str) -> Mapping[str, Pack]:
    """The shipped packs of a game, by name."""
    family = registry.family(game).name
    return {name: pack for name, pack in shipped().items() if pack.game == family}


def _files(home: str) -> Iterable[Traversable]:
    folder = files(home) / "packs"
    return folder.iterdir() if folder.is_dir() else ()


def read_pack(path: Path) -> Pack:
    """A user's pack."""
    try:
        return parsed(path.read_text("utf-8"), str(path))
    except OSError as why:
        raise BadInput(f"The words pack {path} cannot be read: {why.strerror}.") from None
    except UnicodeDecodeError:
        raise BadInput(f"The words pack {path} is not written in UTF-8.") from None


def parsed(text: str, where: str) -> Pack:
    """A pack from TOML; keys of texts may be written with or without quotes."""
    try:
        plain = tomllib.loads(text)
    except tomllib.TOMLDecodeError as why:
        raise BadInput(f"The words pack {where} is not TOML: {why}.") from None
    if isinstance(plain.get("texts"), dict):
        plain["texts"] = _flat(plain["texts"], "")
    try:
        pack = msgspec.convert(plain, Pack)
    except msgspec.ValidationError as why:
        raise BadInput(f"The words pack {where}: {why}.") from None
    if not pack.name or "@" in pack.name:
        raise BadInput(f"The words pack {where} needs a name without @, not {pack.name!r}.")
    return pack


def _flat(texts: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """`past.void = "..."` without quotes is a table within a table; here it is one key."""
    flat: dict[str, Any] = {}
    for key, value in texts.items():
        inside = isinstance(value, dict)
        flat |= _flat(value, f"{prefix}{key}.") if inside else {f"{prefix}{key}": value}
    return flat


def written(pack: Pack) -> str:
    """The pack as TOML that `parsed` reads back."""
    head = [f"{key} = {_quoted(text)}" for key, text in (("name", pack.name), ("game", pack.game))]
    texts = [f"{_quoted(key)} = {_quoted(text)}" for key, text in sorted(pack.texts.items())]
    return "\n".join([*head, f"version = {pack.version}", "", "[texts]", *texts, ""])


def _quoted(text: str) -> str:
    # JSON escapes what TOML wants escaped, but for one control character.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
