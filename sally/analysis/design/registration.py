"""Preregistrations: hypotheses, measures and design, frozen with hashes before data collection."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

import msgspec

from sally.core.errors import BadInput
from sally.core.log.events import Episode, Setup, episode_id
from sally.core.registry import registry
from sally.core.registry.study import Study, without_labels
from sally.store import PeoplePlan

PERSON = "person"  # the player that the web app logs for people


class Intent(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The researcher's part of a registration, from a TOML file."""

    hypotheses: tuple[str, ...]
    measures: tuple[str, ...]  # names of metrics; for people also survey items, or sentences
    exclusion: tuple[str, ...] = ()
    stopping: str = "All planned episodes are played, and none beyond them."
    analysis: str = ""


class Registration(msgspec.Struct, frozen=True, omit_defaults=True):
    """A frozen registration.

    Fields added in later versions have defaults, so that the hashes of older registrations stay
    valid.
    """

    study: str
    about: str
    intent: Intent
    asks: str  # hash of the study
    ids: str  # hash of the ids of every planned episode
    planned: dict[str, int]  # episodes, by cell
    versions: dict[str, tuple[int, int]]  # rules and words, by game
    power: tuple[dict[str, Any], ...]
    sally: str
    date: str
    people: int = 0  # participants; 0: the study has no people

    @property
    def seal(self) -> str:
        """The hash of all fields, to be filed with a public registry."""
        return _hash(self)


def is_peoples(setup: Setup) -> bool:
    """Return whether any person took part in an episode."""
    return any(player.player == PERSON for player in setup.lineup.values())


def read_intent(path: Path) -> Intent:
    """Read the researcher's part of a registration.

    Raises:
        BadInput: If the file cannot be read or is not a registration.
    """
    try:
        return msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), Intent)
    except OSError as error:
        raise BadInput(f"The file {path} cannot be read: {error.strerror}.") from None
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise BadInput(f"The file {path} is not a registration: {error}.") from None


def freeze(
    study: Study, intent: Intent, power: Iterable[Mapping[str, Any]], sally: str, date: str
) -> Registration:
    """Freeze a study and its hypotheses, with hashes that reveal any later change."""
    for metric in intent.measures:
        registry.pick("metric", metric, registry.entries("metrics"))
    trials = list(study.trials())
    return Registration(
        study.name,
        study.about,
        intent,
        _hash(without_labels(study)),
        _hash(sorted(episode_id(setup) for _, setup in trials)),
        dict(Counter(cell for cell, _ in trials)),
        _versions(study),
        tuple(dict(row) for row in power),
        sally,
        date,
    )


def freeze_people(
    plan: PeoplePlan,
    about: str,
    intent: Intent,
    power: Iterable[Mapping[str, Any]],
    sally: str,
    date: str,
    items: Sequence[str] = (),  # names of survey items
) -> Registration:
    """Freeze a study with people; its participants are not known yet, so it has no episode ids."""
    for measure in intent.measures:
        if measure not in items and " " not in measure.strip():
            registry.pick(
                "metric", measure, {**registry.entries("metrics"), **dict.fromkeys(items)}
            )
    return Registration(
        plan.study,
        about,
        intent,
        plan.asks,
        "",
        plan.planned,
        _game_versions(plan.games),
        tuple(dict(row) for row in power),
        sally,
        date,
        plan.participants,
    )


def people_deviations(
    frozen: Registration, plan: PeoplePlan | None, episodes: Iterable[Episode], sally: str
) -> list[str]:
    """Return the deviations of a study with people from its registration, as sentences."""
    if plan is None:
        return ["The store has no plan of a study with people, so it cannot be compared."]
    sentences = []
    if plan.study != frozen.study:
        sentences.append(f"The store holds {plan.study}, not {frozen.study}.")
    if plan.asks != frozen.asks:
        sentences.append("The study file that was used is not the registered one.")
    played = [e for e in episodes if is_peoples(e.setup)]
    sentences += _changed_versions(frozen, _game_versions(plan.games))
    sentences += _count_deviations(frozen, Counter(e.cell for e in played))
    took_part = {
        player.params["participant"] for e in played for player in e.setup.lineup.values()
        if "participant" in player.params
    }  # fmt: skip
    if len(took_part) != frozen.people:
        sentences.append(
            f"{len(took_part)} people played at least one game; {frozen.people} participants were "
            "registered."
        )
    return sentences + _other_sally(frozen, sally)


