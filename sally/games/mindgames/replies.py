"""The target's answers as content, text and JSON; messages are composed from claims, and claims are
read from JSON."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from sally.core.errors import listed
from sally.games.mindgames.claims import (
    EFFECTS,
    Asked,
    Claims,
    Disclosure,
    Names,
    UnknownName,
    claims,
)
from sally.games.mindgames.puzzles import Cell, Puzzle
from sally.games.mindgames.target import Mind, choice_of, ranking, values


class KnownEffects(msgspec.Struct, frozen=True):
    """The target's knowledge about the queried cells of one proposal."""

    proposal: int
    known: tuple[tuple[int, int], ...]  # (attribute, utility)
    unknown: tuple[int, ...]


class Ranked(msgspec.Struct, frozen=True):
    """The target's ranking of all proposals, best first, with ties, and its current choice."""

    places: tuple[tuple[int, ...], ...]
    values: tuple[int, ...]
    chosen: int


class Answer(msgspec.Struct, frozen=True):
    """The content of the target's answer to one message."""

    information: tuple[KnownEffects, ...] = ()
    motivation: tuple[tuple[int, int], ...] = ()  # (attribute, like)
    inference: Ranked | None = None


class AnswerPhrases(msgspec.Struct, frozen=True):
    """The phrases in which a target answers; one set is for a target that is presented as a person,
    another for a target that is presented as an automated system."""

    like: str
    dislike: str
    indifferent: str
    unknown: str
    over: str
    same: str
    tie: str
    generic: str


PERSON = AnswerPhrases(
    like="I like {x}",
    dislike="I dislike {x}",
    indifferent="I am indifferent to {x}",
    unknown="I do not know what {p} does to {x}.",
    over="I prefer {better} to {worse}.",
    same="I prefer {ps} equally.",
    tie="On a tie at the top I stay with what I preferred earlier: for now that is {p}.",
    generic=(
        "I decide rationally: I take the proposal that is best as far as I know. I repeat what you "
        "tell me, and I answer when you ask what I know, what I like or which proposal I prefer."
    ),
)
SYSTEM = AnswerPhrases(
    like="the system maximises {x}",
    dislike="the system minimises {x}",
    indifferent="the system ignores {x}",
    unknown="The system holds no record of what {p} does to {x}.",
    over="The system ranks {better} above {worse}.",
    same="The system ranks {ps} equally.",
    tie="On a tie at the top the system stays with what came first earlier: for now that is {p}.",
    generic=(
        "The system selects the choice that is best according to its records. It repeats what is "
        "entered, and it answers queries about its records, its objectives and its ranking."
    ),
)


def answer(puzzle: Puzzle, mind: Mind, found: Claims, names: Names) -> Answer:
    """Return the target's answer; `mind` already includes the cells that the message disclosed."""
    return Answer(
        information=tuple(_information(puzzle, mind, found, names)),
        motivation=tuple(
            (column, puzzle.target_values[column])
            for column in sorted({names.attribute(a) for a in found.motivational})
        ),
        inference=_inference(puzzle, mind) if found.inferential else None,
    )


def _inference(puzzle: Puzzle, mind: Mind) -> Ranked:
    worth = values(puzzle, mind.known)
    return Ranked(places=ranking(worth), values=worth, chosen=choice_of(puzzle, mind))


def _information(puzzle: Puzzle, mind: Mind, found: Claims, names: Names) -> list[KnownEffects]:
    """Return, by proposal, the known and unknown cells among those that were disclosed or asked
    about.

    If a message concerns all cells of a proposal, its unknown cells are left out.
    """
    echoed = {names.cell(d.proposal, d.attribute) for d in found.disclosures}
    asked = {names.cell(a.proposal, a.attribute) for a in found.informational}
    spoken_of, told = sorted(echoed | asked), []
    for row in dict.fromkeys(row for row, _ in spoken_of):
        mine = [cell for cell in spoken_of if cell[0] == row]
        whole = len(mine) == len(names.attributes)  # told and asked together, as published
        known = tuple((a, puzzle.utility((row, a))) for _, a in mine if (row, a) in mind.known)
        unknown = tuple(a for _, a in mine if (row, a) not in mind.known and not whole)
        if known or unknown:
            told.append(KnownEffects(proposal=row, known=known, unknown=unknown))
    return told


def capitalised(text: str) -> str:
    """Return a text with its first letter in upper case and the rest unchanged."""
    return text[:1].upper() + text[1:]


def in_words(said: Answer, names: Names, voice: AnswerPhrases = PERSON) -> str:
    """Return the answer in words: information, then motivation, then inference."""
    sentences = [s for told in said.information for s in _told_in_words(told, names, voice)]
    if said.motivation:
        sentences.append(_motivation_in_words(said.motivation, names, voice))
    if said.inference is not None:
        sentences += _inference_in_words(said.inference, names, voice)
    return " ".join(sentences) if sentences else voice.generic


def _told_in_words(told: KnownEffects, names: Names, voice: AnswerPhrases) -> list[str]:
    proposal = f"{names.noun} {names.proposals[told.proposal]}"
    out = []
    if told.known:
        effects = [f"{EFFECTS[u]} {names.attributes[a]}" for a, u in told.known]
        out.append(f"{capitalised(proposal)} {listed(effects)}.")
    if told.unknown:
        out.append(
            voice.unknown.format(
                p=proposal, x=listed([names.attributes[a] for a in told.unknown], "or")
            )
        )
    return out


