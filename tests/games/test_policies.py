"""A policy as text: read, checked, followed, and held against what is played."""

from __future__ import annotations

import json

import msgspec
import pytest

import sally
from sally.core.errors import BadInput, Unreadable
from sally.core.log.events import Instance, Moved, PlayerSpec, Setup
from sally.core.match.drive import Driver
from sally.core.match.engine import Match
from sally.core.registry import registry
from sally.core.rules.game import Seat
from sally.games.repeated_games.policies import move_of_policy, read_policy
from sally.games.tradecraft.actions import NO, PASS, YES, Propose
from sally.games.tradecraft.thresholds import follow_policy as by_thresholds
from sally.games.tradecraft.thresholds import read_thresholds
from sally.models.stub import Fault, Scripted, always, reply_in_order
from sally.players.language import patient
from sally.runner.check import check
from sally.runner.seating import players_of, resolve_setup

GAME = registry.game("ipd").build({"rounds": 6})
TIT_FOR_TAT = {"first": "J", "rules": [{"theirs": ["F"], "then": "F"}], "otherwise": "J"}


def write_text(policy):
    return read_policy(f"Here it is: {json.dumps(policy)}", GAME, "agent")


def agent(model: Scripted, name: str, **params):
    registry.add("models", name, lambda _: model)
    return PlayerSpec("policy_writer", {"model": name, **params})


def moves(episode, seat):
    return [e.action for e in episode.events if isinstance(e, Moved) and e.seat == seat]


def test_policy_matches_rules_over_their_history_length():
    two = write_text(
        {
            "first": "J",
            "rules": [
                {"theirs": ["F", "F"], "then": "F"},
                {"mine": ["F"], "theirs": ["*"], "then": "J"},
            ],
            "otherwise": "J",
        }
    )
    assert move_of_policy(two, GAME, "agent", []) == 0
    assert move_of_policy(two, GAME, "agent", [(0, 1)]) == 0
    assert move_of_policy(two, GAME, "agent", [(0, 1), (0, 1)]) == 1
    assert move_of_policy(two, GAME, "agent", [(0, 1), (1, 0)]) == 0


@pytest.mark.parametrize(
    ("policy", "why"),
    [
        ({"first": "X", "otherwise": "J"}, "'X' is not one of J or F"),
        ({"first": "J"}, "otherwise"),
        ({"first": "J", "otherwise": "J", "rules": [{"then": "F"}]}, "needs"),
        ({"first": "J", "otherwise": "J", "code": "import os"}, "code"),
        ({"first": "J", "otherwise": "J", "rules": [{"theirs": ["F"] * 11, "then": "F"}]}, "look"),
        ({"first": "J", "otherwise": "J", "rules": [{"theirs": ["F"], "then": "F"}] * 51}, "most"),
    ],
)
def test_invalid_policy_is_refused_with_the_reason(policy, why):
    with pytest.raises(Unreadable, match=why):
        write_text(policy)


def test_policy_is_written_once_and_run():
    spec = agent(always(json.dumps(TIT_FOR_TAT)), "writer")
    lineup = {"agent": spec, "partner": "random"}
    episode = sally.play("ipd", lineup, rounds=6)
    their_moves = moves(episode, "partner")
    assert moves(episode, "agent") == [0, *their_moves[:-1]]
    assert sum(len(e.calls) for e in episode.events) == 1
    assert check([episode]).mismatches == []
    assert sally.score([episode], ["follows_policy"])[0]["value"] == 1.0


def test_policy_with_swapped_labels_uses_the_labels_of_the_page():
    swapped = {"first": "F", "rules": [{"theirs": ["J"], "then": "J"}], "otherwise": "F"}
    spec = agent(always(json.dumps(swapped)), "swapper", pack="repeated_games_swapped")
    episode = sally.play("ipd", {"agent": spec, "partner": "random"}, rounds=6)
    assert moves(episode, "agent") == [0, *moves(episode, "partner")[:-1]]


def test_follows_policy_detects_play_against_the_own_policy():
    model = reply_in_order([json.dumps(TIT_FOR_TAT), *["Option: F"] * 6])
    lineup = {"agent": agent(model, "preacher", then="play"), "partner": "single_action"}
    episode = sally.play("ipd", lineup, rounds=6)
    assert moves(episode, "agent") == [1] * 6
    assert sally.score([episode], ["follows_policy"])[0]["value"] == 0.0
    assert check([episode]).mismatches == []


