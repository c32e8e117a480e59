"""Preregistration of a study with people: part of `sally plan --freeze`."""

from __future__ import annotations

import tomllib
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from sally import __version__
from sally.analysis.design import registration as registrations
from sally.core.errors import BadInput
from sally.core.terminal_text import echo
from sally.stats.power import t_sample_size

if TYPE_CHECKING:
    from sally.web.study.definition import HumanStudy

POWERS = (0.8, 0.95)


def people_study(name: str) -> HumanStudy | None:
    """Return the study with people that a TOML file defines; None if the file defines no such
    study."""
    path = Path(name)
    if path.suffix != ".toml" or not path.is_file():
        return None
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        return None  # the reader of studies reports what is wrong
    if not {"participants", "consent"} <= content.keys():
        return None
    from sally.web.study.definition import read_human_study

    return read_human_study(path)


def freeze_people(
    study: HumanStudy,
    out: Path | None,
    intent: Path | None,
    detect: float | None,
    sd: float | None,
    alpha: float,
) -> None:
    """Write the preregistration of a study with people.

    Raises:
        BadInput: `out` is None, because a study with people has no calls to plan.
    """
    if out is None:
        raise BadInput(
            "A study with people needs no plan of model calls; --freeze preregisters it, and "
            "`sally people check` describes it."
        )
    smallest = int(min(study.places(condition) for condition in study.conditions))
    power = people_power(smallest, detect, sd, alpha)
    items = [item.name for item in study.survey]
    written = write_frozen(
        out,
        intent,
        lambda intention, today: registrations.freeze_people(
            study.kept_plan, study_rules(study), intention, power, __version__, today, items
        ),
    )
    echo(f"{written.with_suffix('.md')} is the text for a preregistration site.")


def study_rules(study: HumanStudy) -> str:
    """Return the title and the rules of the study, worded as in its exports."""
    from sally.web.study.rules import rules_of

    return "\n".join([f"{study.title}.\n", *(f"- {rule}" for rule in rules_of(study))])


def people_power(
    smallest: int, detect: float | None, sd: float | None, alpha: float
) -> list[dict[str, Any]]:
    """Return the number of people that each of two conditions needs, by power.

    The table also has the number of people in the study's smallest condition.
    """
    if detect is None:
        return []
    if sd is None:
        raise BadInput(
            "--detect for a study with people needs --sd, the standard deviation between people."
        )
    sizes = {
        f"people a condition for {power:.0%}": t_sample_size(
            detect, sd**2, groups=2, power=power, alpha=alpha
        )
        for power in POWERS
    }
    planned = {"people in the smallest condition": smallest}
    return [{"difference": detect, "sd of people": sd, **sizes, **planned}]


def write_frozen(out: Path, intent: Path | None, freeze: Any) -> Path:
    """Write a registration as JSON and Markdown; an existing file is never overwritten."""
    if intent is None:
        raise BadInput("--freeze needs --registration, a TOML file with hypotheses and measures.")
    if out.suffix != ".json":  # a name such as model-0.5b has no suffix
        out = out.with_name(f"{out.name}.json")
    if out.exists():
        raise BadInput(f"{out} already exists; a registration is never overwritten.")
    frozen = freeze(registrations.read_intent(intent), datetime.now(UTC).date().isoformat())
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_bytes(msgspec.json.format(msgspec.json.encode(frozen), indent=2) + b"\n")
    out.with_suffix(".md").write_text(registrations.as_text(frozen), encoding="utf-8")
    return out
