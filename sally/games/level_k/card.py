"""Baseline players of level-k games (their card): fixed answers, habits and equilibrium play.

The other seats play each level in turn, and only past rounds reveal the level. No fixed answer may
be right for all levels, which requires two precautions:

- In a contest against players of one level, any number somewhat below theirs wins, and among three
  players even 0 does. So three of the others are of level k and one is of level k + 2: the winning
  number then lies between their numbers, and no number wins for two values of k.
- If the same box were salient in every game, opening it would find half of all hiders, since hiders
  of two of the four levels choose it. So the salient box takes every position in turn.
"""

from __future__ import annotations

from sally.core.log.events import Instance, PlayerSpec
from sally.core.registry.study import instance, player_spec
from sally.core.rules.card import Card, Condition, Shortcut, both_ways
from sally.parts.simple_rules import rule_shortcuts

METRICS = ("depth_regret", "best_reply_percent", "won_per_round")
DEPTHS = range(4)


def _pair(first: int, second: int) -> Shortcut:
    """Return a shortcut that always plays one menu position, with another position as its
    inverse."""
    return Shortcut(player_spec("constant", place=first), player_spec("constant", place=second))


EQUILIBRIUM = both_ways("equilibrium")
HABITS = (
    Shortcut(player_spec("repeater"), player_spec("switcher")),
    Shortcut(player_spec("win_stay_lose_shift"), player_spec("win_shift_lose_stay")),
    *rule_shortcuts(),
)
NUMBERS = (_pair(50, 0), _pair(33, 67), _pair(27, 18))


def _condition(
    name: str,
    instances: tuple[Instance, ...],
    others: dict[str, PlayerSpec],
    shortcuts: tuple[Shortcut, ...],
    seat: str = "player_1",
    chance: dict[str, float] | None = None,
) -> Condition:
    return Condition(
        name=f"{instances[0].game}: {name}",
        instances=instances,
        seat=seat,
        others=others,
        shortcuts=shortcuts,
        metrics=METRICS,
        chance=chance or {},
    )


def _requests() -> list[Condition]:
    """Return the conditions of the request game: against each level, against people's choices, and
    against an equilibrium.

    A fixed number is the best reply to at most one level; against an equilibrium, every number in
    its support is a best reply.
    """
    shortcuts = (_pair(9, 0), _pair(8, 5), *rule_shortcuts(first=9), EQUILIBRIUM)
    against = {f"level {k}": player_spec("level", k=k) for k in DEPTHS}
    further_players = {"people": player_spec("people"), "equilibrium": player_spec("equilibrium")}
    return [
        _condition(name, (instance("eleven_twenty"),), {"player_2": partner}, shortcuts)
        for name, partner in {**against, **further_players}.items()
    ]


def contest_of(k: int) -> tuple[Instance, dict[str, PlayerSpec]]:
    """Return a five-player contest and the four others: three of level k and one of level k + 2."""
    levels = {"player_2": k, "player_3": k, "player_4": k, "player_5": k + 2}
    others = {seat: player_spec("level", k=level) for seat, level in levels.items()}
    return instance("beauty_contest", pays={"kind": "contest", "players": 5}), others


def _contests() -> list[Condition]:
    conditions = []
    for k in DEPTHS:
        problem, others = contest_of(k)
        name = f"level {k}, and one of level {k + 2}"
        conditions.append(_condition(name, (problem,), others, (*NUMBERS, EQUILIBRIUM)))
    return conditions


def rows_of_boxes() -> tuple[Instance, ...]:
    """Return four games with four boxes; a different box is salient in each."""
    labels = ("BAAA", "AABA", "ABAA", "AAAB")
    return tuple(
        instance(
            "hide_and_seek",
            f"hide_and_seek-{row}",
            pays={"kind": "boxes", "labels": list(row), "salient": place},
        )
        for place, row in enumerate(labels)
    )


def _boxes() -> list[Condition]:
    conditions = []
    shortcuts = (_pair(2, 1), EQUILIBRIUM)
    for role, seat, other_seat, even in (
        ("hider", "player_1", "player_2", 0.75),
        ("seeker", "player_2", "player_1", 0.25),
    ):
        for name, partner in {
            **{f"level {k}": player_spec("level", k=k) for k in DEPTHS},
            "equilibrium": player_spec("equilibrium"),
        }.items():
            title, others = f"{role} against {name}", {other_seat: partner}
            chance = {"won_per_round": even}
            conditions.append(_condition(title, rows_of_boxes(), others, shortcuts, seat, chance))
    return conditions


def _pennies() -> list[Condition]:
    shortcuts = (_pair(0, 1), *HABITS, EQUILIBRIUM)
    problem = (instance("matching_pennies"),)
    conditions = [
        _condition(f"{k}-ToM", problem, {"player_2": player_spec("k_tom", k=k)}, shortcuts)
        for k in range(3)
    ]
    # no player can do better or worse against this one
    none = {"depth_regret": 0.0, "won_per_round": 0.0, "best_reply_percent": 100.0}
    even = {"player_2": player_spec("equilibrium")}
    return [*conditions, _condition("equilibrium", problem, even, shortcuts, chance=none)]


CARD = Card(
    family="level_k",
    about="fixed answers, habits and equilibrium play against minds of every depth",
    unattacked="nothing is generated: what is right depends on the level across the table "
    "alone, which the conditions take in turn",
    conditions=(*_requests(), *_contests(), *_boxes(), *_pennies()),
)
