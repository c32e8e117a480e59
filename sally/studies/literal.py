"""Literal theory of mind outside any game: Sally's generated battery of questions, with computed
answers and balanced designs.

An instance is a story with all of its questions, each asked separately; intervals cluster by story.
Questions about a person's action are asked in three arms: without a question before them, after the
question about the person's belief (asked), and after it with the player's own answer shown again
(reminded). Cells named `scripted: ...` need no model.

Calls of one model without retries: 200 (nested), 270 to 360 (belief_action, by arm) and 240 to 420
(applied).
"""

from __future__ import annotations

from sally.core.log.events import Injection, Instance, PlayerSpec
from sally.core.registry.study import Cell, Study, instance, player_spec
from sally.core.rules.game import Seat
from sally.players.language import OPEN

SEED = 2026
ORDERS, PER_ORDER, STORIES = range(5), 40, 30
PER_STORY = {"belief_action": 9, "applied": 8}
SETTINGS = {"temperature": 0.0, "max_tokens": 12}  # enough for `Option: A`
_MODEL = player_spec("language", model=OPEN, strategy="qa", settings=SETTINGS)
_SCRIPTED = (
    player_spec("believer"),
    player_spec("random"),
    *(player_spec("reader_of_depth", k=k) for k in range(4)),
)


def nested_items(order: int) -> tuple[Instance, ...]:
    """Return the items about nested beliefs of one order (order 2: what A thinks that B thinks)."""
    return tuple(
        instance("battery", f"nested {order} {n:03d}", generator="nested", order=order, number=n,
                 generator_seed=SEED)
        for n in range(PER_ORDER)
    )  # fmt: skip


def stories(generator: str) -> tuple[Instance, ...]:
    """Return one instance per story; each instance contains every version of its story with every
    question."""
    per = PER_STORY[generator]
    return tuple(
        instance("battery", f"{generator} {n:03d}", generator=generator, number=n * per, length=per,
                 generator_seed=SEED)
        for n in range(STORIES)
    )  # fmt: skip


def _cells(prefix: str, players: tuple[PlayerSpec, ...]) -> tuple[Cell, ...]:
    lineups = tuple({"reader": player} for player in players)
    plain = tuple(Cell(f"{prefix}nested, order {k}", nested_items(k), lineups) for k in ORDERS)
    return (
        *plain,
        *(Cell(f"{prefix}{name}", stories(name), lineups) for name in PER_STORY),
    )


def _arms(name: str) -> tuple[Cell, ...]:
    problems, lineups = stories(name), ({"reader": _MODEL},)
    probes: dict[str, tuple[str, ...]] = {"reader": ("belief",)}
    injections = (Injection(Seat("reader"), "belief", "own"),)
    return (
        Cell(f"{name}, asked", problems, lineups, probes),
        Cell(f"{name}, reminded", problems, lineups, probes, injections),
    )


STUDY = Study(
    name="literal",
    about="our own battery: nested beliefs of orders 0 to 4, from belief to act, and what is "
    "known, done and reasonable; asked plainly, after the belief, and reminded of the own answer",
    cells=(
        *_cells("", (_MODEL,)),
        *_arms("belief_action"),
        *_arms("applied"),
        *_cells("scripted: ", _SCRIPTED),
    ),
)
