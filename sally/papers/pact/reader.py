"""Reader of published PACT logs (one file per game, one JSON object per line) and of their model
names.

Logs have one of two schema versions, which `schema_version` names. The repository has no licence,
so its logs are read in place and not shipped.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

from sally.core.errors import BadInput
from sally.core.rules.game import Seat
from sally.games.bargaining.rules import BUYER, SEATS, SELLER
from sally.games.bargaining.values import FAMILIES, HIGHEST
from sally.papers.name_tables import name_tables
from sally.parts.importers import Source, existing

SOURCE, LICENCE = "github.com/lechmazur/pact", "none stated: for computing figures only"
PATTERN = re.compile(r"auction_.+\.jsonl")
SEAT_OF: Mapping[str, Seat] = {"B1": BUYER, "S1": SELLER}
SIMULTANEOUS_FROM = "2026-04-01"  # until then the second speaker saw the first message (measured)
Era = Literal["sequential", "simultaneous"]


class Line(msgspec.Struct, frozen=True):
    """One line of a log, with the fields that are read."""

    type: str
    game_id: str
    schema_version: str = ""
    round: int = 0
    player_id: str = ""
    agent_id: str = ""
    message: str = ""
    timestamp: str = ""
    price: int | None = None
    raw_response: str | None = None
    cleared_price: float | None = None
    clearing_random_pick: bool = False
    data: dict[str, Any] = {}


class RecordedRound(msgspec.Struct):
    """One round as it was logged."""

    messages: list[tuple[Seat, str]] = []  # in the order of the log
    quotes: dict[Seat, int] = {}
    price: int | None = None  # of the logged trade; None: no trade was logged
    is_rounded_up: bool = False  # the logged coin: whether a half was rounded up
    totals: dict[Seat, float] = {}  # running payoffs at the round's end

    def message(self, seat: Seat) -> str:
        """Return the message of a seat; an absent message counts as silence."""
        return next((text for speaker, text in self.messages if speaker == seat), "")


class Record(msgspec.Struct):
    """One game."""

    id: str
    schema: str
    family: str
    value: int
    cost: int
    seed: int
    names: dict[Seat, str]
    era: Era
    rounds: list[RecordedRound]
    final: dict[Seat, float]
    efficiency: float | None
    violations: int
    unlike: int  # raw replies whose tagged price is not the recorded one (1.7.0)
    source: Source

    def limit(self, seat: Seat) -> int:
        """Return the buyer's value or the seller's cost."""
        return self.value if seat == BUYER else self.cost

    @property
    def replacement_possible(self) -> bool:
        """Whether some recorded quote may be a replacement for a malformed one. Logs of version
        1.4.0 do not mark replacements, which equal the seat's value or cost."""
        return self.schema == "1.4.0" and any(
            recorded.quotes[seat] == self.limit(seat) for recorded in self.rounds for seat in SEATS
        )


def files_under(path: Path) -> list[Path]:
    """Return the logs of a checkout or of its folder `logs`, sorted by name, or one given file."""
    if existing(path).is_file():
        return [path]
    files = sorted(
        file
        for file in path.rglob("auction_*.jsonl")
        if not any(part.startswith(".") for part in file.relative_to(path).parts)
    )
    if not files:
        raise BadInput(f"There is no PACT log under {path}, such as auction_GAME_DATE.jsonl.")
    return files


_DECODE = msgspec.json.Decoder(Line)
_RAW = re.compile(r"(?i)<price>\s*(\d+)\s*</price>")


