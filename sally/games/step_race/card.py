"""The card of the step race: players that follow a fixed rule, each paired with a player that
follows the inverse rule.

Some rules always choose the same number (5, 3 or 1), some are habits (such as repeating the last
number), and one is the equilibrium of a single turn. The rule `follower` believes announcements: it
takes the largest number that neither of the others announced (the protocol's `free_of_announced`).
Some partners keep their word and others break it, so blind trust is right in some conditions and
wrong in others.
"""

from __future__ import annotations

from sally.core.log.events import Instance
from sally.core.registry.study import instance, player_spec
from sally.core.rules.card import Card, Condition, Shortcut
from sally.games.step_race.certified_tables import CertifiedProblem, read_certified

METRICS = ("reward", "doing_win", "doing_steps", "collision_rate")


ALWAYS = tuple(
    Shortcut(player_spec("always", move=move), player_spec("never", move=move))
    for move in (5, 3, 1)
)
HABITS = (
    Shortcut(player_spec("free_of_last"), player_spec("not_free_of_last")),
    Shortcut(player_spec("repeat_own_last"), player_spec("switch_own_last")),
    Shortcut(player_spec("stage_equilibrium"), player_spec("uniform")),
)
LISTENING = (Shortcut(player_spec("follower"), player_spec("hits_announced")),)  # free_of_announced


def _condition(problem: CertifiedProblem) -> Condition:
    return Condition(
        name=problem.id,
        instances=(Instance(problem.id, "step_race", dict(problem.params)),),
        seat=problem.seat,
        others=dict(problem.others),
        shortcuts=(*ALWAYS, *HABITS, *LISTENING),
        metrics=METRICS,
        chance={"reward": problem.uniform},
    )


def _liars() -> Condition:
    """Return the condition with two partners that break their announcements, which a mindless
    listener believes."""
    liar = player_spec("keeper", p=0.0)
    return Condition(
        name="two that break their word",
        instances=(instance("step_race", "step_race-liars", talks=1),),
        seat="player_1",
        others={"player_2": liar, "player_3": liar},
        shortcuts=(*ALWAYS, *LISTENING),
        metrics=METRICS,
    )


CARD = Card(
    family="step_race",
    about="fixed numbers, habits and blind trust against the certified pairs of partners",
    unattacked="nothing is generated: what is right depends on the two partners, which the "
    "certified pairs take in turn",
    conditions=(*map(_condition, read_certified()), _liars()),
)
