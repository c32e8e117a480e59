"""What a study does with whom, as sentences: exclusion, time-outs, duplicates, pay."""

from __future__ import annotations

from sally.core.errors import listed
from sally.web.study.definition import HumanStudy
from sally.web.study.items import Choice


def rules_of(study: HumanStudy) -> list[str]:
    """Every rule by which participants and data are treated."""
    return [*_assignment(study), *_exclusion(study), *_time(study), *_quality(study), _pay(study)]


def _assignment(study: HumanStudy) -> list[str]:
    wanted = [f"{study.places(c):g} in {c.name!r}" for c in study.conditions]
    how = {
        "balanced": "Whoever joins is assigned to the condition that lacks most of its places.",
        "random": "Whoever joins is assigned at random, by the places that are left.",
    }[study.assignment]
    return [f"{study.participants} participants are wanted: {listed(wanted, 'and')}.", how]


def _exclusion(study: HumanStudy) -> list[str]:
    rules = []
    if study.check is not None:
        rules.append(
            f"Whoever has not answered the comprehension check correctly after "
            f"{study.check.tries} tries cannot go on, and the place is given away."
        )
    checks = sum(isinstance(item, Choice) and bool(item.attention) for item in study.survey)
    if checks:
        what = {
            "flag": "is marked in the data and stays in it",
            "exclude": "is excluded, is paid, and the place is given away",
        }[study.quality.attention]
        which = "the attention check" if checks == 1 else f"one of {checks} attention checks"
        rules.append(f"Whoever fails {which} {what}.")
    if study.platform.participant:
        rules.append("An id of the platform takes part once; a second visit under it is refused.")
    return rules


def _time(study: HumanStudy) -> list[str]:
    limits = study.limits
    rules = [
        f"Whoever sends nothing for {_many(limits.idle_minutes, 'minute')} loses the place.",
        f"A game stops when somebody does not answer for {_many(limits.answer_seconds, 'second')}; "
        "that person's remaining games are cancelled, and what was played is paid.",
    ]
    if any(len(c.people) > 1 for c in study.conditions):
        extra = study.bonus.partner_left
        paid = f", and is paid {extra:g} {study.bonus.currency} more" if extra else ""
        rules.append(
            f"Whoever waits {_many(limits.pair_minutes, 'minute')} without a partner, or whose "
            f"partner leaves, goes on to the end without further games{paid}."
        )
    return rules


def _many(number: float, unit: str) -> str:
    return f"{number:g} {unit}{'' if number == 1 else 's'}"


def _quality(study: HumanStudy) -> list[str]:
    rules = []
    if study.quality.log:
        rules.append(
            "Paste, focus, resize and typing time are logged, as the consent page says; nobody is "
            "excluded or paid less for them."
        )
    if study.quality.least_seconds:
        least = _many(study.quality.least_seconds, "second")
        rules.append(f"A survey answered in less than {least} is marked.")
    return rules


def _pay(study: HumanStudy) -> str:
    bonus = study.bonus
    most = "" if bonus.most is None else f", at most {bonus.most:g} {bonus.currency}"
    return (
        f"Pay is {bonus.base:g} {bonus.currency} and {bonus.per_point:g} {bonus.currency} for each "
        f"point of the games{most}."
    )
