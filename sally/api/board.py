"""The board: a static site of evaluations, recomputed from their bundles.

A bundle is refused unless every answer in it can be checked, and unless each of its episodes is the
one that the suite asks of its player: same problem, seed, opponents, questions, cell and retries,
without injections or forks.
"""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from sally import store
from sally.analysis.evaluation import (
    ASKED,
    Evaluation,
    Planned,
    evaluate,
    in_arms,
    name_of,
    per_problem,
)
from sally.analysis.pairs.evaluation import PairEvaluation
from sally.api.evaluation import SIZES, chosen_estimates, reference_episodes
from sally.api.pair_evaluation import evaluation_of_episodes, game_row
from sally.api.result_list import rows_figure
from sally.api.rows import Rows
from sally.core.errors import BadInput, join_names
from sally.core.log.events import Ended, Episode, PlayerSpec, Setup, canonical
from sally.core.registry.packs import pack_name
from sally.core.registry.study import Study
from sally.core.rules.game import Game
from sally.frames.frame import Frame, as_frame
from sally.frames.labels import tags_of
from sally.output.files.attestation import read_attestation
from sally.output.page.board import Entry, GamesEntry, PairEntry, RefusedBundle, write_board
from sally.output.page.evaluation import write_evaluation
from sally.output.page.page_data import PageData
from sally.output.page.pair_evaluation import write_pair_evaluation
from sally.output.page.write import PageOptions, write_page
from sally.players.language import LANGUAGE
from sally.runner.check import SOURCE, cells_of, check
from sally.runner.local import orders
from sally.store.bundles import EPISODES, is_bundle, open_store
from sally.studies import sally_1, sally_2
from sally.studies.sally_1 import BOTS, Size, bot_suite, size_of, suite

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# parameters that an evaluated language player may choose; all others are those of the suite
CHOSEN = frozenset({"model", "strategy", "settings", "with_"})


MOST_NAME = 200  # characters of the name of a model
EPISODES_PAGE = "-episodes"  # ending of the names of pages with transcripts


class BoardRows(Rows):
    """The entries of a board: one row per entry and game.

    `entries` holds the evaluations, `refused` the bundles that were refused, with the reasons, and
    `page` the path of the site, if it was written.
    """

    def __init__(
        self,
        entries: Sequence[GamesEntry | PairEntry],
        refused: Sequence[RefusedBundle],
        page: Path | None = None,
    ) -> None:
        self.entries, self.refused, self.page = tuple(entries), tuple(refused), page
        super().__init__(
            {"player": entry.name, "bundle": entry.bundle, "suite": entry.results.suite}
            | row
            | {"played": entry.played_count, "planned": entry.planned_count}
            for entry in entries
            for row in _game_rows(entry)
        )

    def plot(self, column: str = "doing") -> Figure:
        """Draw one measure of every entry, with 95% intervals, one panel per suite and game.

        Args:
            column: `knowing`, `acting` or `doing`.

        Raises:
            BadInput: If the measure is unknown, nothing can be drawn, or Matplotlib is missing.
        """
        return rows_figure(self, column, "The board", ("suite", "game"))


def _game_rows(entry: GamesEntry | PairEntry) -> list[dict[str, Any]]:
    if isinstance(entry.results, PairEvaluation):
        return [game_row(game) for game in entry.results.games]
    return [{"game": game.game} | chosen_estimates(game) for game in entry.results.games]


