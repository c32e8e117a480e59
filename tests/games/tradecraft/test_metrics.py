"""From episodes to rows: what was proposed, decided and reported, with known answers."""

from __future__ import annotations

from typing import Any

import pytest

from sally.core.log.events import Instance, PlayerSpec, Setup, from_line, to_line
from sally.core.match.drive import Driver
from sally.core.match.engine import Match
from sally.core.match.partner import Scripted
from sally.core.match.playback import replay_episode
from sally.core.match.player import Forfeit, NoAnswer, Turn
from sally.core.registry import registry
from sally.core.rules.metric import Played
from sally.core.rules.probe import ProbeReport
from sally.games.tradecraft.actions import DONE, NO, PASS, YES, goods
from sally.games.tradecraft.trades import (
    beliefs_apart,
    decisions,
    divergence,
    exchange_of,
    fit_decisions,
    goods_value,
    price_proposals,
    reporting,
    starts,
    trades,
    trend,
)
from tests.games.tradecraft.table import P1, P2, propose

HANDS = ({"coal": 40, "stick": 40}, {"raw_iron": 40, "sand": 40})
V0 = {"p1": {"coal": 1, "stick": 2, "raw_iron": 4, "sand": 0}}
V0["p2"] = {"coal": 6, "stick": 1, "raw_iron": 2, "sand": 3}
V1 = {"p1": {"coal": 5, "stick": 1, "raw_iron": 2, "sand": 2}}
V1["p2"] = {"coal": 0, "stick": 4, "raw_iron": 4, "sand": 0}
V2 = {"p1": {"coal": 1, "stick": 3, "raw_iron": 3, "sand": 1}, "p2": {"coal": 5}}
SAID = {"v0": V0, "v1": V1, "v2": V2}


def offered(turn: int) -> tuple[int, int]:
    """Units of coal for units of raw iron."""
    return (turn * 2 % 7 + 1) * 2, turn * 2 % 7 + 1


def mind(said: Any = SAID) -> Scripted:
    """Offers two coal for every iron; takes what it values more than what it gives."""

    def play(turn: Turn) -> Any:
        view = turn.view
        if view.phase == "propose":
            given, asked_number = offered(view.turn)
            if view.seat == "p1":
                return propose("p2", {"coal": given}, {"raw_iron": asked_number})
            return propose("p1", {"sand": asked_number}, {"stick": 1 + view.turn % 3})
        if view.phase == "decide":
            gain, loss = (
                goods_value(V0[view.seat], goods(lot))
                for lot in (view.proposal.offer, view.proposal.request)
            )
            return YES if gain > loss else NO  # type: ignore[operator]
        return DONE

    def report(turn: Turn) -> Any:
        assert turn.question is not None
        result = said.get(turn.question.probe, {}).get(turn.seat)
        return (
            NoAnswer("no")
            if result is None
            else ProbeReport({k: float(v) for k, v in result.items()})
        )

    return Scripted(play, report)


def game(
    n: int = 0, said: Any = SAID, turns: int = 6, arms: Any = None, players: Any = None
) -> Played:
    hands = [{item: amount - n for item, amount in hand.items()} for hand in HANDS]
    params = {"hands": hands, "targets": [{"shears": 1}, {"lever": 1}], "max_turns": turns}
    everything: dict[str, tuple[str, ...]] = {"p1": ("v0", "v1", "v2"), "p2": ("v0", "v1", "v2")}
    problem = Instance(f"values-{n}", "tradecraft", params)
    lineup = {"p1": PlayerSpec("zero_order"), "p2": PlayerSpec("zero_order")}
    match = Match(registry.game("tradecraft"), Setup(problem, n, lineup, arms=arms or everything))
    Driver(match, players or {"p1": mind(said), "p2": mind(said)}).run()
    episode = from_line(to_line(match.episode()))  # as it comes from the store
    return Played(match.spec, episode, replay_episode(match.spec, episode))


def test_trades_are_listed_in_order() -> None:
    actual_trades = list(trades(game()))
    assert [t.turn for t in actual_trades] == [1, 2, 3, 4, 5, 6]
    assert [t.proposer for t in actual_trades] == ["p1", "p2"] * 3
    assert all(t.accepted for t in actual_trades if t.proposer == "p1")  # 12 for 2 every time
    assert [t.start for t in actual_trades] == [starts(game())[t.turn] for t in actual_trades]


def test_beliefs_are_compared_with_the_others_report_of_the_same_turn() -> None:
    played = game()
    first = beliefs_apart(played, P1)
    assert len(first) == 6
    assert first[0].divergence == divergence(V0["p2"], V1["p1"])
    second = beliefs_apart(played, P1, 2)
    assert second[0].divergence == divergence(V1["p2"], V2["p1"])
    assert beliefs_apart(played, P2, 2) == []  # p2 valued one item only: nothing to compare


