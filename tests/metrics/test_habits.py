"""Habits are called by their name, and acting is what they leave unexplained."""

from __future__ import annotations

from itertools import permutations, product

import msgspec
import pytest

import sally
from sally.analysis.profile.profile import ProfileRow
from sally.core.log.events import Instance, Setup
from sally.core.match.engine import Match
from sally.core.match.playback import replay_episode
from sally.core.match.player import Decision, Forfeit, Turn
from sally.core.registry import registry
from sally.core.registry.study import player_spec
from sally.core.rules.game import Seat
from sally.core.rules.metric import Played
from sally.core.rules.probe import ProbeReport
from sally.frames.measured_seat import MeasuredSeat, measure_episode
from sally.games.repeated_games.rules import AGENT, PARTNER
from sally.metrics.habits import METRICS, key_presses
from tests.analysis.profiles import profile_of, sums_of

CYCLER = ("previous_move_plus", {"follow": 1.0})


class Bot(msgspec.Struct, frozen=True):
    """Foresees that the partner repeats its last move, or goes `ahead` of it; moves by a rule."""

    rule: str
    ahead: int = 0

    def _last(self, turn: Turn) -> int:
        return 0 if turn.view.last is None else turn.view.last[1]

    def _foreseen(self, turn: Turn) -> int:
        return (self._last(turn) + self.ahead) % len(turn.options)

    def report(self, turn: Turn) -> ProbeReport:
        return ProbeReport(self._foreseen(turn))

    def decide(self, turn: Turn) -> Decision[int]:
        words, menu, game = turn.context.words, turn.options, turn.context.game
        labels, their_texts = words.menu(menu), game.names_of(PARTNER)
        match self.rule:
            case "label":
                return Decision(labels.index("J"))
            case "position":
                return Decision(words.positions(menu).index(0))
            case "imitates":
                return Decision(labels.index(their_texts[self._foreseen(turn)]))
            case "repeats":
                return Decision(labels.index(their_texts[self._last(turn)]))
            case "one move":
                return Decision(0)
            case "stays":  # its own last move, and one of its instance in the first round
                last = turn.view.last
                return Decision(sum(map(ord, labels[0])) % len(menu) if last is None else last[0])
        return Decision(game.best_replies(AGENT, self._foreseen(turn))[0])


def _measured(game: str, bot: Bot, variants: list[dict], partner=CYCLER) -> list[MeasuredSeat]:
    results = []
    for seed, params in enumerate(variants):
        lineup = {"agent": bot, "partner": partner}
        asked_probes = {"agent": ["their_move"]}
        episode = sally.play(game, lineup, seed, probes=asked_probes, rounds=12, **params)
        (m,) = measure_episode(episode, ("agent",))
        problem = msgspec.structs.replace(m.setup.instance, id=f"{game} {seed}")
        setup = msgspec.structs.replace(m.setup, instance=problem)
        results.append(msgspec.structs.replace(m, setup=setup))
    return results


RPS = [
    {"names": names, "order": order}
    for names in permutations(["J", "F", "B"])
    for order in permutations(range(3))
]
IPD = [
    {"names": list(names), "order": list(order)}
    for names, order in product(permutations(["J", "F"]), permutations(range(2)))
] * 2
IBS = [  # the partner's options are called as one's own, or the other way round
    {"names": list(names), "order": list(order), "partner_names": list(theirs)}
    for names, order, theirs in product(
        permutations(["J", "F"]), permutations(range(2)), permutations(["J", "F"])
    )
]


def _row(game: str, bot: Bot, variants: list[dict], partner=CYCLER) -> ProfileRow:
    (row,) = profile_of(_measured(game, bot, variants, partner))
    return row


