"""The sequence of steps in a study, as pure functions of the answers so far."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from sally.core.rules.chance import Stream
from sally.players.language import uses_model
from sally.web.study.definition import (
    Bonus,
    Check,
    Condition,
    HumanStudy,
    Partner,
    PartnerPart,
)
from sally.web.study.items import Item, attention

END, FAILED = "end", "failed"
# Keys of notes beside the answers; they are not steps.
FALLBACK = "fallback"  # the person waited in vain and plays with bots
ADVANCED = "advanced-"  # prefix of steps that the experimenter skipped
PLATFORM = "platform"  # further parameters of the platform's link
MODEL = "model"  # a model takes the other seats of the person's group
READY = "ready-"  # prefix of chats that the person is done with
CHATTING = "chatting-"  # prefix of chats that the person has come to
REMOVED = "removed"  # the experimenter ended the participation at this step
EXCLUDED_BY = "excluded"  # the experimenter's reason for an exclusion
# Steps of surveys; the number is 0, that of a game or that of a block.
SURVEY, BEFORE, AFTER_GAME, AFTER_BLOCK = (
    "survey",
    "survey-before-0",
    "survey-game-",
    "survey-block-",
)
STEP_TEXTS = {  # for the experimenter's pages, with the numbers of a step from 1
    "instructions": "page {} of the instructions",
    "check": "check, try {}",
    "practice": "practice game {}",
    "block": "block {}, page {} of its instructions",
    "chat": "chat before game {}",
    "round": "game {}",
    "survey": "last survey",
    "survey-before": "survey before the games",
    "survey-game": "survey after game {}",
    "survey-block": "survey after block {}",
    FAILED: "screened out",
}
NOT_PLAYED = ("left", "partner left", "no partner")  # outcomes without a survey after the game


class CheckAttempt(msgspec.Struct, frozen=True):
    """An attempt at the comprehension check."""

    answers: tuple[str, ...]
    right: bool


class RoundOutcome(msgspec.Struct, frozen=True):
    """The outcome of a round for one person."""

    how: str  # ended, or why it was interrupted: left, partner left, no partner, ...
    payoff: float | None = None


Given = Mapping[str, Any]  # a person's answers by step


def current(study: HumanStudy, condition: Condition, answers: Given) -> str:
    """Return the current step: the first one without an answer."""
    for i, _ in enumerate(study.pages(condition)):
        if f"instructions-{i}" not in answers:
            return f"instructions-{i}"
    if study.check is not None:
        tries = [answers[key] for t in range(study.check.tries) if (key := f"check-{t}") in answers]
        if not any(tried["right"] for tried in tries):
            return f"check-{len(tries)}" if len(tries) < study.check.tries else FAILED
    for i, _ in enumerate(study.practice_games(condition)):
        if f"practice-{i}" not in answers:
            return f"practice-{i}"
    if study.survey_before and BEFORE not in answers:
        return BEFORE
    for step in game_steps(study, condition):
        if step in answers or _no_chat(step, answers):
            continue
        if not step.startswith(SURVEY) or _was_played(study, condition, step, answers):
            return step
    if survey_items(study, condition, SURVEY, answers) and SURVEY not in answers:
        return SURVEY
    return END


def step_text(step: str) -> str:
    """Return what a step is, in words; an unknown step is its own text."""
    kind, *numbers = re.split(r"-(?=\d)", step)
    return STEP_TEXTS.get(kind, step).format(*(int(number) + 1 for number in numbers))


def _was_played(study: HumanStudy, condition: Condition, step: str, answers: Given) -> bool:
    """Return whether the game or a game of the block before a survey was played."""
    number = int(step.rpartition("-")[2])
    games = [number]
    if step.startswith(AFTER_BLOCK):
        counts = [rounds for _, rounds, _ in study.blocks(condition)]
        games = list(range(sum(counts[:number]), sum(counts[: number + 1])))
    outcomes = [answers.get(f"round-{k}") for k in games]
    return any(came is not None and came["how"] not in NOT_PLAYED for came in outcomes)


def _no_chat(step: str, answers: Given) -> bool:
    """Return whether a step is a chat without a partner, or a chat before a game that was
    skipped."""
    if not step.startswith("chat-"):
        return False
    return FALLBACK in answers or f"round-{step.removeprefix('chat-')}" in answers


def game_steps(study: HumanStudy, condition: Condition) -> list[str]:
    """Return the steps of all rounds in order: pages of a block, chats and games."""
    steps, k = list[str](), 0
    for b, (_, rounds, _) in enumerate(study.blocks(condition)):
        pages = condition.blocks[b].instructions if condition.blocks else ()
        steps += [f"block-{b}-{i}" for i, _ in enumerate(pages)]
        for number in range(k, k + rounds):
            chat = [f"chat-{number}"] if number and condition.chat_seconds else []
            survey_steps = [f"{AFTER_GAME}{number}"] if study.survey_each_game else []
            steps += [*chat, f"round-{number}", *survey_steps]
        k += rounds
        if condition.blocks and condition.blocks[b].survey:
            steps.append(f"{AFTER_BLOCK}{b}")
    return steps


def rounds_in(study: HumanStudy, condition: Condition, answers: Given) -> list[RoundOutcome]:
    """Return the outcome of each round that is over."""
    keys = (f"round-{k}" for k in range(study.rounds_of(condition)))
    return [msgspec.convert(answers[key], RoundOutcome) for key in keys if key in answers]


# --- what depends on the condition and the partner ----------------------------------------------


def partner_kind(study: HumanStudy, condition: Condition, answers: Given) -> Partner:
    """Return with whom a participant plays: with people if the condition forms groups, unless a
    model or a bot took the other seats; else with a model, if one is among the other players."""
    if MODEL in answers:
        return "model"
    if FALLBACK in answers:
        return "bot"
    if len(condition.people) > 1:
        return "person"
    others = (
        player for _, _, layout in study.blocks(condition) for player in layout.others.values()
    )
    return "model" if any(map(uses_model, others)) else "bot"


def partner_part(study: HumanStudy, condition: Condition, answers: Given) -> PartnerPart:
    """Return the additions for a participant's kind of partner."""
    return study.by_partner.get(partner_kind(study, condition, answers), PartnerPart())


