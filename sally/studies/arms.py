"""Functions that add arms to a study: other labels, orders and wordings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import permutations, product
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from sally.core.errors import BadInput, join_names, unknown
from sally.core.log.events import Instance, PlayerSpec
from sally.core.prompt.page_layout import read_harness
from sally.core.prompt.skins import AWARE
from sally.core.registry import packs, registry
from sally.core.registry.study import Cell, Study
from sally.core.rules.awareness import WHAT_IS_THIS
from sally.core.rules.probe import repeated_name
from sally.players.language import LANGUAGE

T = TypeVar("T")


def relabel_moves(problem: Instance, names: Sequence[str]) -> tuple[Instance, ...]:
    """Return a copy of the problem for every assignment of these names to its moves."""
    return tuple(
        _variant(problem, f"names={'-'.join(labels)}", names=list(labels))
        for labels in permutations(names)
    )


def reorder_moves(problem: Instance, moves: int) -> tuple[Instance, ...]:
    """Return a copy of the problem for every order in which a prompt can list its moves."""
    return tuple(
        _variant(problem, f"order={'-'.join(map(str, order))}", order=list(order))
        for order in permutations(range(moves))
    )


def counterbalance_moves(problem: Instance, names: Sequence[str]) -> tuple[Instance, ...]:
    """Return copies of the problem in which the labels and the order of the moves rotate together.

    Each name stands for each move equally often, and each move is in each position equally often.
    """
    places = range(len(names))
    return tuple(
        ordered
        for labels in _rotations(names)
        for relabelled_problem in [
            _variant(problem, f"names={'-'.join(labels)}", names=list(labels))
        ]
        for order in _rotations(places)
        for ordered in [
            _variant(relabelled_problem, f"order={'-'.join(map(str, order))}", order=list(order))
        ]
    )


def vary_harness(player: PlayerSpec, **choices: Sequence[Any]) -> tuple[PlayerSpec, ...]:
    """Return copies of a language player, one for every combination of these harness settings.

    `vary_harness(player, history=(None, 4), answer=("line", "json"))` returns four copies; None
    keeps the default. `sally.core.prompt.page_layout` lists the settings.
    """
    players = []
    for chosen in product(*choices.values()):
        harness = {k: v for k, v in zip(choices, chosen, strict=True) if v is not None}
        read_harness(harness)  # raises if it is not a harness
        other_params = {key: value for key, value in player.params.items() if key != "harness"}
        params = {**other_params, "harness": harness} if harness else other_params
        players.append(msgspec.structs.replace(player, params=params))
    return tuple(players)


def with_unasked(study: Study) -> Study:
    """Return the study plus an unprobed copy of every probed cell."""
    cells = [
        msgspec.structs.replace(
            cell,
            name=f"{cell.name}, not asked",
            arms={},
            injections=tuple(i for i in cell.injections if i.source != "own"),
        )
        for cell in study.cells
        if any(cell.arms.values())
    ]
    if not cells:
        raise BadInput(
            f"{study.name} asks no probes, so there is no cell to repeat without probes."
        )
    return msgspec.structs.replace(study, cells=(*study.cells, *cells))


def with_repeats(study: Study, one_in: int) -> Study:
    """Return the study with every question about a mind asked a second time, in one of so many
    turns.

    Raises:
        BadInput: If `one_in` is not positive, or the study asks no such question.
    """
    if one_in < 1:
        raise BadInput(f"Questions are asked again in one of 1 or more turns, not {one_in}.")
    cells, is_asked = [], False
    for cell in study.cells:
        specs = {registry.game(instance.game) for instance in cell.instances}
        probes = {
            seat: tuple(
                repeated_name(name, one_in)
                for name in names
                if all(spec.probe(name).of_mind and not spec.probe(name).once for spec in specs)
            )
            for seat, names in cell.arms.items()
        }
        if any(probes.values()):
            is_asked = True
            arms = {seat: (*names, *probes[seat]) for seat, names in cell.arms.items()}
            cell = msgspec.structs.replace(cell, name=f"{cell.name}, asked again", arms=arms)
        cells.append(cell)
    if not is_asked:
        raise BadInput(f"{study.name} asks nothing about another's mind that could be asked again.")
    return msgspec.structs.replace(study, cells=tuple(cells))


def with_awareness(study: Study) -> Study:
    """Return the study plus a copy of every cell with a model, in which the model also answers the
    awareness probe."""
    cells = []
    for cell in study.cells:
        models = [
            {s for s, player in line.items() if player.player == LANGUAGE} for line in cell.lineups
        ]
        lineups = tuple(line for line, seats in zip(cell.lineups, models, strict=True) if seats)
        seats = set.intersection(*filter(None, models)) if lineups else set()
        probes = {s: (*cell.arms.get(s, ()), WHAT_IS_THIS) for s in sorted(seats)}
        if probes:
            name = f"{cell.name}, asked what this is"
            arms = {**cell.arms, **probes}
            cells.append(msgspec.structs.replace(cell, name=name, lineups=lineups, arms=arms))
    if not cells:
        raise BadInput(f"No model of {study.name} can be asked the awareness probe.")
    return msgspec.structs.replace(study, cells=(*study.cells, *cells))


def with_packs(study: Study, pack_names: Sequence[str]) -> Study:
    """Return the study plus copies of every cell with a model, one for each of these wordings.

    `all` selects the game's shipped wordings, except those of `aware`; `twin` selects those that
    describe the other player as a mechanism; `aware` selects those with an introduction that may
    tell the model that it is being evaluated. Other values are names of packs.
    """
    cells = [new for cell in study.cells for new in _reword(cell, pack_names)]
    if not cells:
        raise BadInput(f"No model of {study.name} can be given the words {join_names(pack_names)}.")
    return msgspec.structs.replace(study, cells=(*study.cells, *cells))


def _reword(cell: Cell, pack_names: Sequence[str]) -> list[Cell]:
    read = tuple(
        line for line in cell.lineups if any(player.player == LANGUAGE for player in line.values())
    )
    families = dict.fromkeys(registry.family(i.game).name for i in cell.instances)
    cells = []
    for family in families if read else ():
        problems = tuple(i for i in cell.instances if registry.family(i.game).name == family)
        for pack in _packs(family, pack_names):
            lineups = tuple(_in_words(line, pack) for line in read)
            new = msgspec.structs.replace(
                cell, name=f"{cell.name}, {pack}", instances=problems, lineups=lineups
            )
            cells.append(new)
    return cells


def _packs(family: str, requested: Sequence[str]) -> list[str]:
    """Return the requested packs of a family; raises BadInput if a pack is unknown."""
    game_packs = packs.for_game(family)
    all_packs = packs.shipped_packs()
    names: dict[str, None] = {}
    for name in requested:
        if name == "all":
            names |= dict.fromkeys(n for n in game_packs if AWARE not in n)
        elif name == "aware":
            names |= dict.fromkeys(n for n in game_packs if AWARE in n)
        elif name == "twin":
            names |= dict.fromkeys(n for n in game_packs if n.endswith("_twin"))
        elif name.endswith(".toml"):
            if packs.read_pack(Path(name)).game == family:
                names[name] = None
        elif name not in all_packs:
            raise unknown("words pack", name, ("all", "twin", "aware", *all_packs))
        elif name in game_packs:
            names[name] = None
    return list(names)


def _in_words(line: Mapping[str, PlayerSpec], pack: str) -> dict[str, PlayerSpec]:
    return {
        seat: msgspec.structs.replace(player, params={**player.params, "pack": pack})
        if player.player == LANGUAGE
        else player
        for seat, player in line.items()
    }


def without(study: Study, strategies: Iterable[str]) -> Study:
    """Return the study without the lineups that use these strategies."""
    unwanted = set(strategies)

    def stay(cell: Cell) -> tuple[dict[str, PlayerSpec], ...]:
        return tuple(
            line
            for line in cell.lineups
            if unwanted.isdisjoint(str(player.params.get("strategy")) for player in line.values())
        )

    cells = [
        msgspec.structs.replace(c, lineups=lineups) for c in study.cells if (lineups := stay(c))
    ]
    if not cells:
        raise BadInput(f"Without {', '.join(sorted(unwanted))}, no lineup of {study.name} is left.")
    return msgspec.structs.replace(study, cells=tuple(cells))


class StudySelection(msgspec.Struct, frozen=True):
    """A selection from a study; by default, the whole study."""

    cells: tuple[str, ...] = ()  # names, or patterns such as `*tit_for_tat*`
    tables: tuple[str, ...] = ()  # of a paper: cells named `table 4: ...`
    games: tuple[str, ...] = ()
    strategies: tuple[str, ...] = ()


def part_of(study: Study, part: StudySelection) -> Study:
    """Return the study with only the selected cells and lineups; episode ids stay the same."""
    cells = [selected for cell in study.cells if (selected := _select(cell, part)) is not None]
    if cells:
        return msgspec.structs.replace(study, cells=tuple(cells))
    options = {"--cell": part.cells, "--table": part.tables, "--game": part.games,
             "--strategy": part.strategies}  # fmt: skip
    arguments = " ".join(f"{flag} {name}" for flag, names in options.items() for name in names)
    raise BadInput(f"No cell of {study.name} matches {arguments}; {_choices(study)}.")


def _select(cell: Cell, part: StudySelection) -> Cell | None:
    tabled = [f"table {table}:*" for table in part.tables]
    for patterns in (part.cells, tabled):
        if patterns and not any(fnmatchcase(cell.name.lower(), p.lower()) for p in patterns):
            return None
    problems = tuple(i for i in cell.instances if not part.games or i.game in part.games)
    lineups = tuple(
        line
        for line in cell.lineups
        if not part.strategies or _strategies(line) & set(part.strategies)
    )
    if not problems or not lineups:
        return None
    return msgspec.structs.replace(cell, instances=problems, lineups=lineups)


def _strategies(lineup: Mapping[str, PlayerSpec]) -> set[str]:
    return {
        str(player.params["strategy"]) for player in lineup.values() if "strategy" in player.params
    }


def _choices(study: Study) -> str:
    """Return a clause that lists what can be selected: games, strategies and the first cells."""
    games = dict.fromkeys(i.game for cell in study.cells for i in cell.instances)
    used = sorted({s for cell in study.cells for line in cell.lineups for s in _strategies(line)})
    examples = [cell.name for cell in study.cells[:3]]
    remainder = f" and {len(study.cells) - 3} more" if len(study.cells) > 3 else ""
    strategies = f", strategies {join_names(used)}" if used else ""
    cells = f"{'; '.join(examples)}{remainder}"
    return f"it has games {join_names(games)}{strategies}, cells such as {cells}"


def _rotations(things: Sequence[T]) -> list[tuple[T, ...]]:
    return [(*things[n:], *things[:n]) for n in range(len(things))]


def _variant(problem: Instance, mark: str, **params: object) -> Instance:
    return Instance(f"{problem.id}/{mark}", problem.game, {**problem.params, **params})
