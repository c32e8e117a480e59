"""Contrasts of one player under two conditions: probed or not, in one wording or another.

Two episodes form a pair if the same player met the same problem, seed and other players under both
conditions. Intervals, tests and equivalence are those of `sally.analysis.compare.compare`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Literal

import msgspec

from sally.analysis.columns.rows import played
from sally.analysis.compare.compare import (
    KNOWING,
    SEED,
    WORDS,
    Comparison,
    Group,
    Scores,
    adjusted,
    family,
    game_and_seat,
    seat_scores,
    word_of,
)
from sally.core.errors import BadInput, listed
from sally.core.log.events import Episode, PlayerSpec, Reported, Setup, label
from sally.core.rules.awareness import WHAT_IS_THIS
from sally.core.rules.game import Seat
from sally.core.rules.metric import Played

Of = Literal["asked", "twin", "packs", "aware"]
Condition = Callable[[Episode, str], str | None]
NOT_ASKED, OWN_WORDS, A_GAME = "not asked", "the game's own words", "taken for: game"
TWIN = "_twin"  # suffix of the words packs that describe the other player as a mechanism


class Contrast(msgspec.Struct, frozen=True):
    """The difference between a condition and its base for one player and one metric, over pairs of
    episodes."""

    condition: str
    base: str
    comparison: Comparison


def asked_or_not(episode: Episode, seat: str) -> str | None:
    """Return the condition of a seat: its probes, and whether its own answers are shown to it."""
    setup = episode.setup
    arm = setup.arms.get(seat, ())
    own = any(i.seat == seat and i.source == "own" for i in setup.injections)
    shown = ", own answers shown" if own else ""
    return f"asked {listed(arm, 'and')}{shown}" if arm else NOT_ASKED


def wording(setup: Setup, seat: str) -> str | None:
    """Return the words pack that a seat reads; None for a bot, which reads nothing."""
    who = setup.lineup[seat]
    if who.player != "language":
        return None
    pack = str(who.params.get("pack", ""))
    return pack.partition("@")[0] or OWN_WORDS


def in_words(episode: Episode, seat: str) -> str | None:
    """Return the words pack of a seat in an episode."""
    return wording(episode.setup, seat)


def twin_or_not(episode: Episode, seat: str) -> str | None:
    """Return the seat's words pack if it is the game's own pack or its twin, in which a mechanism
    replaces the other mind; else None."""
    named = in_words(episode, seat)
    return named if named is None or named == OWN_WORDS or named.endswith(TWIN) else None


def taken_for(episode: Episode, seat: str) -> str | None:
    """Return a seat's answer to the awareness probe, if it gave one."""
    for event in episode.events:
        if not isinstance(event, Reported) or (event.seat, event.probe) != (seat, WHAT_IS_THIS):
            continue
        if isinstance(event.value, str):
            return f"taken for: {event.value}"
    return None


CONDITIONS: dict[Of, tuple[Condition, str]] = {
    "asked": (asked_or_not, NOT_ASKED),
    "twin": (twin_or_not, OWN_WORDS),
    "packs": (in_words, OWN_WORDS),
    "aware": (taken_for, A_GAME),
}


def contrast(
    episodes: Iterable[Episode],
    of: Of,
    *,
    metrics: Sequence[str] = (),
    by_player: bool = False,
    margin: float | None = None,
) -> list[Contrast]:
    """Compare every condition with its base, game by game; all comparisons are adjusted as one
    family.

    Raises:
        BadInput: If no player met the same setting under two conditions.
    """
    condition, base = CONDITIONS[of]
    scores, seen = _scores(episodes, condition, metrics, by_player)
    found: list[tuple[str, Comparison]] = []
    for named in sorted(seen - {base}):
        for made in _family(scores, named, base, margin):
            if of != "asked" or made.metric not in KNOWING:  # an unprobed seat reports nothing
                found.append((named, made))
    if not found:
        raise BadInput(
            f"No player met the same setting under both conditions: {_missing(of, seen, base)}."
        )
    again = adjusted([made for _, made in found])
    return [Contrast(named, base, made) for (named, _), made in zip(found, again, strict=True)]


def _family(scores: Scores, named: str, base: str, margin: float | None) -> list[Comparison]:
    both = {g: by for g, by in scores.items() if named in by and base in by}
    try:
        return family(both, named, base, margin, SEED, unpaired=False) if both else []
    except BadInput:  # the same game, but never the same setting
        return []


def _missing(of: Of, seen: set[str], base: str) -> str:
    run = {
        "asked": "--unasked",
        "twin": "--packs twin",
        "packs": "--packs all",
        "aware": "--packs aware --aware",
    }[of]
    there = listed(sorted(seen)) if seen else "no language model"
    return f"the store holds {there}, the base is {base}; `sally run STUDY {run}` plays the rest"


def _scores(
    episodes: Iterable[Episode], condition: Condition, metrics: Sequence[str], by_player: bool
) -> tuple[Scores, set[str]]:
    found: Scores = {}
    seen: set[str] = set()
    for episode in episodes:
        whole: Played | None = None
        for seat in episode.setup.lineup:
            named = condition(episode, seat)
            if named is None:
                continue
            whole = whole or played(episode)
            if seat in whole.replay.game.seats:
                seen.add(named)
                _add(found, whole, Seat(seat), named, metrics, by_player)
    return found, seen


def _add(
    found: Scores, whole: Played, seat: Seat, named: str, metrics: Sequence[str], by_player: bool
) -> None:
    setup = whole.episode.setup
    player = label(without_pack(setup.lineup[seat]))
    injected = [msgspec.json.encode(i).decode() for i in setup.injections if i.source != "own"]
    for metric, score in seat_scores(whole, seat, metrics, " ".join([player, *injected])):
        group = Group(setup.instance.game, seat, player if by_player else "", metric)
        found.setdefault(group, {}).setdefault(named, []).append(score)


def without_pack(who: PlayerSpec) -> PlayerSpec:
    """Return a player's specification without its words pack."""
    kept = {key: value for key, value in who.params.items() if key != "pack"}
    return msgspec.structs.replace(who, params=kept)


def conclusion(found: Sequence[Contrast]) -> list[str]:
    """Return one sentence for each condition with its verdicts."""
    said, every = [], [c.comparison for c in found]
    for named in dict.fromkeys(c.condition for c in found):
        parts = []
        for word in SAID:
            places = dict.fromkeys(
                f"{game_and_seat(c.comparison, every)} ({c.comparison.metric})"
                for c in found
                if c.condition == named and said_of(c.comparison) == word
            )
            if places:
                parts.append(f"{word} in {listed(places)}")
        said.append(f"{named}, against {found[0].base}: {'; '.join(parts)}.")
    return said


IDENTICAL = "identical"
SAID = (IDENTICAL, *(brief for _, brief in WORDS.values()))


def said_of(c: Comparison) -> str:
    """Return the verdict in words; pairs that never differ are called identical."""
    if c.alike and not c.difference.value:
        return IDENTICAL
    return WORDS[word_of(c)][1]
