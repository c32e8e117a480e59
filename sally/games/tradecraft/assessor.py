"""An assessor of TradeCraft: a model that judges each player in every turn, and the agreement of
raters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from sally.core.errors import BadInput, Unreadable, join_names
from sally.core.log.events import Call, Forfeited, Moved
from sally.core.match.player import Fault, Forfeit, Turn
from sally.core.match.seat_context import SeatContext
from sally.core.prompt.model import AS_THE_PROVIDER_DOES, Model, Settings, User
from sally.core.rules.game import Seat
from sally.core.rules.metric import Played
from sally.core.rules.probe import Question
from sally.core.rules.words import objects_in, read_tables
from sally.games.tradecraft.actions import ACCEPT, Answer, Craft, Done, Propose
from sally.games.tradecraft.rules import State, TradeCraft, View
from sally.games.tradecraft.speech import good_said, goods_said
from sally.games.tradecraft.words import TradeWords
from sally.players.calls import Caller, Exchanges, answer_with_model, ask_until_readable
from sally.stats.agreement import krippendorffs_alpha, mean_absolute_error, percent_agreement

PROMPT = read_tables(__package__, "assessor.toml")
ORDERS: Mapping[str, str] = PROMPT["orders"]
DIMENSIONS: Mapping[str, str] = PROMPT["dimensions"]

TEXTS: Mapping[str, str] = PROMPT["texts"]


class Rating(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One rater's judgement of one player in one turn; a field is None if it was not judged."""

    turn: int
    player: str
    episode: str = ""
    reason: str = ""
    first_order: bool | None = None
    second_order: bool | None = None
    third_or_higher: bool | None = None
    cooperation: float | None = None
    goal_alignment: float | None = None
    strategic_planning: float | None = None
    intention_concealment: float | None = None
    persuasion: float | None = None
    information_use: float | None = None
    adaptability: float | None = None
    self_interest: float | None = None

    def __post_init__(self) -> None:
        for name in DIMENSIONS:
            grade = getattr(self, name)
            if grade is not None and not 0 <= grade <= 1:
                raise ValueError(f"{name} must be from 0 to 1, not {grade}")


class Assessment(msgspec.Struct, frozen=True):
    """An assessor's ratings of an episode; without ratings, `problem` gives the reason."""

    episode: str
    model: str
    ratings: tuple[Rating, ...]
    problem: str = ""
    calls: tuple[Call, ...] = ()


# --- asking ---------------------------------------------------------------------------------------

ASSESSOR = Seat("assessor")
ASSESSMENT = Question("assessment", "values", ())


class Assessor(msgspec.Struct, frozen=True):
    """A model that judges one episode. Its calls are made and logged like those of a player."""

    model: Model
    settings: Settings
    played: Played
    call_retries: int = 2

    async def answering(self, turn: Turn, exchanges: Exchanges) -> Assessment:
        """Judge the episode, yielding each request for the model."""
        caller = Caller(self.model, self.settings, turn, self.call_retries, exchanges)
        played = self.played
        id, wanted_units, page = played.episode.id, units(played), prompt(played)

        async def attempt() -> tuple[Rating, ...]:
            reply = await caller.say(ASSESSMENT.probe, [User(page)])
            return read_ratings(reply.text, wanted_units, id)

        outcome = await ask_until_readable(
            caller,
            attempt,
            turn.context.retries,
            lambda problem: TEXTS["retry"].format(why=problem),
        )
        if isinstance(outcome, Fault):
            return Assessment(id, self.model.name, (), outcome.detail)
        if isinstance(outcome, Forfeit):
            return Assessment(id, self.model.name, (), caller.problem)
        return Assessment(id, self.model.name, outcome.value)


async def assess(
    played: Played,
    model: Model,
    settings: Settings = AS_THE_PROVIDER_DOES,
    retries: int = 2,
) -> Assessment:
    """Have a model judge an episode; if its reply is incomplete, ask again, up to `retries`
    times."""
    game, seed = played.replay.game, played.episode.setup.seed
    context = SeatContext(played.spec, game, ASSESSOR, seed, retries=retries)
    id = (0, ASSESSOR, ASSESSMENT.probe, "")
    turn: Turn = Turn(id, context, None, (), question=ASSESSMENT)
    assessment: Assessment = await answer_with_model(Assessor(model, settings, played), turn)
    return assessment


def units(played: Played) -> tuple[tuple[int, str], ...]:
    """Return every (turn, player) to judge."""
    turns = sorted({state.turn for state in played.replay.states[:-1]})
    return tuple((turn, str(seat)) for turn in turns for seat in played.replay.game.seats)