def test_constant_label_is_reported_as_habit():
    row = _row("rps", Bot("label"), RPS)
    assert (
        row.pooled_label_bias.value == pytest.approx(1)
        and abs(row.pooled_position_bias.value) < 0.05
    )
    assert row.called == "always presses one key: label J of B/F/J in 100 % of 432 moves"
    assert row.acting_beyond.value == pytest.approx(0, abs=0.05)


def test_constant_position_is_reported_as_habit():
    row = _row("rps", Bot("position"), RPS)
    assert (
        row.pooled_position_bias.value == pytest.approx(1)
        and abs(row.pooled_label_bias.value) < 0.05
    )
    assert row.called == "always presses one key: position 1 of 3 in 100 % of 432 moves"


def test_label_and_position_are_confounded_with_one_label_order():
    row = _row("rps", Bot("one move"), [{}] * 6)
    assert "label R of P/R/S in 100 % and position 1 of 3 in 100 %" in row.called
    assert -0.1 < row.acting_beyond.value <= 0


def test_constant_move_under_changing_labels_is_not_a_key_habit():
    """Rock under three letters at three places: neither a letter nor a position is preferred."""
    row = _row("rps", Bot("one move"), RPS)
    assert abs(row.pooled_label_bias.value) < 0.05 and row.called == ""
    assert row.pooled_repetition.value == 100


def test_playing_the_predicted_label_is_reported_as_habit():
    row = _row("rps", Bot("imitates", ahead=1), RPS)
    assert row.pooled_imitation.value == 100 and row.pooled_copying.value == 0
    assert row.called == "plays the label that it predicted of the other in 100 % of 432 moves"
    assert row.consistency.value == 0 and row.acting_beyond.value < 0


def test_copying_the_partners_last_move_is_reported_as_habit():
    row = _row("rps", Bot("repeats", ahead=1), RPS)
    assert row.pooled_copying.value == 100 and row.pooled_imitation.value == 0
    assert row.called.startswith("repeats the other's last move in 100 %")


def test_repeating_the_own_last_move_does_not_act_beyond_repetition():
    """A partner that adapts to a repeated move makes it look like a best reply."""
    row = _row("ipd", Bot("stays"), IPD, ("tit_for_tat", {}))
    assert row.pooled_repetition.value == 100 and abs(row.pooled_label_bias.value) < 0.3
    assert row.acting_beyond_repetition.value is None or row.acting_beyond_repetition.value <= 0


def test_player_that_follows_a_changing_partner_acts_beyond_repetition():
    row = _row("rps", Bot("best", ahead=1), RPS)
    assert row.pooled_repetition.value < 50 and row.acting_beyond_repetition.value == pytest.approx(
        1
    )


def test_acting_beyond_is_blank_where_imitation_is_the_best_reply():
    """In the battle of the sexes with one set of names, to meet is to play the same letter."""
    matches = [variant for variant in IBS if variant["names"] == variant["partner_names"]]
    row = _row("ibs", Bot("imitates"), matches, ("single_action", {"action": 1}))
    assert row.consistency.value == 100 and row.acting_beyond.value is None
    assert row.why["acting_beyond"].startswith("nothing is left to explain: the predicted label")


def test_different_names_per_seat_separate_imitation_from_best_replies():
    constant = ("single_action", {"action": 1})
    imitates, replies = (_row("ibs", Bot(rule), IBS, constant) for rule in ("imitates", "best"))
    assert imitates.acting_beyond.value == pytest.approx(0, abs=0.2)
    assert imitates.acting_beyond.value <= 0
    assert replies.acting_beyond.value == pytest.approx(1)
    # Against a partner that never changes, following predictions looks like repeating oneself.
    assert replies.pooled_repetition.value == pytest.approx(91, abs=0.5) and replies.called == ""
    assert replies.acting_beyond.interval[0] > 0
    assert replies.acting_beyond_repetition.value is None  # it stays, because it wins


def test_player_that_follows_its_predictions_acts_beyond_every_habit():
    row = _row("rps", Bot("best", ahead=1), RPS)
    assert row.consistency.value == 100 and row.acting_beyond.value == pytest.approx(1)
    assert row.called == "" and row.decides == 100


