"""The provenance section of the page, and its list of missing data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

import msgspec

from sally.core.registry import registry
from sally.frames.rows import ModelUsage
from sally.output.figures.svg import number
from sally.output.files.provenance import Counts, Provenance, installed
from sally.output.html import Html, Inside, joined, tag
from sally.output.page.columns import sortable
from sally.output.page.page_data import PageData
from sally.runner.budget import money_text
from sally.runner.watching import currency_of
from sally.store import PeoplePlan

REASONS = 8  # most frequent reasons for episodes without a result


def origin(held: PageData, seen: Provenance, counts: Counts, made: datetime) -> Html:
    """Return the provenance section: versions, hashes, settings, dates and cost."""
    entries: list[tuple[str, Inside | Iterable[Inside]]] = [
        ("made", f"{made:%Y-%m-%d %H:%M} UTC"),
        ("made by", _pairs(installed())),
        ("study", _studies(held)),
        ("episodes", tag("code", f"sha256 {held.digest()}")),
        ("games", [tag("p", _game(name, found)) for name, found in seen.games.items()]),
        ("players", [tag("p", _player(name, found)) for name, found in seen.players.items()]),
        ("words packs", ", ".join(sorted(seen.packs)) or "none: the games' own words"),
        ("models", [_model(name, use) for name, use in seen.models.items()] or "none"),
        ("cost", cost_of(seen, currency_of(held.where))),
        ("lines", _lines(held)),
    ]
    listed = [joined(tag("dt", head), tag("dd", said)) for head, said in entries]
    return joined(tag("dl", listed), _cells(counts))


def _pairs(found: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in found.items())


def _studies(held: PageData) -> list[Html]:
    people = [_people(held.people)] if held.people else []
    return [*people, *_runs(held)] if held.studies or not people else people


def _people(plan: PeoplePlan) -> Html:
    games = sum(plan.planned.values())
    planned = f"{plan.participants:,} participants and {games:,} games planned"
    return tag("p", f"{plan.title} ({plan.study}, with people): {planned}, asks ",
               tag("code", plan.asks))  # fmt: skip


def _runs(held: PageData) -> list[Html]:
    if not held.studies:
        name = f"{held.manifest.study}, asks {held.manifest.asks}" if held.manifest else "no name"
        return [tag("p", f"{name}; the study itself is not in this store")]
    return [
        tag("p", f"{study.name}, seed {study.seed}, retries {study.retries}, asks ",
            tag("code", asks), f"; follows {study.paper}" if study.paper else None)
        for asks, study in held.studies.items()
    ]  # fmt: skip


def _game(name: str, versions: set[int]) -> str:
    played = f"{name}: played under rules version {', '.join(map(str, sorted(versions)))}"
    if name not in registry.games():
        return f"{played}; the game is not installed here"
    now = registry.game(name)
    return f"{played}; {now.version} installed, words version {now.words_version} installed"


def _player(name: str, versions: set[str]) -> str:
    said = []
    for one in sorted(versions):
        parts = msgspec.json.decode(one)
        said.append(", ".join(f"{part} version {v}" for part, v in parts.items()) or "no version")
    return f"{name}: {' or '.join(said)}"


def _model(name: str, use: ModelUsage) -> Html:
    failed = f", {use.failed} of them failed" if use.failed else ""
    settings = " or ".join(sorted(use.settings - {"{}"})) or "provider defaults"
    return joined(
        tag("p", tag("b", name), f": {use.calls:,} calls{failed}, {use.input:,} tokens in, "
            f"{use.output:,} out, {use.seconds:,.1f} s; settings {settings}"),
        [tag("p", tag("code", used)) for used in sorted(use.used)],
    )  # fmt: skip


def cost_of(seen: Provenance, currency: str) -> str:
    """Return a phrase on the cost of all calls."""
    money, unpriced = seen.cost
    if not seen.models:
        return "nothing: no model was called"
    if not unpriced and not money:
        return "nothing, according to the models"
    if not unpriced:
        return money_text(money, currency)
    least = f"at least {money_text(money, currency)}" if money else "unknown"
    return f"{least}: {unpriced:,} calls have no price"


def _lines(held: PageData) -> str:
    parts = [
        f"{len(held):,} episodes",
        f"{held.frame.replaced:,} censored runs that were run again",
        f"{held.frame.doubled:,} duplicate lines",
        f"{len(held.frame.bad):,} unreadable lines",
    ]
    bad = "; ".join(str(line) for line in held.frame.bad[:5])
    return ", ".join(parts) + (f": {bad}" if bad else "")


def missing(held: PageData, seen: Provenance, counts: Counts) -> list[str]:
    """Return warnings about missing, censored, forfeited and unreadable data."""
    said = []
    if counts.wanted is not None and counts.missing:
        empty = sum(not c.there for c in counts.cells)
        none = f"; {empty} of {len(counts.cells)} cells are empty" if empty else ""
        said.append(
            f"{counts.missing:,} of {counts.wanted:,} planned episodes were not played{none}: see "
            "Provenance."
        )
    if held.people:
        wanted, there = sum(held.people.planned.values()), seen.peoples.total()
        said.append(
            f"People: {there:,} of {wanted:,} planned games of {held.people.title!r} were played."
        )
    elif seen.peoples:
        said.append(f"{seen.peoples.total():,} episodes have human players but no plan.")
    if not held.studies and not held.people:
        said.append("The store has no study, so missing episodes are unknown.")
    if counts.others:
        said.append(f"{counts.others:,} episodes belong to no study in this store.")
    if cut := sum(n for end, n in seen.ends.items() if end != "over"):
        most = seen.details.most_common(REASONS)
        told = sum(n for _, n in most) == cut  # the lines below then name every cause
        causes = ", ".join(f"{end} {n:,}" for end, n in seen.ends.items() if end != "over")
        said.append(
            f"{cut:,} of {len(held):,} episodes have no result{'' if told else f' ({causes})'}; "
            "metrics that need one exclude them, and their n is smaller."
        )
        said += [f"{n:,} without a result ({why})" for why, n in most]
    if lost := sum(seen.forfeits.values()):
        why = ", ".join(f"{n:,} {reason}" for reason, n in seen.forfeits.items())
        said.append(f"{lost:,} of {lost + seen.moves:,} moves were forfeited ({why}).")
    if seen.unread:
        said.append(
            f"{seen.unread:,} of {seen.reports:,} probe answers were unreadable; they are not "
            "scored as wrong."
        )
    if held.frame.bad:
        said.append(f"{len(held.frame.bad):,} lines of the store are unreadable.")
    return said


def _cells(counts: Counts) -> Html:
    every = ["cell", "planned", "there", "no result", "in no plan", "people's"]
    heads = every if any(c.people for c in counts.cells) else every[:-1]
    lines = [
        tag(
            "tr",
            tag("th", tag("bdi", c.cell or "(none)"), scope="row"),
            *(
                tag("td", "–" if n is None else number(n), class_="number", data_v=n)
                for n in (c.wanted, c.there, c.censored, c.others, c.people)[: len(heads) - 1]
            ),
        )
        for c in counts.cells
    ]
    caption = "Planned and stored episodes by cell"
    shown = [tag("th", h, scope="col", class_=None if h == "cell" else "number") for h in heads]
    return sortable(caption, shown, lines)
