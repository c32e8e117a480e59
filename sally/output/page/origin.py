"""The provenance section of the page, and its list of missing data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

import msgspec

from sally.core.registry import registry
from sally.frames.rows import ModelUsage
from sally.output.figures.svg import number
from sally.output.files.provenance import Counts, Provenance, installed_versions
from sally.output.html import Html, Inside, join, tag
from sally.output.page.columns import sortable
from sally.output.page.page_data import PageData
from sally.runner.budget import money_text
from sally.runner.progress import currency_of
from sally.store import PeoplePlan

REASONS = 8  # most frequent reasons for episodes without a result


def origin(data: PageData, provenance: Provenance, counts: Counts, timestamp: datetime) -> Html:
    """Return the provenance section: versions, hashes, settings, dates and cost."""
    entries: list[tuple[str, Inside | Iterable[Inside]]] = [
        ("made", f"{timestamp:%Y-%m-%d %H:%M} UTC"),
        ("made by", _pairs(installed_versions())),
        ("study", _studies(data)),
        ("episodes", tag("code", f"sha256 {data.digest()}")),
        ("games", [tag("p", _game(name, versions)) for name, versions in provenance.games.items()]),
        (
            "players",
            [tag("p", _player(name, versions)) for name, versions in provenance.players.items()],
        ),
        ("words packs", ", ".join(sorted(provenance.packs)) or "none: the games' own words"),
        ("models", [_model(name, use) for name, use in provenance.models.items()] or "none"),
        ("cost", cost_of(provenance, currency_of(data.where))),
        ("lines", _lines(data)),
    ]
    listed = [join(tag("dt", head), tag("dd", content)) for head, content in entries]
    return join(tag("dl", listed), _cells(counts))


def _pairs(versions: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in versions.items())


def _studies(data: PageData) -> list[Html]:
    people = [_people(data.people)] if data.people else []
    return [*people, *_runs(data)] if data.studies or not people else people


def _people(plan: PeoplePlan) -> Html:
    games = sum(plan.planned.values())
    planned = f"{plan.participants:,} participants and {games:,} games planned"
    return tag("p", f"{plan.title} ({plan.study}, with people): {planned}, asks ",
               tag("code", plan.asks))  # fmt: skip


def _runs(data: PageData) -> list[Html]:
    if not data.studies:
        name = f"{data.manifest.study}, asks {data.manifest.asks}" if data.manifest else "no name"
        return [tag("p", f"{name}; the study itself is not in this store")]
    return [
        tag("p", f"{study.name}, seed {study.seed}, retries {study.retries}, asks ",
            tag("code", asks), f"; follows {study.paper}" if study.paper else None)
        for asks, study in data.studies.items()
    ]  # fmt: skip


def _game(name: str, versions: set[int]) -> str:
    played = f"{name}: played under rules version {', '.join(map(str, sorted(versions)))}"
    if name not in registry.games():
        return f"{played}; the game is not installed here"
    now = registry.game(name)
    return f"{played}; {now.version} installed, words version {now.words_version} installed"


def _player(name: str, versions: set[str]) -> str:
    descriptions = []
    for version_text in sorted(versions):
        parts = msgspec.json.decode(version_text)
        descriptions.append(
            ", ".join(f"{part} version {v}" for part, v in parts.items()) or "no version"
        )
    return f"{name}: {' or '.join(descriptions)}"


def _model(name: str, use: ModelUsage) -> Html:
    failed = f", {use.failed} of them failed" if use.failed else ""
    settings = " or ".join(sorted(use.settings - {"{}"})) or "provider defaults"
    return join(
        tag("p", tag("b", name), f": {use.calls:,} calls{failed}, {use.input:,} tokens in, "
            f"{use.output:,} out, {use.seconds:,.1f} s; settings {settings}"),
        [tag("p", tag("code", used)) for used in sorted(use.used)],
    )  # fmt: skip


def cost_of(provenance: Provenance, currency: str) -> str:
    """Return a phrase on the cost of all calls."""
    money, unpriced = provenance.cost
    if not provenance.models:
        return "nothing: no model was called"
    if not unpriced and not money:
        return "nothing, according to the models"
    if not unpriced:
        return money_text(money, currency)
    lower_bound = f"at least {money_text(money, currency)}" if money else "unknown"
    return f"{lower_bound}: {unpriced:,} calls have no price"


def _lines(data: PageData) -> str:
    parts = [
        f"{len(data):,} episodes",
        f"{data.frame.replaced:,} censored runs that were run again",
        f"{data.frame.doubled:,} duplicate lines",
        f"{len(data.frame.bad):,} unreadable lines",
    ]
    bad = "; ".join(str(line) for line in data.frame.bad[:5])
    return ", ".join(parts) + (f": {bad}" if bad else "")


def missing(data: PageData, provenance: Provenance, counts: Counts) -> list[str]:
    """Return warnings about missing, censored, forfeited and unreadable data."""
    warnings = []
    if counts.wanted is not None and counts.missing:
        empty = sum(not c.there for c in counts.cells)
        none = f"; {empty} of {len(counts.cells)} cells are empty" if empty else ""
        warnings.append(
            f"{counts.missing:,} of {counts.wanted:,} planned episodes were not played{none}: see "
            "Provenance."
        )
    if data.people:
        planned, played = sum(data.people.planned.values()), provenance.peoples.total()
        warnings.append(
            f"People: {played:,} of {planned:,} planned games of {data.people.title!r} were played."
        )
    elif provenance.peoples:
        warnings.append(f"{provenance.peoples.total():,} episodes have human players but no plan.")
    if not data.studies and not data.people:
        warnings.append("The store has no study, so missing episodes are unknown.")
    if counts.others:
        warnings.append(f"{counts.others:,} episodes belong to no study in this store.")
    if without_result := provenance.details.total():
        warnings.append(
            f"{without_result:,} of {len(data):,} episodes have no result; metrics that need one "
            "exclude them, and their n is smaller."
        )
        ordered = provenance.details.most_common()
        warnings += [f"{n:,} without a result ({reason})" for reason, n in ordered[:REASONS]]
        if others := ordered[REASONS:]:
            count = sum(n for _, n in others)
            warnings.append(f"{count:,} without a result ({len(others)} other reasons)")
    if forfeits := sum(provenance.forfeits.values()):
        reasons_text = ", ".join(f"{n:,} {reason}" for reason, n in provenance.forfeits.items())
        warnings.append(
            f"{forfeits:,} of {forfeits + provenance.moves:,} moves were forfeited "
            f"({reasons_text})."
        )
    if provenance.unread:
        warnings.append(
            f"{provenance.unread:,} of {provenance.reports:,} probe answers were unreadable; they "
            f"are not "
            "scored as wrong."
        )
    if data.frame.bad:
        warnings.append(f"{len(data.frame.bad):,} lines of the store are unreadable.")
    return warnings


def _cells(counts: Counts) -> Html:
    all_heads = ["cell", "planned", "there", "no result", "in no plan", "people's"]
    heads = all_heads if any(c.people for c in counts.cells) else all_heads[:-1]
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
    head_cells = [
        tag("th", h, scope="col", class_=None if h == "cell" else "number") for h in heads
    ]
    return sortable(caption, head_cells, lines)
