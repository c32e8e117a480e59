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

from sally.core.errors import unknown
from sally.core.log.events import Instance, PlayerSpec, Setup
from sally.core.prompt import packs
from sally.core.registry import registry
from sally.core.rules.chance import derived_seed
from sally.core.rules.probe import Injection
from sally.store import PeoplePlan
from sally.web.live.plain import words_of
from sally.web.live.seats import PERSON
from sally.web.study.items import Item, Part, several
from sally.web.texts import ENGLISH, Texts, texts_of

NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")  # stands in addresses
GIVEN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")  # a platform's name for a person
CENT = Decimal("0.01")
EXAMPLE = Path(__file__).parent / "example_study.toml"
EXAMPLES = {ENGLISH: EXAMPLE, "de": EXAMPLE.with_name("example_study_de.toml")}  # by language


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
        several(self.question, self.options)
        if self.right not in self.options:
            raise ValueError(f"{self.question!r}: right must be one of its options")


class Check(Part, frozen=True):
    """Whether the instructions were understood; after so many wrong tries people are excluded."""

    questions: tuple[Question, ...]
    tries: int = 2

    def __post_init__(self) -> None:
        if not self.questions or not 1 <= self.tries <= 10:
            raise ValueError("a check needs at least one question and 1 to 10 tries")


class Bonus(Part, frozen=True):
    """What is paid: base + per_point x the sum of a person's payoffs, between 0 and `most`."""

    base: float = 0.0
    per_point: float = 0.0
    most: float | None = None
    currency: str = ""
    partner_left: float = 0.0  # once, to whoever's partner left or did not come

    def __post_init__(self) -> None:
        if self.base < 0 or self.partner_left < 0 or (self.most is not None and self.most < 0):
            raise ValueError("base, partner_left and most must be at least 0")

    def of(self, payoffs: Sequence[float | None], partner_left: bool = False) -> Decimal:
        """The amount in whole cents; a round without a result pays nothing."""
        points = sum((_exact(p) for p in payoffs if p is not None), Decimal(0))
        amount = _exact(self.base) + _exact(self.per_point) * points
        if partner_left:
            amount += _exact(self.partner_left)
        if self.most is not None:
            amount = min(amount, _exact(self.most))
        return max(amount, Decimal(0)).quantize(CENT, ROUND_HALF_UP)

    def parts(self, whole: str) -> tuple[Decimal, Decimal]:
        """What of an amount is the base, which platforms pay by themselves, and what the bonus."""
        amount = Decimal(whole or "0")
        base = min(_exact(self.base).quantize(CENT, ROUND_HALF_UP), amount)
        return base, amount - base


def _exact(number: float) -> Decimal:
    return Decimal(repr(float(number)))


class Platform(Part, frozen=True):
    """How a recruitment platform names people in the links that it gives them.

    Of all that a link carries, only what stands under `participant` is kept.
    """

    name: str = ""  # of the platform, as the list of payments has it
    participant: str = ""  # the name in the address, such as PROLIFIC_PID; empty: anybody may come
    require: dict[str, str] = msgspec.field(
        default_factory=dict
    )  # what else a link must carry, such as the platform's study id
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


class Quality(Part, frozen=True):
    """What is noted of how people take part, and what follows from it."""

    log: bool = False  # paste, focus, typing time and resize; the consent page says so
    attention: Literal["flag", "exclude"] = "flag"  # whoever fails an attention check
    least_seconds: float = 0.0  # a survey answered faster than that is flagged


class Layout(Part, frozen=True):
    """Who sits where, what is asked, what is told."""

    people: tuple[str, ...]  # the seats of participants; two or more are played by a pair
    others: dict[str, PlayerSpec] = msgspec.field(
        default_factory=dict
    )  # bots and models in the other seats
    arms: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    injections: tuple[Injection, ...] = ()


class Block(Part, frozen=True):
    """Some rounds of a condition that belong together; what it leaves out is the condition's."""

    name: str
    instances: tuple[Instance, ...] = ()
    rounds: int | None = None
    people: tuple[str, ...] = ()
    others: dict[str, PlayerSpec] | None = None
    arms: dict[str, tuple[str, ...]] | None = None
    injections: tuple[Injection, ...] | None = None
    instructions: tuple[str, ...] = ()  # pages before its first round


class Condition(Layout, frozen=True, kw_only=True):
    """One condition: who sits where, what is asked, what is told."""

    name: str
    instances: tuple[Instance, ...] = ()  # empty: those of the study
    instructions: tuple[str, ...] = ()  # pages behind those of the study
    blocks: tuple[Block, ...] = ()  # in this order; none: all rounds are one block
    wanted: int | None = None  # participants; None: an even share