def pay_rule(study: HumanStudy, condition: Condition, answers: Given) -> Bonus:
    """Return the pay rule of a participant."""
    return study.pay_rules(condition)[partner_kind(study, condition, answers)]


def debriefs(study: HumanStudy, condition: Condition, answers: Given) -> list[str]:
    """Return a participant's debriefing: of the study, the condition and the kind of partner."""
    texts = (study.debrief, condition.debrief, partner_part(study, condition, answers).debrief)
    return [text for text in texts if text]


def survey_items(
    study: HumanStudy, condition: Condition, step: str, answers: Given
) -> tuple[Item, ...]:
    """Return the items of the survey at a step."""
    if step == BEFORE:
        return study.survey_before
    if step.startswith(AFTER_GAME):
        return study.survey_each_game
    if step.startswith(AFTER_BLOCK):
        return condition.blocks[int(step.removeprefix(AFTER_BLOCK))].survey
    added = partner_part(study, condition, answers).survey
    return (*study.survey, *condition.survey, *added)


def attention_counts(study: HumanStudy, condition: Condition, answers: Given) -> tuple[int, int]:
    """Return the numbers of passed and of answered attention checks in all surveys."""
    steps = [step for step in answers if step == SURVEY or step.startswith(f"{SURVEY}-")]
    counts = [
        attention(survey_items(study, condition, step, answers), answers[step] or {})
        for step in steps
    ]
    return sum(passed for passed, _ in counts), sum(total for _, total in counts)


def paid_games(
    study: HumanStudy,
    condition: Condition,
    answers: Given,
    number: int,
    rounds: Sequence[RoundOutcome],
) -> list[int]:
    """Return the games, from 0, whose points are paid.

    With `random_games` they are the first ones with points in an order that the study's seed and
    the participant's number determine before anything is played.
    """
    with_points = [k for k, came in enumerate(rounds) if came.payoff is not None]
    drawn_games = pay_rule(study, condition, answers).random_games
    if not drawn_games:
        return with_points
    games = range(study.rounds_of(condition))
    ranks = {k: rank for rank, k in enumerate(Stream(study.seed, "paid", number).shuffled(games))}
    return sorted(sorted(with_points, key=ranks.__getitem__)[:drawn_games])


def pay_of(
    study: HumanStudy,
    condition: Condition,
    answers: Given,
    number: int,
    rounds: Sequence[RoundOutcome],
    partner_left: bool = False,
) -> str:
    """Return the pay of a participant in whole cents."""
    games = paid_games(study, condition, answers, number, rounds)
    rule = pay_rule(study, condition, answers)
    return str(rule.of([rounds[k].payoff for k in games], partner_left))


def judge_check(check: Check, answers: Sequence[str]) -> CheckAttempt:
    """Return an attempt at the comprehension check with its score."""
    pairs = zip(check.questions, answers, strict=True)
    return CheckAttempt(tuple(answers), all(q.right == answer for q, answer in pairs))