def deviations(
    frozen: Registration, study: Study | None, episodes: Iterable[Episode], sally: str
) -> list[str]:
    """Return the deviations of a store from its registration, as sentences."""
    stored = list(episodes)
    sentences = []
    if study is None:
        sentences.append(f"The store has no plan of {frozen.study}, so it cannot be compared.")
    else:
        sentences += _asked_otherwise(frozen, study)
    sentences += _count_deviations(frozen, Counter(e.cell for e in stored))
    return sentences + _other_sally(frozen, sally)


def _count_deviations(frozen: Registration, counts: Counter[str]) -> list[str]:
    sentences = []
    for cell, registered in frozen.planned.items():
        if counts[cell] != registered:
            sentences.append(
                f"Cell {cell!r} has {counts[cell]} episodes; {registered} were registered."
            )
    for cell in sorted(set(counts) - set(frozen.planned)):
        sentences.append(f"Cell {cell!r} was not registered; it has {counts[cell]} episodes.")
    return sentences


def _other_sally(frozen: Registration, sally: str) -> list[str]:
    if sally == frozen.sally:
        return []
    return [f"It was registered with Sally {frozen.sally} and reported with {sally}."]


def _asked_otherwise(frozen: Registration, study: Study) -> list[str]:
    sentences = []
    if study.name != frozen.study:
        sentences.append(f"The store holds {study.name}, not {frozen.study}.")
    if _hash(without_labels(study)) != frozen.asks:
        sentences.append("The study that was run differs from the registered one.")
    return sentences + _changed_versions(frozen, _versions(study))


def _changed_versions(frozen: Registration, now: Mapping[str, tuple[int, int]]) -> list[str]:
    sentences = []
    for game, registered in frozen.versions.items():
        if game in now and now[game] != registered:
            sentences.append(
                f"{game}: the rules and words had versions {registered[0]} and {registered[1]} "
                f"when it was "
                f"registered, and have {now[game][0]} and {now[game][1]} now."
            )
    return sentences


def as_text(frozen: Registration) -> str:
    """Return the registration as text for a public registry."""
    intent = frozen.intent

    def number_lines(lines: Iterable[str]) -> str:
        return "\n".join(f"{n}. {line}" for n, line in enumerate(lines, 1)) or "None."

    cells = number_lines(f"{cell}: {n} episodes" for cell, n in frozen.planned.items())
    usual = "As the measures are defined; differences are paired by instance and seed."
    if frozen.people:
        usual = "As the measures are defined; conditions are compared between people."
        cells = f"{frozen.people} participants.\n{cells}"
    power = number_lines(", ".join(f"{k} {v}" for k, v in row.items()) for row in frozen.power)
    return f"""# Preregistration of {frozen.study}

{frozen.about}

## Hypotheses
{number_lines(intent.hypotheses)}

## Measures
{number_lines(intent.measures)}

## Design
{cells}

## Exclusion
{number_lines(intent.exclusion)}

## Stopping rule
{intent.stopping}

## Analysis
{intent.analysis or usual}

## Power
{power}

Frozen {frozen.date} with Sally {frozen.sally}.
Study {frozen.asks}, episodes {frozen.ids or "drawn as people come"}, seal {frozen.seal}.
"""


def _versions(study: Study) -> dict[str, tuple[int, int]]:
    return _game_versions({i.game for cell in study.cells for i in cell.instances})


def _game_versions(games: Iterable[str]) -> dict[str, tuple[int, int]]:
    specs = {game: registry.game(game) for game in sorted(games)}
    return {game: (spec.version, spec.words_version) for game, spec in specs.items()}


def _hash(value: Any) -> str:
    return blake2b(msgspec.json.encode(value, order="sorted"), digest_size=16).hexdigest()