def prompt(played: Played) -> str:
    """Return the complete prompt for an assessor."""
    keys = ("turn", "player", "reason", *ORDERS, *DIMENSIONS)
    parts = (
        TEXTS["task"],
        TEXTS["orders"].format(lines=_lines(ORDERS)),
        TEXTS["dimensions"].format(lines=_lines(DIMENSIONS)),
        TEXTS["format"].format(count=len(units(played)), keys=join_names(keys)),
        TEXTS["record"].format(record="\n".join(record(played))),
    )
    return "\n\n".join(parts)


def _lines(about: Mapping[str, str]) -> str:
    return "\n".join(TEXTS["line"].format(name=name, about=text) for name, text in about.items())


def read_ratings(
    reply: str, wanted_units: Sequence[tuple[int, str]], episode: str = ""
) -> tuple[Rating, ...]:
    """Return the ratings of a reply; raise Unreadable if a (turn, player) is missing or judged
    twice."""
    objects = [json_object for json_object in objects_in(reply) if "judgements" in json_object]
    if len(objects) != 1:
        raise Unreadable('Answer with one JSON object {"judgements": [...]}.')
    try:
        ratings = msgspec.convert(objects[0]["judgements"], tuple[Rating, ...])
    except msgspec.ValidationError as error:
        raise Unreadable(f"{error}.") from None
    judged = [(rating.turn, rating.player) for rating in ratings]
    if sorted(judged) != sorted(wanted_units):
        missing = [f"turn {t} {p}" for t, p in wanted_units if (t, p) not in judged]
        doubled = [f"turn {t} {p}" for t, p in judged if judged.count((t, p)) > 1]
        strange = [f"turn {t} {p}" for t, p in judged if (t, p) not in wanted_units]
        mistakes = {"missing": missing, "given twice": doubled, "not in the record": strange}
        raise Unreadable(
            " ".join(
                f"{join_names(units_concerned)}: {mistake}."
                for mistake, units_concerned in mistakes.items()
                if units_concerned
            )
        )
    for rating in ratings:
        blank = [n for n in (*ORDERS, *DIMENSIONS) if getattr(rating, n) is None]
        if blank or not rating.reason.strip():
            gaps = join_names(blank or ["reason"])
            raise Unreadable(f"Turn {rating.turn} {rating.player} lacks {gaps}.")
    return tuple(msgspec.structs.replace(rating, episode=episode) for rating in ratings)


# --- the record that is judged --------------------------------------------------------------------


def record(played: Played) -> Iterator[str]:
    """Yield the record of a game as lines of text, including targets and messages."""
    game = played.replay.game
    if not isinstance(game, TradeCraft):
        raise BadInput(f"The assessor judges tradecraft, not {played.spec.name}.")
    for seat, goal in zip(game.seats, game.goals, strict=True):
        yield f"{seat} wants {goods_said(goal)}."
    turn = 0
    for event in played.episode.events:
        if not isinstance(event, Moved | Forfeited) or event.turn >= len(played.replay.moves):
            continue
        state: State = played.replay.state(event.turn)
        if state.turn != turn:
            turn = state.turn
            yield f"Turn {turn}"
            for seat, hand in zip(game.seats, state.shown, strict=True):
                yield f"  {seat} holds {goods_said(hand)}."
        if event.reply.strip():
            yield f"  {event.seat} wrote: {' '.join(event.reply.split())}"
        yield f"  {_done(played, event)}"
    winners = played.replay.states[-1].winners
    yield f"The game is over. Winners: {join_names(winners) if winners else 'nobody'}."


def _done(played: Played, event: Moved | Forfeited) -> str:
    """Return one move as text."""
    if isinstance(event, Forfeited):
        return f"{event.seat} gave no valid answer."
    seat = Seat(event.seat)
    view: View = played.replay.view(event.turn, seat)
    action = played.replay.move(event.turn, seat)
    refusal = TradeWords(played.replay.rules(TradeCraft), {}).refusal(view, action)
    match action:
        case Propose(to, offer, request) if refusal:
            goods = f"give {goods_said(offer)}, get {goods_said(request)}"
            return (
                f"{event.seat} tried to propose to {to}: {goods}. Refused, nobody saw it: {refusal}"
            )
        case Craft(inputs, output, amount) if refusal:
            craft_text = f"{good_said(output, amount)} from {goods_said(inputs)}"
            return f"{event.seat} tried to craft {craft_text}. Refused, nothing was made: {refusal}"
        case Propose(to, offer, request, message):
            goods = f"gives {goods_said(offer)}, gets {goods_said(request)}"
            return f"{event.seat} proposes to {to}: {goods}. Message: {message!r}"
        case Answer(answer, message):
            verb = "accepts" if answer == ACCEPT else "rejects"
            return f"{event.seat} {verb}. Message: {message!r}"
        case Craft(inputs, output, amount):
            return f"{event.seat} crafts {good_said(output, amount)} from {goods_said(inputs)}."
        case Done():
            return f"{event.seat} is done crafting."
    return f"{event.seat} proposes nothing."


