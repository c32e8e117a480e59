"""tang2024 as a study: the paper's two conditions, called zero and finite belief history, and a
third, called infinite belief history. Each is run with Sally's prompts and in the authors' chat
format."""

from __future__ import annotations

from typing import Any

from sally.core.log.events import Instance, PlayerSpec
from sally.core.registry.study import Cell, Study, grid, instance, player_spec
from sally.players.language import OPEN

GAME = "pick_the_right_stuff"
GAMES, USERS, TEMPERATURE = 60, 5, 0.0  # Section 4.2
MOST_TOKENS = 20  # of an answer in the authors' harness
PROBES = ("state_last_seen", "true_box")
SETS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("published zero", {"mode": "zero", "generator": "published"}),
    ("published finite", {"mode": "finite", "generator": "published"}),
    ("balanced zero", {"mode": "zero", "generator": "balanced"}),
    ("balanced finite", {"mode": "finite", "generator": "balanced"}),
    ("infinite", {"mode": "infinite", "generator": "even"}),
)
BOTS = ("tracker", "saw_last", "at_last_look", "start", "true", "last_seen", "random")
INVERSES = ("but_start", "but_true", "but_start_or_true")


def games(name: str, users: int = USERS, **params: Any) -> tuple[Instance, ...]:
    """Return the games of a stored set as instances."""
    stem = f"{name.replace(' ', '-')}-{users}"
    return tuple(
        instance(GAME, f"{stem}-{number:03d}", users=users, number=number, **params)
        for number in range(GAMES)
    )


def on_our_page(model: str) -> PlayerSpec:
    """Return a model under Sally's harness, which asks one question with the whole game in the
    prompt."""
    return player_spec(
        "language", model=model, strategy="qa", settings={"temperature": TEMPERATURE}
    )


def in_their_chat(model: str) -> PlayerSpec:
    """Return a model under the authors' harness: one chat per game, a low token limit, and
    truncated answers that are still read."""
    settings = {"temperature": TEMPERATURE, "max_tokens": MOST_TOKENS}
    reading = {"read_cut": True}
    return player_spec("language", model=model, strategy="chat", settings=settings, with_=reading)


def study(model: str = OPEN, users: int = USERS) -> Study:
    """Return the study with 3, 5 or 8 users per game.

    Without a model, the study holds a placeholder, and the model is chosen when the study runs.
    """
    cells: list[Cell] = []
    for name, params in SETS:
        ours = games(name, users, **params)
        chat_games = games(f"{name} chat", users, wording="published", **params)
        bots = tuple(player_spec(bot) for bot in (*BOTS, *INVERSES))
        cells += [
            Cell(name, ours, grid(manager=(*bots, on_our_page(model)))),
            Cell(
                f"{name}, probed",
                ours,
                grid(manager=(player_spec("tracker"), on_our_page(model))),
                arms={"manager": PROBES},
            ),
            Cell(f"{name}, chat", chat_games, grid(manager=in_their_chat(model)), retries=0),
        ]
    return Study(
        name="tang2024",
        about="zero, finite and infinite belief history: our page, the authors' chat, mindless "
        "managers, published and balanced games",
        cells=tuple(cells),
        paper="tang2024",
        seed=2024,
    )


STUDY = study()
STUDIES = (STUDY,)
