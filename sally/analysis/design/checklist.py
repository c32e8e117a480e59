"""Reporting checklist of a study, filled in from its definition; gaps are listed."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from sally.analysis.compare.contrast import TWIN
from sally.core.errors import join_names
from sally.core.log.events import PlayerSpec, model_and_strategy
from sally.core.registry import registry
from sally.core.registry.packs import pack_name
from sally.core.registry.study import Cell, Study
from sally.core.rules.game import GameSpec
from sally.players.language import LANGUAGE, OPEN, uses_model
from sally.stats.intervals import FEW

PEOPLE = ("person",)


class Item(msgspec.Struct, frozen=True):
    """One point of the checklist: what the study has, and what it lacks."""

    point: str
    said: tuple[str, ...]
    missing: tuple[str, ...] = ()


def checklist(study: Study) -> list[Item]:
    """Return the checklist of a study, from its construct to the effects of its probes."""
    specs = {i.game: registry.game(i.game) for cell in study.cells for i in cell.instances}
    return [
        _construct(study, specs),
        _population(study),
        _sampling(study),
        _scoring(study, specs),
        _baselines(specs),
        _uncertainty(study),
        _people(study),
        _contamination(study),
        _asking(study),
    ]


Specs = dict[str, GameSpec]


def _construct(study: Study, specs: Specs) -> Item:
    statements, missing = [study.about], []
    for game, spec in specs.items():
        probes = {
            name
            for cell in _of_game(study, game)
            for names in cell.arms.values()
            for name in names
            if spec.probe(name).of_mind
        }
        if probes:
            statements.append(f"knowing in {game}: {join_names(sorted(probes), 'and')}")
        else:
            missing.append(
                f"no seat is asked about another's mind in {game}: only doing is measured"
            )
        if spec.measured.doing.no_split:
            statements.append(
                f"the stated limit that knowing and acting on it cannot be separated in {game}: "
                f"{spec.measured.doing.no_split}"
            )
    return Item("construct", tuple(statements), tuple(missing))


def _population(study: Study) -> Item:
    models = sorted({_model(player) for player in _players(study) if uses_model(player)})
    bots = sorted(
        {player.player for player in _players(study) if not uses_model(player)} - set(PEOPLE)
    )
    statements, missing = [], []
    if models:
        ways = sorted(
            {str(w.params.get("strategy", "qa")) for w in _players(study) if _is_language(w)}
        )
        statements.append(
            f"models: {join_names(models, 'and')}, asked by {join_names(ways, 'and')}"
        )
    statements.append(f"scripted players: {join_names(bots, 'and') if bots else 'none'}")
    if len(models) == 1:
        missing.append(
            "the study has only one model: its results do not describe models in general"
        )
    if not models and not _has_people(study):
        missing.append("no model and no person: the study only describes scripted players")
    return Item("population", tuple(statements), tuple(missing))


def _sampling(study: Study) -> Item:
    statements = [f"seed {study.seed}; problems and random draws do not depend on the players"]
    missing = []
    for cell in study.cells:
        if len(cell.instances) == 1 and cell.repeats == 1:
            missing.append(f"cell {cell.name!r} is one problem, played once")
    problems = {i.id for cell in study.cells for i in cell.instances}
    episodes = sum(1 for _ in study.trials())
    statements.append(
        f"{len(problems)} problems in {len(study.cells)} cells, {episodes:,} episodes"
    )
    few = [c.name for c in study.cells if len(c.instances) < FEW]
    if few:
        missing.append(
            f"fewer than {FEW} problems in {len(few)} of {len(study.cells)} cells (such as "
            f"{few[0]}): results there describe only these problems, not others of their kind"
        )
    return Item("sampling", tuple(statements), tuple(missing))


def _scoring(study: Study, specs: Specs) -> Item:
    statements = []
    for game, spec in specs.items():
        doing = spec.measured.doing
        statements.append(
            f"doing in {game}: {join_names(sorted({doing.metric, *doing.by_seat.values()}))}"
        )
    statements.append(
        f"after an unreadable answer the question is asked again, at most {study.retries} times; "
        "an answer that stays unreadable is a forfeit, scored as the rules prescribe and, as an "
        "upper bound, as the best move possible"
    )
    return Item("scoring", tuple(statements))


def _baselines(specs: Specs) -> Item:
    statements, missing = ["random and mindless players play in the same settings"], []
    for game, spec in specs.items():
        family = spec.family or spec.name
        card = registry.card(family)
        if card is None:
            missing.append(f"{game} has no card of mindless players")
        if spec.measured.doing.regret:
            statements.append(
                f"{game}: exact optimum against declared partners ({spec.measured.doing.regret})"
            )
        elif spec.measured.reference:
            statements.append(f"{game}: {spec.measured.reference} as the best known player")
        else:
            missing.append(f"{game} has neither an optimum nor a reference player")
    return Item("baselines", tuple(statements), tuple(missing))


def _uncertainty(study: Study) -> Item:
    statements = [
        "95% intervals over whole clusters (people if there are any, otherwise problems or repeats)"
    ]
    bare = [c.name for c in study.cells if len(c.instances) * c.repeats < FEW]
    missing = (
        [f"{len(bare)} cells without intervals, such as {bare[0]}: under {FEW} episodes per lineup"]
        if bare
        else []
    )
    missing.append(
        "the power is not known; `sally plan STUDY --detect D --pilot DIR` prints the number of "
        "episodes needed to detect a difference D"
    )
    return Item("uncertainty", tuple(statements), tuple(missing))


def _people(study: Study) -> Item:
    if _has_people(study):
        return Item("human baseline", ("people play in this study",))
    reason = "no person plays in this study; `sally people template` prints a study with people"
    return Item("human baseline", (), (reason,))


def _contamination(study: Study) -> Item:
    packs = {str(w.params.get("pack", "")) for w in _players(study) if _is_language(w)}
    statements, missing = [], []
    if study.paper:
        missing.append(f"problems follow {study.paper}, which models may have read")
    if packs:
        fresh = sorted(pack_name(p) for p in packs if p)
        own_wording = ["the game's own"] if "" in packs else []
        statements.append(f"wordings: {join_names(own_wording + fresh, 'and')}")
        if len(packs) < 2:
            missing.append("one wording only; `sally run STUDY --packs all` adds the others")
        if not any(pack_name(p).endswith(TWIN) for p in packs):
            missing.append(
                "no twin (the same problems with a mechanism in place of a mind); `sally run STUDY "
                "--packs twin` adds it, and `sally compare DIR --twin` compares the two"
            )
    else:
        statements.append("no player reads prompts")
    return Item("contamination", tuple(statements), tuple(missing))


def _asking(study: Study) -> Item:
    probed = [c for c in study.cells if any(c.arms.values())]
    silent = [c for c in study.cells if not any(c.arms.values())]
    statements = (f"probes are asked in {len(probed)} of {len(study.cells)} cells",)
    is_crossed = any(_ids(a) & _ids(s) for a in probed for s in silent)
    if not probed or is_crossed:
        return Item("does asking change play", statements)
    reason = (
        "no cell that the study declares has the same problems without probes; `sally run STUDY "
        "--unasked` adds such cells to a run"
    )
    return Item("does asking change play", statements, (reason,))


def _ids(cell: Cell) -> set[str]:
    return {i.id for i in cell.instances}


def _of_game(study: Study, game: str) -> Iterator[Cell]:
    return (cell for cell in study.cells if any(i.game == game for i in cell.instances))


def _players(study: Study) -> Iterator[PlayerSpec]:
    return (player for cell in study.cells for line in cell.lineups for player in line.values())


def _is_language(player: PlayerSpec) -> bool:
    return player.player == LANGUAGE


def _has_people(study: Study) -> bool:
    return any(player.player in PEOPLE for player in _players(study))


def _model(player: PlayerSpec) -> str:
    if player.params.get("model", OPEN) == OPEN:
        return "the one that --model names"
    return model_and_strategy(player)[0]
