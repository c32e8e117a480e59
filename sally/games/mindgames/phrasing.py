"""Claims as plain sentences that the rules reader takes to mean exactly these claims."""

from collections.abc import Iterable

import msgspec

from sally.games.mindgames.claims import Claims, Disclosure, Names
from sally.games.mindgames.replies import EFFECTS, listed

FILLER = "Thank you."


def in_sentences(said: Claims, names: Names) -> str:
    """A message that makes these claims; one without any if there are none."""
    parts = [_told(row, said.disclosures, names) for row in names.proposals]
    noun = names.noun
    if said.informational:
        cells = {(a.proposal, a.attribute) for a in said.informational}
        if len(cells) == len(names.proposals) * len(names.attributes):
            parts.append(f"What do you know about each {noun}?")
        else:
            parts += [f"What do you know about {noun} {p} and {a}?" for p, a in sorted(cells)]
    if said.motivational:
        parts.append(f"How do you feel about {listed(said.motivational)}?")
    if set(said.inferential) == set(names.proposals):
        parts.append(f"Which {noun} do you prefer?")
    else:
        parts += [f"How much do you value {noun} {p}?" for p in said.inferential]
    return " ".join(part for part in parts if part) or FILLER


def _told(proposal: str, disclosures: Iterable[Disclosure], names: Names) -> str:
    effects = [f"{EFFECTS[d.utility]} {d.attribute}" for d in disclosures if d.proposal == proposal]
    noun = names.noun.capitalize()
    return f"{noun} {proposal} {listed(effects)}." if effects else ""


def in_json(said: Claims) -> str:
    """The same claims as a message of the discrete game."""

    def bare(items: Iterable[msgspec.Struct]) -> list[dict[str, object]]:
        return [
            {k: v for k, v in msgspec.to_builtins(item).items() if k != "kind"} for item in items
        ]

    parts = {
        "motivational": list(said.motivational),
        "informational": bare(said.informational),
        "inferential": list(said.inferential),
        "disclosures": bare(said.disclosures),
    }
    return msgspec.json.encode({key: part for key, part in parts.items() if part}).decode()
