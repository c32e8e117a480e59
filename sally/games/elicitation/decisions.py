"""Single decisions of elicitation: scores that include forfeited decisions, and imported decisions
with the beliefs stated before them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sally.core.registry import registry
from sally.core.rules.game import Seat
from sally.core.rules.metric import Played
from sally.games.elicitation.payoffs import LinearPublicGood
from sally.games.elicitation.recorded_decisions import CHOSEN, GAME, BeliefRow, StatedBelief, row_of
from sally.games.elicitation.rules import PLAYER, Elicitation
from sally.parts.beliefs import PEOPLE, BeliefDecision
from sally.parts.importers import RECORDED


def INTENDED(played: Played, seat: Seat) -> tuple[float | None, float | None, float | None]:
    """Return the payoff with a forfeit counted as 0, with a forfeit counted at its best, and the
    optimum, which is not computed here.

    In a recorded decision, a move that the player did not choose says nothing about the player, so
    nothing is counted.
    """
    values = played.replay.rules(Elicitation).true_values
    is_recorded = played.episode.setup.lineup[str(PLAYER)].player == RECORDED
    if is_recorded or values is None or played.episode.payoffs is None:
        return None, None, None
    return 0.0, max(values), None


def BELIEFS(played: Played) -> Iterator[BeliefDecision]:
    """Yield the imported decision of an episode, if the player chose."""
    if "record" in played.episode.used:
        decision = decision_of_row(row_of(played.episode))
        if decision is not None:
            yield decision


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
        stated_worth=game.values(stated),
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
