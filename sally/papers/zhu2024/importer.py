"""Importer of one-shot 2x2 games: a person's choice against the choices of all people in the other
role.

The record does not contain the opponent's choice, and none is invented: the partner is `mixed` with
the odds of the people in the other role, excluding the person, and its move is a forfeit. The
episode therefore has no payoffs; `decision_regret` needs only the odds and is exact.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from sally.core.log.events import Episode, Instance, PlayerSpec, Setup
from sally.core.registry.paper import Importer, ImportOption, ImportResult
from sally.games.repeated_games.recorded_play import Round, bot, fed, person
from sally.games.repeated_games.rules import AGENT, PARTNER
from sally.papers.zhu2024.reader import PEOPLE, Choice, Crowds, canonical, kind_of, read
from sally.parts.importers import ImportRun, recorded_player

ROWS, COLUMNS = ("A", "B"), ("C", "D")
NOT_RECORDED = "the opponent's choice is not recorded"


def params_of(own_pays: tuple[int, ...], other_pays: tuple[int, ...]) -> dict[str, Any]:
    """Return the parameters of a game with these payoffs; an imported episode has no payoffs,
    because the opponent's move is not recorded."""
    matrix = [[[own_pays[2 * r + c], other_pays[2 * r + c]] for c in (0, 1)] for r in (0, 1)]
    return {
        "matrix": matrix,
        "rounds": 1,
        "names": list(ROWS),
        "partner_names": list(COLUMNS),
        "void_limit": 1,
    }


def crowd_spec(across: tuple[int, int]) -> PlayerSpec:
    """Return a partner that plays the odds of the people in the other role; if there are none, a
    player that exists only in records."""
    n = sum(across)
    return (
        bot("mixed", {"odds": [k / n for k in across]}) if n else recorded_player("nobody across")
    )


def as_episode(choice: Choice, across: tuple[int, int], source: dict[str, Any]) -> Episode:
    """Return one choice as an episode of one round."""
    role, _, _ = canonical(choice.own_payoffs, choice.other_payoffs)
    lineup = {AGENT: person(), PARTNER: crowd_spec(across)}
    name = f"zhu2024:{choice.person}:{choice.trial}"
    params = params_of(choice.own_payoffs, choice.other_payoffs)
    setup = Setup(
        Instance(name, "repeated_games", params),
        0,
        {str(s): player for s, player in lineup.items()},
    )
    used = {"source": source, "people across": sum(across), "not recorded": [str(PARTNER)]}
    episode, _ = fed(setup, [Round(choice.row, NOT_RECORDED)], {}, kind_of(role), used)
    return episode


def import_choices(path: Path, people: int | None = None, skip_bad: bool = False) -> ImportResult:
    """Import every choice of a file or checkout.

    Args:
        path: A file or a checkout.
        people: Import only this many people, the first by number; the odds of opponents always come
            from the whole file.
        skip_bad: Leave out people whose line is not in the published format.
    """
    record = read(path, skip_bad)
    crowds = Crowds(record.choices)
    people_known = sorted({choice.person for choice in record.choices})
    people_wanted = set(people_known[:people])
    source = msgspec.to_builtins(record.source)
    counts = {
        "people": len(people_wanted),
        "people in the file": len(people_known),
        "people in the full record": PEOPLE,
        "games in a role": len(crowds.roles),
    }
    run = ImportRun(record.oddities, counts)
    for choice in record.choices:
        if choice.person in people_wanted:
            across = crowds.across(choice)
            few = {"choices": 1, "choices with fewer than 5 people across": int(sum(across) < 5)}
            run.add(as_episode(choice, across, source), counts=few)
    return run.result()


IMPORTER = Importer(
    "zhu2024",
    "people in 2x2 games played once, against the crowd across (Zhu et al. 2025)",
    import_choices,
    options=(
        ImportOption("people", "Import only this many people, the first by number.", kind=int),
        ImportOption("skip_bad", "Skip people whose line is not in the published format."),
    ),
)
