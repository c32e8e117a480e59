"""The board: a static site of evaluations, each replayed and recomputed from its bundle."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Generic, TypeVar

import msgspec
import numpy as np

from sally.analysis.evaluation import Evaluation, Recorded, Scores
from sally.analysis.pairs.evaluation import PairEvaluation
from sally.core.errors import join_names
from sally.output.html import Html, join, tag
from sally.output.page.columns import Value, table
from sally.output.page.document import write_document
from sally.output.page.evaluation import LEGEND, TABLE, figure, recorded_table
from sally.output.page.pair_evaluation import AXIS, games_table, picture
from sally.output.page.pair_evaluation import LEGEND as PAIR_LEGEND
from sally.output.page.pair_figure import draw_knowing_and_doing
from sally.runner.check import PROVES
from sally.stats.bradley_terry import MatchedComparison, Rating, ratings
from sally.stats.cluster_interval import mean_by_rule
from sally.stats.intervals import Estimate

TITLE = "Sally: the board"
ABOUT = (
    "Every figure on this board was recomputed from the bundles listed below; a bundle that does "
    f"not replay, or in which an answer cannot be checked, is refused. {PROVES} Games of "
    "Sally-1 have different scales, so there is no mean over them."
)
PARTS = (
    "played: episodes in the bundle, of those that this size of the suite has for its player. Only "
    "a whole entry is rated and compared below. doing, all planned: a missing episode counts as "
    "one whose moves are all forfeited."
)
PAIR_PARTS = (
    "played: positions in the bundle, of those that this size of the suite has. Entries that are "
    "not whole come last and are marked as parts in the picture. all planned: a missing pair "
    "counts as answered crosswise (-1), the least that a pair can give."
)


Found = TypeVar("Found", Evaluation, PairEvaluation)


class Entry(msgspec.Struct, Generic[Found], frozen=True):
    """One accepted bundle of an evaluation on whole games or on pairs."""

    name: str
    bundle: str  # file name
    sha256: str
    size: str
    results: Found
    page: str  # file name of its own page
    signed: str = ""  # fingerprint of the key that signed the bundle; "" if it is not signed
    readers: str = "-"  # the rule that read its replies, and where it was checked
    scores: Scores = {}  # of whole games, in the cells of the asked arm
    transcripts: str = ""  # file name of the page with transcripts

    @property
    def played_count(self) -> int:
        """Number of episodes that were played to their end, or of positions that were answered."""
        return self.results.episodes

    @property
    def planned_count(self) -> int:
        """Number of episodes or positions that this size of the suite asks of the player."""
        return self.results.planned

    @property
    def is_whole(self) -> bool:
        """Whether every planned episode was played, or every planned position answered."""
        return self.played_count == self.planned_count

    @property
    def link(self) -> Html:
        """The name, with a link to the entry's page."""
        return tag("a", self.name, href=self.page)

    @property
    def progress(self) -> tuple[str, float]:
        """The share that was played, with the number by which it is sorted."""
        return f"{self.played_count:,} of {self.planned_count:,}", self.played_count


GamesEntry = Entry[Evaluation]
PairEntry = Entry[PairEvaluation]


class RefusedBundle(msgspec.Struct, frozen=True):
    """A bundle that is not shown, and the reason."""

    bundle: str
    why: str


