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
    name_match = _NAME.search(path.name)
    if name_match is None:
        raise BadInput(f"{path} is not named like a game log, TradeCraft.Duo_XXXXXXXX-log.md.")
    if path.suffix == ".json":
        return _raw(path, name_match["id"], text, data)
    events = tuple(_markdown(text))
    start = [event for event in events if event.kind == "private_start_info"]
    return Record(
        name_match["id"],
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
    for event_match in _EVENT.finditer(text):
        if event_match["turn"]:
            yield LoggedEvent("turn", text=event_match["turn"])
            continue
        noted = _read_event(event_match["kind"], event_match["body"].strip())
        if noted is not None:
            yield noted


def _read_event(kind: str, body: str) -> LoggedEvent | None:
    """Return one event of a markdown log; None for events that change nothing."""
    match kind:
        case "private_start_info":
            name, _, target = body.partition(" enters the game with a private target: ")
            return LoggedEvent(kind, _tidy(name), request=_goods(target))
        case "submit_proposal" if proposal := _PROPOSAL.match(body):
            offer, request = _goods(proposal["offer"]), _goods(proposal["request"])
            name, to = _tidy(proposal["who"]), _tidy(proposal["to"])
            return LoggedEvent(kind, name, to, offer, request, message=proposal["message"].strip())
        case "approval_or_reject" if decision := _DECISION.match(body):
            return LoggedEvent(
                kind,
                _tidy(decision["who"]),
                text=decision["answer"],
                message=decision["text"].strip(),
            )
        case "craft_recipe_check" if check := _CHECK.match(body):
            return LoggedEvent(
                kind, _tidy(check["who"]), offer=_goods(check[2]), request=_goods(check[3])
            )
        case "craft_recipe_validity":
            short = "no recipe" if "follows the rules" not in body else "cannot afford"
            return LoggedEvent(kind, text="good" if "**valid**" in body else short)
        case "craft_recipe_apply" | "craft_done":
            name = re.split(r" apply the recipe| has finished", body)[0]
            return LoggedEvent(kind, _tidy(name))
        case "private_hand_change":
            return LoggedEvent(kind, request=_goods(body))
        case "proposal_invalid" | "phase_error":
            return LoggedEvent(kind)
        case "game_over":
            won = re.findall(r"\*\*(.*?)\*\* \[(\w+)\]", body)
            return LoggedEvent(
                kind, text=",".join(_tidy(name) for name, outcome in won if outcome == "win")
            )
    return None


def _tidy(name: str) -> str:
    return name.strip().lower()


def _goods(text: str) -> Goods:
    """Parse goods such as `[minecraft:coal * 7/8, x * {'d': 3, 'n': 2}, ]`."""
    pairs = re.findall(r"([\w:#-]+) \* (\{[^}]*\}|['\"]?[\d./]+)", text)
    return {item.rpartition(":")[2]: _amount_text(amount.strip("'\"")) for item, amount in pairs}


def _amount_text(amount: str) -> str:
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
    for _, kind, content in lines:
        if kind == "server__private_start_info":
            names[content["index"]] = content["username"], _amounts(content["target"])
        elif kind == "server__update_all_hands" and not hands:
            hands = tuple(_amounts(hand) for hand in content["hands"])
        elif kind == "server__start_proposal" and not first:
            first = content["proposer"]
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


def _from_raw(kind: str, name: str, content: Mapping[str, Any]) -> LoggedEvent | None:
    match kind:
        case "start_proposal":
            return LoggedEvent("turn", text=str(content["turn_index"]))
        case "submit_proposal":
            proposal = content["proposal"]
            offer, request = _amounts(proposal["offer"]), _amounts(proposal["request"])
            return LoggedEvent(
                kind, name, proposal["partner"], offer, request, message=content["message"]
            )
        case "approval_or_reject":
            return LoggedEvent(
                kind, name, text=content["decision"], message=content.get("message", "")
            )
        case "craft_recipe_check":
            recipe = content["recipe"]
            return LoggedEvent(
                kind, name, offer=_amounts(recipe["input"]), request=_amounts(recipe["output"])
            )
        case "craft_recipe_validity":
            return LoggedEvent(kind, text="good" if content["result"] else "no recipe")
        case "private_hand_change":
            return LoggedEvent(kind, request=_amounts(content["hand"]))
        case "craft_recipe_apply" | "craft_done" | "proposal_invalid" | "phase_error":
            return LoggedEvent(kind, name)
        case "game_over":
            return LoggedEvent(kind, text=",".join(content.get("winners", ())))
    return None


def _amounts(amounts: Mapping[str, Any]) -> Goods:
    return {item.rpartition(":")[2]: _amount(amount) for item, amount in amounts.items()}


def _amount(amount: Any) -> str:
    if isinstance(amount, dict):
        return str(plain(Fraction(amount["n"], amount["d"])))
    return str(amount_meant(amount))
