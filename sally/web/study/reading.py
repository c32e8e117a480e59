"""A study file read and checked: whatever is wrong with it is one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from sally.core import shelf
from sally.core.errors import BadInput
from sally.core.log import Instance
from sally.web.live.seats import settled
from sally.web.study.definition import Condition, HumanStudy, Layout


def read_human_study(path: Path) -> HumanStudy:
    """A study from its file, with every name in it checked; whatever is wrong is one sentence."""
    try:
        study = msgspec.toml.decode(path.read_bytes(), type=HumanStudy)
    except OSError as why:
        raise BadInput(f"The study file {path} cannot be read: {why.strerror}.") from None
    except msgspec.ValidationError as why:
        raise BadInput(f"Study file {path}: {_plainly(str(why))}.") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as why:
        raise BadInput(f"Study file {path} is not TOML: {why}.") from None
    try:
        checked(study)
    except BadInput as why:
        raise BadInput(f"Study file {path}: {why}") from None
    return study


def _plainly(why: str) -> str:
    """msgspec's sentence with the place in front, as the file has it."""
    what, at, where = why.partition(" - at `$")
    place = where.rstrip("`").lstrip(".").replace("[...]", "")
    return f"{place}: {what.rstrip('.')}" if at and place else what.rstrip(".")


def checked(study: HumanStudy) -> None:
    """Refuse a study whose matches could not be opened; nobody should find that out but us."""
    _ = study.said, study.spoken  # its language, its own sentences, its words packs
    if strange := set(study.words) - {*study.games, *(shelf.family(g).name for g in study.games)}:
        raise BadInput(f"words names {min(strange)!r}, which is not a game of this study.")
    for condition in study.conditions:
        try:
            _check_condition(study, condition)
        except BadInput as why:
            raise BadInput(f"condition {condition.name!r}: {why}") from None


def _check_condition(study: HumanStudy, condition: Condition) -> None:
    problems = study.problems(condition)
    if not problems:
        raise BadInput("there are no instances; give some, or instances_of.")
    if not condition.people:
        raise BadInput("people must name the seats of participants.")
    if study.rounds is not None and condition.blocks:
        raise BadInput("it has blocks, so each block says how many rounds, not the study.")
    if study.rounds is not None and not 1 <= study.rounds <= len(problems):
        raise BadInput(f"rounds is {study.rounds}, but there are {len(problems)} instances.")
    played: list[tuple[Instance, Layout]] = []
    for there, many, layout in study.blocks(condition):
        if not there or many < 1:
            raise BadInput("a block has no instances.")
        if len(layout.people) != len(condition.people):
            raise BadInput("every block needs as many participants as its condition.")
        _refuse_same_ids(there)
        if again := [i.id for i in there if (i, layout) in played]:
            raise BadInput(f"two blocks play the instance {again[0]!r} in the same way.")
        played += [(i, layout) for i in there]
        for instance in there:
            people = dict.fromkeys(layout.people, "somebody")
            settled(study.setup(layout, instance, people), layout.people)


def _refuse_same_ids(problems: Sequence[Instance]) -> None:
    ids = [instance.id for instance in problems]
    for id in ids:
        if ids.count(id) > 1:
            raise BadInput(f"two instances have the id {id!r}.")
