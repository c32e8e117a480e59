"""Items of a battery: a story, a question, options and a key. Item files are named by their
hash."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any

import msgspec

from sally.core.cache_dir import cache_folder
from sally.core.errors import BadInput
from sally.core.rules.chance import Stream

DIFFER = "published keys differ"  # a flag of scored items: two published copies, two keys
MOST_OPTIONS = 26  # options are lettered
Options = Annotated[tuple[str, ...], msgspec.Meta(min_length=2, max_length=MOST_OPTIONS)]


class Belief(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The question about a person's belief that is asked before an item's own question.

    `acts` gives, for each answer to it, the option of the item that follows from that answer.
    """

    question: str
    options: Options
    answer: int
    acts: tuple[int, ...]


class Item(msgspec.Struct, frozen=True, omit_defaults=True):
    """One question of a battery with its options; the key `answer` is an index into `options`."""

    id: str
    story: str
    question: str
    options: Options
    answer: int
    task: str | None = None
    order: int | None = None  # of belief, 0 to 4; None: nothing is nested
    condition: str | None = None
    pair: str = ""  # the story: items with the same one are a cluster
    flags: tuple[str, ...] = ()  # why the item is not scored, and `DIFFER`; empty: sound
    ability: str = ""
    belief_stated: bool | None = None
    published_answer: int | None = None  # of the authors, where it differs from `answer`
    published_cotp: int | None = None
    published_vp: int | None = None
    by_rule: int | None = None  # what the belief rule says, where no published key agrees
    chapters: int | None = None
    belief: Belief | None = None
    about: str = ""  # the person in question, of our own items
    people: tuple[str, ...] = ()  # of our own items
    by_depth: tuple[int, ...] = ()  # answers of reasoners of depth 0, 1, ...; of our own items
    mindless: dict[str, int] = {}  # answers of rules that skip part of the reasoning, likewise
    options_key: str = ""  # what the order of the options is drawn from; "": the id

    @property
    def sound(self) -> bool:
        """Whether the item is valid and therefore scored."""
        return not set(self.flags) - {DIFFER}


def check_item(item: Item, source: str) -> Item:
    """Return the item; raise BadInput if its key or options are invalid."""
    keys = [(item.answer, len(item.options), "answer")]
    if item.belief is not None:
        b = item.belief
        keys.append((b.answer, len(b.options), "belief.answer"))
        keys += [(act, len(item.options), "belief.acts") for act in b.acts]
        if len(b.acts) != len(b.options):
            raise BadInput(f"{source}: belief.acts needs one option for each belief option.")
    for key, n, name in keys:
        if not 0 <= key < n:
            raise BadInput(f"{source}: {name} must be from 0 to {n - 1}, not {key}.")
    return item


def hash_of(data: bytes) -> str:
    """Return the hash that names a file: the first 16 hex digits of its SHA-256."""
    return sha256(data).hexdigest()[:16]


def encode_items(items: Iterable[Item]) -> bytes:
    """Return items as JSON lines."""
    return b"".join(msgspec.json.encode(item) + b"\n" for item in items)


def decode_items(data: bytes, source: str) -> tuple[Item, ...]:
    """Return the items in a text of JSON lines; raise BadInput with the number of the invalid
    line."""
    items = []
    for number, line in enumerate(data.splitlines(), 1):
        if line.strip():
            try:
                item = msgspec.json.decode(line, type=Item)
            except (msgspec.DecodeError, UnicodeError) as error:
                raise BadInput(f"{source}, line {number}: {error}") from None
            items.append(check_item(item, f"{source}, line {number}"))
    if not items:
        raise BadInput(f"{source}: no items; a file of items has one JSON object per line.")
    return tuple(items)


def read_items(path: Path) -> tuple[Item, ...]:
    """Return the items of a file; raise BadInput if it cannot be read."""
    try:
        return decode_items(path.read_bytes(), str(path))
    except OSError as error:
        raise BadInput(f"{path}: cannot be read ({error.strerror}).") from None


def read_utf8(file: Path) -> str:
    """Return the text of a file of a published battery.

    Raises:
        BadInput: The file cannot be read, or is not written in UTF-8.
    """
    try:
        return file.read_bytes().decode("utf-8")
    except OSError as error:
        raise BadInput(f"{file} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError as error:
        raise BadInput(f"{file} is not written in UTF-8: byte {error.start} is not.") from None


def kept_at(hash: str) -> Path:
    """Return the path at which items with this hash are stored on this machine."""
    return cache_folder() / "batteries" / f"{hash}.jsonl"


def keep(data: bytes) -> str:
    """Store a file of items on this machine and return its hash, by which episodes name it."""
    hash = hash_of(data)
    kept_path = kept_at(hash)
    if not kept_path.exists():
        kept_path.parent.mkdir(parents=True, exist_ok=True)
        kept_path.write_bytes(data)
    return hash


@lru_cache(maxsize=8)
def _by_id(path: str, hash: str) -> dict[str, Item]:
    data = Path(path).read_bytes()
    if hash and hash_of(data) != hash:
        raise BadInput(f"{path} has hash {hash_of(data)}, but the instance asks for {hash}.")
    return {item.id: item for item in decode_items(data, path)}


def _locate_file(file: str, hash: str) -> Path:
    """Return the path of a file of items, found by path or, if stored on this machine, by hash."""
    path = Path(file)
    if not (file and path.is_file()) and hash:
        path = kept_at(hash)
    if not path.is_file():
        raise BadInput(
            f"The items of {file or hash} are not on this machine; create them with `sally import`."
        )
    return path


def story_of(file: str, hash: str, name: str) -> tuple[Item, ...]:
    """Return the item with this id, or all scored items of the story with this name."""
    items = _by_id(str(_locate_file(file, hash)), hash)
    if name in items:
        return (items[name],)
    story_items = tuple(item for item in items.values() if item.pair == name and item.sound)
    if not story_items:
        raise BadInput(f"{file or hash}: no item or story named {name!r}.")
    return story_items


def portable(params: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return parameters that name a file by base name and hash, and store the file on this machine.

    The text of imported items stays in local files; an episode store never contains it.
    """
    if params.get("generator") != "file" or not params.get("file"):
        return params
    path = _locate_file(str(params["file"]), str(params.get("hash", "")))
    return {**params, "file": Path(str(params["file"])).name, "hash": keep(path.read_bytes())}


def shown_orders(item: Item, orders: int, seed: int) -> tuple[tuple[int, ...], ...]:
    """Return the orders in which the options are shown; they are the same for every player."""
    return tuple(
        tuple(
            Stream(seed, "options", item.options_key or item.id, n).shuffled(
                range(len(item.options))
            )
        )
        for n in range(orders)
    )


def by_pair(items: Sequence[Item]) -> dict[str, list[Item]]:
    """Return the items by story."""
    items_by_story: dict[str, list[Item]] = {}
    for item in items:
        items_by_story.setdefault(item.pair or item.id, []).append(item)
    return items_by_story


def published_keys(item: Item) -> tuple[int, ...]:
    """Return the distinct keys that were published for an item."""
    keys = (item.published_answer, item.published_vp, item.published_cotp)
    return tuple(key for key in keys if key is not None) or (item.answer,)


def differs(item: Item) -> bool:
    """Return whether any published key of an item differs from its answer."""
    return any(key != item.answer for key in published_keys(item))
