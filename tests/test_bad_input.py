"""Bad input: one clear sentence on what is wrong and what would be right; nothing is written."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import sally
from sally import store
from sally.core.errors import BadInput
from sally.core.log.events import Injection, Instance, PlayerSpec, Setup
from sally.core.registry import registry
from sally.core.registry.study import Cell, Study, grid, instance, player_spec
from sally.players.language import uses_model
from sally.runner.local import play
from sally.runner.run import run_study
from sally.runner.seating import kinds, portable, resolve_setup
from tests.table import seat

BOTS = {"agent": "random", "partner": "tit_for_tat"}


def refuse(reason: BadInput) -> str:
    """The message, which must be one sentence of one line with nothing of the machine in it."""
    text = str(reason)
    assert "\n" not in text and text.rstrip().endswith((".", "?")), text
    assert "Traceback" not in text and "object at 0x" not in text and "`$" not in text, text
    return text


@pytest.mark.parametrize(
    ("game", "params", "why"),
    [
        ("ipd", {"rounds": 0}, "rounds"),
        ("ipd", {"rounds": -3}, "rounds"),
        ("ipd", {"rounds": 2.5}, "rounds"),
        ("ipd", {"rounds": "many"}, "rounds"),
        ("ipd", {"rounds": True}, "rounds"),
        ("ipd", {"round": 5}, "did you mean rounds"),
        ("ipd", {"stop_chance": 1.5}, "stop_chance"),
        ("ipd", {"stop_chance": float("nan")}, "stop_chance"),
        ("ipd", {"matrix": [[[1, 1], [1, 1], [1, 1]], [[1, 1], [1, 1]]]}, "ragged"),
        ("ipd", {"matrix": [[[1, 1], [1, 1]], [[1, 1], [1]]]}, "matrix"),
        ("ipd", {"matrix": []}, "at least two moves"),
        ("ipd", {"matrix": [[]]}, "at least two moves"),
        ("ipd", {"matrix": [[[1, 1], [1, 1]], [[1, 1], [1, float("inf")]]]}, "not finite"),
        ("ipd", {"matrix": [[[1, 1], [1, 1]], [[1, 1], [1, float("nan")]]]}, "not finite"),
        ("ipd", {"names": ["J", "J"]}, "distinct"),
        ("ipd", {"names": ["J", "j"]}, "distinct"),
        ("ipd", {"names": ["J", " J"]}, "distinct"),
        ("ipd", {"names": ["J", "*J*"]}, "distinct"),
        ("ipd", {"names": ["J"]}, "1 names for 2 moves"),
        ("ipd", {"names": ["J", ""]}, "empty"),
        ("ipd", {"names": ["J", "F\nOption: J"]}, "line break"),
        ("ipd", {"void_limit": 0}, "void_limit"),
        ("cups", {"peek_chance": -0.1}, "peek_chance must be from 0 to 1"),
        ("haggle", {"offers": 0}, "offers at least 1"),
    ],
)
def test_impossible_parameter_is_named(game: str, params: dict[str, Any], why: str) -> None:
    with pytest.raises(BadInput, match=why) as error:
        registry.game(game).build(params)
    assert game in refuse(error.value)


@pytest.mark.parametrize(
    ("game", "params"),
    [
        ("tradecraft", {"ruleset": 10**5000}),
        ("battery", {"generator": "file", "file": "x", "hash": 10**5000}),
    ],
)
def test_number_in_place_of_a_file_is_refused_before_the_file_is_read(
    game: str, params: dict[str, Any]
) -> None:
    with pytest.raises(BadInput, match="not a number of about many digits") as error:
        portable(Instance(game, game, params))
    refuse(error.value)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"game": "ipdd"}, "There is no game named 'ipdd'; did you mean"),
        ({"game": ""}, "There is no game named ''; the (known names|nearest of)"),
        ({"lineup": {"agent": "random"}}, "Seat 'partner' of ipd has no player"),
        ({"lineup": {**BOTS, "judge": "random"}}, "no seat of ipd named 'judge'"),
        ({"lineup": {**BOTS, "agent": "radnom"}}, "did you mean random"),
        ({"lineup": {**BOTS, "agent": ("constant", {"plaec": 1})}}, "did you mean place"),
        ({"lineup": {**BOTS, "agent": ("single_action", {"action": 7})}}, "from 0 to 1, not 7"),
        ({"probes": {"agent": ["their_moves"]}}, "did you mean"),
        ({"probes": {"agnet": ["their_move"]}}, "did you mean agent"),
        ({"injections": [Injection(seat("agent"), "nothing")]}, "no probe of ipd named 'nothing'"),
        ({"retries": -1}, "retries must be at least 0"),
        ({"lineup": {**BOTS, "nature": "random"}}, "nature"),
    ],
)
def test_unplayable_arguments_are_refused_before_the_first_move(
    change: dict[str, Any], why: str
) -> None:
    request_fields: dict[str, Any] = {"game": "ipd", "lineup": BOTS, "rounds": 3, **change}
    with pytest.raises(BadInput, match=why) as error:
        sally.play(request_fields.pop("game"), request_fields.pop("lineup"), **request_fields)
    refuse(error.value)


@pytest.mark.parametrize(
    ("game", "at", "name", "params", "why"),
    [
        ("wavelength", "guesser", "own_dial", {"then_shift": "x"}, "do not define a dial"),
        ("wavelength", "guesser", "own_dial", {"then_lean": -1}, "a lean from 0 to 50"),
        ("wavelength", "psychic", "own_dial", {"then_who": 2.5}, "do not define a dial"),
        ("codenames", "giver", "associates", {"then_kind": "x"}, "do not define a mind"),
        ("taboo", "guesser", "associates", {"then_amount": 11}, "must be from 0 to 10"),
        ("taboo", "giver", "associates", {"until": "x"}, "until must be a whole number"),
        ("codenames", "giver", "associates", {"most": None}, "most must be a whole number"),
        ("codenames", "guesser", "associates", {"most": []}, "most must be a whole number"),
        ("rps", "agent", "win_stay_lose_shift", {"aspiration": "x"}, "aspiration must be a number"),
        ("rps", "agent", "bayes_adaptive", {"pool": []}, "pool must list partners"),
        ("bargaining", "buyer", "planner", {"params": "x"}, "params must be the parameters"),
        ("battery", "reader", "reader_of_depth", {"k": None}, "k must be a whole number"),
        ("battery", "reader", "skips", {"what": []}, "what must be the name of a part"),
        ("cipher", "encoder", "crossing", {"width": "x"}, "width of crossing must be at least 1"),
        ("public_goods", "player_1", "conditional_cooperator", {"slope": None}, "slope must be a"),
        ("step_race", "player_1", "rotator", {"offset": 2.5}, "offset must be a whole number"),
        ("step_race", "player_1", "planner", {"others": "x"}, "others must be two players"),
        ("toma_mg", "player", "reasoner", {"depth": -1}, "depth must be a whole number"),
        ("toma_po", "player", "reasoner", {"depth": None}, "depth must be a whole number"),
    ],
)
def test_wrong_parameters_of_partners_are_refused_before_the_first_move(
    game: str, at: str, name: str, params: dict[str, Any], why: str
) -> None:
    lineup: dict[str, Any] = dict.fromkeys(registry.game(game).build({}).seats, "random")
    with pytest.raises(BadInput, match=f"{name} in seat '{at}': .*{why}") as error:
        sally.play(game, {**lineup, at: (name, params)})
    refuse(error.value)


ODD = (
    *(10**309, -(10**309), 10**400, 10**6000, 2**63, 2**64, -(2**63) - 1, 1e308, -1e308),
    *(float("inf"), float("-inf"), float("nan"), 0, -1, 1.5, True, None, "", "x", "\ud800"),
    *([], [10**400], [[]], [None], {}, {"a": 10**400}, {"": []}, {"\ud800": 1}, "9" * 400),
)


@pytest.mark.parametrize("seed", range(3))
def test_mutated_parameters_are_refused_in_one_sentence_or_played(seed: int) -> None:
    """A hundred games with one parameter of the game or of a player changed; no traceback."""
    draw, names = random.Random(seed), sorted(registry.entries("games"))
    refusals = 0
    for _ in range(100):
        spec = registry.game(draw.choice(names))
        game = spec.build({})
        lineup = {str(at): PlayerSpec("random") for at in game.seats}
        params, value = {}, draw.choice(ODD)
        players = {n: list(k.params) for n, k in kinds(spec).items() if k.params}
        if draw.random() < 0.5:
            params = {draw.choice(spec.parameters): value}
        else:
            name = draw.choice(sorted(players))
            at = draw.choice(sorted(lineup))
            lineup[at] = PlayerSpec(name, {draw.choice(players[name]): value})
        try:
            setup = Setup(Instance(spec.name, spec.name, params), 1, lineup)
            ready = resolve_setup(setup, open_models=False)
            if not any(map(uses_model, ready.lineup.values())) and value not in (1e308, -1e308):
                play(ready)
        except BadInput as why:
            refuse(why)
            refusals += 1
    assert refusals >= 30  # all hundred may be refused, depending on the registered players


def bad_studies() -> list[tuple[str, Cell]]:
    bots = grid(agent=player_spec("random"), partner=player_spec("random"))
    first = (instance("ipd", rounds=3),)
    oracle = (Injection(seat("agent"), "their_move"), Injection(seat("partner"), "their_move"))
    return [
        ("There is no game named 'idp'", Cell("c", (instance("idp"),), bots)),
        ("rounds", Cell("c", (instance("ipd", "none", rounds=0),), bots)),
        (
            "no player of ipd",
            Cell("c", first, grid(agent=player_spec("x"), partner=player_spec("random"))),
        ),
        ("no probe of ipd", Cell("c", first, bots, arms={"agent": ("x",)})),
        ("cannot both be told the truth", Cell("c", first, bots, injections=oracle)),
        (
            "Seat 'partner' of ipd has no player",
            Cell("c", first, grid(agent=player_spec("random"))),
        ),
    ]


@pytest.mark.parametrize(("why", "cell"), bad_studies())
def test_study_that_cannot_run_writes_nothing(tmp_path: Path, why: str, cell: Cell) -> None:
    fine = Cell(
        "fine",
        (instance("ipd", rounds=3),),
        grid(agent=player_spec("random"), partner=player_spec("random")),
    )
    out = tmp_path / "deep" / "out"
    with pytest.raises(BadInput, match=why) as error:
        run_study(Study("s", "", (fine, cell)), out)  # the good cell is not begun, either
    refuse(error.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("count", [0, 10**400])
def test_counts_out_of_bounds_are_refused_in_one_sentence(count: int) -> None:
    with pytest.raises(BadInput, match="episodes must be from 1 to") as error:
        sally.audit("rps", episodes=count)
    refuse(error.value)
    with pytest.raises(BadInput, match="repeats must be at least 2") as error:
        sally.reproduce("riemer2025:1", repeats=count)
    refuse(error.value)


def test_long_unknown_names_are_not_repeated_whole() -> None:
    with pytest.raises(BadInput, match="There is no game named") as error:
        sally.play("x" * 100_000, BOTS)
    assert len(refuse(error.value)) < 1_000


def test_missing_store_is_named(tmp_path: Path) -> None:
    for path in (tmp_path / "nowhere", tmp_path / "no" / "where"):
        with pytest.raises(BadInput, match="where"):
            sally.load(path)
    with pytest.raises(BadInput, match="neither a store nor a file"):
        store.load_file(tmp_path / "nowhere")
    assert list(tmp_path.iterdir()) == []


def mine(turn: Any) -> int:
    return 0


@pytest.mark.parametrize(
    ("game", "lineup", "why"),
    [
        ("ipd", {"agent": mine}, "Seat 'partner' of ipd has no player"),
        ("ipd", {"agent": mine, "partner": "random", "judge": "random"}, "judge"),
        ("ipd", {"agent": mine, "partner": "radnom"}, "did you mean random"),
        ("ipd", {"agent": mine, "judge": mine}, "judge"),
        ("haggle", {"ada": mine, "bo": "random"}, "Seat 'cy' of haggle has no player"),
    ],
)
def test_custom_player_needs_a_complete_lineup(game: str, lineup: dict[str, Any], why: str) -> None:
    with pytest.raises(BadInput, match=why) as error:
        sally.play(game, lineup)
    refuse(error.value)


def test_illegal_move_of_custom_player_is_refused() -> None:
    with pytest.raises(BadInput, match="not among the options"):
        sally.play("ipd", {"agent": lambda turn: 5, "partner": "random"}, rounds=2)


RAISING = """
from sally.core.match.player import PlayerKind
from sally.core.match.partner import Partner

FOR = "repeated_games"


def fail(*args, **params):
    raise KeyError("nothing here")


MODEL = fail
PARTNERS = {"failing": Partner("failing", "for a test", "ours", fail)}
"""


def test_factory_of_a_users_file_that_raises_is_named(tmp_path: Path) -> None:
    file = tmp_path / "raises_when_made.py"
    file.write_text(RAISING)
    registry.add_file(file)
    for name, reason in (
        ("failing", "failing in seat 'partner' cannot be made: KeyError: 'nothing here'"),
        (
            ("language", {"model": "raises_when_made"}),
            "'raises_when_made' cannot be made: KeyError",
        ),
    ):
        with pytest.raises(BadInput, match=reason) as error:
            sally.play("rps", {"agent": "random", "partner": name}, rounds=1)
        refuse(error.value)
