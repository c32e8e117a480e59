"""kang2026 as a study: four games, five strategies, and injected truths, some of them corrupted.

Settings are those of the paper's Table 8. ToM accuracy comes from probes in the `asked` cells;
tom_cot and tom_guide predict inside their decisions and are not probed.
"""

from __future__ import annotations

from typing import Any

from sally.core.log.events import Injection, Instance, PlayerSpec
from sally.core.registry.study import Cell, Study, grid, instance, player_spec
from sally.core.rules.game import Seat
from sally.games.toma.ag.rules import items
from sally.games.toma.mg.game import frozen_scenarios as mg_scenarios
from sally.games.toma.po.game import frozen_scenarios as po_scenarios
from sally.players.language import OPEN

Arms = dict[str, tuple[str, ...]]
RUNS = 5
MOST_TOKENS = {"toma_po": 2048, "toma_mg": 2048, "toma_sw": 1024, "toma_ag": 512, "ipd": 512}
PROBES = {"toma_po": "their_choice", "toma_mg": "their_place"}
ASKED = ("zero_shot", "cot")  # their predictions come from probes
UNASKED = ("self_consistency", "tom_cot", "tom_guide")
ERRORS = tuple(n / 10 for n in range(11))
RADIO_GAMES = 30  # the paper does not say how many
WORLDS = player_spec("worlds")
HEARS_WORDS = player_spec("embedding", vocabulary_only=True)


def model_at(game: str, model: str, strategy: str) -> PlayerSpec:
    """Return a model under a strategy, with the paper's settings for the game."""
    settings = {"temperature": 0.7, "top_p": 0.95, "max_tokens": MOST_TOKENS[game]}
    return player_spec("language", model=model, strategy=strategy, settings=settings)


def scenarios(game: str, level: int | None = None) -> tuple[Instance, ...]:
    """Return the stored scenarios of toma_po or toma_mg, of one level or of all levels."""
    stored: Any = po_scenarios() if game == "toma_po" else mg_scenarios()
    return tuple(
        instance(game, scenario.id, scenario=scenario.id, level=scenario.level)
        for scenario in stored.values()
        if level in (None, scenario.level)
    )


def one_shot_cells(game: str, levels: range, model: str) -> list[Cell]:
    """Return the cells of Tables 1, 2, 9 and 10, including bots as lower and upper bounds."""
    bots = grid(player=(player_spec("solver"), player_spec("random")))
    cells = []
    for level in levels:
        problems, name = scenarios(game, level), f"{game} L{level}"
        asked_lineups, unasked = (
            grid(player=tuple(model_at(game, model, s) for s in strategies))
            for strategies in (ASKED, UNASKED)
        )
        arms: Arms = {"player": (PROBES[game],)}
        cells += [
            Cell(f"{name}, bots", problems, bots, arms=arms),
            Cell(f"{name}, asked", problems, asked_lineups, arms=arms, repeats=RUNS),
            Cell(name, problems, unasked, repeats=RUNS),
        ]
    return cells


def injected_cells(game: str, model: str) -> list[Cell]:
    """Return the cells of Figures 5b and 9: the others' moves are injected, each wrong with
    probability e.

    The `believer` acts on everything that it is told, so it shows the best possible score at each
    e.
    """
    problems = tuple(scenario for scenario in scenarios(game) if scenario.params["level"] > 0)
    return [
        Cell(
            f"{game}, told with e={error:g}",
            problems,
            grid(player=(player_spec("believer"), model_at(game, model, "zero_shot"))),
            injections=(Injection(Seat("player"), PROBES[game], error=error),),
            repeats=RUNS,
        )
        for error in ERRORS
    ]


def radio_cells(model: str) -> list[Cell]:
    """Return the cells of Figures 6 and 10: a team of one model, and an eavesdropper with exact
    inference."""
    problem = (instance("toma_sw", "toma_sw"),)
    arms: Arms = {"guide": ("ally_action",), "explorer": ("ally_action",)}

    def team(strategies: tuple[str, ...]) -> tuple[dict[str, PlayerSpec], ...]:
        seats = [model_at("toma_sw", model, strategy) for strategy in strategies]
        return tuple(
            {"guide": member, "explorer": member, "eavesdropper": WORLDS} for member in seats
        )

    taking_turns, sweeping = player_spec("turn_taker"), player_spec("sweeper")
    bots = grid(
        guide=(taking_turns, player_spec("leaky"), player_spec("talker"), player_spec("silent")),
        explorer=(taking_turns, player_spec("tell_and_sweep")),
        eavesdropper=(WORLDS, player_spec("random")),
    )
    mindless = grid(
        guide=player_spec("silent"),
        explorer=sweeping,
        eavesdropper=(WORLDS, player_spec("search"), player_spec("random")),
    )
    published = (instance("toma_sw", "toma_sw published", win="published"),)
    return [
        Cell("toma_sw, bots", problem, bots, repeats=RADIO_GAMES),
        Cell("toma_sw published, bots", published, mindless, repeats=RADIO_GAMES),
        Cell("toma_sw, asked", problem, team(ASKED), arms=arms, repeats=RADIO_GAMES),
        Cell("toma_sw", problem, team(UNASKED), repeats=RADIO_GAMES),
    ]


def clue_cells(model: str) -> list[Cell]:
    """Return the cells of Figures 7a and 11: the model as the speaker and as both listeners, and
    bots as lower and upper bounds."""
    problems = tuple(
        instance("toma_ag", f"toma_ag {item.word}", word=item.word) for item in items()
    )
    listener = model_at("toma_ag", model, "cot")
    speakers = (player_spec(s) for s in ("margin", "hint_b", "hint_c", "synonym", "random"))
    return [
        Cell(
            "toma_ag, bots",
            problems,
            grid(speaker=tuple(speakers), teammate=HEARS_WORDS, opponent=HEARS_WORDS),
            arms={"speaker": ("finds_it",)},
        ),
        Cell(
            "toma_ag",
            problems,
            grid(
                speaker=tuple(model_at("toma_ag", model, s) for s in (*ASKED, *UNASKED)),
                teammate=listener,
                opponent=listener,
            ),
            arms={"speaker": ("finds_it",)},
            repeats=RUNS,
        ),
    ]


def generality_cell(model: str) -> Cell:
    """Return the cell of Table 3: riemer2025's prisoner's dilemma under four strategies."""
    strategies = ("zero_shot", "cot", "tom_cot", "tom_guide")
    return Cell(
        "ipd",
        (instance("ipd", "ipd-100", rounds=100),),
        grid(
            agent=tuple(model_at("ipd", model, strategy) for strategy in strategies),
            partner=(
                player_spec("single_action", action=0),
                player_spec("single_action", action=1),
                player_spec("tit_for_tat"),
            ),
        ),
        repeats=RUNS,
    )


def study(model: str = OPEN) -> Study:
    """Return the whole study with one language model.

    Without a model, the study holds a placeholder, and the model is chosen when the study runs.
    """
    return Study(
        name="kang2026",
        about="knowing and doing in four games: five strategies, levels of reasoning, told truths",
        cells=(
            *one_shot_cells("toma_po", range(5), model),
            *one_shot_cells("toma_mg", range(1, 4), model),
            *injected_cells("toma_po", model),
            *injected_cells("toma_mg", model),
            *radio_cells(model),
            *clue_cells(model),
            generality_cell(model),
        ),
        paper="kang2026",
        seed=2026,
    )


STUDY = study()
STUDIES = (STUDY,)
