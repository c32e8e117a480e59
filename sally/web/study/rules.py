"""The rules of a study as sentences about assignment, exclusion, time limits, duplicates and
pay."""

from __future__ import annotations

from sally.core.errors import join_names
from sally.web.live.match import MOST_TIMEOUTS
from sally.web.study.definition import BOT, SKIP, Bonus, HumanStudy
from sally.web.study.items import ChoiceItem


def rules_of(study: HumanStudy) -> list[str]:
    """Return every rule applied to participants and data."""
    return [
        *_assignment(study),
        *_extras(study),
        *_exclusion(study),
        *_time(study),
        *_quality(study),
        *_pay(study),
    ]


def _assignment(study: HumanStudy) -> list[str]:
    targets = [f"{study.places(c):g} in {c.name!r}" for c in study.conditions]
    method = {
        "balanced": "New participants are assigned to the condition that is filled least.",
        "random": "New participants are assigned at random, in proportion to the places left.",
    }[study.assignment]
    rules = [
        f"The target is {study.participants} participants: {join_names(targets, 'and')}.",
        method,
    ]
    if any(len(c.people) > 1 for c in study.conditions):
        rules.append(
            "Participants who play together are grouped in order of arrival among conditions with "
            "the same pages before the first game; then the group is assigned to a condition."
        )
    rules += [
        f"In {c.name!r} every game is played with another partner: in order of waiting, strangers "
        "first, and a former partner after half of the longest wait."
        for c in study.conditions
        if c.rematch
    ]
    return rules


def _extras(study: HumanStudy) -> list[str]:
    rules = []
    if study.practice:
        rules.append(
            "Before the first game, each participant plays a short practice problem of each game "
            "with bots and gets feedback; it is neither paid nor exported."
        )
    for condition in study.conditions:
        if condition.chat_seconds:
            duration = _with_unit(condition.chat_seconds, "second")
            rules.append(
                f"In {condition.name!r} the members of a group may talk for at most {duration} "
                "between two games."
            )
    if study.models:
        group_texts = [
            f"{_with_unit(m.participants, 'group')} with {m.model}" for m in study.models
        ]
        disclosure = "told before the games" if study.disclose_models else "told only at the end"
        rules.append(
            f"Models take the other seats in {join_names(group_texts, 'and')}, drawn when a "
            f"participant "
            f"begins to wait; participants are {disclosure} that others may be models."
        )
    return rules


def _exclusion(study: HumanStudy) -> list[str]:
    rules = []
    if study.check is not None:
        rules.append(
            f"Participants who fail the comprehension check {study.check.tries} times are screened "
            "out, and their place is given to another person."
        )
    items = study.survey_items.values()
    checks = sum(isinstance(item, ChoiceItem) and bool(item.attention) for item in items)
    if checks:
        consequence = {
            "flag": "are flagged in the data and not excluded",
            "exclude": "are excluded and paid, and their place is given to another person",
        }[study.quality.attention]
        checks_text = "the attention check" if checks == 1 else f"one of {checks} attention checks"
        rules.append(f"Participants who fail {checks_text} {consequence}.")
    if study.platform.participant:
        rules.append("Each platform id can take part once; a second participation is refused.")
    return rules


def _time(study: HumanStudy) -> list[str]:
    limits = study.limits
    rules = [
        f"Participants inactive for {_with_unit(limits.idle_minutes, 'minute')} lose their place.",
        _late(study),
    ]
    if limits.model_seconds[1]:
        shortest, longest = limits.model_seconds
        rules.append(f"Answers of models are shown after {shortest:g} to {longest:g} seconds.")
    if any(len(c.people) > 1 for c in study.conditions):
        extra = study.bonus.partner_left
        paid = f" and are paid {extra:g} {study.bonus.currency} more" if extra else ""
        wait = (
            f"Participants who wait {_with_unit(limits.pair_minutes, 'minute')} without a partner"
        )
        if limits.fallback == SKIP:
            rules.append(f"{wait}, or whose partner leaves, skip the remaining games{paid}.")
        else:
            bot = "the game's usual bot" if limits.fallback == BOT else limits.fallback
            rules.append(f"{wait} play with {bot}, which the data mark as fallback.")
            rules.append(f"Participants whose partner leaves skip the remaining games{paid}.")
    return rules


def _late(study: HumanStudy) -> str:
    within = _with_unit(study.limits.answer_seconds, "second")
    stops = "the remaining games are cancelled, and the points earned so far are paid."
    if study.limits.timeout == "match":
        return f"A game stops when a player does not answer for {within}; {stops}"
    return (
        f"A player who does not answer within {within} forfeits the turn. After "
        f"{MOST_TIMEOUTS} such turns in a row the game stops; {stops}"
    )


def _with_unit(number: float, unit: str) -> str:
    return f"{number:g} {unit}{'' if number == 1 else 's'}"


def _quality(study: HumanStudy) -> list[str]:
    rules = []
    if study.quality.log:
        rules.append(
            "Paste, focus, resize and typing time are logged, as the consent page says; they lead "
            "neither to exclusion nor to lower pay."
        )
    if study.quality.least_seconds:
        shortest = _with_unit(study.quality.least_seconds, "second")
        rules.append(f"Surveys answered in less than {shortest} are flagged.")
    return rules


def _pay(study: HumanStudy) -> list[str]:
    """Return the pay rule, and those of conditions and kinds of partners that differ from it."""
    rules = [f"Pay is {_pay_rule(study.bonus)}."]
    for condition in study.conditions:
        by_partner = study.pay_rules(condition)
        usual = study.bonus.changed_by(condition.bonus)
        if usual != study.bonus:
            rules.append(f"In {condition.name!r} pay is {_pay_rule(usual)}.")
        rules += [
            f"In {condition.name!r} pay of those who play with a {kind} is {_pay_rule(rule)}."
            for kind, rule in by_partner.items()
            if rule != usual
        ]
    return rules


def _pay_rule(bonus: Bonus) -> str:
    limit_text = "" if bonus.most is None else f", at most {bonus.most:g} {bonus.currency}"
    games = ""
    if bonus.random_games:
        games = f" in {_with_unit(bonus.random_games, 'game')} drawn at random"
    return (
        f"{bonus.base:g} {bonus.currency} plus {bonus.per_point:g} {bonus.currency} per "
        f"point{games}{limit_text}"
    )