def test_unreadable_policy_is_a_forfeit_and_requested_again():
    replies = ["no idea"] * 3 + [json.dumps(TIT_FOR_TAT)]
    lineup = {"agent": agent(reply_in_order(replies), "slow"), "partner": "single_action"}
    episode = sally.play("ipd", lineup, rounds=3)
    assert [type(e).__name__ for e in episode.events if e.seat == "agent"] == [
        "Forfeited", "Moved", "Moved",
    ]  # fmt: skip


# --- thresholds for offers ------------------------------------------------------------------------

TRADER = {
    "worth": {"raw iron": 8, "coal": 4, "birch plank": 2},
    "accept": 1.5, "offer": 0.5, "want": ["raw iron"],
}  # fmt: skip
START = registry.game("tradecraft").build({})
FIRST = START.observe(START.start(), START.seats[0])


def thresholds(**changed):
    return read_thresholds(json.dumps({**TRADER, **changed}), FIRST.items)


def proposed(offer, request):
    proposal = Propose("p1", offer, request)
    return msgspec.structs.replace(FIRST, phase="decide", proposer=Seat("p2"), proposal=proposal)


def test_offer_is_accepted_at_or_above_the_threshold():
    two_for_one = proposed((("raw_iron", "1"),), (("coal", "1"),))
    even = proposed((("coal", "1"),), (("coal", "1"),))
    gift = proposed((), (("coal", "1"),))
    assert [by_thresholds(thresholds(), v) for v in (two_for_one, even, gift)] == [YES, NO, NO]
    assert by_thresholds(thresholds(accept=1), even) == YES


def test_proposal_offers_the_most_valuable_good_within_the_limit():
    action = by_thresholds(thresholds(), FIRST)
    assert isinstance(action, Propose) and action.request == (("raw_iron", "1"),)
    ((given, amount),) = action.offer
    limit = TRADER["offer"] * TRADER["worth"]["raw iron"]
    assert amount == "1" and thresholds().worth.get(given, 0) <= limit
    assert by_thresholds(thresholds(want=[]), FIRST) == PASS


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"worth": {"a dragon": 3}}, "none of the goods"),
        ({"worth": {"coal": 11}}, "worth 0 to 10"),
        ({"accept": -1}, "from 0 to 10"),
        ({"code": "import os"}, "code"),
        ({"want": ["a dragon"]}, "none of the goods"),
    ],
)
def test_invalid_thresholds_are_refused_with_the_reason(changed, why):
    with pytest.raises(Unreadable, match=why):
        thresholds(**changed)


def test_threshold_trader_follows_its_policy_and_replays():
    lineup = {"p1": agent(always(json.dumps(TRADER)), "trader"), "p2": "generous"}
    episode = sally.play("tradecraft", lineup, max_turns=4)
    assert sum(len(e.calls) for e in episode.events) == 1
    assert check([episode]).mismatches == []
    follows = sally.score([episode], ["follows_policy"])
    assert [row["value"] for row in follows if row["seat"] == "p1"] == [1.0]


def test_policy_writer_retries_as_configured_and_replays():
    faults = iter([Fault("server", "oops")] * 4)
    model = Scripted(lambda *_: next(faults, json.dumps(TIT_FOR_TAT)))
    sits = {"agent": agent(model, "tired"), "partner": PlayerSpec("random")}
    setup = resolve_setup(Setup(Instance("ipd-2", "ipd", {"rounds": 2}), 1, sits))
    match = Match(registry.game("ipd"), setup)
    players = {seat: patient(player, 5) for seat, player in players_of(match, setup.lineup).items()}
    Driver(match, players).run()
    written_first = match.episode().events[0]
    assert [call.failure for call in written_first.calls] == ["server"] * 4 + [""]
    assert check([match.episode()]).mismatches == []


def test_policy_writer_requires_a_model_and_valid_then():
    for params, reason in (
        ({}, "name the model"),
        ({"model": "embedded", "then": "sing"}, "value of `then`"),
    ):
        with pytest.raises(BadInput, match=reason):
            sally.play("ipd", {"agent": PlayerSpec("policy_writer", params), "partner": "random"})
