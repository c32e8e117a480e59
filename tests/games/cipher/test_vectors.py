"""Every test vector of the protocol, and a second implementation beside ours."""

from __future__ import annotations

import json
from itertools import product
from math import log2
from pathlib import Path
from typing import Any

import pytest

from sally.games.association.minds import Mind, tie
from sally.games.cipher.listeners import (
    CODES,
    Listener,
    Position,
    best_hints,
    bits,
    decoder_odds,
    digits,
    likeliest,
    listener_odds,
    value_hints,
)
from sally.games.cipher.partners import MENUS
from sally.games.cipher.rules import Cipher, Hinted, Over, Record, Revealed
from tests.games.association.tables import played
from tests.games.cipher import reference

VECTORS: Any = json.loads((Path(__file__).parent / "vectors.json").read_text())
PLAIN = Mind()
NEAR = 2e-6  # vectors have six decimals
ROUNDED = 5.1e-5  # whole games have four decimals
# The vectors were computed with sums in single precision, in which 26,438 of the 9.9 million
# association strengths have another third decimal. A Bayesian listener multiplies many of them.
MULTIPLIED = 1e-3


def position(keywords: list[str], filed: list[list[str]], used: list[int], code: int) -> Position:
    remaining_codes = tuple(c for c in CODES if c not in used)
    return Position(tuple(keywords), tuple(map(tuple, filed)), remaining_codes, code)


def ending(played: int, missed: int, caught: int) -> str | None:
    record = Record(played=played, miscommunications=missed, interceptions=caught)
    return Cipher().ending(record)


@pytest.mark.parametrize("step", VECTORS["steps"], ids=lambda step: str(step["code"]))
def test_three_rounds_with_all_odds(step: Any) -> None:
    current_position = position(VECTORS["keywords"], step["filed"], step["used"], step["code"])
    ties = [[tie(PLAIN, h, k) for k in current_position.keywords] for h in step["hints"]]
    assert ties == [pytest.approx(row, abs=1e-6) for row in step["ties"]]
    read = decoder_odds(
        PLAIN, current_position.keywords, step["hints"], current_position.codes_left
    )
    heard = listener_odds(
        Listener("history"), current_position.filed, step["hints"], current_position.codes_left
    )
    for odds, expected_decoder in ((read, step["decoder"]), (heard, step["interceptor"])):
        for code, chance in zip(current_position.codes_left, odds, strict=True):
            assert chance == pytest.approx(expected_decoder.get(str(code), 0.0), abs=NEAR)
    assert bits(heard) == pytest.approx(step["bits"], abs=NEAR)
    inferred = listener_odds(
        Listener("bayes"), current_position.filed, step["hints"], current_position.codes_left
    )
    assert bits(inferred) == pytest.approx(step["bayes_bits"], abs=NEAR)
    assert inferred[current_position.codes_left.index(current_position.code)] == pytest.approx(
        step["bayes_true"], abs=NEAR
    )
    assert list(best_hints(PLAIN, Listener("history"), current_position).hints) == step["best"]


@pytest.mark.parametrize("name", VECTORS["games"])
def test_whole_games(name: str) -> None:
    game = VECTORS["games"][name]
    encoder, _, interceptor = name.partition(",")[0].split(" ")
    listener = Listener("bayes" if interceptor == "bayes" else "history")
    near = MULTIPLIED if interceptor == "bayes" else ROUNDED
    filed: list[list[str]] = [[], [], [], []]
    used: list[int] = []
    missed = caught = 0
    for code, hints, decoder, guess, p_decoder, p_interceptor, entropy in game["rounds"]:
        current_position = position(game["keywords"], filed, used, code)
        if encoder == "crossing":
            assert list(best_hints(PLAIN, listener, current_position).hints) == hints
        else:
            menus = [MENUS[encoder](PLAIN, current_position, digit) for digit in digits(code)]
            assert all(hint in menu for hint, menu in zip(hints, menus, strict=True))
        heard = listener_odds(listener, current_position.filed, hints, current_position.codes_left)
        assert (
            likeliest(
                decoder_odds(PLAIN, current_position.keywords, hints, current_position.codes_left),
                current_position.codes_left,
            )
            == decoder
        )
        assert likeliest(heard, current_position.codes_left) == guess
        value = value_hints(PLAIN, listener, current_position, hints)
        assert value.decoded == pytest.approx(p_decoder, abs=ROUNDED)
        assert value.intercepted == pytest.approx(p_interceptor, abs=near)
        assert bits(heard) == pytest.approx(entropy, abs=near)
        for digit, hint in zip(digits(code), hints, strict=True):
            filed[digit - 1].append(hint)
        used.append(code)
        missed, caught = missed + (decoder != code), caught + (guess == code)
    assert [missed, caught] == game["tokens"]
    assert ending(len(used), missed, caught) == game["end"]


