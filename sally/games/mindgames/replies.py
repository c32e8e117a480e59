"""The target's answers as content, text and JSON; messages are composed from claims, and claims are
read from JSON."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from sally.core.errors import join_names
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
    """The target's knowledge about the queried cells of one proposal, as records store it."""

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


def answer(puzzle: Puzzle, mind: Mind, message_claims: Claims, names: Names) -> Answer:
    """Return the target's answer; `mind` already includes the cells that the message disclosed."""
    return Answer(
        information=tuple(_information(puzzle, mind, message_claims, names)),
        motivation=tuple(
            (column, puzzle.target_values[column])
            for column in sorted({names.attribute(a) for a in message_claims.motivational})
        ),
        inference=_inference(puzzle, mind) if message_claims.inferential else None,
    )


def _inference(puzzle: Puzzle, mind: Mind) -> Ranked:
    proposal_values = values(puzzle, mind.known)
    return Ranked(
        places=ranking(proposal_values), values=proposal_values, chosen=choice_of(puzzle, mind)
    )


def _information(
    puzzle: Puzzle, mind: Mind, message_claims: Claims, names: Names
) -> list[KnownEffects]:
    """Return, by proposal, the known and unknown cells among those that were disclosed or asked
    about.

    If a message concerns all cells of a proposal, its unknown cells are left out.
    """
    echoed = {names.cell(d.proposal, d.attribute) for d in message_claims.disclosures}
    asked_cells = {names.cell(a.proposal, a.attribute) for a in message_claims.informational}
    spoken_of, effects = sorted(echoed | asked_cells), []
    for row in dict.fromkeys(row for row, _ in spoken_of):
        row_cells = [cell for cell in spoken_of if cell[0] == row]
        # told and asked together, as published
        is_whole_row = len(row_cells) == len(names.attributes)
        known_effects = tuple(
            (a, puzzle.utility((row, a))) for _, a in row_cells if (row, a) in mind.known
        )
        unknown = tuple(a for _, a in row_cells if (row, a) not in mind.known and not is_whole_row)
        if known_effects or unknown:
            effects.append(KnownEffects(proposal=row, known=known_effects, unknown=unknown))
    return effects


def capitalise(text: str) -> str:
    """Return a text with its first letter in upper case and the rest unchanged."""
    return text[:1].upper() + text[1:]


def in_words(given_answer: Answer, names: Names, voice: AnswerPhrases = PERSON) -> str:
    """Return the answer in words: information, then motivation, then inference."""
    sentences = [
        s for effects in given_answer.information for s in _told_in_words(effects, names, voice)
    ]
    if given_answer.motivation:
        sentences.append(_motivation_in_words(given_answer.motivation, names, voice))
    if given_answer.inference is not None:
        sentences += _inference_in_words(given_answer.inference, names, voice)
    return " ".join(sentences) if sentences else voice.generic


def _told_in_words(proposal_effects: KnownEffects, names: Names, voice: AnswerPhrases) -> list[str]:
    proposal = f"{names.noun} {names.proposals[proposal_effects.proposal]}"
    out = []
    if proposal_effects.known:
        effects = [f"{EFFECTS[u]} {names.attributes[a]}" for a, u in proposal_effects.known]
        out.append(f"{capitalise(proposal)} {join_names(effects)}.")
    if proposal_effects.unknown:
        out.append(
            voice.unknown.format(
                p=proposal,
                x=join_names([names.attributes[a] for a in proposal_effects.unknown], "or"),
            )
        )
    return out


def _motivation_in_words(
    liked: tuple[tuple[int, int], ...], names: Names, voice: AnswerPhrases
) -> str:
    by_sign = {1: voice.like, 0: voice.indifferent, -1: voice.dislike}
    return (
        capitalise(join_names([by_sign[v].format(x=names.attributes[a]) for a, v in liked])) + "."
    )


def _proposals(rows: Sequence[int], names: Names) -> str:
    plural = "s" if len(rows) > 1 else ""
    return f"{names.noun}{plural} {join_names([names.proposals[r] for r in rows])}"


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


