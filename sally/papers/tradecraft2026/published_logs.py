"""Reader of the public project's game logs: markdown and raw logs become the same kind of record.

A raw log identifies players by secret tokens, which are used to distinguish players and never
stored.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import msgspec

from sally.core.errors import BadInput
from sally.games.tradecraft.amounts import plain
from sally.games.tradecraft.replies import amount_meant

Goods = dict[str, str]  # amounts as exact text

_EVENT = re.compile(
    r"^(?:#+ [^\n]*?Turn (?P<turn>\d+) start!|#+ [^\n]*?Event: `(?:server|player)__(?P<kind>\w+)`)"
    r"(?P<body>.*?)(?=^#|\Z)",
    re.S | re.M,
)
_PROPOSAL = re.compile(
    r"(?P<who>.*?) submit a proposal to (?P<to>.*?), request (?P<request>\[.*?\]), "
    r"offer (?P<offer>\[.*?\]) together with a text message: ?(?P<message>.*)",
    re.S,
)
_DECISION = re.compile(
    r"(?P<who>.*?) decided to (?P<answer>\S+) the proposal(?: with a text message: ?)?(?P<text>.*)",
    re.S,
)
_CHECK = re.compile(r"(?P<who>.*?) check the validity.*?Input (\[.*?\]), Output (\[.*?\])", re.S)
_NAME = re.compile(r"Duo_(?P<id>[\w-]{8})")


class LoggedEvent(msgspec.Struct, frozen=True):
    """One event of a record; absent parts are empty."""

    kind: str
    who: str = ""
    to: str = ""
    offer: Goods = {}  # or the inputs of a craft
    request: Goods = {}  # or its outputs, or a hand
    text: str = ""  # a message, a decision, a result
    message: str = ""


class Record(msgspec.Struct, frozen=True):
    """One logged game."""

    id: str
    file: str
    pairing: str
    raw: bool
    names: tuple[str, ...]
    targets: tuple[Goods, ...]
    hands: tuple[Goods, ...]  # at the start, where the log has them
    first: str  # who proposes first, where the log says so
    events: tuple[LoggedEvent, ...]
    data: bytes


def read_record(path: Path) -> Record:
    """Return the record in a file; raises BadInput if the file has none."""
    data = path.read_bytes()
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise BadInput(f"{path} is not UTF-8 text.") from None
    found = _NAME.search(path.name)
    if found is None:
        raise BadInput(f"{path} is not named like a game log, TradeCraft.Duo_XXXXXXXX-log.md.")
    if path.suffix == ".json":
        return _raw(path, found["id"], text, data)
    events = tuple(_markdown(text))
    start = [event for event in events if event.kind == "private_start_info"]
    return Record(
        found["id"],
        path.name,
        path.parent.name,
        False,
        tuple(event.who for event in start),
        tuple(event.request for event in start),
        (),
        "",
        events,
        data,
    )


# --- markdown -------------------------------------------------------------------------------------


def _markdown(text: str) -> Iterator[LoggedEvent]:
    for found in _EVENT.finditer(text):
        if found["turn"]:
            yield LoggedEvent("turn", text=found["turn"])
            continue
        noted = _noted(found["kind"], found["body"].strip())
        if noted is not None:
            yield noted


def _noted(kind: str, body: str) -> LoggedEvent | None:
    """Return one event of a markdown log; None for events that change nothing."""
    match kind:
        case "private_start_info":
            who, _, target = body.partition(" enters the game with a private target: ")
            return LoggedEvent(kind, _tidy(who), request=_goods(target))
        case "submit_proposal" if made := _PROPOSAL.match(body):
            given, wanted = _goods(made["offer"]), _goods(made["request"])
            who, to = _tidy(made["who"]), _tidy(made["to"])
            return LoggedEvent(kind, who, to, given, wanted, message=made["message"].strip())
        case "approval_or_reject" if said := _DECISION.match(body):
            return LoggedEvent(
                kind, _tidy(said["who"]), text=said["answer"], message=said["text"].strip()
            )
        case "craft_recipe_check" if asked := _CHECK.match(body):
            return LoggedEvent(
                kind, _tidy(asked["who"]), offer=_goods(asked[2]), request=_goods(asked[3])
            )
        case "craft_recipe_validity":
            short = "no recipe" if "follows the rules" not in body else "cannot afford"
            return LoggedEvent(kind, text="good" if "**valid**" in body else short)
        case "craft_recipe_apply" | "craft_done":
            who = re.split(r" apply the recipe| has finished", body)[0]
            return LoggedEvent(kind, _tidy(who))
        case "private_hand_change":
            return LoggedEvent(kind, request=_goods(body))
        case "proposal_invalid" | "phase_error":
            return LoggedEvent(kind)
        case "game_over":
            won = re.findall(r"\*\*(.*?)\*\* \[(\w+)\]", body)
            return LoggedEvent(kind, text=",".join(_tidy(who) for who, how in won if how == "win"))
    return None


def _tidy(name: str) -> str:
    return name.strip().lower()


def _goods(text: str) -> Goods:
    """Parse goods such as `[minecraft:coal * 7/8, x * {'d': 3, 'n': 2}, ]`."""
    found = re.findall(r"([\w:#-]+) \* (\{[^}]*\}|['\"]?[\d./]+)", text)
    return {item.rpartition(":")[2]: _shown(amount.strip("'\"")) for item, amount in found}


def _shown(amount: str) -> str:
    parts = dict(re.findall(r"'([nd])': (\d+)", amount))
    if len(parts) == 2:
        return str(plain(Fraction(int(parts["n"]), int(parts["d"]))))
    return str(amount_meant(amount))


# --- raw ------------------------------------------------------------------------------------------


def _raw(path: Path, id: str, text: str, data: bytes) -> Record:
    try:
        lines = [(e["domain"][0], str(e["event"]), json.loads(e["msg"])) for e in json.loads(text)]
    except (ValueError, KeyError, IndexError, TypeError):
        raise BadInput(
            f"{path} is not a raw game log, a JSON list of objects with domain, event and msg."
        ) from None
    tokens = {d: m["username"] for d, kind, m in lines if kind == "player__ready_to_start"}
    names: dict[int, tuple[str, Goods]] = {}
    hands: tuple[Goods, ...] = ()
    first = ""
    for _, kind, said in lines:
        if kind == "server__private_start_info":
            names[said["index"]] = said["username"], _amounts(said["target"])
        elif kind == "server__update_all_hands" and not hands:
            hands = tuple(_amounts(hand) for hand in said["hands"])
        elif kind == "server__start_proposal" and not first:
            first = said["proposer"]
    listed = [names[n] for n in sorted(names)]
    events = (_from_raw(kind.partition("__")[2], tokens.get(d, ""), m) for d, kind, m in lines)
    return Record(
        id,
        path.name,
        "raw",
        True,
        tuple(name for name, _ in listed),
        tuple(target for _, target in listed),
        hands,
        first,
        tuple(event for event in events if event is not None),
        data,
    )


def _from_raw(kind: str, who: str, said: Mapping[str, Any]) -> LoggedEvent | None:
    match kind:
        case "start_proposal":
            return LoggedEvent("turn", text=str(said["turn_index"]))
        case "submit_proposal":
            made = said["proposal"]
            given, wanted = _amounts(made["offer"]), _amounts(made["request"])
            return LoggedEvent(kind, who, made["partner"], given, wanted, message=said["message"])
        case "approval_or_reject":
            return LoggedEvent(kind, who, text=said["decision"], message=said.get("message", ""))
        case "craft_recipe_check":
            recipe = said["recipe"]
            return LoggedEvent(
                kind, who, offer=_amounts(recipe["input"]), request=_amounts(recipe["output"])
            )
        case "craft_recipe_validity":
            return LoggedEvent(kind, text="good" if said["result"] else "no recipe")
        case "private_hand_change":
            return LoggedEvent(kind, request=_amounts(said["hand"]))
        case "craft_recipe_apply" | "craft_done" | "proposal_invalid" | "phase_error":
            return LoggedEvent(kind, who)
        case "game_over":
            return LoggedEvent(kind, text=",".join(said.get("winners", ())))
    return None


def _amounts(given: Mapping[str, Any]) -> Goods:
    return {item.rpartition(":")[2]: _amount(amount) for item, amount in given.items()}


def _amount(given: Any) -> str:
    if isinstance(given, dict):
        return str(plain(Fraction(given["n"], given["d"])))
    return str(amount_meant(given))