def test_beliefs_are_not_compared_without_the_others_report() -> None:
    arms = {"p1": ("v0", "v1", "v2"), "p2": ("v0",)}
    played = game(arms=arms)
    assert len(beliefs_apart(played, P1)) == 6
    assert beliefs_apart(played, P1, 2) == []


def test_planted_exchange_rate_is_recovered() -> None:
    plays = [(game(n), P1) for n in range(4)]
    assert price_proposals(*plays[0])[0] == (4.0 * offered(1)[1], 1.0 * offered(1)[0])
    exchange_rate = exchange_of(plays, seed=1, draws=200)
    assert exchange_rate.slope == pytest.approx(0.5)  # two coal at 1 for each iron at 4
    assert exchange_rate.r == pytest.approx(1)
    assert exchange_rate.slope_interval == pytest.approx((0.5, 0.5))
    assert (exchange_rate.proposals, exchange_rate.episodes) == (12, 4)


def test_decisions_are_valued_by_the_deciding_seats_reports() -> None:
    decision_table = decisions([(game(), P1)], 2)
    by_hand = []
    for trade in trades(game()):
        if trade.proposer == P2:
            offer, request = goods(trade.proposal.offer), goods(trade.proposal.request)
            row = []
            for reply in (V0, V1, V2):
                row += [goods_value(reply["p1"], offer), goods_value(reply["p1"], request)]
            by_hand.append(row)
    assert decision_table.features == by_hand
    assert decision_table.accepted == [False, False, False]  # sand is worth nothing to p1
    assert decision_table.missing == 0


def test_decisions_by_gain_and_loss_are_predicted() -> None:
    def mixed(n: int) -> Scripted:
        def play(turn: Turn) -> Any:
            view = turn.view
            if view.phase == "propose":
                if view.seat == "p2":
                    return PASS
                return propose("p2", {"coal": 1 + (view.turn + n) % 5}, {"raw_iron": 8})
            if view.phase == "decide":
                return YES if 6 * int(dict(view.proposal.offer)["coal"]) > 16 else NO
            return DONE

        return Scripted(play, mind().report)

    plays = [(game(n, turns=9, players={"p1": mixed(n), "p2": mixed(n)}), P2) for n in range(6)]
    decision_table = decisions(plays, 0)
    fit = fit_decisions(
        decision_table.features, decision_table.accepted, decision_table.episodes, 0, seed=1
    )
    assert fit.f1_mean == 1.0
    assert fit.coefficients["G0"] > 0


def test_reports_are_counted_as_whole_partial_or_refused() -> None:
    fields = {"v0": {**V0, "p2": {"coal": 6.0}}, "v1": {}, "v2": V2}
    played = game(said=fields)
    assert counts(reporting(played, P1)) == (12, 0, 6)
    assert counts(reporting(played, P2)) == (0, 12, 6)
    lost_decision_table = decisions([(played, P2)], 0)
    # raw iron has no value: no row, counted
    assert (len(lost_decision_table.features), lost_decision_table.missing) == (0, 3)


def counts(found: Any) -> tuple[int, int, int]:
    return found.whole, found.partial, found.refused


def test_forfeited_answer_is_not_a_decision() -> None:
    class Mute:
        def decide(self, turn: Turn) -> Any:
            return Forfeit("unreadable") if turn.view.phase == "decide" else mind().decide(turn)

    played = game(arms={}, players={"p1": Mute(), "p2": Mute()})
    assert [t.accepted for t in trades(played)] == [None] * 6
    assert decisions([(played, P2)], 0).missing == 0


def test_trend_needs_two_points() -> None:
    assert trend([]) is None
    assert trend([(1, 2), (1, 3)]) is None
    assert trend([(1, 2), (2, 5), (3, 8)]) == pytest.approx(3)


@pytest.mark.parametrize("name", sorted(registry.metrics("tradecraft")))
def test_every_metric_of_tradecraft_has_a_value_or_is_blank(name: str) -> None:
    value = registry.metrics("tradecraft")[name].measure(game(), P1)
    assert value is None or isinstance(value, float | int)


def test_metrics_of_a_fixed_game() -> None:
    measure = {n: m.measure for n, m in registry.metrics("tradecraft").items()}
    played = game()
    assert measure["win"](played, P1) == 0
    assert measure["turns_played"](played, P1) == 6
    assert measure["proposals_accepted"](played, P1) == 1
    assert measure["accepts"](played, P1) == 0
    assert measure["offer_share"](played, P1) == pytest.approx(0.5)
    assert measure["offer_slope"](played, P1) == pytest.approx(0.5)
    assert measure["kl_v1_trend"](played, P1) == pytest.approx(0)
    known_divergence = divergence(V0["p2"], V1["p1"])
    assert known_divergence is not None
    assert measure["kl_v1"](played, P1) == pytest.approx(known_divergence.kl)
    assert measure["kl_v1_reverse"](played, P1) == pytest.approx(known_divergence.reverse)
    assert measure["js_v1"](played, P1) == pytest.approx(known_divergence.jensen_shannon)
    assert measure["whole_reports"](played, P2) == pytest.approx(2 / 3)