def test_dominant_move_depends_on_no_prediction():
    row = _row("ipd", Bot("best"), [{}] * 6, ("single_action", {"action": 1}))
    assert row.decides == 0 and row.consistency.value == 100


def test_habits_round_trip_through_the_table():
    measured_seats = _measured("rps", Bot("imitates", ahead=1), RPS[:8])
    sums = sums_of(measured_seats)
    assert sums.of("imitated").tolist() == [m.habits.imitated for m in measured_seats]
    codes, presses = sums.encode_json("keys")
    assert [{k: tuple(v) for k, v in presses[code].items()} for code in codes] == [
        m.habits.keys for m in measured_seats
    ]


def test_labels_follow_the_words_pack():
    player = player_spec("language", model="x", pack="repeated_games_swapped")
    spec = registry.game("ipd")
    episode = sally.play("ipd", {"agent": Bot("one move"), "partner": "tit_for_tat"}, rounds=3)
    lineup = {**episode.setup.lineup, "agent": player}
    setup = msgspec.structs.replace(episode.setup, lineup=lineup)
    shown_episode = msgspec.structs.replace(episode, setup=setup)
    plain, packed = (
        key_presses(Played(spec, e, replay_episode(spec, e)), AGENT)[0].label
        for e in (episode, shown_episode)
    )
    assert (plain, packed) == ("J", "F")


def test_metrics_of_one_episode():
    lineup = {"agent": Bot("imitates", ahead=1), "partner": CYCLER}
    episode = sally.play("rps", lineup, 1, probes={"agent": ["their_move"]}, rounds=9)
    spec = registry.game("rps")
    played = Played(spec, episode, replay_episode(spec, episode))
    result = {metric.name: metric.measure(played, AGENT) for metric in METRICS}
    assert result["imitation"] == 1 and result["copying"] == result["repetition"] == 0
    assert result["label_bias"] == result["position_bias"] == pytest.approx((4 - 3) / (9 - 3))


def test_forfeited_round_reveals_no_move_to_copy_and_keeps_the_earlier_ones():
    arms = {"agent": ("their_move",)}
    lineup = {"agent": player_spec("random"), "partner": player_spec("random")}
    instance = Instance("one", "ipd", {"rounds": 5})
    match = Match(registry.game("ipd"), Setup(instance, 1, lineup, arms=arms))
    for own_move, their_move in ((0, 1), (None, 0), (1, 0), (0, 1)):  # copies what it saw last
        for turn in match.asks():
            if turn.question is not None:
                match.answer(turn.id, ProbeReport(0))
        for turn in match.asks():
            move = own_move if turn.seat == AGENT else their_move
            match.answer(turn.id, Forfeit("unreadable") if move is None else Decision(move))
    match.censor("left", "enough", "agent")
    episode = match.episode()
    played = Played(registry.game("ipd"), episode, replay_episode(registry.game("ipd"), episode))
    presses = key_presses(played, AGENT)
    assert [press.chosen for press in presses] == [0, 1, 0]
    assert [press.rules.get("last") for press in presses] == [None, 1, 0]
    assert [press.rules.get("own_last") for press in presses] == [None, 0, 1]


def test_answer_to_one_question_is_no_last_move_in_another():
    given = {"generator": "applied", "length": 8}
    episode = sally.play("battery", {"reader": "random"}, 4, probes={"reader": ["belief"]}, **given)
    spec = registry.game("battery")
    played = Played(spec, episode, replay_episode(spec, episode))
    asked = {report.turn: report.about for report in played.replay.reports.values()}
    presses = [p for p in key_presses(played, Seat("reader")) if p.turn in asked]
    assert len(presses) > 2 and len(set(asked.values())) == len(asked)
    assert all("last" not in press.rules for press in presses)