def _motivation_in_words(
    liked: tuple[tuple[int, int], ...], names: Names, voice: AnswerPhrases
) -> str:
    by_sign = {1: voice.like, 0: voice.indifferent, -1: voice.dislike}
    return capitalised(listed([by_sign[v].format(x=names.attributes[a]) for a, v in liked])) + "."


def _proposals(rows: Sequence[int], names: Names) -> str:
    plural = "s" if len(rows) > 1 else ""
    return f"{names.noun}{plural} {listed([names.proposals[r] for r in rows])}"


def _inference_in_words(ranked: Ranked, names: Names, voice: AnswerPhrases) -> list[str]:
    out = [
        voice.same.format(ps=_proposals(place, names)) for place in ranked.places if len(place) > 1
    ]
    out += [
        voice.over.format(better=_proposals(better, names), worse=_proposals(worse, names))
        for better, worse in zip(ranked.places, ranked.places[1:], strict=False)
    ]
    if len(ranked.places[0]) > 1:
        out.append(voice.tie.format(p=f"{names.noun} {names.proposals[ranked.chosen]}"))
    return out


def as_json(said: Answer, names: Names) -> str:
    """Return the target's answer in the discrete game as JSON; an empty text if nothing was
    asked."""
    out: dict[str, list[dict[str, Any]]] = {}
    cells = [
        {
            "proposal": names.proposals[told.proposal],
            "attribute": names.attributes[a],
            "utility": u,
        }
        for told in said.information
        for a, u in told.known
    ]
    if cells:
        out["informational"] = cells
    if said.motivation:
        out["motivational"] = [
            {"attribute": names.attributes[a], "utility": v} for a, v in said.motivation
        ]
    if said.inference is not None:
        out["inferential"] = [
            {
                "proposal": names.proposals[row],
                "utility": said.inference.values[row],
                "chosen": row == said.inference.chosen,
            }
            for place in said.inference.places
            for row in place
        ]
    return msgspec.json.format(msgspec.json.encode(out), indent=2).decode() if out else ""


LONGEST_JSON = 20_000  # the rules accept no longer text
DEEPEST = 20  # an object of lists of objects needs three


class BadMessage(ValueError):
    """Raised for an unacceptable message of the discrete game; the text gives the reason."""


class _Discrete(msgspec.Struct, forbid_unknown_fields=True):
    motivational: list[str] = []
    informational: list[Asked] = []
    inferential: list[str] = []
    disclosures: list[Disclosure] = []


def _literal(text: str) -> Any:
    """Parse JSON, or JSON with single quotes, as used in a third of the published messages."""
    if len(text) > LONGEST_JSON:
        raise BadMessage(f"The message has more than {LONGEST_JSON} characters.")
    if _depth(text) > DEEPEST:
        raise BadMessage("The message has brackets within brackets within brackets.")
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        if "'" not in text:
            raise
    try:
        return _without_sets(ast.literal_eval(text))
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError) as why:
        # A set of dicts (`{{'a': 1}}`) raises TypeError: Python parses it but cannot build it.
        raise BadMessage("The message is neither JSON nor the same with single quotes.") from why


def _without_sets(found: Any) -> Any:
    """Return the value; raise ValueError if it contains a set, which JSON does not have."""
    if isinstance(found, dict):
        return {key: _without_sets(value) for key, value in found.items()}
    if isinstance(found, list | tuple):
        return [_without_sets(value) for value in found]
    if isinstance(found, set):
        raise ValueError("a set")
    return found


def _depth(text: str) -> int:
    """Return the deepest nesting of brackets, including those inside strings."""
    steps = itertools.accumulate((c in "[{(") - (c in "]})") for c in text)
    return max(steps, default=0)


def parse_discrete(message: str, names: Names) -> Claims:
    """Return the claims of a discrete message; raise BadMessage if it is invalid."""
    bare = message.strip().removeprefix("```").removeprefix("json").removesuffix("```").strip()
    try:
        found = msgspec.convert(_literal(bare), _Discrete)
    except BadMessage:
        raise
    except (msgspec.MsgspecError, ValueError, SyntaxError) as error:
        raise BadMessage(
            "The message must be one JSON object with any of the keys motivational, informational, "
            f"inferential and disclosures: {error}."
        ) from error
    try:
        for name in found.motivational:
            names.attribute(name)
        for proposal in found.inferential:
            names.proposal(proposal)
        for asked in found.informational:
            names.cell(asked.proposal, asked.attribute)
        for told in found.disclosures:
            names.cell(told.proposal, told.attribute)
    except UnknownName as error:
        raise BadMessage(str(error)) from error
    wrong = [d.utility for d in found.disclosures if d.utility not in (-1, 0, 1)]
    if wrong:
        raise BadMessage(f"A utility is -1, 0 or 1, not {wrong[0]}.")
    return claims(
        disclosures=found.disclosures,
        motivational=found.motivational,
        informational=found.informational,
        inferential=found.inferential,
    )


def known_cells(said: Answer) -> frozenset[Cell]:
    """Return the cells that an answer shows the target to know."""
    return frozenset((told.proposal, a) for told in said.information for a, _ in told.known)


FILLER = "Thank you."


def in_sentences(said: Claims, names: Names) -> str:
    """Return a message that makes these claims, or a filler message if there are none."""
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
    """Return the claims as a message of the discrete game."""

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
