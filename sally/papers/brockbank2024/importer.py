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
from sally.games.repeated_games.recorded_play import (
    BotAgreement,
    Made,
    Round,
    agreement_with_bot,
    bot,
    fed,
    person,
)
from sally.games.repeated_games.rules import AGENT, PARTNER
from sally.papers.brockbank2024.reader import ROUNDS, Game, RoundSide, read
from sally.parts.importers import Difference, ImportRun, NotPublished, Oddity

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


def import_games(path: Path) -> ImportResult:
    """Import every recorded game under a path."""
    games_found = read(path)
    run = ImportRun(games_found.oddities, {"found": len(games_found.games)})
    for game in games_found.games:
        with run.listing_errors(game.source.file):
            _refuse_strange(game)
            run.add(*as_episode(game))
            run.oddities += _oddities(game)
    return run.result()


def _refuse_strange(game: Game) -> None:
    if game.strategy not in BOTS:
        source = f"bot of brockbank2024 (column bot_strategy of {game.source.file})"
        raise NotPublished(str(unknown(source, game.strategy, BOTS)))
    if game.version not in CELLS:
        raise NotPublished(f"{game.source.file}: version is {game.version!r}; it should be 2 or 3.")


def as_episode(game: Game) -> tuple[Episode, list[Difference], Counter[str]]:
    """Return one game as an episode, with its differences and counts."""
    rounds = rounds_of(game)
    bot_spec = bot(BOTS[game.strategy])
    setup = setup_of(game, bot_spec)
    used = {
        "source": msgspec.to_builtins(game.source),
        "recorded_total": {AGENT: _total(game.person.values()), PARTNER: _total(game.bot.values())},
        "people": {AGENT: {"seconds": [_seconds(game, n) for n in range(1, len(rounds) + 1)]}},
    }
    episode, agreements = fed(setup, rounds, {PARTNER: bot_spec}, CELLS[game.version], used)
    differs = [*_unpaid(game), *_outside(game, rounds, bot_spec, agreements[PARTNER])]
    return episode, differs, _counts(game, rounds, setup, agreements[PARTNER])


def rounds_of(game: Game) -> list[Round]:
    """Return the moves of both sides, up to the last recorded round."""
    last = max((*game.person, *game.bot), default=0)
    return [
        Round(_move_or_reason(game, n, True), _move_or_reason(game, n, False))
        for n in range(1, last + 1)
    ]


def _move_or_reason(game: Game, number: int, persons: bool) -> Made:
    side = (game.person if persons else game.bot).get(number)
    if side is None or side.move is None:
        return LOST
    return MOVES.get(side.move, NO_MOVE)


def setup_of(game: Game, bot_spec: PlayerSpec) -> Setup:
    """Return the setup: 300 rounds that pay 3, 0 or -1 points; void rounds do not end the game."""
    params = {"matrix": MATRIX, "rounds": ROUNDS, "names": list(NAMES), "void_limit": ROUNDS}
    lineup = {AGENT: person(), PARTNER: bot_spec}
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
    differences = []
    for number, own_side in game.person.items():
        bot_side = game.bot.get(number)
        if bot_side is None:
            continue
        recorded = (own_side.points or 0.0, bot_side.points or 0.0)
        ours = (0.0, 0.0)
        if own_side.move in MOVES and bot_side.move in MOVES:
            cell = MATRIX[MOVES[own_side.move]][MOVES[bot_side.move]]
            ours = (float(cell[0]), float(cell[1]))
        if recorded != ours:
            texts = [f"{a:g} and {b:g}" for a, b in (recorded, ours)]
            reason = " (the round is void)" if own_side.move == "none" else ""
            differences.append(Difference(game.name, "points", number, texts[0], texts[1] + reason))
    return differences


def _outside(
    game: Game, rounds: Sequence[Round], bot_spec: PlayerSpec, agreement: BotAgreement
) -> list[Difference]:
    differences = []
    for number in agreement.outside:
        move = rounds[number - 1].partner
        move_text = NAMES[move] if isinstance(move, int) else move
        ours = f"{bot_spec.player} would not play it: it skips void rounds"
        differences.append(Difference(game.name, "bot's move", number, move_text, ours))
    return differences


def _counts(
    game: Game, rounds: Sequence[Round], setup: Setup, agreement: BotAgreement
) -> Counter[str]:
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
            n <= first for n in agreement.outside
        )
        counts["adaptive bots: moves outside after a void round"] = sum(
            n > first for n in agreement.outside
        )
        if void:
            published_agreement = agreement_with_bot(
                setup, PARTNER, bot(BOTS[game.strategy], {"void": "published"}), rounds
            )
            counts["adaptive bots: moves outside with void=published"] = len(
                published_agreement.outside
            )
    else:
        counts["stable bots: rule followed"], counts["stable bots: rounds with a rule"] = (
            agreement.likeliest
        )
    return counts


def _oddities(game: Game) -> list[Oddity]:
    oddities = []
    for number, side in game.person.items():
        if side.seconds is not None and side.seconds < 0:
            reason = f"round {number} of {game.name} took {side.seconds:g} seconds"
            oddities.append(Oddity(game.source.file, "response time", reason, side.line))
    if len(game.bot) < ROUNDS:
        reason = f"{game.name} has {len(game.bot)} rounds of {ROUNDS}"
        oddities.append(Oddity(game.source.file, "unfinished", reason))
    return oddities


IMPORTER = Importer(
    "brockbank2024",
    "people against the seven stable and eight adaptive bots of Brockbank and Vul (2024)",
    import_games,
)
