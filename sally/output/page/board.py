"""The board: a static site of evaluations, each replayed and recomputed from its bundle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path

import msgspec
import numpy as np

from sally.analysis.evaluation import Evaluation, Recorded, Scores
from sally.core.errors import listed
from sally.output.files.new_file import new_file
from sally.output.html import Html, joined, tag
from sally.output.page.evaluation import LEGEND, TABLE, figure_cell, recorded_table, table
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
    pieces += [tag("p", f"Refused: {one.bundle}: {one.why}", class_="warn") for one in refused]
    if pair_entries:
        pieces += pair_board_parts(pair_entries)
    pieces += [
        tag("h2", "Sally-1: whole games", id="entries"),
        tag("p", "Click a heading to sort. Type in the field to filter, such as `rps`; tick two or "
            "more entries to see only these side by side."),
        tag("p", tag("label", "Filter ", for_="filter"), tag("input", type="text", id="filter")),
        tag("p", [_tick(one) for one in entries], class_="ticks"),
        _figures(entries),
        tag("p", f"{PARTS} {LEGEND}", class_="quiet"),
    ]  # fmt: skip
    if recorded:
        pieces += [
            tag("h2", "People and published models, not the suite", id="published"),
            recorded_table(recorded),
        ]
    whole = [entry for entry in entries if entry.is_whole]
    partly = [f"{e.name} ({e.played:,} of {e.planned:,})" for e in entries if not e.is_whole]
    pieces.append(tag("h2", "Ratings from matched episodes", id="ratings"))
    if partly:
        pieces.append(tag("p", f"Not rated, because episodes are missing: {listed(partly)}."))
    pieces.append(_ratings(whole))
    pieces += [tag("h2", "Compare two entries", id="compare"), _differences(whole)]
    pieces += [tag("h2", "Bundles", id="bundles"), _bundles(entries)]
    pieces += ["</main>", foot()]
    path = out / "index.html"
    with new_file(path, "board") as unfinished:
        unfinished.write_text("\n".join(map(str, pieces)), "utf-8")
    return path


def _tick(one: Entry) -> Html:
    id = f"tick-{one.page.partition('.')[0]}"
    box = tag("input", type="checkbox", name="entry", id=id, value=one.name)
    return tag("span", box, tag("label", f" {one.name} ", for_=id))


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
        tag("tr", tag("th", tag("a", one.name, href=one.page), scope="row"), tag("td", one.size),
            tag("td", f"{one.played:,} of {one.planned:,}"), tag("td", one.bundle),
            tag("td", tag("code", one.sha256[:16])),
            tag("td", one.readers), tag("td", tag("code", one.signed) if one.signed else "-"),
            tag("td", tag("a", "transcripts", href=one.transcripts) if one.transcripts else "-"),
            data_n=one.name)
        for one in entries
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
    found: dict[str, dict[str, tuple[str, float]]] = {}
    for key, values in scores.items():
        if key.measure == measure:
            found.setdefault(key.game, {}).update(values)
    return found


def rated(entries: Sequence[Entry]) -> dict[str, list[Rating]]:
    """Return ratings of the entries by game; on each problem that two entries have played, the one
    that gained more beats the other."""
    doing = {one.name: by_game(one.scores, "doing") for one in entries}
    games = dict.fromkeys(game for found in doing.values() for game in found)
    made: dict[str, list[Rating]] = {}
    for game in games:
        met = []
        for one, two in combinations(sorted(doing), 2):
            mine, theirs = doing[one].get(game, {}), doing[two].get(game, {})
            for setting in sorted(mine.keys() & theirs.keys()):
                (problem, a), (_, b) = mine[setting], theirs[setting]
                met.append(
                    MatchedComparison(one, two, 0.5 if abs(a - b) < 1e-9 else float(a > b), problem)
                )
        made[game] = ratings(met)
    return made


def _ratings(entries: Sequence[Entry]) -> Html:
    found = {game: rows for game, rows in rated(entries).items() if rows}
    if not found:
        return tag("p", "No two entries have played the same problem.")
    rows = [
        tag("tr", tag("th", one.player, scope="row"), tag("td", game),
            figure_cell(one.rating), tag("td", one.component + 1), tag("td", one.met),
            data_n=one.player)
        for game, listed in found.items()
        for one in listed
    ]  # fmt: skip
    note = (
        "Bradley-Terry ratings in log odds: of two entries on the same problem, seed and "
        "opponents, the one with the higher score wins; equal scores count half. Intervals "
        "resample problems. Ratings are comparable within a game and a component (entries that "
        "met, directly or through others). Half a win and half a loss against an average player "
        "keep them finite."
    )
    return joined(table(["entry", "game", "rating", "component", "comparisons"], rows),
                  tag("p", note, class_="quiet"))  # fmt: skip


def _differences(entries: Sequence[Entry]) -> Html:
    rows = []
    every: Mapping[str, Scores] = {one.name: one.scores for one in entries}
    for measure in ("knowing", "acting on it", "doing"):
        games = {name: by_game(scores, measure) for name, scores in every.items()}
        for one, two in combinations(games, 2):
            for game in sorted(games[one].keys() & games[two].keys()):
                mine, theirs = games[one][game], games[two][game]
                both = sorted(mine.keys() & theirs.keys())
                if not both:
                    continue
                moved = np.array([mine[s][1] - theirs[s][1] for s in both])
                found = mean_by_rule(moved, [mine[s][0] for s in both])
                rows.append(
                    tag("tr", tag("th", f"{one} minus {two}", scope="row"), tag("td", game),
                        tag("td", measure), figure_cell(found), tag("td", len(both)),
                        data_n=f"{one}\n{two}")
                )  # fmt: skip
    note = "Means over the problems that both played, in the unit of each score (doing: payoff)."
    shown = table(["entries", "game", "measure", "difference", "problems"], rows)
    return joined(tag("details", tag("summary", f"{len(rows):,} paired differences"), shown),
                  tag("p", note, class_="quiet"))  # fmt: skip
