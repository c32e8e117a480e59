"""Setting a table for tests: any game of the shelf, in any of the shapes below."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sally.core.log.events import Injection, Instance, PlayerSpec, Setup
from sally.core.registry import registry
from sally.core.rules.game import GameSpec, Seat
from sally.testing.bench import SHORT, Arms, Bench
from sally.testing.bench import answered_by as answered_by
from sally.testing.bench import asked_in_turn as asked_in_turn
from sally.testing.bench import match_of as match_of
from sally.testing.bench import play_episode as play_episode
from sally.testing.bench import play_in_any_order as play_in_any_order
from sally.testing.bench import players_at as players_at

Spec = GameSpec

# Other shapes of the games on the shelf that every rule of conduct must hold for, too.
SHAPES: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "repeated_games, unlike seats": (
        "repeated_games",
        {
            "matrix": [[[1, 2], [3, 4], [5, 6]], [[6, 5], [4, 3], [2, 1]]],
            "names": ["Tea", "Milk"],
            "partner_names": ["Cup", "Glass", "Mug"],
        },
    ),
    "ipd, chance to stop": ("ipd", {"stop_chance": 0.3}),
    "beauty_contest, five players": (
        "beauty_contest",
        {"pays": {"kind": "contest", "players": 5, "share": "4/3"}, "rounds": 3},
    ),
    "elicitation, threshold of five": (
        "elicitation",
        {
            "menu": ["C", "D", "L"],
            "pays": {"kind": "threshold_of_five", "threshold": 4, "loners_in": 0.5},
            "questions": [
                {
                    "ask": "same_move",
                    "options": ["C", "D", "L"],
                    "kind": "counts",
                    "truth": [12, 9, 9],
                    "bears": "peer payoff",
                }
            ],
        },
    ),
    "elicitation, linear public good": (
        "elicitation",
        {
            "menu": [str(n) for n in range(6)],
            "pays": {"kind": "linear_public_good", "tokens": 5, "players": 4, "back": 0.4},
            "questions": [
                {
                    "ask": "others_mean",
                    "options": [0, 5],
                    "kind": "number",
                    "truth": 2.5,
                    "bears": "payoff",
                }
            ],
        },
    ),
    "mindgames, discrete": ("mindgames", {"variant": "discrete_game"}),
    "haggle, no secrets": ("haggle", {"secret_turns": 0}),
    "hanabi, three players": ("hanabi_small", {"players": 3, "score": "kept"}),
    "tradecraft, three players": (
        "tradecraft",
        {
            "ruleset": "alchemy",
            "hands": [
                {"clay": 2, "ember": 1, "moonlight": 1},
                {"ember": 1, "flint": 1},
                {"dew": 1, "salt": 2, "seed": 1},
            ],
            "targets": [{"pale_crystal": 1}, {"shard": 1}, {"shoot": 1}],
        },
    ),
}


# Whatever these write is a message; what is wrong with it the rules say, and send it back.
SENT_BACK = {("mindgames, discrete", "persuader")}


# These differ from another game of their family in numbers only.
ALIKE = {"hanabi_mini", "hanabi_small", "repeated_games", "ibs"}


def unlike_games() -> list[str]:
    """The games of the shelf by name, one of several that are alike."""
    return [name for name in registry.games() if name not in ALIKE]


def every() -> list[str]:
    """The games of the shelf that are not alike, and the shapes above."""
    return [*unlike_games(), *SHAPES]


def problem_of(name: str) -> Instance:
    """A small instance of a game."""
    game, params = SHAPES.get(name, (name, {}))
    known_parameters = registry.game(game).parameters
    short = {name: n for name, n in SHORT.items() if name in known_parameters}
    return Instance(name, game, {**short, **params})


def bench(name: str) -> Bench:
    """Where a game or a shape of one is checked."""
    sent_back = frozenset(seat for game, seat in SENT_BACK if game == name)
    elsewhere = frozenset({"next_pick"} if name == "step_race" else ())  # in silent races only
    return Bench(
        problem_of(name),
        sent_back,
        all_probes_scored=name not in SHAPES,
        probes_elsewhere=elsewhere,
    )


def spec_of(name: str) -> Spec:
    return registry.game(problem_of(name).game)


def all_probes(name: str) -> Arms:
    """The arm in which every seat is asked everything."""
    return bench(name).all_probes


def table(
    name: str,
    seed: int = 1,
    *,
    arms: Arms | None = None,
    injections: tuple[Injection, ...] = (),
    player: str = "random",
    **lineup: PlayerSpec,
) -> Setup:
    """A setup with `player` in every seat that the lineup does not fill."""
    return bench(name).table(seed, arms=arms, injections=injections, player=player, lineup=lineup)


def seat(name: str) -> Seat:
    return Seat(name)
