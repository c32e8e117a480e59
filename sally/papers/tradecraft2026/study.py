"""tradecraft2026 as studies: one model against itself, and every trader against every trader.

In the first study, all seats report their own values (order 0). In two of its three groups, the
first player also reports what it believes about the partner's values (order 1), and in one of these
what it believes that the partner believes (order 2).
"""

from __future__ import annotations

from sally.core.log.events import Injection, PlayerSpec
from sally.core.registry.study import Cell, Study, grid, player_spec
from sally.games.tradecraft.problems import problems, spread
from sally.games.tradecraft.spec import GROUPS
from sally.players.language import OPEN

TRADERS = ("zero_order", "first_order", "second_order", "hoarder", "generous", "random")
SETS = {
    "minecraft_core": "minecraft_core_2p_2",
    "alchemy": "alchemy_2p",
    "invented": "invented_2p",
}

CROSSPLAY = Study(
    name="tradecraft_crossplay",
    about="zero-, first- and second-order traders, a hoarder, a giver and chance, each with each",
    cells=tuple(
        Cell(
            name=name,
            instances=problems(chosen),
            lineups=grid(p1=tuple(map(player_spec, TRADERS)), p2=tuple(map(player_spec, TRADERS))),
        )
        for name, chosen in SETS.items()
    ),
    seed=2026,
)


SET, INSTANCES_PLAYED, REPEATS = "minecraft_core_2p_2", 20, 1  # Section 4: the first 20 of 40
# The paper's own 40 problems are not all public; ours are certified, and drawn from the four grades
# in turn, so that the first 20 hold five of each. Players look recipes up, as in the paper.
LOOKED_UP = {"book": False}
# The published play has up to 8 failed crafts and 4 invalid proposals in a row; none may forfeit.
MOST_REFUSED = 8
SET_OF_THREE, THIRD = "minecraft_core_3p_2", "p3"
PLAYER, PARTNER = "p1", "p2"  # the partner reports V0 only, in every group
BOTS = ("second_order", "first_order", "zero_order", "random")


def model_seat(model: str) -> PlayerSpec:
    """Return a model whose prompt contains the dialogue so far."""
    return player_spec("language", model=model, strategy="chat")


def own_reports(seat: str, probes: tuple[str, ...]) -> tuple[Injection, ...]:
    """Return injections of a seat's own reports into its history, without advice on their use."""
    return tuple(Injection(seat, probe, "own", keep=True) for probe in probes)  # type: ignore[arg-type]


def study(model: str = OPEN, played: int = INSTANCES_PLAYED) -> Study:
    """Return the study: three groups of cells with the same model in both seats, a cell in which
    bots play, and cells with three players.

    Without a model, the study holds a placeholder, and the model is chosen when the study runs.
    """
    chosen = spread(SET, played, **LOOKED_UP, most_refused=MOST_REFUSED)
    cells = []
    for group, probes in GROUPS.items():
        arms = {PLAYER: probes, PARTNER: GROUPS["v0"]}
        injections = own_reports(PLAYER, probes) + own_reports(PARTNER, GROUPS["v0"])
        seats = grid(p1=model_seat(model), p2=model_seat(model))
        cells.append(Cell(group, chosen, seats, arms=arms, injections=injections, repeats=REPEATS))
    everything = {PLAYER: (*GROUPS["v0+v1+v2"], "their_target"), PARTNER: GROUPS["v0+v1"]}
    bots = grid(p1=tuple(map(player_spec, BOTS)), p2=player_spec("first_order"))
    cells.append(Cell("bots", chosen, bots, arms=everything))
    cells += three_players(model)
    return Study(
        name="tradecraft2026",
        about="value reports of order 0, 0-1 and 0-2 against a partner that reports order 0; "
        "traders of known order beside them",
        cells=tuple(cells),
        paper="tradecraft2026",
        seed=2026,
    )


def three_players(model: str) -> list[Cell]:
    """Return cells for three players, which Sally adds and no table of the paper includes."""
    chosen = spread(SET_OF_THREE, **LOOKED_UP, most_refused=MOST_REFUSED)
    arms = {PLAYER: GROUPS["v0+v1"], PARTNER: GROUPS["v0"], THIRD: GROUPS["v0"]}
    injections = tuple(
        injection for seat, probes in arms.items() for injection in own_reports(seat, probes)
    )
    models = grid(**dict.fromkeys(arms, model_seat(model)))
    others = dict.fromkeys((PARTNER, THIRD), player_spec("first_order"))
    bots = grid(p1=tuple(map(player_spec, BOTS)), **others)
    return [
        Cell("three players", chosen, models, arms=arms, injections=injections, repeats=REPEATS),
        Cell("three bots", chosen, bots, arms=arms),
    ]


STUDY = study()
STUDIES = (STUDY, CROSSPLAY)
