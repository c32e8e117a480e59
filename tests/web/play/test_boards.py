"""What a seat's browser draws: what it knows, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

import sally.web
from sally.core.display.board import board_of
from sally.core.log.events import Instance, Setup
from sally.core.match.engine import Match
from sally.core.match.player import Decision
from sally.core.registry import registry
from sally.core.rules.board import Board, Part
from sally.core.rules.chance import Stream
from sally.core.rules.game import Seat
from sally.core.rules.menu import example
from sally.games.mindgames import frozen as mindgames_sets
from sally.games.pick_the_right_stuff.frozen import frozen_games
from sally.games.pick_the_right_stuff.locker import Rehearsal
from sally.games.toma.ag.rules import Item
from sally.games.toma.po import game as po
from sally.games.toma.po.rules import known_costs
from sally.games.toma.sw.rules import World
from sally.games.tradecraft.actions import DONE, YES, Craft, Propose


def match_of(game: str, **params: Any) -> Match:
    spec = registry.game(game)
    setup = Setup(Instance(game, game, params), 7, {}, version=spec.version)
    return Match(spec, setup)


def draw_sample(match: Match, seat: str) -> Board:
    view = match.game.observe(match.state, Seat(seat))
    board = board_of(match.context(Seat(seat)), view)
    assert board is not None
    return board


def plain(board: Board) -> Any:
    """The board as a browser gets it."""
    return msgspec.json.decode(msgspec.json.encode(board))


def answer(match: Match, moves: Mapping[str, Any]) -> None:
    for turn in match.asks():
        if turn.seat in moves:
            match.answer(turn.id, Decision(moves[turn.seat]))


# --- every game -----------------------------------------------------------------------------------


@pytest.mark.parametrize("game", sorted(registry.games()))
def test_every_seat_of_every_game_can_be_drawn_at_every_moment(game: str) -> None:
    match, draws = match_of(game), Stream(3, game)
    for _ in range(30):
        for seat in match.game.seats:
            view = match.game.observe(match.state, seat)
            board = board_of(match.context(seat), view)
            if board is not None:
                assert board.parts
                msgspec.json.encode(board)
        for turn in match.asks():
            match.answer(turn.id, Decision(example(turn.options, draws)))
        if match.over:
            return


def test_every_shipped_family_has_its_own_board() -> None:
    ours = {spec.family for spec in registry.games().values() if "sally" in spec.game.__module__}
    assert {name for name in ours if registry.part(name, "board") is None} == set()


def test_browser_script_draws_every_kind_of_board_part() -> None:
    script = Path(sally.web.__path__[0]) / "static" / "boards.js"
    (known_match,) = re.findall(r"const DRAW = \{ (.*) \};", script.read_text())
    kinds = {str(kind.__struct_config__.tag) for kind in Part.__subclasses__()}
    assert set(known_match.split(", ")) == kinds


# --- what a seat knows ----------------------------------------------------------------------------


def test_payoffs_are_drawn_from_the_seats_perspective() -> None:
    match = match_of("ibs")
    table = plain(draw_sample(match, "partner"))["parts"][0]
    assert table["columns"] == ["J", "F"]
    assert [[cell["text"] for cell in row["cells"]] for row in table["rows"]] == [
        ["7 / 10", "0 / 0"],
        ["0 / 0", "10 / 7"],
    ]


def test_last_round_and_past_are_drawn_from_the_seats_perspective() -> None:
    match = match_of("ipd")
    answer(match, {"agent": 0, "partner": 1})
    showdown, payoffs, rounds = plain(draw_sample(match, "partner"))["parts"]
    assert [side["choice"] for side in showdown["sides"]] == ["F", "J"]
    assert payoffs["rows"][1]["cells"][0]["mark"] == "last"
    assert [row["cells"][0]["text"] for row in rounds["rows"]] == ["F", "J"]


def test_locker_board_marks_no_box() -> None:
    locker = plain(draw_sample(match_of("pick_the_right_stuff"), "manager"))["parts"][0]
    assert {box["mark"] for box in locker["boxes"]} == {""}
    assert [box["holds"] for box in locker["boxes"]].count("") == 0


def test_recipes_are_on_the_board_only_with_the_book() -> None:
    assert len(draw_sample(match_of("tradecraft"), "p1").parts) == 2
    assert len(draw_sample(match_of("tradecraft", book=False), "p1").parts) == 1


def test_recipe_is_ready_if_the_own_hand_suffices() -> None:
    recipes = {
        seat: {
            r["text"]: r["ready"]
            for r in plain(draw_sample(match_of("tradecraft"), seat))["parts"][1]["recipes"]
        }
        for seat in ("p1", "p2")
    }
    assert recipes["p1"]["1 iron ingot -> 9 iron nuggets"] is True
    assert recipes["p2"]["1 iron ingot -> 9 iron nuggets"] is False
    assert recipes["p1"]["2 iron ingots -> 1 pair of shears"] is False  # it has one
    assert "1 stick + 1 string -> 1 bow" not in recipes["p1"]  # no string can come to the table


# --- secrets: two states that differ only in X look the same to seat Y ----------------------------


def test_private_rules_of_users_are_not_drawn() -> None:
    instance = frozen_games("infinite_2", 5)[0]
    script = tuple(move for move in instance.script if not isinstance(move, Rehearsal))
    instance = msgspec.structs.replace(instance, script=script)
    other_instance = msgspec.structs.replace(
        instance, rules=(*instance.rules[1:], instance.rules[0])
    )
    assert instance.rules != other_instance.rules
    boards = [
        draw_sample(match_of("pick_the_right_stuff", problem=p), "manager")
        for p in (instance, other_instance)
    ]
    assert boards[0] == boards[1]


def test_rows_unknown_to_a_role_are_not_drawn() -> None:
    scenario = next(s for s in po.frozen_scenarios().values() if s.level == 1)
    unknown = next(a for a, row in enumerate(known_costs(scenario)) if row is None)
    changed = (11, 12, 13, 14)
    other_scenario = msgspec.structs.replace(
        scenario,
        costs=tuple(changed if a == unknown else row for a, row in enumerate(scenario.costs)),
    )
    boards = [
        draw_sample(match_of("toma_po", scenario=s, matrix="known"), "player")
        for s in (scenario, other_scenario)
    ]
    assert scenario.costs != other_scenario.costs
    assert boards[0] == boards[1]


def test_listener_board_hides_the_word_and_the_other_hint() -> None:
    items = [
        Item("bank", "keeps your savings", "edge of a river"),
        Item("branch", "keeps your savings", "part of a tree"),
        Item("bank", "lends money", "edge of a river"),
    ]
    first, word, hint = (match_of("toma_ag", item=item) for item in items)
    assert draw_sample(first, "teammate") == draw_sample(word, "teammate")
    assert draw_sample(first, "opponent") == draw_sample(hint, "opponent")
    assert draw_sample(first, "speaker") != draw_sample(word, "speaker")


def test_map_shows_a_seat_only_what_it_knows() -> None:
    marks = ((0, 0), (1, 1), (2, 2))
    plain = World(marks, (3, 3), (0, 3), "1234")
    treasure = msgspec.structs.replace(plain, treasure=(3, 0))
    hidden = World(marks, (3, 1), (3, 0), "9876")
    renamed = msgspec.structs.replace(hidden, landmarks=(marks[2], marks[0], marks[1]))
    first, moved, other_match, swapped = (
        match_of("toma_sw", world=world) for world in (plain, treasure, hidden, renamed)
    )
    # password, treasure, where B is
    assert draw_sample(first, "guide") == draw_sample(other_match, "guide")
    assert draw_sample(first, "explorer") == draw_sample(moved, "explorer")  # the treasure
    assert draw_sample(first, "eavesdropper") == draw_sample(swapped, "eavesdropper")  # and names
    assert draw_sample(first, "explorer") != draw_sample(other_match, "explorer")


def test_target_values_are_drawn_only_in_revealed_condition() -> None:
    puzzle = mindgames_sets.puzzle("standard", 0)
    other_puzzle = msgspec.structs.replace(
        puzzle,
        target_values=tuple(-v for v in puzzle.target_values),
        hidden=puzzle.hidden[:-1],
        initial=puzzle.trap,
        trap=puzzle.initial,
        winning=(),
    )
    for condition, same in (("hidden", True), ("revealed", False)):
        boards = [
            draw_sample(match_of("mindgames", puzzle=p, condition=condition), "persuader")
            for p in (puzzle, other_puzzle)
        ]
        assert (boards[0] == boards[1]) is same


def test_target_board_hides_hidden_cells() -> None:
    puzzle = mindgames_sets.puzzle("standard", 0)
    row, column = puzzle.hidden[0]
    flipped = [list(r) for r in puzzle.utilities]
    flipped[row][column] = (flipped[row][column] + 2) % 3 - 1
    other_puzzle = msgspec.structs.replace(puzzle, utilities=tuple(map(tuple, flipped)))
    assert puzzle.utilities != other_puzzle.utilities
    boards = [
        draw_sample(match_of("mindgames", puzzle=p), "target") for p in (puzzle, other_puzzle)
    ]
    assert boards[0] == boards[1]


def test_target_of_another_player_is_not_drawn() -> None:
    match = match_of("tradecraft", targets=[{"shears": 1}, {"torch": 1}])
    other_match = match_of("tradecraft", targets=[{"shears": 1}, {"lever": 1}])
    assert draw_sample(match, "p1") == draw_sample(other_match, "p1")
    assert draw_sample(match, "p2") != draw_sample(other_match, "p2")


def test_crafts_of_another_player_are_not_drawn_before_the_phase_ends() -> None:
    crafts = (
        Craft((("iron_ingot", "1"),), "iron_nugget", 9),
        Craft((("birch_planks", "1"),), "birch_button", 1),
    )
    boards = []
    for craft in crafts:
        match = match_of("tradecraft")
        answer(match, {"p1": Propose("p2", (("sand", "1"),), ())})
        answer(match, {"p2": YES})
        answer(match, {"p1": craft, "p2": DONE})
        assert match.state.phase == "craft"
        boards.append((draw_sample(match, "p1"), draw_sample(match, "p2")))
    (mine, theirs), (other, same) = boards
    assert mine != other
    assert theirs == same


def test_proposal_to_another_player_is_not_drawn() -> None:
    hands = [{"coal": 2}, {"stick": 2}, {"sand": 1}]
    three = {"hands": hands, "targets": [{"torch": 1}, {"torch": 1}, {"glass": 1}]}
    quiet, trading = match_of("tradecraft", **three), match_of("tradecraft", **three)
    answer(trading, {"p1": Propose("p2", (("coal", "1"),), ())})
    assert draw_sample(trading, "p3") == draw_sample(quiet, "p3")
