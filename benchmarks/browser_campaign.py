"""Every game in a real browser by keyboard alone (`benchmarks.page_sweeps` runs axe-core).

`python -m benchmarks.browser_campaign OUT` prints a line for each game and writes `OUT/games.json`:
whether it was played to its end with the Tab, Enter, Space, arrow and letter keys, in how many
answers. It needs playwright and a chromium. `--games` names some of the games.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.study_pictures import browser, seat_api, served
from sally.core.registry import registry

SHORT = {"rounds": 2, "turns": 4, "max_turns": 3, "messages": 2}  # parameters that end a game soon
WORDS = ("river", "music", "winter", "garden", "north", "money", "stone", "light", "bread", "sleep")
MOST_TABS = 250
SECONDS = 240.0  # for one game
OPEN = """() => [...document.querySelectorAll('#asides .ask, #asides .probe, #asks .ask')]
  .filter(e => e.checkVisibility()).length"""
# What the focus is on: a button that answers, a field to fill in, the end of the game, or neither.
FOCUS = """() => { const e = document.activeElement;
  if (!e || !e.checkVisibility()) return '';
  if (e.matches('#board .act, #board .pick, .options button')) return 'button';
  if (!e.closest('#asks, #asides, #board')) return '';
  if (e.matches('input[type=range]')) return 'slider';
  if (e.matches('input[type=number], input[inputmode]')) return 'number';
  if (e.matches('textarea, input[type=text], input:not([type])')) return 'text';
  if (e.matches('input[type=radio]')) return 'radio';
  if (e.matches('select')) return 'select';
  if (e.matches('button[type=submit]')) return e.closest('.tool') ? '' : 'submit';
  return ''; }"""
STATE = """() => [!!document.querySelector('#end .result'),
  [...document.querySelectorAll('.question')].map(q => q.id).join(),
  document.querySelector('#status').textContent]"""


def answer_page(page: Any, attempt: int) -> bool:
    """Answer what is asked by keyboard; return whether the page changed."""
    keys, state_before = page.keyboard, page.evaluate(STATE)
    buttons_to_skip = attempt % 3  # another button or form at each attempt
    for n in range(MOST_TABS):
        keys.press("Tab")
        kind = page.evaluate(FOCUS)
        if kind in ("button", "submit"):
            if buttons_to_skip:
                buttons_to_skip -= 1
                continue
            keys.press("Enter")
            break
        if kind == "text":
            keys.press("Control+A")
            keys.type(WORDS[(attempt + n) % len(WORDS)])
        elif kind == "number":
            keys.press("Control+A")
            keys.type(str(50 if attempt % 2 else 15))
        elif kind in ("slider", "select"):
            keys.press("ArrowRight")
        elif kind == "radio":
            keys.press("Space")
    until = time.monotonic() + 4
    while time.monotonic() < until:
        if page.evaluate(STATE) != state_before:
            return True
        page.wait_for_timeout(60)
    return False


def by_keyboard(page: Any, address: str, game: str, seat: str) -> tuple[bool, int]:
    """Play a game without a mouse; return whether it ended, and the number of answers."""
    spec = registry.game(game)
    fits = {name: n for name, n in SHORT.items() if name in spec.people.settings}
    try:
        token = seat_api(f"{address}/api/tables", "", {"game": game, "seat": seat, "params": fits})[
            "token"
        ]
    except OSError:  # this game needs more rounds
        token = seat_api(f"{address}/api/tables", "", {"game": game, "seat": seat})["token"]
    page.goto(f"{address}/table#{token}")
    page.locator("#rules-read").wait_for()
    page.locator("#rules-read").focus()
    page.keyboard.press("Enter")
    until, answers, attempt = time.monotonic() + SECONDS, 0, 0
    while time.monotonic() < until:
        if page.locator("#end .result").count():
            return True, answers
        if not page.evaluate(OPEN):
            page.wait_for_timeout(100)
            continue
        if answer_page(page, attempt):
            answers, attempt = answers + 1, 0
        else:
            attempt += 1
    return False, answers


def main(out: Path, games: Sequence[str]) -> None:
    outcomes = []
    with served(None) as address, browser() as chromium:
        context = chromium.new_context(
            viewport={"width": 1200, "height": 900}, reduced_motion="reduce"
        )
        context.set_default_timeout(120_000)  # a shared machine may be slow
        for game in games:
            page = context.new_page()
            seat = str(registry.game(game).build({}).seats[0])
            ended, answers = by_keyboard(page, address, game, seat)
            page.close()
            outcomes.append({"game": game, "by_keyboard": ended, "answers": answers})
            print(f"{game}: {'' if ended else 'NOT '}to the end in {answers} answers", flush=True)
            (out / "games.json").write_text(json.dumps(outcomes, indent=2) + "\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--games", nargs="*", default=None)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    main(options.out, options.games or list(registry.games()))