def board(
    *bundles: str | Path,
    out: str | Path | None = None,
    transcripts: int = 1,
    watch: Callable[[str], None] | None = None,
) -> BoardRows:
    """Replay the bundles of evaluations, recompute every figure, and write a static site.

    Args:
        *bundles: Bundles (`.sally.zip`), or folders of bundles.
        out: Folder of the site; None writes nothing.
        transcripts: Transcripts per cell and lineup of each entry on the site; 0 for none.
        watch: Called with a line about each bundle.

    Returns:
        One row per entry and game. Bundles that do not replay are in `refused`, with the reasons.

    Raises:
        BadInput: If a path is neither a bundle nor a folder of bundles.
    """
    entries: list[GamesEntry | PairEntry] = []
    refused: list[RefusedBundle] = []
    used_names = {"index"}
    site = Path(tempfile.gettempdir() if out is None else out)
    for bundle in _bundles(tuple(map(Path, bundles))):
        page = _free_page(bundle, used_names)
        try:
            entry = checked_entry(bundle, site / page, None if out is None else transcripts)
            entries.append(entry)
            line = (
                f"{entry.name}, {entry.played_count:,} of {entry.planned_count:,} episodes replayed"
            )
        except BadInput as error:
            refused.append(RefusedBundle(bundle.name, str(error)))
            line = f"refused. {error}"
        if watch is not None:
            watch(f"{bundle.name}: {line}")
    entries = _with_distinct_names(entries)
    written = None
    if out is not None:
        written = write_board(entries, refused, site, sally_1.recorded_play())
    return BoardRows(entries, refused, written)


def file_name(name: str) -> str:
    """Return a name as a file name: signs other than letters, digits, `.`, `_` and `-` become `-`.

    >>> file_name("openai/gpt 4")
    'openai-gpt-4'
    """
    return "".join(sign if sign.isalnum() or sign in "._-" else "-" for sign in name).strip("-.")


def _free_page(bundle: Path, used_names: set[str]) -> str:
    """Return the name of an entry's page and add it, and that of its transcripts, to `used_names`.

    The name is one that a link may have; names differ in more than capitals, which some file
    systems do not tell apart.
    """
    name = bundle.name.removesuffix(".sally.zip")[:200]
    stem = re.sub(r"[^A-Za-z0-9._-]", "-", name).strip("-.") or "entry"
    page, number = stem, 1
    while {page.lower(), f"{page}{EPISODES_PAGE}".lower()} & used_names:
        number += 1
        page = f"{stem}-{number}"
    used_names |= {page.lower(), f"{page}{EPISODES_PAGE}".lower()}
    return page


def _with_distinct_names(entries: Sequence[GamesEntry | PairEntry]) -> list[GamesEntry | PairEntry]:
    """Return the entries; those that share a name get the names of their bundles as well."""
    counts = Counter((type(entry.results), entry.name) for entry in entries)
    return [
        msgspec.structs.replace(entry, name=f"{entry.name} ({entry.bundle})")
        if counts[type(entry.results), entry.name] > 1
        else entry
        for entry in entries
    ]


def _bundles(places: tuple[Path, ...]) -> list[Path]:
    bundles = []
    for place in places:
        inside = sorted(place.glob("*.sally.zip")) if place.is_dir() else [place]
        if not inside or not all(map(is_bundle, inside)):
            raise BadInput(
                f"{place} is neither a bundle nor a folder of bundles; `sally pack DIR` makes one."
            )
        bundles += inside
    return bundles


def checked_entry(bundle: Path, page: Path, transcripts: int | None) -> GamesEntry | PairEntry:
    """Replay a bundle, recompute its figures and write its pages, whose names begin with `page`.

    No pages are written if `transcripts` is None.

    Raises:
        BadInput: If the bundle is changed, does not replay, cannot be checked, or is not part of
            the suite.
    """
    signed = read_attestation(bundle)
    with open_store(bundle) as (place, packed):
        assert packed is not None  # only bundles are given
        episodes, readers = proved_episodes(place, packed.sha256)
        studies = list(store.studies(place).values())
        if any(study.name == sally_2.NAME for study in studies):
            entry = _pair_entry(bundle, packed.sha256, studies, episodes, signed, readers, page)
            if transcripts is not None:
                write_pair_evaluation(entry.results, page.with_name(entry.page))
            return entry
        study, size = _largest(studies)
        plan = plan_episodes(episodes, study, size)
        is_earlier = packed.sha256 in earlier_checks()
        # An earlier version of Sally has checked the texts of its packs.
        words_of = pack_name if is_earlier else same_pack
        refuse_unplanned(episodes, plan, f"Sally-1, size {size}", words_of)
        finished = as_frame(played_episodes(episodes), studies=[study])
        evaluation = _evaluate(finished, plan, study, size, words_of)
        transcript_page = ""
        if transcripts is not None:
            write_evaluation(evaluation, page.with_name(f"{page.name}.html"))
            if transcripts:
                transcript_page = f"{page.name}{EPISODES_PAGE}.html"
                write_page(
                    PageData(place), page.with_name(transcript_page), PageOptions(transcripts)
                )
        return Entry(evaluation.player, bundle.name, packed.sha256, size, evaluation,
                     f"{page.name}.html", signed, readers,
                     per_problem(in_arms(finished, (ASKED,))), transcript_page)  # fmt: skip


