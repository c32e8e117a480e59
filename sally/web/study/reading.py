"""A study file read and checked: whatever is wrong with it is one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from sally.core.errors import BadInput, unknown
from sally.core.log.events import Instance
from sally.core.registry import registry
from sally.web.live.seats import settled
from sally.web.study.definition import Condition, HumanStudy, Layout
from sally.web.texts import Texts, languages, shipped


def read_human_study(path: Path) -> HumanStudy:
    """A study from its file, with every name in it checked; whatever is wrong is one sentence."""
    try:
        study = msgspec.convert(completed(msgspec.toml.decode(path.read_bytes())), HumanStudy)
    except OSError as why:
        raise BadInput(f"The study file {path} cannot be read: {why.strerror}.") from None
    except msgspec.ValidationError as why:
        raise BadInput(f"Study file {path}: {_plainly(str(why))}.") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as why:
        raise BadInput(f"Study file {path} is not TOML: {why}.") from None
    except BadInput as why:
        raise BadInput(f"Study file {path}: {why}") from None
    try:
        checked(study)
    except BadInput as why:
        raise BadInput(f"Study file {path}: {why}") from None
    return study


def completed(raw: Any) -> Any:
    """The file with instances in the place of their ids, and the usual sentences of its language.

    What is no study at all is left to the schema, which says so.
    """
    if not isinstance(raw, dict):
        return raw
    found = dict(raw)
    for condition in _tables(found, "conditions"):
        for part in (condition, *_tables(condition, "blocks")):
            part["instances"] = _instances(part.get("instances", []), found.get("instances", []))
    if found.get("language") in languages():
        _say(found, shipped(found["language"]))
    return found


def _tables(within: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """The tables of a list, each as a copy that stands in its place."""
    if isinstance(within.get(name), list):
        within[name] = [dict(part) if isinstance(part, dict) else part for part in within[name]]
    return [part for part in within.get(name) or () if isinstance(part, dict)]


def _instances(named: Any, of_study: Any) -> Any:
    """Instances of a part, of which each may be named by its id in the study."""
    if not isinstance(named, list) or not isinstance(of_study, list):
        return named
    known = {each.get("id"): each for each in of_study if isinstance(each, dict)}
    for each in named:
        if isinstance(each, str) and each not in known:
            raise unknown("instance", each, [str(id) for id in known])
    return [known[each] if isinstance(each, str) else each for each in named]


def _say(study: dict[str, Any], t: Texts) -> None:
    """Fill in what every study says, unless this one says it otherwise."""
    study.setdefault("debrief", t("end.debrief"))
    if isinstance(study.get("consent"), dict):
        study["consent"] = {"agree": t("consent.agree"), **study["consent"]}
    for item in _tables(study, "survey"):
        if item.get("kind") == "likert":
            item.setdefault("options", [t(f"survey.likert_{n}") for n in range(1, 6)])


def _plainly(why: str) -> str:
    """msgspec's sentence with the place in front, as the file has it."""
    what, at, where = why.partition(" - at `$")
    place = where.rstrip("`").lstrip(".").replace("[...]", "")
    return f"{place}: {what.rstrip('.')}" if at and place else what.rstrip(".")


def checked(study: HumanStudy) -> None:
    """Refuse a study whose matches could not be opened; nobody should find that out but us."""
    _ = study.said, study.spoken  # its language, its own sentences, its words packs
    if strange := set(study.words) - {
        *study.games,
        *(registry.family(g).name for g in study.games),
    }:
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
