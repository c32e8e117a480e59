"""appendix_a as a study: one model gives clues, and across from it every partner in turn."""

from __future__ import annotations

from typing import Any

from sally.core.registry.study import Cell, Study, instance, player_spec
from sally.papers.appendix_a.partners import GIVERS, partners_of
from sally.players.language import OPEN

ROWS = 10  # of each frozen set
PROBES = {
    "wavelength": (("their_dial", "placing"), ("placing",)),
    "taboo": (("will_find", "closeness"), ("closeness",)),
    "codenames": (("their_pick", "their_run", "closeness"), ("closeness",)),
}


def study(model: str = OPEN, **language: Any) -> Study:
    """Every game with every partner; the model's seat is open if none is named."""
    me = player_spec("language", model=model, strategy="qa", **language)
    cells = []
    for game, seat in GIVERS.items():
        mine, theirs = PROBES[game]
        rows = tuple(instance(game, f"{game} {n:03d}", number=n) for n in range(ROWS))
        for name, partner in partners_of(game).items():
            lineup = {seat: me, "guesser": partner}
            arms = {seat: mine, "guesser": theirs}
            cells.append(Cell(f"{game}: {name}", rows, (lineup,), arms))
    return Study(
        name="appendix_a",
        about="one model gives clues to partners with associations of their own",
        cells=tuple(cells),
        paper="appendix_a",
    )


STUDY = study()
STUDIES = (STUDY,)