def _pair_entry(
    bundle: Path,
    sha256: str,
    studies: Sequence[Study],
    episodes: list[Episode],
    signed: str,
    readers: str,
    page: Path,
) -> PairEntry:
    """Return the entry of an evaluation on pairs; refuses positions that are not of the suite."""
    sizes = {sally_2.size_of(study) for study in studies}
    played_sizes = [size for size in sally_2.SIZE_NAMES if size in sizes]
    if not played_sizes:
        raise BadInput("It holds no evaluation: none of its studies is a size of Sally-2.")
    size = played_sizes[-1]
    bot = next((tags_of(study).get("bot", "") for study in studies), "")
    if bot and bot not in sally_2.BOTS:
        raise BadInput(f"Its study was played by the bot {bot!r}, which is unknown.")
    full_suite = (
        sally_2.bot_suite(bot, size)
        if bot
        else _with_player(sally_2.suite(size), _chosen_params(episodes))
    )
    plan = plan_positions(full_suite)
    refuse_unplanned(episodes, plan, f"Sally-2, size {size}", sally_2.current_pack)
    if earlier := earlier_packs(episodes):
        readers = f"{readers}; earlier words of {join_names(earlier)}"
    planned = sum(len(cell.instances) * cell.repeats for cell in full_suite.cells)
    evaluation = evaluation_of_episodes(played_episodes(episodes), full_suite, planned, bot)
    return Entry(evaluation.player, bundle.name, sha256, size, evaluation, f"{page.name}.html",
                 signed, readers)  # fmt: skip


def played_episodes(episodes: Iterable[Episode]) -> list[Episode]:
    """Return the episodes that the rules ended. Others are missing ones, whatever their log names
    as the cause: nobody can check it, so the rounds that a player would lose could be left out."""
    return [
        episode
        for episode in episodes
        if isinstance(end := episode.end, Ended) or end.cause == Game.censor_cause
    ]


def plan_positions(full_suite: Study) -> list[Planned]:
    """Return every position of a suite that can be asked of its player.

    A strategy cannot answer every game: scored options, for example, need names of which none is
    the beginning of another. Such cells have no episodes, and their positions are missing.

    Raises:
        BadInput: If the player can be asked in no cell.
    """
    plan: list[Planned] = []
    problem = None
    for cell in full_suite.cells:
        single_cell = msgspec.structs.replace(full_suite, cells=(cell,))
        try:
            orders_of_cell = orders(single_cell, open_models=False)
        except BadInput as error:
            problem = problem or error
            continue
        plan += [Planned(name, setup) for _, name, setup in orders_of_cell]
    if problem is not None and not plan:
        raise problem
    return plan


