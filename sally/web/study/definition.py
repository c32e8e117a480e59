"""The definition of a study with people: the schema of its TOML file, reading and checking it."""

from __future__ import annotations

import hmac
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from decimal import ROUND_HALF_UP, Decimal
from hashlib import blake2b, sha256
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote, urlencode

import msgspec

from sally.core.errors import BadInput, join_names, unknown
from sally.core.log.events import Injection, Instance, PlayerSpec, Setup
from sally.core.registry import packs, registry
from sally.core.rules.chance import Stream, derived_seed
from sally.core.rules.problems import Problem
from sally.players.language import LANGUAGE, uses_model
from sally.store import PeoplePlan
from sally.web.live.matches import PERSON, resolve_seated_setup
from sally.web.live.screen_text import Labels, words_of
from sally.web.play.lobby import bots_of, usual
from sally.web.study.file_check import FileFault, FilePath, locate_error, refuse_unknown_keys
from sally.web.study.items import Item, StudySection, check_options
from sally.web.study.markdown import PICTURE, pictures
from sally.web.study.pairs import PairSource, first_members, position_of
from sally.web.texts import ENGLISH, Texts, languages, shipped_texts, texts_of

NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")  # part of URLs
GIVEN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")  # a participant id of a platform
CENT = Decimal("0.01")
WHOLE_CENTS = ("base", "most", "partner_left")  # keys of `bonus` that are amounts of money
MOST_PAY = 1e6  # an amount above it is a mistake
MOST_PARTICIPANTS = 1_000_000
MOST_MINUTES = 60 * 24 * 365  # of a time limit
PRACTICE_ROUNDS = 2  # of a repeated game
PRACTICE_TRIES = 200  # draws of a problem that fits the parameters of the study's instance
LINK_SECRET = "SALLY_LINK_SECRET"  # environment variable with the key of signed links
LEAST_SECRET = 16  # characters of that key
SKIP, BOT = "skip", "bot"  # values of `fallback`; any other names a bot
EXAMPLE = Path(__file__).parent / "example_study.toml"
EXAMPLES = {ENGLISH: EXAMPLE, "de": EXAMPLE.with_name("example_study_de.toml")}  # by language
SHIPPED = {"pairs": EXAMPLE.with_name("pairs_study.toml")}  # studies that can be named
TEMPLATES = {  # by name, besides EXAMPLES
    **SHIPPED,
    "full": EXAMPLE.with_name("full_study.toml"),
    "blocks": EXAMPLE.with_name("blocks_study.toml"),
}


Partner = Literal["person", "model", "bot"]
PARTNERS: tuple[Partner, ...] = ("person", "model", "bot")


class Consent(StudySection, frozen=True):
    """The consent text and the label of the check box."""

    text: str
    agree: str = "I have read this and I agree to take part."


class CheckQuestion(StudySection, frozen=True):
    """A question of the comprehension check."""

    question: str
    options: tuple[str, ...]
    right: str

    def __post_init__(self) -> None:
        if not self.question.strip():
            raise ValueError("question must not be empty")
        check_options(self.question, self.options)
        if self.right not in self.options:
            raise ValueError(f"{self.question!r}: right must be one of its options")


class Check(StudySection, frozen=True):
    """The comprehension check; participants are screened out after `tries` failures."""

    questions: tuple[CheckQuestion, ...]
    tries: int = 2

    def __post_init__(self) -> None:
        if not self.questions or not 1 <= self.tries <= 10:
            raise ValueError("a check needs at least one question and 1 to 10 tries")


class Bonus(StudySection, frozen=True):
    """Pay: base + per_point x the sum of a person's payoffs, between 0 and `most`."""

    base: float = 0.0
    per_point: float = 0.0
    most: float | None = None
    currency: str = ""
    partner_left: float = 0.0  # compensation, paid once if the partner left or never came
    random_games: int = 0  # games drawn at random whose points are paid; 0: all games

    def __post_init__(self) -> None:
        _check_amounts(self)

    def check(self) -> None:
        """Raise BadInput if the amounts contradict each other or cannot be paid."""
        for name in WHOLE_CENTS:
            amount = getattr(self, name)
            if amount is not None and _exact(amount) % CENT:
                raise BadInput(f"{name} must be whole cents, not {amount}.")
        minimum = _exact(self.base) + _exact(self.partner_left)
        if self.most is not None and _exact(self.most) < _exact(self.base):
            raise BadInput(f"most is {self.most:g}, below base ({self.base:g}).")
        if self.most is not None and _exact(self.most) < minimum:
            raise BadInput(
                f"most is {self.most:g}, below base and partner_left together ({minimum}), so the "
                "compensation would not be paid."
            )
        if self.most is not None and not self.per_point and _exact(self.most) > minimum:
            raise BadInput(
                f"most is {self.most:g}, but per_point is 0, so nobody can earn it; set per_point "
                "or leave out most."
            )
        if self.random_games and not self.per_point:
            raise BadInput("random_games draws games to be paid, but per_point is 0.")
        if (self.base or self.per_point or self.partner_left) and not self.currency:
            raise BadInput('currency is missing, such as currency = "EUR".')

    def changed_by(self, change: BonusChange) -> Bonus:
        """Return the pay rule with the keys that a condition or a kind of partner sets."""
        values = {name: getattr(change, name) for name in change.__struct_fields__}
        return msgspec.structs.replace(self, **{k: v for k, v in values.items() if v is not None})

    def of(self, payoffs: Sequence[float | None], partner_left: bool = False) -> Decimal:
        """Return the pay in whole cents; games without points count as 0."""
        points = sum((_exact(p) for p in payoffs if p is not None), Decimal(0))
        amount = _exact(self.base) + _exact(self.per_point) * points
        if partner_left:
            amount += _exact(self.partner_left)
        if self.most is not None:
            amount = min(amount, _exact(self.most))
        return max(amount, Decimal(0)).quantize(CENT, ROUND_HALF_UP)

    def parts(self, total: str) -> tuple[Decimal, Decimal]:
        """Split an amount into the base, which platforms pay themselves, and the bonus."""
        amount = Decimal(total or "0")
        base = min(_exact(self.base).quantize(CENT, ROUND_HALF_UP), amount)
        return base, amount - base


