"""Declared = behaved: lines of play, memory and automata of every partner on the shelf."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from math import sqrt
from typing import Any

import pytest

from sally.core.errors import BadInput
from sally.core.log.events import PlayerSpec
from sally.core.match.partner import Line, Partner, Script
from sally.core.match.player import Turn
from sally.core.match.seat_context import SeatContext
from sally.core.registry import registry
from sally.core.rules.chance import Stream
from sally.core.rules.game import Seat
from sally.games.repeated_games.rules import AGENT, PARTNER, Joint, RepeatedGame
from tests.table import play_episode, table

FAMILY: Mapping[str, Partner] = {  # all that play; whoever was recorded elsewhere does not
    name: who for name, who in registry.partners("repeated_games").items() if not who.helps
}
GAMES = ("rps", "ibs", "ipd")
Past = Sequence[Joint | None]  # (the agent's move, the partner's); None: a void round
DRAWS = 60

LINES = [(name, line) for name, partner in FAMILY.items() for line in partner.lines]
every_partner = pytest.mark.parametrize("name", FAMILY)
every_automaton = pytest.mark.parametrize("name", [n for n, p in FAMILY.items() if p.automaton])


@cache
def game_of(name: str, rounds: int = 40) -> RepeatedGame:
    game = registry.game(name).build({"rounds": rounds})
    assert isinstance(game, RepeatedGame)
    return game


def make_one(partner: Partner, game: RepeatedGame, seat: Seat, params: Any = None) -> Script | None:
    """The partner at this game, or None if it does not play it."""
    try:
        return partner.make(game, seat, **(params or {}))
    except BadInput as why:
        if "install" in str(why):
            pytest.skip(str(why))
        return None


def moves(
    script: Script,
    name: str,
    game: RepeatedGame,
    seat: Seat,
    past: Past,
    seeds: Iterable[int] = range(DRAWS),
) -> list[int]:
    """What a script plays after a past, with each of some seeds."""
    state = game.start()
    for joint in past:
        if joint is None:
            state = game.forfeit(state, {}, (AGENT,))
        else:
            state = game.step(state, {AGENT: joint[0], PARTNER: joint[1]})
    spec, id = registry.game(name), (len(past), seat, "", "")
    view, options = game.observe(state, seat), game.options(state, seat)
    chosen = [
        script(Turn(id, SeatContext(spec, game, seat, seed), view, options)) for seed in seeds
    ]
    assert set(chosen) <= set(options)
    return chosen


def random_past(game: RepeatedGame, rounds: int, draws: Stream) -> list[Joint | None]:
    agent, partner = (game.moves_of(seat) for seat in (AGENT, PARTNER))
    return [(draws.pick(agent), draws.pick(partner)) for _ in range(rounds)]


@cache
def settings_of(name: str) -> Mapping[str, Any]:
    """Its defaults; for a partner that has none, what its first line of play uses."""
    partner = FAMILY[name]
    if any(make_one(partner, game_of(game), PARTNER) for game in GAMES) or not partner.lines:
        return {}
    return partner.lines[0].params


def tables(name: str) -> list[tuple[str, RepeatedGame, Seat, Script]]:
    """Every game and seat that a partner plays, with its script."""
    results = []
    for game_name in GAMES:
        game = game_of(game_name)
        for seat in (AGENT, PARTNER):
            script = make_one(FAMILY[name], game, seat, settings_of(name))
            if script is not None:
                results.append((game_name, game, seat, script))
    return results


@every_partner
def test_every_partner_fits_a_game_and_declares_a_line_of_play(name: str) -> None:
    assert tables(name)
    assert FAMILY[name].lines


@pytest.mark.parametrize(("name", "line"), LINES)
def test_declared_lines_of_play_are_played(name: str, line: Line) -> None:
    game = game_of(line.game)
    script = make_one(FAMILY[name], game, PARTNER, line.params)
    assert script is not None
    assert len(line.against) == len(line.plays)
    past: list[Joint | None] = []
    their_indexes = [game.names_of(AGENT).index(letter) for letter in line.against]
    for number, letter in enumerate(line.plays):
        (chosen,) = moves(script, line.game, game, PARTNER, past, seeds=[1])
        if letter == "?":  # drawn; what the line says further on may depend on it
            chosen = chosen if chosen in game.moves_of(PARTNER) else -1
        else:
            text = "".join(game.names_of(PARTNER)[j[1]] for j in past if j)
            assert game.names_of(PARTNER)[chosen] == letter, f"after {text!r} ({number})"
        past.append((their_indexes[number], chosen))


@pytest.mark.parametrize("name", [n for n, p in FAMILY.items() if p.memory is not None])
def test_partner_depends_only_on_its_declared_memory(name: str) -> None:
    """Two pasts that end in the same m rounds give the same move, however they began."""
    m = FAMILY[name].memory
    assert m is not None
    for game_name, game, seat, script in tables(name):
        for case in range(6):
            draws = Stream("memory", name, case)
            tail = random_past(game, m, draws)
            joint, two = ([*random_past(game, 4, draws), *tail] for _ in range(2))
            assert moves(script, game_name, game, seat, joint) == moves(
                script, game_name, game, seat, two
            )
            longer = [*random_past(game, 7, draws), *tail]
            assert same_odds(
                moves(script, game_name, game, seat, joint),
                moves(script, game_name, game, seat, longer),
            )


@every_automaton
def test_void_round_does_not_change_an_automaton(name: str) -> None:
    for game_name, game, seat, script in tables(name):
        past = random_past(game, 5, Stream("void", name))
        holed = [*past[:2], None, *past[2:], None]
        assert same_odds(
            moves(script, game_name, game, seat, past), moves(script, game_name, game, seat, holed)
        )


def same_odds(first: list[int], two: list[int]) -> bool:
    """Whether two samples may come from one lottery; two sure moves that differ never do."""
    return all(abs(first.count(m) - two.count(m)) < 5 * sqrt(DRAWS / 2) for m in {*first, *two})


@every_automaton
def test_automaton_and_script_play_the_same(name: str) -> None:
    """Along random play, what is drawn has the odds that the automaton gives."""
    partner = FAMILY[name]
    assert partner.automaton is not None
    for game_name, game, seat, script in tables(name):
        machine = partner.automaton(game, seat, **settings_of(name))
        draws = Stream("automaton", name, game_name, seat)
        state, past = machine.start, list[Joint | None]()
        for number in range(12):
            odds = machine.odds(state)
            assert sum(odds.values()) == pytest.approx(1)
            drawn_moves = moves(script, game_name, game, seat, past)
            for choice in game.moves_of(seat):
                p = odds.get(choice, 0.0)
                slack = 5 * sqrt(DRAWS * p * (1 - p)) + 1e-9
                assert abs(drawn_moves.count(choice) - DRAWS * p) <= slack, (
                    game_name,
                    seat,
                    number,
                )
            own = draws.draw({m: p for m, p in odds.items() if p > 0})
            their = draws.pick(game.moves_of(PARTNER if seat == AGENT else AGENT))
            past.append((own, their) if seat == AGENT else (their, own))
            state = machine.after(state, own, their)
            hash(state)


@pytest.mark.parametrize("seed", range(3))
@every_partner
def test_partner_plays_whole_games_without_hidden_state(name: str, seed: int) -> None:
    for game_name, *_ in tables(name)[:2]:
        player = PlayerSpec(name, dict(settings_of(name)))
        setup = table(game_name, seed, agent=player, partner=player)
        assert play_episode(setup).events == play_episode(setup).events


def test_partners_of_the_fixtures_play() -> None:
    result = play_episode(table("cups", 1, hider=PlayerSpec("sly"), seeker=PlayerSpec("sly")))
    assert result.payoffs == {"hider": 1.0, "seeker": 0.0}  # nobody peeked: the swap worked
    assert play_episode(table("haggle", 1, player="plain_dealer")).payoffs is not None
