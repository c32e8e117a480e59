"""From any turn of an episode on: the past stays, the chance stays, the rest is as one asked."""

from __future__ import annotations

import msgspec
import pytest

import sally
from sally.analysis.decisions.costs import costs_of, decisions_by_cost
from sally.analysis.decisions.rollouts import branches, by_continuations
from sally.core.errors import BadInput
from sally.core.log.events import Injection, Moved, PlayerSpec, from_line, to_line
from sally.core.match.player import Decision, PlayerKind
from sally.core.registry import registry
from sally.frames.replays import replay_for_measures
from sally.models.stub import always
from sally.runner.check import check
from sally.runner.fork import Change, fork

KIND, HARD = PlayerSpec("single_action", {"action": 0}), PlayerSpec("single_action", {"action": 1})
ASKED = {"agent": ("their_move",)}


def game(agent="random", partner="tit_for_tat", name="ipd", **params):
    return sally.play(name, {"agent": agent, "partner": partner}, seed=5, probes=ASKED, **params)


def moves(episode):
    return [(e.turn, e.seat, e.action) for e in episode.events if isinstance(e, Moved)]


def test_fork_without_change_plays_the_same_game():
    for agent, chance in (("random", 0.0), ("tabular", 0.0), ("random", 0.05)):
        was = game(agent, "random", rounds=8, stop_chance=chance)
        repeated_episode = fork(was, 3, Change())
        assert repeated_episode.events == was.events
        assert repeated_episode.id != was.id


