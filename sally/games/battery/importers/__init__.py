"""Importers of published batteries as files of items."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from sally.core.registry.paper import Importer, ImportOption, ImportResult
from sally.games.battery.importers import bigtom, hitom, tombench
from sally.games.battery.items import Item, by_pair, differs, encode_items, hash_of, keep
from sally.games.battery.study_file import study_text

STUDY = ImportOption(
    "study",
    "Also write a study (.toml) that asks a model every story: `sally run FILE --model ...`.",
    Path,
)


def write_items(
    read: Callable[..., Sequence[Item]],
    checkout: Path,
    *,
    out: Path,
    study: Path | None = None,
    **options: Any,
) -> ImportResult:
    """Write the items of a checkout to a file, keep a copy under their hash, and count them."""
    items = read(checkout, **options)
    data = encode_items(items)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_bytes(data)
    if study is not None:
        study.parent.mkdir(parents=True, exist_ok=True)
        study.write_text(study_text(items, out.stem, str(out), hash_of(data)))
    counts = {
        "items": len(items),
        "stories": len(by_pair(items)),
        "not scored": sum(not item.sound for item in items),
        "keys that differ from a published one": sum(map(differs, items)),
    }
    hashed = keep(data)
    written = f"Written: {out}. Audit it with `sally audit battery --items {out}`."
    return ImportResult(
        (), counts, (f"hash: {hashed}", written), {"hash": hashed, "file": str(out)}
    )


def _importer(
    name: str, about: str, read: Callable[..., Sequence[Item]], *options: ImportOption
) -> Importer:
    return Importer(name, about, partial(write_items, read), (STUDY, *options), writes_file=True)


IMPORTERS = (
    _importer(
        "bigtom",
        "BigToM from a checkout of cicl-stanford/procedural-evals-tom, as items of `battery`",
        bigtom.read_items,
    ),
    _importer(
        "hitom",
        "Hi-ToM from a checkout of ying-hui-he/Hi-ToM_dataset, with answers from its rules",
        hitom.read_items,
    ),
    _importer(
        "tombench",
        "ToMBench from a checkout of zhchen18/ToMBench, as items of `battery`",
        tombench.read_items,
        ImportOption("language", "Language of the items.", str, ("en", "zh")),
    ),
)
