"""The board: a static site of evaluations, each replayed and recomputed from its bundle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path

import msgspec
import numpy as np

from sally.analysis.evaluation import Evaluation, Recorded, Scores
from sally.core.errors import join_names
from sally.output.files.new_file import new_file
from sally.output.html import Html, join, tag
from sally.output.page.evaluation import LEGEND, TABLE, figure, figure_cell, recorded_table, table
from sally.output.page.pair_board import PairEntry, pair_board_parts
from sally.output.page.write import foot, head
from sally.runner.check import PROVES
from sally.stats.bradley_terry import MatchedComparison, Rating, ratings
from sally.stats.cluster_interval import mean_by_rule

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


class Entry(msgspec.Struct, frozen=True):
    """One accepted bundle."""

    name: str
    bundle: str  # file name
    sha256: str
    size: str
    found: Evaluation
    scores: Scores  # in the cells of the asked arm
    page: str  # file name of its own page
    transcripts: str = ""  # file name of the page with transcripts
    signed: str = ""  # fingerprint of the key that signed the bundle; "" if it is not signed
    readers: str = "-"  # the rule that read its replies, and where it was checked

    @property
    def played(self) -> int:
        """Number of episodes that were played to their end."""
        return self.found.episodes

    @property
    def planned(self) -> int:
        """Number of episodes that this size of the suite asks of the player."""
        return self.found.wanted

    @property
    def is_whole(self) -> bool:
        """Whether every planned episode was played."""
        return self.played == self.planned


class RefusedBundle(msgspec.Struct, frozen=True):
    """A bundle that is not shown, and the reason."""

    bundle: str
    why: str


def write_board(
    entries: Sequence[Entry],
    refused: Sequence[RefusedBundle],
    out: Path,
    recorded: Sequence[Recorded] = (),
    pair_entries: Sequence[PairEntry] = (),
) -> Path:
    """Write the index page of the board; return its path.

    `recorded` lists published play for which there is no bundle.

    Raises:
        BadInput: If the file cannot be written.
    """
    pieces: list[Html | str] = [head("Sally: the board")]
    pieces.append(tag("header", tag("h1", "Sally: the board"), tag("p", ABOUT, class_="lede")))
    pieces.append("<main>")
    pieces += [
        tag("p", f"Refused: {refusal.bundle}: {refusal.why}", class_="warn") for refusal in refused
    ]
    if pair_entries:
        pieces += pair_board_parts(pair_entries)
    pieces += [
        tag("h2", "Sally-1: whole games", id="entries"),
        tag("p", "Click a heading to sort. Type in the field to filter, such as `rps`; tick two or "
            "more entries to see only these side by side."),
        tag("p", tag("label", "Filter ", for_="filter"), tag("input", type="text", id="filter")),
        tag("p", [_tick(entry) for entry in entries], class_="ticks"),
        _figures(entries),
        tag("p", f"{PARTS} {LEGEND}", class_="quiet"),
        tag("h3", "One entry over all games"),
        *(_picture(entry, is_open=number == 0) for number, entry in enumerate(entries)),
    ]  # fmt: skip
    if recorded:
        pieces += [
            tag("h2", "People and published models, not the suite", id="published"),
            recorded_table(recorded),
        ]
    complete_entries = [entry for entry in entries if entry.is_whole]
    partly = [f"{e.name} ({e.played:,} of {e.planned:,})" for e in entries if not e.is_whole]
    pieces.append(tag("h2", "Ratings from matched episodes", id="ratings"))
    if partly:
        pieces.append(tag("p", f"Not rated, because episodes are missing: {join_names(partly)}."))
    pieces.append(_ratings(complete_entries))
    pieces += [tag("h2", "Compare two entries", id="compare"), _differences(complete_entries)]
    pieces += [tag("h2", "Bundles", id="bundles"), _bundles(entries)]
    pieces += ["</main>", foot()]
    path = out / "index.html"
    with new_file(path, "board") as unfinished:
        unfinished.write_text("\n".join(map(str, pieces)), "utf-8")
    return path


def _picture(entry: Entry, is_open: bool) -> Html:
    """Return the figure of one entry over all games, folded unless `is_open`."""
    return tag("details", tag("summary", f"{entry.name}: every game"),
               figure(entry.found.games, entry.name), open=is_open)  # fmt: skip


def _tick(entry: Entry) -> Html:
    id = f"tick-{entry.page.partition('.')[0]}"
    box = tag("input", type="checkbox", name="entry", id=id, value=entry.name)
    return tag("span", box, tag("label", f" {entry.name} ", for_=id))


def _figures(entries: Sequence[Entry]) -> Html:
    rows = []
    for entry in entries:
        played = tag("td", f"{entry.played:,} of {entry.planned:,}", data_v=entry.played)
        for game in entry.found.games:
            all_planned = figure_cell(entry.found.doing_intention_to_treat[game.game])
            cells = [figure_cell(getattr(game, field)) for field in TABLE.values()]
            share = game.forfeits / max(1, game.forfeits + game.moves)
            rows.append(
                tag("tr", played, tag("th", tag("a", entry.name, href=entry.page), scope="row"),
                    tag("td", game.game), all_planned, cells,
                    tag("td", f"{100 * share:.0f} %", data_v=share), data_n=entry.name)
            )  # fmt: skip
    return table(["played", "entry", "game", "doing, all planned", *TABLE, "forfeits"], rows)


def _bundles(entries: Sequence[Entry]) -> Html:
    rows = [
        tag("tr", tag("th", tag("a", entry.name, href=entry.page), scope="row"),
            tag("td", entry.size), tag("td", f"{entry.played:,} of {entry.planned:,}"),
            tag("td", entry.bundle), tag("td", tag("code", entry.sha256[:16])),
            tag("td", entry.readers), tag("td", tag("code", entry.signed) if entry.signed else "-"),
            tag("td", tag("a", "transcripts", href=entry.transcripts)
                if entry.transcripts else "-"),
            data_n=entry.name)
        for entry in entries
    ]  # fmt: skip
    top = [
        "entry",
        "size",
        "episodes",
        "bundle",
        "sha256",
        "replies read by",
        "signed by",
        "transcripts",
    ]
    return table(top, rows)


# --- matched episodes -----------------------------------------------------------------------------


def by_game(scores: Scores, measure: str) -> dict[str, dict[str, tuple[str, float]]]:
    """Return the values of one measure by game: game -> setting -> (problem, value)."""
    grouped: dict[str, dict[str, tuple[str, float]]] = {}
    for key, values in scores.items():
        if key.measure == measure:
            grouped.setdefault(key.game, {}).update(values)
    return grouped


def rate_entries(entries: Sequence[Entry]) -> dict[str, list[Rating]]:
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


def _ratings(entries: Sequence[Entry]) -> Html:
    ratings_by_game = {game: rows for game, rows in rate_entries(entries).items() if rows}
    if not ratings_by_game:
        return tag("p", "No two entries have played the same problem.")
    rows = [
        tag("tr", tag("th", rating.player, scope="row"), tag("td", game),
            figure_cell(rating.rating), tag("td", rating.component + 1), tag("td", rating.met),
            data_n=rating.player)
        for game, listed in ratings_by_game.items()
        for rating in listed
    ]  # fmt: skip
    note = (
        "Bradley-Terry ratings in log odds: of two entries on the same problem, seed and "
        "opponents, the one with the higher score wins; equal scores count half. Intervals "
        "resample problems. Ratings are comparable within a game and a component (entries that "
        "met, directly or through others). Half a win and half a loss against an average player "
        "keep them finite."
    )
    return join(table(["entry", "game", "rating", "component", "comparisons"], rows),
                  tag("p", note, class_="quiet"))  # fmt: skip


def _differences(entries: Sequence[Entry]) -> Html:
    rows = []
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
                rows.append(
                    tag("tr", tag("th", f"{first} minus {second}", scope="row"), tag("td", game),
                        tag("td", measure), figure_cell(difference), tag("td", len(shared)),
                        data_n=f"{first}\n{second}")
                )  # fmt: skip
    note = "Means over the problems that both played, in the unit of each score (doing: payoff)."
    differences_table = table(["entries", "game", "measure", "difference", "problems"], rows)
    summary = tag("summary", f"{len(rows):,} paired differences")
    return join(tag("details", summary, differences_table), tag("p", note, class_="quiet"))
