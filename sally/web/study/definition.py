"""A study with people, as data: a TOML file checked by its schema; nothing in it is evaluated."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal
from hashlib import blake2b
from pathlib import Path
from typing import Literal
from urllib.parse import quote

import msgspec

from sally.core import shelf
from sally.core.chance import derived_seed
from sally.core.errors import BadInput, listed, unknown
from sally.core.log import Instance, Setup, Sitter
from sally.core.probe import Injection
from sally.web.live.seats import PERSON, settled

NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")  # stands in addresses
GIVEN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")  # a platform's name for a person
CENT = Decimal("0.01")
MOST_TEXT = 4000  # characters of an answer in one's own words
EXAMPLE = Path(__file__).parent / "example_study.toml"


class Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The base of all parts of a study file: a misspelt key is an error."""


class Consent(Part, frozen=True):
    """What people agree to, and the sentence that they tick."""

    text: str
    agree: str = "I have read this and I agree to take part."


class Question(Part, frozen=True):
    """One question of the comprehension check."""

    question: str
    options: tuple[str, ...]
    right: str

    def __post_init__(self) -> None:
        _several(self.question, self.options)
        if self.right not in self.options:
            raise ValueError(f"{self.question!r}: right must be one of its options")


class Check(Part, frozen=True):
    """Whether the instructions were understood; after so many wrong tries people are excluded."""

    questions: tuple[Question, ...]
    tries: int = 2

    def __post_init__(self) -> None:
        if not self.questions or not 1 <= self.tries <= 10:
            raise ValueError("a check needs at least one question and 1 to 10 tries")


class Choice(Part, frozen=True, tag_field="kind", tag="choice"):
    """One of these."""

    name: str
    question: str
    options: tuple[str, ...]
    required: bool = True

    def __post_init__(self) -> None:
        _several(self.question, self.options)

    def read(self, given: str) -> str:
        if given not in self.options:
            raise ValueError(f"Choose {listed(self.options, 'or')}.")
        return given


class Scale(Part, frozen=True, tag_field="kind", tag="scale"):
    """A whole number from `low` to `high`, with words at both ends."""

    name: str
    question: str
    low: int = 1
    high: int = 7
    low_label: str = ""
    high_label: str = ""
    required: bool = True

    def __post_init__(self) -> None:
        if not 1 <= self.high - self.low <= 100:
            raise ValueError(f"{self.question!r}: a scale goes from low to a higher number")

    def read(self, given: str) -> int:
        if not re.fullmatch(r"-?[0-9]{1,9}", given) or not self.low <= int(given) <= self.high:
            raise ValueError(f"Choose a number from {self.low} to {self.high}.")
        return int(given)


class Text(Part, frozen=True, tag_field="kind", tag="text"):
    """Words of one's own."""

    name: str
    question: str
    limit: int = 500
    required: bool = False

    def __post_init__(self) -> None:
        if not 1 <= self.limit <= MOST_TEXT:
            raise ValueError(f"{self.question!r}: limit must be from 1 to {MOST_TEXT}")

    def read(self, given: str) -> str:
        text = given.replace("\r\n", "\n").strip()  # browsers send line ends in their own way
        if len(text) > self.limit:
            raise ValueError(f"Use at most {self.limit} characters; these are {len(text)}.")
        return text


Item = Choice | Scale | Text


class Bonus(Part, frozen=True):
    """What is paid: base + per_point x the sum of a person's payoffs, between 0 and `most`."""

    base: float = 0.0
    per_point: float = 0.0
    most: float | None = None
    currency: str = ""

    def __post_init__(self) -> None:
        if self.base < 0 or (self.most is not None and self.most < 0):
            raise ValueError("base and most must be at least 0")

    def of(self, payoffs: Sequence[float | None]) -> Decimal:
        """The amount in whole cents; a round without a result pays nothing."""
        points = sum((Decimal(repr(float(p))) for p in payoffs if p is not None), Decimal(0))
        amount = Decimal(repr(float(self.base))) + Decimal(repr(float(self.per_point))) * points
        if self.most is not None:
            amount = min(amount, Decimal(repr(float(self.most))))
        return max(amount, Decimal(0)).quantize(CENT, ROUND_HALF_UP)


class Platform(Part, frozen=True):
    """How a recruitment platform names people in the links that it gives them.

    Of all that a link carries, only what stands under `participant` is kept.
    """

    participant: str = ""  # the name in the address, such as PROLIFIC_PID; empty: anybody may come
    require: dict[str, str] = {}  # what else a link must carry, such as the platform's study id
    resume_by_link: bool = False  # whether a link lets its owner go on in another browser


class Completion(Part, frozen=True):
    """What people take back to the platform; {code} in the address is replaced by the code."""

    code: str = ""  # empty: everybody gets a code of their own
    url: str = ""
    screened_out: str = ""  # the code of those who failed the check, if they get one

    def __post_init__(self) -> None:
        if self.url and not self.url.startswith(("https://", "http://")):
            raise ValueError("completion.url must begin with https://")

    def address(self, code: str) -> str:
        return self.url.replace("{code}", quote(code, safe=""))