class BonusChange(StudySection, frozen=True):
    """The keys of `bonus` that differ in a condition or with a kind of partner."""

    base: float | None = None
    per_point: float | None = None
    most: float | None = None
    partner_left: float | None = None
    random_games: int | None = None

    def __post_init__(self) -> None:
        _check_amounts(self)


def _check_amounts(pay: Bonus | BonusChange) -> None:
    """Raise ValueError if an amount of a pay rule, or of a change of one, is out of bounds."""
    for name in (*WHOLE_CENTS, "per_point"):
        amount = getattr(pay, name)
        if amount is not None and not 0 <= amount < MOST_PAY:
            raise ValueError(f"{name} must be at least 0 and below {MOST_PAY:.0f}, not {amount}")
    if pay.random_games is not None and pay.random_games < 0:
        raise ValueError(f"random_games must be at least 0, not {pay.random_games}")


class PartnerPart(StudySection, frozen=True):
    """What participants with one kind of partner read, answer and earn in addition."""

    debrief: str = ""  # after the debriefing of the study and of the condition
    survey: tuple[Item, ...] = ()  # after the final survey's other items
    bonus: BonusChange = BonusChange()  # replaces these keys


def _exact(number: float) -> Decimal:
    return Decimal(repr(float(number)))


class Platform(StudySection, frozen=True):
    """Names of the query parameters in a recruitment platform's links.

    Only the values of `participant` and of the parameters in `keep` are stored.
    """

    name: str = ""  # of the platform, for the list of payments
    # parameter of the participant id, such as PROLIFIC_PID; empty: open to all
    participant: str = ""
    # parameters that a link must have, such as the platform's study id
    require: dict[str, str] = msgspec.field(default_factory=dict)
    # parameter of the signature of the id, where the platform signs its links; the key is the
    # environment variable SALLY_LINK_SECRET
    signature: str = ""
    # whether the link resumes in another browser; None: only where links are signed
    resume_by_link: bool | None = None
    keep: tuple[str, ...] = ()  # further parameters for the list of payments, such as SESSION_ID
    labels: tuple[str, ...] = ()  # ids that may take part, as in a laboratory; empty: any

    def __post_init__(self) -> None:
        if self.signature and not self.participant:
            raise ValueError("signature needs participant, the parameter whose value is signed")

    @property
    def resumes(self) -> bool:
        """Whether the link of an active participant resumes in another browser."""
        return bool(self.signature) if self.resume_by_link is None else self.resume_by_link


def link_secret() -> str:
    """Return the key with which a platform signs the ids in its links."""
    secret = os.environ.get(LINK_SECRET, "")
    if len(secret) < LEAST_SECRET:
        raise BadInput(
            f"The study has signed links; set {LINK_SECRET} to the platform's key of at least "
            f"{LEAST_SECRET} characters."
        )
    return secret


def sign_id(platform_id: str) -> str:
    """Return the signature of an id: HMAC-SHA256 with the key, in hexadecimal digits."""
    return hmac.new(link_secret().encode(), platform_id.encode(), sha256).hexdigest()


def is_right_signature(platform_id: str, signature: str) -> bool:
    """Return whether a link's signature belongs to its id."""
    return hmac.compare_digest(sign_id(platform_id).encode(), signature.lower().encode())


class Completion(StudySection, frozen=True):
    """The completion code and link; {code} in the URL is replaced by the code."""

    code: str = ""  # empty: a random code per person
    url: str = ""
    screened_out: str = ""  # code for those who failed the check, if any

    def __post_init__(self) -> None:
        if self.url and not self.url.startswith(("https://", "http://")):
            raise ValueError("completion.url must begin with https:// or http://")

    def address(self, code: str) -> str:
        return self.url.replace("{code}", quote(code, safe=""))


class Limits(StudySection, frozen=True):
    """Time limits."""

    idle_minutes: float = 30.0  # between two pages; then the place is given to another person
    answer_seconds: float = 300.0  # for one answer in a game; then `timeout` applies
    timeout: Literal["round", "match"] = "round"  # what a late answer costs
    pair_minutes: float = 10.0  # to wait for a partner; then `fallback` applies
    # "skip" the games, play with a "bot" (the usual one of the game), or with a bot by its name
    fallback: str = SKIP
    # shortest and longest time after which the answer of a model is shown; 0: at once
    model_seconds: tuple[float, float] = (0.0, 0.0)

    def __post_init__(self) -> None:
        if not 0 <= self.model_seconds[0] <= self.model_seconds[1] < self.answer_seconds:
            raise ValueError(
                "model_seconds must be two times of at least 0, the shortest first, below "
                "answer_seconds"
            )
        minutes = self.idle_minutes, self.answer_seconds / 60, self.pair_minutes
        if not all(0 < duration <= MOST_MINUTES for duration in minutes):
            raise ValueError(
                "idle_minutes, answer_seconds and pair_minutes must be above 0, and at most a year"
            )


class Quality(StudySection, frozen=True):
    """Logging of browser events, and the consequences of failed attention checks."""

    log: bool = False  # log paste, focus, typing time and resize, as the consent page says
    attention: Literal["flag", "exclude"] = "flag"  # those who fail an attention check
    least_seconds: float = 0.0  # surveys answered faster are flagged

    def __post_init__(self) -> None:
        if not 0 <= self.least_seconds <= 60 * MOST_MINUTES:
            raise ValueError("least_seconds must be at least 0, and at most a year")


