"""Importer of BigToM: the rows of `bigtom.csv` as items, with the cells of its design.

A row has a story of five sentences (context, desire, percept, belief, event), the percepts and
actions of an aware and of an unaware person, questions with two answers each, and an irrelevant
event. The released generator marks the aware answer as right in the cell percept-to-belief,
although the story in that cell does not contain the event; here `answer` is the other option, and
the published key is stored as well. In the backward-belief task, the true control and the false
control have the same text; the false control is flagged.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

from sally.core.errors import BadInput
from sally.games.battery.items import Belief, Item, read_utf8

FILE, COLUMNS = "bigtom.csv", 19
FORWARD = ("forward_belief", "forward_action")
SEEN = {"true_belief": 0, "false_belief": 1}  # index of the right answer


def read_items(checkout: Path) -> list[Item]:
    """Return the 25 items of each row of `bigtom.csv`, given a checkout or the file itself."""
    files = [checkout] if checkout.is_file() else sorted(checkout.rglob(FILE))
    if not files:
        raise BadInput(f"{checkout} has no {FILE}; give a checkout of procedural-evals-tom.")
    try:
        rows = list(csv.reader(StringIO(read_utf8(files[0]), newline=""), delimiter=";"))
    except csv.Error as error:
        raise BadInput(f"{files[0]}: {error}") from None
    return [item for number, row in enumerate(rows) for item in _items(number, row, files[0])]


def _items(number: int, row: list[str], file: Path) -> Iterator[Item]:
    if len(row) != COLUMNS:
        raise BadInput(f"{file}, line {number + 1}: {len(row)} columns instead of {COLUMNS}.")
    row = [cell.strip() for cell in row]
    (story, aware, unaware, if_aware, if_not, believes, _, does, aware_belief, _, aware_act,
     other_belief, _, other_act, random, saw_random, missed_random) = row[:17]  # fmt: skip
    sentences = re.split(r"(?<=[.!?])\s+", story)
    if len(sentences) != 5:
        raise BadInput(f"{file}, line {number + 1}: {len(sentences)} sentences instead of five.")
    beliefs, acts = (aware_belief, other_belief), (aware_act, other_act)
    pair = f"story-{number:03d}"
    for stated in (0, 1):
        opening = sentences[:4] if stated else sentences[:3]
        last = {
            "true_belief": (sentences[4], aware, if_aware),
            "false_belief": (sentences[4], unaware, if_not),
            "true_control": (random, saw_random, if_not),
            "false_control": (random, missed_random, if_not),
        }
        for task in (*FORWARD, "backward_belief"):
            for cell, (event, percept, act) in last.items():
                end = act if task == "backward_belief" else percept
                action = task == "forward_action"
                key = SEEN.get(cell, 1)
                control_id = f"bigtom-{number:03d}-{stated}-backward_belief-true_control"
                twin = task == "backward_belief" and cell == "false_control"
                yield Item(
                    id=f"bigtom-{number:03d}-{stated}-{task}-{cell}",
                    story=" ".join([*opening, event, end]),
                    question=does if action else believes,
                    options=acts if action else beliefs,
                    answer=key,
                    task=task,
                    order=1,
                    condition=cell,
                    pair=pair,
                    flags=(f"same text as {control_id}",) if twin else (),
                    belief_stated=bool(stated),
                    belief=Belief(believes, beliefs, key, (0, 1)) if action else None,
                )
    yield Item(
        id=f"bigtom-{number:03d}-percept",
        story=" ".join(sentences[:3]),
        question=believes,
        options=beliefs,
        answer=1,
        task="percept_to_belief",
        order=1,
        condition="percept",
        pair=pair,
        belief_stated=False,
        published_answer=0,
    )