class Counter:
    """Knows the time by its own notes alone."""

    def decide(self, turn):
        count = turn.memory or 0
        return Decision(count // 2 % 2, count + 1)


def test_notes_from_before_the_fork_are_preserved():
    kind = PlayerKind("counter", "counts", lambda spec, game, seat: Counter())
    registry.add("players", "counter", {"counter": kind})
    was = game("counter", rounds=8)
    assert fork(was, 3, Change()).events == was.events
    plans = "Plans: I stay calm.\nInsights: none yet.\nOption: J"
    registry.add("models", "planner", lambda name: always(plans))
    model = PlayerSpec("language", {"model": "planner", "strategy": "plans_insights"})
    was = game(model, rounds=5)
    assert fork(was, 3, Change()).events == was.events  # the hashes of all prompts among them


def test_forked_player_has_the_same_past_and_random_draws():
    was = game("random", "random", rounds=10)
    new = fork(was, 4, Change({"agent": PlayerSpec("constant")}))
    moves_before = [m for m in moves(was) if m[0] < 4]
    assert [m for m in moves(new) if m[0] < 4] == moves_before
    partner = [m for m in moves(was) if m[1] == "partner"]
    assert [m for m in moves(new) if m[1] == "partner"] == partner  # it does not look at us
    assert moves(new) != moves(was)


def test_fork_is_stored_and_replays():
    was = game(rounds=6)
    injected = (Injection("agent", "their_move", "truth", 0.5),)
    noisy = sally.play(
        "ipd", {"agent": "random", "partner": "random"}, injections=injected, rounds=6
    )
    arms = {"agent": ()}
    new = [
        fork(was, 2, Change({"agent": PlayerSpec("tabular")}), 1),
        fork(was, 2, Change(arms=arms)),
        fork(was, 2, Change(injections=(Injection("agent", "their_move"),))),
        fork(noisy, 3, Change(injections=()), 2),
    ]
    kept_episodes = [from_line(to_line(kept_episode)) for kept_episode in new]
    assert [kept_episode.setup for kept_episode in kept_episodes] == [
        kept_episode.setup for kept_episode in new
    ]
    assert check(kept_episodes).mismatches == []
    assert [e for e in new[1].events if e.turn < 2] == [e for e in was.events if e.turn < 2]
    assert not any(type(e).__name__ == "Told" and e.turn < 2 for e in new[2].events)
    assert [e for e in new[3].events if e.turn < 3] == [e for e in noisy.events if e.turn < 3]


def test_model_in_a_fork_sees_the_past_and_pays_only_its_own_calls():
    asked_probes = {"agent": ("their_move",)}
    registry.add("models", "forker", lambda name: always("Option: J"))
    model = PlayerSpec("language", {"model": "forker", "strategy": "qa"})
    was = sally.play(
        "ipd", {"agent": model, "partner": "tit_for_tat"}, probes=asked_probes, rounds=6
    )
    new = fork(was, 4, Change({"agent": replace_strategy(model, "cot")}))
    result = check([new])
    assert result.mismatches == []
    assert result.unchecked == [(new.id, "moves replay; bots are not asked again in a fork")]
    (row, _) = sally.episodes([new])
    (full_episode, _) = sally.episodes([was])
    assert 0 < row["calls"] < full_episode["calls"]


def replace_strategy(player, strategy):
    return msgspec.structs.replace(player, params={**player.params, "strategy": strategy})


def test_impossible_fork_is_refused_with_the_reason():
    was = game(rounds=4)
    for turn in (-1, 4, 99):
        with pytest.raises(BadInput, match="has steps 0 to 3"):
            fork(was, turn, Change())
    with pytest.raises(BadInput, match="nobody_at_all"):
        fork(was, 1, Change({"agent": PlayerSpec("nobody_at_all")}))
    person = msgspec.structs.replace(was.setup.lineup["agent"], player="person")
    lineup = {**was.setup.lineup, "agent": person}
    people = msgspec.structs.replace(was, setup=msgspec.structs.replace(was.setup, lineup=lineup))
    with pytest.raises(BadInput, match="cannot continue"):
        fork(people, 1, Change())
    assert fork(people, 1, Change({"agent": PlayerSpec("random")})).payoffs is not None


def test_fork_is_refused_if_a_bot_no_longer_plays_the_logged_move():
    was = game(rounds=4)
    index = next(
        n for n, e in enumerate(was.events) if isinstance(e, Moved) and e.seat == "partner"
    )
    events = list(was.events)
    events[index] = msgspec.structs.replace(events[index], action=1 - events[index].action)
    with pytest.raises(BadInput, match="would now play"):
        fork(msgspec.structs.replace(was, events=events), 3, Change())


def test_branches_are_paired_and_the_first_equals_the_log():
    was = game("random", "tit_for_tat", rounds=6)
    actual_branches, new = branches(was, 2, {"kind": Change({"agent": KIND})}, 5)
    assert actual_branches[0].episodes[0] == was.id and len(new) == 9
    assert actual_branches[1].difference["agent"].value == pytest.approx(
        actual_branches[1].payoffs["agent"].value - actual_branches[0].payoffs["agent"].value
    )


# --- what a decision cost -------------------------------------------------------------------------


def test_costs_against_an_automaton_sum_to_the_regret():
    for agent in ("random", HARD, KIND, "tabular"):
        was = game(agent, "tit_for_tat", rounds=7)
        full_match = replay_for_measures(was)
        lost_total = sum(cost.loss for cost in costs_of(full_match, "agent"))
        rows = sally.episodes([was])
        assert lost_total == pytest.approx(7 * rows[0]["functional_regret"])


def test_cooperation_with_tit_for_tat_costs_nothing_before_the_last_round():
    full_match = replay_for_measures(game(KIND, rounds=5))
    losses = [cost.loss for cost in costs_of(full_match, "agent")]
    assert losses[:4] == [0, 0, 0, 0] and losses[4] > 0


def test_wrong_answer_costs_the_value_of_a_right_answer():
    for name, value in (("toma_po", 1.0), ("pick_the_right_stuff", 100.0)):
        seat = str(registry.game(name).build({}).seats[0])
        full_match = replay_for_measures(sally.play(name, {seat: "random"}, seed=2))
        losses = [cost.loss for cost in costs_of(full_match, seat)]
        (row,) = sally.episodes([full_match.episode])
        doing = row[full_match.spec.measured.doing.metric]
        assert sum(losses) / len(losses) == pytest.approx(value - doing)


def test_continuation_costs_agree_with_exact_costs_under_best_play():
    was = game(HARD, "tit_for_tat", rounds=4)
    exact = {c.turn: c for c in decisions_by_cost(replay_for_measures(was))}
    sampled = {c.turn: c for c in by_continuations(was, "agent", 1, KIND)}
    assert sampled[3].loss == exact[3].loss == 0
    assert sampled[0].best == ("J",) and exact[0].best == sampled[0].best


def test_why_rows_contain_the_expected_and_best_moves():
    (first, *_) = sally.why(game(rounds=5))
    assert {"turn", "seat", "did", "best", "loss", "how", "expected", "interval"} == set(first)
    assert first["expected"][0]["probe"] == "their_move about partner"
    assert first["seat"] == "agent"  # who was asked is in question