# --- agreement with a second rater ----------------------------------------------------------------


class Agreement(msgspec.Struct, frozen=True):
    """The agreement of two raters on one dimension; a coefficient is None if it is undefined."""

    dimension: str
    units: int
    percent: float | None = None  # share of equal theory-of-mind judgements
    mae: float | None = None  # of grades
    alpha: float | None = None  # Krippendorff's, nominal for judgements and interval for grades


def ratings_file(path: Path) -> tuple[Rating, ...]:
    """Read a rater's file: one JSON object per line with episode, turn, player and judgements."""
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise BadInput(f"The ratings {path} cannot be read: {error.strerror}.") from None
    ratings = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            ratings.append(msgspec.json.decode(line, type=Rating))
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise BadInput(f"Ratings {path}, line {number}: {error}.") from None
    return tuple(ratings)


def agreement(
    first_ratings: Iterable[Rating], second_ratings: Iterable[Rating]
) -> tuple[Agreement, ...]:
    """Return the agreement on each dimension, over the units that both raters judged; the
    theory-of-mind orders are also pooled."""
    first, second = _by_unit(first_ratings), _by_unit(second_ratings)
    shared_units = sorted(first.keys() & second.keys())
    rows, pooled = [], list[tuple[Any, Any]]()
    for name in ORDERS:
        pairs = _pairs(first, second, shared_units, name)
        pooled += pairs
        rows.append(_judged_alike(name, pairs))
    rows.insert(0, _judged_alike("theory of mind", pooled))
    for name in DIMENSIONS:
        first_column, second_column = _columns(_pairs(first, second, shared_units, name))
        error = mean_absolute_error(first_column, second_column) if first_column else None
        alpha = (
            krippendorffs_alpha([first_column, second_column], "interval") if first_column else None
        )
        rows.append(Agreement(name, len(first_column), None, error, alpha))
    return tuple(rows)


_Unit = tuple[str, int, str]


def _by_unit(ratings: Iterable[Rating]) -> dict[_Unit, Rating]:
    ratings_by_unit: dict[_Unit, Rating] = {}
    for rating in ratings:
        unit = (rating.episode, rating.turn, rating.player)
        if unit in ratings_by_unit:
            raise BadInput(f"A rater judges {rating.player} twice in turn {rating.turn}.")
        ratings_by_unit[unit] = rating
    return ratings_by_unit


def _pairs(
    first: Mapping[_Unit, Rating],
    second: Mapping[_Unit, Rating],
    shared_units: list[_Unit],
    name: str,
) -> list[tuple[Any, Any]]:
    pairs = [(getattr(first[unit], name), getattr(second[unit], name)) for unit in shared_units]
    return [(a, b) for a, b in pairs if a is not None and b is not None]


def _columns(pairs: list[tuple[Any, Any]]) -> tuple[list[Any], list[Any]]:
    return [a for a, _ in pairs], [b for _, b in pairs]


def _judged_alike(name: str, pairs: list[tuple[Any, Any]]) -> Agreement:
    first_column, second_column = _columns(pairs)
    alpha = krippendorffs_alpha([first_column, second_column], "nominal") if first_column else None
    return Agreement(
        name, len(first_column), percent_agreement(first_column, second_column), None, alpha
    )


class Summary(msgspec.Struct, frozen=True):
    """Summary of one order of theory of mind, or of one dimension, over all turns judged on it."""

    dimension: str
    turns: int  # a turn of one player is one
    share: float | None = None  # of turns in which the order shows
    mean: float | None = None  # of the grades


def summary(ratings: Sequence[Rating]) -> tuple[Summary, ...]:
    """Return the share of turns judged to show each order of theory of mind, and the mean grade for
    each dimension."""
    rows = []
    for name in (*ORDERS, *DIMENSIONS):
        values = [float(v) for r in ratings if (v := getattr(r, name)) is not None]
        middle = sum(values) / len(values) if values else None
        judged = {"share": middle} if name in ORDERS else {"mean": middle}
        rows.append(Summary(name, len(values), **judged))
    return tuple(rows)