def write_board(
    entries: Sequence[GamesEntry | PairEntry],
    refused: Sequence[RefusedBundle],
    out: Path,
    recorded: Sequence[Recorded] = (),
) -> Path:
    """Write the index page of the board; return its path.

    `recorded` lists published play for which there is no bundle.

    Raises:
        BadInput: If the file cannot be written.
    """
    on_pairs = [entry for entry in entries if isinstance(entry.results, PairEvaluation)]
    on_games = [entry for entry in entries if isinstance(entry.results, Evaluation)]
    parts = [
        tag("p", f"Refused: {refusal.bundle}: {refusal.why}", class_="warn") for refusal in refused
    ]
    if on_pairs:
        parts += _pair_parts(on_pairs)
    parts += [
        tag("h2", "Sally-1: whole games", id="entries"),
        *(_picture(entry, is_open=number == 0) for number, entry in enumerate(on_games)),
        tag("h3", "All entries, game by game"),
        tag("p", "Click a heading to sort. Type in the field to filter, such as rps; tick two or "
            "more entries to see only these side by side."),
        tag("p", tag("label", "Filter ", for_="filter"), tag("input", type="text", id="filter")),
        tag("p", [_tick(entry) for entry in on_games], class_="ticks"),
        _figures(on_games),
        tag("p", f"{PARTS} {LEGEND}", class_="quiet"),
    ]  # fmt: skip
    if recorded:
        parts += [
            tag("h2", "People and published models, not the suite", id="published"),
            recorded_table(recorded),
        ]
    complete_entries = [entry for entry in on_games if entry.is_whole]
    partly = [
        f"{e.name} ({e.played_count:,} of {e.planned_count:,})" for e in on_games if not e.is_whole
    ]
    parts.append(tag("h2", "Ratings from matched episodes", id="ratings"))
    if partly:
        parts.append(tag("p", f"Not rated, because episodes are missing: {join_names(partly)}."))
    parts.append(_ratings(complete_entries))
    parts += [tag("h2", "Compare two entries", id="compare"), _differences(complete_entries)]
    parts += [tag("h2", "Bundles", id="bundles"), _bundles(on_games)]
    path, header = out / "index.html", (tag("h1", TITLE), tag("p", ABOUT, class_="lede"))
    write_document(path, TITLE, header, parts)
    return path


# --- certified pairs ------------------------------------------------------------------------------


def _pair_parts(entries: Sequence[PairEntry]) -> Iterator[Html]:
    """Yield the section of Sally-2: entries by their means, those that are not whole last, then the
    games of each."""
    yield tag("h2", "Sally-2: certified pairs", id="pairs")
    ordered = sorted(
        entries, key=lambda entry: (not entry.is_whole, -_value(entry.results.knowing))
    )
    means = [
        (entry.name if entry.is_whole else f"{entry.name}, part",
         entry.results.knowing, entry.results.doing)
        for entry in ordered
    ]  # fmt: skip
    yield draw_knowing_and_doing("Mean knowing and doing of all entries", means, AXIS)
    rows = [
        [entry.progress, entry.link, entry.size, findings.knowing,
         f"{sum(game.tells_apart for game in findings.games)} of {len(findings.games)}",
         findings.doing,
         f"{sum(game.acts_apart for game in findings.games)} of {len(findings.games)}",
         findings.knowing_all_planned, findings.doing_all_planned,
         entry.readers, entry.signed or None, tag("code", entry.sha256[:16])]
        for entry in ordered
        for findings in (entry.results,)
    ]  # fmt: skip
    top = ["played", "entry", "size", "mean knowing", "games", "mean doing", "games",
           "knowing, all planned", "doing, all planned", "replies read by", "signed",
           "SHA-256"]  # fmt: skip
    yield table(top, rows, [entry.name for entry in ordered])
    yield tag("p", PAIR_PARTS, class_="quiet")
    for entry in entries:
        yield tag("details", tag("summary", f"{entry.name}: every game"), picture(entry.results),
                  games_table(entry.results.games))  # fmt: skip
    yield tag("p", PAIR_LEGEND, class_="quiet")


def _value(estimate: Estimate | None) -> float:
    return -2.0 if estimate is None or estimate.value is None else estimate.value


# --- whole games ----------------------------------------------------------------------------------


def _picture(entry: GamesEntry, is_open: bool) -> Html:
    """Return the figure of one entry over all games, folded unless `is_open`."""
    return tag("details", tag("summary", f"{entry.name}: every game"),
               figure(entry.results.games, entry.name), open=is_open)  # fmt: skip


def _tick(entry: GamesEntry) -> Html:
    id = f"tick-{entry.page.partition('.')[0]}"
    box = tag("input", type="checkbox", name="entry", id=id, value=entry.name)
    return tag("span", box, tag("label", f" {entry.name} ", for_=id))


def _figures(entries: Sequence[GamesEntry]) -> Html:
    rows, names = list[list[Value]](), list[str]()
    for entry in entries:
        for game in entry.results.games:
            all_planned = entry.results.doing_intention_to_treat[game.game]
            share = game.forfeits / max(1, game.forfeits + game.moves)
            rows.append(
                [entry.progress, entry.link, game.game, all_planned,
                 *(getattr(game, field) for field in TABLE.values()),
                 (f"{100 * share:.0f} %", share)]
            )  # fmt: skip
            names.append(entry.name)
    top = ["played", "entry", "game", "doing, all planned", *TABLE, "forfeits"]
    return table(top, rows, names)