def read_record(file: Path) -> Record:
    """Return the game in one log.

    Raises:
        BadInput: A line is not a line of a PACT log, the log is incomplete, or a round does not
            have two quotes.
    """
    data = file.read_bytes()
    lines = []
    for number, text in enumerate(data.splitlines(), 1):
        if not text.strip():
            continue
        try:
            lines.append(_DECODE.decode(text))
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise BadInput(
                f"{file}, line {number} is not a line of a PACT log ({error})."
            ) from None
    if not lines or lines[0].type != "init" or lines[-1].type != "final":
        raise BadInput(
            f"{file} does not start with `init` and end with `final`; the download may be "
            "incomplete."
        )
    first, last = lines[0], lines[-1]
    agents, count = first.data.get("agents", {}), int(first.data.get("num_rounds", 0))
    if set(agents) != set(SEAT_OF) or not count:
        raise BadInput(
            f"{file}, line 1: agents should be B1 and S1, and num_rounds should be at least 1."
        )
    rounds = [RecordedRound([], {}, totals={}) for _ in range(count)]
    violations = unlike = 0
    for line in lines[1:-1]:
        if not 1 <= line.round <= count:
            continue
        unlike += _note(rounds[line.round - 1], line)
        violations += line.type == "communication_violation"
    family = str(first.data.get("distribution"))
    if family not in FAMILIES:
        raise BadInput(
            f"{file}, line 1: distribution is {family!r}, not one of the known families."
        )
    stamps = [line.timestamp for line in lines if line.timestamp]
    for number, recorded in enumerate(rounds, 1):
        if set(recorded.quotes) != set(SEATS):
            raise BadInput(
                f"{file}: round {number} has {len(recorded.quotes)} quotes instead of two."
            )
    final = last.data.get("final_payoff_map", {})
    return Record(
        id=first.game_id,
        schema=first.schema_version,
        family=family,
        value=_whole_price(file, agents["B1"].get("valuation")),
        cost=_whole_price(file, agents["S1"].get("cost")),
        seed=int(first.data.get("random_seed_value") or 0),
        names={SEAT_OF[seat]: str(agent.get("model_name")) for seat, agent in agents.items()},
        era="sequential" if min(stamps, default="") < SIMULTANEOUS_FROM else "simultaneous",
        rounds=rounds,
        final={SEAT_OF[seat]: float(paid) for seat, paid in final.items()},
        efficiency=last.data.get("market_efficiency"),
        violations=violations,
        unlike=unlike,
        source=Source.of(SOURCE, LICENCE, file.name, data),
    )


def _whole_price(file: Path, number: Any) -> int:
    if type(number) is not int or not 0 <= number <= HIGHEST:
        raise BadInput(f"{file}, line 1: {number!r} should be a whole number from 0 to {HIGHEST}.")
    return number


def _note(recorded: RecordedRound, line: Line) -> int:
    """Add a log line to the data of its round. Return 1 if the line is a quote and the model's raw
    reply does not clearly state the logged price, else 0."""
    match line.type:
        case "conversation":
            recorded.messages.append((SEAT_OF[line.player_id], line.message))
        case "bid_ask":
            if line.price is None or not 0 <= line.price <= HIGHEST:
                raise BadInput(
                    f"Game {line.game_id}, round {line.round}: price is {line.price!r}; it should "
                    f"be a whole number from 0 to {HIGHEST}."
                )
            recorded.quotes[SEAT_OF[line.agent_id]] = line.price
            if line.raw_response is not None:
                plain = _RAW.search(line.raw_response)
                return int(plain is None or int(plain[1]) != line.price)
        case "trade":
            recorded.price = None if line.cleared_price is None else int(line.cleared_price)
            recorded.is_rounded_up = line.clearing_random_pick
        case "round_end":
            paid = line.data.get("payoff_map", {})
            recorded.totals = {SEAT_OF[seat]: float(total) for seat, total in paid.items()}
    return 0


# --- names of models ------------------------------------------------------------------------------


class ModelName(msgspec.Struct, frozen=True):
    """A model's name in parts; `raw` is the name in the logs."""

    provider: str
    model: str
    effort: str
    raw: str


NAMES = name_tables(__package__)
PROVIDERS = NAMES["providers"]  # by the start of a name
ALIASES = NAMES["aliases"]  # raw name -> model, and effort if it is known
_EFFORT = re.compile(r"-(xhigh|high|medium|low|minimal|none)$")
_BUDGET = re.compile(r"-(\d+)k$", re.IGNORECASE)
_THINKS = {"-non-reasoning": "off", "-reasoning": "on", "-thinking": "on", "-adaptive": "high"}


def model_name(raw: str) -> ModelName:
    """Split a model's name into provider, model and effort.

    >>> model_name("gpt-5.5-high")
    ModelName(provider='OpenAI', model='gpt-5.5', effort='high', raw='gpt-5.5-high')
    """
    plain = raw.lower().replace("_", "-")
    provider = next(
        (provider_name for start, provider_name in PROVIDERS.items() if plain.startswith(start)),
        "unknown",
    )
    if raw in ALIASES:
        model, _, effort = ALIASES[raw].partition(" ")
        return ModelName(provider, model, effort, raw)
    if hit := _EFFORT.search(plain):
        return ModelName(provider, plain[: hit.start()], hit[1], raw)
    if hit := _BUDGET.search(plain):
        return ModelName(
            provider, plain[: hit.start()], "off" if hit[1] == "0" else f"{hit[1]}K", raw
        )
    for ending, effort in _THINKS.items():
        if plain.endswith(ending):
            return ModelName(provider, plain.removesuffix(ending), effort, raw)
    return ModelName(provider, plain, "", raw)
