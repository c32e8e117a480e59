"""Importer of Brockbank and Vul's games of people against fifteen bots, as episodes of rps.

The moves are the recorded ones. A round in which a person did not move is void in Sally, whereas
the published bots continued; the consequences are listed as differences.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from sally.core.errors import unknown
from sally.core.log.events import Episode, Instance, PlayerSpec, Setup
from sally.core.registry.paper import Importer, ImportResult
from sally.games.repeated_games.recorded import (
    BotAgreement,
    Made,
    Round,
    agreement_with_bot,
    bot,
    fed,
    person,
)
from sally.games.repeated_games.rules import AGENT, PARTNER
from sally.papers.brockbank2024.reading import ROUNDS, Game, RoundSide, read
from sally.parts.imported import Difference, ImportRun, NotPublished, Oddity

MOVES = {"rock": 0, "paper": 1, "scissors": 2}
NAMES = ("Rock", "Paper", "Scissors")
WIN, TIE, LOSS = 3, 0, -1
_ROW = {0: TIE, 1: WIN, 2: LOSS}  # by (mine - theirs) modulo 3: each move is beaten by the next
MATRIX = [[[_ROW[(a - b) % 3], _ROW[(b - a) % 3]] for b in range(3)] for a in range(3)]

STABLE = {
    "prev_move_positive": "previous_move_plus",
    "prev_move_negative": "previous_move_minus",
    "opponent_prev_move_positive": "opponent_previous_plus",
    "opponent_prev_move_nil": "opponent_previous_nil",
    "win_nil_lose_positive": "win_nil_lose_plus",
    "win_positive_lose_negative": "win_plus_lose_minus",
    "outcome_transition_dual_dependency": "outcome_transition_dual",
}
ADAPTIVE = {
    "opponent_prev_move": "adaptive_opponent_previous",
    "bot_prev_move": "adaptive_bot_previous",
    "opponent_bot_prev_move": "adaptive_both_previous",
    "opponent_prev_two_moves": "adaptive_opponent_previous_two",
    "opponent_transitions": "adaptive_transition",
    "opponent_courn_transitions": "adaptive_transition_from_bot",
    "opponent_outcome_transitions": "adaptive_transition_by_outcome",
    "opponent_outcome_prev_transition_dual": "adaptive_transition_by_outcome_and_transition",
}
BOTS = {**STABLE, **ADAPTIVE}
CELLS = {"2": "stable bots", "3": "adaptive bots"}
NO_MOVE, LOST = "no move within ten seconds", "lost by the server"


def imported(path: Path) -> ImportResult:
    """Import every recorded game under a path."""
    found = read(path)
    taken = ImportRun(found.oddities, {"found": len(found.games)})
    for game in found.games:
        with taken.listing_errors(game.source.file):
            _refuse_strange(game)
            taken.add(*as_episode(game))
            taken.oddities += _oddities(game)
    return taken.result()


def _refuse_strange(game: Game) -> None:
    if game.strategy not in BOTS:
        where = f"bot of brockbank2024 (column bot_strategy of {game.source.file})"
        raise NotPublished(str(unknown(where, game.strategy, BOTS)))
    if game.version not in CELLS:
        raise NotPublished(f"{game.source.file}: version is {game.version!r}; it should be 2 or 3.")


def as_episode(game: Game) -> tuple[Episode, list[Difference], Counter[str]]:
    """Return one game as an episode, with its differences and counts."""
    rounds = rounds_of(game)
    who = bot(BOTS[game.strategy])
    setup = setup_of(game, who)
    used = {
        "source": msgspec.to_builtins(game.source),
        "recorded_total": {AGENT: _total(game.person.values()), PARTNER: _total(game.bot.values())},
        "people": {AGENT: {"seconds": [_seconds(game, n) for n in range(1, len(rounds) + 1)]}},
    }
    episode, seen = fed(setup, rounds, {PARTNER: who}, CELLS[game.version], used)
    differs = [*_unpaid(game), *_outside(game, rounds, who, seen[PARTNER])]
    return episode, differs, _counts(game, rounds, setup, seen[PARTNER])


def rounds_of(game: Game) -> list[Round]:
    """Return the moves of both sides, up to the last recorded round."""
    last = max((*game.person, *game.bot), default=0)
    return [Round(_made(game, n, True), _made(game, n, False)) for n in range(1, last + 1)]


def _made(game: Game, number: int, persons: bool) -> Made:
    side = (game.person if persons else game.bot).get(number)
    if side is None or side.move is None:
        return LOST
    return MOVES.get(side.move, NO_MOVE)


def setup_of(game: Game, who: PlayerSpec) -> Setup:
    """Return the setup: 300 rounds that pay 3, 0 or -1 points; void rounds do not end the game."""
    params = {"matrix": MATRIX, "rounds": ROUNDS, "names": list(NAMES), "void_limit": ROUNDS}
    lineup = {AGENT: person(), PARTNER: who}
    return Setup(Instance(game.name, "rps", params), 0, {str(s): w for s, w in lineup.items()})


def _total(sides: Iterable[RoundSide]) -> float:
    return sum(side.points or 0.0 for side in sides)


def _seconds(game: Game, number: int) -> float | None:
    side = game.person.get(number)
    return None if side is None else side.seconds


# --- what does not come back ----------------------------------------------------------------------


def _unpaid(game: Game) -> list[Difference]:
    """Return the recorded points that differ from those of the payoff matrix; in Sally, a void
    round pays nothing."""
    found = []
    for number, mine in game.person.items():
        theirs = game.bot.get(number)
        if theirs is None:
            continue
        recorded = (mine.points or 0.0, theirs.points or 0.0)
        ours = (0.0, 0.0)
        if mine.move in MOVES and theirs.move in MOVES:
            cell = MATRIX[MOVES[mine.move]][MOVES[theirs.move]]
            ours = (float(cell[0]), float(cell[1]))
        if recorded != ours:
            shown = [f"{a:g} and {b:g}" for a, b in (recorded, ours)]
            why = " (the round is void)" if mine.move == "none" else ""
            found.append(Difference(game.name, "points", number, shown[0], shown[1] + why))
    return found


def _outside(
    game: Game, rounds: Sequence[Round], who: PlayerSpec, seen: BotAgreement
) -> list[Difference]:
    found = []
    for number in seen.outside:
        made = rounds[number - 1].partner
        shown = NAMES[made] if isinstance(made, int) else made
        ours = f"{who.player} would not play it: it skips void rounds"
        found.append(Difference(game.name, "bot's move", number, shown, ours))
    return found


def _counts(game: Game, rounds: Sequence[Round], setup: Setup, seen: BotAgreement) -> Counter[str]:
    """Count rounds, void rounds, and rounds in which Sally's bot agrees with the record, before and
    after the first void round."""
    counts: Counter[str] = Counter()
    void = [n for n, r in enumerate(rounds, 1) if isinstance(r.agent, str)]
    counts["rounds"] = len(rounds)
    counts["no move in time"] = sum(r.agent == NO_MOVE for r in rounds)
    counts["lost by the server"] = sum(r.agent == LOST for r in rounds)
    counts["games with a void round"] = bool(void)
    if game.strategy in ADAPTIVE:
        first = void[0] if void else len(rounds)
        counts["adaptive bots: moves outside before a void round"] = sum(
            n <= first for n in seen.outside
        )
        counts["adaptive bots: moves outside after a void round"] = sum(
            n > first for n in seen.outside
        )
        if void:
            theirs = agreement_with_bot(
                setup, PARTNER, bot(BOTS[game.strategy], {"void": "published"}), rounds
            )
            counts["adaptive bots: moves outside with void=published"] = len(theirs.outside)
    else:
        counts["stable bots: rule followed"], counts["stable bots: rounds with a rule"] = (
            seen.likeliest
        )
    return counts


def _oddities(game: Game) -> list[Oddity]:
    found = []
    for number, side in game.person.items():
        if side.seconds is not None and side.seconds < 0:
            why = f"round {number} of {game.name} took {side.seconds:g} seconds"
            found.append(Oddity(game.source.file, "response time", why, side.line))
    if len(game.bot) < ROUNDS:
        why = f"{game.name} has {len(game.bot)} rounds of {ROUNDS}"
        found.append(Oddity(game.source.file, "unfinished", why))
    return found


IMPORTER = Importer(
    "brockbank2024",
    "people against the seven stable and eight adaptive bots of Brockbank and Vul (2024)",
    imported,
)