def _bundles(entries: Sequence[GamesEntry]) -> Html:
    rows = [
        [entry.link, entry.size, entry.progress, entry.bundle, tag("code", entry.sha256[:16]),
         entry.readers, tag("code", entry.signed) if entry.signed else None,
         tag("a", "transcripts", href=entry.transcripts) if entry.transcripts else None]
        for entry in entries
    ]  # fmt: skip
    top = ["entry", "size", "episodes", "bundle", "sha256", "replies read by", "signed by",
           "transcripts"]  # fmt: skip
    return table(top, rows, [entry.name for entry in entries])


# --- matched episodes -----------------------------------------------------------------------------


def by_game(scores: Scores, measure: str) -> dict[str, dict[str, tuple[str, float]]]:
    """Return the values of one measure by game: game -> setting -> (problem, value)."""
    grouped: dict[str, dict[str, tuple[str, float]]] = {}
    for key, values in scores.items():
        if key.measure == measure:
            grouped.setdefault(key.game, {}).update(values)
    return grouped


def rate_entries(entries: Sequence[GamesEntry]) -> dict[str, list[Rating]]:
    """Return ratings of the entries by game; on each problem that two entries have played, the one
    that gained more beats the other."""
    doing = {entry.name: by_game(entry.scores, "doing") for entry in entries}
    games = dict.fromkeys(game for scores in doing.values() for game in scores)
    ratings_by_game: dict[str, list[Rating]] = {}
    for game in games:
        comparisons = []
        for first, second in combinations(sorted(doing), 2):
            first_scores, second_scores = doing[first].get(game, {}), doing[second].get(game, {})
            for setting in sorted(first_scores.keys() & second_scores.keys()):
                (problem, a), (_, b) = first_scores[setting], second_scores[setting]
                comparisons.append(
                    MatchedComparison(
                        first, second, 0.5 if abs(a - b) < 1e-9 else float(a > b), problem
                    )
                )
        ratings_by_game[game] = ratings(comparisons)
    return ratings_by_game


def _ratings(entries: Sequence[GamesEntry]) -> Html:
    ratings_by_game = {game: rows for game, rows in rate_entries(entries).items() if rows}
    if not ratings_by_game:
        return tag("p", "No two entries have played the same problem.")
    listed = [(game, rating) for game, rows in ratings_by_game.items() for rating in rows]
    rows: list[list[Value]] = [
        [rating.player, game, rating.rating, rating.component + 1, rating.met]
        for game, rating in listed
    ]
    note = (
        "Bradley-Terry ratings in log odds: of two entries on the same problem, seed and "
        "opponents, the one with the higher score wins; equal scores count half. Intervals "
        "resample problems. Ratings are comparable within a game and a component (entries that "
        "met, directly or through others). Half a win and half a loss against an average player "
        "keep them finite."
    )
    names = [rating.player for _, rating in listed]
    top = ["entry", "game", "rating", "component", "comparisons"]
    return join(table(top, rows, names), tag("p", note, class_="quiet"))


def _differences(entries: Sequence[GamesEntry]) -> Html:
    rows, names = list[list[Value]](), list[str]()
    scores_by_entry: Mapping[str, Scores] = {entry.name: entry.scores for entry in entries}
    for measure in ("knowing", "acting on it", "doing"):
        games = {name: by_game(scores, measure) for name, scores in scores_by_entry.items()}
        for first, second in combinations(games, 2):
            for game in sorted(games[first].keys() & games[second].keys()):
                first_scores, second_scores = games[first][game], games[second][game]
                shared = sorted(first_scores.keys() & second_scores.keys())
                if not shared:
                    continue
                moved = np.array([first_scores[s][1] - second_scores[s][1] for s in shared])
                difference = mean_by_rule(moved, [first_scores[s][0] for s in shared])
                rows.append([f"{first} minus {second}", game, measure, difference, len(shared)])
                names.append(f"{first}\n{second}")
    note = "Means over the problems that both played, in the unit of each score (doing: payoff)."
    differences_table = table(["entries", "game", "measure", "difference", "problems"], rows, names)
    summary = tag("summary", f"{len(rows):,} paired differences")
    return join(tag("details", summary, differences_table), tag("p", note, class_="quiet"))