def as_json(given_answer: Answer, names: Names) -> str:
    """Return the target's answer in the discrete game as JSON; an empty text if nothing was
    asked."""
    out: dict[str, list[dict[str, Any]]] = {}
    cells = [
        {
            "proposal": names.proposals[effects.proposal],
            "attribute": names.attributes[a],
            "utility": u,
        }
        for effects in given_answer.information
        for a, u in effects.known
    ]
    if cells:
        out["informational"] = cells
    if given_answer.motivation:
        out["motivational"] = [
            {"attribute": names.attributes[a], "utility": v} for a, v in given_answer.motivation
        ]
    if given_answer.inference is not None:
        out["inferential"] = [
            {
                "proposal": names.proposals[row],
                "utility": given_answer.inference.values[row],
                "chosen": row == given_answer.inference.chosen,
            }
            for place in given_answer.inference.places
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
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError) as error:
        # A set of dicts (`{{'a': 1}}`) raises TypeError: Python parses it but cannot build it.
        raise BadMessage("The message is neither JSON nor the same with single quotes.") from error


def _without_sets(value: Any) -> Any:
    """Return the value; raise ValueError if it contains a set, which JSON does not have."""
    if isinstance(value, dict):
        return {key: _without_sets(value) for key, value in value.items()}
    if isinstance(value, list | tuple):
        return [_without_sets(value) for value in value]
    if isinstance(value, set):
        raise ValueError("a set")
    return value


def _depth(text: str) -> int:
    """Return the deepest nesting of brackets, including those inside strings."""
    steps = itertools.accumulate((c in "[{(") - (c in "]})") for c in text)
    return max(steps, default=0)


def parse_discrete(message: str, names: Names) -> Claims:
    """Return the claims of a discrete message; raise BadMessage if it is invalid."""
    bare = message.strip().removeprefix("```").removeprefix("json").removesuffix("```").strip()
    try:
        discrete = msgspec.convert(_literal(bare), _Discrete)
    except BadMessage:
        raise
    except (msgspec.MsgspecError, ValueError, SyntaxError) as error:
        raise BadMessage(
            "The message must be one JSON object with any of the keys motivational, informational, "
            f"inferential and disclosures: {error}."
        ) from error
    try:
        for name in discrete.motivational:
            names.attribute(name)
        for proposal in discrete.inferential:
            names.proposal(proposal)
        for question in discrete.informational:
            names.cell(question.proposal, question.attribute)
        for disclosure in discrete.disclosures:
            names.cell(disclosure.proposal, disclosure.attribute)
    except UnknownName as error:
        raise BadMessage(str(error)) from error
    wrong = [d.utility for d in discrete.disclosures if d.utility not in (-1, 0, 1)]
    if wrong:
        raise BadMessage(f"A utility is -1, 0 or 1, not {wrong[0]}.")
    return claims(
        disclosures=discrete.disclosures,
        motivational=discrete.motivational,
        informational=discrete.informational,
        inferential=discrete.inferential,
    )


def known_cells(given_answer: Answer) -> frozenset[Cell]:
    """Return the cells that an answer shows the target to know."""
    return frozenset(
        (effects.proposal, a) for effects in given_answer.information for a, _ in effects.known
    )


FILLER = "Thank you."


def in_sentences(message_claims: Claims, names: Names) -> str:
    """Return a message that makes these claims, or a filler message if there are none."""
    parts = [_disclosure_text(row, message_claims.disclosures, names) for row in names.proposals]
    noun = names.noun
    if message_claims.informational:
        cells = {(a.proposal, a.attribute) for a in message_claims.informational}
        if len(cells) == len(names.proposals) * len(names.attributes):
            parts.append(f"What do you know about each {noun}?")
        else:
            parts += [f"What do you know about {noun} {p} and {a}?" for p, a in sorted(cells)]
    if message_claims.motivational:
        parts.append(f"How do you feel about {join_names(message_claims.motivational)}?")
    if set(message_claims.inferential) == set(names.proposals):
        parts.append(f"Which {noun} do you prefer?")
    else:
        parts += [f"How much do you value {noun} {p}?" for p in message_claims.inferential]
    return " ".join(part for part in parts if part) or FILLER


def _disclosure_text(proposal: str, disclosures: Iterable[Disclosure], names: Names) -> str:
    effects = [f"{EFFECTS[d.utility]} {d.attribute}" for d in disclosures if d.proposal == proposal]
    noun = names.noun.capitalize()
    return f"{noun} {proposal} {join_names(effects)}." if effects else ""


def in_json(message_claims: Claims) -> str:
    """Return the claims as a message of the discrete game."""

    def bare(items: Iterable[msgspec.Struct]) -> list[dict[str, object]]:
        return [
            {k: v for k, v in msgspec.to_builtins(item).items() if k != "kind"} for item in items
        ]

    parts = {
        "motivational": list(message_claims.motivational),
        "informational": bare(message_claims.informational),
        "inferential": list(message_claims.inferential),
        "disclosures": bare(message_claims.disclosures),
    }
    return msgspec.json.encode({key: part for key, part in parts.items() if part}).decode()
