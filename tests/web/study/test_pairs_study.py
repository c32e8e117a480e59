"""The shipped study of certified pairs with people, over HTTP: its order, its pages, its score."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner

import sally
from sally.analysis.pairs.positions import AskedPosition, open_position
from sally.cli import cli
from sally.core.errors import BadInput
from sally.core.registry.recipes import find_recipe
from sally.core.rules.pair import Pair, PairRecipe, QuestionKind
from sally.web.study import export, participants
from sally.web.study.definition import SHIPPED, HumanStudy, read_human_study
from tests.web.participants import Participant, study_server

TEXT = SHIPPED["pairs"].read_text()
FEW = TEXT.replace(
    'games = ["rps", "stag_hunt", "eleven_twenty", "battery", "mindgames", "pick_the_right_stuff"]',
    'games = ["rps", "eleven_twenty", "battery", "mindgames"]',
).replace("count = 24 }", "count = 8 }")
CHECK = ("What another player will do or believe, and what I do", "No")
Answer = Callable[[PairRecipe, Pair, AskedPosition, QuestionKind], Any]


def reason(recipe: PairRecipe, pair: Pair, position: AskedPosition, question: QuestionKind) -> Any:
    predicted = recipe.reason(position.game, position.view, pair.order)
    if question == "know":
        return predicted
    return recipe.best_moves(position.game, position.view, predicted)[0]


def repeat_last_option(
    recipe: PairRecipe, pair: Pair, position: AskedPosition, question: QuestionKind
) -> Any:
    turn = position.asks[question]
    return tuple(turn.options if turn.question is None else turn.question.choices)[-1]


def walk_through(server: Any, study: HumanStudy, name: str, answer: Answer) -> list[str]:
    """Play the whole study as one participant; return the ids of the positions in order."""
    browser = Participant(server, "pairs")
    browser.agree(name).read_on().check(*CHECK)
    running = server.app.state.studies["pairs"]
    people = server.portal.call(running.database.run, participants.everybody, "pairs")
    person = next(person for person in people if person.given == name)
    (condition,) = study.conditions
    assert condition.pairs is not None
    pairs = {pair.id: pair for pair in condition.pairs.pairs}
    plan = study.plan(condition, person.row)
    for planned in plan:
        position = planned.instance.position
        assert position
        pair = pairs[position.pair]
        recipe = find_recipe(pair.game, pair.recipe)
        opened = open_position(recipe, pair, position.member)
        token = browser.seat_token
        while asks := browser.screen(token)["asks"]:
            question: QuestionKind = "know" if asks[0]["kind"] == "probe" else "do"
            expected = msgspec.to_builtins(answer(recipe, pair, opened, question))
            sent = browser.say(token, asks[0], expected)
            assert sent.status_code == 200, (pair.id, question, expected, sent.text, asks[0])
        browser.get()
    browser.survey(how="")
    assert "C1A2B3" in browser.text
    return [planned.instance.id for planned in plan]


def test_people_have_the_score_of_models(tmp_path: Path) -> None:
    file = tmp_path / "study.toml"
    with study_server(tmp_path, FEW) as server:
        study = read_human_study(file)
        orders = [
            walk_through(server, study, "reasoner", reason),
            walk_through(server, study, "constant", repeat_last_option),
        ]
        store = tmp_path / "store"
        server.portal.call(export.put_into_store, server.app.state.studies["pairs"], store)
    for order in orders:
        halves = [{id[:-2] for id in half} for half in (order[:8], order[8:])]
        assert halves[0] == halves[1] and len(halves[0]) == 8
        assert [id[:-2] for id in order[:8]] == [id[:-2] for id in order[8:]]
    assert orders[0] != orders[1]
    evaluation = sally.evaluate(people=store).evaluation
    assert evaluation.player == "2 people"
    assert {(person.knowing, person.doing) for person in evaluation.people} == {(1, 1), (0, 0)}
    assert [game.pairs for game in evaluation.games] == [4, 4, 4, 4]
    run = CliRunner().invoke(
        cli, ["evaluate", "--people", str(store), "--out", str(tmp_path / "o")]
    )
    assert run.exit_code == 0 and "2 people" in run.output, run.output


def test_one_person_is_scored_over_pairs(tmp_path: Path) -> None:
    with study_server(tmp_path, FEW.replace("count = 8 }", "count = 4 }")) as server:
        study = read_human_study(tmp_path / "study.toml")
        walk_through(server, study, "reasoner", reason)
        server.portal.call(export.put_into_store, server.app.state.studies["pairs"], tmp_path / "s")
    evaluation = sally.evaluate(people=tmp_path / "s").evaluation
    assert [game.knowing.j.value for game in evaluation.games if game.knowing] == [1, 1, 1, 1]


def test_shipped_study_has_24_pairs_far_apart() -> None:
    study = read_human_study(Path("pairs"))
    (condition,) = study.conditions
    first_positions = set()
    for row in range(study.orders(condition)):
        places: dict[str, list[tuple[int, int]]] = {}
        for place, planned in enumerate(study.plan(condition, row)):
            position = planned.instance.position
            assert position
            places.setdefault(position.pair, []).append((place, position.member))
        assert len(places) == 24
        assert all(second[0] - first[0] == 24 for first, second in places.values())
        assert all({first[1], second[1]} == {0, 1} for first, second in places.values())
        first_positions.add(tuple(sorted((pair, first[1]) for pair, (first, _) in places.items())))
    assert len(first_positions) == study.orders(condition)


def test_template_and_check_name_the_study() -> None:
    run = CliRunner().invoke(cli, ["people", "template", "pairs"])
    assert run.output == TEXT
    checked = CliRunner().invoke(cli, ["people", "check", "pairs", "--json"])
    (row,) = json.loads(checked.output)["conditions"]
    assert (row["instances"], row["rounds"]) == ("24 pairs", 48)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("count = 24", "count = 25", "pairs.count must be a multiple of the 6 games"),
        ('"battery"', '"chess"', "chess"),
        ('name = "pairs"', 'arms = { agent = ["their_move"] }\nname = "pairs"', "leave out arms"),
    ],
)
def test_bad_pairs_are_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    file = tmp_path / "study.toml"
    head, _, conditions = TEXT.partition("[[conditions]]")
    file.write_text(f"{head}[[conditions]]{conditions.replace(old, new, 1)}")
    with pytest.raises(BadInput, match=message):
        read_human_study(file)
