"""One game of random legal moves, played by our rules and by OpenSpiel's side by side."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from sally.core.rules.chance import Stream
from sally.games.hanabi.rules import Hanabi
from sally.games.hanabi.state import State, shuffle_cards

COLOURS = "RYGWB"  # the order of the Hanabi Learning Environment


class Shown(NamedTuple):
    """What both engines show of a state."""

    legal: tuple[int, ...]
    piles: tuple[int, ...]
    tokens: int
    lives: int
    left: int
    discards: tuple[str, ...]
    hands: tuple[tuple[str, ...], ...]
    known: tuple[tuple[str, ...], ...]  # colours and ranks that hints leave open, by card


def difference(pyspiel: Any, params: Mapping[str, Any], players: int, deal: int) -> str | None:
    """The first point at which the two engines differ, or None if they never do."""
    game = Hanabi(players=players, score="zero", **params)
    peer = loaded(pyspiel, game).new_initial_state()
    deck = shuffle_cards(game.cards, deal)
    state, draws = game.dealt(deck), Stream("differential", deal)
    dealt = 0
    for turn in range(1_000):
        while peer.is_chance_node():
            peer.apply_action(deck[dealt])
            dealt += 1
        is_over = game.is_over(state)
        if is_over != peer.is_terminal():
            return f"turn {turn}: over {is_over}, theirs {peer.is_terminal()}"
        ours, theirs = _ours(game, state, is_over), _theirs(game, peer)
        if ours != theirs:
            return f"turn {turn}: {ours}, theirs {theirs}"
        score = game.payoffs(state)[game.seats[0]]
        if score != peer.returns()[0]:
            return f"turn {turn}: score {score}, theirs {peer.returns()[0]}"
        if is_over:
            return None
        action = draws.pick(ours.legal)
        state = game.step(state, {game.seats[state.mover]: action})
        peer.apply_action(action)
    return "the game did not end"


def loaded(pyspiel: Any, game: Hanabi) -> Any:
    """OpenSpiel's game with our parameters."""
    return pyspiel.load_game(
        "hanabi",
        {
            "players": game.players,
            "colors": game.colours,
            "ranks": game.ranks,
            "hand_size": game.hand_size,
            "max_information_tokens": game.hints,
            "max_life_tokens": game.lives,
        },
    )


def _ours(game: Hanabi, state: State, is_over: bool) -> Shown:
    def card(number: int) -> str:
        return f"{COLOURS[number // game.ranks]}{number % game.ranks + 1}"

    def open_in(mark: int) -> str:
        colours = "".join(COLOURS[c] for c in range(game.colours) if mark >> c & 1)
        ranks = (r for r in range(game.ranks) if mark >> game.colours + r & 1)
        return colours + "".join(str(r + 1) for r in ranks)

    return Shown(
        () if is_over else game.options(state, game.seats[state.mover]),
        state.piles,
        state.tokens,
        state.lives,
        len(state.deck) - state.drawn,
        tuple(sorted(card(c) for c, n in enumerate(state.gone) for _ in range(n))),
        tuple(tuple(map(card, hand)) for hand in state.hands),
        tuple(tuple(map(open_in, row)) for row in state.marks),
    )


def _theirs(game: Hanabi, peer: Any) -> Shown:
    text = str(peer)
    held = text.partition("Hands:\n")[2].partition("Deck size")[0].replace("Cur player\n", "")
    rows = [re.findall(r"^(\w\d) \|\| ..\|(\w+)$", hand, re.M) for hand in held.split("-----\n")]
    fireworks = _after(text, "Fireworks: ").split()
    return Shown(
        () if peer.is_terminal() else tuple(peer.legal_actions()),
        tuple(int(pile[1]) for pile in fireworks),
        int(_after(text, "Info tokens: ")),
        int(_after(text, "Life tokens: ")),
        int(_after(text, "Deck size: ")),
        tuple(sorted(_after(text, "Discards: ?").split())),
        tuple(tuple(card for card, _ in row) for row in rows),
        tuple(tuple(known for _, known in row) for row in rows),
    )


def _after(text: str, label: str) -> str:
    match = re.search(rf"{label}(.*)", text)
    assert match is not None
    return match.group(1)