class Layout(StudySection, frozen=True):
    """The players in the seats of a round, the probes, and the injections (what seats are told
    about another player's mind before they move)."""

    people: tuple[str, ...]  # seats of participants; several are filled by a group
    # bots and models in the other seats
    others: dict[str, PlayerSpec] = msgspec.field(default_factory=dict)
    arms: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    injections: tuple[Injection, ...] = ()


class Block(StudySection, frozen=True):
    """A block of rounds within a condition; omitted fields default to the condition's."""

    name: str
    instances: tuple[Instance, ...] = ()
    rounds: int | None = None
    people: tuple[str, ...] = ()
    others: dict[str, PlayerSpec] | None = None
    arms: dict[str, tuple[str, ...]] | None = None
    injections: tuple[Injection, ...] | None = None
    instructions: tuple[str, ...] = ()  # pages shown before its first round
    survey: tuple[Item, ...] = ()  # asked after its last round

    def __post_init__(self) -> None:
        if not self.name.strip():
            raise ValueError("name must not be empty")


class Condition(Layout, frozen=True, kw_only=True):
    """A condition of a study: the players by seat, the probes, and the injections (what seats are
    told about another player's mind before they move)."""

    name: str
    instances: tuple[Instance, ...] = ()  # empty: those of the study
    instructions: tuple[str, ...] = ()  # pages after those of the study
    blocks: tuple[Block, ...] = ()  # in order; empty: all rounds form one block
    pairs: PairSource | None = None  # instead of instances: certified pairs with their players
    wanted: int | None = None  # participants; None: an equal share
    chat_seconds: float = 0.0  # chat of a group between two games; 0: none
    rematch: bool = False  # whether pairs are formed anew for every game
    debrief: str = ""  # after the debriefing of the study
    survey: tuple[Item, ...] = ()  # after the study's items of the final survey
    bonus: BonusChange = BonusChange()  # keys of the study's pay rule that differ

    def __post_init__(self) -> None:
        if not self.name.strip():
            raise ValueError("name must not be empty")


class ModelParticipant(StudySection, frozen=True):
    """A model that takes part like a participant, in a group with a person."""

    model: str
    participants: int = 1  # groups in which it plays
    params: dict[str, Any] = msgspec.field(default_factory=dict)  # such as strategy

    def __post_init__(self) -> None:
        if not 1 <= self.participants <= MOST_PARTICIPANTS:
            raise ValueError(f"participants must be from 1 to {MOST_PARTICIPANTS:,} for each model")

    @property
    def player(self) -> PlayerSpec:
        return PlayerSpec(LANGUAGE, {"model": self.model, **self.params})


class PlannedRound(msgspec.Struct, frozen=True):
    """A round of a participant: instance, layout and block number."""

    instance: Instance
    layout: Layout
    block: int


class InstanceSource(StudySection, frozen=True):
    """The instances of a cell of a shipped study."""

    study: str
    cell: str


