"""Studies of bargaining in which models play against scripted partners.

Recorded play shows what models did; these studies also ask them for predictions as they play.
"""

from __future__ import annotations

from sally.core.registry.study import Cell, Study, grid, instance, player_spec
from sally.games.bargaining.instances import frozen
from sally.players.language import OPEN

PROBES = ("their_value", "would_trade_at", "their_quote", "will_keep", "their_guess_of_my_value")
PARTNERS = tuple(
    player_spec(name)
    for name in ("truthful", "clock", "responsive", "splitter", "grim", "announcer", "liar")
)
VALUES = ((70, 30), (55, 20), (90, 60), (45, 10))


def study(model: str = OPEN, rounds: int = 20) -> Study:
    """Return a study of a model in either seat against every declared partner, with and without
    talk."""
    agents = (
        player_spec("random"),
        player_spec("copy_last_capped"),
        player_spec("language", model=model, strategy="qa"),
    )
    cells = []
    for seat, across in (("buyer", "seller"), ("seller", "buyer")):
        for talk in ("simultaneous", "none"):
            problems = tuple(
                instance(
                    "bargaining",
                    f"bargaining-{value}-{cost}-{talk}",
                    value=value,
                    cost=cost,
                    talk=talk,
                    rounds=rounds,
                )
                for value, cost in VALUES
            )
            asked_probes = tuple(p for p in PROBES if talk != "none" or p != "will_keep")
            cells.append(
                Cell(
                    f"{seat}, talk {talk}",
                    problems,
                    grid(**{seat: agents, across: PARTNERS}),
                    arms={seat: asked_probes},
                )
            )
    return Study(
        name="bargaining",
        about="a model against declared bargaining partners, asked what it knows as it plays",
        cells=tuple(cells),
        paper="pact",
        seed=2026,
    )


def certified_study(model: str = OPEN) -> Study:
    """Return the study of the problems by depth: what no model of the partner, a forecast, or
    a plan for its reactions earns there is known."""
    agents = (player_spec("random"), player_spec("language", model=model, strategy="qa"))
    cells = tuple(
        Cell(
            problem.id,
            (problem.instance(),),
            tuple({problem.seat: agent, **problem.across} for agent in agents),
            arms={problem.seat: ("their_quote",)},
        )
        for problem in frozen().problems
    )
    return Study(
        name="bargaining_certified",
        about="problems that need no model of the partner, a forecast, or a plan for its reactions",
        cells=cells,
        paper="pact",
        seed=2026,
    )


STUDIES = (study(), certified_study())
