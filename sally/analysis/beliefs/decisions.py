"""Decisions with stated beliefs as columns: imported rows, and moves of models that were probed.

A decision has the actions of its menu with their expected payoffs by the stated belief, and what
the player expects of others who choose from the same menu. In repeated games and public goods the
payoff is that of the round. Beliefs that were asked after the move are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from math import nan
from typing import Any

import msgspec

from sally.core.log.events import label
from sally.core.registry import registry
from sally.core.rules.game import Seat
from sally.core.rules.metric import JudgedReport, Played
from sally.games.elicitation.payoffs import LinearPublicGood
from sally.games.elicitation.recorded_decisions import CHOSEN, GAME, BeliefRow, StatedBelief, row_of
from sally.games.elicitation.rules import Elicitation
from sally.games.public_goods.rules import PublicGoods
from sally.games.repeated_games.rules import RepeatedGame, other_seat
from sally.metrics.answers import list_counted_reports
from sally.stats.belief_measures import BeliefColumns, columns
from sally.stats.cluster_interval import coarsest

PEOPLE = "people"


class BeliefDecision(msgspec.Struct, frozen=True):
    """One decision that the player chose, with the beliefs stated before it."""

    source: str  # the data set, or the name of the game
    player: str  # `people`, or the label of a model
    person: str  # a person, or an episode of a model
    cluster: str  # a person, or an instance or recorded game of a model
    cell: str
    game: str  # menu and payoffs: the same text in all decisions of one game
    period: float | None
    actions: tuple[str, ...]
    move: int
    worth: tuple[float, ...] | None  # expected payoffs by the stated belief
    expected: tuple[float, ...] | None  # stated shares of others, by action
    true_worth: tuple[float, ...] | None  # payoffs by what the others did
    decides: bool = True  # whether another belief would have other best replies


# --- imported rows --------------------------------------------------------------------------------


def decision_of_row(row: BeliefRow) -> BeliefDecision | None:
    """Return an imported row as a decision; None if the player chose nothing."""
    if row.status != CHOSEN or row.action is None or not row.menu:
        return None
    problem = row.problem()
    game = registry.game(GAME).build(problem)
    assert isinstance(game, Elicitation)
    stated = {
        belief.ask: vector
        for belief in row.beliefs
        if belief.asked != "after" and (vector := _vector(belief)) is not None
    }
    peers = [b for b in row.beliefs if b.question.is_about_peers and b.ask in stated]
    return BeliefDecision(
        source=row.source,
        player=row.model or PEOPLE,
        person=row.person,
        cluster=row.person if row.model is None else row.cluster or row.person,
        cell=row.cell,
        game=repr((row.menu, problem["pays"])),
        period=row.period,
        actions=row.menu,
        move=row.menu.index(row.action),
        worth=game.values(stated),
        expected=_shares(row.menu, peers[0], stated[peers[0].ask]) if peers else None,
        true_worth=game.true_values,
        decides=not isinstance(game.pays, LinearPublicGood),
    )


def _vector(belief: StatedBelief) -> tuple[float, ...] | None:
    return None if belief.value is None else belief.question.vector(belief.value)


def _shares(
    menu: Sequence[str], belief: StatedBelief, vector: Sequence[float]
) -> tuple[float, ...]:
    """Return a stated belief about others as shares of the actions of the menu."""
    by_option = dict(zip(belief.options, vector, strict=True))
    return tuple(by_option[action] / sum(vector) for action in menu)


# --- moves of probed players ----------------------------------------------------------------------


def decisions_of(played: Played) -> Iterator[BeliefDecision]:
    """Yield the decisions of an episode for which a belief was stated before the move.

    Episodes of `elicitation`, repeated games and public goods have such decisions; other games have
    none.
    """
    if played.spec.name == GAME or (played.spec.family or "") == GAME:
        if "record" in played.episode.used:
            decision = decision_of_row(row_of(played.episode))
            if decision is not None:
                yield decision
        return
    rules = played.replay.game
    read: Callable[[Played, Seat, JudgedReport], BeliefDecision | None]
    if isinstance(rules, RepeatedGame):
        read = _matrix_decision
    elif isinstance(rules, PublicGoods):
        read = _contribution
    else:
        return
    for seat in rules.seats:
        for answer in list_counted_reports(played, seat):
            is_before = played.spec.probe(answer.question.probe).point != "after"
            if is_before and answer.report.value is not None:
                decision = read(played, seat, answer)
                if decision is not None:
                    yield decision


def _matrix_decision(played: Played, seat: Seat, answer: JudgedReport) -> BeliefDecision | None:
    """Return a round of a repeated game; only the payoff of the round counts."""
    game, turn = played.replay.rules(RepeatedGame), answer.turn
    move: Any = played.replay.move(turn, seat)
    if not isinstance(move, int):
        return None
    names, partner_names = game.names_of(seat), game.names_of(other_seat(seat))
    odds = answer.report.odds or tuple(
        float(choice == answer.report.value) for choice in answer.question.choices
    )
    pays = [[float(game.pay(seat, action, choice)) for choice in range(len(partner_names))]
            for action in range(len(names))]  # fmt: skip
    truth = answer.truth
    best = {_best(column) for column in zip(*pays, strict=True)}
    return _decision(
        played,
        seat,
        turn,
        # Names may differ by instance.
        actions=tuple(f"move {number + 1}" for number in range(len(names))),
        move=move,
        game=repr(pays),
        worth=tuple(sum(p * pay for p, pay in zip(odds, row, strict=True)) for row in pays),
        expected=odds if names == partner_names else None,
        true_worth=tuple(row[truth] for row in pays) if isinstance(truth, int) else None,
        decides=len(best) > 1,
    )


def _best(values: Sequence[float]) -> tuple[int, ...]:
    return tuple(n for n, value in enumerate(values) if value == max(values))


def _contribution(played: Played, seat: Seat, answer: JudgedReport) -> BeliefDecision | None:
    """Return a contribution; what pays most in the round does not depend on the belief."""
    game, turn = played.replay.rules(PublicGoods), answer.turn
    move: Any = played.replay.move(turn, seat)
    if answer.question.probe != "their_mean" or not isinstance(move, int):
        return None
    menu, mean, truth = game.menu, answer.report.value, answer.truth

    def pays(others: float) -> tuple[float, ...]:
        pot = game.back * others * (game.players - 1)
        return tuple(game.tokens - tokens + game.back * tokens + pot for tokens in menu)

    assert isinstance(mean, int)
    return _decision(
        played,
        seat,
        turn,
        actions=tuple(map(str, menu)),
        move=menu.index(move),
        game=repr((menu, game.players, game.ratio)),
        worth=pays(mean),
        expected=tuple(float(tokens == mean) for tokens in menu) if mean in menu else None,
        true_worth=pays(truth) if isinstance(truth, int) else None,
        decides=False,
    )


def _decision(
    played: Played,
    seat: Seat,
    turn: int,
    *,
    actions: tuple[str, ...],
    move: int,
    game: str,
    worth: tuple[float, ...],
    expected: tuple[float, ...] | None,
    true_worth: tuple[float, ...] | None,
    decides: bool,
) -> BeliefDecision:
    setup = played.episode.setup
    partners = [label(spec) for name, spec in setup.lineup.items() if name != seat]
    partner_labels = ", ".join(partners)
    return BeliefDecision(
        source=setup.instance.game,
        player=label(setup.lineup[str(seat)]),
        person=f"{played.episode.id}:{seat}",
        cluster=setup.instance.id,
        cell=f"{partner_labels}: round {turn + 1}",
        game=game,
        period=float(turn),
        actions=actions,
        move=move,
        worth=worth,
        expected=expected,
        true_worth=true_worth,
        decides=decides,
    )


# --- columns --------------------------------------------------------------------------------------


def belief_columns(decisions: Iterable[BeliefDecision]) -> BeliefColumns:
    """Return decisions as columns; equal names of actions share a column.

    Clusters are people or, of models, instances and recorded games; with too few of these, episodes
    are the clusters.
    """
    rows = list(decisions)
    units = {"cluster": [row.cluster for row in rows], "person": [row.person for row in rows]}
    places = {
        name: n for n, name in enumerate(dict.fromkeys(name for d in rows for name in d.actions))
    }

    def spread_out(actions: Sequence[str], values: Sequence[float] | None) -> list[float]:
        line = [nan] * len(places)
        for name, value in zip(actions, values or [nan] * len(actions), strict=True):
            line[places[name]] = value
        return line

    return columns(
        person=units["person"],
        cluster=units[coarsest(units)],
        cell=[row.cell for row in rows],
        game=[row.game for row in rows],
        period=[row.period for row in rows],
        move=[places[row.actions[row.move]] for row in rows],
        payoffs=[spread_out(row.actions, row.worth) for row in rows],
        expected=[spread_out(row.actions, row.expected) for row in rows],
        true_worth=[spread_out(row.actions, row.true_worth) for row in rows],
        on_menu=[[name in row.actions for name in places] for row in rows],
    )
