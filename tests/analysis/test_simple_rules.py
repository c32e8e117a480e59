"""Simple rules that learn a little: the one list, and what it refuses."""

from __future__ import annotations

import random
from functools import cache

import msgspec
import pytest

from sally.analysis.design.claims import (
    ACTS_ON,
    KNOWS,
    NOT_HERE,
    THEORY,
    ArmResult,
    Controls,
    Verdict,
    arm_reasons,
    verdicts,
)
from sally.analysis.evaluation import measured_of
from sally.analysis.profile.profile import ProfileRow, profile_of
from sally.core.errors import BadInput
from sally.core.log.events import Episode
from sally.core.registry.study import player_spec
from sally.core.rules.chance import Stream
from sally.frames.frame import as_frame
from sally.metrics.consistency import ForecastFit, contrast_of
from sally.parts.simple_rules import (
    AFTER_LAST,
    AFTER_OWN,
    AFTER_PAIR,
    LAST,
    MOST_FREQUENT,
    MOVES,
    OWN_LAST,
    RULES,
    PastRounds,
    rule_shortcuts,
)
from sally.runner import local
from sally.stats.cluster_interval import ratio_by_rule
from sally.stats.intervals import Estimate
from sally.studies import sally_1


def test_rules_expect_what_followed():
    past = PastRounds([(0, 1), (1, 2), (0, 0), (1, 2)])
    assert past.expect("last") == 2 and past.expect("own_last") == 1
    assert past.expect("most_frequent") == 2
    assert past.expect("after_last") == 0  # after the 2 of the second round came 0
    assert past.expect("after_pair") == 0 and past.expect("after_own") == 0
    assert PastRounds().expect("after_pair") is None


def test_unseen_pair_falls_back_to_the_last_move():
    past = PastRounds([(0, 1), (1, 1), (2, 1)])
    assert past.expect("after_pair") == 1  # this pair is new; after this move came 1
    assert PastRounds([(0, 1)]).expect("after_pair") == 1


def test_unknown_rule_is_refused():
    with pytest.raises(BadInput, match="after_pair"):
        PastRounds().expect("after_pairs")


def test_card_has_every_rule_played_and_replied_to():
    rules = [pair.rule.params for pair in rule_shortcuts() if pair.rule.player == "simple_rule"]
    assert {rule["rule"] for rule in rules if "reply" not in rule} == {*RULES, *MOVES}
    assert {rule["rule"] for rule in rules if rule.get("reply")} == {*RULES}


# --- the checklist --------------------------------------------------------------------------------


@cache
def profile_of_bot(game: str, rule: str, reply: bool = False) -> ProfileRow:
    """Return the row of the best bot (rule "") or of a simple rule in a game of Sally-1."""

    def bot(name, others):
        if not rule:
            return sally_1.best_bot(name, others)
        return player_spec("simple_rule", rule=rule, reply=reply)

    study = sally_1.with_bot(bot, "S")
    cells = tuple(cell for cell in study.cells if cell.name.startswith(f"{game}: asked"))
    orders = local.orders(msgspec.structs.replace(study, cells=cells))
    episodes: list[Episode] = [local.play(setup, cell) for _, cell, setup in orders]
    (row,) = profile_of(measured_of(as_frame(episodes)), name_of=lambda who: rule or "best")
    return row


def verdict_of(game: str, rule: str, reply: bool = False) -> Verdict:
    (verdict,) = verdicts([profile_of_bot(game, rule, reply)], best=[profile_of_bot(game, "")])
    return verdict


@pytest.mark.parametrize("game", ["rps", "ibs", "ipd"])
@pytest.mark.parametrize("rule", ["last", "after_last", "after_own", "after_pair"])
def test_rules_that_learn_earn_no_word(game: str, rule: str):
    for reply in (False, True):
        assert verdict_of(game, rule, reply).allowed_claims == ()


def test_best_bot_knows_where_partners_differ_and_cannot_show_it_elsewhere():
    assert KNOWS in verdict_of("rps", "").allowed_claims
    assert verdict_of("ibs", "last").describe_claim(KNOWS) == NOT_HERE
    assert verdict_of("ibs", "last").refused[KNOWS][0].startswith(NOT_HERE)
    assert verdict_of("rps", "last").describe_claim(KNOWS) == "refused"


def test_table_of_what_followed_is_below_the_fixed_rules_mark_only():
    """The old measure calls the table knowledge; the new one is 0."""
    row = profile_of_bot("rps", "after_pair", reply=True)
    assert row.beyond.value > 0.1 and abs(row.beyond_learning.value) < 0.1
    assert row.predictor.rule == RULES[AFTER_PAIR]  # the mark of a profile is the table
    assert row.predictor.accuracy > row.fixed_rule.accuracy


# --- theory of mind needs results -----------------------------------------------------------------


def result(verdict: str, is_twin: bool = True) -> ArmResult:
    return ArmResult("rps", "tom_percent", is_twin, Estimate(-3.0, -9.0, 3.0, 9, "t"), verdict)


def test_arms_must_come_out_as_they_must():
    assert arm_reasons([result("worse"), result("equivalent", False)], "rps") == ()
    (reason,) = arm_reasons([result("not told apart")], "rps")
    assert reason.startswith(
        "a mechanism in place of the mind makes it no worse: tom_percent -3.00"
    )
    (reason,) = arm_reasons([result("worse"), result("different", False)], "rps")
    assert reason.startswith("another wording changes it")
    assert arm_reasons([result("not told apart")], "ibs") == ()