class Planned(msgspec.Struct, frozen=True):
    """One round of somebody's way: what is played, and how people sit."""

    instance: Instance
    layout: Layout
    block: int


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
    assignment: Literal["balanced", "random"] = "balanced"  # of conditions, within their places
    language: str = ENGLISH  # of every page
    texts: dict[str, str] = msgspec.field(
        default_factory=dict
    )  # own sentences in the place of the language's
    words: dict[str, str] = msgspec.field(
        default_factory=dict
    )  # by game, a words pack; else the shipped one of the study's language, if there is one
    titles: dict[str, str] = msgspec.field(default_factory=dict)  # what this study calls a game
    roles: dict[str, str] = msgspec.field(default_factory=dict)  # and who sits in a seat
    quality: Quality = Quality()
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
        wanted = [c.wanted for c in self.conditions if c.wanted is not None]
        if any(n < 1 for n in wanted):
            raise ValueError("wanted must be at least 1")
        if len(wanted) not in (0, len(self.conditions)):
            raise ValueError("either every condition says how many are wanted, or none does")
        if wanted and sum(wanted) != self.participants:
            raise ValueError(
                f"wanted adds up to {sum(wanted)}, participants is {self.participants}"
            )

    def design(self) -> str:
        """The hash of all that may not change once people have begun."""
        fixed = (
            tuple((c, self.blocks(c), len(self.pages(c))) for c in self.conditions),
            *(self.rounds, self.option_order, self.check, self.survey, self.bonus, self.seed),
            self.assignment,
        )
        plain = msgspec.json.encode(fixed, order="sorted")
        return blake2b(plain, digest_size=12).hexdigest()

    @property
    def kept_plan(self) -> PeoplePlan:
        """What reports and registrations know of the study."""
        plain = msgspec.json.encode(self, order="sorted")
        planned = {
            c.name: round(self.places(c) * self.rounds_of(c) / len(c.people))
            for c in self.conditions
        }
        return PeoplePlan(
            self.name,
            self.title,
            blake2b(plain, digest_size=12).hexdigest(),
            self.participants,
            planned,
            self.games,
        )

    @property
    def said(self) -> Texts:
        """The sentences of its pages."""
        return texts_of(self.language, self.texts)

    @property
    def games(self) -> tuple[str, ...]:
        """The games that are played, each once."""
        return tuple(dict.fromkeys(i.game for c in self.conditions for i in self.problems(c)))

    def pack_of(self, game: str) -> str:
        """The name of the words pack for a game; empty: the game's own words, in English."""
        family = registry.family(game).name
        given = self.words.get(game, self.words.get(family, ""))
        usual = f"{family}_{self.language}"
        return given or (usual if self.language != ENGLISH and usual in packs.shipped() else "")

    @property
    def spoken(self) -> dict[str, dict[str, str]]:
        """By game, the sentences in which people meet it, where they are not its models'."""
        return {game: words_of(registry.game(game), self.pack_of(game)) for game in self.games}

    @property
    def untranslated(self) -> list[str]:
        """The games whose own words stay English on pages of another language."""
        return [g for g in self.games if self.language != ENGLISH and not self.pack_of(g)]

    def condition(self, name: str) -> Condition:
        return next(c for c in self.conditions if c.name == name)

    def places(self, condition: Condition) -> float:
        """How many participants a condition wants."""
        return condition.wanted or self.participants / len(self.conditions)

    def problems(self, condition: Condition) -> tuple[Instance, ...]:
        """The instances of a condition."""
        own = tuple(i for block in condition.blocks for i in block.instances)
        return own or condition.instances or self.instances or _on_the_shelf(self.instances_of)

    def blocks(self, condition: Condition) -> list[tuple[tuple[Instance, ...], int, Layout]]:
        """By block: its instances, how many of them are played, and how people sit."""
        usual = condition.instances or self.instances or _on_the_shelf(self.instances_of)
        found = []
        for block in condition.blocks or (Block("all", rounds=self.rounds),):
            there = block.instances or usual
            layout = Layout(
                block.people or condition.people,
                condition.others if block.others is None else block.others,
                condition.arms if block.arms is None else block.arms,
                condition.injections if block.injections is None else block.injections,
            )
            found.append((there, min(block.rounds or len(there), len(there)), layout))
        return found

    def orders(self, condition: Condition) -> int:
        """How many orders of the instances there are to be balanced."""
        return max(order_rows(len(there)) for there, _, _ in self.blocks(condition))

    def plan(self, condition: Condition, row: int) -> list[Planned]:
        """The rounds of somebody with this order, one after the other."""
        return [
            Planned(there[i], layout, b)
            for b, (there, many, layout) in enumerate(self.blocks(condition))
            for i in order(len(there), row % order_rows(len(there)))[:many]
        ]

    def rounds_of(self, condition: Condition) -> int:
        return sum(many for _, many, _ in self.blocks(condition))

    def pages(self, condition: Condition) -> tuple[str, ...]:
        """The pages of instructions."""
        return (*self.instructions, *condition.instructions)

    def setup(self, layout: Layout, instance: Instance, people: Mapping[str, str]) -> Setup:
        """One round, with participants by seat under the names that exports have for them.

        The seed is that of the instance in a study of the same seed, so that people and models
        meet the same deals.
        """
        lineup = {seat: PlayerSpec(PERSON, {"participant": who}) for seat, who in people.items()}
        return Setup(
            instance,
            derived_seed(self.seed, instance.id, 0),
            {**lineup, **layout.others},
            arms=layout.arms,
            injections=layout.injections,
        )


def order_rows(n: int) -> int:
    """How many orders of n instances make a square that is balanced for what follows what."""
    return n if n % 2 == 0 or n == 1 else 2 * n


def order(n: int, row: int) -> list[int]:
    """One row of a Williams square (1949): every instance stands once in every place.

    For even n each instance follows each other one once; for odd n twice, over the rows and
    their mirror images.
    """
    zigzag = [(i + 1) // 2 if i % 2 else (n - i // 2) % n for i in range(n)]
    found = [(place + row) % n for place in zigzag]
    return found[::-1] if row >= n else found


def _refuse_twice(what: str, names: Sequence[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"two of the {what}s are named {name!r}")


def _on_the_shelf(source: Source | None) -> tuple[Instance, ...]:
    if source is None:
        return ()
    study = registry.study(source.study)
    for cell in study.cells:
        if cell.name == source.cell:
            found: tuple[Instance, ...] = cell.instances
            return found
    raise unknown(f"cell of {source.study}", source.cell, [cell.name for cell in study.cells])
