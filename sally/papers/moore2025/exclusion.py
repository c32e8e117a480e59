"""Whose games the paper leaves out: people who hardly wrote, or hardly read (Appendix A.3)."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from sally.core.rules.metric import Played
from sally.games.mindgames.rules import PERSUADER, MindGame, State, spoken

LEAST_CHARACTERS = 10  # of a message, on average over the game
LEAST_SECONDS = 5.0  # of a turn, on average over the game


class Participant(msgspec.Struct, frozen=True):
    """Whose game it is, and which of that person's games."""

    name: str
    place: int
    seconds: tuple[float, ...] = ()  # by answer, where they are known


def participant(played: Played) -> Participant | None:
    """The person who persuaded, in a record or in a study with people; None for anybody else."""
    setup, known = played.episode.setup, played.episode.used.get("people", {}).get(PERSUADER)
    if known is not None:
        return Participant(known["participant"], known["round"], tuple(known["seconds"]))
    who = setup.lineup.get(PERSUADER)
    if who is None or who.player != "recorded" or who.params.get("name") != "human":
        return None
    name, _, place = setup.instance.id.rpartition(":")  # named by file, line and place in the line
    return Participant(name, int(place) if place.isdigit() else 0)


def excluded(played: Played) -> str | None:
    """Why a person's game is left out; None if it stays, or if nobody wrote it."""
    who = participant(played)
    if not isinstance(played.replay.game, MindGame) or who is None:
        return None
    state: State = played.replay.states[-1]
    if played.episode.payoffs is None:
        return "the game was not finished"
    lengths = [len(spoken(x.text)[1]) for x in state.story if x.answer is not None]
    if lengths and _mean(lengths) < LEAST_CHARACTERS:
        return f"{_mean(lengths):.1f} characters a message, fewer than {LEAST_CHARACTERS}"
    if who.seconds and _mean(who.seconds) < LEAST_SECONDS:
        return f"{_mean(who.seconds):.1f} seconds a turn, fewer than {LEAST_SECONDS:g}"
    return None


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
