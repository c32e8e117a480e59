"""Depths of reasoning about the ally in the game Speak or Wait.

The choice that depends on the ally is whether to speak: two simultaneous messages are heard as
noise. An ally of level 0 speaks whenever it has something to say; an ally of level k speaks if an
ally of level k - 1 would not. A reasoner of depth k plays the best reply to an ally of level k - 1.
"""

from __future__ import annotations

from collections.abc import Iterator

from sally.core.rules.depth import DepthDecision, Depths, Reasoned
from sally.core.rules.game import Seat
from sally.core.rules.metric import Played
from sally.games.toma.sw.rules import EXPLORER, GUIDE, Speak

ABOUT = (
    "depth 0 speaks whenever it has something to say; depth k speaks if an ally of depth k - 1 "
    "would be silent; right: exactly one of the two speaks"
)
NOTES = (
    "With two choices a reasoner of depth k acts as one of depth k - 2, so this game certifies "
    "depth 1 only: against an ally that always speaks (`talker`), where depth 0 collides. Against "
    "a deeper ally depth 0 is right by accident or depth 1 is wrong.",
    "What a message says, and whether the eavesdropper understands it, is not judged here.",
)
SPEAKS, IS_SILENT = "SPEAK", "silent"
ALLIES = range(3)  # levels


def at_depth(depth: int) -> str:
    """Return whether a player of this depth speaks if it has something to say.

    >>> [at_depth(depth) for depth in range(4)]
    ['SPEAK', 'silent', 'SPEAK', 'silent']
    """
    return SPEAKS if depth == 0 or at_depth(depth - 1) == IS_SILENT else IS_SILENT


def reason_about(level: int) -> Reasoned:
    """Return the decision problem of a player that may speak or stay silent and whose ally reasons
    at this level, with the answers of reasoners of depths 0 to `level + 1`."""
    right = IS_SILENT if at_depth(level) == SPEAKS else SPEAKS
    by_depth = tuple((at_depth(depth),) for depth in range(level + 2))
    block = 1 if level == 0 else None
    return Reasoned(by_depth, (right,), 0.5, block, f"ally of level {level}")


def _questions() -> Iterator[Reasoned]:
    yield from map(reason_about, ALLIES)


def _judge_turns(played: Played, seat: Seat) -> Iterator[DepthDecision]:
    """Judge every turn of a seat whose ally always speaks."""
    allies = {GUIDE: EXPLORER, EXPLORER: GUIDE}
    if seat not in allies or played.episode.setup.lineup[str(allies[seat])].player != "talker":
        return
    for step in played.replay.steps():
        if allies[seat] in step.moves and seat not in step.forfeited and seat in step.moves:
            yield DepthDecision(reason_about(0), not isinstance(step.moves[seat], Speak))


DEPTHS = Depths(ABOUT, _questions, _judge_turns, NOTES)
