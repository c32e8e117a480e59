"""Importer of ToMBench: twenty files of questions in English and Chinese, with one answer key for
both languages.

Two-option items have the unquoted token NaN for the missing options, and one key ends in a dot.
Items are flagged, and not scored, if the same story and question have two keys, an option is listed
twice, the right option of a false-belief item is not named in the English story, or a question is
the only one about its story.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from sally.core.errors import BadInput
from sally.games.battery.items import Item, read_utf8

TASKS = {
    "Ambiguous Story Task": "ast",
    "False Belief Task": "fbt",
    "Faux-pas Recognition Test": "frt",
    "Hinting Task Test": "ht",
    "Persuasion Story Task": "pst",
    "Scalar Implicature Test": "sit",
    "Strange Story Task": "sst",
    "Unexpected Outcome Test": "uot",
}
FALSE_BELIEF = (  # the six questions of a story, with the order of belief
    ("reality", 0),
    ("memory", 0),
    ("true_belief", 1),
    ("false_belief", 1),
    ("second_order", 2),
    ("second_order_back", 2),
)
FAUX_PAS = 4  # questions of a story; the numbering in the file slips
FIELDS = {
    "en": ("STORY", "QUESTION", tuple(f"OPTION-{letter}" for letter in "ABCD")),
    "zh": ("故事", "问题", tuple(f"选项{letter}" for letter in "ABCD")),
}
Language = Literal["en", "zh"]


def read_items(checkout: Path, language: Language = "en") -> list[Item]:
    """Return the questions in a checkout of ToMBench, in one language."""
    folder = checkout / "data" if (checkout / "data").is_dir() else checkout
    files = sorted(folder.glob("*.jsonl"))
    if not any(file.stem in TASKS for file in files):
        raise BadInput(f"{checkout} has no data of ToMBench, such as data/False Belief Task.jsonl.")
    return [item for file in files for item in _file(file, language)]


def _file(file: Path, language: Language) -> list[Item]:
    task = file.stem
    short = TASKS.get(task) or "x_" + re.sub(r"\W+", "_", task).lower()
    rows = []
    for number, line in enumerate(read_utf8(file).splitlines(), 1):
        try:
            row = json.loads(line)  # NaN is no JSON, but Python reads it
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict):
            raise BadInput(f"{file}, line {number}: not a JSON object.")
        rows.append(row)
    items, story = list[Item](), 0
    indices = [str(_field(row, "INDEX", file, n)) for n, row in enumerate(rows)]
    numbered = len(set(indices)) > 1
    for number, row in enumerate(rows):
        if task == "Faux-pas Recognition Test":
            story = number // FAUX_PAS + 1
        elif numbered:
            story += indices[number] == "1" or not story
        else:  # all questions are numbered 1; translations of one story differ, the original not
            is_same_story = number and row.get("故事") == rows[number - 1].get("故事")
            story += not is_same_story
        items.append(_item(row, file, number, f"{short}-{story:03d}", short, language))
    return _flag_items(items, task, language)


def _field(row: Mapping[str, Any], name: str, file: Path, number: int) -> Any:
    """Return the field whose name ends with `name`; field names are bilingual, on two lines."""
    for key, value in row.items():
        if key.split("\n")[-1] == name:
            return value
    raise BadInput(f"{file}, line {number + 1}: no field {name}.")


def _plain(text: Any) -> str:
    """Return a text with runs of whitespace collapsed."""
    return " ".join(str(text).split())


def _item(
    row: Mapping[str, Any], file: Path, number: int, pair: str, short: str, language: Language
) -> Item:
    story, question, names = FIELDS[language]
    options = tuple(
        re.sub(r"^[A-D]\. ", "", _plain(text))
        for name in names
        if isinstance(text := row.get(name), str) and text.strip()
    )
    letter = str(_field(row, "ANSWER", file, number)).strip()[:1]
    place = "ABCD".find(letter)
    if not letter or not 0 <= place < len(options):
        raise BadInput(
            f"{file}, line {number + 1}: the answer key {letter!r} is not one of the options."
        )
    condition, order = None, None
    if short == "fbt":
        condition, order = FALSE_BELIEF[number % len(FALSE_BELIEF)]
    return Item(
        id=f"tombench-{short}-{number:03d}",
        story=_plain(_field(row, story, file, number)),
        question=_plain(_field(row, question, file, number)),
        options=options,
        answer=place,
        task=file.stem,
        order=order,
        condition=condition,
        pair=pair,
        ability=str(_field(row, "ABILITY", file, number)).strip(),
    )


def _flag_items(items: Sequence[Item], task: str, language: Language) -> list[Item]:
    question_counts = Counter((item.story, item.question) for item in items)
    stories = Counter(item.story for item in items)
    flagged_items = []
    for place, item in enumerate(items):
        flags = []
        if len(set(item.options)) < len(item.options):
            flags.append("same option twice")
        if question_counts[item.story, item.question] > 1 and _keys(items, item) > 1:
            flags.append("same story and question with another key")
        if task == "False Belief Task" and language == "en":
            right_option = item.options[item.answer].casefold()
            if right_option not in item.story.casefold():
                flags.append("right option is not named in the story")
        if task == "Faux-pas Recognition Test":
            alone = stories[item.story] == 1 and _is_cut_off(items, place)
            if alone:
                flags.append("asks about a story that has no other question")
        flagged_items.append(msgspec.structs.replace(item, flags=tuple(flags)))
    return flagged_items


def _keys(items: Sequence[Item], item: Item) -> int:
    """Return how many different options the answer keys give as right for the item's question."""
    same_question = [i for i in items if (i.story, i.question) == (item.story, item.question)]
    return len({i.options[i.answer] for i in same_question})


def _is_cut_off(items: Sequence[Item], place: int) -> bool:
    """Return whether a story differs from the stories before and after it by more than a few
    words."""
    others = [items[n].story for n in (place - 1, place + 1) if 0 <= n < len(items)]
    return not any(_alike(items[place].story, neighbour) for neighbour in others)


def _alike(first: str, second: str) -> bool:
    """Return whether two texts share four fifths of the words of the shorter one."""
    a, b = set(first.split()), set(second.split())
    return len(a & b) > 0.8 * min(len(a), len(b))