class Limits(Part, frozen=True):
    """How long people may take."""

    idle_minutes: float = 30.0  # between two pages; then the place is given to somebody else
    answer_seconds: float = 300.0  # for one answer at the table; then the match stops
    pair_minutes: float = 10.0  # to wait for a partner; then one goes on without

    def __post_init__(self) -> None:
        if min(self.idle_minutes, self.answer_seconds, self.pair_minutes) <= 0:
            raise ValueError("limits must be above 0")


class Condition(Part, frozen=True):
    """One condition: who sits where, what is asked, what is told."""

    name: str
    people: tuple[str, ...]  # the seats of participants; two or more are played by a pair
    others: dict[str, Sitter] = {}  # bots and models in the other seats
    arms: dict[str, tuple[str, ...]] = {}
    injections: tuple[Injection, ...] = ()
    instances: tuple[Instance, ...] = ()  # empty: those of the study
    instructions: tuple[str, ...] = ()  # pages behind those of the study


class Source(Part, frozen=True):
    """An instance set that is on the shelf: those of a cell of a study."""

    study: str
    cell: str


class HumanStudy(Part, frozen=True):
    """Everything that a study with people says."""

    name: str
    title: str
    participants: int  # who finish, or are on their way
    consent: Consent
    conditions: tuple[Condition, ...]
    instances: tuple[Instance, ...] = ()
    instances_of: Source | None = None
    rounds: int | None = None  # of the instances, for each person; None: all of them
    option_order: Literal["as given", "balanced"] = "as given"
    instructions: tuple[str, ...] = ()
    check: Check | None = None
    survey: tuple[Item, ...] = ()
    bonus: Bonus = Bonus()
    platform: Platform = Platform()
    completion: Completion = Completion()
    limits: Limits = Limits()
    debrief: str = "Thank you for taking part."
    contact: str = ""  # whom to write to
    seed: int = 1

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name):
            raise ValueError(
                "name must be 1 to 40 small letters, digits, _ or -, as it stands in addresses"
            )
        if self.participants < 1:
            raise ValueError(f"participants must be at least 1, not {self.participants}")
        if not self.conditions:
            raise ValueError("a study needs at least one condition")
        _refuse_twice("condition", [c.name for c in self.conditions])
        _refuse_twice("survey item", [item.name for item in self.survey])

    def design(self) -> str:
        """The hash of all that may not change once people have begun."""
        fixed = (
            tuple((c, self.problems(c), len(self.pages(c))) for c in self.conditions),
            *(self.rounds, self.option_order, self.check, self.survey, self.bonus, self.seed),
        )
        plain = msgspec.json.encode(fixed, order="sorted")
        return blake2b(plain, digest_size=12).hexdigest()

    def condition(self, name: str) -> Condition:
        return next(c for c in self.conditions if c.name == name)

    def problems(self, condition: Condition) -> tuple[Instance, ...]:
        """The instances of a condition."""
        return condition.instances or self.instances or _on_the_shelf(self.instances_of)

    def rounds_of(self, condition: Condition) -> int:
        there = len(self.problems(condition))
        return there if self.rounds is None else min(self.rounds, there)

    def pages(self, condition: Condition) -> tuple[str, ...]:
        """The pages of instructions."""
        return (*self.instructions, *condition.instructions)

    def setup(self, condition: Condition, instance: Instance, people: Mapping[str, str]) -> Setup:
        """One round, with participants by seat under the names that exports have for them.

        The seed is that of the instance in a study of the same seed, so that people and models
        meet the same deals.
        """
        lineup = {seat: Sitter(PERSON, {"participant": who}) for seat, who in people.items()}
        return Setup(
            instance,
            derived_seed(self.seed, instance.id, 0),
            {**lineup, **condition.others},
            arms=condition.arms,
            injections=condition.injections,
        )


def _several(question: str, options: Sequence[str]) -> None:
    if len(options) < 2 or len(set(options)) < len(options):
        raise ValueError(f"{question!r} needs at least two options, all different")


def _refuse_twice(what: str, names: Sequence[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"two of the {what}s are named {name!r}")


def _on_the_shelf(source: Source | None) -> tuple[Instance, ...]:
    if source is None:
        return ()
    study = shelf.pick("study", source.study, shelf.shelf("studies"))
    for cell in study.cells:
        if cell.name == source.cell:
            found: tuple[Instance, ...] = cell.instances
            return found
    raise unknown(f"cell of {source.study}", source.cell, [cell.name for cell in study.cells])


# --- reading a file -----------------------------------------------------------------------------


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
    for condition in study.conditions:
        try:
            problems = study.problems(condition)
            if not problems:
                raise BadInput("there are no instances; give some, or instances_of.")
            _refuse_same_ids(problems)
            if not condition.people:
                raise BadInput("people must name the seats of participants.")
            if study.rounds is not None and not 1 <= study.rounds <= len(problems):
                raise BadInput(
                    f"rounds is {study.rounds}, but there are {len(problems)} instances."
                )
            for instance in problems:
                people = dict.fromkeys(condition.people, "somebody")
                settled(study.setup(condition, instance, people), condition.people)
        except BadInput as why:
            raise BadInput(f"condition {condition.name!r}: {why}") from None


def _refuse_same_ids(problems: Sequence[Instance]) -> None:
    ids = [instance.id for instance in problems]
    for id in ids:
        if ids.count(id) > 1:
            raise BadInput(f"two instances have the id {id!r}.")
