"""Audit of recorded games of any origin: what was decided by forfeits, seats or repetition.

A result of a game between two is 1 for a win, 1/2 for a tie and 0 for a loss; games of other sizes
are judged by their scores. All intervals are over games.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

import msgspec

from sally.core.errors import join_names
from sally.stats.cluster_interval import mean_by_rule
from sally.stats.intervals import Estimate

CHANCE = 0.05  # expected repetitions by chance, from which on equal games are not counted


class Failure(msgspec.Struct, frozen=True):
    """A move that could not be used."""

    seat: int
    kind: str  # such as unreadable, illegal, timeout


class Round(msgspec.Struct, frozen=True):
    """One round in which all seats moved at once, with what it paid."""

    actions: tuple[str, ...]
    payoffs: tuple[float, ...]


class GameLog(msgspec.Struct, frozen=True):
    """One recorded game; seats are numbered in the order of `players`."""

    id: str
    title: str  # the game that was played
    players: tuple[str, ...]
    scores: tuple[float | None, ...]
    moves: tuple[tuple[int, str], ...] = ()
    failures: tuple[Failure, ...] = ()
    is_cut: bool = False  # whether a failure ended the game
    rounds: tuple[Round, ...] = ()


class PlayerAudit(msgspec.Struct, frozen=True):
    """One player in one seat."""

    player: str
    seat: int
    games: int
    moves: int
    failures: dict[str, int]  # by kind
    games_cut: int  # games that a failure of this player ended


class ResultAudit(msgspec.Struct, frozen=True):
    """The mean result of one player, with and without the games that a failure ended."""

    player: str
    every_game: Estimate
    without_cut: Estimate
    rank: int
    rank_without: int | None


class SimplePlayer(msgspec.Struct, frozen=True):
    """What a mindless player would have earned per round against the recorded moves of others,
    less what the player earned."""

    player: str
    simple: str
    difference: Estimate


class GameLogAudit(msgspec.Struct, frozen=True):
    """Everything that the audit finds in a set of recorded games."""

    games: int
    titles: dict[str, int]
    cut: Estimate  # share of games that a failure ended
    players: tuple[PlayerAudit, ...]
    results: tuple[ResultAudit, ...]
    first_seat: Estimate | None  # wins less losses of the first seat, players held equal
    first_seat_games: int  # games whose players met in both orders
    ties: Estimate | None
    same_id: int  # further records of a game under the same id
    same_moves: int  # further games with the same players and moves
    unjudged: int  # games too short or too uniform to tell repetition from chance
    simple: tuple[SimplePlayer, ...]
    sentences: tuple[str, ...]


def audit_games(games: Sequence[GameLog]) -> GameLogAudit:
    """Return the audit of recorded games."""
    distinct = list({(game.id, game.players, game.moves): game for game in games}.values())
    same_moves, unjudged = _count_repetitions(distinct)
    first_seat, in_both_orders = _first_seat(distinct)
    duels = [outcome for game in distinct if (outcome := _outcome(game)) is not None]
    audit = GameLogAudit(
        games=len(games),
        titles=dict(Counter(game.title for game in games)),
        cut=_share([game.is_cut for game in distinct]),
        players=tuple(_players(distinct)),
        results=tuple(_results(distinct)),
        first_seat=first_seat,
        first_seat_games=in_both_orders,
        ties=_share([outcome == 0 for outcome in duels]) if duels else None,
        same_id=len(games) - len(distinct),
        same_moves=same_moves,
        unjudged=unjudged,
        simple=tuple(_simple_players(distinct)),
        sentences=(),
    )
    return msgspec.structs.replace(audit, sentences=tuple(findings(audit)))


def _share(flags: Sequence[bool]) -> Estimate:
    return mean_by_rule([float(flag) for flag in flags], range(len(flags)), (0.0, 1.0))


def _outcome(game: GameLog) -> int | None:
    """Return 1, 0 or -1 for a win, tie or loss of the first of two seats; None if unknown."""
    if len(game.scores) != 2:
        return None
    first, second = game.scores
    if first is None and second is None:
        return None
    if first is None or second is None:  # a player without a score was disqualified
        return -1 if first is None else 1
    return (first > second) - (first < second)


# --- failures -------------------------------------------------------------------------------------


def _players(games: Iterable[GameLog]) -> Iterable[PlayerAudit]:
    rows: dict[tuple[str, int], PlayerAudit] = {}
    for game in games:
        for seat, player in enumerate(game.players):
            row = rows.get((player, seat)) or PlayerAudit(player, seat, 0, 0, {}, 0)
            kinds = Counter(failure.kind for failure in game.failures if failure.seat == seat)
            last = game.failures[-1].seat if game.is_cut and game.failures else None
            rows[player, seat] = msgspec.structs.replace(
                row,
                games=row.games + 1,
                moves=row.moves + sum(mover == seat for mover, _ in game.moves),
                failures=dict(Counter(row.failures) + kinds),
                games_cut=row.games_cut + (last == seat),
            )
    return (rows[key] for key in sorted(rows))


def _results(games: Sequence[GameLog]) -> Iterable[ResultAudit]:
    all_points, uncut_points = _points(games), _points([game for game in games if not game.is_cut])
    bounds = (0.0, 1.0) if all(len(game.players) == 2 for game in games) else None
    estimates = {
        player: (
            mean_by_rule(points, range(len(points)), bounds),
            mean_by_rule(
                uncut_points.get(player, []), range(len(uncut_points.get(player, []))), bounds
            ),
        )
        for player, points in all_points.items()
    }
    ranks = [_ranks({p: pair[side].value for p, pair in estimates.items()}) for side in (0, 1)]
    for player, (all_games, without_cut) in sorted(estimates.items()):
        yield ResultAudit(player, all_games, without_cut, ranks[0][player], ranks[1].get(player))


def _points(games: Iterable[GameLog]) -> dict[str, list[float]]:
    points: dict[str, list[float]] = {}
    for game in games:
        outcome = _outcome(game)
        for seat, player in enumerate(game.players):
            score = game.scores[seat]
            if outcome is not None:
                score = (1 + (outcome if seat == 0 else -outcome)) / 2
            if score is not None:
                points.setdefault(player, []).append(score)
    return points


def _ranks(values: Mapping[str, float | None]) -> dict[str, int]:
    """Return the place of each player, from 1; equal values share a place."""
    known_values = {player: value for player, value in values.items() if value is not None}
    return {
        player: 1 + sum(other_value > value for other_value in known_values.values())
        for player, value in known_values.items()
    }


# --- seats and repetition -------------------------------------------------------------------------


def _first_seat(games: Sequence[GameLog]) -> tuple[Estimate | None, int]:
    """Return the mean of wins less losses of the first seat, and the number of games used.

    Only players that met in both orders are used, with equal weight of both orders, so that the
    players' skill does not enter.
    """
    meetings: dict[tuple[str, ...], dict[tuple[str, ...], list[int]]] = {}
    for game in games:
        outcome = _outcome(game)
        if outcome is not None:
            orders = meetings.setdefault((game.title, *sorted(game.players)), {})
            orders.setdefault(game.players, []).append(outcome)
    values: list[float] = []
    strata: list[str] = []
    for meeting, orders in meetings.items():
        order_count = 1 if meeting[1] == meeting[2] else 2
        if len(orders) < order_count:
            continue
        total = sum(map(len, orders.values()))
        for players, outcomes in orders.items():
            weight = total / (order_count * len(outcomes))
            values += [weight * outcome for outcome in outcomes]
            strata += [str((meeting, players))] * len(outcomes)
    if not values:
        return None, 0
    bounds = (-1.0, 1.0) if all(abs(value) <= 1 for value in values) else None
    return mean_by_rule(values, range(len(values)), bounds, strata), len(values)


def _count_repetitions(games: Sequence[GameLog]) -> tuple[int, int]:
    """Return the number of games that repeat another one move by move, and the number of games that
    cannot be judged because so many repetitions would be expected by chance."""
    repeated, unjudged = 0, 0
    titles: dict[str, list[GameLog]] = {}
    for game in games:
        titles.setdefault(game.title, []).append(game)
    for group in titles.values():
        actions = Counter(move for game in group for move in game.moves)
        by_seat: dict[int, int] = {}
        for (seat, _), count in actions.items():
            by_seat[seat] = by_seat.get(seat, 0) + count
        alike = {
            seat: sum(n * n for (mover, _), n in actions.items() if mover == seat) / total**2
            for seat, total in by_seat.items()
        }
        lines: Counter[tuple[object, ...]] = Counter()
        for game in group:
            expected = len(group) * (len(group) - 1) / 2
            for seat, _ in game.moves:
                expected *= alike[seat]
            if not game.moves or expected > CHANCE:
                unjudged += 1
            else:
                lines[game.players, game.moves] += 1
        repeated += sum(count - 1 for count in lines.values())
    return repeated, unjudged


# --- mindless players -----------------------------------------------------------------------------


def _simple_players(games: Sequence[GameLog]) -> Iterable[SimplePlayer]:
    """Yield what constant players and the copy of the other's last move would have earned.

    Payoffs of pairs of actions are learned from the rounds themselves; a round whose pair never
    occurred is left out. The other player's moves are taken as recorded.
    """
    for title in dict.fromkeys(game.title for game in games):
        group = [game for game in games if game.title == title and len(game.players) == 2]
        rounds = [(game, number) for game in group for number in range(len(game.rounds))]
        if not rounds:
            continue
        paid: dict[tuple[int, str, str], float] = {}
        is_fixed = True
        for game, number in rounds:
            for seat in (0, 1):
                actions, payoffs = game.rounds[number].actions, game.rounds[number].payoffs
                key = seat, actions[seat], actions[1 - seat]
                is_fixed &= paid.setdefault(key, payoffs[seat]) == payoffs[seat]
        if not is_fixed:  # payoffs depend on more than the two moves
            continue
        options = sorted({action for _, action, _ in paid})
        for player in sorted({player for game in group for player in game.players}):
            for simple in [*(f"always {option}" for option in options), "the other's last move"]:
                gains: list[float] = []
                units: list[int] = []
                for number, game in enumerate(group):
                    for seat in (0, 1):
                        if game.players[seat] == player:
                            gained = _gains(game, seat, simple, paid)
                            gains += gained
                            units += [number] * len(gained)
                if gains:
                    yield SimplePlayer(player, simple, mean_by_rule(gains, units))


def _gains(
    game: GameLog, seat: int, simple: str, paid: Mapping[tuple[int, str, str], float]
) -> list[float]:
    gains = []
    for earlier, current in pairwise([None, *game.rounds]):
        assert current is not None
        other_action = current.actions[1 - seat]
        if simple.startswith("always "):
            action = simple.removeprefix("always ")
        elif earlier is None:
            continue
        else:
            action = earlier.actions[1 - seat]
        payoff = paid.get((seat, action, other_action))
        if payoff is not None:
            gains.append(payoff - current.payoffs[seat])
    return gains


# --- findings -------------------------------------------------------------------------------------


def findings(audit: GameLogAudit) -> list[str]:
    """Return what the audit found, in one sentence each; empty if it found nothing."""
    sentences = []
    cut = sum(row.games_cut for row in audit.players) or round(
        (audit.cut.value or 0) * (audit.games - audit.same_id)
    )
    if cut:
        sentences.append(
            f"{cut} of {audit.games - audit.same_id} games were decided by a move that could not "
            f"be used ({_interval(audit.cut)})."
        )
    moved = [row.player for row in audit.results if row.rank_without not in (None, row.rank)]
    if moved:
        sentences.append(f"Without them, the place of {join_names(moved)} changes.")
    failures = Counter[str]()
    for row in audit.players:
        failures.update(row.failures)
    if failures:
        kinds = join_names([f"{count} {kind}" for kind, count in failures.most_common()])
        sentences.append(f"Moves that could not be used: {kinds}.")
    edge = audit.first_seat
    if edge and edge.low is not None and edge.high is not None and not edge.low <= 0 <= edge.high:
        sentences.append(
            f"The {'first' if (edge.value or 0) > 0 else 'second'} seat has an advantage: wins "
            f"less losses of the first seat {_interval(edge)}."
        )
    if audit.same_id:
        sentences.append(f"{audit.same_id} games are recorded twice under the same id.")
    if audit.same_moves:
        sentences.append(f"{audit.same_moves} games repeat another game move by move.")
    as_good = [
        row for row in audit.simple if row.difference.low is not None and row.difference.low >= 0
    ]
    for simple in as_good:
        sentences.append(
            f"{simple.simple!r} would have done as well as {simple.player} (per round "
            f"{_interval(simple.difference)})."
        )
    return sentences


def _interval(estimate: Estimate) -> str:
    if estimate.value is None:
        return "blank"
    if estimate.low is None or estimate.high is None:
        return f"{estimate.value:.2f}"
    return f"{estimate.value:.2f} [{estimate.low:.2f}, {estimate.high:.2f}]"