def test_theory_of_mind_needs_an_order_that_tables_cannot_solve():
    row = msgspec.structs.replace(
        profile_of_bot("rps", ""), arms=("labels", "not asked", "twin"), called=""
    )
    certified = Controls(arms=(), order=2)
    (verdict,) = verdicts([row], controls={"rps": certified})
    assert verdict.allowed_claims == (KNOWS, ACTS_ON, THEORY)
    for controls in (
        msgspec.structs.replace(certified, order=1),
        msgspec.structs.replace(certified, order=None),
        msgspec.structs.replace(certified, can_certify=False),
        msgspec.structs.replace(certified, arms=("a mechanism makes it no worse",)),
    ):
        (verdict,) = verdicts([row], controls={"rps": controls})
        assert verdict.allowed_claims == (KNOWS, ACTS_ON)


# --- acting by contrast ---------------------------------------------------------------------------

EPISODES, ROUNDS, OPTIONS = 200, 20, 3


def acting(forecast, move) -> Estimate:
    """Return acting of a simulated player; `forecast(truth)` and `move(forecast, truth)`."""
    sums = []
    for episode in range(EPISODES):
        fits = []
        for number in range(ROUNDS):
            truth = (number * (1 + episode % 2) + episode) % OPTIONS
            predicted = forecast(truth)
            best = frozenset({(predicted + 1) % OPTIONS})
            fits.append(ForecastFit(move(predicted, truth), best, OPTIONS))
        sums.append(contrast_of(fits))
    counts, contrasts = zip(*sums, strict=True)
    return ratio_by_rule(contrasts, counts, range(EPISODES), (-1.0, 1.0))


@pytest.mark.parametrize("accuracy", [0.0, 0.25, 0.5, 0.75, 1.0])
def test_same_moves_have_the_same_acting_however_right_the_forecasts_are(accuracy: float):
    draw = random.Random(7)

    def forecast(truth: int) -> int:
        return truth if draw.random() < accuracy else (truth + draw.randrange(1, 3)) % OPTIONS

    assert acting(forecast, lambda predicted, truth: 0).value == 0
    estimate = acting(forecast, lambda predicted, truth: draw.randrange(OPTIONS))
    assert abs(estimate.value) < 0.05


@pytest.mark.parametrize("share", [0.0, 0.3, 0.7, 1.0])
def test_share_of_followed_forecasts_is_recovered(share: float):
    draw = random.Random(11)

    def move(predicted: int, truth: int) -> int:
        follows = draw.random() < share
        return (predicted + 1) % OPTIONS if follows else draw.randrange(OPTIONS)

    estimate = acting(lambda truth: draw.randrange(OPTIONS), move)
    assert estimate.low - 1e-9 <= share <= estimate.high + 1e-9
    assert estimate.high - estimate.low < 0.1


REPLIES = (  # two kinds of rounds, in which the same forecasts have other best replies
    (frozenset({0}), frozenset({0}), frozenset({1})),
    (frozenset({0}), frozenset({1}), frozenset({1})),
)


def test_random_forecasts_do_not_fit_moves_that_depend_on_the_round():
    """Of a player that is always right and reports at random, only moves of rounds with the same
    best replies may be compared."""
    draw = random.Random(3)
    means = {}
    for knows_replies in (True, False):
        sums = []
        for _ in range(EPISODES):
            fits = []
            for number in range(ROUNDS):
                replies = REPLIES[number % 2]
                (move,), best = replies[draw.randrange(3)], replies[draw.randrange(3)]
                known = replies if knows_replies else ()
                fits.append(ForecastFit(move, best, 2, replies=known))
            sums.append(contrast_of(fits))
        counts, contrasts = zip(*sums, strict=True)
        means[knows_replies] = ratio_by_rule(contrasts, counts, range(EPISODES), (-1.0, 1.0))
    assert means[False].low > 0.05
    assert means[True].low < 0 < means[True].high and means[True].value < 0.03


def test_replies_of_rounds_are_compared_in_episodes():
    """In Pick the Right Stuff a forecast names a past state, which has another box each time."""
    row = profile_of_bot("pick_the_right_stuff", "")
    assert row.acting_contrast.value is None
    assert "the same best replies" in row.why["acting_contrast"]
    assert profile_of_bot("rps", "").acting_contrast.value > 0.9


def test_rules_expect_what_followed_the_last_time() -> None:
    """A second implementation, with tables that are filled round by round."""
    draws = Stream("past rounds")
    rounds = [(draws.below(3), draws.below(3)) for _ in range(60)]
    past, after = PastRounds(), dict[tuple[str, object], int]()
    for number, (own_move, their_move) in enumerate(rounds):
        if number:
            own_before, their_before = rounds[number - 1]
            after["own", own_before] = after["last", their_before] = their_move
            after["pair", rounds[number - 1]] = their_move
        past.add(own_move, their_move)
        after_last = after.get(("last", their_move), their_move)
        their_moves = [move for _, move in rounds[: number + 1]]
        most = max(map(their_moves.count, their_moves))
        assert {rule: past.expect(rule) for rule in RULES} == {
            LAST: their_move,
            OWN_LAST: own_move,
            MOST_FREQUENT: [m for m in their_moves if their_moves.count(m) == most][-1],
            AFTER_LAST: after_last,
            AFTER_OWN: after.get(("own", own_move), their_move),
            AFTER_PAIR: after.get(("pair", (own_move, their_move)), after_last),
        }