def earlier_packs(episodes: Sequence[Episode]) -> list[str]:
    """Return the names of the words packs of which the episodes have an earlier text of the suite.

    Raises:
        BadInput: If two texts of one pack are mixed, of which the better answers could be kept.
    """
    texts: dict[str, set[str]] = {}
    for episode in episodes:
        for player in episode.setup.lineup.values():
            if player.player == LANGUAGE and (pack := player.params.get("pack")):
                texts.setdefault(pack_name(pack), set()).add(pack)
    for name, references in texts.items():
        if len(references) > 1:
            raise BadInput(
                f"Its episodes mix {len(references)} texts of the words pack {name}: "
                f"{join_names(sorted(references))}; an evaluation has one."
            )
    return sorted(name for name, packs in texts.items() if packs <= sally_2.EARLIER_PACKS)


class EarlierCheck(msgspec.Struct, frozen=True):
    """A bundle of which an earlier version of Sally, with the rule that had read its replies,
    replayed every episode and checked every answer."""

    bundle: str
    reader: int  # version of the rule
    commit: str


def earlier_checks() -> dict[str, EarlierCheck]:
    """Return the bundles that an earlier version of Sally has checked, by their SHA-256."""
    text = (files("sally.studies.records") / "checked_bundles.json").read_bytes()
    return msgspec.json.decode(text, type=dict[str, EarlierCheck])


def proved_episodes(place: store.Where, sha256: str) -> tuple[list[Episode], str]:
    """Return the episodes of an unpacked bundle, and which rule read the replies in them.

    Raises:
        BadInput: If a line is bad or repeated, if an episode does not replay, or if an answer in it
            cannot be checked and no earlier version of Sally has checked these very bytes.
    """
    contents = store.load(place, quarantine=False, check=False)
    if contents.bad:
        raise BadInput(f"{contents.bad[0]}.")
    if contents.doubled:
        raise BadInput(f"{contents.doubled:,} of its lines repeat an episode.")
    episodes = list(contents.episodes.values())
    imported_id = next((episode.id for episode in episodes if SOURCE in episode.used), "")
    if imported_id:
        raise BadInput(f"episode {imported_id} was imported: another program played it.")
    result = check(episodes, cells_of(place), contents)
    earlier = earlier_checks().get(sha256)
    unchecked = [] if earlier is not None else result.unchecked
    for failed, failure in ((result.mismatches, "does not replay"),
                         (unchecked, "cannot be checked")):  # fmt: skip
        if failed:
            id, reason = failed[0]
            others = f" ({len(failed) - 1} more: {failure})" if len(failed) > 1 else ""
            line = _line_of(Path(str(place)) / EPISODES, id)
            raise BadInput(f"{EPISODES}, line {line}: episode {id} {failure}: {reason}{others}")
    if earlier is not None and result.unchecked:
        return episodes, f"rule {earlier.reader}, checked at commit {earlier.commit}"
    rules = [f"rule {version}" for version in sorted(result.readers)]
    return episodes, join_names(rules) if rules else "-"


def _line_of(file: Path, id: str) -> int:
    with file.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if id.encode() in line[:200]:
                return number
    return 0


def _largest(studies: Iterable[Study]) -> tuple[Study, Size]:
    """Return the largest size of the suite among the studies of a bundle."""
    sizes = {size_of(study): study for study in studies}
    for size in reversed(SIZES):
        if size in sizes:
            return sizes[size], size
    raise BadInput("It holds no evaluation: none of its studies is a size of Sally-1 or Sally-2.")


def plan_episodes(episodes: Sequence[Episode], study: Study, size: Size) -> list[Planned]:
    """Return every episode that the suite asks of the player of these episodes.

    Raises:
        BadInput: If the episodes have no player, or a player that the suite cannot ask.
    """
    bot = tags_of(study).get("bot", "")
    if bot:
        if bot not in BOTS:
            raise BadInput(f"Its study was played by the bot {bot!r}, which is unknown.")
        full_suite = bot_suite(bot, size)
    else:
        full_suite = _with_player(suite(size), _chosen_params(episodes))
    return [Planned(cell, setup) for _, cell, setup in orders(full_suite, open_models=False)]