class HumanStudy(StudySection, frozen=True):
    """The complete definition of a study with people."""

    name: str
    title: str
    participants: int  # target number of finished or active participants
    consent: Consent
    conditions: tuple[Condition, ...]
    instances: tuple[Instance, ...] = ()
    instances_of: InstanceSource | None = None
    rounds: int | None = None  # instances per person; None: all
    option_order: Literal["as given", "balanced"] = "as given"
    assignment: Literal["balanced", "random"] = "balanced"  # of conditions
    language: str = ENGLISH  # of all pages
    # texts that replace those of the language
    texts: dict[str, str] = msgspec.field(default_factory=dict)
    # words pack by game; default: the shipped pack of the study's language
    words: dict[str, str] = msgspec.field(default_factory=dict)
    titles: dict[str, str] = msgspec.field(default_factory=dict)  # titles of games in this study
    roles: dict[str, str] = msgspec.field(default_factory=dict)  # role names by seat
    quality: Quality = Quality()
    instructions: tuple[str, ...] = ()
    reveal: bool = True  # whether the end of a game shows what was hidden and what others did
    examples: bool = True  # whether the rules of a game are shown with a picture
    practice: bool = False  # a practice game of each game, with bots and feedback, not paid
    check: Check | None = None
    survey: tuple[Item, ...] = ()  # final survey
    survey_before: tuple[Item, ...] = ()  # asked before the first game
    survey_each_game: tuple[Item, ...] = ()  # asked after every game
    # by kind of partner: additions for those who played with people, models or bots
    by_partner: dict[Partner, PartnerPart] = msgspec.field(default_factory=dict)
    bonus: Bonus = Bonus()
    platform: Platform = Platform()
    completion: Completion = Completion()
    limits: Limits = Limits()
    models: tuple[ModelParticipant, ...] = ()  # join groups as participants do
    disclose_models: bool = True  # say before the games that others may be models
    debrief: str = "Thank you for taking part."
    contact: str = ""  # e-mail address or similar
    seed: int = 1
    room: str = ""  # name in the study file, where the file has sessions; its link leads to them
    session: str = ""  # name of the session

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name):
            raise ValueError(
                "name must be 1 to 40 lower-case letters, digits, _ or -, since it is part of URLs"
            )
        if not 1 <= self.participants <= MOST_PARTICIPANTS:
            raise ValueError(f"participants must be from 1 to {MOST_PARTICIPANTS:,}")
        if not self.conditions:
            raise ValueError("a study needs at least one condition")
        _refuse_duplicates("condition", [c.name for c in self.conditions])
        for condition in self.conditions:
            _refuse_duplicates("block", [block.name for block in condition.blocks])
            for part in self.by_partner.values() or (PartnerPart(),):
                names = [item.name for item in (*self.items_of(condition), *part.survey)]
                _refuse_duplicates("survey item", names)
        _refuse_duplicates("model", [group_model.model for group_model in self.models])
        targets = [c.wanted for c in self.conditions if c.wanted is not None]
        if any(n < 1 for n in targets):
            raise ValueError("`wanted` must be at least 1")
        if len(targets) not in (0, len(self.conditions)):
            raise ValueError("either every condition sets `wanted`, or none does")
        if targets and sum(targets) != self.participants:
            raise ValueError(
                f"`wanted` adds up to {sum(targets)}, but `participants` is {self.participants}"
            )

    def design(self) -> str:
        """Return the hash of all settings that must not change once people have begun."""
        fixed = (
            tuple((c, self.blocks(c), len(self.pages(c))) for c in self.conditions),
            *(self.rounds, self.option_order, self.check, self.survey, self.bonus, self.seed),
            self.assignment,
            *((self.practice, self.models) if self.practice or self.models else ()),
            *(part for part in (self.survey_before, self.survey_each_game) if part),
            *((self.by_partner,) if self.by_partner else ()),
        )
        plain = msgspec.json.encode(fixed, order="sorted")
        return blake2b(plain, digest_size=12).hexdigest()

    @property
    def kept_plan(self) -> PeoplePlan:
        """The plan of the study for reports and registrations."""
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
    def page_texts(self) -> Texts:
        """The texts of the study's pages."""
        return texts_of(self.language, self.texts)

    @property
    def games(self) -> tuple[str, ...]:
        """The games of all conditions, without duplicates."""
        return tuple(dict.fromkeys(i.game for c in self.conditions for i in self.problems(c)))

    def pack_of(self, game: str) -> str:
        """Return the words pack of a game; empty for the game's own English words."""
        family = registry.family(game).name
        chosen_pack = self.words.get(game, self.words.get(family, ""))
        usual = f"{family}_{self.language}"
        return chosen_pack or (
            usual if self.language != ENGLISH and usual in packs.shipped_packs() else ""
        )

    @property
    def people_texts(self) -> dict[str, dict[str, str]]:
        """The texts for people that replace those for models, by game."""
        return {game: words_of(registry.game(game), self.pack_of(game)) for game in self.games}

    @property
    def labels(self) -> Labels:
        """The titles, roles and texts that participants see."""
        return Labels(
            self.titles,
            self.roles,
            self.people_texts,
            self.language,
            self.reveal,
            self.examples,
            currency=self.bonus.currency,
            packs={game: self.pack_of(game) for game in self.games if self.pack_of(game)},
        )

    def point_value(self, condition: Condition) -> float:
        """Return the money that a point is worth in a condition.

        It is 0 if that depends on the partner or on a draw, so that no page shows wrong money.
        """
        rates = {0.0 if r.random_games else r.per_point for r in self.pay_rules(condition).values()}
        return rates.pop() if len(rates) == 1 else 0.0

    @property
    def untranslated_games(self) -> list[str]:
        """Games without a words pack in the study's language."""
        return [g for g in self.games if self.language != ENGLISH and not self.pack_of(g)]

    @property
    def pictures(self) -> list[str]:
        """The file names of all pictures in the texts."""
        own_pages = [page for c in self.conditions for page in c.instructions]
        own_pages += [page for c in self.conditions for b in c.blocks for page in b.instructions]
        own_pages += [c.debrief for c in self.conditions]
        own_pages += [part.debrief for part in self.by_partner.values()]
        texts = (self.consent.text, *self.instructions, *own_pages, self.debrief)
        return [name for text in texts for name in pictures(text)]

    def link(self, participant: str = "") -> str:
        """Return the path of the study's link for a participant of its platform.

        Raises:
            BadInput: Links are signed, and SALLY_LINK_SECRET is not set.
        """
        id_params = {self.platform.participant: participant} if self.platform.participant else {}
        if self.platform.signature:
            id_params[self.platform.signature] = sign_id(participant)
        query = urlencode({**self.platform.require, **id_params})
        return f"/study/{self.name}?{query}" if query else f"/study/{self.name}"

    def condition(self, name: str) -> Condition:
        return next(c for c in self.conditions if c.name == name)

    def places(self, condition: Condition) -> float:
        """Return the target number of participants of a condition."""
        return condition.wanted or self.participants / len(self.conditions)

    def problems(self, condition: Condition) -> tuple[Instance, ...]:
        """Return the instances of a condition, its own or the study's."""
        if condition.pairs is not None:
            return tuple(i for instances, _, _ in self.blocks(condition) for i in instances)
        block_instances = tuple(i for block in condition.blocks for i in block.instances)
        return (
            block_instances
            or condition.instances
            or self.instances
            or _instances_of(self.instances_of)
        )

    def blocks(self, condition: Condition) -> list[tuple[tuple[Instance, ...], int, Layout]]:
        """Return, for each block, its instances, the number of rounds, and its layout.

        Each position of a certified pair is a block, because its other players are its own.
        """
        if condition.pairs is not None:
            return [
                ((position.instance,), 1, Layout((position.seat,), position.others,
                                                 {position.seat: (position.probe,)}))
                for pair in condition.pairs.pairs
                for position in (position_of(pair, 0), position_of(pair, 1))
            ]  # fmt: skip
        usual = condition.instances or self.instances or _instances_of(self.instances_of)
        blocks = []
        for block in condition.blocks or (Block("all", rounds=self.rounds),):
            instances = block.instances or usual
            layout = Layout(
                block.people or condition.people,
                condition.others if block.others is None else block.others,
                condition.arms if block.arms is None else block.arms,
                condition.injections if block.injections is None else block.injections,
            )
            blocks.append((instances, min(block.rounds or len(instances), len(instances)), layout))
        return blocks

    def interchangeable(self, condition: Condition) -> list[Condition]:
        """Return the conditions that cannot be distinguished before the first game starts.

        Groups are formed across them, and each group is then assigned to one of them.
        """

        def facts_before_games(c: Condition) -> tuple[Any, ...]:
            pages = self.pages(c), c.blocks[0].instructions if c.blocks else ()
            practised = [(i, layout) for i, _, layout in self.blocks(c)] if self.practice else ()
            return len(c.people), *pages, practised

        return [
            c for c in self.conditions if facts_before_games(c) == facts_before_games(condition)
        ]

    def stand_in(self, layout: Layout, instance: Instance, seat: str) -> PlayerSpec:
        """Return the bot that takes the seat of a participant who did not arrive."""
        if self.limits.fallback != BOT:
            return PlayerSpec(self.limits.fallback)
        return self.usual_bot(instance, seat, layout.people)

    def usual_bot(self, instance: Instance, seat: str, people: tuple[str, ...]) -> PlayerSpec:
        """Return the game's usual bot for a seat; raises BadInput if there is none."""
        spec = registry.game(instance.game)
        bots = bots_of(spec, Problem((), instance, people)).get(seat, ())
        if (name := usual(spec, bots)) == PERSON:
            raise BadInput(f"{instance.game} has no bot for seat {seat!r}; name one.")
        return PlayerSpec(name)

    def orders(self, condition: Condition) -> int:
        """Return the number of different orders of instances over which participants are
        balanced."""
        if condition.pairs is not None:
            return 2 * order_rows(condition.pairs.count)
        if condition.rematch:
            return 1  # any two people must be able to play the next game together
        return max(order_rows(len(instances)) for instances, _, _ in self.blocks(condition))

    def plan(self, condition: Condition, row: int) -> list[PlannedRound]:
        """Return the rounds of a participant with this order of instances, first to last.

        One position of every certified pair comes in the first half, the other one in the second
        half, in the same order of pairs.
        """
        if condition.pairs is not None:
            return self._plan_pairs(condition, condition.pairs.count, row)
        return [
            PlannedRound(instances[i], layout, b)
            for b, (instances, rounds, layout) in enumerate(self.blocks(condition))
            for i in order(len(instances), row % order_rows(len(instances)))[:rounds]
        ]

    def _plan_pairs(self, condition: Condition, count: int, row: int) -> list[PlannedRound]:
        positions = self.blocks(condition)
        is_swapped, pair_row = row >= order_rows(count), row % order_rows(count)
        first = first_members(count, pair_row, is_swapped, self.seed)
        return [
            PlannedRound(instance, layout, 2 * number + member)
            for half in (0, 1)
            for number in order(count, pair_row)
            for member in (first[number] ^ half,)
            for (instance,), _, layout in (positions[2 * number + member],)
        ]

    def rounds_of(self, condition: Condition) -> int:
        return sum(rounds for _, rounds, _ in self.blocks(condition))

    def practice_games(self, condition: Condition) -> list[str]:
        """Return the games of a condition that are practised, in order of appearance."""
        if not self.practice:
            return []
        return list(
            dict.fromkeys(i.game for instances, _, _ in self.blocks(condition) for i in instances)
        )

    def items_of(self, condition: Condition) -> tuple[Item, ...]:
        """Return all survey items of a condition, except those by kind of partner."""
        between = (item for block in condition.blocks for item in block.survey)
        return (
            *(*self.survey_before, *self.survey_each_game, *between),
            *(*self.survey, *condition.survey),
        )

    @property
    def survey_items(self) -> dict[str, Item]:
        """All survey items of the study by name."""
        own_items = (item for condition in self.conditions for item in self.items_of(condition))
        added = (item for part in self.by_partner.values() for item in part.survey)
        return {item.name: item for item in (*own_items, *added)}

    def pay_rules(self, condition: Condition) -> dict[str, Bonus]:
        """Return the pay rule of a condition for each kind of partner."""
        rule = self.bonus.changed_by(condition.bonus)
        none = PartnerPart()
        return {kind: rule.changed_by(self.by_partner.get(kind, none).bonus) for kind in PARTNERS}

    def pages(self, condition: Condition) -> tuple[str, ...]:
        """Return the texts of the instruction pages of a condition."""
        return (*self.instructions, *condition.instructions)

    def setup(self, layout: Layout, instance: Instance, people: Mapping[str, str]) -> Setup:
        """Return the setup of a round, given the exported names of participants by seat.

        The seed depends only on the study's seed and the instance, so people and models in studies
        with the same seed get the same deals.
        """
        lineup = {
            seat: PlayerSpec(PERSON, {"participant": participant})
            for seat, participant in people.items()
        }
        return Setup(
            instance,
            derived_seed(self.seed, instance.id, 0),
            {**lineup, **layout.others},
            arms=layout.arms,
            injections=layout.injections,
        )


