"""Writer of the HTML page, part by part; episodes are not held in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from sally.analysis.design.claims import verdicts
from sally.analysis.pairs.told import ToldResult, has_informant, told_slopes
from sally.analysis.profile.ideal_scale import has_pool, ideal_rows
from sally.analysis.profile.literal_beside import literal_beside
from sally.analysis.profile.profile import ProfileRow
from sally.core.errors import BadInput
from sally.output.html import Html, join, tag
from sally.output.page.document import ABOUT, made, tiles, write_document
from sally.output.page.origin import cost_of, missing, origin
from sally.output.page.page_data import PageData
from sally.output.page.paper import paper_section
from sally.output.page.profile import (
    claims_section,
    ideal_section,
    literal_section,
    profile_section,
)
from sally.output.page.reliability import reliability_section
from sally.output.page.representation import represented_section
from sally.output.page.results import (
    SeatResults,
    episode_lists,
    glossary,
    is_headline,
    sheet_plots,
    sheet_table,
    sheets_of,
)
from sally.output.page.told import told_section
from sally.output.page.transcripts import PromptsOf, transcript_of
from sally.output.tables.layout import Grid
from sally.represent.results import RepresentationResult, read_results
from sally.runner.progress import currency_of

Numbers = NDArray[np.integer[Any]]
BUDGET = 1_000_000  # bytes of stored episodes that get transcripts by default
IDEAL_EPISODES = 5_000  # more are replayed by `sally profile --ideal` only


class PageCounts(msgspec.Struct, frozen=True):
    """Counts of what was written to the page."""

    episodes: int
    transcripts: int
    bytes: int


@dataclass(frozen=True)
class PageOptions:
    """Options for writing the results page."""

    transcripts: int | None = None  # per cell and lineup; None: as many as fit the budget
    profile: Callable[[PageData], Sequence[ProfileRow]] | None = None
    grids: Mapping[str, Sequence[Grid]] = field(default_factory=dict)  # a paper's tables
    prompts_of: PromptsOf | None = None
    made: datetime | None = None
    notes: tuple[str, ...] = ()  # further warnings, such as deviations from a registration


def write_page(data: PageData, out: Path, options: PageOptions | None = None) -> PageCounts:
    """Write the page of a store to one file.

    Raises:
        BadInput: The store is empty, or the file cannot be written.
    """
    options = options or PageOptions()
    if not len(data):
        raise BadInput(f"The store {data.where} contains no episode to report.")
    profile = options.profile(data) if options.profile is not None else ()
    sizes = data.frame.episodes["size"].to_numpy()
    chosen = chosen_of(in_turn(data.lineups()), sizes, options.transcripts)
    timestamp = options.made or datetime.now(UTC)
    page = _Page(data, sheets_of(data), chosen, options.notes)
    page.write(out, options, profile, timestamp)
    return PageCounts(len(data), len(chosen), out.stat().st_size)


def in_turn(lineups: Numbers) -> list[Numbers]:
    """Group the episodes by cell and lineup. Return the indices of each group as an array, in the
    order in which the groups first appear in the store."""
    _, first, counts = np.unique(lineups, return_index=True, return_counts=True)
    parts = np.split(np.argsort(lineups, kind="stable"), np.cumsum(counts)[:-1])
    return [parts[n] for n in np.argsort(first).tolist()]


def chosen_of(lineups: Sequence[Numbers], sizes: Numbers, limit: int | None) -> dict[int, None]:
    """Return the indices of the episodes that get a transcript, in the order of the store.

    These are the first `limit` episodes of every cell and lineup or, if `limit` is None, as many as
    the budget allows, taken evenly from all, and at least one.
    """
    if limit is not None:
        chosen = {n for numbers in lineups for n in numbers[:limit].tolist()}
    else:
        chosen, spent, smallest = set[int](), 0, int(sizes.min())
        for turn in range(max(map(len, lineups))):
            if chosen and spent + smallest > BUDGET:
                break
            for numbers in lineups:
                size = int(sizes[numbers[turn]]) if turn < len(numbers) else 0
                if size and (not chosen or spent + size <= BUDGET):
                    chosen.add(int(numbers[turn]))
                    spent += size
    return dict.fromkeys(sorted(chosen))


def _remarks(warnings: Sequence[str]) -> Html | None:
    """Return the warnings; several are folded below their number, so that the page begins with its
    picture."""
    paragraphs = [tag("p", warning, class_="warn") for warning in warnings]
    if len(paragraphs) < 2:
        return join(paragraphs) if paragraphs else None
    return tag("details", tag("summary", f"{len(warnings)} remarks on missing data"), paragraphs)


class _Page:
    """Renderer of one page."""

    def __init__(
        self,
        data: PageData,
        sheets: Sequence[SeatResults],
        chosen: dict[int, None],
        notes: Sequence[str] = (),
    ) -> None:
        self.held, self.provenance, self.sheets = data, data.provenance, sheets
        self.chosen, self.unplayed, self.notes = chosen, data.frame.unplayed, notes
        ids = data.frame.episodes["episode"]
        self._shown = {ids[number] for number in chosen}
        self.counts = data.provenance.counts(data.studies.values())
        self.name = data.manifest.study if data.manifest else str(data.where)
        self._players: dict[tuple[str, str, str], str] = {}
        for sheet in sheets:
            for group in sheet.groups:
                key = (sheet.game, sheet.seat, group.player)
                self._players.setdefault(key, f"p{len(self._players) + 1}")

    def _ideal(self) -> Html | str:
        """Return a comparison of the players with an ideal mind, if their games declare a pool of
        partners."""
        if not any(has_pool(sheet.game) for sheet in self.sheets):
            return ""
        if len(self.held) > IDEAL_EPISODES:
            advice = f"`sally profile DIR --ideal` compares more than {IDEAL_EPISODES:,} episodes."
            return tag("p", tag("small", f"Not compared with an ideal mind here: {advice}"))
        rows = ideal_rows(self.held)
        return join(tag("h3", "Beside an ideal mind"), ideal_section(rows)) if rows else ""

    def write(
        self, out: Path, options: PageOptions, profile: Sequence[ProfileRow], timestamp: datetime
    ) -> None:
        """Write the page; transcripts are rendered one at a time."""
        source = self.held.where
        probe_results = read_results(source) if isinstance(source, Path) else []
        parts = {"profile": bool(profile), "represented": bool(probe_results), "results": True}
        slopes = told_slopes(self.held) if has_informant(self.held.frame) else None
        parts = {"told": slopes is not None, **parts, "paper": bool(options.grids)}
        parts |= dict.fromkeys(("episodes", "transcripts", "provenance"), True)
        write_document(
            out,
            f"{self.name}: Sally report",
            self._top(timestamp),
            self._parts(options, profile, probe_results, slopes, timestamp),
            before=[self._bar([name for name, is_present in parts.items() if is_present])],
            about=f"{ABOUT} Replies of players are shown as plain text.",
        )

    def _parts(
        self,
        options: PageOptions,
        profile: Sequence[ProfileRow],
        probe_results: Sequence[RepresentationResult],
        slopes: ToldResult | None,
        timestamp: datetime,
    ) -> Iterator[Html | str]:
        if slopes is not None:
            yield _title("told", "Moves on stated forecasts")
            yield told_section(slopes)
        if profile:
            yield _title("profile", "Knowing and doing")
            yield profile_section(profile, self._find)
            beside = literal_beside(profile, self.held.seats)
            if beside:
                yield join(tag("h3", "Literal beside knowing and doing"), literal_section(beside))
            yield claims_section(verdicts(profile))
            yield reliability_section(self.held.seats) or ""
            yield self._ideal()
        if probe_results:
            yield _title("represented", "Represented, said, done")
            yield represented_section(probe_results)
        yield _title("results", "Results")
        yield tag(
            "p",
            "Means over episodes with 95% t intervals, clustered by person or instance if there "
            "are at least five of these; below five clusters a mean has no interval. Every mean "
            "links to the list of its episodes, and from there to their transcripts. "
            "Click a column heading to sort.",
        )
        yield glossary(self.sheets)
        for sheet in self.sheets:
            yield self._sheet(sheet)
        if options.grids:
            yield _title("paper", "The paper's tables")
            yield paper_section(options.grids)
        yield _title("episodes", "Episodes")
        yield tag("p", self._about_transcripts())
        for sheet in self.sheets:
            yield from self._lists(sheet)
        yield _title("transcripts", "Transcripts")
        for number in self.chosen:
            yield transcript_of(self.held.frame.episode(number), options.prompts_of)
        yield _title("provenance", "Provenance")
        yield origin(self.held, self.provenance, self.counts, timestamp)

    # --- the top ----------------------------------------------------------------------------------

    def _bar(self, names: Sequence[str]) -> Html:
        links = [tag("li", tag("a", name.capitalize(), href=f"#{name}")) for name in names]
        choices = [
            join(
                tag("input", type="radio", name="theme", id=id, checked=id == "auto"),
                tag("label", id.capitalize(), for_=id),
            )
            for id in ("auto", "light", "dark")
        ]
        group = tag("div", choices, role="radiogroup", aria_label="colours")
        theme = tag("li", group, class_="theme")
        return tag("nav", tag("ul", links, theme), aria_label="parts of the page")

    def _top(self, timestamp: datetime) -> tuple[Html | None, ...]:
        studies = list(self.held.studies.values())
        titles = [self.held.people.title] if self.held.people else []
        about = "; ".join([*titles, *(study.about for study in studies[-1:])])
        warnings = [*self.notes, *missing(self.held, self.provenance, self.counts)]
        if self.unplayed:
            first = f"{len(self.unplayed):,} episodes could not be measured and are in no mean"
            warnings.append(f"{first}; the first: {self.unplayed[0]}")
        cost = cost_of(self.provenance, currency_of(self.held.where))
        calls = sum(use.calls for use in self.provenance.models.values())
        games = list(self.provenance.games)
        facts = [
            ("episodes", f"{len(self.held):,}"),
            ("game", games[0]) if len(games) == 1 else ("games", f"{len(games)}"),
            ("cells", f"{len(self.provenance.cells):,}"),
            ("without a result", f"{self.provenance.details.total():,}"),
            ("moves forfeited", f"{sum(self.provenance.forfeits.values()):,}"),
            ("model calls", f"{calls:,}"),
        ]
        return (
            tag("h1", tag("bdi", self.name)),
            tag("p", about, class_="lede") if about else None,
            tiles(facts),
            _remarks(warnings),
            made(timestamp, f"Cost: {cost}."),
        )

    # --- the parts --------------------------------------------------------------------------------

    def _find(self, row: ProfileRow) -> str | None:
        place = self._players.get((row.game, row.seat, row.player))
        return f"#{place}" if place else None

    def _sheet(self, sheet: SeatResults) -> Html:
        first = [m for m in sheet.metrics if is_headline(m)]
        other_count = len(sheet.metrics) - len(first)
        all_metrics = tag(
            "details",
            tag("summary", f"All {len(sheet.metrics)} metrics of {sheet.title}"),
            sheet_table(sheet, sheet.metrics, f"{sheet.title}: every metric"),
        )
        return join(
            tag("h3", sheet.title),
            sheet_table(sheet, first, f"{sheet.title}: means and 95% intervals"),
            sheet_plots(sheet),
            all_metrics if other_count else None,
        )

    def _about_transcripts(self) -> str:
        if len(self.chosen) == len(self.held):
            return "Every episode has a transcript below."
        return (
            f"{len(self.chosen):,} of {len(self.held):,} episodes have a transcript below, taken "
            "evenly from each cell and lineup in the order of the store; `sally report` with "
            "--transcripts all includes every one, and `sally show STORE/EPISODE` prints a single "
            "one."
        )

    def _lists(self, sheet: SeatResults) -> Iterator[Html]:
        lists = list(zip(sheet.groups, episode_lists(sheet, self._shown), strict=True))
        yield tag("h3", sheet.title)
        for player in dict.fromkeys(group.player for group in sheet.groups):
            player_lists = [html for group, html in lists if group.player == player]
            yield tag("div", player_lists, id=self._players[sheet.game, sheet.seat, player])


def _title(id: str, name: str) -> Html:
    return tag("h2", name, id=id)
