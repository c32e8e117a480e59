"""Import of tables of repeated-game rounds: `sally import table FILE.csv`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from sally.adapters.importers.table_cells import CheckedEpisode, checked
from sally.adapters.importers.table_layout import FAMILY, Layout, bot_of, game_of, params_of
from sally.adapters.importers.table_rows import CellError, TableRounds, read, refused_cells
from sally.core.errors import BadInput
from sally.core.log.events import Episode, Instance, PlayerSpec, Setup
from sally.core.log.imported import Difference, ImportRun, Oddity, Source, recorded_player
from sally.core.registry.paper import ImportResult
from sally.games.repeated_games.recorded import Round, bot, fed, person
from sally.games.repeated_games.rules import AGENT, PARTNER

SEATS = (AGENT, PARTNER)
PERSON = "human:"  # before the id of a person
EXAMPLES = 3  # of payoffs that contradict the matrix


def imported(path: Path, layout: Layout) -> ImportResult:
    """Return every episode of a table.

    Raises:
        BadInput: The table is not valid; the message lists all errors.
    """
    found = read(path, layout)
    bots = {name: bot(*bot_of(who)) for name, who in layout.partners.items()}
    layout = _with_game(path, found, layout)
    longest = max((rows[-1].round for rows in found.episodes.values()), default=0)
    rounds = layout.rounds or longest
    refused: list[str] = []
    if not layout.skip_bad and rounds < longest:
        refused.append(f"there is a round {longest}, more than `rounds` = {rounds}")
    game = game_of(layout, max(rounds, 1))
    good, wrong = [], list(found.wrong)
    for name, rows in found.episodes.items():
        each = checked(name, rows, game, layout)
        wrong += each.wrong
        good.append(each)
    differs = [d for each in good for d in each.differences if d.what == "payoff"]
    odd = list(found.oddities)
    if layout.skip_bad:
        bad = {w.episode for w in wrong}
        odd += _skipped(path, wrong)
        good = [each for each in good if each.name not in bad]
    else:
        refused += refused_cells(wrong)
    met = {who for each in good for who in each.players}
    refused += [
        f"a partner was declared for {unmet!r}, which is not a player in the table"
        for unmet in sorted(set(bots) - met)
    ]
    if differs and not layout.allow_differences:
        refused += _refused_payoffs(differs)
    if refused:
        raise BadInput("\n".join([f"{path} was not imported:", *refused]))
    return _taken(path, found, layout, rounds, good, odd, bots)


def _taken(
    path: Path,
    found: TableRounds,
    layout: Layout,
    rounds: int,
    good: Sequence[CheckedEpisode],
    odd: Sequence[Oddity],
    bots: dict[str, PlayerSpec],
) -> ImportResult:
    name = layout.source or path.name.split(".")[0]
    source = Source.of(name, layout.licence, path.name, found.data)
    run = ImportRun(odd, {"found": len(found.episodes)})
    run.differences += [d for each in good for d in each.differences]
    for each in good:
        length = len(each.rounds) if layout.as_played else rounds
        episode, more = _episode(each, layout, source, max(length, len(each.rounds)), bots)
        void = (isinstance(r.agent, str) or isinstance(r.partner, str) for r in each.rounds)
        counts = {
            "rounds": len(each.rounds),
            "void rounds": sum(void),
            "predictions": sum(len(r.said) for r in each.rounds),
        }
        run.add(episode, more, counts)
    return run.result()


def _episode(
    each: CheckedEpisode, layout: Layout, source: Source, rounds: int, bots: dict[str, PlayerSpec]
) -> tuple[Episode, list[Difference]]:
    lineup = {str(seat): _sitter(who, bots) for seat, who in zip(SEATS, each.players, strict=True)}
    people = [who.removeprefix(PERSON) for who in each.players if who.startswith(PERSON)]
    name = f"{source.source}:{'+'.join(people) or '-'}:{each.name}"
    params = {**params_of(layout), "rounds": rounds, "void_limit": rounds}
    arms: dict[str, tuple[str, ...]] = {
        str(seat): ("their_move",) for seat in SEATS if any(seat in r.said for r in each.rounds)
    }
    setup = Setup(Instance(name, layout.game or FAMILY, params), 0, lineup, arms=arms)
    used: dict[str, Any] = {"source": msgspec.to_builtins(source), "episode": each.name}
    if each.seconds:
        used["people"] = {seat: {"seconds": list(s)} for seat, s in each.seconds.items()}
    seated = {s: lineup[s] for s in SEATS if lineup[s].player != "recorded"}
    episode, seen = fed(setup, each.rounds, seated, each.condition, used)
    game = game_of(layout, rounds)
    differences = [
        Difference(
            each.name,
            "bot's move",
            at,
            game.names_of(seat)[_move(each.rounds[at - 1], seat)],
            f"{lineup[seat].player} never plays it there",
        )
        for seat, judged in seen.items()
        for at in judged.outside
    ]
    return episode, differences


def _move(played: Round, seat: str) -> int:
    made = played.agent if seat == AGENT else played.partner
    assert isinstance(made, int)  # only moves are judged
    return made


def _sitter(who: str, bots: dict[str, PlayerSpec]) -> PlayerSpec:
    if who in bots:
        return bots[who]
    return person(who.removeprefix(PERSON)) if who.startswith(PERSON) else recorded_player(who)


def _skipped(path: Path, wrong: Sequence[CellError]) -> list[Oddity]:
    """Return the skipped episodes with their first error."""
    by_episode: dict[str, list[CellError]] = {}
    for each in wrong:
        by_episode.setdefault(each.episode, []).append(each)
    return [
        Oddity(
            str(path), f"skipped episode {name or '(without a name)'}", str(mine[0]), mine[0].line
        )
        for name, mine in by_episode.items()
    ]


def _refused_payoffs(differs: Sequence[Difference]) -> list[str]:
    """Return examples of payoffs that contradict the matrix."""
    shown = [
        f"{d.game}, round {d.turn}: {d.recorded} in the table, {d.ours} by the matrix"
        for d in differs[:EXAMPLES]
    ]
    more = [f"and {len(differs) - EXAMPLES} more"] if len(differs) > EXAMPLES else []
    how = "(with `allow_differences` it is imported and they are listed)"
    return [f"its payoffs contradict the matrix {how}:", *shown, *more]


# --- the game from the table itself ---------------------------------------------------------------


def _with_game(path: Path, found: TableRounds, layout: Layout) -> Layout:
    """Return the layout with its matrix, inferred from the payoffs if requested."""
    if not layout.infer:
        return layout
    used: list[dict[str, None]] = [{}, {}]
    for rows_told in found.episodes.values():
        for each in rows_told:
            for side in (0, 1):
                if each.halves[side].action:
                    used[side][each.halves[side].action] = None
    both = dict.fromkeys([*used[0], *used[1]])
    alike = set(used[0]) == set(used[1]) or len(both) == max(len(used[0]), len(used[1]))
    rows, columns = (list(both), list(both)) if alike else (list(used[0]), list(used[1]))
    if layout.names:
        rows = columns = list(layout.names)
    paid: dict[tuple[str, str], tuple[float, float]] = {}
    for rows_told in found.episodes.values():
        for each in rows_told:
            _note(path, paid, each.halves)
    missing = [f"{a} and {b}" for a in rows for b in columns if (a, b) not in paid]
    if missing:
        raise BadInput(
            f"{path}: the matrix cannot be inferred from the payoffs, because {missing[0]} was "
            "never "
            f"played with payoffs ({len(missing)} of {len(rows) * len(columns)} cells)."
        )
    matrix = tuple(tuple(paid[a, b] for b in columns) for a in rows)
    names = {"names": tuple(rows), "partner_names": () if rows == columns else tuple(columns)}
    return msgspec.structs.replace(layout, matrix=matrix, infer=False, **names)


def _note(path: Path, paid: dict[tuple[str, str], tuple[float, float]], halves: Any) -> None:
    one, two = halves
    if not (one.action and two.action and one.payoff and two.payoff):
        return
    try:
        now = (float(one.payoff), float(two.payoff))
    except ValueError:
        return  # reported later with its line
    cell = (one.action, two.action)
    if paid.setdefault(cell, now) != now:
        raise BadInput(
            f"{path}, line {one.line}: {cell[0]} and {cell[1]} pay {now} here but {paid[cell]} "
            "in an earlier line; no matrix can be inferred."
        )