# --- practice games -----------------------------------------------------------------------------


def practice_of(study: HumanStudy, condition: Condition) -> list[PlannedRound]:
    """Return one practice game for each game of a condition, in order of appearance.

    Raises:
        BadInput: A game cannot be played with bots in the other seats.
    """
    practice_rounds: dict[str, PlannedRound] = {}
    for block, (instances, _, layout) in enumerate(study.blocks(condition)):
        for instance in instances if study.practice else ():
            if instance.game not in practice_rounds:
                practice_rounds[instance.game] = _practice(study, instance, layout, block)
    return list(practice_rounds.values())


def _practice(study: HumanStudy, instance: Instance, layout: Layout, block: int) -> PlannedRound:
    """Return a practice game: the participant has the first seat for people, bots have all
    others."""
    name = f"practice-{instance.game}"
    practice_instance = Instance(name, instance.game, _problem(study, instance))
    seat, *other_seats = layout.people
    others = {s: player for s, player in layout.others.items() if not uses_model(player)}
    for empty in (*other_seats, *(s for s in layout.others if s not in others)):
        others[empty] = study.usual_bot(practice_instance, empty, layout.people)
    with_bots = Layout((seat,), others, {seat: layout.arms[seat]} if seat in layout.arms else {})
    resolve_seated_setup(study.setup(with_bots, practice_instance, {seat: "person"}), [seat])
    return PlannedRound(practice_instance, with_bots, block)