def _chosen_params(episodes: Sequence[Episode]) -> dict[str, object]:
    """Return the parameters of the one language player that sits in every episode."""
    distinct = {
        msgspec.json.encode({k: v for k, v in player.params.items() if k != "pack"}, order="sorted")
        for episode in episodes
        for player in episode.setup.lineup.values()
        if player.player == LANGUAGE
    }
    if len(distinct) != 1:
        raise BadInput(
            f"It holds episodes of {len(distinct)} language players; an evaluation has one, with "
            f"the "
            "same model, strategy and settings in every episode."
        )
    params: dict[str, object] = msgspec.json.decode(distinct.pop())
    if others := params.keys() - CHOSEN:
        raise BadInput(f"Its player has the parameter {min(others)!r}, which the suite does not.")
    model = params.get("model", "embedded")
    if not (isinstance(model, str) and model.isprintable() and 0 < len(model.strip()) <= MOST_NAME):
        raise BadInput(
            f"Its model is named {str(model)[:MOST_NAME]!r}; a name has 1 to {MOST_NAME} printable "
            "characters."
        )
    return params


def _with_player(study: Study, params: dict[str, object]) -> Study:
    """Return the suite with these parameters for its language player; the words packs stay."""

    def fill_seat(player: PlayerSpec) -> PlayerSpec:
        if player.player != LANGUAGE:
            return player
        pack = {"pack": player.params["pack"]} if "pack" in player.params else {}
        return msgspec.structs.replace(player, params={**params, **pack})

    cells = tuple(
        msgspec.structs.replace(
            cell,
            lineups=tuple(
                {s: fill_seat(player) for s, player in line.items()} for line in cell.lineups
            ),
        )
        for cell in study.cells
    )
    return msgspec.structs.replace(study, cells=cells)


PackIdentity = Callable[[str], str]  # what a reference of a words pack is compared by


def same_pack(reference: str) -> str:
    """Compare words packs by their texts."""
    return reference


def refuse_unplanned(
    episodes: Sequence[Episode],
    plan: Sequence[Planned],
    suite_name: str,
    words_of: PackIdentity = same_pack,
) -> None:
    """Raise BadInput if the suite does not ask an episode of its player.

    `words_of` returns what the reference of a words pack is compared by.
    """
    planned_setups = {_comparable(order.cell, order.setup, words_of) for order in plan}
    for episode in episodes:
        if _comparable(episode.cell, episode.setup, words_of) not in planned_setups:
            raise BadInput(
                f"episode {episode.id} is not part of {suite_name}: its problem, seed, "
                f"players, questions, retries, injections or cell ({episode.cell!r}) differ."
            )


def _comparable(cell: str, setup: Setup, words_of: PackIdentity) -> bytes:
    """Return a cell and a setup as text, without the versions of language players, which a replay
    has checked."""

    def without_versions(player: PlayerSpec) -> PlayerSpec:
        if player.player != LANGUAGE:
            return player
        params = dict(player.params)
        if "pack" in params:
            params["pack"] = words_of(params["pack"])
        return msgspec.structs.replace(player, params=params, versions={})

    lineup = {seat: without_versions(player) for seat, player in setup.lineup.items()}
    return cell.encode() + b"\n" + canonical(msgspec.structs.replace(setup, lineup=lineup))


def _evaluate(
    frame: Frame, plan: Sequence[Planned], study: Study, size: Size, words_of: PackIdentity
) -> Evaluation:
    played = {_comparable(e.cell, e.setup, words_of) for e in frame}
    missing = [o for o in plan if _comparable(o.cell, o.setup, words_of) not in played]
    bot = tags_of(study).get("bot", "")
    return evaluate(frame, player=bot or name_of(frame.setups()),
                    suite=f"Sally-1, version {sally_1.VERSION}, size {size}", wanted=len(plan),
                    references=reference_episodes(frame),
                    reliability=sally_1.reliability(size),
                    recorded=sally_1.recorded_play(), missing=missing)  # fmt: skip
