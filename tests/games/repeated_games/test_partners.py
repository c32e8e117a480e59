"""Partners of repeated games do what they declare, and what their sources say."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from sally.analysis.compare.published_figures import load
from sally.core.errors import BadInput
from sally.core.match.partner import Line, Partner
from sally.games.repeated_games.optimum import optimal_reward
from sally.games.repeated_games.partners import PARTNERS, rps
from sally.games.repeated_games.partners.tables import remembering_last
from sally.games.repeated_games.rules import AGENT, PARTNER, Joint, RepeatedGame
from tests.games.repeated_games.sitting import drawn, moves, partner, rules, said, shown, turn_after


def fits(player: Partner, game: RepeatedGame, params: Any) -> bool:
    try:
        player.make(game, PARTNER, **params)
    except BadInput:
        return False
    return True


OURS = [p for p in PARTNERS.values() if p.name != "axelrod" and not p.helps]
LINES = [pytest.param(p, line, id=p.name) for p in OURS for line in p.lines]
FINITE = [
    pytest.param(p, game, params, id=f"{p.name}-{game}")
    for p in OURS
    for game in ("rps", "ibs", "ipd")
    for params in ({}, *(line.params for line in p.lines if line.game == game))
    if p.automaton is not None and fits(p, rules(game), params)
]


def some_past(game: RepeatedGame, rounds: int, chance: random.Random) -> list[Joint | None]:
    """Any rounds at all, every sixth one void."""
    return [
        None
        if chance.random() < 1 / 6
        else (chance.choice(game.moves_of(AGENT)), chance.choice(game.moves_of(PARTNER)))
        for _ in range(rounds)
    ]


# --- declared is behaved --------------------------------------------------------------------------


@pytest.mark.parametrize(("who", "line"), LINES)
def test_every_partner_plays_its_declared_lines_for_any_seed(who: Partner, line: Line) -> None:
    game = rules(line.game)
    against = said(line.against, game.names_of(AGENT))
    for seed in range(5):
        script = who.make(game, PARTNER, **line.params)
        played = moves(script, game, against, seed)
        assert shown(played, game.names_of(PARTNER), line.plays) == line.plays


def test_every_partner_names_its_source_and_has_a_line() -> None:
    for player in PARTNERS.values():
        if player.helps:
            continue  # somebody recorded elsewhere, who plays no line
        assert player.source and player.lines, player.name
        assert any(set(line.plays) - {"?"} for line in player.lines) or player.name == "random"


@pytest.mark.parametrize(("who", "name", "params"), FINITE)
def test_script_draws_from_the_automatons_odds(who: Partner, name: str, params: Any) -> None:
    game = rules(name)
    assert who.automaton is not None
    chance = random.Random(3)
    for seat in (AGENT, PARTNER):
        script, machine = who.make(game, seat, **params), who.automaton(game, seat, **params)
        past: list[Joint | None] = []
        state = machine.start
        for _ in range(40):
            turn = turn_after(game, past, seat)
            own = script(turn)
            assert own == drawn(turn, machine.odds(state))
            their = chance.choice((0, 1))
            void = chance.random() < 1 / 6
            past.append(None if void else (own, their) if seat == AGENT else (their, own))
            state = state if void else machine.after(state, own, their)


@pytest.mark.parametrize("who", [p for p in OURS if p.memory is not None], ids=lambda p: p.name)
def test_partner_depends_only_on_its_declared_memory(who: Partner) -> None:
    game = rules("rps" if who.name in rps.STABLE else "ibs")
    script, chance = who.make(game, PARTNER), random.Random(5)
    assert who.memory is not None
    numbers: set[int] = set()
    for seed in range(60):
        recent = [joint for joint in some_past(game, 9, chance) if joint][: who.memory]
        earlier = [some_past(game, 4, chance) for _ in range(2)]
        if len(recent) < who.memory:
            continue
        first, second = (turn_after(game, [*e, *recent], seed=seed) for e in earlier)
        assert script(first) == script(second)
        numbers.add(script(first))
    assert len(numbers) > 1 or who.name == "single_action"


@pytest.mark.parametrize("who", OURS, ids=lambda p: p.name)
def test_void_rounds_change_nothing(who: Partner) -> None:
    line = who.lines[0]
    game = rules(line.game)
    chance = random.Random(11)
    for length in range(6):
        past = [joint for joint in some_past(game, length, chance) if joint]
        with_voids: list[Joint | None] = [None, *(x for joint in past for x in (joint, None))]
        plain = who.make(game, PARTNER, **line.params)
        turn, other_turn = turn_after(game, past), turn_after(game, with_voids)
        other_turn.id = turn.id  # the same draws
        assert plain(turn) == who.make(game, PARTNER, **line.params)(other_turn)


@pytest.mark.parametrize("name", ["policy_table", "bayesian_best_responder", "adaptive_transition"])
def test_one_script_serves_many_episodes_at_once(name: str) -> None:
    player = partner(name)
    line = player.lines[0]
    game = rules(line.game)
    shared, chance = player.make(game, PARTNER, **line.params), random.Random(2)
    pasts = [[j for j in some_past(game, 12, chance) if j] for _ in range(4)]
    for length in (3, 9, 5):  # forwards, backwards, and from one to the other
        for past in pasts:
            turn = turn_after(game, past[:length])
            assert shared(turn) == player.make(game, PARTNER, **line.params)(turn)


# --- rock, paper, scissors ------------------------------------------------------------------------


def test_human_results_exist_for_each_stable_bot() -> None:
    table = load("riemer2025").tables["brockbank_vul"]
    assert {figure.row["partner"] for figure in table.rows} == set(rps.STABLE)
    assert len(rps.STABLE) == 7
    assert len(rps.ADAPTIVE) == 8


@pytest.mark.parametrize("who", rps.STABLE.values(), ids=lambda p: p.name)
def test_best_reply_to_a_stable_bot_wins_nine_rounds_in_ten(who: Partner) -> None:
    """.9 won and .05 lost in every round after the drawn ones."""
    game = rules("rps", rounds=300)
    assert who.automaton is not None and who.memory is not None
    best = optimal_reward(game, AGENT, who.automaton(game, PARTNER))
    assert best == pytest.approx((300 - who.memory) * 0.85)


def test_stable_bot_follows_its_rule_nine_times_in_ten() -> None:
    game = rules("rps")
    script = partner("opponent_previous_plus").make(game, PARTNER)
    counts = Counter(script(turn_after(game, [(0, 0)], seed=seed)) for seed in range(4000))
    assert counts[1] / 4000 == pytest.approx(0.9, abs=0.02)
    assert counts[0] / 4000 == pytest.approx(0.05, abs=0.015)
    first = Counter(script(turn_after(game, [], seed=seed)) for seed in range(3000))
    assert all(first[move] / 3000 == pytest.approx(1 / 3, abs=0.03) for move in (0, 1, 2))


def test_stable_bots_accept_other_payoffs() -> None:
    stakes = [[[0, 0], [-1, 3], [3, -1]], [[3, -1], [0, 0], [-1, 3]], [[-1, 3], [3, -1], [0, 0]]]
    script = partner("previous_move_plus").make(rules("rps", matrix=stakes), PARTNER, follow=1.0)
    assert script(turn_after(rules("rps", matrix=stakes), [(0, 1)])) == 2


def test_adaptive_bot_is_uniform_over_equally_frequent_moves() -> None:
    game = rules("rps")
    script = partner("adaptive_opponent_previous").make(game, PARTNER)
    past = [(0, 0), (1, 0), (0, 0), (2, 0), (0, 0)]  # after R came P once and S once
    counts = Counter(script(turn_after(game, past, seed=seed)) for seed in range(2000))
    assert set(counts) == {2, 0}
    assert counts[2] / 2000 == pytest.approx(0.5, abs=0.05)


def test_adaptive_bot_by_outcome_counts_wins_and_losses_separately() -> None:
    game = rules("rps")
    # the agent wins (P against R), then moves up; it loses (S against R), then repeats
    past = [(1, 0), (2, 0), (2, 0), (1, 0)]
    script = partner("adaptive_transition_by_outcome").make(game, PARTNER)
    # after the last win it should move up again, from P to S, which R beats
    assert {script(turn_after(game, past, seed=seed)) for seed in range(20)} == {0}


# outcome and last transition of the bot -> its next transition, as the protocol has it
DUAL = {
    "win": {"+": "-", "0": "+", "-": "0"},
    "loss": {"+": "0", "0": "-", "-": "+"},
    "tie": {"+": "+", "0": "0", "-": "-"},
}
STEP = {"+": 1, "0": 0, "-": 2}
REPLY = {"win": 2, "tie": 0, "loss": 1}  # from the bot's move to the agent's


@pytest.mark.parametrize("first", [0, 1, 2])
def test_dual_bot_follows_all_nine_of_its_rules(first: int) -> None:
    game = rules("rps")
    script = partner("outcome_transition_dual").make(game, PARTNER, follow=1.0)
    for outcome, steps in DUAL.items():
        for last, later_step in steps.items():
            second = (first + STEP[last]) % 3
            past = [(0, first), ((second + REPLY[outcome]) % 3, second)]
            assert script(turn_after(game, past)) == (second + STEP[later_step]) % 3


def test_every_adaptive_bot_beats_a_player_that_never_changes() -> None:
    game = rules("rps")
    for player in rps.ADAPTIVE.values():
        if player.name == "adaptive_transition_from_bot":
            continue  # a fixed move is no fixed step from the bot's own moves, which change
        script = player.make(game, PARTNER)
        assert moves(script, game, [0] * 40)[-20:] == [1] * 20, player.name


# --- reasoners ------------------------------------------------------------------------------------


def test_in_rps_level_one_beats_repetition_and_level_two_beats_level_one() -> None:
    game = rules("rps")
    first = partner("level_k").make(game, AGENT, k=1)
    two = partner("level_k").make(game, PARTNER, k=2)
    past: list[Joint] = []
    for _ in range(20):
        past.append((first(turn_after(game, past, AGENT)), two(turn_after(game, past))))
    assert all(game.pay(PARTNER, own_move, other_move) == 1 for other_move, own_move in past)


def test_level_three_over_a_uniform_base_is_the_third_best_reply() -> None:
    """ibs: the partner's best reply to any is 1; the agent's to that 1; and so on."""
    game = rules("ibs")
    for k in (1, 2, 3):
        script = partner("level_k").make(game, PARTNER, k=k, base="uniform")
        level_one_of = {1: 1, 2: 0, 3: 1}  # whoever is at level 1 plays what it likes best
        assert script(turn_after(game, [])) == level_one_of[k]


def test_fictitious_play_converges_to_uniform_odds_in_rps() -> None:
    """In a zero-sum game the frequencies of fictitious play converge (Robinson 1951)."""
    game = rules("rps", rounds=1000)
    scripts = {seat: partner("fictitious_play").make(game, seat) for seat in game.seats}
    past: list[Joint] = []
    for _ in range(400):
        past.append(
            (
                scripts[AGENT](turn_after(game, past, AGENT)),
                scripts[PARTNER](turn_after(game, past)),
            )
        )
    shares = Counter(joint[1] for joint in past)
    assert all(shares[move] / 400 == pytest.approx(1 / 3, abs=0.12) for move in (0, 1, 2))


def test_bayesian_cooperates_with_tit_for_tat_until_the_last_round() -> None:
    game = rules("ipd", rounds=30)
    bayesian = partner("bayesian_best_responder").make(game, PARTNER)
    echo = partner("tit_for_tat").make(game, AGENT)
    past: list[Joint] = []
    for _ in range(30):
        past.append((echo(turn_after(game, past, AGENT)), bayesian(turn_after(game, past))))
    assert [own_move for _, own_move in past[5:]] == [0] * 24 + [1]


def test_bayesian_partner_learns_only_among_its_hypotheses() -> None:
    game = rules("ipd", rounds=30)
    narrow = partner("bayesian_best_responder").make(game, PARTNER, hypotheses=["random"])
    echo = partner("tit_for_tat").make(game, AGENT)
    past: list[Joint] = []
    for _ in range(30):
        past.append((echo(turn_after(game, past, AGENT)), narrow(turn_after(game, past))))
    assert [own_move for _, own_move in past] == [1] * 30


# --- reciprocity ----------------------------------------------------------------------------------


def test_generous_partner_forgives_one_defection_in_three() -> None:
    game = rules("ipd")
    script = partner("generous_tit_for_tat").make(game, PARTNER)
    counts = Counter(script(turn_after(game, [(1, 0)], seed=seed)) for seed in range(3000))
    assert counts[0] / 3000 == pytest.approx(1 / 3, abs=0.03)


def test_best_play_against_the_reciprocal() -> None:
    """ipd over 10 rounds, by hand: cooperate nine times, defect once."""
    game = rules("ipd", rounds=10)
    for name in ("tit_for_tat", "grim_trigger", "win_stay_lose_shift"):
        automaton = partner(name).automaton
        assert automaton is not None
        assert optimal_reward(game, AGENT, automaton(game, PARTNER)) == 9 * 8 + 10
    two = partner("tit_for_two_tats").automaton
    assert two is not None  # defect in rounds 1, 3, 5, 7, 9 and 10
    assert optimal_reward(game, AGENT, two(game, PARTNER)) == 4 * 8 + 6 * 10


# --- tables and bad input -------------------------------------------------------------------------


def test_table_of_the_last_joint_action_can_be_any_memory_one_player() -> None:
    game = rules("ipd")
    then = {(m, t): ((1.0, 0.0) if m == t else (0.0, 1.0)) for m in (0, 1) for t in (0, 1)}
    frozen = partner("policy_table").make(game, PARTNER, table=remembering_last((1.0, 0.0), then))
    pavlov = partner("win_stay_lose_shift").make(game, PARTNER)
    against = [0, 1, 1, 0, 1, 0, 0, 1]
    assert moves(frozen, game, against) == moves(pavlov, game, against)


ONE = {"odds": [1, 0], "after": [["a", "a"], ["a", "a"]]}


@pytest.mark.parametrize(
    ("name", "game", "params", "why"),
    [
        ("single_action", "ipd", {"action": 2}, "action must be a move from 0 to 1, not 2"),
        ("single_action", "ipd", {"action": True}, "not True"),
        ("tit_for_tat", "rps", {"first": 3}, "first must be a move from 0 to 2, not 3"),
        ("mixed", "rps", {"odds": [0.5, 0.5]}, "2 odds were given for 3 choices"),
        ("mixed", "ipd", {"odds": [0.5, 0.6]}, "sum to 1"),
        ("generous_tit_for_tat", "ipd", {"generosity": 1.5}, "from 0 to 1, not 1.5"),
        ("previous_move_plus", "ipd", {}, "rock, paper, scissors only"),
        ("previous_move_plus", "rps", {"opening": [0, 1]}, "at most 1"),
        ("previous_move_plus", "rps", {"follow": -0.1}, "follow must be from 0 to 1"),
        ("adaptive_transition", "ibs", {}, "rock, paper, scissors only"),
        ("fictitious_play", "ipd", {"prior": 0}, "prior must be above 0"),
        ("level_k", "ipd", {"k": 4}, "k must be 1, 2 or 3, not 4"),
        ("level_k", "ipd", {"base": "repeal"}, "did you mean repeat"),
        ("bayesian_best_responder", "ipd", {"hypotheses": []}, "at least one"),
        ("bayesian_best_responder", "ipd", {"hypotheses": ["tit_for_tats"]}, "tit_for_tat"),
        ("bayesian_best_responder", "ipd", {"hypotheses": [3]}, "a hypothesis is a name"),
        ("bayesian_best_responder", "ipd", {"noise": 0}, "noise must be above 0"),
        ("bayesian_best_responder", "ipd", {"ahead": 0}, "ahead must be"),
        ("policy_table", "ipd", {}, "needs `table`"),
        ("policy_table", "ipd", {"table": {"start": "a"}}, "states"),
        ("policy_table", "ipd", {"table": {"start": "b", "states": {"a": ONE}}}, "start 'b'"),
        ("policy_table", "rps", {"table": {"start": "a", "states": {"a": ONE}}}, "2 odds"),
        ("axelrod", "rps", {}, "two moves per seat"),
    ],
)
def test_invalid_parameters_are_refused_with_one_message(
    name: str, game: str, params: Any, why: str
) -> None:
    with pytest.raises(BadInput, match=why.replace("(", r"\(")):
        partner(name).make(rules(game), PARTNER, **params)


def test_copying_partner_needs_the_moves_of_the_other_seat() -> None:
    game = rules(
        "repeated_games",
        matrix=[[[1, 0], [0, 1]], [[0, 1], [1, 0]], [[2, 2], [2, 2]]],
        partner_names=["a", "b"],
        names=["a", "b", "c"],
    )
    with pytest.raises(BadInput, match="the other seat's 3 moves, but has only 2"):
        partner("generous_tit_for_tat").make(game, PARTNER)