def _problem(study: HumanStudy, instance: Instance) -> dict[str, Any]:
    """Return the parameters of a short problem that the study does not use."""
    spec = registry.game(instance.game)
    played = [i.params for c in study.conditions for i in study.problems(c)]
    short = dict(instance.params)
    if getattr(spec.build(short), "rounds", 0) > PRACTICE_ROUNDS and "rounds" in spec.parameters:
        with suppress(BadInput):  # this game needs more rounds
            spec.build({**short, "rounds": PRACTICE_ROUNDS})
            short["rounds"] = PRACTICE_ROUNDS
    draws = Stream(study.seed, "practice", instance.game)
    for _ in range(PRACTICE_TRIES if spec.people.fresh is not None else 0):
        assert spec.people.fresh is not None
        fresh = dict(spec.people.fresh(draws, instance.game))
        with suppress(BadInput):  # the problem does not fit the parameters, such as the level
            spec.build({**short, **fresh})
            if not any(fresh.items() <= params.items() for params in played):
                return {**short, **fresh}
    return short


def order_rows(n: int) -> int:
    """Return the number of rows of a Williams square for n instances."""
    return n if n % 2 == 0 or n == 1 else 2 * n


def order(n: int, row: int) -> list[int]:
    """Return one row of a Williams (1949) square, in which every instance is once in every
    position.

    For even n, each instance follows every other instance once; for odd n twice, counting the
    reversed rows.
    """
    zigzag = [(i + 1) // 2 if i % 2 else (n - i // 2) % n for i in range(n)]
    positions = [(place + row) % n for place in zigzag]
    return positions[::-1] if row >= n else positions


def _refuse_duplicates(kind: str, names: Sequence[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"two {kind}s have the name {name!r}")


def _instances_of(source: InstanceSource | None) -> tuple[Instance, ...]:
    if source is None:
        return ()
    study = registry.study(source.study)
    for cell in study.cells:
        if cell.name == source.cell:
            instances: tuple[Instance, ...] = cell.instances
            return instances
    raise unknown(f"cell of {source.study}", source.cell, [cell.name for cell in study.cells])


# --- reading a study file -----------------------------------------------------------------------


def read_human_study(path: Path, session: str = "") -> HumanStudy:
    """Read and check a study file without sessions, or one session of a file with several.

    Raises:
        BadInput: The file is invalid, or it has no such session.
    """
    studies_by_session = {study.session: study for study in read_human_studies(path)}
    if session in studies_by_session:
        return studies_by_session[session]
    if "" in studies_by_session:
        raise BadInput(f"Study file {path} has no sessions, so no session may be chosen.")
    wrong = f"There is no session {session!r}; c" if session else "C"
    names = join_names([repr(name) for name in studies_by_session], "or")
    raise BadInput(f"{wrong}hoose a session of {path}: {names}.")


def read_human_studies(path: Path) -> list[HumanStudy]:
    """Read and check a study file; it describes one study, or one for each of its sessions.

    The name of a shipped study, such as `pairs`, stands for its file.

    Raises:
        BadInput: The file is invalid; the message names the file and the error.
    """
    if not path.exists():
        path = SHIPPED.get(str(path), path)
    studies, text = list[HumanStudy](), ""
    session: FilePath = ()  # that is read now
    try:
        text = path.read_bytes().decode()
        raw = msgspec.toml.decode(text)
        refuse_unknown_keys(raw, HumanStudy, text)
        for number, table in enumerate(sessions_of(raw)):
            session = ("sessions", number) if "sessions" in raw else ()
            study = msgspec.convert(complete_table(table), HumanStudy)
            check_study(study)
            _check_pictures(study, path.parent)
            studies.append(study)
    except OSError as error:
        raise BadInput(f"The study file {path} cannot be read: {error.strerror}.") from None
    except (msgspec.ValidationError, BadInput) as error:
        raise BadInput(f"Study file {path}: {locate_error(text, error, session)}") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadInput(f"Study file {path} is not TOML: {error}.") from None
    return studies


def sessions_of(raw: Any) -> list[Any]:
    """Return the study tables of a file: one, or one for each table of `sessions`.

    A session has a name and may set any key of the study; tables such as `limits` are merged.
    """
    if not isinstance(raw, dict):
        return [raw]
    if strange := {"room", "session"} & set(raw):
        raise BadInput(f"{min(strange)} cannot be set; define sessions with [[sessions]].")
    if "sessions" not in raw:
        return [raw]
    study = {key: value for key, value in raw.items() if key != "sessions"}
    tables = raw["sessions"]
    if not isinstance(tables, list) or not tables:
        raise BadInput(
            "sessions must be tables: each [[sessions]] has a name and the keys that differ."
        )
    session_tables, names = [], list[str]()
    for table in tables:
        name = table.get("name") if isinstance(table, dict) else None
        if not isinstance(name, str) or not NAME.fullmatch(name):
            raise BadInput("a session needs a name of lower-case letters, digits, _ or -.")
        if name in names:
            raise BadInput(f"two sessions have the name {name!r}.")
        names.append(name)
        room = study.get("name")
        session_table = {**table, "name": f"{room}-{name}"}
        session_tables.append(
            {**_merge_session(study, session_table), "room": room, "session": name}
        )
    return session_tables


def _merge_session(study: dict[str, Any], session_table: dict[str, Any]) -> dict[str, Any]:
    """Return the study with a session's keys; tables are merged, other values replaced."""
    merged = {**study, **session_table}
    for key, value in session_table.items():
        if isinstance(value, dict) and isinstance(study.get(key), dict):
            merged[key] = {**study[key], **value}
    return merged


def complete_table(raw: Any) -> Any:
    """Return the study with instance ids replaced by instances, and with the language's default
    texts filled in.

    Values of the wrong type are left for the schema to refuse.
    """
    if not isinstance(raw, dict):
        return raw
    study_table = dict(raw)
    if isinstance(study_table.get("models"), list):
        study_table["models"] = [
            {"model": m} if isinstance(m, str) else m for m in study_table["models"]
        ]
    for condition in _tables(study_table, "conditions"):
        if "pairs" in condition:
            condition.setdefault("people", [PERSON])  # the seat is that of each position
        for part in (condition, *_tables(condition, "blocks")):
            part["instances"] = _instances(
                part.get("instances", []), study_table.get("instances", [])
            )
    if study_table.get("language") in languages():
        _fill_in_texts(study_table, shipped_texts(study_table["language"]))
    return study_table


def _tables(within: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """Replace the tables in a list by copies, and return the copies."""
    if not isinstance(within.get(name), list):
        return []
    within[name] = [dict(part) if isinstance(part, dict) else part for part in within[name]]
    return [part for part in within[name] if isinstance(part, dict)]


def _instances(references: Any, of_study: Any) -> Any:
    """Resolve the ids of instances that the study defines."""
    if not isinstance(references, list) or not isinstance(of_study, list):
        return references
    tables = [table for table in of_study if isinstance(table, dict)]
    tables_by_id = {table["id"]: table for table in tables if isinstance(table.get("id"), str)}
    for reference in references:
        if isinstance(reference, str) and reference not in tables_by_id:
            raise unknown("instance", reference, tables_by_id)
    return [
        tables_by_id[reference] if isinstance(reference, str) else reference
        for reference in references
    ]


def _fill_in_texts(study: dict[str, Any], t: Texts) -> None:
    """Fill in the language's default texts."""
    study.setdefault("debrief", t("end.debrief"))
    if isinstance(study.get("consent"), dict):
        study["consent"] = {"agree": t("consent.agree"), **study["consent"]}
    conditions = _tables(study, "conditions")
    parts = [study, *conditions, *(b for c in conditions for b in _tables(c, "blocks"))]
    if isinstance(by_partner := study.get("by_partner"), dict):
        study["by_partner"] = {
            kind: dict(part) if isinstance(part, dict) else part
            for kind, part in by_partner.items()
        }
        parts += [part for part in study["by_partner"].values() if isinstance(part, dict)]
    surveys = ("survey", "survey_before", "survey_each_game")
    for item in (item for part in parts for name in surveys for item in _tables(part, name)):
        if item.get("kind") == "likert":
            item.setdefault("options", [t(f"survey.likert_{n}") for n in range(1, 6)])


def _check_pictures(study: HumanStudy, folder: Path) -> None:
    """Raise BadInput if a picture in a text is not a file in the folder of the study file."""
    for name in study.pictures:
        if not PICTURE.fullmatch(name):
            raise BadInput(
                f"the picture {name!r} must be the name of a PNG, JPEG, GIF or WebP file in the "
                "folder of the study file."
            )
        if not (folder / name).is_file():
            raise BadInput(f"there is no picture {name!r} in the folder of the study file.")


def check_study(study: HumanStudy) -> None:
    """Raise BadInput if a match of the study could not be opened."""
    _ = study.page_texts, study.people_texts  # checks the language, texts and words packs
    if strange := set(study.words) - {
        *study.games,
        *(registry.family(g).name for g in study.games),
    }:
        raise BadInput(f"`words` names {min(strange)!r}, which is not a game of this study.")
    _check_pay(study)
    for number, condition in enumerate(study.conditions):
        try:
            _check_condition(study, condition)
        except BadInput as error:
            place = ("conditions", number)
            raise FileFault(f"condition {condition.name!r}: {error}", place) from None
    for game in study.titles.keys() - set(study.games):
        raise FileFault(
            f"titles: {unknown('game of this study', game, study.games)}", ("titles", game)
        )
    seats = {
        str(seat)
        for condition in study.conditions
        for instance in study.problems(condition)
        for seat in registry.game(instance.game).build(instance.params).seats
    }
    for seat in study.roles.keys() - seats:
        raise FileFault(f"roles: {unknown('seat in this study', seat, seats)}", ("roles", seat))
    if study.models:
        _check_models(study)


def _check_pay(study: HumanStudy) -> None:
    """Raise BadInput if a pay rule of the study, a condition or a kind of partner is impossible."""
    places: list[tuple[str, FilePath, Bonus]] = [("bonus", ("bonus",), study.bonus)]
    for number, condition in enumerate(study.conditions):
        place: FilePath = ("conditions", number, "bonus")
        rule = study.bonus.changed_by(condition.bonus)
        places.append((f"bonus of condition {condition.name!r}", place, rule))
        for kind, part in study.by_partner.items():
            label = f"bonus of condition {condition.name!r} by_partner.{kind}"
            places.append((label, ("by_partner", kind, "bonus"), rule.changed_by(part.bonus)))
    for label, path, rule in places:
        try:
            rule.check()
        except BadInput as error:
            key = str(error).partition(" ")[0]
            raise FileFault(f"{label}: {error}", (*path, key)) from None
    for condition in study.conditions:
        drawn_games = max(rule.random_games for rule in study.pay_rules(condition).values())
        if drawn_games > study.rounds_of(condition):
            raise FileFault(
                f"bonus: random_games is {drawn_games}, but participants of condition "
                f"{condition.name!r} play {study.rounds_of(condition)} games.",
                ("bonus", "random_games"),
            )


def _check_models(study: HumanStudy) -> None:
    """Raise BadInput if models cannot take part in groups with people."""
    size = {len(c.people) for c in study.conditions}
    if size == {1}:
        raise BadInput(
            "models join groups of people, which this study lacks; put the model under `others`."
        )
    if any(c.chat_seconds for c in study.conditions):
        raise BadInput("models cannot chat; set chat_seconds to 0 or leave models out.")
    with_models = sum(m.participants for m in study.models)
    without_models = study.participants - with_models
    if without_models < 0 or len(size) > 1 or without_models % size.pop():
        raise BadInput(
            f"{with_models} of {study.participants} participants play with models; the other "
            f"{without_models} "
            "must fill whole groups, and all conditions need groups of one size."
        )
    for condition in study.conditions:
        for instances, _, layout in study.blocks(condition):
            seat, *empty = layout.people
            for model in study.models:
                others = {**layout.others, **dict.fromkeys(empty, model.player)}
                joined = msgspec.structs.replace(layout, others=others)
                resolve_seated_setup(study.setup(joined, instances[0], {seat: "person"}), [seat])


def _check_condition(study: HumanStudy, condition: Condition) -> None:
    problems = study.problems(condition)
    if not problems:
        raise BadInput("there are no instances; set instances, instances_of or pairs.")
    if condition.pairs is not None:
        _check_pairs(study, condition)
    if not condition.people:
        raise BadInput("people must name the seats of participants.")
    if study.rounds is not None and condition.blocks:
        raise BadInput("with blocks, set rounds in each block instead of in the study.")
    if study.rounds is not None and not 1 <= study.rounds <= len(problems):
        raise BadInput(f"rounds is {study.rounds}, but there are {len(problems)} instances.")
    if not 0 <= condition.chat_seconds <= 60 * MOST_MINUTES:
        raise BadInput("chat_seconds must be at least 0, and at most a year.")
    if condition.chat_seconds and len(condition.people) < 2:
        raise BadInput("chat_seconds must be 0 unless at least two people play together.")
    for block in condition.blocks:
        count = len(block.instances or condition.instances or problems)
        if block.rounds is not None and not 1 <= block.rounds <= count:
            raise BadInput(
                f"rounds of block {block.name!r} is {block.rounds}, but there are {count} "
                "instances."
            )
    if condition.rematch:
        _check_rematch(study, condition)
    played: list[tuple[Instance, Layout]] = []
    for instances, rounds, layout in study.blocks(condition):
        if not instances or rounds < 1:
            raise BadInput("a block has no instances.")
        if len(layout.people) != len(condition.people):
            raise BadInput("every block must have as many seats for people as its condition.")
        _refuse_same_ids(instances)
        if repeated_ids := [i.id for i in instances if (i, layout) in played]:
            raise BadInput(
                f"two blocks contain the instance {repeated_ids[0]!r} with the same players, "
                f"probes and "
                "injections."
            )
        played += [(i, layout) for i in instances]
        for instance in instances:
            people = dict.fromkeys(layout.people, "person")
            resolve_seated_setup(study.setup(layout, instance, people), layout.people)
            if len(layout.people) > 1 and study.limits.fallback != SKIP:
                _check_stand_ins(study, layout, instance)
    try:
        practice_of(study, condition)
    except BadInput as error:
        raise BadInput(f"practice: {error}") from None


def _check_rematch(study: HumanStudy, condition: Condition) -> None:
    """Raise BadInput if pairs of a condition cannot be formed anew for every game."""
    if len(condition.people) != 2:
        raise BadInput("rematch needs two seats in people.")
    if condition.chat_seconds or study.models:
        raise BadInput("rematch goes neither with chat_seconds nor with models.")
    if study.limits.fallback != SKIP:
        raise BadInput('rematch needs limits.fallback = "skip".')


def _check_pairs(study: HumanStudy, condition: Condition) -> None:
    """Raise BadInput if a condition with pairs sets what each position of a pair determines."""
    parts = {
        "instances": condition.instances,
        "blocks": condition.blocks,
        "others": condition.others,
        "arms": condition.arms,
        "injections": condition.injections,
    }
    surplus = [name for name, value in parts.items() if value]
    if study.rounds is not None:
        surplus.append("rounds")
    if surplus:
        raise BadInput(f"with pairs, leave out {join_names(surplus)}: each pair brings its own.")
    if len(condition.people) != 1:
        raise BadInput("pairs are played by one person at a time; leave out people.")


def _check_stand_ins(study: HumanStudy, layout: Layout, instance: Instance) -> None:
    """Raise BadInput if a participant of a group cannot play with bots in the other seats."""
    for seat in layout.people:
        bots = {s: study.stand_in(layout, instance, s) for s in layout.people if s != seat}
        with_bots = msgspec.structs.replace(layout, others={**layout.others, **bots})
        try:
            resolve_seated_setup(study.setup(with_bots, instance, {seat: "person"}), [seat])
        except BadInput as error:
            raise BadInput(f"limits.fallback: {error}") from None


def _refuse_same_ids(problems: Sequence[Instance]) -> None:
    ids = [instance.id for instance in problems]
    for id in ids:
        if ids.count(id) > 1:
            raise BadInput(f"two instances have the id {id!r}.")
