"""Every game as a person first sees it, on a desk and on a phone: one sheet each, and what fits.

`python -m benchmarks.contact_sheets OUT` writes `games_desktop.png` and `games_phone.png` and
prints, game by game, where the last control of the first question ends on the screen;
`--seats all` looks at every seat, `--moves N` at the position after N answers.
It needs playwright and a chromium.
"""

from __future__ import annotations

import argparse
import io
import random
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.study_pictures import SCREENS, browser, seat_api, served, sheet
from sally.core.registry import registry
from sally.web.rehearsal import value_for

LAST = """() => Math.max(...[...document.querySelectorAll(
  "#asks .ask button, #board .act, #asks .ask input, #asks .ask textarea, #asks .ask select")]
  .filter(e => e.checkVisibility()).map(e => e.getBoundingClientRect().bottom + scrollY))"""
MOST_ATTEMPTS = 400  # refused answers included
WIDER = "() => document.documentElement.scrollWidth - innerWidth"


def tables(games: Sequence[str], seats: str) -> Iterator[tuple[str, str]]:
    """Games, each with its first seat or with all that people may take."""
    for name in games:
        game_seats = [str(seat) for seat in registry.game(name).build({}).seats]
        for seat in game_seats if seats == "all" else game_seats[:1]:
            yield name, seat


def open_table(address: str, game: str, seat: str) -> str:
    """Open a table and return its token."""
    return str(seat_api(f"{address}/api/tables", "", {"game": game, "seat": seat})["token"])


def play(address: str, token: str, moves: int, seed: int = 1) -> Any:
    """Make some moves at a table, drawn at random, and return the last screen."""
    draw, n_moves = random.Random(seed), 0
    for attempt in range(MOST_ATTEMPTS):
        screen = seat_api(f"{address}/api/seat", token)
        if screen["over"] or (n_moves >= moves and screen["asks"]):
            break
        time.sleep(0.16)  # an open page asks as well; a seat may ask twenty times a second
        if screen["asks"]:
            ask = screen["asks"][0]
            key = f"sheet-{seed}-{attempt}"
            sent = {"ask": ask["id"], "value": value_for(ask, draw), "key": key}
            n_moves += bool(seat_api(f"{address}/api/seat/answer", token, sent))
    return screen


def picture(page: Any, address: str, token: str, out: Path) -> tuple[float, float] | None:
    """A picture of the table; where its last control ends, and how much too wide it is."""
    from PIL import Image

    page.goto(f"{address}/table#{token}")
    page.locator("#rules-read, #asks .ask, #asides .probe, #end .result").first.wait_for()
    if page.locator("#rules-read").is_visible():
        page.click("#rules-read")
    page.locator("#asks .ask, #asides .probe, #end .result").first.wait_for()
    page.wait_for_timeout(150)
    fit = None
    if page.locator("#asks .ask").count():
        page.evaluate("scrollTo(0, 0)")
        fit = page.evaluate(LAST), page.evaluate(WIDER)
    Image.open(io.BytesIO(page.screenshot())).quantize(64).save(out, optimize=True)
    page.close()
    return fit


def small(file: Path, width: int) -> None:
    """The sheet in few colours, so that it is no burden to the documents."""
    from PIL import Image

    sheet_ = Image.open(file).convert("RGB")
    scale = width / sheet_.width
    size = (width, int(sheet_.height * scale))
    sheet_.resize(size, Image.Resampling.LANCZOS).quantize(48).save(file, optimize=True)


def main(
    out: Path, games: Sequence[str], seats: str, moves: int, keep: Path, scheme: str = "light"
) -> None:
    suffix = "" if scheme == "light" else f"_{scheme}"
    for kind, (width, height, columns) in SCREENS.items():
        with served(None) as address, browser() as chromium:
            context = chromium.new_context(
                viewport={"width": width, "height": height},
                reduced_motion="reduce",
                has_touch=kind == "phone",
                is_mobile=kind == "phone",
                color_scheme=scheme,
            )
            paths = []
            for game, seat in tables(games, seats):
                path = keep / f"{game}{f'_{seat}' if seats == 'all' else ''}_{kind}{suffix}.png"
                token = open_table(address, game, seat)
                play(address, token, moves)
                fit = picture(context.new_page(), address, token, path)
                paths.append(path)
                if fit is not None:
                    verdict = "fits" if fit[0] <= height and fit[1] <= 0 else "DOES NOT FIT"
                    print(f"{kind} {game} {seat}: ends at {fit[0]:.0f} of {height}: {verdict}")
            small(sheet(context, paths, out / f"games_{kind}{suffix}.png", columns), 1200)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--games", nargs="*", default=None)
    parser.add_argument("--seats", default="first", choices=["first", "all"])
    parser.add_argument("--moves", type=int, default=0)
    parser.add_argument("--dark", action="store_true", help="in the dark colour scheme")
    parser.add_argument("--keep", type=Path, help="a folder for the single pictures")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as thrown_away:
        keep = options.keep or Path(thrown_away)
        keep.mkdir(parents=True, exist_ok=True)
        games, scheme = options.games or list(registry.games()), "dark" if options.dark else "light"
        main(options.out, games, options.seats, options.moves, keep, scheme)
