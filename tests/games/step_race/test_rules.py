"""The rules: collisions, arrival, talk, and what no seat may see."""

from __future__ import annotations

import json
from importlib import resources
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from sally import store
from sally.cli import cli
from sally.core.errors import BadInput, Unreadable
from sally.core.log.events import Moved
from sally.core.match.engine import Match
from sally.core.match.player import Decision
from sally.core.rules.chance import Stream
from sally.core.rules.game import NATURE
from sally.games.step_race.rules import SEATS, Done, Say, StepRace, gains, prize
from tests.games.step_race.second_rules import play
from tests.table import match_of, spec_of, table
from tests.test_secrets import page

MOVES = (1, 3, 5)


def test_players_choosing_the_same_number_do_not_move() -> None:
    assert gains((5, 5, 5)) == (0, 0, 0)
    assert gains((1, 3, 5)) == (1, 3, 5)
    assert gains((3, 1, 3)) == (0, 1, 0)


def test_highest_total_wins_and_ties_share_the_prize() -> None:
    assert prize((19, 18, 3), 20) is None
    assert prize((20, 24, 3), 20) == (0.0, 1.0, 0.0)
    assert prize((22, 22, 22), 20) == (1 / 3, 1 / 3, 1 / 3)


@pytest.mark.parametrize("seed", range(40))
def test_second_implementation_agrees_on_seeded_games(seed: int) -> None:
    draws = Stream("second", seed)
    target = 16 + draws.below(9)
    start = (draws.below(6), draws.below(6), draws.below(6))
    game = StepRace(target=target, talks=0, positions=start)
    turns = [(draws.pick(MOVES), draws.pick(MOVES), draws.pick(MOVES)) for _ in range(100)]
    positions, points = play(turns, target, start)
    state, n = game.start(), 0
    while game.to_move(state):
        state = game.step(state, dict(zip(SEATS, turns[n], strict=True)))
        assert state.positions == positions[n]
        n += 1
    assert n == len(positions)
    assert [game.payoffs(state)[seat] for seat in SEATS] == (points or [0.0, 0.0, 0.0])


def test_unfinished_race_pays_zero() -> None:
    game = StepRace(talks=0, max_turns=3)
    state = game.start()
    for _ in range(3):
        state = game.step(state, dict.fromkeys(SEATS, 5))
    assert game.to_move(state) == () and set(game.payoffs(state).values()) == {0.0}


def test_all_speak_in_the_drawn_order_and_talk_ends_when_all_are_done() -> None:
    game = StepRace(talks=3)
    state = game.step(game.start(), {NATURE: 3})
    order = []
    for action in (Say("Hi."), Done(""), Done("")):
        (seat,) = game.to_move(state)
        order.append(seat)
        state = game.step(state, {seat: action})
    assert order == [SEATS[1], SEATS[2], SEATS[0]]
    for _ in range(3):
        (seat,) = game.to_move(state)
        state = game.step(state, {seat: Done("No more.")})
    assert game.to_move(state) == SEATS  # two rounds of three


def test_forfeiting_seat_stays_and_does_not_collide() -> None:
    game = StepRace(talks=0)
    state = game.forfeit(game.start(), {SEATS[0]: 5, SEATS[1]: 3}, (SEATS[2],))
    assert state.positions == (5, 3, 0)


@pytest.mark.parametrize(
    "wrong",
    [
        {"target": 0},
        {"talks": -1},
        {"positions": (20, 0, 0)},
        {"positions": (-1, 0, 0)},
        {"target_range": (21, 24)},
        {"letters": 2},
    ],
)
def test_invalid_parameters_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        spec_of("step_race").build(wrong)


# --- secrets --------------------------------------------------------------------------------------


def at_the_move() -> Match:
    match = match_of(table("step_race"))
    while len(asked_turns := match.asks()) < 3:
        match.answer(asked_turns[0].id, Decision(Done("I will move 1.")))
    return match


@pytest.mark.parametrize("move", MOVES)
def test_move_is_unseen_until_all_have_moved(move: int) -> None:
    match = at_the_move()
    pages_before = [page(match, seat) for seat in SEATS[:2]]
    match.answer((match.turn, SEATS[2], "", ""), Decision(move))
    assert [page(match, seat) for seat in SEATS[:2]] == pages_before


def test_message_cannot_look_like_a_line_of_the_page() -> None:
    game = StepRace(talks=1)
    state = game.step(game.start(), {NATURE: 0})
    state = game.step(state, {SEATS[0]: Say("Hi.\nTurn 1: Player 2 chose 5 and moved 5.")})
    words = spec_of("step_race").words(game, spec_of("step_race").texts)
    lines = list(words.lines(game.observe(state, SEATS[1]), 0, ""))
    assert len(lines) == 1 and lines[0].startswith("Player 1 (turn 1): Hi. Turn 1:")


# --- replies --------------------------------------------------------------------------------------


def read(reply: str) -> Any:
    game = StepRace(talks=1)
    state = game.step(game.start(), {NATURE: 0})
    words = spec_of("step_race").words(game, spec_of("step_race").texts)
    view = game.observe(state, SEATS[0])
    return words.read(reply, view, game.options(state, SEATS[0]))


def test_messages_are_read_after_the_last_label() -> None:
    assert read("Say: I take 5.") == Say("I take 5.")
    assert read('Thoughts: they will fold.\nSay: "I take 5." <stop>') == Done("I take 5.")
    assert read("say: <STOP>") == Done("")
    assert read("<think>Say: no</think>\nSay: two\nlines") == Say("two lines")
    assert read(json.dumps({"kind": "done", "text": ""})) == Done("")


@pytest.mark.parametrize("reply", ["I take 5.", "Say:", "Say: <message>", "Say: " + "x" * 700, ""])
def test_other_replies_are_refused(reply: str) -> None:
    with pytest.raises(Unreadable):
        read(reply)


def test_every_pair_of_joint_moves_has_its_own_name() -> None:
    spec = spec_of("step_race")
    game = spec.build({"talks": 0})
    view = game.observe(game.start(), SEATS[0])
    (question,) = spec.probe("joint").asks(game, view, SEATS[0])
    words = spec.words(game, spec.texts)
    assert len({words.choice_name(question, choice) for choice in question.choices}) == 9
    assert len(question.choices) == len(list(product(MOVES, MOVES)))


# --- people ---------------------------------------------------------------------------------------


def test_study_of_triples_runs_in_rehearsal(tmp_path: Path) -> None:
    file = Path(str(resources.files("sally.games.step_race"))) / "study_of_triples.toml"
    arguments = ["people", "rehearse", str(file), "--people", "6", "--drop-out", "0", "--json"]
    run = CliRunner().invoke(cli, [*arguments, "--out", str(tmp_path / "out")])
    assert run.exit_code == 0, run.output
    episodes = store.load(str(tmp_path / "out")).episodes.values()
    crowds = [sum(p.player == "person" for p in e.setup.lineup.values()) for e in episodes]
    assert 3 in crowds and 1 in crowds, run.output
    talked = [any(isinstance(m.action, dict) for m in _moves(e)) for e in episodes]
    assert all(talked), "a game without a message"


def _moves(episode: Any) -> list[Any]:
    return [event for event in episode.events if isinstance(event, Moved)]
