"""moore2025 as a study: the hidden and the revealed condition, four variants of the hidden one, and
three other kinds of puzzles.

The cells named after the paper's conditions have a target with frozen memory, as for the models in
the paper. Separate cells have a target with sequential memory, as for the people in the paper.
"""

from __future__ import annotations

from typing import Any

from sally.core.log.events import Instance, PlayerSpec
from sally.core.registry.study import Cell, Study, grid, instance, player_spec
from sally.games.mindgames import frozen
from sally.games.mindgames.stories import stories
from sally.players.language import OPEN

GAME = "mindgames"
TEMPERATURE = 0.0  # of gpt-4o and the llamas; R1 had .6, o1 its default
STORIES = tuple(story.name for story in stories() if story.mental)
CONDITIONS = ("hidden", "revealed")
VARIANTS = ("non_mental", "add_hint", "perfect_game", "discrete_game")
KINDS: dict[str, frozen.Collection] = {
    "never_win": "balanced_never_win",
    "always_win": "always_win",
    "can_win": "balanced_can_win",
}
PROBES = ("target_choice", "target_likes", "target_knows")
PLANNERS = {"hidden": ("hidden", "greedy"), "revealed": ("revealed", "hidden", "greedy")}
MINDLESS = ("random", "tell_all", "goal_only")


def puzzles(name: str, collection: frozen.Collection, **params: Any) -> tuple[Instance, ...]:
    """Return every puzzle of a set with every cover story."""
    return tuple(
        instance(
            GAME,
            f"{name}-{story}-{number:02d}",
            collection=collection,
            number=number,
            story=story,
            **params,
        )
        for story in STORIES
        for number in range(len(frozen.frozen(collection).puzzles))
    )


def a_story_each(name: str, collection: frozen.Collection, **params: Any) -> tuple[Instance, ...]:
    """Return every puzzle of a set once, going through the cover stories in turn; the variant
    `non_mental` has a story of its own."""
    size = len(frozen.frozen(collection).puzzles)
    stories_told = () if params.get("variant") == "non_mental" else STORIES
    return tuple(
        instance(
            GAME,
            f"{name}-{number:02d}",
            collection=collection,
            number=number,
            **({"story": stories_told[number % len(stories_told)]} if stories_told else {}),
            **params,
        )
        for number in range(size)
    )


def speaker(model: str) -> PlayerSpec:
    """Return a player with this model that writes its thoughts first, then its message."""
    return player_spec(
        "language", model=model, strategy="qa", settings={"temperature": TEMPERATURE}
    )


def study(model: str = OPEN) -> Study:
    """Return the study with one language model, planners and mindless players as persuaders."""
    cells: list[Cell] = []
    for condition in CONDITIONS:
        bots = tuple(player_spec(bot) for bot in (*PLANNERS[condition], *MINDLESS))
        ours = puzzles(condition, "standard", condition=condition, memory="frozen")
        recalled = puzzles(f"{condition}-sequential", "standard", condition=condition)
        cells += [
            Cell(condition, ours, grid(persuader=(*bots, speaker(model)))),
            # what people faced: the same puzzles under sequential memory
            Cell(f"{condition}, sequential", recalled, grid(persuader=(*bots, speaker(model)))),
            Cell(
                f"{condition}, probed",
                ours,
                grid(persuader=(player_spec("hidden"), speaker(model))),
                arms={"persuader": PROBES},
            ),
        ]
    for variant in VARIANTS:
        varied = a_story_each(variant, "variants", variant=variant, memory="frozen")
        cells.append(Cell(variant, varied, grid(persuader=(player_spec("hidden"), speaker(model)))))
    for kind, collection in KINDS.items():
        others = a_story_each(collection, collection, memory="frozen")
        bots = tuple(player_spec(bot) for bot in ("hidden", *MINDLESS))
        cells.append(Cell(kind, others, grid(persuader=(*bots, speaker(model)))))
    return Study(
        name="moore2025",
        about="persuasion of a target whose mind is hidden or revealed: forty puzzles under five "
        "stories, four variants, three other kinds of puzzle",
        cells=tuple(cells),
        paper="moore2025",
        seed=2025,
    )


STUDY = study()
STUDIES = (STUDY,)
