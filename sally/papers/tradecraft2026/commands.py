"""`sally tradecraft2026`: rulesets, looked over before anybody plays by them."""

from __future__ import annotations

import sys

import click

from sally.core.errors import BadInput
from sally.games.tradecraft import checking
from sally.games.tradecraft.amounts import BadAmount
from sally.games.tradecraft.ruleset_formats import load
from sally.games.tradecraft.rulesets import SHIPPED, BadRuleset, shipped
from sally.output.console import console, json_option, print_json


@click.group("tradecraft2026")
def COMMANDS() -> None:
    """TradeCraft: rulesets."""


@COMMANDS.group()
def rules() -> None:
    """Rulesets: recipes, tags and fuel."""


@rules.command()
@click.argument("path")
@json_option
def check(path: str, as_json: bool) -> None:
    """Look for goods from nothing, items out of reach and empty tags.

    PATH is a ruleset file (.toml), a two-to-one list (.txt, .json), a vanilla data-pack folder, or
    the name of a shipped ruleset. The exit code is 1 if something was found.
    """
    try:
        found = shipped(path) if path in SHIPPED else load(path)
    except (BadRuleset, BadAmount, OSError) as why:
        raise BadInput(str(why)) from None
    problems = checking.check(found)
    if as_json:
        facts = {"name": found.name, "recipes": len(found.recipes), "items": len(found.items)}
        circles = checking.circles(found)
        print_json({**facts, "problems": problems, "notes": list(found.notes), "circles": circles})
    else:
        out = console()
        counted = f"{found.name}: {len(found.recipes)} recipes, {len(found.items)} items"
        out.print(counted, markup=False, highlight=False)
        harmless = (f"no problem: {line}" for line in checking.circles(found))
        notes = (f"left out: {note}" for note in found.notes)
        for line in (*notes, *harmless, *problems):
            out.print(f"- {line}", markup=False, highlight=False)
        out.print("Nothing is wrong." if not problems else f"Problems found: {len(problems)}.")
    if problems:
        sys.exit(1)