@pytest.mark.parametrize("row", VECTORS["ends"], ids=str)
def test_endings(row: Any) -> None:
    assert ending(row["after"], row["miscommunications"], row["interceptions"]) == row["end"]


def chance_of_ends(decoder_is_right: bool) -> dict[str, float]:
    """How games end if any code left is guessed, counted out over all ways."""
    fields = {"mean rounds": 0.0}
    states = {(0, 0, 0): 1.0}
    while states:
        values_after: dict[tuple[int, int, int], float] = {}
        for (n, missed, caught), weight in states.items():
            p = 1 / (len(CODES) - n)
            right = 1.0 if decoder_is_right else p
            for wrong, hit in product((False, True), repeat=2):
                odds = weight * (1 - right if wrong else right) * (p if hit else 1 - p)
                now = (n + 1, missed + wrong, caught + hit)
                end = ending(*now)
                if end is None:
                    values_after[now] = values_after.get(now, 0.0) + odds
                elif odds:
                    fields[end] = fields.get(end, 0.0) + odds
                    fields["mean rounds"] += odds * now[0]
        states = {now: weight for now, weight in values_after.items() if weight}
    return fields


@pytest.mark.parametrize("name", ["decoder always right", "decoder random"])
def test_vectors_of_random_guessing(name: str) -> None:
    result = chance_of_ends(name == "decoder always right")
    for end, share in VECTORS["chance"][name].items():
        assert result.get(end, 0.0) == pytest.approx(share, abs=1e-6)


def test_chances_and_bits_of_a_guess_by_round() -> None:
    rounds_left = [len(CODES) - n for n in range(8)]
    assert [1 / n for n in rounds_left] == pytest.approx(
        VECTORS["chance"]["interception a round"], abs=1e-6
    )
    assert [log2(n) for n in rounds_left] == pytest.approx(
        VECTORS["chance"]["bits a round"], abs=1e-6
    )
    assert reference.chance_of_random_interceptor() == pytest.approx(0.055958, abs=1e-6)


# --- the second implementation --------------------------------------------------------------------

LINEUPS = [
    ("nearest", "by_keywords", "by_history"),
    ("nearest", "by_history", "by_bayes"),
    ("same", "by_keywords", "by_bayes"),
    ("same", "by_bayes", "random"),
    ("top16", "by_keywords", "by_history"),
    ("random", "by_keywords", "by_bayes"),
    ("random", "random", "random"),
    ("crossing", "by_keywords", "by_history"),
]
EPISODES = 3  # of four games with every lineup: 96 games


def as_code(number: int) -> tuple[int, ...]:
    return digits(number)


def differences(lineup: tuple[str, str, str], row: int) -> tuple[int, int]:
    """How many games were compared, and in how many facts ours and the reference differ."""
    seats = dict(zip(("encoder", "decoder", "interceptor"), lineup, strict=True))
    actual_lineup = {seat: (player, {}) for seat, player in seats.items()}
    match = played("cipher", {"number": row}, **actual_lineup)
    log, problems = match.replay.states[-1].log, match.replay.game.row
    games, differ, team = 0, 0, 0
    game, hints = reference.Game(list(problems[0].keywords)), list[str]()
    for number, event in enumerate(log):
        if isinstance(event, Hinted):
            hints = list(event.hints)
        elif isinstance(event, Revealed):
            code = as_code(event.code)
            differ += code in game.used
            if seats["encoder"] in ("nearest", "same", "crossing"):
                differ += hints != reference.hints_of(seats["encoder"], game, code)
            if seats["encoder"] == "top16":
                menus = [reference.unsaid(game, digit, 16) for digit in code]
                differ += any(h not in menu for h, menu in zip(hints, menus, strict=True))
            for seat, decoder in (("decoder", event.decoder), ("interceptor", event.interceptor)):
                if seats[seat] != "random":
                    differ += reference.guess(seats[seat], game, hints) != as_code(decoder)
            game.reveal(code, hints, as_code(event.decoder), as_code(event.interceptor))
            differ += bool(game.end) != isinstance(log[number + 1], Over)
        elif isinstance(event, Over):
            differ += event.how != game.end
            team += 1 if game.end == "survived" else -1
            games += 1
            if games < len(problems):
                game = reference.Game(list(problems[games].keywords))
    payoffs = match.episode.payoffs
    differ += payoffs != {"encoder": team, "decoder": team, "interceptor": -team}
    return games, differ


@pytest.mark.parametrize("lineup", LINEUPS, ids=" ".join)
def test_games_equal_those_of_a_second_implementation(lineup: tuple[str, str, str]) -> None:
    actual_differences = [differences(lineup, row) for row in range(EPISODES)]
    assert sum(games for games, _ in actual_differences) == 4 * EPISODES
    assert sum(differ for _, differ in actual_differences) == 0


def test_comparison_finds_a_planted_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference, "HEAT", 5.0)
    assert differences(LINEUPS[7], 0)[1] > 0
