"""Survey items: their schema in a study file, and reading their answers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from sally.web.texts import Texts

MOST_TEXT = 4000  # most characters of a free-text answer
MOST_NUMBER = 999_999_999  # nine digits, as many as `read` accepts
MOST_OPTIONS = 30  # most options of an item, which bounds the form
Sent = Mapping[str, str]  # the fields of a form


class StudySection(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Base of all tables of a study file; unknown keys are errors."""


class Unanswered(Exception):
    """Raised for an invalid or missing answer, with the message for the participant."""


def check_options(question: str, options: Sequence[str]) -> None:
    """Raise ValueError unless there are 2 to `MOST_OPTIONS` different options."""
    if not 2 <= len(options) <= MOST_OPTIONS or len(set(options)) < len(options):
        raise ValueError(f"{question!r} needs 2 to {MOST_OPTIONS} options, all different")


def _check_range(question: str, low: float, high: float) -> None:
    """Raise ValueError if an answer between two numbers could be too long to be read."""
    if max(-low, high) > MOST_NUMBER:
        raise ValueError(f"{question!r}: low and high must be between ±{MOST_NUMBER:,}")


class ChoiceItem(StudySection, frozen=True, tag_field="kind", tag="choice"):
    """A single choice; with `attention` set, an attention check."""

    name: str
    question: str
    options: tuple[str, ...]
    required: bool = True
    attention: str = ""  # the correct answer of an attention check

    def __post_init__(self) -> None:
        check_options(self.question, self.options)
        if self.attention and self.attention not in self.options:
            raise ValueError(f"{self.question!r}: `attention` must be one of the `options`")

    def read(self, value: str, sent: Sent, t: Texts) -> Any:
        if value not in self.options:
            raise Unanswered(t("survey.choose"))
        return value


class LikertItem(StudySection, frozen=True, tag_field="kind", tag="likert"):
    """Agreement on a labelled scale; stored as a number from 1."""

    name: str
    question: str
    options: tuple[str, ...] = (
        "Strongly disagree",
        "Disagree",
        "Neither agree nor disagree",
        "Agree",
        "Strongly agree",
    )
    required: bool = True

    def __post_init__(self) -> None:
        check_options(self.question, self.options)

    def read(self, value: str, sent: Sent, t: Texts) -> Any:
        if not re.fullmatch(r"[0-9]{1,2}", value) or not 1 <= int(value) <= len(self.options):
            raise Unanswered(t("survey.choose"))
        return int(value)


class ScaleItem(StudySection, frozen=True, tag_field="kind", tag="scale"):
    """An integer from `low` to `high`, with labels at both ends."""

    name: str
    question: str
    low: int = 1
    high: int = 7
    low_label: str = ""
    high_label: str = ""
    required: bool = True

    def __post_init__(self) -> None:
        if not 1 <= self.high - self.low <= 100:
            raise ValueError(f"{self.question!r}: high must be 1 to 100 above low")
        _check_range(self.question, self.low, self.high)

    def read(self, value: str, sent: Sent, t: Texts) -> Any:
        if not re.fullmatch(r"-?[0-9]{1,9}", value) or not self.low <= int(value) <= self.high:
            raise Unanswered(t("survey.number", low=self.low, high=self.high))
        return int(value)


class SliderItem(StudySection, frozen=True, tag_field="kind", tag="slider"):
    """A slider; it counts as unanswered until it is moved."""

    name: str
    question: str
    low: float = 0.0
    high: float = 100.0
    step: float = 1.0
    low_label: str = ""
    high_label: str = ""
    required: bool = True

    def __post_init__(self) -> None:
        if not self.low < self.high or not 0 < self.step <= self.high - self.low:
            raise ValueError(
                f"{self.question!r}: high must be above low, and step above 0 and at most their "
                "difference"
            )
        _check_range(self.question, self.low, self.high)

    def read(self, value: str, sent: Sent, t: Texts) -> Any:
        if not re.fullmatch(r"-?[0-9]{1,9}(\.[0-9]{1,6})?", value):
            raise Unanswered(t("survey.slider"))
        number = float(value)
        if not self.low <= number <= self.high:
            raise Unanswered(t("survey.number", low=f"{self.low:g}", high=f"{self.high:g}"))
        return number


class MatrixItem(StudySection, frozen=True, tag_field="kind", tag="matrix"):
    """Several rows with the same options."""

    name: str
    question: str
    rows: tuple[str, ...]
    options: tuple[str, ...]
    required: bool = True

    def __post_init__(self) -> None:
        check_options(self.question, self.options)
        if not 1 <= len(self.rows) <= MOST_OPTIONS or len(set(self.rows)) < len(self.rows):
            raise ValueError(f"{self.question!r} needs 1 to {MOST_OPTIONS} rows, all different")

    def read(self, value: str, sent: Sent, t: Texts) -> Any:
        row_answers = {
            row: sent.get(f"item-{self.name}-{i}", "") for i, row in enumerate(self.rows)
        }
        if self.required and not all(row_answers.values()):
            raise Unanswered(t("survey.row"))
        if any(answer and answer not in self.options for answer in row_answers.values()):
            raise Unanswered(t("survey.choose"))
        return {row: answer or None for row, answer in row_answers.items()}


class TextItem(StudySection, frozen=True, tag_field="kind", tag="text"):
    """A free-text answer."""

    name: str
    question: str
    limit: int = 500
    required: bool = False

    def __post_init__(self) -> None:
        if not 1 <= self.limit <= MOST_TEXT:
            raise ValueError(f"{self.question!r}: limit must be from 1 to {MOST_TEXT}")

    def read(self, value: str, sent: Sent, t: Texts) -> Any:
        text = value.replace("\r\n", "\n").strip()  # browsers send CRLF
        if len(text) > self.limit:
            raise Unanswered(t("survey.too_long", limit=self.limit, length=len(text)))
        return text


Item = ChoiceItem | LikertItem | ScaleItem | SliderItem | MatrixItem | TextItem


def read_survey(
    items: Sequence[Item], sent: Sent, t: Texts
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the valid answers and the error messages, both by item."""
    answers: dict[str, Any] = {}
    wrong: dict[str, str] = {}
    for item in items:
        value = sent.get(f"item-{item.name}", "")
        if not value.strip() and not isinstance(item, MatrixItem):
            answers[item.name] = None
            if item.required:
                wrong[item.name] = t("survey.required")
            continue
        try:
            answers[item.name] = item.read(value, sent, t)
        except Unanswered as error:
            wrong[item.name] = str(error)
    return answers, wrong


def attention(items: Sequence[Item], answers: Mapping[str, Any]) -> tuple[int, int]:
    """Return the numbers of passed and of answered attention checks."""
    checks = [item for item in items if isinstance(item, ChoiceItem) and item.attention]
    answered = [item for item in checks if answers.get(item.name) is not None]
    return sum(answers[item.name] == item.attention for item in answered), len(answered)
