"""Participants, excluded games and counts of the games released with moore2025."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import inf

import msgspec

from sally.core.rules.metric import Played
from sally.games.mindgames.claims import Disclosure, Names
from sally.games.mindgames.metrics import game_of
from sally.games.mindgames.rules import PERSUADER, MindGame, State, split_message
from sally.output.tables.reproduce import Known
from sally.stats.cluster_interval import lone_by_rule
from sally.stats.intervals import Estimate, exact

LEAST_CHARACTERS = 10  # per message, on average over the game
LEAST_SECONDS = 5.0  # per turn, on average over the game


class Participant(msgspec.Struct, frozen=True):
    """The person who played a game, and the game's position among that person's games."""

    name: str
    place: int
    seconds: tuple[float, ...] = ()  # by answer, if known


def participant(played: Played) -> Participant | None:
    """Return the person who persuaded, in a recorded game or in a study; None for other players."""
    setup, person_record = (
        played.episode.setup,
        played.episode.used.get("people", {}).get(PERSUADER),
    )
    if person_record is not None:
        return Participant(
            person_record["participant"], person_record["round"], tuple(person_record["seconds"])
        )
    persuader = setup.lineup.get(PERSUADER)
    if (
        persuader is None
        or persuader.player != "recorded"
        or persuader.params.get("name") != "human"
    ):
        return None
    name, _, place = setup.instance.id.rpartition(":")  # the id is file, line and index in the line
    return Participant(name, int(place) if place.isdigit() else 0)


def exclusion_reason(played: Played) -> str | None:
    """Return why a person's game is excluded; None if it is not excluded or no person played it."""
    person = participant(played)
    if not isinstance(played.replay.game, MindGame) or person is None:
        return None
    state: State = played.replay.states[-1]
    if played.episode.payoffs is None:
        return "the game was not finished"
    lengths = [len(split_message(x.text)[1]) for x in state.story if x.answer is not None]
    if lengths and _mean(lengths) < LEAST_CHARACTERS:
        return f"{_mean(lengths):.1f} characters a message, fewer than {LEAST_CHARACTERS}"
    if person.seconds and _mean(person.seconds) < LEAST_SECONDS:
        return f"{_mean(person.seconds):.1f} seconds a turn, fewer than {LEAST_SECONDS:g}"
    return None


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


THE_IMPORT = "counted by `sally import mindgames`, which has the records"
NOT_KEPT = {
    "final_choices_reproduced": THE_IMPORT,
    "final_choices_with_superseded": "files that later ones replace are not imported",
    "replies_reproduced": THE_IMPORT,
    "replies": THE_IMPORT,
    "file_lines": "lines of the released files, which games do not keep",
    "bonus_usd": "money paid to people, which games do not keep",
}


def released_count(metric: str, games: Known) -> Estimate | None:
    """Return a count over a persuader's finished games in all conditions; None if there are no
    games or the metric is not a count."""
    if metric not in COUNTS or not games:
        return None
    return COUNTS[metric](games)


def _participants(games: Known) -> Estimate | None:
    games_by_person = _games_each(games)
    return exact(len(games_by_person)) if games_by_person else None


def _games_per_participant(games: Known) -> Estimate | None:
    games_by_person = _games_each(games)
    return lone_by_rule(games_by_person, (0, inf)) if games_by_person else None


def _games_at_most(games: Known) -> Estimate | None:
    games_by_person = _games_each(games)
    return exact(max(games_by_person)) if games_by_person else None


def _games_each(games: Known) -> list[int]:
    """Return how many games each person played."""
    people = Counter(str(facts["participant"]) for facts, _ in games if facts["participant"])
    return list(people.values())


def _games_per_variant(games: Known) -> Estimate | None:
    """Return the largest number of games that a model played in a variant."""
    varied = [facts for facts, _ in games if facts["variant"] != "default"]
    played = Counter((facts["persuader"], facts["variant"]) for facts in varied)
    return exact(max(played.values())) if played else None


def _puzzles(games: Known) -> Estimate:
    """Return the number of puzzles that differ by more than the letters of their proposals."""
    return exact(len({_lettered_by_role(p) for f, p in games if f["variant"] == "default"}))


def _lettered_by_role(played: Played) -> tuple[object, ...]:
    """Return a puzzle with its proposals in the order goal, trap, initial.

    The persuader's values are left out, because the persuader is told its goal in any case.
    """
    puzzle = game_of(played).problem
    roles = (puzzle.goal, puzzle.trap, puzzle.initial)
    return (
        tuple(puzzle.utilities[row] for row in roles),
        frozenset((roles.index(row), column) for row, column in puzzle.hidden),
        puzzle.target_values,
    )


def _stories(games: Known) -> Estimate:
    return exact(len({facts["story"] for facts, _ in games if facts["variant"] == "default"}))


def _literal(games: Known) -> Estimate:
    return exact(sum(1 for _, played in games for _ in _statements(played)))


def _literal_labelled(games: Known) -> Estimate:
    return exact(sum(labelled for _, played in games for labelled in _statements(played)))


def _statements(played: Played) -> Iterator[bool]:
    """Yield, for each sentence `Proposal X increases Y`, whether it was labelled as that
    disclosure."""
    game = game_of(played)
    for exchange in () if game.discrete else played.replay.states[-1].story:
        labels = {(d.proposal, d.attribute, d.utility) for d in exchange.claims.disclosures}
        for disclosure in literal(split_message(exchange.text)[1], game.names):
            yield (disclosure.proposal, disclosure.attribute, disclosure.utility) in labels


def literal(message: str, names: Names) -> Iterator[Disclosure]:
    """Yield the disclosures that a message states in the game's own words, each once."""
    attributes = "|".join(map(re.escape, sorted(names.attributes, key=len, reverse=True)))
    letters = "".join(names.proposals)
    shape = rf"\b{names.noun} ([{letters}]) (?:will )?(in|de)creases? ({attributes})"
    statements = dict.fromkeys(m.groups() for m in re.finditer(shape, message, re.IGNORECASE))
    for letter, direction, attribute in statements:
        yield Disclosure(letter.upper(), attribute.lower(), 1 if direction.lower() == "in" else -1)


COUNTS: Mapping[str, Callable[[Known], Estimate | None]] = {
    "participants": _participants,
    "games_per_participant": _games_per_participant,
    "games_at_most": _games_at_most,
    "games_per_variant": _games_per_variant,
    "distinct_matrices": _puzzles,
    "distinct_games": _puzzles,
    "stories": _stories,
    "final_choices": lambda games: exact(len(games)),
    "literal_statements": _literal,
    "literal_statements_labelled": _literal_labelled,
}
